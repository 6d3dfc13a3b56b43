//! The parser of scripts: text to statements.

use super::line::ScriptLine;
use super::{CommandPiece, PATIENCE, Script, ScriptParseError, Statement};
use crate::lab::nodes::image::{LEN_MAX, LEN_MIN};
use alloc::string::String;
use alloc::vec::Vec;
use esp_now::node::board::Slot;
use espbench_dot11::random::Chance;

const STATEMENTS: &str =
    "`NODES> COMMAND`, `wait`, `reset`, `loss`, `link`, `image`, `offer`, `key` or a comment";

/// Reads a script for a fleet of so many nodes.
///
/// # Errors
/// The first line that is wrong.
pub fn parse(text: &str, count: usize) -> Result<Script, ScriptParseError> {
    let mut statements = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let mut line = ScriptLine::new(text, number, count);
        line.blanks();
        if line.end().is_err() {
            statements.push((number, statement(&mut line)?));
        }
    }
    Ok(Script { statements })
}

fn statement(line: &mut ScriptLine<'_>) -> Result<Statement, ScriptParseError> {
    let wrong = line.wrong(STATEMENTS);
    let statement = if line.word("wait") {
        wait(line)?
    } else if line.word("reset") {
        Statement::Reset(line.nodes()?)
    } else if line.word("loss") {
        loss(line)?
    } else if line.word("link") {
        link(line)?
    } else if line.word("image") {
        image(line)?
    } else if line.word("offer") {
        let nodes = line.nodes()?;
        line.blanks();
        let url = line.quoted()?;
        let (len, version) = described(line)?;
        Statement::Offer { nodes, url, len, version }
    } else if line.word("key") {
        Statement::Key(line.nodes()?)
    } else if is_nodes(line) {
        return command(line);
    } else {
        return Err(wrong);
    };
    line.end()?;
    Ok(statement)
}

fn is_nodes(line: &ScriptLine<'_>) -> bool {
    let found = line.wrong("").found;
    found.starts_with("node") || found.starts_with("all")
}

fn wait(line: &mut ScriptLine<'_>) -> Result<Statement, ScriptParseError> {
    if !line.word("until") {
        let wrong = line.wrong("`until`, or a time with its unit, such as 500ms, 1.5s or 2min,");
        return line.time().map(Statement::Wait).map_err(|_| wrong);
    }
    let nodes = line.nodes()?;
    line.blanks();
    if !line.word("prints") && !line.word("print") {
        return Err(line.wrong("`prints`"));
    }
    let text = line.quoted()?;
    let closes = line.eat("(");
    let most = if line.word("max") {
        line.time()?
    } else if closes {
        return Err(line.wrong("`max`"));
    } else {
        PATIENCE
    };
    if closes && !line.eat(")") {
        return Err(line.wrong("`)`"));
    }
    Ok(Statement::Until { nodes, text, most })
}

fn loss(line: &mut ScriptLine<'_>) -> Result<Statement, ScriptParseError> {
    let wanted = "a percentage from 0% to 100%";
    let wrong = line.wrong(wanted);
    let percent = line.fraction(wanted)?;
    if !line.eat("%") || percent > 100.0 {
        return Err(wrong);
    }
    Ok(Statement::Loss(Chance::of(percent / 100.0)))
}

fn link(line: &mut ScriptLine<'_>) -> Result<Statement, ScriptParseError> {
    let from = line.nodes()?;
    line.blanks();
    let to = line.nodes()?;
    line.blanks();
    let rssi = if line.word("off") { None } else { Some(line.dbm()?) };
    Ok(Statement::Link { from, to, rssi })
}

fn image(line: &mut ScriptLine<'_>) -> Result<Statement, ScriptParseError> {
    let nodes = line.nodes()?;
    line.blanks();
    let slot = if line.word("running") {
        Slot::Running
    } else if line.word("spare") {
        Slot::Spare
    } else {
        return Err(line.wrong("`running` or `spare`"));
    };
    let (len, version) = described(line)?;
    Ok(Statement::Image { nodes, slot, len, version })
}

