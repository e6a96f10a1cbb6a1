#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Zephyr application and module without a Zephyr tree: files and keys as west and Twister want
them, Kconfig by kconfiglib, both built by CMake with stand-ins for Zephyr's package and headers, and
run. scripts/zephyr-check does it with a tree, in QEMU.

Usage: check.py structure|kconfig|run|cross|clock|aotc_run --aotc PROGRAM --work DIR
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parents[0] / "projects"))
import kinds  # noqa: E402
from kinds import common  # noqa: E402

os.environ["KCONFIG_FUNCTIONS"] = "stand_in_functions"
sys.path.insert(0, str(HERE / "kconfig"))
import kconfiglib  # noqa: E402
import yaml  # noqa: E402

BOARD = "nucleo_f446re"
DTCM_SECTION, SECTION = ".dtcm_noinit", ".noinit"

# What Twister and west know, by their documentation.
SAMPLE_KEYS = {"name", "description", "platforms"}
TEST_KEYS = {"tags", "harness", "harness_config", "build_only", "extra_configs", "extra_args",
             "platform_allow", "platform_exclude", "integration_platforms", "min_ram", "min_flash",
             "depends_on", "filter", "timeout", "arch_allow", "arch_exclude", "slow", "skip"}
CONSOLE_KEYS = {"type", "regex", "ordered", "repeat", "record", "fixture"}
MODULE_KEYS = {"name", "build", "tests", "samples", "boards", "blobs", "security", "runners"}
MODULE_BUILD_KEYS = {"cmake", "kconfig", "cmake-ext", "kconfig-ext", "depends", "settings",
                     "sysbuild-cmake", "sysbuild-kconfig"}


def create(work, kind, name=None, *options, model="digits_int8"):
    board = ("--board", BOARD) if kind == "zephyr" else ()
    return kinds.create(kind, work / (name or kind), *board, *options, model=model)


def expect(condition, message):
    if not condition:
        raise common.Failure(message)


# --- Kconfig -------------------------------------------------------------------------------------


def configuration(project, module, settings=(), dtcm=0):
    """The symbols of a configuration as Zephyr evaluates it: prj.conf, then `settings`."""
    os.environ["STAND_IN_DTCM"] = str(dtcm)
    os.environ["STAND_IN_MODULE"] = str(project / "Kconfig") if module else "none"
    os.environ["srctree"] = str(HERE / "kconfig")
    root = HERE / "kconfig" / "Kconfig.zephyr" if module else project / "Kconfig"
    kconf = kconfiglib.Kconfig(str(root), warn_to_stderr=False)
    kconf.warn_assign_undef = True
    extra = project.parent / f"{project.name}_extra.conf"
    lines = ["CONFIG_DIGITS_MODEL=y"] if module else (project / "prj.conf").read_text().splitlines()
    extra.write_text("\n".join([*lines, *settings]) + "\n")
    kconf.load_config(str(extra))
    for line in extra.read_text().splitlines():
        if line.startswith("CONFIG_"):
            name, value = line[len("CONFIG_"):].split("=", 1)
            expect(kconf.syms[name].str_value == value.strip('"'),
                   f"{name} is {kconf.syms[name].str_value}, assigned {value}")
    expect(not kconf.warnings, "Kconfig: " + "\n".join(kconf.warnings))
    return kconf


def value(kconf, name):
    expect(name in kconf.syms and kconf.syms[name].nodes, f"there is no symbol {name}")
    return kconf.syms[name].str_value


def used_symbols(project):
    for path in sorted(project.rglob("*")):
        if path.suffix in (".c", ".h", ".txt", ".conf", ".yaml", ".md"):
            yield from re.findall(r"CONFIG_([A-Z0-9_]+)", path.read_text())


