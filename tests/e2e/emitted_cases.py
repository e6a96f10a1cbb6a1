# SPDX-License-Identifier: Apache-2.0
"""Targets that emitted C is compiled and run for, and operator cases as one program for a target.

A target is gcc, gcc_O2, clang, clang_O2 (the host), cortex_m4, cortex_m55 or rv32imac (QEMU), cortex_m4_speed (as at
-O speed), or thumb1, thumb2 or rv32: convolutions and fully connected layers by the kernels of small cores. rv32_clang, cortex_m4_clang, cortex_m55_clang,
thumb1_clang and thumb2_clang are compiled by clang, TARGET_O0 to TARGET_O3 and TARGET_Os at that level. The program compares
every result with LiteRT's and ends with 'N passed, 0 failed'; anything else fails.
"""
import concurrent.futures
import dataclasses
import os
import pathlib
import re

import common

HERE = pathlib.Path(__file__).resolve().parent
# What optimisers do is seen on a part of the cases, on the whole models, and in run_matrix.py at every level. A
# fused multiply-add rounds once where the reference rounds twice.
COMMON = ["-std=c99", "-O1", "-ffp-contract=off"]


@dataclasses.dataclass
class Target:
    compiler: str
    flags: list
    sources: list
    link: list
    command: list
    lowered_for: str = "plain"  # one of run_cases --targets
    level: list = dataclasses.field(default_factory=list)  # instead of -O1
    linker: list = dataclasses.field(default_factory=list)  # instead of the compiler and its flags


# Each function in a section of its own, as firmware has them: how these are aligned is the compiler's at -O0, -O1 and -Os.
TARGETS = {
    # A third to a fifth of the time of -O1.
    "gcc": Target("gcc", [], [], ["-lm"], ["{image}"], level=["-O0"]),
    "gcc_O2": Target("gcc", [], [], ["-lm"], ["{image}"], level=["-O2"]),
    "clang": Target("clang-19", [], [], ["-lm"], ["{image}"], level=["-O0"]),
    "clang_O2": Target("clang-19", [], [], ["-lm"], ["{image}"], level=["-O2"]),
    "cortex_m4": Target(
        "arm-none-eabi-gcc",
        ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-ffunction-sections"],
        ["cortex_m4_start.c"],
        ["--specs=rdimon.specs", "-T", str(HERE / "cortex_m4.ld"), "-lm"],
        ["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor", "none", "-serial",
         "none", "-semihosting-config", "enable=on,target=native,chardev=out", "-chardev",
         "stdio,id=out", "-kernel", "{image}"],
        "dsp"),
    "cortex_m55": Target(
        "arm-none-eabi-gcc",
        ["-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-ffunction-sections"],
        ["cortex_m4_start.c"],
        ["--specs=rdimon.specs", "-T", str(HERE / "cortex_m55.ld"), "-lm"],
        ["qemu-system-arm", "-M", "mps3-an547", "-display", "none", "-monitor", "none", "-serial",
         "none", "-semihosting-config", "enable=on,target=native,chardev=out", "-chardev",
         "stdio,id=out", "-kernel", "{image}"],
        "mve"),
    "rv32imac": Target(
        "riscv64-unknown-elf-gcc",
        ["-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2", "-mcmodel=medany",
         "--specs=picolibc.specs"],
        [],
        ["--oslib=semihost", "--crt0=hosted", "-Wl,--defsym=__flash=0x80000000",
         "-Wl,--defsym=__flash_size=0x2000000", "-Wl,--defsym=__ram=0x82000000",
         "-Wl,--defsym=__ram_size=0x4000000", "-lm"],
        ["qemu-system-riscv32", "-M", "virt", "-bios", "none", "-display", "none", "-monitor",
         "none", "-serial", "none", "-semihosting-config",
         "enable=on,target=native,chardev=out", "-chardev", "stdio,id=out", "-kernel", "{image}"]),
}
# The kernel of three pixels in two words. A Cortex-M4 runs what is compiled for smaller cores; the program has its FPU off.
TARGETS |= {
    "thumb1": dataclasses.replace(TARGETS["cortex_m4"], flags=["-mcpu=cortex-m0", "-mthumb", "-ffunction-sections"], lowered_for="thumb1"),
    "thumb2": dataclasses.replace(TARGETS["cortex_m4"], flags=["-mcpu=cortex-m3", "-mthumb", "-ffunction-sections"], lowered_for="thumb2"),
    "rv32": dataclasses.replace(TARGETS["rv32imac"], lowered_for="rv32"),
    # With floats in registers: without, QEMU spends its time in the compiler's library.
    "rv32imafc": dataclasses.replace(TARGETS["rv32imac"], flags=["-march=rv32imafc", "-mabi=ilp32f", *TARGETS["rv32imac"].flags[2:]]),
    "cortex_m4_speed": dataclasses.replace(TARGETS["cortex_m4"], lowered_for="dsp_speed"),
}


