# SPDX-License-Identifier: Apache-2.0
"""Every microkernel's assembly against its meaning, on an emulated Cortex-M4.

Usage: run.py gcc_O2|gcc_O0|clang_O2 --emit-kernels PROGRAM --work DIR

Skipped where the cross compiler or the emulator is missing, unless CI=true.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
E2E = HERE.parent / "e2e"
SKIP = 77  # what ctest takes for "skipped"

GCC = "arm-none-eabi-gcc"
CORE = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
# What compiles the kernels; the rest of the program is always gcc's.
VARIANTS = {
    "gcc_O2": [GCC, *CORE, "-O2"],
    "gcc_O0": [GCC, *CORE, "-O0", "-fstack-protector-all"],
    "clang_O2": ["clang-19", "--target=thumbv7em-none-eabihf", *CORE, "-ffreestanding", "-O2"],
}
EMULATOR = ["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor", "none", "-serial",
            "none", "-semihosting-config", "enable=on,target=native,chardev=out", "-chardev",
            "stdio,id=out", "-kernel"]


def run(command, what, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        print(f"error: {what}: exit code {done.returncode}\n{(done.stdout + done.stderr)[:6000]}")
        sys.exit(1)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("--emit-kernels", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    compiler = VARIANTS[options.variant]
    missing = [t for t in (GCC, compiler[0], EMULATOR[0]) if shutil.which(t) is None]
    if missing:
        print(f"{'error' if os.environ.get('CI') == 'true' else 'skipped'}: not installed: "
              f"{', '.join(missing)}; scripts/setup installs them")
        return 1 if os.environ.get("CI") == "true" else SKIP
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    print(run([options.emit_kernels, work / "kernels.c"], "emit_kernels").strip())
    run([*compiler, *STRICT, "-I", HERE, "-c", work / "kernels.c", "-o", work / "kernels.o"],
        "kernels.c does not compile")
    image = work / "kernels.elf"
    run([GCC, *CORE, *STRICT, "-O2", "-I", HERE, HERE / "main.c", E2E / "cortex_m4_start.c",
         work / "kernels.o", "--specs=rdimon.specs", "-T", E2E / "cortex_m4.ld", "-o", image],
        "the program does not link")
    text = run([*EMULATOR, image], "kernels differ from their meanings", timeout=600)
    found = re.search(r"^(\d+) passed, 0 failed$", text, re.M)
    print(text.strip())
    return 0 if found and int(found[1]) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