def kconfig(args):
    app, module = create(args.work, "zephyr"), create(args.work, "zephyr_module")
    for project, is_module in ((app, False), (module, True)):
        kconf = configuration(project, is_module)
        for name in set(used_symbols(project)):
            expect(name in kconf.syms and kconf.syms[name].nodes, f"{project}: no symbol {name}")
        ours = [s.name for s in kconf.unique_defined_syms if s.name.startswith("DIGITS_")]
        expect(all(n.startswith("DIGITS_MODEL") for n in ours), f"symbols: {ours}")
        arena = int(re.search(r"ARENA_SIZE (\d+)", (project / "model/digits.h").read_text())[1])
        for dtcm, section in ((0, SECTION), (arena - 1, SECTION), (arena, DTCM_SECTION)):
            kconf = configuration(project, is_module, dtcm=dtcm)
            expect(value(kconf, "DIGITS_MODEL_ARENA_SECTION") == section,
                   f"the section for a DTCM of {dtcm} bytes")
        kconf = configuration(project, is_module, ["CONFIG_DIGITS_MODEL_STACK_CHECK=y"])
        expect(value(kconf, "INIT_STACKS") == value(kconf, "THREAD_STACK_INFO") == "y", "stack check")
        shell = ["CONFIG_CPU_HAS_FPU=y", "CONFIG_FPU=y", "CONFIG_DIGITS_MODEL_SHELL=y"]
        kconf = configuration(project, is_module, shell)
        expect(value(kconf, "SHELL") == value(kconf, "FPU_SHARING") == "y", "shell")
        kconf = configuration(project, is_module, ["CONFIG_NRF_RTC_TIMER=y"])
        expect(value(kconf, "TIMING_FUNCTIONS") == "y", "timing API where the kernel's clock is slow")
        expect(value(kconf, "FPU") == "n", "FPU without one")
        kconf = configuration(project, is_module, ["CONFIG_CPU_HAS_FPU=y"])
        expect(value(kconf, "FPU") == "y", "an FPU that is left off")
        kconf = configuration(project, is_module, ["CONFIG_CPU_HAS_FPU=y", "CONFIG_FPU=n"])
        expect(value(kconf, "FPU") == "n", "an FPU that cannot be left off")
    # The application alone: what concerns all of the firmware.
    kconf = configuration(app, False)
    stack = int(value(kconf, "MAIN_STACK_SIZE"))
    needed = int(re.search(r"takes about (\d+) bytes", (app / "prj.conf").read_text())[1])
    expect(needed > 0 and stack >= needed + 1536, f"main has {stack} bytes of stack")
    kconf = configuration(app, False, ["CONFIG_DIGITS_MODEL_SHELL=y"])
    expect(int(value(kconf, "SHELL_STACK_SIZE")) == stack, "stack of the shell")
    # The module unless it is switched on: nothing.
    kconf = configuration(module, True)
    thread = int(value(kconf, "DIGITS_MODEL_THREAD_STACK"))
    expect(thread == stack, f"the module says {thread} bytes of stack, the application {stack}")
    same_menu(app, create(args.work, "zephyr_module", "for_board", "--board", BOARD))


def same_menu(app, module):
    """The symbols that both have are the same, text and all."""
    texts = []
    for project in (app, module):
        text = (project / "Kconfig").read_text()
        start, end = text.index("# The name of the section"), text.index("Commands run, self_test")
        texts.append(text[start:end])
    expect(texts[0] == texts[1], "the Kconfig of application and module differ")


# --- Structure -----------------------------------------------------------------------------------


def known(mapping, keys, what):
    expect(isinstance(mapping, dict), f"{what} is no mapping")
    expect(set(mapping) <= keys, f"{what} has {sorted(set(mapping) - keys)}")


def sample_yaml(project):
    sample = yaml.safe_load((project / "sample.yaml").read_text())
    known(sample, {"sample", "common", "tests"}, "sample.yaml")
    known(sample["sample"], SAMPLE_KEYS, "sample")
    known(sample["common"], TEST_KEYS, "common")
    for name, test in sample["tests"].items():
        expect(re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)+", name), f"test '{name}'")
        known(test, TEST_KEYS, name)
        enough({**sample["common"], **test}, name)
        known(test.get("harness_config", {}), CONSOLE_KEYS, "harness_config")
        harness = test.get("harness", sample["common"].get("harness"))
        expect(harness in (None, "console") and (harness == "console") == ("harness_config" in test),
               f"{name}: Twister wants harness and harness_config together")
    return [re.compile(r) for t in sample["tests"].values()
            for r in t.get("harness_config", {}).get("regex", [])]


def description_folders(module, kind):
    """Folders of tests or samples that module.yml names, which Twister then finds."""
    folders = yaml.safe_load((module / "zephyr" / "module.yml").read_text())[kind]
    expect(folders and all((module / f / "CMakeLists.txt").exists() for f in folders), f"module.yml: {kind}")
    return [module / f for f in folders]


def enough(test, name):
    """Kilobytes that a board should have, and where continuous integration builds it."""
    expect(test.get("min_ram", 0) >= 8 and test.get("min_flash", 0) >= 32, f"{name}: min_ram, min_flash")
    expect(test.get("integration_platforms"), f"{name}: integration_platforms")