/// Reads length and version of an image.
fn described(line: &mut ScriptLine<'_>) -> Result<(u32, String), ScriptParseError> {
    let wanted = "the length of an image, a multiple of 16 from 352 to 16777216,";
    let wrong = line.wrong(wanted);
    let len = line.number(wanted)?;
    if !(LEN_MIN..=LEN_MAX).contains(&len) || !len.is_multiple_of(16) {
        return Err(wrong);
    }
    Ok((len, line.quoted()?))
}

fn command(line: &mut ScriptLine<'_>) -> Result<Statement, ScriptParseError> {
    let nodes = line.nodes()?;
    line.blanks();
    if !line.eat(">") {
        return Err(line.wrong("`>` and a command"));
    }
    line.blanks();
    let wrong = line.wrong("a command");
    let text = pieces(line)?;
    if text.is_empty() { Err(wrong) } else { Ok(Statement::Command { nodes, text }) }
}

/// Reads the rest of the line, with what stands in braces.
fn pieces(line: &mut ScriptLine<'_>) -> Result<Vec<CommandPiece>, ScriptParseError> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    loop {
        if line.eat("{{") {
            text.push('{');
        } else if line.eat("}}") {
            text.push('}');
        } else if line.eat("{") {
            flush(&mut text, &mut pieces);
            pieces.push(if line.eat("others") {
                CommandPiece::Others
            } else {
                CommandPiece::Addresses(line.nodes()?)
            });
            if !line.eat("}") {
                return Err(line.wrong("`}`"));
            }
        } else if let Some(c) = line.next() {
            text.push(c);
        } else {
            break;
        }
    }
    let end = text.trim_end().len();
    text.truncate(end);
    flush(&mut text, &mut pieces);
    Ok(pieces)
}

