"""Tests that component and examples build as the SDKs build them, heed their settings, and stand alone when packed."""

import re
import tempfile
import unittest

import sdk
from support import COMPONENT, HERE, ROOT, ran

# What the SDKs offer by default: for looking for faults, and for size.
OPTIMIZATIONS = ["-Og", "-Os"]
OURS = sdk.kconfig(COMPONENT / "Kconfig")
# Unlike each default, and unlike each other.
CHANGED = {
    "CONFIG_ESPBENCH_SERVICES": "16",
    "CONFIG_ESPBENCH_STREAMS": "3",
    "CONFIG_ESPBENCH_TASK_STACK": "6144",
    "CONFIG_ESPBENCH_TASK_PRIORITY": "7",
}
FIRMWARES = {
    "idf": (sdk.idf((5, 3)), {**OURS, **CHANGED}),
    "rtos-sdk": (sdk.RTOS_SDK, sdk.choose(OURS, sdk.defaults(sdk.EXAMPLES / "rtos-sdk" / "sdkconfig.defaults"))),
    "arduino": (sdk.ARDUINO, {}),
}


def text(length):
    """Returns a setting's text of so many characters."""
    return '"' + "0" * length + '"'


def amounts(settings):
    """Returns what a program must tell where these settings are heeded."""
    names = {"services": "SERVICES", "streams": "STREAMS", "stack": "TASK_STACK", "priority": "TASK_PRIORITY"}
    return {told: int({**OURS, **settings}[f"CONFIG_ESPBENCH_{name}"]) for told, name in names.items()}


class Component(unittest.TestCase):
    def test_sources_compile_without_a_warning_and_heed_the_settings(self):
        for name, (kind, settings) in FIRMWARES.items():
            for optimization in OPTIMIZATIONS if name != "arduino" else ["-Os"]:
                with self.subTest(sdk=name, optimization=optimization):
                    folder = sdk.sdkconfig(f"component-{name}{optimization}", {**kind.settings, **settings})
                    own = COMPONENT / ("src" if name == "arduino" else "include")
                    flags = [*kind.flags, optimization, *sdk.includes(kind, folder, own)]
                    files = [*sdk.sources(), sdk.STUBS / "console.c", HERE / "settings.c"]
                    sdk.compiled(["gcc", "-c", *flags, *files], folder)
                    objects = [f"{path.stem}.o" for path in files]
                    sdk.compiled(["gcc", *objects, "-o", "settings", "-lpthread"], folder)
                    self.assertEqual(sdk.told(folder / "settings"), amounts(settings))
        # The check can fail: none of the settings handed over is a default.
        self.assertFalse(amounts(CHANGED).items() & amounts({}).items())

    def test_headers_stand_alone_in_c_and_cpp_also_where_arduino_looks(self):
        for header in sorted((COMPONENT / "include").glob("*.h")):
            for own, (kind, settings) in {"include": FIRMWARES["idf"], "src": FIRMWARES["arduino"]}.items():
                folder = sdk.sdkconfig(f"header-{own}", {**kind.settings, **settings})
                for language, standard in [("c", "gnu17"), ("c++", "gnu++11"), ("c++", "gnu++2b")]:
                    with self.subTest(header=header.name, own=own, standard=standard):
                        source = folder / "header.c"
                        source.write_text(f"#include <{header.name}>\nint main(void) {{ return espbench_running(1); }}\n")
                        flags = [*sdk.flags(kind, language, standard), *sdk.includes(kind, folder, COMPONENT / own)]
                        sdk.compiled(["gcc", "-Og", "-c", *flags, source, "-o", "header.o"], folder)


