//! Topic names and topic filters (4.7).

/// Tells whether a topic name is one of those that a filter means.
#[must_use]
pub fn matches(filter: &str, topic: &str) -> bool {
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

/// Tells whether a filter is one that the standard allows: `#` alone in the last level, `+` alone
/// in one.
#[must_use]
pub fn is_filter(filter: &str) -> bool {
    let mut rest = filter.split('/').rev();
    let last = rest.next().unwrap_or_default();
    let plain = |level: &str| level == "+" || !level.contains(['+', '#']);
    !filter.is_empty() && (last == "#" || plain(last)) && rest.all(plain)
}

/// Tells whether a topic name is one that a message may have: not empty, without wildcards (4.7.3).
#[must_use]
pub fn is_name(topic: &str) -> bool {
    !topic.is_empty() && !topic.bytes().any(|byte| matches!(byte, b'#' | b'+'))
}

/// Splits a shared subscription (5: 4.8.2) into its share name and its topic filter. `None` where
/// the filter is not that of a shared subscription, `Some(None)` where it is an invalid one.
#[must_use]
pub fn shared(filter: &str) -> Option<Option<(&str, &str)>> {
    let rest = filter.strip_prefix("$share/")?;
    let parts = rest.split_once('/');
    Some(parts.filter(|(name, topic)| is_name(name) && is_filter(topic)))
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

    #[test]
    fn shared_subscriptions_of_the_standard() {
        assert_eq!(shared("a/b"), None);
        assert_eq!(shared("$share/consumer1//finance"), Some(Some(("consumer1", "/finance"))));
        assert_eq!(shared("$share/consumer1/sport/+"), Some(Some(("consumer1", "sport/+"))));
        for filter in
            ["$share/", "$share//a", "$share/a", "$share/a/", "$share/a+/b", "$share/a/#/b"]
        {
            assert_eq!(shared(filter), Some(None), "{filter}");
        }
    }
}
