//! Commands that begin a test, as they were typed.

/// Returns how the messages of an `espnow_iperf` are sent, in the words of
/// `reference/published.csv`; `None` for any other command, and for a responder's.
pub(super) fn mode(typed: &str) -> Option<String> {
    let mut words = typed.split_ascii_whitespace();
    (words.next() == Some("espnow_iperf")).then_some(())?;
    let (mut initiator, mut copies, mut group, mut ack) = (false, None, false, false);
    while let Some(word) = words.next() {
        match word {
            "-c" | "--initiator" => initiator = true,
            "-b" | "--broadcast" => copies = words.next(),
            "-g" | "--group" => group = true,
            "-A" | "--ack" => ack = true,
            _ => {
                if let Some(number) = word.strip_prefix("--broadcast=") {
                    copies = Some(number);
                }
                initiator |= word.starts_with("--initiator=");
            }
        }
    }
    initiator.then_some(())?;
    let mut mode = match copies {
        // Anything but a number is an error of the device's.
        Some(copies) => format!("broadcast-{}", copies.parse::<u32>().ok()?),
        None => "unicast".into(),
    };
    if group {
        mode.push_str("-group");
    }
    if ack {
        mode.push_str("-ack");
    }
    Some(mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_as_the_published_table_names_them() {
        for (typed, wanted) in [
            ("espnow_iperf -c 24:0a:c4:00:00:02 -p -C 5", Some("unicast")),
            ("espnow_iperf -c 24:0a:c4:00:00:02 -b 3 -A", Some("broadcast-3-ack")),
            ("espnow_iperf --initiator=x --broadcast=0", Some("broadcast-0")),
            ("espnow_iperf -c x -g", Some("unicast-group")),
            ("espnow_iperf -s", None),
            ("espnow_iperf -c x -b many", None),
            ("help", None),
            ("", None),
        ] {
            assert_eq!(mode(typed).as_deref(), wanted, "{typed}");
        }
    }
}