fn flush(text: &mut String, pieces: &mut Vec<CommandPiece>) {
    if !text.is_empty() {
        pieces.push(CommandPiece::Text(core::mem::take(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::nodes::device::NodeId;
    use core::time::Duration;
    use std::string::ToString;
    use std::vec;

    fn one(text: &str) -> Statement {
        let script = parse(text, 10).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        script.statements.into_iter().next().map(|(_, s)| s).expect("a statement")
    }

    #[test]
    fn statements_of_every_kind() {
        let nodes = |list: &[u16]| list.iter().map(|n| NodeId(*n)).collect::<Vec<_>>();
        let text = |text: &str| vec![CommandPiece::Text(text.into())];
        assert_eq!(
            one("  node0> espnow_iperf -s # no comment"),
            Statement::Command { nodes: nodes(&[0]), text: text("espnow_iperf -s # no comment") }
        );
        assert_eq!(
            one("node1,node3..node5 > command {node0,node2} \"log {{x}}\" {others}"),
            Statement::Command {
                nodes: nodes(&[1, 3, 4, 5]),
                text: vec![
                    CommandPiece::Text("command ".into()),
                    CommandPiece::Addresses(nodes(&[0, 2])),
                    CommandPiece::Text(" \"log {x}\" ".into()),
                    CommandPiece::Others,
                ],
            }
        );
        assert_eq!(one("wait 1.5 s # comment"), Statement::Wait(Duration::from_millis(1500)));
        let until = |nodes, most| Statement::Until { nodes, text: "a \"b\"".into(), most };
        assert_eq!(one(r#"wait until node1 prints "a \"b\"""#), until(nodes(&[1]), PATIENCE));
        let minutes = Duration::from_mins(2);
        for max in ["max 2min", "(max 2 min)"] {
            let line = r#"wait until node1 , node2 print "a \"b\"" "#.to_string() + max;
            assert_eq!(one(&line), until(nodes(&[1, 2]), minutes));
        }
        assert_eq!(one("reset node9"), Statement::Reset(nodes(&[9])));
        assert_eq!(one("loss 2.5%"), Statement::Loss(Chance::of(0.025)));
        let link = |rssi| Statement::Link { from: nodes(&[0]), to: nodes(&[1, 2]), rssi };
        assert_eq!(one("link node0 node1,node2 off"), link(None));
        assert_eq!(one("link node0 node1..node2 -70 dBm"), link(Some(-70)));
        assert_eq!(
            one("image node0 spare 1_029_248 \"2.0\""),
            Statement::Image {
                nodes: nodes(&[0]),
                slot: Slot::Spare,
                len: 1_029_248,
                version: "2.0".into()
            }
        );
    }

    #[test]
    fn a_key_is_for_nodes() {
        assert_eq!(one("key node0,node1"), Statement::Key(vec![NodeId(0), NodeId(1)]));
        assert!(parse("key", 2).is_err());
    }

    #[test]
    fn an_offer_has_an_address() {
        assert_eq!(
            one("offer node1 \"http://h/x\" 352 \"v\""),
            Statement::Offer {
                nodes: vec![NodeId(1)],
                url: "http://h/x".into(),
                len: 352,
                version: "v".into()
            }
        );
    }

    #[test]
    fn lines_are_counted_and_empty_ones_are_nothing() {
        let script = parse("# a\n\n  # b\nwait 1s\r\n\nall> x\n", 2).unwrap();
        assert_eq!(script.statements.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 6]);
    }

    #[test]
    fn errors_say_where_and_what_is_wanted() {
        for (text, wrong) in [
            (
                "\n go",
                "line 2, column 2: `go` where `NODES> COMMAND`, `wait`, `reset`, `loss`, `link`, `image`, `offer`, `key` or a comment is wanted",
            ),
            (
                "wait",
                "line 1, column 5: the line ends where `until`, or a time with its unit, such as 500ms, 1.5s or 2min, is wanted",
            ),
            (
                "wait 3",
                "line 1, column 6: `3` where `until`, or a time with its unit, such as 500ms, 1.5s or 2min, is wanted",
            ),
            ("wait 3s more", "line 1, column 9: `more` where the end of the line is wanted"),
            ("node10> x", "line 1, column 1: `node10>` where a node, node0 to node9, is wanted"),
            (
                "node3..node1> x",
                "line 1, column 8: `node1>` where a node that is not before node3 is wanted",
            ),
            ("node3", "line 1, column 6: the line ends where `>` and a command is wanted"),
            ("node3> ", "line 1, column 8: the line ends where a command is wanted"),
            ("node3> a {node4", "line 1, column 16: the line ends where `}` is wanted"),
            (
                "wait until node1 prints x",
                "line 1, column 25: `x` where a text in double quotes is wanted",
            ),
            (
                "wait until node1 prints \"x",
                "line 1, column 25: `\"x` where a text that ends with a double quote on its line is wanted",
            ),
            (
                "wait until node1 prints \"ä\" (5s)",
                "line 1, column 30: `5s)` where `max` is wanted",
            ),
            ("loss 101%", "line 1, column 6: `101%` where a percentage from 0% to 100% is wanted"),
            (
                "link node0 node1 70",
                "line 1, column 18: `70` where `off` or a signal strength such as -70 (dBm) is wanted",
            ),
            (
                "image all other 5 \"\"",
                "line 1, column 11: `other` where `running` or `spare` is wanted",
            ),
        ] {
            assert_eq!(parse(text, 10).unwrap_err().to_string(), wrong);
        }
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let words = [
            "node1",
            "node",
            "all",
            "> ",
            "wait ",
            "until ",
            "prints ",
            "\"",
            "\\",
            "max ",
            "3",
            "s",
            "ms ",
            "{",
            "}",
            "others",
            "..",
            ",",
            "loss ",
            "%",
            "link ",
            "-",
            "image ",
            "spare ",
            "é",
            "\n",
            "99999999999999999999",
            ".",
            "(",
            ")",
            "#",
            "off",
            "reset ",
        ];
        let mut random =
            espbench_dot11::random::RngStream::stream(1, 0, espbench_dot11::random::Purpose::Board);
        let mut read = 0;
        for _ in 0..20_000 {
            let text: String = (0..random.bits() % 12)
                .map(|_| words[(random.bits() % words.len() as u64) as usize])
                .collect();
            match parse(&text, 3) {
                Ok(_) => read += 1,
                Err(wrong) => assert!(wrong.column >= 1 && !wrong.wanted.is_empty()),
            }
        }
        assert!(read > 1000, "{read}");
    }
}
