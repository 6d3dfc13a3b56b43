"""The SDKs as their build systems call the compiler, over stand-ins for their headers (stubs/README.md).

Settings come as on a board: by a generated sdkconfig.h, never by the command line. They are what the Kconfig files of
the component and its examples give, then what files of defaults say, then what a test changes.
"""

import os
import pathlib
import re
import shutil
import subprocess
from typing import NamedTuple

from support import COMPONENT, HERE, OUT

STUBS = HERE / "stubs"
EXAMPLES = COMPONENT / "examples"

# Flags for warnings that all have. What they let pass as a warning fails here, too.
SHARED = [
    "-Wall", "-Wextra", "-Werror=all", "-Wno-error=unused-function", "-Wno-error=unused-variable",
    "-Wno-error=unused-but-set-variable", "-Wno-error=deprecated-declarations", "-Wno-unused-parameter", "-Wno-sign-compare",
]  # fmt: skip
IDF_FLAGS = [*SHARED, "-Wno-error=extra", "-Wno-enum-conversion"]
# What compilers of C++ do not know.
C_ONLY = {"-Wno-old-style-declaration"}
PLATFORM = ["-D_GNU_SOURCE", "-DESP_PLATFORM"]


class Sdk(NamedTuple):
    """One SDK: how it compiles C, where its stand-ins are, and the settings that it brings itself."""

    flags: list
    folders: list
    settings: dict


def idf(version):
    """Returns ESP-IDF of a release such as (5, 3)."""
    number = version[0] << 16 | version[1] << 8
    standard = "gnu99" if version < (5, 0) else "gnu17"
    flags = [f"-std={standard}", "-Wno-old-style-declaration", *IDF_FLAGS, *PLATFORM, f"-DSTUB_IDF={number}"]
    return Sdk(flags, [STUBS / "idf"], {"CONFIG_IDF_TARGET_ESP32C3": "1", "CONFIG_LOG_DEFAULT_LEVEL": "3"})


RTOS_SDK = Sdk(
    ["-std=gnu99", "-Wno-old-style-declaration", *SHARED, *PLATFORM],
    [STUBS / "rtos-sdk"],
    {"CONFIG_IDF_TARGET_ESP8266": "1", "CONFIG_LOG_DEFAULT_LEVEL": "3", "CONFIG_ESP_CONSOLE_UART_NUM": "0"},
)
# Its headers are ESP-IDF's, compiled before: their sdkconfig.h has no settings of ours.
ARDUINO = Sdk(
    [*idf((5, 1)).flags, "-DARDUINO=10819", "-DARDUINO_ARCH_ESP32"],
    [STUBS / "arduino", STUBS / "idf"],
    {"CONFIG_IDF_TARGET_ESP32C3": "1", "CONFIG_ESP_CONSOLE_UART_DEFAULT": "1", "CONFIG_ESP_CONSOLE_UART_NUM": "0"},
)

# Where ESP-IDF's console is: one of these is on, and tells the number of its UART.
CONSOLES = {
    "CONFIG_ESP_CONSOLE_UART_DEFAULT": "0",
    "CONFIG_ESP_CONSOLE_USB_SERIAL_JTAG": "-1",
    "CONFIG_ESP_CONSOLE_USB_CDC": "-1",
}
# How the example is attached: one of these is on.
MODES = ["CONFIG_EXAMPLE_STATION", "CONFIG_EXAMPLE_SOFTAP"]


def kconfig(path):
    """Reads what a Kconfig file gives where the user chooses nothing; what is off is not in it."""
    settings, name = {}, None
    for line in path.read_text().splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "config":
            name = rest
        elif word in ("choice", "help"):
            name = None if word == "choice" else "help"
        elif word == "default" and name != "help" and rest != "n":
            # In a choice it names the one that is on.
            settings[f"CONFIG_{name or rest}"] = rest if name else "1"
    return settings


def defaults(*paths):
    """Reads files such as sdkconfig.defaults, the later ones last: None where a setting is off."""
    settings = {}
    for path in paths:
        for line in path.read_text().splitlines():
            name, equals, value = line.partition("=")
            if equals and not line.startswith("#"):
                settings[name] = {"y": "1", "n": None}.get(value, value)
    return settings


def choose(settings, changes):
    """Changes settings, each choice to the member that was turned on last."""
    for name, value in changes.items():
        for choice in (CONSOLES, MODES):
            if name in choice and value:
                settings = {key: kept for key, kept in settings.items() if key not in choice}
        settings = {**settings, name: value}
    for console, uart in CONSOLES.items():
        if settings.get(console):
            settings["CONFIG_ESP_CONSOLE_UART_NUM"] = uart
    return settings


def sdkconfig(name, settings):
    """Writes sdkconfig.h of a build; returns the folder of that build."""
    folder = OUT / "sdk" / name
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"#define {key} {value}" for key, value in settings.items() if value is not None]
    text = "#pragma once\n" + "\n".join(lines) + "\n"
    header = folder / "sdkconfig.h"
    if not header.is_file() or header.read_text() != text:
        header.write_text(text)
    return folder


def includes(sdk, folder, *own):
    """Returns the folders of headers in the SDK's order: the component's, the build's, the SDK's."""
    return [part for path in (*own, folder, *sdk.folders, STUBS) for part in ("-I", str(path))]


def flags(sdk, language, standard):
    """Returns an SDK's flags for another language or standard."""
    kept = [flag for flag in sdk.flags if not flag.startswith("-std=") and flag not in C_ONLY]
    return ["-x", language, f"-std={standard}", *kept]


def compiled(command, folder):
    """Compiles in a build's folder; a warning fails it as an error does. Tests that run beside it go first."""
    done = subprocess.run(["nice", *map(str, command)], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stderr}")


def sources():
    """Returns all sources, as Arduino compiles them; the port to POSIX, which CMakeLists.txt leaves out, is empty."""
    return sorted((COMPONENT / "src").glob("*.c"))


def told(program):
    """Runs a program that tells its settings; returns them by name."""
    environment = {**os.environ, "STUB_TASKS": "1"}
    done = subprocess.run([str(program)], env=environment, capture_output=True, text=True, check=True)
    words = done.stdout.replace(",", " ").split()
    return {name: int(words[words.index(name) + 1]) for name in ("services", "streams", "stack", "priority")}


def packed(folder):
    """Copies what the registry's archive holds; returns the component's folder in it."""
    manifest = (COMPONENT / "idf_component.yml").read_text()
    excluded = set(re.findall(r'^    - "(\w+)/\*\*/\*"$', manifest, re.M))
    left = shutil.ignore_patterns("__pycache__", *excluded)
    return shutil.copytree(COMPONENT, pathlib.Path(folder) / "espbench", ignore=left)
