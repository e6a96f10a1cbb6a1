#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The notebooks of examples/notebooks run to their ends; their cells assert what they say.

Usage: notebooks.py --work DIR [--jupyter] [--all]

Their code is run in this process, cell after cell, as a notebook runs it: what the last expression of a cell gives is shown in the
way that notebooks show it. With --jupyter a kernel runs them (nbclient and ipykernel); --all takes those, too, that take
long.
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
sys.path.insert(0, str(ROOT / "python"))
NOTEBOOKS = ROOT / "examples/notebooks"
LONG = {"tune_on_a_cluster"}


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
    parser.add_argument("--jupyter", action="store_true")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    run = run_in_jupyter if arguments.jupyter else run_here
    shutil.rmtree(arguments.work, ignore_errors=True)
    work = arguments.work.resolve() / "examples/notebooks"
    work.mkdir(parents=True)
    (work.parents[1] / "tests").symlink_to(ROOT / "tests")
    os.environ.setdefault("AOTC", str(ROOT / "build/release/compiler/aotc"))
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    os.chdir(work)
    paths = [p for p in sorted(NOTEBOOKS.glob("*.ipynb")) if arguments.all or p.stem not in LONG]
    failed = 0
    for path in paths:
        try:
            run(path)
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"FAILED {path.stem}\n{traceback.format_exc()}")
    print(f"{len(paths) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or len(paths) < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
