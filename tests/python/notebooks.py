#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The notebooks of examples/notebooks run to their ends; their cells assert what they say.

Usage: notebooks.py --jupyter [--all] --work DIR

A kernel runs them (nbclient and ipykernel); --all takes those, too, that take long. test_notebooks.py runs their code in
its process, cell after cell, as a notebook runs it: what the last expression of a cell gives is shown in the way that
notebooks show it.
"""
import argparse
import ast
import contextlib
import io
import json
import os
import pathlib
import shutil
import sys
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "examples/notebooks"
LONG = {"tune_on_a_cluster"}


def paths(long=False):
    return [p for p in sorted(NOTEBOOKS.glob("*.ipynb")) if long or p.stem not in LONG]


def place(work):
    """A folder to run notebooks in: what they name is where it is in the repository."""
    folder = work / "examples/notebooks"
    folder.mkdir(parents=True)
    (work / "tests").symlink_to(ROOT / "tests")
    return folder


def cells_of(path):
    """The sources of the cells with code; a committed notebook has no outputs."""
    document = json.loads(path.read_text())
    assert document["nbformat"] == 4 and document["metadata"]["license"] == "0BSD", path
    cells = [c for c in document["cells"] if c["cell_type"] == "code"]
    assert not any(c["outputs"] or c["execution_count"] for c in cells), f"{path.name}: outputs are not committed"
    return ["".join(c["source"]) for c in cells]


def show(value):
    if value is None:
        return
    page = getattr(value, "_repr_html_", lambda: None)()
    print(page if page is not None else repr(value))


def run_cell(source, names, name):
    tree = ast.parse(source, name)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)  # noqa: S102
    if last is not None:
        show(eval(compile(last, name, "eval"), names))  # noqa: S307


def run_here(path):
    names = {"__name__": "__main__"}
    for number, source in enumerate(cells_of(path)):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            run_cell(source, names, f"{path.name}, cell {number}")


def run_in_jupyter(path):
    import nbclient
    import nbformat
    cells_of(path)
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    errors = [o for c in notebook.cells for o in c.get("outputs", []) if o.output_type == "error"]
    assert not errors, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--jupyter", action="store_true", required=True)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    os.environ.setdefault("AOTC", str(ROOT / "build/release/compiler/aotc"))
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    os.chdir(place(arguments.work.resolve()))
    chosen, failed = paths(arguments.all), 0
    for path in chosen:
        try:
            run_in_jupyter(path)
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"FAILED {path.stem}\n{traceback.format_exc()}")
    print(f"{len(chosen) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or len(chosen) < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
