# SPDX-License-Identifier: Apache-2.0
"""Every microkernel's assembly against its meaning, on an emulated Cortex-M4.

Usage: run.py VARIANT... --emit-kernels PROGRAM --work DIR    VARIANT: gcc_O0, gcc_O1, gcc_O2, gcc_O3, gcc_Os, clang_O0, ...

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
sys.path.insert(0, str(HERE.parent))
import verdicts  # noqa: E402

SKIP = 77  # what ctest takes for "skipped"

GCC = "arm-none-eabi-gcc"
CORE = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
# What compiles the kernels; the rest of the program is always gcc's.
COMPILERS = {"gcc": [GCC, *CORE], "clang": ["clang-19", "--target=thumbv7em-none-eabihf", *CORE, "-ffreestanding"]}
VARIANTS = {f"{name}_O{level}": [*command, f"-O{level}"] for name, command in COMPILERS.items() for level in "0123s"}
VARIANTS["gcc_O0"].append("-fstack-protector-all")
EMULATOR = ["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor", "none", "-serial",
            "none", "-semihosting-config", "enable=on,target=native,chardev=out", "-chardev",
            "stdio,id=out", "-kernel"]


def run(command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise verdicts.Failure(f"exit code {done.returncode}\n{(done.stdout + done.stderr)[:6000]}")
    return done.stdout


def compile_to(target, *command):
    verdicts.run_step(verdicts.step_of([str(word) for word in (*command, "-o", target)], {}))
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="+", choices=VARIANTS, metavar="VARIANT")
    parser.add_argument("--emit-kernels", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    missing = [t for t in (GCC, EMULATOR[0], *(VARIANTS[v][0] for v in options.variants)) if shutil.which(t) is None]
    if missing:
        print(f"{'error' if os.environ.get('CI') == 'true' else 'skipped'}: not installed: "
              f"{', '.join(sorted(set(missing)))}; scripts/setup installs them")
        return 1 if os.environ.get("CI") == "true" else SKIP
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    print(run([options.emit_kernels, work / "kernels.c"]).strip())
    return 0 if all([passes(variant, work) for variant in options.variants]) else 1


def passes(variant, work):
    try:
        made = compile_to(work / f"kernels.{variant}.o", *VARIANTS[variant], *STRICT, "-I", HERE, "-c", work / "kernels.c")
        image = compile_to(work / f"kernels.{variant}.elf", GCC, *CORE, *STRICT, "-O2", "-I", HERE, HERE / "main.c",
                           E2E / "cortex_m4_start.c", made, "--specs=rdimon.specs", "-T", E2E / "cortex_m4.ld")
        command = [*EMULATOR, image]
        text = verdicts.run_program(command, lambda: run(command, timeout=600))
    except verdicts.Failure as failure:
        print(f"error: {variant}: {failure}")
        return False
    found = re.search(r"^(\d+) passed, 0 failed$", text, re.M)
    print(f"{variant}:\n{text.strip()}")
    return bool(found) and int(found[1]) > 0


if __name__ == "__main__":
    sys.exit(main())
