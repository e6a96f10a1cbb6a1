# SPDX-License-Identifier: Apache-2.0
"""The Zephyr application and module without a Zephyr tree: files and keys as west and Twister want
them, Kconfig by kconfiglib, both built by CMake with stand-ins for Zephyr's package and headers, and
run. scripts/zephyr-check does it with a tree, in QEMU.
"""
import os
import pathlib
import re
import shutil
import sys

import kconfiglib
import kinds
import pytest
import yaml
from kinds import common

HERE = pathlib.Path(__file__).resolve().parent
# kconfiglib imports the functions of a Kconfig by their module's name.
sys.path.append(str(HERE / "kconfig"))
os.environ["KCONFIG_FUNCTIONS"] = "stand_in_functions"
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


@pytest.fixture
def app(tmp_path):
    return create(tmp_path, "zephyr")


@pytest.fixture
def module(tmp_path):
    return create(tmp_path, "zephyr_module")


@pytest.fixture(params=["zephyr", "zephyr_module"])
def project(request, tmp_path):
    """Application and module in turn."""
    return create(tmp_path, request.param)


def is_module(project):
    return (project / "zephyr" / "module.yml").exists()


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


def test_kconfig_symbols(project):
    kconf = configuration(project, is_module(project))
    for name in set(used_symbols(project)):
        expect(name in kconf.syms and kconf.syms[name].nodes, f"{project}: no symbol {name}")
    ours = [s.name for s in kconf.unique_defined_syms if s.name.startswith("DIGITS_")]
    assert all(n.startswith("DIGITS_MODEL") for n in ours)


def test_kconfig_arena(project):
    arena = int(re.search(r"ARENA_SIZE (\d+)", (project / "model/digits.h").read_text())[1])
    for dtcm, section in ((0, SECTION), (arena - 1, SECTION), (arena, DTCM_SECTION)):
        kconf = configuration(project, is_module(project), dtcm=dtcm)
        assert value(kconf, "DIGITS_MODEL_ARENA_SECTION") == section


@pytest.mark.parametrize("settings, symbols", [
    (["CONFIG_DIGITS_MODEL_STACK_CHECK=y"], {"INIT_STACKS": "y", "THREAD_STACK_INFO": "y"}),
    (["CONFIG_CPU_HAS_FPU=y", "CONFIG_FPU=y", "CONFIG_DIGITS_MODEL_SHELL=y"], {"SHELL": "y", "FPU_SHARING": "y"}),
    # The timing API where the kernel's clock is slow; no FPU without one.
    (["CONFIG_NRF_RTC_TIMER=y"], {"TIMING_FUNCTIONS": "y", "FPU": "n"}),
    (["CONFIG_CPU_HAS_FPU=y"], {"FPU": "y"}),
    (["CONFIG_CPU_HAS_FPU=y", "CONFIG_FPU=n"], {"FPU": "n"})], ids=["stack_check", "shell", "timing", "fpu", "fpu_off"])
def test_kconfig_settings(settings, symbols, project):
    kconf = configuration(project, is_module(project), settings)
    assert {name: value(kconf, name) for name in symbols} == symbols


def test_kconfig_stack(app, module):
    """The application says what concerns all of the firmware; the module unless it is switched on nothing."""
    kconf = configuration(app, False)
    stack = int(value(kconf, "MAIN_STACK_SIZE"))
    needed = int(re.search(r"takes about (\d+) bytes", (app / "prj.conf").read_text())[1])
    assert needed > 0 and stack >= needed + 1536
    kconf = configuration(app, False, ["CONFIG_DIGITS_MODEL_SHELL=y"])
    assert int(value(kconf, "SHELL_STACK_SIZE")) == stack
    assert int(value(configuration(module, True), "DIGITS_MODEL_THREAD_STACK")) == stack


def test_kconfig_same_menu(app, tmp_path):
    """The symbols that both have are the same, text and all."""
    texts = []
    for project in (app, create(tmp_path, "zephyr_module", "for_board", "--board", BOARD)):
        text = (project / "Kconfig").read_text()
        start, end = text.index("# The name of the section"), text.index("Commands run, self_test")
        texts.append(text[start:end])
    assert texts[0] == texts[1]


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


def check_testcases(folder):
    cases = yaml.safe_load((folder / "testcase.yaml").read_text())
    for name, test in cases["tests"].items():
        known(test, TEST_KEYS, name)
        enough({**cases["common"], **test}, name)


def test_structure_descriptions(app, module):
    assert len(sample_yaml(app)) == 2, "regular expressions of the console"
    for folder in description_folders(module, "samples"):
        expect(sample_yaml(folder), f"{folder.name} has no console")
    for folder in description_folders(module, "tests"):
        check_testcases(folder)
    description = yaml.safe_load((module / "zephyr" / "module.yml").read_text())
    known(description, MODULE_KEYS, "module.yml")
    known(description["build"], MODULE_BUILD_KEYS, "build")
    assert re.fullmatch(r"[a-z0-9_-]+", description["name"])
    for key, file in (("cmake", "CMakeLists.txt"), ("kconfig", "")):
        assert (module / description["build"][key] / file).exists()


