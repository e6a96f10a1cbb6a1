#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The long lane: what takes hours, and is run before a release and not for each change.

Usage: lanes.py run [LANE...]    runs them, or all, and writes the last line of each to docs/reliability.md
       lanes.py list             their names and commands
       lanes.py check            docs/reliability.md shows what tests/reliability/results.json holds

`scripts/test --long [LANE...]` is `lanes.py run`. A lane that fails is recorded as failed, and the exit
code is 1; one that somebody ended is not recorded. Each command prints a summary as its last line, which is what is recorded, with the commit.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = pathlib.Path(__file__).with_name("results.json")
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- scripts/test --long -->\n", "<!-- end -->\n"
PYTHON = ".venv/bin/python"
# By a signal of somebody, who is not told what the lane would have found.
ENDED = {-signal.SIGHUP, -signal.SIGINT, -signal.SIGKILL, -signal.SIGTERM}

# name: (what it is, commands from the root of the repository; the last one gives the summary)
LANES = {
    "mutants": ("Mutation testing of numerics and planner", ["scripts/mutants"]),
    "coverage": ("Lines and branches of the compiler and the C runtime that the tests run",
                 ["scripts/coverage"]),
    "misra": ("MISRA C:2012 over the emitted C of all models, in every mode of docs/misra.md",
              [f"{PYTHON} tests/e2e/misra.py check --work build/misra"]),
    "fuzz-models": ("10,000 damaged copies of each model, compiled", ["scripts/fuzz-models"]),
    "random-models": ("Random models against LiteRT", ["scripts/random-models --count 20000"]),
    "option-sets": ("Random option sets on random models, by every compiler, against LiteRT and onnxruntime",
                    [f"{PYTHON} tests/option_sets/lane.py --count 5000 --seed 100000 --work build/option_sets_long"]),
    "tflm-gate": ("Operator cases, models and 2,000 random models that TensorFlow Lite Micro runs, against LiteRT",
                  ["scripts/tflm-gate"]),
    "random-rows": ("Random chains over images, parts of them computed row by row in the interpreter, every access watched",
                    ["build/release/tests/random_graphs --rows --interpret --count 5000 --first 300000 --work build/random_graphs_rows"]),
    "mlperf-accuracy": ("MLPerf Tiny's 1,000 inputs of kws in the emulator, every result against LiteRT",
                        [f"{PYTHON} tests/mlperf/cases.py accuracy_whole --aotc build/release/compiler/aotc --work build/mlperf_accuracy"]),
    "layer-coverage": ("Instructions a MAC and estimates of every layer of models of many kinds, on four cores",
                       [f"{PYTHON} scripts/bench --coverage"]),
    "compile-cost": ("8,000 small operators of each kind, planned or refused",
                     [f"{PYTHON} tests/e2e/compile_cost.py --long --launcher build/release/tests/cost_of "
                      "--out build/compile_cost.json"]),
    "onnx-quantised": ("Quantised ONNX networks in the emulator, 30 inputs each, against onnxruntime",
                       [f"{PYTHON} tests/onnx_models/quantised.py --target cortex_m4 --work build/onnx_quantised"]),
    "emitted-matrix": ("Emitted C run under every compiler, level and sanitizer",
                       [f"{PYTHON} tests/e2e/run_matrix.py --full --work build/matrix"]),
    "schedules": ("Emitted C of every schedule that is listed, compiled strictly, a part of it run",
                  [f"{PYTHON} tests/e2e/schedules.py --all --run 40 --work build/schedules"]),
    "stack": ("Stack bounds beside what is measured: all models, emulated boards and levels",
              ["python3 tests/analyze/run_stack.py --aotc build/release/compiler/aotc --every-model "
               "--levels size,balanced,speed --work build/stack_levels"]),
    "tune-dask": ("Tuning on a Dask cluster: workers that are killed, lie, return garbage, have a wrong label",
                  [f"{PYTHON} -m pip install --quiet distributed==2026.8.0",
                   f"{PYTHON} tests/python/dask_workers.py --work build/tune_dask"]),
    "notebooks": ("The notebooks in Jupyter's kernel, one of them with a Dask cluster",
                  ["python3 -m venv build/notebooks",
                   "build/notebooks/bin/pip install --quiet -r tests/python/requirements-notebooks.txt",
                   "build/notebooks/bin/python tests/python/notebooks.py --jupyter --all --work build/notebooks/work"]),
    "python-routes": ("Models of Keras, PyTorch and scikit-learn given to the Python module, against LiteRT and onnxruntime",
                      ["python3 -m venv build/routes",
                       "build/routes/bin/pip install --quiet -r tests/python/requirements-routes.txt",
                       "build/routes/bin/python tests/python/routes.py"]),
    "deb": ("The Debian package installed on a minimal Debian, to a firmware that is verified", ["scripts/fresh-machine deb"]),
    "aarch64": ("A static program for 64-bit ARM Linux, cross-built on a minimal Debian: what it says and writes is as here",
                ["scripts/fresh-machine aarch64"]),
    "wheel": ("The Python package on a minimal Debian 12, and on Debian 11 with Python 3.9",
              ["scripts/fresh-machine wheel", "scripts/fresh-machine --suite bullseye wheel"]),
    "musl": ("The Python package in a root of musl's C library, used with numpy's wheel for it",
             [f"{PYTHON} tests/python/musl.py --work build/musl"]),
}


