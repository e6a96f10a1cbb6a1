#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memories of an AVR: what reads tables from program memory, and what is said when that cannot be.

Usage: spaces.py tables|errors|tampered --work DIR

tables    tables of every type, copied and read by element; none of them in RAM, unless asked for
errors    tables out of reach, conventions and functions that cannot have tables in program memory
tampered  the comparison fails when a table is changed
"""
import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import common  # noqa: E402
import numpy as np  # noqa: E402
import on_avr  # noqa: E402
from tflite_builder import ModelBuilder  # noqa: E402

UNO = "arduino_uno"
RAM = 0x800000  # where the tools see data memory


def copies(dtype, count):
    """Outputs that are copies: of an input, of a table, and of a table that is a view of a table."""
    m = ModelBuilder()
    rng = np.random.default_rng(count)
    values = rng.standard_normal(count) if dtype == "float32" else rng.integers(-99, 99, count)
    x = m.tensor("x", dtype, (1, count))
    outputs = []
    for i in range(2):
        table = m.const(f"table{i}", (values + i).astype(dtype).reshape(1, count))
        views = [m.tensor(f"view{i}{v}", dtype, (count, 1) if v == 0 else (1, 1, count))
                 for v in range(2)]
        for source, view in zip([table, *views], views):
            m.op("RESHAPE", [source], [view], new_shape=(count, 1) if view == views[0] else (1, 1, count))
        outputs.append(views[i])
    y = m.tensor("y", dtype, (1, 2 * count))
    m.op("CONCATENATION", [x, m.const("other", (values * 2).astype(dtype).reshape(1, count))], [y],
         axis=1)
    z = m.tensor("z", dtype, (1, 1, count))
    m.op("RESHAPE", [x], [z], new_shape=(1, 1, count))
    return m.finish([x], [*outputs, y, z])


def sums():
    """Tables as operands, of one scale and of many, and through a view."""
    m = ModelBuilder()
    rng = np.random.default_rng(5)
    x = m.tensor("x", "int8", (1, 4, 6), 0.1, 3)
    one = m.const("one", rng.integers(-128, 128, (1, 4, 6), np.int8), 0.05, -7)
    two = m.const("two", rng.integers(-128, 128, (1, 1, 6), np.int8), 0.2, 9)
    y, z, w = (m.tensor(name, "int8", (1, 4, 6), 0.25, -1) for name in "yzw")
    m.op("ADD", [x, one], [y], activation="NONE")
    m.op("ADD", [y, x], [z], activation="NONE")
    m.op("ADD", [z, two], [w], activation="NONE")
    return m.finish([x], [w])


def dense(inputs, units):
    m = ModelBuilder()
    rng = np.random.default_rng(1)
    x = m.tensor("x", "int8", (1, inputs), 0.1, 0)
    w = m.const("w", rng.integers(-127, 128, (units, inputs), np.int8), 0.01, 0)
    b = m.const("b", np.arange(units, dtype=np.int32), 0.001, 0)
    y = m.tensor("y", "int8", (1, units), 0.5, 0)
    m.op("FULLY_CONNECTED", [x, w, b], [y], activation="NONE")
    return m.finish([x], [y])


def write(work, name, content):
    path = work / f"{name}.tflite"
    path.write_bytes(content)
    return path


def run(path, folder, *options):
    """Compares the model on an Uno. Its results, its C and how many of its tables lie in RAM."""
    made = common.aotc("compile", path, "--prefix", "m", "--board", UNO, "-o", folder, "--quiet",
                       "--json", *options)
    oracle = common.Oracle(path, 2)
    (folder / "samples.h").write_text(on_avr.samples_header(oracle))
    board = common.board(UNO)
    image = on_avr.build(board, folder, ["-Os"])
    found, values = on_avr.records_of(on_avr.run(board, image, 60))
    on_avr.check_values(values, 2)
    compared, _ = common.compare(oracle, json.loads(made)["layers"], found)
    names = common.run([board["toolchain"]["prefix"] + "nm", image])
    places = [int(at, 16) for at in re.findall(r"^([0-9a-f]+) . m_(?:call|output)\w+$", names, re.M)]
    if not places:
        raise common.Failure(f"no tables are linked:\n{names}")
    return compared, (folder / "m.c").read_text(), [at >= RAM for at in places]


def tables(work):
    expected = {"int8": "program_i8", "int32": "program_i32", "int64": "program_i64",
                "float32": "program_f32"}
    models = {f"copies_{dtype}_{count}": (copies(dtype, count), accessor if count == 3 else "memcpy_P")
              for dtype, accessor in expected.items() for count in (3, 16)}
    models["sums"] = (sums(), "program_i8")
    models["dense"] = (dense(7, 5), "program_i8")
    for name, (content, accessor) in models.items():
        path = write(work, name, content)
        compared, c, in_ram = run(path, work / name)
        if accessor not in c:
            raise common.Failure(f"{name}: does not read by {accessor}")
        if any(in_ram):
            raise common.Failure(f"{name}: {in_ram.count(True)} tables are in RAM")
        again, c, in_ram = run(path, work / f"{name}_ram", "--constants", "ram")
        if "pgmspace" in c or not all(in_ram) or again != compared:
            raise common.Failure(f"{name} --constants ram: {in_ram.count(False)} tables are in flash")
        manifest = json.loads((work / f"{name}_ram" / "aotc.json").read_text())
        if manifest["compile"]["constants"] != "ram":
            raise common.Failure("aotc.json does not say where the tables are")
        print(f"{name}: {compared} results as LiteRT's, with tables in flash and in RAM")


def refuse(path, slug, *options, board="arduino_mega2560", code=1):
    done = common.aotc("compile", path, "--board", board, "-o", path.with_suffix(""), *options,
                       expect=None)
    if done.returncode != code or f"[{slug}]" not in done.stderr or path.with_suffix("").exists():
        raise common.Failure(f"{path.name} {options}: exit code {done.returncode}, {done.stderr}")
    if "help:" not in done.stderr or path.name not in done.stderr:
        raise common.Failure(f"does not say where, or what to do: {done.stderr}")
    print(done.stderr.strip())


def dense_pair(inputs):
    m = ModelBuilder()
    x = m.tensor("x", "int8", (1, inputs), 0.1, 0)
    outputs = []
    for i in range(2):
        w = m.const(f"w{i}", np.full((20, inputs), i + 1, np.int8), 0.01, 0)
        outputs.append(m.tensor(f"y{i}", "int8", (1, 20), 0.5, 0))
        m.op("FULLY_CONNECTED", [x, w, -1], [outputs[i]], activation="NONE")
    return m.finish([x], outputs)


def stored_inputs(path, folder, count, *options):
    done = common.aotc("create", path, "--board", "arduino_mega2560", "--project", "arduino-sketch",
                       "--prefix", "m", "-o", folder, "--force", *options, expect=None)
    if count == 0:
        if done.returncode != 3 or "[harvard-tables]" not in done.stderr or folder.exists():
            raise common.Failure(f"{path.name}: exit code {done.returncode} {done.stderr}")
        return
    text = "".join(p.read_text() for p in (folder / "src").glob("*.h"))
    if f"M_SAMPLE_COUNT {count}" not in text:
        raise common.Failure(f"{path.name}: not {count} stored inputs: {done.stderr}")


def errors(work):
    small = write(work, "small", dense(7, 5))
    refuse(write(work, "large_table", dense(200, 200)), "harvard-tables")
    m = ModelBuilder()
    rng = np.random.default_rng(1)
    x = m.tensor("x", "int8", (1, 160), 0.1, 0)
    for i in range(3):
        w = m.const(f"w{i}", rng.integers(-127, 128, (160, 160), np.int8), 0.01, 0)
        y = m.tensor(f"y{i}", "int8", (1, 160), 0.5, 0)
        m.op("FULLY_CONNECTED", [x, w, -1], [y], activation="NONE")
        x = y
    refuse(write(work, "large_sum", m.finish([0], [x])), "harvard-tables")
    # Stored inputs are read in the same way: of random ones there are two, or one.
    for inputs, stored in ((1000, 2), (1520, 1)):
        stored_inputs(write(work, f"reach{inputs}", dense_pair(inputs)), work / f"sketch{inputs}", stored)
    np.save(work / "three.npy", np.zeros((3, 1520), np.int8))
    stored_inputs(work / "reach1520.tflite", work / "three", 0, "--samples", work / "three.npy")
    refuse(small, "option-conflict", "--calling-convention", "packed", code=2)
    refuse(small, "option-conflict", "--constants-section", ".tables", code=2)
    # All of these are fine with tables in RAM, and on boards without program memory.
    for board, *options in (("arduino_uno", "--calling-convention", "packed", "--constants", "ram"),
                            ("arduino_uno", "--constants-section", ".tables", "--constants", "ram"),
                            ("qemu_microbit", "--calling-convention", "packed")):
        common.aotc("compile", small, "--board", board, "-o", work / "fine", "--force", *options)


def tampered(work):
    path = write(work, "dense", dense(7, 5))
    run(path, work / "right")
    common.aotc("compile", path, "--prefix", "m", "--board", UNO, "-o", work / "wrong", "--quiet")
    original = common.aotc

    def tampering(*arguments, **options):
        made = original(*arguments, **options)
        data = work / "wrong2" / "m_data.c"
        number = re.search(r"PROGMEM = \{\s+(-?\d+),", data.read_text())
        changed = str(int(number[1]) ^ 64)
        data.write_text(data.read_text()[:number.start(1)] + changed +
                        data.read_text()[number.end(1):])
        return made

    common.aotc = tampering
    try:
        run(path, work / "wrong2")
    except common.Failure as failure:
        if "elements differ" not in str(failure):
            raise
        print(f"a changed table is seen: {failure}")
        return
    finally:
        common.aotc = original
    raise common.Failure("a changed table is not seen")


CHECKS = {f.__name__: f for f in (tables, errors, tampered)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    board = common.board(UNO)
    common.require(board["toolchain"]["compiler"], board["emulator"]["program"])
    CHECKS[options.check](common.fresh(options.work.resolve()))


if __name__ == "__main__":
    common.main_of(main)