def test_structure_files(project, tmp_path):
    files = kinds.files_of(project)
    others = [f for f in files if not f.startswith(("model/", "runtime/")) and f not in ("aotc.json", "LICENSE.txt")]
    assert len([f for f in others if not f.startswith(("samples/", "tests/"))]) <= 13
    again = kinds.create("zephyr-module" if is_module(project) else "zephyr", tmp_path / "elsewhere" / project.name,
                         *(() if is_module(project) else ("--board", BOARD)))
    assert files == kinds.files_of(again)
    assert not re.search(r"https?://|FetchContent|ExternalProject", "".join((project / f).read_text() for f in others))


# Names for both models of boards.
@pytest.mark.parametrize("board, old, new", [("qemu_mps2_an521", "mps2_an521", "mps2/an521/cpu0"),
                                             (BOARD, "nucleo_f446re", "nucleo_f446re")])
def test_structure_board(board, old, new, tmp_path):
    text = (kinds.create("zephyr", tmp_path / board, "--board", board) / "README.md").read_text()
    assert f"west build -b {old} ." in text and f"`{new}`" in text


def test_structure_zephyr_board(tmp_path):
    project = kinds.create("zephyr", tmp_path / "v2", "--board", "qemu_mps2_an521", "--project-option",
                           "zephyr_board=mps2/an521/cpu0")
    assert '"mps2/an521/cpu0"' in (project / "aotc.json").read_text()


def test_structure_section_of_a_pool(tmp_path):
    project = kinds.create("zephyr", tmp_path / "pools", "--board", "stm32f746g_disco", "--pool", "dtcm:65536")
    assert ('PLACE_dtcm __attribute__((section(".dtcm_noinit")))' in
            (project / "src" / "digits_app_memory.c").read_text())


def test_structure_board_without_zephyr(tmp_path):
    refused = common.aotc("create", kinds.MODELS / "digits_int8.tflite", "--project", "zephyr", "--board", "host", "-o",
                          tmp_path / "refused", expect=None)
    assert refused.returncode != 0 and "[template-board]" in refused.stderr


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


@pytest.mark.parametrize("layout", ["old", "new"])
def test_run_layout(layout, project):
    kinds.check_demo(common.run([build(project, layout, layout=layout) / "app"]))


def test_run_console(app):
    """What Twister sees of a demo that passes, and of one with damaged weights."""
    passes = sample_yaml(app)
    assert all(r.search(common.run([build(app, "new") / "app"])) for r in passes)
    for layer in damage(app):
        text = common.run([build(app, f"damaged_{layer}") / "app"], expect=None).stdout
        expect(f"FAILED: the first layer that differs is {layer}, op " in text,
               f"a damaged weight of layer {layer}:\n{text}")
        expect(not all(r.search(text) for r in passes), "Twister would take it for passed")


def test_run_without_self_test(app):
    text = common.run([build(app, "without", ["CONFIG_DIGITS_MODEL_SELF_TEST=n"]) / "app"])
    assert "self test" not in text and "@aotc done status=0" in text


def test_run_stack_check(app):
    assert "stack_unused=1234" in common.run([build(app, "stack", ["CONFIG_DIGITS_MODEL_STACK_CHECK=y"]) / "app"])


@pytest.mark.parametrize("setting", ["CONFIG_DIGITS_MODEL_TIMING_API=y", "CONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER=y",
                                     'CONFIG_DIGITS_MODEL_ARENA_SECTION=""', "CONFIG_DIGITS_MODEL_SPEED=n"])
def test_run_setting(setting, app):
    kinds.check_demo(common.run([build(app, "setting", [setting]) / "app"]))


def test_run_region(project):
    folder = build(project, "region", ['CONFIG_DIGITS_MODEL_TABLES_REGION="PSRAM"',
                                       'CONFIG_DIGITS_MODEL_TABLES_SECTION=".tables"'])
    assert ((folder / "linker_sources.txt").read_text() ==
            "SECTIONS: digits_tables : { KEEP(*(.tables)) } > PSRAM\n")


def test_run_floats(tmp_path):
    floats = create(tmp_path, "zephyr", "floats", model="digits_f32")
    kinds.check_demo(common.run([build(floats, "new") / "app"]), "digits_f32")


@pytest.fixture(params=["rows", "frames", "slices"])
def fed(request, tmp_path):
    """A model whose input is fed by rows, and one that takes frames, whole and in slices: options, the model, and how many
    results the example has."""
    if request.param == "rows":
        return ["--input", "rows"], "digits_int8", 3
    sliced = ["--slice", "2000"] if request.param == "slices" else []
    return ["--stream", "time", *sliced], kinds.frames_model(tmp_path), kinds.results_of_frames(2)


