# SPDX-License-Identifier: Apache-2.0
"""Every layer of a model on emulated boards, bit for bit as LiteRT's reference kernels.

A board may end in .preserve (inputs stay with the caller), .overwrite (outputs lie in the arena, too) or .intrinsics
(kernels are C). Boards that aotc says the model does not fit are skipped. The figures of the runs (code, constants,
arena, stack, instructions) are kept for test_figures.py. An entry of ctest has the boards of one model, so that LiteRT
computes its results once; the names of its cases begin with its own.
"""
import functools

import common
import pytest

BOARDS = ("qemu_microbit", "qemu_mps2_an385", "qemu_mps2_an386", "qemu_mps2_an500", "qemu_mps2_an505", "qemu_mps3_an547",
          "qemu_riscv32", "qemu_riscv32_v")
# One board of each instruction set in each run. The first core of the AN521 is that of the AN505.
BOARD_OF_EACH = ("qemu_microbit", "qemu_mps2_an385", "qemu_mps2_an386", "qemu_mps3_an547", "qemu_riscv32",
                 "qemu_riscv32_v")
INTRINSICS = ("qemu_mps2_an386.intrinsics", "qemu_mps3_an547.intrinsics")
OTHER_BOARDS = ("qemu_mps2_an500", "qemu_mps2_an505", "qemu_mps2_an521")
# With an FPU and without, on both architectures.
FLOAT_BOARDS = ("qemu_mps2_an386", "qemu_mps2_an385", "qemu_riscv32")
BY_CONTRACT = tuple(f"{board}.{contract}" for board in ("qemu_mps2_an386", "qemu_riscv32") for contract in ("preserve", "overwrite"))
ENTRIES = {
    **dict.fromkeys(("ad", "hello_world_int8"), BOARDS),
    **dict.fromkeys(("kws", "gadget_int8", "digits_int8"), BOARD_OF_EACH + INTRINSICS),
    **dict.fromkeys(("vww", "resnet", "strww", "micro_speech"), BOARDS + INTRINSICS[1:]),
    "all.kws": OTHER_BOARDS, "all.gadget_int8": OTHER_BOARDS + BY_CONTRACT, "all.digits_int8": OTHER_BOARDS + BY_CONTRACT,
    **dict.fromkeys(("ad_f32", "hello_world_float", "digits_f32"), FLOAT_BOARDS), "gadget_f32": FLOAT_BOARDS + BY_CONTRACT,
    **dict.fromkeys(("vww_f32", "resnet_f32"), ("qemu_mps2_an386",)),
}

CONTRACTS = {"": [], "preserve": ["--input=preserve"],
             "overwrite": ["--input=overwrite", "--output=overwrite"], "intrinsics": ["--kernels=intrinsics"]}


@functools.cache
def oracle_of(model):
    return common.Oracle(common.model_path(model), 2)


@pytest.mark.parametrize("model, run", [(entry.removeprefix("all."), run) for entry in ENTRIES for run in ENTRIES[entry]],
                         ids=[f"layers.{entry}-{run}" for entry in ENTRIES for run in ENTRIES[entry]])
def test_layers(model, run, tmp_path, build_folder):
    board, _, contract = run.partition(".")
    name, figures_folder = f"{model}.{run}", build_folder / "e2e" / "boards" / "figures"
    common.require(common.board(board)["emulator"]["program"])
    folder = tmp_path / "firmware"
    built = common.create_project(common.model_path(model), board, folder, *CONTRACTS[contract])
    if built is None:
        if not contract:
            common.store(figures_folder, name, {"fits": False})
        common.skip(f"{model} does not fit {board}")
    report = common.report(folder)
    oracle = oracle_of(model)
    found, figures = common.verify_on_board(folder, board, oracle.samples)
    layers = report["layers"]
    compared, worst = common.compare(oracle, layers, found)
    if model.startswith(("digits", "gadget")):  # aotc's own opinion
        common.aotc("verify", folder, "--only", "board", "--samples", "2", "--quiet")
    print(f"{compared} results as LiteRT's, worst {worst} ulp, {figures['instructions']} instructions")
    if contract:  # figures are those of the default
        return
    cut = common.cut_results(layers)
    common.store(figures_folder, name, {
        "fits": True, "model": model, "board": board, "compared": compared,
        "cut_results": cut, "worst_ulp": worst, "code_bytes": built["code_bytes"],
        "constants_bytes": built["constants_bytes"],
        "raw_constants_bytes": report["raw_constants_bytes"], "macs": report["macs"],
        "arena_bytes": report["arena_bytes"], "arena_optimal": report["arena_optimal"], **figures})
