//! Topic filters (4.7).

/// Whether a topic name is one of those that a filter means.
#[must_use]
pub(super) fn matches(filter: &str, topic: &str) -> bool {
    // 4.7.2: a wildcard in front does not mean the broker's own topics.
    if topic.starts_with('$') && filter.starts_with(['#', '+']) {
        return false;
    }
    let mut levels = topic.split('/');
    let mut wanted = filter.split('/');
    loop {
        match (wanted.next(), levels.next()) {
            // The parent level, too: `a/#` means `a`.
            (Some("#"), _) | (None, None) => return true,
            (Some(want), Some(level)) if want == "+" || want == level => {}
            _ => return false,
        }
    }
}

/// Whether a filter is one that the standard allows: `#` alone in the last level, `+` alone in one.
#[must_use]
pub(super) fn is_filter(filter: &str) -> bool {
    let mut rest = filter.split('/').rev();
    let last = rest.next().unwrap_or_default();
    let plain = |level: &str| level == "+" || !level.contains(['+', '#']);
    !filter.is_empty() && (last == "#" || plain(last)) && rest.all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_standard() {
        for (filter, topic, yes) in [
            ("sport/tennis/player1/#", "sport/tennis/player1", true),
            ("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", true),
            ("sport/tennis/+", "sport/tennis/player1", true),
            ("sport/tennis/+", "sport/tennis/player1/ranking", false),
            ("sport/+", "sport", false),
            ("sport/+", "sport/", true),
            ("+/+", "/finance", true),
            ("/+", "/finance", true),
            ("+", "/finance", false),
            ("#", "$SYS/uptime", false),
            ("+/uptime", "$SYS/uptime", false),
            ("$SYS/#", "$SYS/uptime", true),
            ("#", "a/b", true),
            ("a", "a", true),
            ("a", "A", false),
        ] {
            assert_eq!(matches(filter, topic), yes, "{filter} {topic}");
            assert!(is_filter(filter));
        }
        for filter in ["", "sport+", "sport/tennis#", "sport/#/ranking", "a+/b"] {
            assert!(!is_filter(filter), "{filter}");
        }
    }
}