def testcases(folder):
    cases = yaml.safe_load((folder / "testcase.yaml").read_text())
    for name, test in cases["tests"].items():
        known(test, TEST_KEYS, name)
        enough({**cases["common"], **test}, name)


def structure(args):
    app, module = create(args.work, "zephyr"), create(args.work, "zephyr_module")
    expect(len(sample_yaml(app)) == 2, "regular expressions of the console")
    for folder in description_folders(module, "samples"):
        expect(sample_yaml(folder), f"{folder.name} has no console")
    for folder in description_folders(module, "tests"):
        testcases(folder)
    description = yaml.safe_load((module / "zephyr" / "module.yml").read_text())
    known(description, MODULE_KEYS, "module.yml")
    known(description["build"], MODULE_BUILD_KEYS, "build")
    expect(re.fullmatch(r"[a-z0-9_-]+", description["name"]), "name of the module")
    for key, file in (("cmake", "CMakeLists.txt"), ("kconfig", "")):
        expect((module / description["build"][key] / file).exists(), f"build.{key} does not exist")
    for project in (app, module):
        files = kinds.files_of(project)
        others = [f for f in files if not f.startswith(("model/", "runtime/")) and f not in ("aotc.json", "LICENSE.txt")]
        expect(len([f for f in others if not f.startswith(("samples/", "tests/"))]) <= 13, f"{len(others)} files beside the model: {sorted(others)}")
        again = kinds.create("zephyr" if project is app else "zephyr-module",
                             args.work / "elsewhere" / project.name,
                             *(("--board", BOARD) if project is app else ()))
        for file in files:
            expect((project / file).read_bytes() == (again / file).read_bytes(), f"{file} differs")
        expect(set(files) == set(kinds.files_of(again)), "other files the second time")
        expect(not re.search(r"https?://|FetchContent|ExternalProject",
                             "".join((project / f).read_text() for f in others)), "a download")
    # Names for both models of boards.
    for board, *names in (("qemu_mps2_an521", "mps2_an521", "mps2/an521/cpu0"),
                          (BOARD, "nucleo_f446re", "nucleo_f446re")):
        project = kinds.create("zephyr", args.work / board, "--board", board)
        text = (project / "README.md").read_text()
        expect(f"west build -b {names[0]} ." in text and f"`{names[1]}`" in text, "board's names")
    project = kinds.create("zephyr", args.work / "v2", "--board", "qemu_mps2_an521",
                           "--project-option", "zephyr_board=mps2/an521/cpu0")
    expect('"mps2/an521/cpu0"' in (project / "aotc.json").read_text(), "zephyr_board")
    project = kinds.create("zephyr", args.work / "pools", "--board", "stm32f746g_disco", "--pool",
                           "dtcm:65536")
    expect('PLACE_dtcm __attribute__((section(".dtcm_noinit")))' in
           (project / "src" / "digits_app_memory.c").read_text(), "section of a pool")
    refused = common.aotc("create", kinds.MODELS / "digits_int8.tflite", "--project", "zephyr",
                          "--board", "host", "-o", args.work / "refused", expect=None)
    expect(refused.returncode != 0 and "[template-board]" in refused.stderr, "board without Zephyr")


# --- Built with stand-ins ------------------------------------------------------------------------

MODULE_USER = """cmake_minimum_required(VERSION 3.13.1)
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(user C)
target_sources(app PRIVATE main.c)
"""
MODULE_MAIN = """#include "digits_app.h"
#include "digits_zephyr.h"

int main(void)
{
    (void)digits_stack_unused();
    return digits_demo();
}
"""


def build(project, name, settings=(), layout="new", compiler=None, sample=False):
    """Folder of a build by CMake of an application, or of one that uses a module: its sample, or another."""
    module = (project / "zephyr" / "module.yml").exists()
    folder = project.parent / f"{project.name}_{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    kconf = configuration(project, module, settings)
    kconf.write_config(str(folder / ".config"))
    kconf.write_autoconf(str(folder / "autoconf.h"))
    source = project / "samples" if sample else project
    if module and not sample:
        source = folder / "user"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(MODULE_USER)
        (source / "main.c").write_text(MODULE_MAIN)
    command = ["cmake", "-G", "Ninja", "-S", source, "-B", folder / "build",
               f"-DZephyr_DIR={HERE / 'package'}", f"-DSTAND_IN={HERE}",
               f"-DSTAND_IN_LAYOUT={layout}", f"-DSTAND_IN_CONFIG={folder}",
               f"-DSTAND_IN_PROGRAM={'OFF' if compiler else 'ON'}"]
    if shutil.which("ccache"):
        command.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
    if module:
        command.append(f"-DZEPHYR_MODULES={project}")
    if compiler:
        command += ["-DCMAKE_SYSTEM_NAME=Generic", f"-DCMAKE_C_COMPILER={compiler[0]}",
                    "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
                    "-DCMAKE_C_FLAGS=" + " ".join(compiler[1:])]
    common.run(command)
    common.run(["ninja", "-C", folder / "build"])
    return folder / "build"


