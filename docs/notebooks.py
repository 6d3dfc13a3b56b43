#!/usr/bin/env python3
"""Runs the notebooks of examples/notebooks and renders them into docs/notebooks.

A notebook is kept as a Python file: lines that begin with `# ` after an empty line are text, what else stands between
empty lines is code of one cell where the next block begins with text or another statement of the file's level.

    docs/notebooks.py                 runs all and renders each as docs/notebooks/NAME.md, with its figures
    docs/notebooks.py FILE --check    runs one, and fails where its page shows something else (pictures are not compared)
    docs/notebooks.py FILE --ipynb    writes NAME.ipynb beside the file
"""

import ast
import difflib
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

ROOT = Path(__file__).resolve().parent.parent


def cells(text):
    """Yields the cells: texts, and code between them; an expression that stands alone ends a cell."""
    code = []

    def flush():
        if code:
            yield nbformat.v4.new_code_cell("\n\n".join(code))
            code.clear()

    for block in blocks(text):
        if block.startswith("# "):
            yield from flush()
            yield nbformat.v4.new_markdown_cell("\n".join(line.removeprefix("#").removeprefix(" ") for line in block.splitlines()))
            continue
        code.append(block)
        if isinstance(ast.parse(block).body[-1], ast.Expr):
            yield from flush()
    yield from flush()


def blocks(text):
    """Yields what stands between empty lines; blocks that are no whole statements are joined."""
    waiting = ""
    for part in text.split("\n\n"):
        part = part.strip("\n")
        whole = f"{waiting}\n\n{part}" if waiting else part
        try:
            ast.parse(whole)
        except SyntaxError:
            waiting = whole
            continue
        waiting = ""
        if whole:
            yield whole


def notebook(path):
    """Returns the notebook of a file."""
    book = nbformat.v4.new_notebook(cells=list(cells(path.read_text(encoding="utf-8"))))
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for at, cell in enumerate(book.cells):
        cell["id"] = f"cell-{at}"
    return book


def page(book, stem):
    """Returns the page of a notebook that was run, and its pictures by their names."""
    text, resources = MarkdownExporter().from_notebook_node(book)
    pictures = {f"{stem}-{name}": data for name, data in resources["outputs"].items()}
    for name in resources["outputs"]:
        text = text.replace(f"({name})", f"({stem}-{name})")
    # Pages of a repository show no styles.
    text = re.sub(r"<style scoped>.*?</style>\n", "", text, flags=re.DOTALL)
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return lines.strip() + "\n", pictures


def main():
    options = {it for it in sys.argv[1:] if it.startswith("--")}
    named = [Path(it) for it in sys.argv[1:] if not it.startswith("--")]
    for path in named or sorted((ROOT / "examples/notebooks").glob("*.py")):
        book = notebook(path)
        if "--ipynb" in options:
            nbformat.write(book, path.with_suffix(".ipynb"))
            continue
        NotebookClient(book, timeout=1800, kernel_name="python3").execute()
        text, pictures = page(book, path.stem)
        folder = ROOT / "docs/notebooks"
        stored = folder / f"{path.stem}.md"
        if "--check" in options:
            shown = difflib.unified_diff(stored.read_text(encoding="utf-8").splitlines(), text.splitlines(), "the page", "the notebook", lineterm="")
            if shown := list(shown):
                sys.exit("\n".join([*shown, f"docs/notebooks/{path.stem}.md is old: docs/notebooks.py {path} writes it"]))
            continue
        folder.mkdir(exist_ok=True)
        for name, data in pictures.items():
            (folder / name).write_bytes(data)
        stored.write_text(text, encoding="utf-8")
        print(f"wrote docs/notebooks/{path.stem}.md")


if __name__ == "__main__":
    main()
