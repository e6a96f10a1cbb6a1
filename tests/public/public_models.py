#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of public repositories: which compile, and are all results LiteRT's?

Usage: public_models.py run --from DIR --work DIR [--only TEXT] [--jobs N] [--markdown]
       public_models.py list --from DIR

DIR holds clones of the repositories that models.csv names, as OWNER+NAME: work trees, bare ones, or folders
with a bare one in `repo`. The models themselves are no part of this repository; what is compared is known by
its SHA-256, and what is not there is told.

Each model is compiled and run on this machine (gcc, -O1) beside LiteRT's reference kernels, layer by layer,
one with state over 100 runs, compiled by clang, too. What becomes of it:
  equal     every layer is LiteRT's: to the byte, floats that pass exp or tanh within a few ulp
  builtin   the same, but beside LiteRT's optimised kernels: its reference ones lack an operator
  alone     it compiles, and LiteRT does not run it
  refused   aotc refuses it, for the reason that is printed
  differs   a result is another

list prints models.csv anew: every .tflite file of at most 1 MB of the repositories (REPOSITORIES), once, but
for single operators in tests and what was compiled for an Edge TPU.
"""
import argparse
import concurrent.futures
import csv
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "e2e")]
import common  # noqa: E402

LIST = HERE / "models.csv"
MOST_BYTES, LEAST_BYTES = 1 << 20, 1000
LEFT_OUT = re.compile(r"edgetpu|seanet|/testdata/|/test_data/|micro/integration_tests|Makefile|third_party/")
# What LiteRT says of models and inputs that it does not run: custom operators that it does not have, drawn
# indices that are out of range, a quantisation that it finds wrong (and TensorFlow Lite Micro does not).
NOT_RUN = ("unresolved custom op", "failed to invoke", "failed to prepare", "invalid quantization parameters",
           ".tflite: exit code -")
REPOSITORIES = [
    "SiliconLabs/mltk", "google/CFU-Playground", "google/lyra", "mlcommons/tiny", "mit-han-lab/tinyengine",
    "terryky/android_tflite", "xmos/lib_tflite_micro", "mattn/go-tflite", "boncheolgu/tflite-rs",
    "hugocornellier/face_detection_tflite", "esphome/micro-wake-word-models", "tensorflow/tflite-micro",
    "tensorflow/tflite-support", "google-coral/test_data", "shaqian/flutter_tflite",
    "am15h/object_detection_flutter"]
# Of repositories that have nothing else: their models are larger.
LARGER = {"shaqian/flutter_tflite": 3 << 20, "am15h/object_detection_flutter": 5 << 20}


def repository(folder, name):
    """The arguments of git for a repository, or None."""
    at = folder / name.replace("/", "+")
    for git in (at / ".git", at / "repo", at):
        if (git / "HEAD").exists():
            return ["git", f"--git-dir={git}"]
    return None


def content(folder, name, path, sha256):
    git = repository(folder, name)
    if git is None:
        return None
    done = subprocess.run([*git, "show", f"HEAD:{path}"], capture_output=True)
    return done.stdout if hashlib.sha256(done.stdout).hexdigest() == sha256 else None


def found(folder):
    """Rows of models.csv, in order of repositories."""
    seen = set()
    for name in REPOSITORIES:
        git = repository(folder, name)
        if git is None:
            sys.exit(f"public_models: {name} is not in {folder}: git clone https://github.com/{name}")
        tree = subprocess.run([*git, "ls-tree", "-r", "-l", "HEAD"], capture_output=True, text=True, check=True).stdout
        for line in tree.splitlines():
            fields, path = line.split("\t", 1)
            size = fields.split()[3]
            if not path.endswith(".tflite") or LEFT_OUT.search("/" + path) or not size.isdigit():
                continue
            if not LEAST_BYTES <= int(size) <= LARGER.get(name, MOST_BYTES):
                continue
            blob = subprocess.run([*git, "show", f"HEAD:{path}"], capture_output=True).stdout
            digest = hashlib.sha256(blob).hexdigest()
            if digest not in seen and blob[4:8] == b"TFL3":
                seen.add(digest)
                yield name, path, digest


def first_error(text):
    lines = [line for line in text.splitlines() if "error: " in line]
    notes = [line.strip() for line in text.splitlines() if line.strip().startswith("note: op ")]
    said = lines[0].split("error: ", 1)[1] if lines else "no message"
    kinds = sorted({note.split()[3] for note in notes})
    return said + (f": {', '.join(kinds)}" if kinds else "")


def beside_litert(path, work, stateful, kernels):
    environment = {**os.environ, common.MORE_MODELS: str(path.parent), "AOTC_KERNELS": kernels}
    if stateful:
        command = ["-m", "pytest", f"{ROOT}/tests/state/test_state.py::test_host[{path.stem}]", f"--basetemp={work}"]
    else:
        command = ["-m", "pytest", f"{ROOT}/tests/e2e/test_models.py", "-k", "models.public-", "--models", path, f"--basetemp={work}"]
    # In a process of its own: some of LiteRT's kernels abort.
    done = common.run([sys.executable, *command], expect=None, env=environment, timeout=1800)
    return done.returncode, done.stdout + done.stderr


def outcome(path, work):
    made = common.aotc("compile", path, "--quiet", "--json", "-o", work / "c", expect=None)
    if made.returncode:
        return "refused", first_error(made.stderr)
    stateful = bool(json.loads(made.stdout).get("state_bytes", 0))
    for kernels, word in (("reference", "equal"), ("builtin", "builtin")):
        code, text = beside_litert(path, work / "run", stateful, kernels)
        if code == 0:
            return word, ""
        said = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]  # pytest's
        last = (said or text.strip().splitlines() or [f"exit code {code}"])[-1]
        if "Didn't find op" not in text:
            return ("alone" if code < 0 or any(t in text for t in NOT_RUN) else "differs"), last[-200:]
    return "alone", last[-200:]


def one(row, options):
    name, path, digest = row
    data = content(options.folder, name, path, digest)
    if data is None:
        return row, "missing", f"git clone https://github.com/{name}"
    work = common.fresh(options.work / digest[:12])
    model = work / "model.tflite"  # what it is called would be in the C's names
    model.write_bytes(data)
    try:
        what, why = outcome(model, work)
    except subprocess.TimeoutExpired:
        what, why = "alone", "not done in half an hour"
    return row, what, why


def print_table(results, markdown):
    counts = {}
    for (name, _, _), what, _ in results:
        counts.setdefault(name, {}).setdefault(what, 0)
        counts[name][what] += 1
    kinds = ["equal", "builtin", "alone", "refused", "differs", "missing"]
    rows = [[name, *[counts[name].get(k, 0) for k in kinds]] for name in counts]
    rows.append(["all", *[sum(c.get(k, 0) for c in counts.values()) for k in kinds]])
    if markdown:
        print("| repository | " + " | ".join(kinds) + " |\n|---|" + "---|" * len(kinds))
    for row in rows if markdown else [["", *kinds], *rows]:
        print("| " + " | ".join(map(str, row)) + " |" if markdown
              else f"{row[0]:42}" + "".join(f"{c:>9}" for c in row[1:]))
    return rows[-1][1:]


def run(options):
    options.work = options.work.resolve()
    rows = [tuple(r) for r in csv.reader(LIST.open()) if options.only in "/".join(r[:2])]
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (name, path, digest), what, why in pool.map(lambda r: one(r, options), rows):
            results.append(((name, path, digest), what, why))
            print(f"{what:8} {name}: {path}{': ' if why else ''}{why}", flush=True)
    equal, builtin, alone, refused, differs, missing = print_table(results, options.markdown)
    there = len(results) - missing
    print(f"{there - refused} of {there} models of {len({r[0][0] for r in results if r[1] != 'missing'})} repositories "
          f"accepted, {equal + builtin} of {there - refused} compared and equal, {differs} differ, {missing} not there")
    return 1 if differs or not there else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "list"])
    parser.add_argument("--from", dest="folder", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if options.what == "list":
        csv.writer(sys.stdout, lineterminator="\n").writerows(found(options.folder))
        return 0
    if options.work is None:
        parser.error("run needs --work")
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
