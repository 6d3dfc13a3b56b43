//! Errors of mbedTLS by number: a code is the sum of a module's and of one of a part below it.

use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;

/// Meaning of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMeaning {
    /// Memory could not be had.
    Memory,
    /// A certificate or a key is not accepted.
    Certificate,
    /// The other side refuses.
    Refused,
    /// The connection ended.
    Ended,
    /// Another reason.
    Other,
}

/// A code of mbedTLS.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsCode {
    /// Number without its sign.
    pub code: u32,
    /// Name without `MBEDTLS_ERR_`.
    pub name: String,
    /// Meaning.
    pub tells: TlsMeaning,
}

/// The file of codes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsCodes {
    /// Codes.
    pub code: Vec<TlsCode>,
}

/// Bits of a code that are of the part below the module.
const PART: u32 = 0x7f;

impl TlsCodes {
    /// Returns the codes whose sum a number is, the module's first; none where it is no such sum.
    #[must_use]
    pub fn parts(&self, sum: u32) -> Vec<&TlsCode> {
        let (module, part) = (sum & !PART, sum & PART);
        let known = |code: u32| self.code.iter().find(|it| it.code == code);
        // Those of PSA are no sums.
        if let Some(whole) = known(sum) {
            return alloc::vec![whole];
        }
        let parts: Vec<&TlsCode> =
            [module, part].into_iter().filter(|it| *it > 0).filter_map(known).collect();
        let whole: u32 = parts.iter().map(|it| it.code).sum();
        if whole == sum { parts } else { Vec::new() }
    }

    /// Returns the meaning of a number, with its sign or without: memory that is missing is the cause of all else.
    #[must_use]
    pub fn meaning_of(&self, number: Option<i64>) -> Option<TlsMeaning> {
        let parts = self.parts(u32::try_from(number?.unsigned_abs()).ok()?);
        let memory = parts.iter().any(|it| it.tells == TlsMeaning::Memory);
        if memory { Some(TlsMeaning::Memory) } else { parts.first().map(|it| it.tells) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RuleBook;
    use super::*;

    #[test]
    fn each_part_of_a_sum_is_named() {
        let codes = RuleBook::built_in().tls();
        let names = |sum| codes.parts(sum).iter().map(|it| &*it.name).collect::<Vec<_>>();
        assert_eq!(names(0x4290), ["RSA_PUBLIC_FAILED", "MPI_ALLOC_FAILED"]);
        assert_eq!(names(0x7280), ["SSL_CONN_EOF"]);
        assert!(names(0x4291).is_empty() && names(0).is_empty());
        assert_eq!(codes.meaning_of(Some(0x4290)), Some(TlsMeaning::Memory));
        assert_eq!(codes.meaning_of(Some(-0x2700)), Some(TlsMeaning::Certificate));
    }
}