def damage(project):
    """Negates one constant of a layer, of the last one first; yields the layer's number."""
    data = project / "model" / "digits_data.c"
    text = data.read_text()
    tables = list(re.finditer(r"digits_call(\d+)_(?:weights|stream)\[\d+\][^{;]*\{\s*(-?\d+)", text))
    expect(len(tables) >= 3, "no constants found to damage")
    for table in (tables[-1], tables[len(tables) // 2], tables[0]):
        data.write_text(text[:table.start(2)] + str(-int(table[2])) + text[table.end(2):])
        yield int(table[1])
    data.write_text(text)


def run(args):
    app, module = create(args.work, "zephyr"), create(args.work, "zephyr_module")
    for project in (app, module):
        for layout in ("old", "new"):
            text = common.run([build(project, layout, layout=layout) / "app"])
            kinds.check_demo(text)
    passes = sample_yaml(app)
    expect(all(r.search(text) for r in passes), "Twister would not see that it passed")
    for layer in damage(app):
        text = common.run([build(app, f"damaged_{layer}") / "app"], expect=None).stdout
        expect(f"FAILED: the first layer that differs is {layer}, op " in text,
               f"a damaged weight of layer {layer}:\n{text}")
        expect(not all(r.search(text) for r in passes), "Twister would take it for passed")
    text = common.run([build(app, "without", ["CONFIG_DIGITS_MODEL_SELF_TEST=n"]) / "app"])
    expect("self test" not in text and "@aotc done status=0" in text, "without the self test")
    text = common.run([build(app, "stack", ["CONFIG_DIGITS_MODEL_STACK_CHECK=y"]) / "app"])
    expect("stack_unused=1234" in text, "stack check")
    for setting in ("CONFIG_DIGITS_MODEL_TIMING_API=y", "CONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER=y",
                    'CONFIG_DIGITS_MODEL_ARENA_SECTION=""', "CONFIG_DIGITS_MODEL_SPEED=n"):
        kinds.check_demo(common.run([build(app, "setting", [setting]) / "app"]))
    for project in (app, module):
        folder = build(project, "region", ['CONFIG_DIGITS_MODEL_TABLES_REGION="PSRAM"',
                                           'CONFIG_DIGITS_MODEL_TABLES_SECTION=".tables"'])
        expect((folder / "linker_sources.txt").read_text() ==
               "SECTIONS: digits_tables : { KEEP(*(.tables)) } > PSRAM\n", "the linker fragment")
    shell(app, "model")
    shell(module, "digits")
    floats = create(args.work, "zephyr", "floats", model="digits_f32")
    kinds.check_demo(common.run([build(floats, "new") / "app"]), "digits_f32")
    run_fed(args)


def create_fed(work):
    """Application and module of a model whose input is fed by rows, and of one that takes frames, whole
    and in slices; with how many results the example has of each."""
    for name, model, options, results in (
            ("rows", "digits_int8", ["--input", "rows"], 3),
            ("frames", kinds.frames_model(work), ["--stream", "time"], kinds.results_of_frames(2)),
            ("slices", kinds.frames_model(work), ["--stream", "time", "--slice", "2000"], kinds.results_of_frames(2))):
        for kind in ("zephyr", "zephyr_module"):
            project = create(work, kind, f"{kind}_{name}", *options, model=model)
            yield project, kind == "zephyr_module", results


def run_fed(args):
    """The examples of feeding: their results are those of a run, and it is seen when they are not."""
    for project, module, results in create_fed(args.work):
        program = build(project, "fed", sample=module) / "app"
        text = common.run([program])
        expect("self test: bit-exact" in text and "@aotc done status=0" in text, text)
        kinds.check_fed(text, results)
        if results == 3:
            kinds.check_demo(text)
        kinds.feed_wrongly(project)
        kinds.check_fed_wrongly(common.run([build(project, "fed", sample=module) / "app"]))


def shell(project, command):
    text = common.run([build(project, "shell", ["CONFIG_DIGITS_MODEL_SHELL=y",
                                                "CONFIG_DIGITS_MODEL_STACK_CHECK=y"]) / "app"])
    kinds.check_demo(text[:text.index("> ")])
    for name, result in (("run", r"self test: bit-exact[^>]*done status=0\nstack: 1234 bytes"),
                         ("self_test", r"passed: (\d+) results of layers, \1 of them to the bit\n"),
                         ("profile", r"0: \d+ cycles  op 0 [^>]*\n1: \d+ cycles  op 1 ")):
        expect(re.search(rf"> {command} {name}\n[^>]*{result}[^>]*= 0\n", text),
               f"the command {command} {name}:\n{text}")
    expect("no shell: " not in text, "a command that writes to no shell")


def cross(args):
    """The arena lies in its section, the model is compiled as it was made, nothing is warned of."""
    common.require("arm-none-eabi-gcc")
    compiler = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"]
    for kind in ("zephyr", "zephyr_module"):
        project = create(args.work, kind)
        for layout in ("old", "new"):
            folder = build(project, f"arm_{layout}", layout=layout, compiler=compiler)
        build(project, "arm_shell", ["CONFIG_DIGITS_MODEL_SHELL=y", "CONFIG_DIGITS_MODEL_TIMING_API=y",
                                     "CONFIG_DIGITS_MODEL_STACK_CHECK=y"], compiler=compiler)
        objects = [str(o) for o in folder.rglob("*digits_app_memory.c.o*")]
        expect(len(objects) == 1, f"objects: {objects}")
        sections = common.run(["arm-none-eabi-objdump", "-t", objects[0]])
        expect(re.search(r"\.noinit\s+[0-9a-f]+ arena", sections), f"arena:\n{sections}")
        commands = (folder / "build.ninja").read_text()
        for source in ("model/digits.c", "model/digits_data.c", "src/digits_app_self_test.c"):
            rule = re.search(rf"^build \S+: C_COMPILER\S+ \S*{source}.*?FLAGS = ([^\n]*)", commands,
                             re.S | re.M)
            expect(rule and "-Os" in rule[1] and rule[1].rindex("-O2") > rule[1].rindex("-Os") and
                   "-ffp-contract=off" in rule[1], f"flags of {source}: {rule and rule[1]}")
    for project, module, _ in create_fed(args.work):
        build(project, "arm", compiler=compiler, sample=module)


def clock(args):
    module = create(args.work, "zephyr_module")
    program = args.work / "clock"
    common.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-I", HERE, "-I",
                HERE / "include" / "new", "-I", module / "src", "-I", module / "model",
                "-DCONFIG_SYS_CLOCK_TICKS_PER_SEC=100",
                f'-DSOURCE="{module}/src/digits_zephyr.c"', HERE / "clock.c", "-o", program])
    print(common.run([program]).strip())