class Examples(unittest.TestCase):
    def build(self, name, kind, changes, optimization="-Og"):
        """Compiles the program of an example with its own defaults, then these changes; returns the build's folder."""
        example = sdk.EXAMPLES / name
        settings = {**kind.settings, **OURS, **sdk.kconfig(example / "main" / "Kconfig.projbuild")}
        if name == "idf":
            settings = sdk.choose(settings, {"CONFIG_ESP_CONSOLE_UART_DEFAULT": "1"})
        settings = sdk.choose(settings, {**sdk.defaults(example / "sdkconfig.defaults"), **changes})
        folder = sdk.sdkconfig(f"example-{name}", settings)
        flags = [*kind.flags, optimization, *sdk.includes(kind, folder, COMPONENT / "include")]
        sdk.compiled(["gcc", "-c", *flags, example / "main" / "main.c", "-o", "main.o"], folder)
        return folder

    def test_examples_compile_in_every_mode_and_release(self):
        power = {"CONFIG_EXAMPLE_STATION": "1", "CONFIG_EXAMPLE_PS_NONE": "1"}
        broker = {"CONFIG_EXAMPLE_BROKER": '"mqtt://192.168.1.10"'}
        modes = [*({mode: "1"} for mode in sdk.MODES), power, broker]
        for mode in modes:
            for release in [(4, 4), (5, 3), (6, 2)]:
                with self.subTest(mode=mode, release=release):
                    self.build("idf", sdk.idf(release), mode)
            if mode is not broker:
                with self.subTest(example="rtos-sdk", mode=mode):
                    self.build("rtos-sdk", sdk.RTOS_SDK, mode)

    def test_names_and_passwords_of_every_length_build(self):
        for name, kind in {"idf": sdk.idf((5, 3)), "rtos-sdk": sdk.RTOS_SDK}.items():
            for mode in sdk.MODES:
                for ssid, password in [(1, 0), (32, 8), (31, 63), (32, 64)]:
                    for optimization in OPTIMIZATIONS:
                        with self.subTest(example=name, mode=mode, ssid=ssid, password=password, flag=optimization):
                            texts = {"CONFIG_EXAMPLE_SSID": text(ssid), "CONFIG_EXAMPLE_PASSWORD": text(password)}
                            self.build(name, kind, {mode: "1", **texts}, optimization)

    def test_what_does_not_fit_is_refused_with_words(self):
        wrong = [("SSID", length, "1 to 32 bytes") for length in (0, 33)]
        wrong += [("PASSWORD", length, "8 to 63 characters") for length in (7, 65)]
        for name, kind in {"idf": sdk.idf((5, 3)), "rtos-sdk": sdk.RTOS_SDK}.items():
            for setting, length, words in wrong:
                with self.subTest(example=name, setting=setting, length=length):
                    with self.assertRaisesRegex(AssertionError, words):
                        self.build(name, kind, {f"CONFIG_EXAMPLE_{setting}": text(length)})

    def test_the_console_is_where_the_chip_has_its_socket(self):
        jtag, uart, cdc = "usb_serial_jtag", "uart", "usb_cdc"
        own_usb = ["esp32c3", "esp32c5", "esp32c6", "esp32c61", "esp32s3"]
        cases = [(chip, None, jtag) for chip in own_usb] + [(chip, None, uart) for chip in ["esp32", "esp32s2", "esp32c2"]]
        cases += [(chip, "sdkconfig.uart", uart) for chip in own_usb] + [("esp32s2", "sdkconfig.cdc", cdc)]
        two_cores = {"esp32", "esp32s3"}
        example = sdk.EXAMPLES / "idf"
        for chip, further, console in cases:
            with self.subTest(chip=chip, further=further):
                files = [example / name for name in ("sdkconfig.defaults", f"sdkconfig.defaults.{chip}", further) if name]
                changes = sdk.defaults(*(path for path in files if path.is_file()))
                folder = self.build("idf", sdk.idf((5, 3)), changes)
                wanted = ran(["nm", "-u", "main.o"], cwd=folder)
                self.assertEqual(re.findall(r"esp_console_new_repl_(\w+)", wanted), [console])
                self.assertEqual("CONFIG_ESP_TASK_WDT_CHECK_IDLE_TASK_CPU1" in changes, chip in two_cores)

    def test_sketches_compile(self):
        kind = sdk.ARDUINO
        for name in ["Station", "SoftAP"]:
            for standard in ["gnu++11", "gnu++2b"]:
                with self.subTest(sketch=name, standard=standard):
                    folder = sdk.sdkconfig(f"sketch-{name}", kind.settings)
                    flags = [*sdk.flags(kind, "c++", standard), *sdk.includes(kind, folder, COMPONENT / "src")]
                    sketch = sdk.EXAMPLES / name / f"{name}.ino"
                    sdk.compiled(["g++", "-Os", "-c", *flags, "-include", "Arduino.h", sketch, "-o", "sketch.o"], folder)


class Packed(unittest.TestCase):
    """The component as a registry or a copy gives it: without the repository around it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.component = sdk.packed(folder.name)

    def test_licences_are_packed_and_are_those_of_the_repository(self):
        for name in ["LICENSE-MIT", "LICENSE-APACHE"]:
            self.assertEqual((self.component / name).read_bytes(), (ROOT / name).read_bytes())

    def test_no_link_of_a_document_leads_out_or_nowhere(self):
        self.assertFalse((self.component / "test").exists())
        for document in self.component.rglob("*.md"):
            for link in re.findall(r"\]\(([^)#]+)", document.read_text()):
                with self.subTest(document=document.name, link=link):
                    target = (document.parent / link).resolve()
                    within = target.is_relative_to(self.component.resolve()) and target.exists()
                    self.assertTrue(within or "://" in link)

    def test_the_example_finds_the_component_beside_it_and_elsewhere_asks_for_it(self):
        main = self.component / "examples" / "idf" / "main"
        manifest = (main / "idf_component.yml").read_text()
        found = re.search(r'^  (\S+/)?espbench:\n    version: "\*"\n    override_path: "(.+)"', manifest, re.M)
        self.assertEqual((main / found[2]).resolve(), self.component.resolve())
        # A folder of components that is not there would be an error of CMake's.
        guarded = r"if\(EXISTS \$\{CMAKE_CURRENT_LIST_DIR\}/(\S+)\)\n +set\(EXTRA_COMPONENT_DIRS (\S+)\)\nendif"
        for project in self.component.glob("examples/*/CMakeLists.txt"):
            guard = re.search(guarded, project.read_text())
            self.assertTrue((project.parent / guard[1]).is_file())
            self.assertEqual((project.parent / guard[2]).resolve(), self.component.resolve())