def table_of(results):
    lines = ["| lane | command | result | commit |", "|---|---|---|---|"]
    for name, (what, commands) in LANES.items():
        found = results.get(name)
        result, commit = (found["result"], f"`{found['commit']}`") if found else ("not run yet", "")
        if found and found["code"] != 0:
            result = f"**failed**: {result}"
        lines.append(f"| {what} | `{commands[-1]}` | {result.replace('|', '/')} | {commit} |")
    return "\n".join(lines) + "\n"


def results_so_far():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def write(results):
    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n")
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + table_of(results) + END + rest.split(END, 1)[1])


def run_lane(name):
    log = ROOT / "build" / f"long-{name}.log"
    log.parent.mkdir(exist_ok=True)
    commit = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, text=True,
                            capture_output=True).stdout.strip()
    code, last = 0, ""
    for command in LANES[name][1]:
        print(f"long: {command} (log: {log.relative_to(ROOT)})", flush=True)
        with open(log, "w") as out:
            try:
                code = subprocess.run(command.split(), cwd=ROOT, stdout=out, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL).returncode
            except OSError as error:
                code = 127
                out.write(f"{error}\n")
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        last = lines[-1].strip() if lines else "no output"
        if code != 0:
            break
    print(f"long: {name}: {last}", flush=True)
    return {"code": code, "result": last, "commit": commit}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "list", "check"])
    parser.add_argument("lanes", nargs="*", metavar="LANE", help=", ".join(LANES))
    options = parser.parse_args()
    unknown = [name for name in options.lanes if name not in LANES]
    if unknown:
        print(f"lanes: no lane '{unknown[0]}'; there are {', '.join(LANES)}", file=sys.stderr)
        return 2
    if options.what == "list":
        for name, (_, commands) in LANES.items():
            print(f"{name:16} {' && '.join(commands)}")
        return 0
    if options.what == "check":
        if table_of(results_so_far()) in PAGE.read_text():
            return 0
        print(f"{PAGE} does not show {RESULTS}; run lanes.py run, or write it again")
        return 1
    failed = []
    for name in options.lanes or LANES:
        found = run_lane(name)
        if found["code"] != 0:
            failed.append(name)
        if found["code"] in ENDED:
            print(f"long: {name} was ended: nothing is recorded")
            continue
        # Read now: other lanes may have ended meanwhile.
        write({**results_so_far(), name: found})
    print(f"long: {len(options.lanes or LANES) - len(failed)} passed, {len(failed)} failed"
          f"{': ' + ', '.join(failed) if failed else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
