"""Runs, and what their results are."""

from __future__ import annotations

import json
import pickle
import signal
import threading
import time
from datetime import timedelta

import espbench
import pytest

from rooms import PING, ROOT


def test_a_run_has_figures_with_intervals(ping: espbench.Result) -> None:
    assert ping.origin == "simulated" and ping.seed == 1 and ping.status == 0
    p50 = ping.figures("rtt_exact_p50", payload_bytes=230)
    low, high = p50.interval
    assert p50.unit == "ms" and low < p50.value < high
    # 230 bytes at 1 Mbit/s are on the air for 2 ms each way, and there is work beside it.
    assert p50 > "4 ms" and p50 < "20 ms"
    assert float(p50) == p50.value
    assert ping.p99.name == "rtt_exact_p99" and len(ping.p99) == 2
    assert "rtt_exact_p99 (unicast, 10 B, 3 m): " in repr(ping.p99)


def test_the_same_seed_gives_the_same_figures(ping: espbench.Result) -> None:
    again = espbench.run(PING, seed=1, threads=1)
    assert again.cells.rows() == ping.cells.rows()
    assert espbench.run(PING, seed=2).cells.rows() != ping.cells.rows()


def test_it_is_the_command_s_run(ping: espbench.Result, tmp_path) -> None:
    kept = espbench.run(PING, seed=1, store=tmp_path / "runs.sqlite")

    def figures(result):
        return [{key: it for key, it in row.items() if key != "run"} for row in result.cells.rows()]

    assert figures(kept) == figures(ping)
    read = espbench.read(tmp_path / "runs.sqlite")
    assert read.name == kept.name and figures(read) == figures(ping)
    assert read.samples["received_s"] == ping.samples["received_s"]
    (only,) = espbench.runs(tmp_path / "runs.sqlite")
    assert (only["name"], only["planned"], only["done"], only["failed"]) == (kept.name, 2, 2, 0)


def test_a_plan_is_a_name_a_file_a_text_or_a_dict(tmp_path) -> None:
    block = {"kind": "esp-now", "test": "ping", "size": [10], "count": 20, "distance": "3 m", "cast": ["unicast"]}
    plan = {"name": "it's a \"plan\"", "measure": [block]}
    of_dict = espbench.run(plan)
    assert of_dict.json["run"]["plan_name"] == plan["name"]
    file = tmp_path / "plan.toml"
    file.write_text(of_dict.json["run"]["plan_text"])
    assert espbench.run(file).cells.rows() == of_dict.cells.rows()
    assert espbench.run([file, plan]).json["run"]["plan_name"].count("plan") == 2
    assert "round-trip" in espbench.plans()


def test_a_lab_is_a_name_a_file_or_a_text(ping: espbench.Result) -> None:
    text = (ROOT / "labs/two-boards.toml").read_text()
    named = espbench.run(PING, lab="two-boards", seed=1)
    assert named.figures("loss").unit == "percent"
    own = espbench.run(PING, lab=text, seed=1)
    assert own["rtt_exact_p50"][0].value == named["rtt_exact_p50"][0].value
    assert espbench.run(PING, on="sim:two-boards", seed=1).cells["value"] == named.cells["value"]
    with pytest.raises(espbench.EspbenchError, match="a lab is named twice"):
        espbench.run(PING, on="sim:two-boards", lab="two-boards")
    with pytest.raises(espbench.EspbenchError, match="loopback is not in a lab"):
        espbench.run(PING, on="loopback", lab="two-boards")


def test_over_loopback_it_is_measured() -> None:
    plan = {"name": "desk", "measure": [{"kind": "udp-echo", "size": [64], "count": 200, "timeout": "1 s"}]}
    desk = espbench.run(plan, progress=False)
    assert desk.origin == "measured" and desk.status == 0
    assert len(desk.samples) == 200 and set(desk.samples["fate"]) <= {"delivered", "lost"}
    assert desk.loss < "50 %"
    assert pickle.loads(pickle.dumps(desk)).cells.rows() == desk.cells.rows()