# --- aotc run ------------------------------------------------------------------------------------


def aotc_run(args):
    """An emulator that never ends is ended with the demo; a failed demo is a failure."""
    project = kinds.create("zephyr", args.work / "project", "--board", "qemu_mps2_an385")
    image = project / "build" / "zephyr" / "zephyr.elf"
    image.parent.mkdir(parents=True)
    image.write_text("")
    tools = common.fresh(args.work / "tools")
    emulator = tools / "qemu-system-arm"
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}
    for status, code in ((0, 0), (-1, 6)):
        emulator.write_text(f"#!/bin/sh\necho hello\necho '@aotc done status={status}'\nsleep 3000\n")
        emulator.chmod(0o755)
        done = common.run([args.aotc, "run", project], expect=code, timeout=600,
                          env=dict(os.environ, **path))
        expect(code != 0 or "hello" in done, "output of the firmware")
    (tools / "west").write_text("#!/bin/sh\necho west \"$@\" >&2\nexit 1\n")
    (tools / "west").chmod(0o755)
    done = common.run([args.aotc, "build", project], expect=None, env=dict(os.environ, **path))
    expect(done.returncode == 1 and "west build -b mps2_an385" in done.stderr, done.stderr)
    nothing = common.fresh(args.work / "nothing")
    done = common.run([args.aotc, "build", project], expect=None, env={"PATH": str(nothing)})
    expect(done.returncode == 5 and "'west' is not installed" in done.stderr and
           "apt-get" not in done.stderr, done.stderr)


CASES = {f.__name__: f for f in (structure, kconfig, run, cross, clock, aotc_run)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--aotc", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.aotc, args.work = args.aotc.resolve(), common.fresh(args.work.resolve())
    CASES[args.case](args)


if __name__ == "__main__":
    common.main_of(main)
