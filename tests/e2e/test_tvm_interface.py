# SPDX-License-Identifier: Apache-2.0
"""An application written for TVM's C interface builds and runs around our models, and memory in several
pools gives the same bytes on a board."""
import functools
import pathlib
import re

import common
import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
MODEL = "digits_int8"
FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]
POOLS = ["--pool", "sram:800:fast", "--pool", "dram:4000"]
VARIANTS = {
    "own": [],
    "workspace": ["--memory", "workspace"],
    "packed": ["--calling-convention", "packed"],
    "pools": POOLS,
    "constants": [*POOLS, "--pool", "flash:40000:constants"],
    "packed_constants": [*POOLS, "--pool", "flash:40000:constants", "--calling-convention", "packed"],
    "section": ["--constants-section", ".model_tables"],
}


@functools.cache
def litert_outputs(path, rounds):
    """The application's inputs, run by the reference."""
    from ai_edge_litert import interpreter as litert
    reference = litert.Interpreter(
        model_path=str(path),
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    reference.allocate_tensors()
    entry, out = reference.get_input_details()[0], reference.get_output_details()[0]
    state, lines = 7, []
    for _ in range(rounds):
        data = bytearray()
        for _ in range(int(np.prod(entry["shape"]))):
            state = (state * 1664525 + 1013904223) % 2**32
            data.append(state >> 24)
        reference.set_tensor(entry["index"], np.frombuffer(data, np.int8).reshape(entry["shape"]))
        reference.invoke()
        lines.append(reference.get_tensor(out["index"]).tobytes().hex())
    return lines


@pytest.mark.parametrize("name", VARIANTS)
def test_application(name, tmp_path):
    """On this machine: TVM's own pool, pools of the caller, constants."""
    path, model = common.model_path(MODEL), tmp_path / "model"
    want = litert_outputs(path, 3)
    assert len(set(want)) > 1, "all outputs are alike: nothing is tested"
    common.aotc("compile", path, "--prefix", "default", "--interface", "tvm", *VARIANTS[name], "-o", model)
    header = (model / "tvmgen_default.h").read_text()
    fields = [re.search(r"struct tvmgen_default_%s \{\n    void \*(\w+);" % kind, header).group(1)
              for kind in ("inputs", "outputs")]
    names = [f"-DAPP_INPUT={fields[0]}", f"-DAPP_OUTPUT={fields[1]}",
             f"-DTVMGEN_DEFAULT_APP_INPUT_SIZE=TVMGEN_DEFAULT_{fields[0].upper()}_SIZE",
             f"-DTVMGEN_DEFAULT_APP_OUTPUT_SIZE=TVMGEN_DEFAULT_{fields[1].upper()}_SIZE"]
    crt = sorted((common.ROOT / "crt" / "src").glob("*.c")) if "workspace" in name else []
    app = tmp_path / "app"
    common.run(["gcc", *FLAGS, *names, "-DTVM_WORKSPACE_SIZE_BYTES=65536", f"-I{model}",
                f"-I{common.ROOT / 'crt' / 'include'}", HERE / "tvm_app.c", *sorted(model.glob("*.c")), *crt, "-lm", "-o", app])
    assert common.run_program([app]).split() == want
    if name == "section":
        assert " .model_tables " in common.run(["objdump", "-h", app])


@pytest.mark.parametrize("options", [POOLS, VARIANTS["constants"], VARIANTS["packed_constants"]], ids=["two", "constants", "packed"])
def test_pools(options, tmp_path):
    """On the emulated Cortex-M4, every layer against the reference."""
    app = tmp_path / "app"
    common.create_project(common.model_path(MODEL), "qemu_mps2_an386", app, *options)
    common.aotc("verify", app)
    header = (app / "model" / f"{MODEL}.h").read_text()
    sizes = {m[1]: int(m[2]) for m in re.finditer(r"_POOL_(\w+)_SIZE (\d+)u", header)}
    for pool in [o for o in options if ":" in o]:
        name, limit = pool.split(":")[:2]
        assert 0 < sizes[name.upper()] <= int(limit), pool


def test_pools_of_a_loop(tmp_path):
    """It reads lists of places and of offsets in the pool of tables."""
    app = tmp_path / "app"
    common.create_project(common.model_path("gru_steps_int8"), "qemu_mps2_an386", app, "--pool", "sram:4000", "--pool",
                          "flash:40000:constants")
    common.aotc("verify", app)
    assert "flash + table[" in (app / "model" / "gru_steps_int8.c").read_text()


def test_pools_that_are_too_small(tmp_path):
    common.aotc("compile", common.model_path(MODEL), "--pool", "sram:800:fast", "--pool", "dram:40", "-o", tmp_path / "c",
                expect=3)
