#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails every call of every device hook of a model in turn, on this machine.

Usage: faults.py --work DIR

Each model runs with hooks that watch and fail (faulty_hooks.c), sanitized. Then the hand-written
model is damaged in the ways in which emitted code could be wrong, and the harness has to see each.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

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

failures = 0


def check(good, what, detail=""):
    global failures
    failures += not good
    print(f"{'pass' if good else 'FAIL'}: {what}" + (f"\n{detail}" if not good else ""), flush=True)


def inject(folder, prefix, devices, *definitions):
    """Builds the model in `folder` with the harness and runs it; None if it does not build."""
    program = folder / "inject"
    source = folder / f"{prefix}.c"
    # Operators end with `return 0`, the run function does not: they may fail as well.
    source.write_text("int faulty_operator(void);\n" +
                      source.read_text().replace("return 0;", "return faulty_operator();"))
    names = " ".join(f"X({name})" for name in devices)
    command = ["gcc", "-std=c99", "-g", "-O1", "-fsanitize=address,undefined", "-Wall", "-Wextra",
               "-Wconversion", "-Wno-unused", f"-I{ROOT / 'crt' / 'include'}", f"-I{folder}",
               f"-I{HERE}", f'-DMODEL_HEADER="{prefix}.h"', f"-DPREFIX={prefix}",
               f"-DMACRO_PREFIX={prefix.upper()}", f"-DFAULTY_DEVICES(X)={names}",
               *(f"-D{d}" for d in definitions), HERE / "fault_injection.c",
               HERE / "faulty_hooks.c", *sorted(folder.glob("*.c")), "-lm", "-o", program]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        print(built.stdout + built.stderr)
        return None
    return subprocess.run([program], capture_output=True, text=True, timeout=600)


def test_hand_written(work):
    for asynchronous in (0, 1):
        folder = work / f"transfer_{asynchronous}"
        shutil.copytree(HERE / "transfer_model", folder)
        ran = inject(folder, "transfer", ["Acc"], f"TRANSFER_ASYNC={asynchronous}")
        check(ran and ran.returncode == 0,
              f"hand-written model, {'asynchronous' if asynchronous else 'synchronous'}: "
              f"{ran.stdout.splitlines()[-1] if ran and ran.stdout else ''}",
              ran and ran.stdout + ran.stderr)


def test_damages(work):
    source = (HERE / "transfer_model" / "transfer.c").read_text()
    for i, (what, (old, new)) in enumerate(DAMAGES.items()):
        folder = work / f"damage_{i}"
        shutil.copytree(HERE / "transfer_model", folder)
        if old not in source:
            check(False, f"the damage can be done: {what}")
            continue
        (folder / "transfer.c").write_text(source.replace(old, new))
        ran = inject(folder, "transfer", ["Acc"])
        check(ran and ran.returncode == 1 and "FAIL" in ran.stdout, f"is found: {what}",
              ran and ran.stdout + ran.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    work = parser.parse_args().work.resolve() / "faults"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    test_hand_written(work)
    test_damages(work)
    print(f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
