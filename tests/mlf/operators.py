#!/usr/bin/env python3
"""Operator-style archives that aotc writes: operators.py AOTC AOTC-OPT CALL_OPERATORS WORK MODEL...

Each passes the validator; its text prints back as it is; its C compiles with every warning, for the
host and for a Cortex-M4, and gives the model's results when called by name.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import archives
import validate
from archives import ROOT, expect, run
from writing import FLAGS, gcc, model_path, unpack

AOTC, OPT, CALL, WORK = (pathlib.Path(p).resolve() for p in sys.argv[1:5])
RUNTIME = ROOT / "crt" / "include"
BOARDS = ("host", "qemu_mps2_an386")


def export(model, tar, *options, code=0):
    done = run(AOTC, "compile", model, "--style", "operator", "-o", tar, *options, code=code)
    if code == 0:
        expect(not validate.validate(tar), f"{tar}: {validate.validate(tar)}")
        expect(f"style operator" in run(AOTC, "mlf", "inspect", tar).stdout, "inspect")
    return done


def sections(text):
    parts = re.split(r"^# operator (\S+)\n", text, flags=re.M)
    expect(parts[0] == "", f"text before the first operator: {parts[0][:100]}")
    return dict(zip(parts[1::2], parts[2::2]))


def reads_back(folder):
    """aotc-opt reads each function and prints it as it is in the archive."""
    for name, text in sections((folder / "src/tir-1.txt").read_text()).items():
        file = folder / "one.tir"
        file.write_text(text)
        have = run(OPT, "--tir", file).stdout
        expect(have.strip() == text.strip(), f"{name} prints back otherwise")


def compiles(folder, board):
    src = folder / "codegen/host/src"
    for source in sorted(src.glob("*.c")):
        gcc(*FLAGS, "-Wmissing-prototypes", "-fPIC", "-I", RUNTIME, "-c", source, "-o",
            source.with_suffix(".o"))
        if board == "host" or not shutil.which("arm-none-eabi-gcc"):
            continue
        done = subprocess.run(["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", *FLAGS, "-I",
                               RUNTIME, "-c", source, "-o", folder / "arm.o"], capture_output=True,
                              text=True, timeout=300)
        expect(done.returncode == 0, done.stderr[:3000])
    library = folder / "operators.so"
    gcc("-shared", *src.glob("*.o"), "-lm", "-o", library)
    return library


def check_model(name):
    model = model_path(name)
    for board in BOARDS:
        tar = WORK / f"{name}_{board}.tar"
        export(model, tar, "--board", board)
        folder = unpack(tar, WORK / f"{name}_{board}")
        reads_back(folder)
        library = compiles(folder, board)
        print(f"{name} {board}: {run(CALL, model, board, tar, library).stdout.strip()}")


def selection():
    model = model_path("digits_int8")
    whole = WORK / "all.tar"
    export(model, whole, "--prefix", "digits")
    with_all = sections((unpack(whole, WORK / "all") / "src/tir-1.txt").read_text())
    expect(len(with_all) > 5, f"only {len(with_all)} operators")
    for wanted, pattern in (("conv_2d", "^conv_2d_"), ("CONV_2D", "^conv_2d_"),
                            ("0", "^conv_2d_"), (list(with_all)[1], re.escape(list(with_all)[1]))):
        export(model, WORK / "some.tar", "--prefix", "digits", "--op", wanted)
        some = sections((unpack(WORK / "some.tar", WORK / "some") / "src/tir-1.txt").read_text())
        expect(some and len(some) < len(with_all), f"{wanted}: {list(some)}")
        expect(all(re.match(pattern, n) for n in some), f"{wanted}: {list(some)}")
        # An entry does not depend on what else is in the archive.
        expect(all(with_all[n] == t for n, t in some.items()), f"{wanted}: another text")
    export(model, WORK / "two.tar", "--op", "softmax", "--op", "3")
    for wanted in ("999", "gru", ""):
        done = export(model, WORK / "none.tar", "--op", wanted, code=1)
        expect("[op-unknown]" in done.stderr and not (WORK / "none.tar").exists(), done.stderr)
    run(AOTC, "compile", model, "--format", "mlf", "--op", "3", code=2)
    run(AOTC, "compile", model, "--style", "operators", code=2)


def deterministic():
    model = model_path("digits_int8")
    shutil.copy(model, WORK / "other_name.tflite")
    export(model, WORK / "a.tar", "--prefix", "digits")
    export(WORK / "other_name.tflite", WORK / "b.tar", "--prefix", "digits")
    expect((WORK / "a.tar").read_bytes() == (WORK / "b.tar").read_bytes(), "two archives of a model")
    # Another name changes the metadata's model_name and nothing else.
    export(WORK / "other_name.tflite", WORK / "c.tar")
    text = run(AOTC, "mlf", "diff", WORK / "a.tar", WORK / "c.tar", code=1).stdout
    expect(text.splitlines() == ['metadata model_name: \\"digits\\" -> \\"other_name\\"'] or
           (text.startswith("metadata model_name") and text.count("\n") == 1), text)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    selection()
    deterministic()
    for name in sys.argv[5:]:
        check_model(name)


if __name__ == "__main__":
    archives.main_of(main)