@pytest.mark.parametrize("kind", ["zephyr", "zephyr_module"])
def test_run_fed(kind, fed, tmp_path):
    """The examples of feeding: their results are those of a run, and it is seen when they are not."""
    options, model, results = fed
    project = create(tmp_path, kind, f"{kind}_fed", *options, model=model)
    text = common.run([build(project, "fed", sample=is_module(project)) / "app"])
    assert "self test: bit-exact" in text and "@aotc done status=0" in text
    kinds.check_fed(text, results)
    if results == 3:
        kinds.check_demo(text)
    kinds.feed_wrongly(project)
    kinds.check_fed_wrongly(common.run([build(project, "fed", sample=is_module(project)) / "app"]))


def test_run_shell(project):
    command = "digits" if is_module(project) else "model"
    text = common.run([build(project, "shell", ["CONFIG_DIGITS_MODEL_SHELL=y",
                                                "CONFIG_DIGITS_MODEL_STACK_CHECK=y"]) / "app"])
    kinds.check_demo(text[:text.index("> ")])
    for name, result in (("run", r"self test: bit-exact[^>]*done status=0\nstack: 1234 bytes"),
                         ("self_test", r"passed: (\d+) results of layers, \1 of them to the bit\n"),
                         ("profile", r"0: \d+ cycles  op 0 [^>]*\n1: \d+ cycles  op 1 ")):
        expect(re.search(rf"> {command} {name}\n[^>]*{result}[^>]*= 0\n", text),
               f"the command {command} {name}:\n{text}")
    expect("no shell: " not in text, "a command that writes to no shell")


ARM = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"]


@pytest.mark.parametrize("layout", ["old", "new"])
def test_cross(layout, project):
    """The arena lies in its section, the model is compiled as it was made, nothing is warned of."""
    common.require(ARM[0])
    folder = build(project, f"arm_{layout}", layout=layout, compiler=ARM)
    [memory] = folder.rglob("*digits_app_memory.c.o*")
    assert re.search(r"\.noinit\s+[0-9a-f]+ arena", common.run(["arm-none-eabi-objdump", "-t", memory]))
    commands = (folder / "build.ninja").read_text()
    for source in ("model/digits.c", "model/digits_data.c", "src/digits_app_self_test.c"):
        rule = re.search(rf"^build \S+: C_COMPILER\S+ \S*{source}.*?FLAGS = ([^\n]*)", commands, re.S | re.M)
        expect(rule and "-Os" in rule[1] and rule[1].rindex("-O2") > rule[1].rindex("-Os") and
               "-ffp-contract=off" in rule[1], f"flags of {source}: {rule and rule[1]}")


def test_cross_shell(project):
    common.require(ARM[0])
    build(project, "arm_shell", ["CONFIG_DIGITS_MODEL_SHELL=y", "CONFIG_DIGITS_MODEL_TIMING_API=y",
                                 "CONFIG_DIGITS_MODEL_STACK_CHECK=y"], compiler=ARM)


@pytest.mark.parametrize("kind", ["zephyr", "zephyr_module"])
def test_cross_fed(kind, fed, tmp_path):
    common.require(ARM[0])
    options, model, _ = fed
    build(create(tmp_path, kind, f"{kind}_fed", *options, model=model), "arm", compiler=ARM,
          sample=kind == "zephyr_module")


def test_clock(module, tmp_path):
    program = tmp_path / "clock"
    common.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-I", HERE, "-I",
                HERE / "include" / "new", "-I", module / "src", "-I", module / "model",
                "-DCONFIG_SYS_CLOCK_TICKS_PER_SEC=100",
                f'-DSOURCE="{module}/src/digits_zephyr.c"', HERE / "clock.c", "-o", program])
    print(common.run([program]).strip())


# --- aotc run ------------------------------------------------------------------------------------


@pytest.fixture
def on_mps2(tmp_path):
    """(project, folder where a test puts tools, PATH with it)"""
    project, tools = kinds.create("zephyr", tmp_path / "project", "--board", "qemu_mps2_an385"), tmp_path / "tools"
    tools.mkdir()
    return project, tools, {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}


def write_tool(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("status, code", [(0, 0), (-1, 6)])
def test_aotc_run(status, code, on_mps2):
    """An emulator that never ends is ended with the demo; a failed demo is a failure."""
    project, tools, path = on_mps2
    image = project / "build" / "zephyr" / "zephyr.elf"
    image.parent.mkdir(parents=True)
    image.write_text("")
    write_tool(tools / "qemu-system-arm", f"echo hello\necho '@aotc done status={status}'\nsleep 3000")
    done = common.aotc("run", project, expect=code, timeout=600, env=path)
    assert code != 0 or "hello" in done


def test_aotc_run_west_fails(on_mps2):
    project, tools, path = on_mps2
    write_tool(tools / "west", 'echo west "$@" >&2\nexit 1')
    done = common.aotc("build", project, expect=None, env=path)
    assert done.returncode == 1 and "west build -b mps2_an385" in done.stderr


def test_aotc_run_without_west(on_mps2):
    project, tools, _ = on_mps2
    done = common.aotc("build", project, expect=None, env={"PATH": str(tools)})
    assert done.returncode == 5 and "'west' is not installed" in done.stderr and "apt-get" not in done.stderr
