# SPDX-License-Identifier: Apache-2.0
"""--project esp-idf, without ESP-IDF: its manifest, Kconfig and CMake are evaluated, and the example
runs on stand-ins for the few headers of ESP-IDF that it includes."""
import os
import re
import shutil

import kconfiglib
from kinds import common
import kinds
import pytest
import yaml

STANDINS = kinds.HERE / "esp_idf"
RV32IMC = ["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32", "-misa-spec=2.2",
           "--specs=picolibc.specs"]
# Fields of the manifest, by the reference of the component manager.
FIELDS = {"version": str, "description": str, "license": str, "url": str, "repository": str, "maintainers": list,
          "targets": list, "dependencies": dict}
TARGETS = {"esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32h2",
           "esp32p4", "linux"}


def manifest(project):
    data = yaml.safe_load((project / "idf_component.yml").read_text())
    for field, value in data.items():
        if field not in FIELDS or not isinstance(value, FIELDS[field]):
            raise common.Failure(f"idf_component.yml: field {field} is {value!r}")
    if not re.fullmatch(r"\d+\.\d+\.\d+", data["version"]):
        raise common.Failure(f"version {data['version']}")
    if not set(data["targets"]) <= TARGETS or list(data["dependencies"]) != ["idf"]:
        raise common.Failure(f"idf_component.yml: {data}")


def configuration(project, work, psram, **chosen):
    """What the component's Kconfig makes of the choices: {CONFIG_NAME: value}, as CMake sees it."""
    top = work / "Kconfig.top"
    top.write_text("config SPIRAM_ALLOW_BSS_SEG_EXTERNAL_MEMORY\n"
                   f"    bool\n    default {'y' if psram else 'n'}\n"
                   f'source "{project / "Kconfig"}"\n')
    config = kconfiglib.Kconfig(top, warn_to_stderr=False)
    for name, value in chosen.items():
        config.syms[name].set_value(value)
    if config.warnings:
        raise common.Failure(f"Kconfig: {config.warnings}")
    out = {}
    for symbol in config.unique_defined_syms:
        if symbol.config_string:
            out[f"CONFIG_{symbol.name}"] = "" if symbol.str_value == "n" else symbol.str_value
    return out


def registered(project, work, settings, component="component"):
    """CMake evaluates the component's CMakeLists.txt, as that of a folder with a name; what it told the functions
    of ESP-IDF."""
    script = work / "evaluate.cmake"
    settings = {"COMPONENT_NAME": component, "CMAKE_CURRENT_BINARY_DIR": work / f"in_{component}", **settings}
    lines = [f"set({name} [==[{value}]==])" for name, value in settings.items()]
    script.write_text("\n".join(lines) + f'\nset(COMPONENT_LIB the_component)\n'
                      f'include("{STANDINS / "functions.cmake"}")\n'
                      f'include("{project / "CMakeLists.txt"}")\n')
    found = {}
    for line in common.run(["cmake", "-Wdev", "-P", script]).splitlines():
        name, _, value = line.removeprefix("-- ").partition("=")
        found.setdefault(name, []).append(value)
    return found


def check_files(project, found, folder="", component="component"):
    for name in [*found["SRCS"], *found.get("INCLUDE_DIRS", [])]:
        if not (project / folder / name).exists():
            raise common.Failure(f"CMakeLists.txt names {name}, which is not there")
    for name in found.get("LDFRAGMENTS", []):
        text = (project / folder / name).read_text()
        archive = re.search(rf"^archive: lib{component}\.a$", text, re.M)
        objects = re.findall(r"^ +(\w+) \(noflash\)$", text, re.M)
        if not archive or not objects or any(
                not (project / folder / "model" / f"{o}.c").exists() for o in objects):
            raise common.Failure(f"{name} maps objects that are not there:\n{text}")
    sources = {p.relative_to(project / folder).as_posix()
               for p in (project / folder).rglob("*.c") if "examples" not in p.relative_to(project).parts or folder}
    if set(found["SRCS"]) != sources:
        raise common.Failure(f"built are {found['SRCS']}, there are {sources}")


def compiled(project, found, compiler, target, link=True):
    """The component and the example, as the registered flags say, without a warning."""
    main = project / "examples" / "demo" / "main"
    definitions = [f"-D{d}" for scope in ("PUBLIC", "PRIVATE") for d in found.get(scope, [])
                   if not d.startswith("-")]
    options = [o for o in found.get("PRIVATE", []) if o.startswith("-")]
    sources = [project / s for s in found["SRCS"]] + [main / "main.c"]
    includes = [f"-I{project / d}" for d in found["INCLUDE_DIRS"]] + [f"-I{STANDINS}"]
    # ESP-IDF builds with -std=gnu17 or later.
    command = [*compiler, "-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", *options, *definitions,
               *includes, *sources]
    if link:
        return common.run([*command, STANDINS / "start.c", "-lm", "-o", target])
    for source in sources:
        common.run([*compiler, "-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", *options,
                    *definitions, *includes, "-c", source, "-o", target / f"{source.stem}.o"])
    return None


