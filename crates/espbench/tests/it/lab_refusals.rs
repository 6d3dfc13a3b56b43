//! Tests that a lab cannot do, which are refused before anything runs.

use crate::util::TestDir;

#[test]
fn what_a_lab_cannot_do_is_refused_before_the_first_cell() {
    let bench = TestDir::new();
    let first = "[[measure]]\nkind = \"tcp-rate\"\nvariant = \"rank-iperf\"\n";
    for (second, wanted) in [
        ("kind = \"iperf\"\ntransport = \"udp\"", "needs `bandwidth`"),
        ("kind = \"iperf\"\ndirection = \"full-duplex\"", "in one direction at a time"),
        ("kind = \"mqtt-rate\"\nclients = 3", "several clients"),
        ("kind = \"ping\"", "ICMP"),
    ] {
        let second = format!("[[measure]]\n{second}\nvariant = \"rank-iperf\"\n");
        bench.write("plan.toml", &format!("name = \"p\"\n{first}{second}"));
        let ran = bench.run(&["run", "plan.toml", "--on", "sim:shield-box"]);
        assert_eq!(ran.status, Some(2), "{second}: {}", ran.err);
        assert!(ran.err.contains(wanted), "{second}: {}", ran.err);
        assert!(!ran.err.contains("[1/"), "nothing has run: {}", ran.err);
    }
}
