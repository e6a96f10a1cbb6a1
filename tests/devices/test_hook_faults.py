# SPDX-License-Identifier: Apache-2.0
"""Fails every call of every device hook of a model in turn, on this machine.

Each model runs with hooks that watch and fail (faulty_hooks.c), sanitized. Then the hand-written
model is damaged in the ways in which emitted code could be wrong, and the harness has to see each.
"""
import pathlib
import shutil

import common
import pytest

HERE = pathlib.Path(__file__).resolve().parent

# What is damaged -> what becomes of it.
DAMAGES = {
    "a failed run leaves the device open": (
        "        closing = TVMDeviceAccClose(devices->acc);\n",
        "        closing = status == 0 ? TVMDeviceAccClose(devices->acc) : 0;\n"),
    "a failed open leaves the device active": (
        "    if (status == 0) {\n        status = transfer_opened",
        "    if (status != 0) { return status; }\n    {\n        status = transfer_opened"),
    "the status of Close hides the one of the run": (
        "        if (status == 0) { status = closing; }\n", "        status = closing;\n"),
    "the status of Close is swallowed": (
        "        if (status == 0) { status = closing; }\n", ""),
    "the status of Deactivate is swallowed": (
        "    return status != 0 ? status : closing;", "    (void)closing;\n    return status;"),
    "the status of Sync is swallowed": (
        "    if (waited != 0) { return waited; }\n", ""),
    "a failed launch goes on": (
        "    status = TVMDeviceAccLaunch(acc, transfer_acc_subtract, call.args, call.codes, 3);\n"
        "    if (status != 0) { return status; }\n",
        "    (void)TVMDeviceAccLaunch(acc, transfer_acc_subtract, call.args, call.codes, 3);\n"),
    "a result is read before the sync": (
        "    waited = TVMDeviceAccSync(acc);\n#endif\n    if (status != 0) { return status; }\n"
        "    if (waited != 0) { return waited; }\n#if TRANSFER_ASYNC\n    TRACE(0, acc_sum);\n#endif\n"
        "    TRACE(1, host_sum);\n"
        "    (void)memcpy(host_sum_on_acc, host_sum, 4u * TRANSFER_ELEMENTS);\n"
        "    TRACE(2, host_sum_on_acc);\n"
        "    (void)memcpy(acc_sum_on_host, acc_sum, 4u * TRANSFER_ELEMENTS);\n",
        "#endif\n"
        "    (void)memcpy(host_sum_on_acc, host_sum, 4u * TRANSFER_ELEMENTS);\n"
        "    (void)memcpy(acc_sum_on_host, acc_sum, 4u * TRANSFER_ELEMENTS);\n"
        "    waited = TVMDeviceAccSync(acc);\n    if (waited != 0) { return waited; }\n"),
    "arguments are reused while the device runs": (
        "    status = transfer_subtract(host_sum,",
        "    call.tensors[2].data = a;\n    status = transfer_subtract(host_sum,"),
    "another context is passed": (
        "status = TVMDeviceAccOpen(devices->acc);", "status = TVMDeviceAccOpen(arena);"),
    "a host operator's failure leaves the device running": (
        "    status = transfer_add(inputs->a, inputs->b, host_sum);\n",
        "    status = transfer_add(inputs->a, inputs->b, host_sum);\n"
        "    if (status != 0) { return status; }\n"),
    "the last call is not waited for": (
        "    waited = TVMDeviceAccSync(acc);\n#endif\n    if (status != 0) { return status; }\n"
        "    if (waited != 0) { return waited; }\n#if TRANSFER_ASYNC\n    TRACE(4",
        "    waited = 0;\n#endif\n    if (status != 0) { return status; }\n"
        "    if (waited != 0) { return waited; }\n#if TRANSFER_ASYNC\n    TRACE(4"),
}


def inject(folder, prefix, devices, *definitions):
    """Builds the model in `folder` with the harness and runs it."""
    program = folder / "inject"
    source = folder / f"{prefix}.c"
    # Operators end with `return 0`, the run function does not: they may fail as well.
    source.write_text("int faulty_operator(void);\n" +
                      source.read_text().replace("return 0;", "return faulty_operator();"))
    names = " ".join(f"X({name})" for name in devices)
    command = ["gcc", "-std=c99", "-g", "-O1", "-fsanitize=address,undefined", "-Wall", "-Wextra",
               "-Wconversion", "-Wno-unused", f"-I{common.ROOT / 'crt' / 'include'}", f"-I{folder}",
               f"-I{HERE}", f'-DMODEL_HEADER="{prefix}.h"', f"-DPREFIX={prefix}",
               f"-DMACRO_PREFIX={prefix.upper()}", f"-DFAULTY_DEVICES(X)={names}",
               *(f"-D{d}" for d in definitions), HERE / "fault_injection.c",
               HERE / "faulty_hooks.c", *sorted(folder.glob("*.c")), "-lm", "-o", program]
    common.run(command)
    return common.run([program], expect=None)


@pytest.fixture
def model(tmp_path):
    return shutil.copytree(HERE / "transfer_model", tmp_path / "model")


@pytest.mark.parametrize("is_async", [0, 1], ids=["synchronous", "asynchronous"])
def test_hand_written(is_async, model):
    ran = inject(model, "transfer", ["Acc"], f"TRANSFER_ASYNC={is_async}")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found(damage, model):
    old, new = DAMAGES[damage]
    source = (model / "transfer.c").read_text()
    assert old in source
    (model / "transfer.c").write_text(source.replace(old, new))
    ran = inject(model, "transfer", ["Acc"])
    assert ran.returncode == 1 and "FAIL" in ran.stdout, ran.stdout + ran.stderr
