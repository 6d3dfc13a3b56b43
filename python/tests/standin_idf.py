"""A stand-in for idf.py of ESP-IDF v6: loads extensions as "Extending idf.py" of ESP-IDF's guide
(docs/en/api-guides/tools/idf-py.rst) describes, and runs several commands one after the other (click's chain mode).

What is taken from there: the entry-point group `idf_extension`; `idf_ext.py` in the project; the mandatory `version`,
which is "1"; actions with callback, help, options and arguments; callbacks are called with the command's name, the
context, all global arguments, and the arguments of the action; names of idf.py's own cannot be taken.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click


class GlobalArgs(dict):  # type: ignore[type-arg]
    """Global arguments, by name and as attributes."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)


def build(subcommand_name: str, ctx: click.Context, global_args: GlobalArgs, **action_args: Any) -> None:
    """Stands for the build."""


CORE: dict[str, Any] = {"build": {"callback": build, "help": "Build the project."}}


def extensions(project: str, with_entry_points: bool) -> dict[str, Any]:
    """Loads all extensions."""
    actions = dict(CORE)
    loaded = []
    if with_entry_points:
        loaded += [it.load() for it in entry_points(group="idf_extension")]
    own = Path(project) / "idf_ext.py"
    if own.exists():
        spec = importlib.util.spec_from_file_location("idf_ext", own)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        loaded.append(module.action_extensions)
    for extension in loaded:
        custom = extension(actions, project)
        if custom.get("version") != "1":
            sys.exit('Attribute "version" is required in custom extension.')
        for name, action in custom["actions"].items():
            if name in CORE:
                print(f"Action '{name}' already defined. External action will not be added.", file=sys.stderr)
                continue
            actions[name] = action
    return actions


def cli(actions: dict[str, Any]) -> click.Group:
    """Makes the command line: global options, and a chain of commands."""

    @click.group(chain=True, context_settings={"help_option_names": ["-h", "--help"]})
    @click.option("-C", "--project-dir", default=".")
    @click.option("-B", "--build-dir", default=None)
    @click.option("-p", "--port", default=None, envvar="ESPPORT")
    @click.option("-D", "--define-cache-entry", multiple=True)
    @click.option("--no-entry-points", is_flag=True)
    def idf(**given: Any) -> None:
        del given

    @idf.result_callback()
    @click.pass_context
    def execute(ctx: click.Context, tasks: list[tuple[str, dict[str, Any]]], **given: Any) -> None:
        for name, args in tasks:
            print(f"Executing action: {name}", flush=True)
            actions[name]["callback"](name, ctx, GlobalArgs(given), **args)

    for name, action in actions.items():
        params: list[click.Parameter] = [click.Option(it.pop("names"), **it) for it in map(dict, action.get("options", []))]
        for it in map(dict, action.get("arguments", [])):
            params.append(click.Argument(it.pop("names"), **it))
        task = click.Command(name, params=params, callback=lambda _name=name, **args: (_name, args))
        task.help, task.short_help = action.get("help"), action.get("short_help")
        idf.add_command(task)
    return idf


if __name__ == "__main__":
    words = sys.argv[1:]
    at = words.index("-C") + 1 if "-C" in words else None
    folder = str(Path(words[at]).resolve()) if at is not None else "."
    cli(extensions(folder, "--no-entry-points" not in words))(words, prog_name="idf.py")