def test_drawings(ping: espbench.Result, tmp_path) -> None:
    assert "round trip" in ping.text
    ping.save(tmp_path / "a.html", tmp_path / "a.json", tmp_path / "a.csv", tmp_path / "a.md", tmp_path / "a.txt")
    assert (tmp_path / "a.html").read_text().lower().startswith("<!doctype html>")
    assert espbench.read(tmp_path / "a.json").cells.rows() == ping.cells.rows()
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + len(ping.cells)
    with pytest.raises(ValueError, match="no form has that ending"):
        ping.save(tmp_path / "a.pdf")
    # Figures are no console: nothing is diagnosed of our own pages and tables.
    for name in ("a.html", "a.csv", "a.md"):
        with pytest.raises(espbench.EspbenchError, match="that espbench has written"):
            espbench.read(tmp_path / name)
    with pytest.raises(espbench.EspbenchError, match="is a report that espbench has written"):
        espbench.doctor(tmp_path / "a.json")
    (tmp_path / "b.json").write_text('{"other": 1}')
    with pytest.raises(espbench.EspbenchError, match="b.json is no report of espbench"):
        espbench.read(tmp_path / "b.json")
    assert ping._repr_html_().startswith('<div class="espbench">') and "<pre" in ping._repr_html_()


def test_progress_has_one_signature(tmp_path) -> None:
    seen: list[tuple[int, int]] = []

    def told(done: int, total: int) -> None:
        seen.append((done, total))

    espbench.run(PING, progress=told)
    assert seen[-1] == (2, 2)
    seen.clear()
    espbench.run(PING, store=tmp_path / "s.sqlite", progress=told)
    assert seen[-1] == (2, 2)
    seen.clear()
    espbench.predict("fleet", devices=5, rooms=4, messages=100, progress=told)
    assert seen[-1] == (1000, 1000)


def test_progress_may_stop_the_run() -> None:

    class Enough(Exception):
        pass

    def stop(done: int, of: int) -> None:
        raise Enough

    endless = PING.replace("count = 400", "count = 1000000")
    begun = time.monotonic()
    with pytest.raises(Enough):
        espbench.run(endless, progress=stop)
    assert time.monotonic() - begun < 60


def test_ctrl_c_stops_a_plan_that_does_not_end() -> None:
    import _thread

    endless = PING.replace("count = 400", "count = 1000000")
    timer = threading.Timer(0.5, _thread.interrupt_main)
    # A shell's background jobs begin with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            espbench.run(endless)
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_go_on_meanwhile() -> None:
    turns = []
    stop = threading.Event()

    def count() -> None:
        while not stop.wait(0.001):
            turns.append(1)

    counter = threading.Thread(target=count)
    counter.start()
    espbench.run(PING.replace("count = 400", "count = 3000"))
    stop.set()
    counter.join()
    assert len(turns) > 5


def test_predict() -> None:
    fleet = espbench.predict("fleet", devices=5, every=timedelta(seconds=1), rooms=2, messages=100, progress=False)
    assert fleet.figures("loss", devices=5) < "50 %"
    assert fleet.json["prediction"]["question"] == "fleet"
    far = espbench.predict("range", room="open", phy_rates="1M")
    assert far.json["prediction"]["question"] == "range"
    chips = espbench.predict("compare", devices=3, profile=["esp32", "esp32c3"], rooms=2, messages=100)
    assert {it["profile"] for it in chips.json["prediction"]["rows"]} == {"esp32", "esp32c3"}
    with pytest.raises(ValueError, match="there is no question 'loss'"):
        espbench.predict("loss")


def test_tune_checks_an_sdkconfig(tmp_path) -> None:
    config = tmp_path / "sdkconfig"
    config.write_text('CONFIG_IDF_TARGET="esp32c3"\nCONFIG_LWIP_TCP_WND_DEFAULT=5744\n')
    checked = espbench.tune(config, rtt="20ms", time="500ms", progress=False)
    assert isinstance(checked, espbench.SettingsCheck)
    assert checked["chip"] == "esp32c3" and checked["rtt_ms"] == 20.0
    assert any(it["metric"] == "tcp-rx" for it in checked["limits"])
    assert all(line.startswith("CONFIG_") for line in checked.recommended)
    assert str(checked).startswith("esp32c3, ESP-IDF ") and len(str(checked).splitlines()) < 40
    with pytest.raises(TypeError, match="name an sdkconfig"):
        espbench.tune()


