//! Scripts at consoles.

use crate::toys::Console;
use espbench_dot11::random::Chance;
use espbench_model::time::Duration;
use espbench_sim::lab::ideal::{Fleet, FleetSetup};
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::talk::transcript::TalkFilter;
use espbench_sim::talk::{Transcript, play};

fn consoles(count: usize) -> Fleet<Console, Transcript> {
    let setup = FleetSetup { stagger: Duration::from_millis(7), ..FleetSetup::default() };
    let mut fleet = Fleet::new(setup, Transcript::new(TalkFilter::TALK), |_, _| Console::default());
    fleet.add_many(count);
    fleet
}

fn lines(fleet: &Fleet<Console, Transcript>, node: u16) -> Vec<&str> {
    fleet.lines(NodeId(node)).iter().map(|line| &line.text[..]).collect()
}

#[test]
fn commands_are_typed_whole_at_the_prompt_and_answers_are_read() {
    let mut fleet = consoles(3);
    let script = "# two at once
        node1,node2> say my address is not {node0}
        node0> later 1500 pong {others}
        node0> say one
        node0> say two
        wait until node0 prints \"two\"
        wait until node0 prints \"pong\" max 3s";
    play(&mut fleet, script).unwrap();
    assert_eq!(
        lines(&fleet, 0),
        ["one", "two", "I (1582) toy: pong 24:0a:c4:00:00:02,24:0a:c4:00:00:03"]
    );
    assert_eq!(lines(&fleet, 2), ["my address is not 24:0a:c4:00:00:01"]);
    for node in fleet.nodes() {
        let console = fleet.device(node).unwrap();
        assert_eq!((console.pasted_returns, &console.lost[..]), (0, &[][..]));
    }
    let text = fleet.watch.to_string();
    assert!(text.contains("node0 $ say one\n"), "{text}");
    assert_eq!(text.matches("say two").count(), 1, "the echo is not shown\n{text}");
}

#[test]
fn waiting_looks_only_at_what_is_new() {
    let mut fleet = consoles(2);
    play(&mut fleet, "all> say x\nwait until all prints \"x\"").unwrap();
    let again = "all> say y\nwait until all prints \"x\" (max 2s)";
    assert_eq!(
        play(&mut fleet, again).unwrap_err().to_string(),
        "line 2: node0, node1 did not print \"x\" in 2s"
    );
    let both = "node0> later 10 x\nnode0> say x\nwait until node0 prints \"x\"
        wait until node0 prints \"x\" max 2s";
    play(&mut fleet, both).unwrap();
}

#[test]
fn a_console_that_hangs_is_named() {
    let mut fleet = consoles(2);
    let script = "node1> hang\nall> say x\n";
    let error = play(&mut fleet, script).unwrap_err().to_string();
    assert_eq!(error, "line 2: node1 showed no prompt for 60s");
}

#[test]
fn resets_typed_and_forced_bring_the_prompt_back() {
    let mut fleet = consoles(2);
    let script = "node0> restart
        node0> say again
        reset node1
        all> say both
        wait until all prints \"both\"
        loss 20%";
    play(&mut fleet, script).unwrap();
    assert_eq!(lines(&fleet, 0), ["again", "both"]);
    let text = fleet.watch.to_string();
    assert_eq!(text.matches("* on after reset 1").count(), 2, "{text}");
    assert_eq!(fleet.medium.config.loss, Chance::percent(20));
}
