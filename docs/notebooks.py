#!/usr/bin/env python3
"""Runs the notebooks of examples/notebooks and renders them into docs/notebooks.

A notebook is kept as a Python file: lines that begin with `# ` after an empty line are text, what else stands between
empty lines is code of one cell where the next block begins with text or another statement of the file's level.

    docs/notebooks.py                 runs all and renders each as docs/notebooks/NAME.md, with its figures
    docs/notebooks.py FILE --check    runs one, and renders nothing
    docs/notebooks.py FILE --ipynb    writes NAME.ipynb beside the file
"""

import ast
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


def main():
    options = {it for it in sys.argv[1:] if it.startswith("--")}
    named = [Path(it) for it in sys.argv[1:] if not it.startswith("--")]
    for path in named or sorted((ROOT / "examples/notebooks").glob("*.py")):
        book = notebook(path)
        if "--ipynb" in options:
            nbformat.write(book, path.with_suffix(".ipynb"))
            continue
        NotebookClient(book, timeout=1800, kernel_name="python3").execute()
        if "--check" in options:
            continue
        text, resources = MarkdownExporter().from_notebook_node(book)
        folder = ROOT / "docs/notebooks"
        folder.mkdir(exist_ok=True)
        for name, data in resources["outputs"].items():
            (folder / f"{path.stem}-{name}").write_bytes(data)
            text = text.replace(f"({name})", f"({path.stem}-{name})")
        # Pages of a repository show no styles.
        text = re.sub(r"<style scoped>.*?</style>\n", "", text, flags=re.DOTALL)
        lines = "\n".join(line.rstrip() for line in text.splitlines())
        (folder / f"{path.stem}.md").write_text(lines.strip() + "\n", encoding="utf-8")
        print(f"wrote docs/notebooks/{path.stem}.md")


if __name__ == "__main__":
    main()
