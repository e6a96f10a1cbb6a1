# SPDX-License-Identifier: Apache-2.0
"""Memories of an AVR: what reads tables from program memory, and what is said when that cannot be.
"""
import json
import re

import common
import numpy as np
import on_avr
import pytest
from tflite_builder import ModelBuilder

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


@pytest.fixture(autouse=True)
def tools():
    on_avr.require(UNO)


def write(work, name, content):
    path = work / f"{name}.tflite"
    path.write_bytes(content)
    return path


def run(path, folder, *options):
    """Compares the model on an Uno. Its results, its C and how many of its tables lie in RAM."""
    _, compared = on_avr.compare(path, UNO, folder, options=options)
    names = common.run([common.board(UNO)["toolchain"]["prefix"] + "nm", folder / "firmware.elf"])
    places = [int(at, 16) for at in re.findall(r"^([0-9a-f]+) . m_(?:call|output)\w+$", names, re.M)]
    if not places:
        raise common.Failure(f"no tables are linked:\n{names}")
    return compared, (folder / "m.c").read_text(), [at >= RAM for at in places]


TABLES = {f"copies_{dtype}_{count}": (copies, (dtype, count), accessor if count == 3 else "memcpy_P")
          for dtype, accessor in (("int8", "program_i8"), ("int32", "program_i32"), ("int64", "program_i64"),
                                  ("float32", "program_f32")) for count in (3, 16)}
TABLES |= {"sums": (sums, (), "program_i8"), "dense": (dense, (7, 5), "program_i8")}


@pytest.mark.parametrize("name", TABLES)
def test_tables(name, tmp_path):
    """Tables of every type, copied and read by element; none of them in RAM unless requested."""
    make, arguments, accessor = TABLES[name]
    path = write(tmp_path, name, make(*arguments))
    compared, c, in_ram = run(path, tmp_path / "flash")
    assert accessor in c
    assert not any(in_ram)
    again, c, in_ram = run(path, tmp_path / "ram", "--constants", "ram")
    assert "pgmspace" not in c and all(in_ram)
    assert again == compared
    manifest = json.loads((tmp_path / "ram" / "aotc.json").read_text())
    assert manifest["compile"]["constants"] == "ram"


def refuse(path, slug, *options, code=1):
    done = common.aotc("compile", path, "--board", "arduino_mega2560", "-o", path.with_suffix(""), *options, expect=None)
    assert done.returncode == code and f"[{slug}]" in done.stderr and not path.with_suffix("").exists()
    assert "help:" in done.stderr and path.name in done.stderr


def dense_pair(inputs):
    m = ModelBuilder()
    x = m.tensor("x", "int8", (1, inputs), 0.1, 0)
    outputs = []
    for i in range(2):
        w = m.const(f"w{i}", np.full((20, inputs), i + 1, np.int8), 0.01, 0)
        outputs.append(m.tensor(f"y{i}", "int8", (1, 20), 0.5, 0))
        m.op("FULLY_CONNECTED", [x, w, -1], [outputs[i]], activation="NONE")
    return m.finish([x], outputs)


def sketch(path, folder, *options):
    return common.aotc("create", path, "--board", "arduino_mega2560", "--project", "arduino-sketch", "--prefix", "m",
                       "-o", folder, *options, expect=None)


# Stored inputs are read in the same way: of random ones there are two, or one.
@pytest.mark.parametrize("inputs, stored", [(1000, 2), (1520, 1)])
def test_stored_inputs(inputs, stored, tmp_path):
    sketch(write(tmp_path, "pair", dense_pair(inputs)), tmp_path / "sketch")
    text = "".join(p.read_text() for p in (tmp_path / "sketch" / "src").glob("*.h"))
    assert f"M_SAMPLE_COUNT {stored}" in text


def test_stored_inputs_out_of_reach(tmp_path):
    np.save(tmp_path / "three.npy", np.zeros((3, 1520), np.int8))
    done = sketch(write(tmp_path, "pair", dense_pair(1520)), tmp_path / "three", "--samples", tmp_path / "three.npy")
    assert done.returncode == 3 and "[harvard-tables]" in done.stderr and not (tmp_path / "three").exists()


def test_large_table(tmp_path):
    refuse(write(tmp_path, "large_table", dense(200, 200)), "harvard-tables")


def test_large_sum(tmp_path):
    m = ModelBuilder()
    rng = np.random.default_rng(1)
    x = m.tensor("x", "int8", (1, 160), 0.1, 0)
    for i in range(3):
        w = m.const(f"w{i}", rng.integers(-127, 128, (160, 160), np.int8), 0.01, 0)
        y = m.tensor(f"y{i}", "int8", (1, 160), 0.5, 0)
        m.op("FULLY_CONNECTED", [x, w, -1], [y], activation="NONE")
        x = y
    refuse(write(tmp_path, "large_sum", m.finish([0], [x])), "harvard-tables")


OPTIONS = {"packed": ("--calling-convention", "packed"), "section": ("--constants-section", ".tables")}


@pytest.mark.parametrize("name", OPTIONS)
def test_option_conflict(name, tmp_path):
    refuse(write(tmp_path, "small", dense(7, 5)), "option-conflict", *OPTIONS[name], code=2)


# All of these are fine with tables in RAM, and on boards without program memory.
@pytest.mark.parametrize("board, name, more", [(UNO, "packed", ("--constants", "ram")),
                                               (UNO, "section", ("--constants", "ram")), ("qemu_microbit", "packed", ())])
def test_no_conflict(board, name, more, tmp_path):
    small = write(tmp_path, "small", dense(7, 5))
    common.aotc("compile", small, "--board", board, "-o", tmp_path / "fine", *OPTIONS[name], *more)


def test_tampered(tmp_path, monkeypatch):
    """The comparison fails when a table is changed."""
    path, original = write(tmp_path, "dense", dense(7, 5)), common.aotc
    run(path, tmp_path / "right")

    def tampering(*arguments, **options):
        made = original(*arguments, **options)
        data = tmp_path / "wrong" / "m_data.c"
        number = re.search(r"PROGMEM = \{\s+(-?\d+),", data.read_text())
        changed = str(int(number[1]) ^ 64)
        data.write_text(data.read_text()[:number.start(1)] + changed + data.read_text()[number.end(1):])
        return made

    monkeypatch.setattr(common, "aotc", tampering)
    with pytest.raises(common.Failure, match="elements differ"):
        run(path, tmp_path / "wrong")
