//! Short plans of the suites: one or two sizes of each test, as short as its figures allow.

/// Name and text of each.
pub(super) const SHORT: [(&str, &str); 15] = [
    (
        "one-way-latency",
        "name = \"one-way-latency\"\nrepetitions = 5\n[[measure]]\nkind = \"esp-now\"\ntest = \"one-way\"\n\
         cast = \"broadcast\"\nsize = [10, 230]\ncount = 10\ndistance = \"0.5 m\"\n",
    ),
    (
        "round-trip",
        "name = \"round-trip\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\n\
         cast = [\"broadcast 3\", \"unicast\"]\nsize = [10, 230]\ncount = 1000\ndistance = \"3 m\"\n",
    ),
    (
        "throughput",
        "name = \"throughput\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"throughput\"\n\
         cast = [\"unicast\", \"broadcast\"]\nsize = [10, 230]\ntime = \"10 s\"\ndistance = \"3 m\"\n",
    ),
    (
        "crypto-time",
        "name = \"crypto-time\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"crypto\"\nsize = [10, 226]\n\
         count = 100\n",
    ),
    (
        "round-trip-secure",
        "name = \"round-trip-secure\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\ncast = \"broadcast\"\n\
         size = [10, 226]\ncount = 1000\ndistance = \"0.5 m\"\nencrypted = true\n",
    ),
    (
        "multi-device-round-trip",
        "name = \"multi-device-round-trip\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"multi-ping\"\n\
         cast = [\"unicast\", \"broadcast\"]\ndistance = \"3 m\"\ndevices = 30\nsize = 230\ncount = 20\n",
    ),
    (
        "ota",
        "name = \"ota\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ota\"\nsize = 131072\ndevices = [1, 10]\n\
         distance = \"0.5 m to 1 m\"\n",
    ),
    (
        "handshake",
        "name = \"handshake\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"handshake\"\ndevices = [1, 10]\n\
         distance = \"1 m\"\n",
    ),
    (
        "provisioning",
        "name = \"provisioning\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"provisioning\"\n\
         devices = [1, 10]\ndistance = \"1 m\"\n",
    ),
    (
        "raw-esp-now",
        "name = \"raw-esp-now\"\n[[measure]]\nkind = \"raw-esp-now\"\ncast = [\"unicast\", \"broadcast\"]\n\
         size = 250\nphy_rate = [\"1M\", \"24M\"]\n[[measure]]\nkind = \"raw-esp-now\"\n\
         profile = [\"esp32c2\", \"esp32c3\", \"esp32c6\", \"esp32s2\", \"esp32s3\"]\nphy_rate = \"24M\"\n",
    ),
    (
        "wifi-udp-echo",
        "name = \"udp-echo\"\n[[measure]]\nkind = \"udp-echo\"\nvariant = \"arduino\"\nsize = [1, 900]\n\
         count = 200\n",
    ),
    (
        "esp8266-iperf",
        "name = \"esp8266-iperf\"\n[[measure]]\nkind = \"iperf\"\n\
         variant = [\"softap-open-sdk-2.2\", \"station-open-sdk-2.2\", \"station-wpa2-sdk-1.4\"]\n\
         transport = [\"udp\", \"tcp\"]\ndirection = \"forward\"\nbandwidth = \"40 Mbit/s\"\ntime = \"2 s\"\n\
         [[measure]]\nkind = \"iperf\"\nvariant = [\"softap-open-sdk-2.2\", \"station-open-sdk-2.2\"]\n\
         transport = \"tcp\"\ndirection = \"reverse\"\nlength = 2880\ntime = \"2 s\"\n",
    ),
    (
        "esp32c3-rank",
        "name = \"esp32c3-rank\"\n[[measure]]\nkind = \"iperf\"\n\
         variant = [\"rank-iperf\", \"rank-minimum\", \"best-lab-air\"]\ntransport = [\"tcp\", \"udp\"]\n\
         direction = \"forward\"\nbandwidth = \"55 Mbit/s\"\ntime = \"2 s\"\n[[measure]]\nkind = \"iperf\"\n\
         variant = [\"rank-iperf\", \"rank-minimum\", \"best-lab-air\"]\ntransport = [\"tcp\", \"udp\"]\n\
         direction = \"reverse\"\ntime = \"2 s\"\n",
    ),
    (
        "wifi-tcp-rate",
        "name = \"tcp-rate\"\n[[measure]]\nkind = \"tcp-rate\"\nvariant = [\"idf-print\", \"idf-room\", \"idf\"]\n\
         size = 16\nruns = 2\ndiscard = 0\nrun_time = \"1 s\"\nno_delay = true\n",
    ),
    (
        "power-save",
        "name = \"power-save\"\ngoal = \"battery\"\n[[measure]]\nkind = \"udp-echo\"\n\
         variant = [\"ps-none\", \"ps-min-dtim1\", \"ps-min-dtim10\", \"esp-now-10-100\", \"multicast-router\"]\n\
         size = 64\nformat = \"binary\"\nin_flight = 8\ncount = 30\ninterval = \"1 s\"\ntimeout = \"4 s\"\n\
         [[measure]]\nkind = \"wifi-join\"\n\
         variant = [\"join-esp32c3-wpa2\", \"join-esp32-wpa3\", \"join-esp8266-wpa2\"]\n",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_engine::Simulator;
    use espbench_measure::plan::Plan;
    use espbench_sim::lab::file::Library;

    #[test]
    fn each_can_be_carried_out_and_its_suite_is_there() {
        let simulator = Simulator::new(Library::built_in(), None);
        for (name, text) in SHORT {
            let plan = Plan::parse(text).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            for work in &plan.workloads {
                simulator.check(work).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            }
            assert!(crate::cli::builtin::plan(name).is_ok(), "{name}");
        }
    }
}
