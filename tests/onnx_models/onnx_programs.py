# SPDX-License-Identifier: Apache-2.0
"""Many compiled models as one program: each runs on its inputs, in an arena that is filled with a pattern before, and
writes its status and its outputs; once, or as often as it has further inputs."""
import pathlib
import re
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import verdicts  # noqa: E402
BATCH = {"host": 48, "cortex_m4": 24, "cortex_m55": 24, "riscv32": 24}
# Machine and options of the emulated Cortex-M cores.
ARM = {"cortex_m4": ("mps2-an386", ["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16"]), "cortex_m55": ("mps3-an547", ["-mcpu=cortex-m55"])}
ARENA = 1 << 16  # models that need more have an arena of their own on the host

MODEL = """
#define {U}_IN(field, type, elements, scale, zero) \\
    memcpy({p}_input_##field(arena), data, (elements) * sizeof(type)); data += (elements) * sizeof(type);
#define {U}_OUT(field, type, elements, scale, zero) static type {p}_out_##field[elements];
#define {U}_SET(field, type, elements, scale, zero) outputs.field = {p}_out_##field;
#define {U}_PUT(field, type, elements, scale, zero) put({p}_out_##field, (elements) * sizeof(type));
{outputs}
static void run_{p}(void) {{
    {arena}
    struct {p}_outputs outputs;
    int32_t status;
    int turn;
    {data}
    {sets}
    for (turn = 0; turn < {turns}; ++turn) {{
        memset(arena, 0xA5, sizeof arena);
        {copy}
        status = {p}_run(0, &outputs, arena);
        put(&status, sizeof status);
        if (status != 0) return;
        {puts}
    }}
}}
"""


def bytes_of(arrays):
    whole = (a.astype(np.int8) if a.dtype.name == "int4" else a for a in arrays)
    return b"".join(np.ascontiguousarray(a).tobytes() for a in whole)


def turns_of(case):
    return 1 + len(case.later) // max(len(case.given), 1)


def note_outputs(case, upper, header):
    """What the header says of outputs: their shapes, and how many of the last ones say how much of others counts."""
    fields = re.findall(r"X\((\w+), ", header.split(f"#define {upper}_FOR_EACH_OUTPUT(X)")[1].split("\n\n")[0])
    dims = dict(re.findall(rf"#define {upper}_OUTPUT_(\w+)_DIMS \{{(.*)\}}", header))  # not of scalars
    case.shapes = [tuple(map(int, re.findall(r"\d+", dims.get(f.upper(), "")))) for f in fields]
    case.counts = sum(f.endswith("_count") and f[:-len("_count")] in fields for f in fields)


def model_text(prefix, case, header):
    upper = prefix.upper()
    note_outputs(case, upper, header)
    inputs = bytes_of(case.given + case.later)
    size = int(re.search(rf"#define {upper}_ARENA_SIZE (\d+)u", header).group(1))
    numbers = ",".join(map(str, inputs))
    data = f"static const uint8_t {prefix}_bytes[] = {{{numbers}}};\n" if inputs else ""
    copy = f"{upper}_FOR_EACH_INPUT({upper}_IN)" if case.given else ""
    return data + MODEL.format(
        p=prefix, U=upper, copy=copy, turns=turns_of(case),
        data=f"const uint8_t *data = {prefix}_bytes;" if case.given else "", outputs=f"{upper}_FOR_EACH_OUTPUT({upper}_OUT)",
        arena=f"static _Alignas(16) uint8_t arena[{max(size, 16)}];",
        sets=f"{upper}_FOR_EACH_OUTPUT({upper}_SET)", puts=f"{upper}_FOR_EACH_OUTPUT({upper}_PUT)")


