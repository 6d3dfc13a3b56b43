"""Fuzzes what the component reads, by a seed that is the same each time; INPUTS and SEED in the environment change both."""

import os
import unittest

import support
from support import ran

WRAPPED = (
    "espbench_port_now espbench_port_sleep_ms espbench_port_task espbench_stopped espbench_net_udp espbench_net_listen"
    " espbench_net_connect espbench_net_unblock espbench_net_resolve espbench_wait recv recvfrom send sendto accept getsockopt"
).split()


class Fuzz(unittest.TestCase):
    def test_a_million_inputs(self):
        options = [f"-Wl,--wrap={name}" for name in WRAPPED]
        program = support.compile_c("fuzz", [support.HERE / "fuzz.c", support.HERE / "fuzz_world.c"], options)
        inputs, seed = os.environ.get("INPUTS", "1000000"), os.environ.get("SEED", "1")
        said = ran([program, str(support.HERE / "corpus"), inputs, seed], patience=400)
        print(said, end="")
