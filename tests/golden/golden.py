#!/usr/bin/env python3
# SPDX-License-Identifier: 0BSD
"""Emitted C of a few small models, compared to the letter with what is stored beside this file.

Usage: golden.py check|update --aotc PROGRAM --work DIR

A change of the emitted C shows up here as a difference to be read: run tests/golden/update and look
at `git diff tests/golden`. Large tables are stored as their SHA-256 only.
"""
import argparse
import difflib
import hashlib
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent / "models"
LARGEST = 10_000
CASES = {
    # name: (model, options)
    "digits": ("digits/digits_int8.tflite", []),
    "dense": ("ops/dense_int8.tflite", ["--arena", "model"]),
    "gadget": ("gadget/gadget_int8.tflite", []),
    "gadget_workspace": ("gadget/gadget_int8.tflite", ["--memory", "workspace"]),
    "gadget_float": ("gadget/gadget_f32.tflite", []),
}


def stored_form(path):
    data = path.read_bytes()
    if len(data) <= LARGEST or not path.name.endswith("_data.c"):
        return path.name, data.decode()
    return path.name + ".sha256", hashlib.sha256(data).hexdigest() + "\n"


def emitted(aotc, work, name):
    model, options = CASES[name]
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([aotc, "compile", MODELS / model, "--prefix", name, "-o", folder, "--quiet", *options],
                   check=True, stdout=subprocess.DEVNULL)
    files = [p for p in sorted(folder.iterdir()) if p.name != "aotc.json"]
    return dict(stored_form(p) for p in files)


def check(have, want, name):
    """Lines that say how they differ."""
    out = []
    for file in sorted(have.keys() | want.keys()):
        before, after = want.get(file, ""), have.get(file, "")
        if before != after:
            out += list(difflib.unified_diff(before.splitlines(), after.splitlines(), f"golden/{name}/{file}",
                                             f"emitted/{name}/{file}", lineterm="", n=2))[:40]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("check", "update"))
    parser.add_argument("--aotc", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    failed = 0
    for name in CASES:
        have = emitted(options.aotc.resolve(), options.work.resolve(), name)
        folder = HERE / name
        if options.action == "update":
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for file, text in have.items():
                (folder / file).write_text(text)
            continue
        want = {p.name: p.read_text() for p in folder.iterdir()} if folder.exists() else {}
        difference = check(have, want, name)
        if difference or not have:
            failed += 1
            print("\n".join(difference))
    if options.action == "check":
        print(f"{len(CASES) - failed} passed, {failed} failed")
        if failed:
            print("if the change is meant: tests/golden/update, and read the difference")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