def write_program(batch, work, number):
    text = "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
    for prefix, _ in batch:
        text += f'#include "{prefix}/{prefix}.h"\n'
    text += ("static void put(const void *data, uint32_t bytes) {\n    fwrite(&bytes, 1, 4, stdout);\n"
             "    fwrite(data, 1, bytes, stdout);\n}\n")
    for prefix, case in batch:
        text += model_text(prefix, case, (work / prefix / f"{prefix}.h").read_text())
    text += "int main(void) {\n" + "".join(f"    run_{p}();\n" for p, _ in batch) + "    fflush(stdout);\n    return 0;\n}\n"
    path = work / f"program{number}.c"
    path.write_text(text)
    models = work / f"models{number}.c"
    models.write_text("".join(f'#include "{p}/{f}.c"\n' for p, _ in batch for f in (p, f"{p}_data")
                              if (work / p / f"{f}.c").exists()))
    return [path, models]


def compile_program(command):
    verdicts.run_step(verdicts.step_of([str(word) for word in command], {}))


def build(batch, work, number, arguments):
    sources = write_program(batch, work, number)
    program = work / f"program{number}"
    compiler, *options = arguments.compiler.split()
    command = [compiler, "-std=c11", "-O1", "-w", "-ffp-contract=off", *options, f"-I{work}", *sources]
    if arguments.target == "host":
        compile_program([*command, "-o", program, "-lm"])
        return [program]
    if arguments.target == "riscv32":
        return build_for_riscv(command, program)
    e2e = ROOT / "tests" / "e2e"
    machine, options = ARM[arguments.target]
    compile_program(["arm-none-eabi-gcc", *command[1:], e2e / "cortex_m4_start.c", *options, "-mthumb", "-mfloat-abi=hard",
                     "--specs=rdimon.specs", "-T", e2e / f"{arguments.target}.ld", "-o", program, "-lm"])
    return ["qemu-system-arm", "-M", machine, "-display", "none", "-monitor", "none", "-serial", "none",
            "-semihosting-config", "enable=on,target=native,chardev=out", "-chardev", "stdio,id=out",
            "-kernel", program]


def build_for_riscv(command, program):
    """With memory as the board qemu_riscv32 has it, and floats in software."""
    memory = ("__flash=0x80000000", "__flash_size=0x2000000", "__ram=0x82000000", "__ram_size=0x4000000")
    compile_program(["riscv64-unknown-elf-gcc", *command[1:], "-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2",
                     "-mcmodel=medany", "--specs=picolibc.specs", "--oslib=semihost", "--crt0=hosted",
                     *(f"-Wl,--defsym={m}" for m in memory), "-o", program, "-lm"])
    return ["qemu-system-riscv32", "-M", "virt", "-bios", "none", "-display", "none", "-monitor", "none", "-serial", "none",
            "-semihosting-config", "enable=on,target=native,chardev=out", "-chardev", "stdio,id=out", "-kernel", program]


def results_of(raw, batch):
    """(status, outputs, those of all turns) of each model of the batch."""
    out, at = [], 0

    def take():
        nonlocal at
        size = int.from_bytes(raw[at:at + 4], "little")
        data = raw[at + 4:at + 4 + size]
        at += 4 + size
        return data

    for _, case in batch:
        if at >= len(raw):
            out.append(("nothing: it crashed", []))
            continue
        found = []
        for _ in range(turns_of(case)):
            status = int.from_bytes(take(), "little", signed=True)
            if status != 0:
                break
            found += [take() for _ in case.shapes]
        out.append((status, found))
    return out


def run_batch(batch, work, number, arguments):
    try:
        command = build(batch, work, number, arguments)
    except verdicts.Failure as error:
        if len(batch) == 1:
            return [(f"an error of the C compiler: {str(error)[:500]}", [])]
        half = len(batch) // 2
        return (run_batch(batch[:half], work, f"{number}a", arguments) +
                run_batch(batch[half:], work, f"{number}b", arguments))
    # Not a pipe: of one that is full the emulator drops what it writes.
    results = work / f"results{number}"

    def work_of_it():
        with open(results, "wb") as out:
            done = subprocess.run([str(word) for word in command], stdout=out, stderr=subprocess.DEVNULL, timeout=600, check=False)
        if done.returncode != 0:
            raise verdicts.Failure(f"exit code {done.returncode}")
        return ""
    try:
        verdicts.run_program(command, work_of_it, writes=[results])
    except verdicts.Disagreement:
        raise
    except verdicts.Failure:
        pass  # what a crashed program has written is compared, too
    return results_of(results.read_bytes(), batch)