@pytest.fixture
def component(tmp_path):
    common.require("gcc", "cmake", "riscv64-unknown-elf-gcc")
    return kinds.create("esp-idf", tmp_path / "component")


@pytest.mark.parametrize("model", ["digits_int8", "digits_f32"])
def test_example(model, tmp_path):
    """The example prints what LiteRT gives, and it compiles for rv32imc."""
    work, project = tmp_path, kinds.create("esp-idf", tmp_path / "component", model=model)
    manifest(project)
    found = registered(project, work, configuration(project, work, psram=False))
    check_files(project, found)
    check_files(project, registered(project / "examples" / "demo" / "main", work, {}), "examples/demo/main")
    compiled(project, found, ["gcc"], work / "demo")
    text = common.run([work / "demo"])
    kinds.check_demo(text, model)
    if "microseconds" not in text:
        raise common.Failure("the demo tells no microseconds")
    compiled(project, found, RV32IMC, common.fresh(work / "rv32imc"), link=False)


def test_names(tmp_path):
    """Whatever the component's folder is called, its fragment is for its archive; the example finds it; fields of
    the manifest that an option gives."""
    work = tmp_path
    given = {"url": "https://example.org/digits", "repository": "https://example.org/digits.git",
             "maintainer": 'Ada "A" Lovelace <ada@example.org>'}
    project = kinds.create("esp-idf", work / "named", "--license", "MIT", "--project-option", "version=1.2.3",
                           *(x for name, value in given.items() for x in ("--project-option", f"{name}={value}")))
    manifest(project)
    data = yaml.safe_load((project / "idf_component.yml").read_text())
    wanted = (given["url"], given["repository"], [given["maintainer"]], "MIT", "1.2.3")
    if (data["url"], data["repository"], data["maintainers"], data["license"], data["version"]) != wanted:
        raise common.Failure(f"idf_component.yml: {data}")
    for component in ("digits", "ada__digits", "other-name"):
        found = registered(project, work, configuration(project, work, psram=False), component)
        check_files(project, found, component=component)
    early = registered(project, work, {"CMAKE_BUILD_EARLY_EXPANSION": "1"})
    if "LDFRAGMENTS" in early:
        raise common.Failure("a fragment is made where nothing is built")
    main = project / "examples" / "demo" / "main"
    wants = yaml.safe_load((main / "idf_component.yml").read_text())["dependencies"]
    if list(wants) != ["digits"] or (main / wants["digits"]["override_path"]).resolve() != project:
        raise common.Failure(f"the example does not find the component: {wants}")
    compote(project, work)


def compote(project, work):
    """The component manager's own judgement, where it is installed (PyPI: idf-component-manager)."""
    program = shutil.which("compote")
    if program is None:
        return
    copy = common.fresh(work / "packed") / "digits"
    shutil.copytree(project, copy)
    environment = {**os.environ, "IDF_COMPONENT_LOCAL_STORAGE_URL": ""}
    common.run([program, "component", "pack", "--name", "digits"], cwd=copy, env=environment)
    archives = list(copy.glob("dist/*.tgz"))
    if [a.name for a in archives] != ["digits_1.2.3.tgz"]:
        raise common.Failure(f"compote packed {archives}")
    print(f"compote component pack: {archives[0].name}")


def test_choices(component, tmp_path):
    """Every choice of Kconfig reaches the compiler."""
    project, work = component, tmp_path
    external = {"DIGITS_ARENA_EXTERNAL": "y"}
    found = registered(project, work, configuration(project, work, psram=True, **external))
    if not any(".ext_ram.bss" in d for d in found["PRIVATE"]):
        raise common.Failure(f"the arena is not in PSRAM: {found}")
    compiled(project, found, RV32IMC, common.fresh(work / "psram"), link=False)
    if ".ext_ram.bss" not in common.run(["riscv64-unknown-elf-objdump", "-h",
                                         work / "psram" / "digits_app_memory.o"]):
        raise common.Failure("the arena's section is not in the object file")
    if "CONFIG_DIGITS_ARENA_EXTERNAL" in {
            k for k, v in configuration(project, work, psram=False, **external).items() if v}:
        raise common.Failure("PSRAM can be chosen on a chip without it")
    other = {"DIGITS_ARENA_OTHER": "y", "DIGITS_ARENA_SECTION": ".rtc.bss"}
    found = registered(project, work, configuration(project, work, psram=False, **other))
    if not any('".rtc.bss"' in d for d in found["PRIVATE"]):
        raise common.Failure(f"the arena is not in the section: {found}")
    found = registered(project, work, configuration(project, work, psram=False, DIGITS_SELF_TEST="n",
                                                    DIGITS_OPTIMIZE="n"))
    if found["PUBLIC"] != ["DIGITS_SELF_TEST=0"] or "-O2" in found["PRIVATE"]:
        raise common.Failure(f"self test and optimisation cannot be switched off: {found}")
    compiled(project, found, ["gcc"], work / "no_test")
    if "self test" in common.run([work / "no_test"]):
        raise common.Failure("the self test is still there")
