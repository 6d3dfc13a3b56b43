//! Parts that a build may lack: features of cargo, with their commands and flags.

use crate::user_error::UserError;

/// A command or flag of a feature.
struct FeaturePart {
    /// Words that ask for it, without `espbench`.
    words: &'static str,
    feature: &'static str,
    is_here: bool,
}

const SERIAL: (&str, bool) = ("serial", cfg!(feature = "serial"));
const FLASH: (&str, bool) = ("flash", cfg!(feature = "flash"));
const MCP: (&str, bool) = ("mcp", cfg!(feature = "mcp"));

const fn part(words: &'static str, (feature, is_here): (&'static str, bool)) -> FeaturePart {
    FeaturePart { words, feature, is_here }
}

const PARTS: &[FeaturePart] = &[
    part("board", SERIAL),
    part("board flash", FLASH),
    part("board info", FLASH),
    part("board erase", FLASH),
    part("board monitor --elf", FLASH),
    part("doctor --elf", FLASH),
    part("mcp", MCP),
];

/// Returns the refusal of words that are of a part which this build lacks.
pub(super) fn refusal(words: &str) -> Option<UserError> {
    let part = PARTS.iter().find(|it| !it.is_here && it.words == words)?;
    Some(without(&format!("`{}`", part.words), part.feature))
}

/// Says that this build lacks something, and which feature brings it.
pub(super) fn without(what: &str, feature: &str) -> UserError {
    UserError::new(format!("this espbench was built without {what}")).remedy(format!(
        "build it with cargo's `--features {feature}`, or with `--features full`, as releases and wheels are"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use std::ffi::OsString;

    #[test]
    fn a_part_is_here_or_is_refused_with_its_feature() {
        for part in PARTS {
            // The last word, as a flag has to be, with a value.
            let words = format!("espbench {} x", part.words);
            let words = words.split(' ').map(OsString::from).collect::<Vec<_>>();
            let lacks = cli::told::read::<cli::Arguments>(words)
                .err()
                .filter(|it| it.what.contains("was built without"));
            assert_eq!(lacks.is_none(), part.is_here, "{}", part.words);
            if let Some(refused) = lacks {
                let names_feature =
                    refused.remedy.contains(&format!("--features {}`", part.feature));
                // Without `serial` there is no `board` at all.
                assert!(names_feature || part.words.starts_with("board "), "{refused}");
            }
        }
    }
}