# For programs that open files.
TARGETS["cortex_m55_files"] = dataclasses.replace(TARGETS["cortex_m55"], sources=[*TARGETS["cortex_m55"].sources, "cortex_m55_heap.c"])


# Cores that trap accesses at addresses that are no multiple of their size, and compilations for such firmware.
def trapping(target, machine, *cpu):
    command = [machine if c.startswith("mps") else c for c in target.command]
    return dataclasses.replace(target, flags=[*cpu, *target.flags[1:], "-mno-unaligned-access", "-DTRAP_UNALIGNED"], command=command)


TARGETS |= {
    "cortex_m3_traps": dataclasses.replace(trapping(TARGETS["thumb2"], "mps2-an385", "-mcpu=cortex-m3")),
    "cortex_m4_traps": trapping(TARGETS["cortex_m4"], "mps2-an386", "-mcpu=cortex-m4"),
    "cortex_m7_traps": trapping(TARGETS["cortex_m4"], "mps2-an386", "-mcpu=cortex-m7"),
    "cortex_m55_traps": trapping(TARGETS["cortex_m55"], "mps3-an547", "-mcpu=cortex-m55"),
}


def by_clang(target, *flags):
    """The same compiled by clang, and linked by gcc, which knows the C library."""
    return dataclasses.replace(target, compiler="clang-19", linker=[target.compiler, *target.flags], flags=[*flags])


TARGETS["rv32_clang"] = by_clang(
    TARGETS["rv32"], "--target=riscv32-unknown-elf", "-march=rv32imac", "-mabi=ilp32", "-mcmodel=medany",
    "-isystem", "/usr/lib/picolibc/riscv64-unknown-elf/include")
TARGETS |= {f"{name}_clang": by_clang(TARGETS[name], "--target=arm-none-eabi", *TARGETS[name].flags,
                                      "-isystem", "/usr/lib/arm-none-eabi/include")
            for name in ("cortex_m4", "cortex_m4_speed", "cortex_m55", "thumb1", "thumb2")}
# Vectors of 128 bits and of 256.
for bits in (128, 256):
    TARGETS[f"rv32_vectors_{bits}"] = dataclasses.replace(
        by_clang(TARGETS["rv32"], "--target=riscv32-unknown-elf", "-march=rv32imac_zicsr_zve32x", "-mabi=ilp32", "-mcmodel=medany",
                 "-isystem", "/usr/lib/picolibc/riscv64-unknown-elf/include"),
        lowered_for="rvv", sources=["riscv_vectors.c"],
        command=[*TARGETS["rv32"].command[:3], "-cpu", f"rv32,v=true,vext_spec=v1.0,vlen={bits}", *TARGETS["rv32"].command[3:]])
# Each at every level, too.
TARGETS |= {f"{name}_O{level}": dataclasses.replace(target, level=[f"-O{level}"])
            for name, target in TARGETS.items() if not target.level for level in "0123s"}


def compile_all(name, folder):
    """Object files of every chunk for a target; each includes the sources of its models."""
    target = TARGETS[name]
    sources = [HERE / s for s in target.sources]
    sources += sorted(folder.glob("chunk_*.c")) + [folder / "main.c", folder / "cases_data.S"]

    def one(source):
        made = folder / f"{source.stem}.{name}.o"
        # What the assembler includes is not known to ccache: the data of another test would be found.
        compiler = [target.compiler] if source.suffix == ".S" else common.cached(target.compiler)
        common.run([*compiler, *common.LISTED, *COMMON, *target.level, *target.flags, "-I", folder, "-c", source, "-o",
                    made], cwd=folder)
        return made

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, sources))


def build_and_run(name, folder):
    """How many cases of those that are in the folder as C pass on a target: all, against LiteRT's results."""
    target = TARGETS[name]
    objects = compile_all(name, folder)
    image = folder / f"cases.{name}.elf"
    common.run([*(target.linker or [target.compiler, *target.flags]), *objects, "-o", image, *target.link])
    text = common.run_program([c.format(image=image) for c in target.command])
    found = re.search(r"^(\d+) passed, (\d+) failed$", text, re.M)
    if not found or int(found[1]) == 0 or int(found[2]) != 0:
        raise common.Failure(f"{name}: {text[-4000:]}")
    return int(found[1])