def test_doctor_and_read(tmp_path) -> None:
    log = ROOT / "crates/doctor/tests/cases/arduino-brownout.log"
    found = espbench.doctor(log, no_proof=True)
    assert found.causes[0] == espbench.read(log).causes[0]
    assert "supply" in found.findings[0]["title"] and found.findings[0]["remedy"] in str(found)
    of_text = espbench.doctor(log=log.read_text(), no_proof=True)
    assert of_text.causes == found.causes and of_text["diagnoses"][0]["files"] == ["log"]
    assert espbench.read_log(log).causes == found.causes
    with pytest.raises(espbench.EspbenchError, match="is no run"):
        espbench.read_run(log)
    script = tmp_path / "evil.log"
    script.write_text("<script>alert(1)</script> wifi: state: assoc -> init (0)\n")
    assert "<script>" not in espbench.read(script)._repr_html_()


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("name = \n", "line 1"),
        ('name = "a"\n[[measure]]\nkind = "no-such"\n', "no-such"),
        ('name = "a"\n[[measure]]\nkind = "esp-now"\ntest = "ping"\ncount = -1\n', "count"),
        ("[" * 100_000 + "\n", "line 1"),
        ('a = "' + "x" * 1_000_000 + '"\n', "line 1"),
        ("\n\0\x1b]0;title\x07\n", "line"),
    ],
)
def test_hostile_toml_is_an_exception_with_its_place(plan: str, said: str) -> None:
    with pytest.raises(espbench.EspbenchError) as wrong:
        espbench.run(plan)
    assert said in str(wrong.value) and len(str(wrong.value)) < 2000


@pytest.mark.parametrize(
    "given",
    [
        {"plan": 7.5j},
        {"plan": 7},
        {"plan": None},
        {"plan": b"x"},
        {"plan": {1: 2}},
        {"plan": "round-trip", "lab": 5},
        {"plan": "round-trip", "seed": "1"},
        {"plan": "round-trip", "seed": 1.5},
        {"plan": "round-trip", "seed": True},
    ],
)
def test_wrong_types_are_type_errors(given) -> None:
    with pytest.raises(TypeError):
        espbench.run(**given)


@pytest.mark.parametrize("given", [{"seed": -1}, {"threads": 0}, {"threads": 70_000}])
def test_numbers_out_of_range_are_told(given) -> None:
    (name,) = given
    with pytest.raises(espbench.EspbenchError, match=f"{name} is {given[name]}\n  why: it is a whole number from"):
        espbench.run("round-trip", **given)


def test_numbers_of_numpy_and_pandas_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    block = {"kind": "esp-now", "test": "ping", "size": numpy.arange(10, 30, 10), "count": numpy.int64(20), "distance": "3 m", "cast": ("unicast",)}
    run = espbench.run({"name": "numbers", "measure": (block,)}, seed=numpy.uint32(1))
    assert run.figures("loss", payload_bytes=numpy.int64(20)).value == 0
    frame = pandas.DataFrame({"n": [3]})
    fleet = espbench.predict(devices=frame.n.iloc[0], rooms=2, messages=numpy.int32(100))
    assert fleet.figures("loss", devices=3) < "50 %"
    assert espbench.predict(devices=[3, 4], rooms=2, messages=100).figures("loss", devices=4) < "50 %"


def test_a_result_is_iterated_and_looked_into(ping: espbench.Result) -> None:
    assert list(ping) == ping.metrics and {"loss", "p99"} <= {it for it in ("loss", "p99", "rssi") if it in ping}
    assert "rssi" not in ping and 5 not in ping
    assert "rtt_exact_p99" in dir(ping) and "save" in dir(ping)


def test_the_engine_knows_what_is_better() -> None:
    known = espbench.metrics()
    assert known["acknowledged"] == {"unit": "percent", "better": "higher", "share": True}
    assert known["queue_drop_rate"]["better"] == "lower" and known["heap_peak"]["better"] == "neither"


def test_names_are_guessed_and_flags_are_checked() -> None:
    with pytest.raises(espbench.EspbenchError, match="Did you mean `round-trip`") as wrong:
        espbench.run("round-tripp")
    assert wrong.value.what and wrong.value.remedy
    with pytest.raises(espbench.EspbenchError, match="no_such_flag"):
        espbench.run("udp-echo", no_such_flag=1)
    with pytest.raises(espbench.EspbenchError, match="there is no such file"):
        espbench.run("no/such.toml")
    with pytest.raises(espbench.EspbenchError, match="no lab"):
        espbench.run(PING, lab="no-such-lab")
    with pytest.raises(espbench.EspbenchError, match="is no result"):
        espbench.read(ROOT / "plans/iperf.toml")
    with pytest.raises(FileNotFoundError):
        espbench.read("no/such.sqlite")
    with pytest.raises(FileNotFoundError):
        espbench.runs("no/such.sqlite")
    with pytest.raises(espbench.EspbenchError, match="`cast` cannot be \"smoke\"") as wrong:
        espbench.predict("fleet", devices=3, cast="smoke")
    assert "--" not in str(wrong.value), wrong.value
    with pytest.raises(ValueError, match="no report"):
        espbench._espbench.Report.from_json(json.dumps({"schema": "other"}))
