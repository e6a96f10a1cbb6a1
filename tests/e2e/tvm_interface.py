# SPDX-License-Identifier: Apache-2.0
"""An application written for TVM's C interface builds and runs around our models, and memory in several
pools gives the same bytes on a board.

  tvm_interface.py application WORK     on this machine: TVM's own pool, pools of the caller, constants
  tvm_interface.py pools WORK           on the emulated Cortex-M4, every layer against the reference
"""
import argparse
import json
import pathlib
import re

import numpy as np

import common

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


def application(work):
    path = common.model_path(MODEL)
    want = litert_outputs(path, 3)
    if len(set(want)) < 2:
        raise common.Failure("all outputs are alike: nothing is tested")
    for name, options in VARIANTS.items():
        folder = common.fresh(work / name)
        common.aotc("compile", path, "--prefix", "default", "--interface", "tvm", *options, "-o",
                    folder / "model")
        header = (folder / "model" / "tvmgen_default.h").read_text()
        fields = [re.search(r"struct tvmgen_default_%s \{\n    void \*(\w+);" % kind, header).group(1)
                  for kind in ("inputs", "outputs")]
        names = [f"-DAPP_INPUT={fields[0]}", f"-DAPP_OUTPUT={fields[1]}",
                 f"-DTVMGEN_DEFAULT_APP_INPUT_SIZE=TVMGEN_DEFAULT_{fields[0].upper()}_SIZE",
                 f"-DTVMGEN_DEFAULT_APP_OUTPUT_SIZE=TVMGEN_DEFAULT_{fields[1].upper()}_SIZE"]
        crt = sorted((common.ROOT / "crt" / "src").glob("*.c")) if "workspace" in name else []
        common.run(["gcc", *FLAGS, *names, "-DTVM_WORKSPACE_SIZE_BYTES=65536", f"-I{folder / 'model'}",
                    f"-I{common.ROOT / 'crt' / 'include'}", HERE / "tvm_app.c",
                    *sorted((folder / "model").glob("*.c")), *crt, "-lm", "-o", folder / "app"])
        got = common.run_program([folder / "app"]).split()
        if got != want:
            raise common.Failure(f"{name}: the application prints {got}, LiteRT gives {want}")
        if name == "section":
            sections = common.run(["objdump", "-h", folder / "app"])
            if " .model_tables " not in sections:
                raise common.Failure("the tables are not in the section asked for")
    print(f"TVM's interface in {len(VARIANTS)} variants gives LiteRT's bytes")


def pools(work):
    path = common.model_path(MODEL)
    for name, options in (("two", POOLS), ("constants", VARIANTS["constants"]),
                          ("packed", VARIANTS["packed_constants"])):
        folder = work / name
        common.fresh(folder)
        common.create_project(path, "qemu_mps2_an386", folder / "app", *options)
        common.aotc("verify", folder / "app")
        header = next((folder / "app" / "model").glob(f"{MODEL}.h")).read_text()
        sizes = {m[1]: int(m[2]) for m in re.finditer(r"_POOL_(\w+)_SIZE (\d+)u", header)}
        for pool in [o for o in options if ":" in o]:
            pool_name, limit = pool.split(":")[:2]
            if not 0 < sizes[pool_name.upper()] <= int(limit):
                raise common.Failure(f"{name}: pool {pool} needs {sizes[pool_name.upper()]} bytes")
    # A loop over calls that reads lists of places and of offsets in the pool of tables.
    folder = common.fresh(work / "loop")
    common.create_project(common.model_path("gru_steps_int8"), "qemu_mps2_an386", folder / "app", "--pool",
                          "sram:4000", "--pool", "flash:40000:constants")
    common.aotc("verify", folder / "app")
    if "flash + table[" not in (folder / "app" / "model" / "gru_steps_int8.c").read_text():
        raise common.Failure("no loop reads tables of the pool")
    common.aotc("compile", path, "--pool", "sram:800:fast", "--pool", "dram:40", "-o",
                work / "refused", expect=3)
    print("pools: every layer is the reference's")


def test():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    checks = {"application": application, "pools": pools}
    parser.add_argument("what", choices=checks)
    parser.add_argument("work", type=pathlib.Path)
    options = parser.parse_args()
    checks[options.what](options.work)


if __name__ == "__main__":
    common.main_of(test)
