#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `aotc compile` of a keyword network costs, as float32 and as onnxruntime quantises it, and of MLPerf Tiny's, made of its
.tflite file (twins.py) where that lies in ../shared or AOTC_SHARED.

Usage: compile_costs.py --work DIR [--runs N]

The processor time of the fastest of N runs (default 5) is printed, not judged; the memory is at most 20 MB, with file
pages. Ends with 'N passed, N failed'.
"""
import argparse
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import measured

HERE = pathlib.Path(__file__).resolve().parent
AOTC = os.environ.get("AOTC") or HERE.parents[1] / "build" / "release" / "compiler" / "aotc"
FORMS = ("float", "s8s8_channels", "operators")
MOST = 20_000_000  # bytes of memory


def make(work):
    """In a process of its own: what is measured counts the memory of whoever starts it, too."""
    sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent / "oracle")]
    import check_model
    import common
    import onnx
    import quantised
    import twins
    model = quantised.keyword()
    onnx.save(model, work / "float.onnx")
    for form in FORMS[1:]:
        quantised.quantise(model, form, work / f"{form}.onnx")
    source = common.SHARED / "models" / "kws.tflite"
    if source.exists():
        onnx.save(twins.Twin(*check_model.read_operators(source.read_bytes())).model()[0], work / "kws.onnx")


def measure(work, form, cpu):
    shutil.rmtree(work / "out", ignore_errors=True)
    return measured.measured([AOTC, "compile", work / f"{form}.onnx", "--cpu", cpu, "--quiet", "-o", work / "out"],
                             work / f"{form}.txt")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if arguments.make:
        make(work)
        return 0
    if importlib.util.find_spec("onnxruntime") is None and os.environ.get("CI") != "true":
        print("SKIP: no onnxruntime: scripts/setup test")
        return 77
    subprocess.run([sys.executable, __file__, "--work", work, "--make"], check=True)
    failed, count = 0, 0
    for form in [*FORMS, *(["kws"] if (work / "kws.onnx").exists() else [])]:
        for cpu in ("cortex-m4", "rv32imac"):
            runs = [measure(work, form, cpu) for _ in range(arguments.runs)]
            code, text = runs[0][:2]
            memory, seconds = max(r[2] for r in runs), min(r[3] for r in runs)
            good = code == 0 and memory <= MOST
            failed, count = failed + (not good), count + 1
            print(f"{form} for {cpu}: {memory / 1e6:.1f} MB of memory, {1000 * seconds:.0f} ms"
                  f"{'' if good else f' FAILED, exit code {code}: {text[:500]}'}")
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
