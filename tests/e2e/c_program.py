# SPDX-License-Identifier: Apache-2.0
"""Programs of C that aotc wrote and a main.c of a test's own, which prints 'N failed': built for this machine or an emulated
Cortex-M4, and run."""
import common
import emitted_cases

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
# For this machine.
SANITIZED = ["-g", "-O1", "-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
M4 = emitted_cases.TARGETS["cortex_m4"]


def build(work, emitted, compiler, flags, links=("-lm",), more=()):
    """The image of work/main.c, the C in the folders `emitted`, which has to be without warnings, and files of `more`."""
    includes = [f"-I{folder}" for folder in emitted]
    written = [source for folder in emitted for source in sorted(folder.glob("*.c"))]
    objects = []
    for source in [*written, work / "main.c", *more]:
        objects.append(work / f"{source.stem}.{compiler}.o")
        strict = STRICT if source in written else []
        common.run([*common.cached(compiler), *common.LISTED, *flags, *strict, *includes, "-c", source, "-o", objects[-1]])
    image = work / f"program.{compiler}"
    common.run([compiler, *flags, *objects, *links, "-o", image])
    return image


def command_on(target, work, emitted):
    """Builds it for a target of emitted_cases, and returns what runs it in the emulator."""
    image = build(work, emitted, target.compiler, ["-std=gnu99", "-O2", "-ffp-contract=off", *target.flags], target.link,
                  [common.ROOT / "tests/e2e" / source for source in target.sources])
    return [word.replace("{image}", str(image)) for word in target.command]


def command_on_m4(work, emitted):
    return command_on(M4, work, emitted)


def check(command):
    """It ends with 0 and says that nothing failed."""
    said = common.run_program(command)
    if "0 failed" not in said:
        raise common.Failure(f"{command}:\n{said[-3000:]}")
