#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--project cmake: built with gcc and clang, its demo run, the library consumed by add_subdirectory,
FetchContent and find_package, as a shared library and as part of one, and built for boards by its
preset and by a toolchain file.

Usage: cmake_kind.py --work DIR
"""
import argparse
import json
import pathlib
import shutil

import kinds
from kinds import common

WAYS = {
    "add_subdirectory": 'add_subdirectory("@LIBRARY@" digits)',
    "fetch_content": 'include(FetchContent)\n'
                     'FetchContent_Declare(digits SOURCE_DIR "@LIBRARY@")\n'
                     'FetchContent_MakeAvailable(digits)',
    "find_package": "find_package(digits 2 REQUIRED)\n"
                    'if(NOT digits_VERSION VERSION_EQUAL 2.1)\n'
                    '  message(FATAL_ERROR "version ${digits_VERSION}")\nendif()',
}
CONSUMER = """cmake_minimum_required(VERSION 3.15)
project(consumer C)
@WAY@
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE digits::app)
add_executable(model_only model_only.c)
target_link_libraries(model_only PRIVATE digits::digits)
# What the library asks of those who use it: where its headers are, nothing of the processor.
foreach(property INTERFACE_COMPILE_OPTIONS INTERFACE_LINK_OPTIONS)
  get_target_property(found digits::digits ${property})
  if(found)
    message(FATAL_ERROR "the library forces ${property} ${found}")
  endif()
endforeach()
"""
MODEL_ONLY = """#include "digits.h"
static uint8_t arena[DIGITS_ARENA_SIZE + DIGITS_ARENA_ALIGN];
int main(void) { return arena[0] == 0 && DIGITS_INPUT_COUNT == 1 ? 0 : 1; }
"""
# The model inside a shared library of the consumer's, which a program loads.
PLUGIN = """cmake_minimum_required(VERSION 3.15)
project(plugin_user C)
set(CMAKE_C_VISIBILITY_PRESET hidden)
@WAY@
add_library(plugin SHARED plugin.c)
target_link_libraries(plugin PRIVATE digits::app)
target_link_options(plugin PRIVATE -Wl,--no-undefined -Wl,-z,text)
add_executable(consumer start.c)
target_link_libraries(consumer PRIVATE plugin)
"""
PLUGIN_C = """#define main plugin_main
__attribute__((visibility("default"))) int main(void);
#include "consumer.c"
"""
START_C = """int plugin_main(void);
int main(void) { return plugin_main(); }
"""
CACHE = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []


def cmake(*arguments, **options):
    return common.run(["cmake", *arguments], **options)


def clean_build(source, build, *options):
    """Configures and builds; a warning of CMake or of the compiler fails."""
    shutil.rmtree(build, ignore_errors=True)
    text = cmake("-S", source, "-B", build, "-G", "Ninja", *CACHE, *options, cwd=source)
    text += cmake("--build", build, "-j", "2")
    if "warning" in text.lower():
        raise common.Failure(f"a warning:\n{text}")
    return text


def native(work):
    for model, compiler in (("digits_int8", "gcc"), ("digits_int8", "clang-19"), ("digits_f32", "gcc")):
        common.require(compiler)
        project = kinds.create("cmake", work / f"{model}_{compiler}" / "lib", model=model)
        build = work / f"{model}_{compiler}" / "build"
        clean_build(project, build, "--preset", "default", f"-DCMAKE_C_COMPILER={compiler}",
                    "-Wdev", "-DCMAKE_C_FLAGS=-Werror")
        kinds.check_demo(common.run([build / "digits_demo"]), model)
        cmake("-E", "env", "ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error")
        print(f"{model} with {compiler}: demo as LiteRT's")


def consumers(work):
    library = kinds.create("cmake", work / "consumed", "--project-option", "version=2.1")
    prefix = work / "prefix"
    clean_build(library, work / "consumed_build")
    shutil.rmtree(prefix, ignore_errors=True)
    cmake("--install", work / "consumed_build", "--prefix", prefix)
    installed = sorted(kinds.files_of(prefix))
    for way, text in WAYS.items():
        folder = common.fresh(work / way)
        (folder / "CMakeLists.txt").write_text(
            CONSUMER.replace("@WAY@", text).replace("@LIBRARY@", str(library)))
        shutil.copy(kinds.HERE / "consumer.c", folder)
        (folder / "model_only.c").write_text(MODEL_ONLY)
        clean_build(folder, folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        said = kinds.check_consumer(folder / "build" / "consumer")
        common.run([folder / "build" / "model_only"])
        # Beside somebody else's project there is no demo and nothing to install.
        if list((folder / "build").rglob("digits_demo*")):
            raise common.Failure(f"{way}: the demo was built in a project of somebody else")
        print(f"{way}: {said}")
    print(f"installed: {' '.join(installed)}")


def wrong_version(work):
    """The package of version 2.1 is not for those who ask for 1 or 3."""
    for version in ("1", "3", "2.5"):
        folder = common.fresh(work / f"wants_{version}")
        (folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.15)\nproject(x C)\nfind_package(digits {version} REQUIRED)\n")
        done = cmake("-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={work / 'prefix'}",
                     expect=None)
        if done.returncode == 0 or "compatible" not in done.stderr:
            raise common.Failure(f"version 2.1 was taken for {version}: {done.stderr}")


def shared(work):
    """The model as a shared library and as part of one: in the consumer's build, and installed."""
    library = work / "consumed"
    prefix = work / "shared_prefix"
    clean_build(library, work / "shared_build", "-DBUILD_SHARED_LIBS=ON")
    shutil.rmtree(prefix, ignore_errors=True)
    cmake("--install", work / "shared_build", "--prefix", prefix)
    kinds.check_demo(common.run([work / "shared_build" / "digits_demo"]))
    for name, way, built in (("static_in_tree", "add_subdirectory", "OFF"),
                             ("shared_in_tree", "add_subdirectory", "ON"),
                             ("shared_installed", "find_package", "OFF")):
        folder = common.fresh(work / name)
        (folder / "CMakeLists.txt").write_text(
            PLUGIN.replace("@WAY@", WAYS[way]).replace("@LIBRARY@", str(library)))
        shutil.copy(kinds.HERE / "consumer.c", folder)
        (folder / "plugin.c").write_text(PLUGIN_C)
        (folder / "start.c").write_text(START_C)
        clean_build(folder, folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DBUILD_SHARED_LIBS={built}")
        said = kinds.check_consumer(folder / "build" / "consumer")
        needed = "libdigits.so.2" in common.run(["readelf", "-d", folder / "build" / "libplugin.so"])
        if needed != name.startswith("shared"):
            raise common.Failure(f"{name}: whether the plugin needs libdigits.so.2 is {needed}")
        print(f"{name}, in a shared library: {said}")


def optimised(work):
    """-O2 where nobody says otherwise, and nowhere else; the build type is left to the user."""
    library = work / "consumed"
    for number, (options, project, wanted) in enumerate((
            ([], "", ["-O2"]),
            (["-DCMAKE_BUILD_TYPE=Debug"], "", []),
            (["-DCMAKE_BUILD_TYPE=MinSizeRel"], "", ["-Os"]),
            (["-DCMAKE_C_FLAGS=-Os"], "", ["-Os"]),
            ([], "add_compile_options(-g -Og)", ["-Og"]))):
        folder = common.fresh(work / f"optimised_{number}")
        (folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.15)\nproject(x C)\n{project}\n"
            f"{WAYS['add_subdirectory'].replace('@LIBRARY@', str(library))}\n"
            'if(CMAKE_BUILD_TYPE AND NOT CMAKE_BUILD_TYPE MATCHES "Debug|MinSizeRel")\n'
            "  message(FATAL_ERROR \"build type ${CMAKE_BUILD_TYPE}\")\nendif()\n")
        cmake("-S", folder, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)
        for entry in json.loads((folder / "build" / "compile_commands.json").read_text()):
            found = [word for word in entry["command"].split() if word.startswith("-O")]
            if found != wanted:
                raise common.Failure(f"{options} {project}: {entry['file']} is compiled with {found}, not {wanted}")
    print("-O2 without a build type, the user's level otherwise")


def options(work):
    library = kinds.create("cmake", work / "options")
    build = work / "options_build"
    clean_build(library, build, "-DDIGITS_SELF_TEST=OFF", "-DDIGITS_ARENA_SECTION=.somewhere")
    text = common.run(["objdump", "-h", build / "libdigits_app.a"])
    if ".somewhere" not in text:
        raise common.Failure("the arena is in no section of its own")
    symbols = common.run(["nm", build / "libdigits_app.a"])
    if "digits_run_traced" in symbols or "digits_port_now" not in symbols:
        raise common.Failure("SELF_TEST=OFF keeps the traced copy")
    clean_build(library, build, "-DDIGITS_APP=OFF")
    if (build / "libdigits_app.a").exists() or not (build / "libdigits.a").exists():
        raise common.Failure("DIGITS_APP=OFF does not leave the model alone")


def boards(work):
    """By the preset of the board, and without it by a toolchain file, whose flags decide."""
    for board in ("qemu_mps2_an386", "qemu_mps3_an547", "qemu_riscv32"):
        data = common.board(board)
        common.require(data["toolchain"]["compiler"])
        library = kinds.create("cmake", work / board, "--board", board)
        clean_build(library, work / f"{board}_preset", "--preset", "default", "-DCMAKE_C_FLAGS_INIT=-Werror")
        common.aotc("build", library, "--quiet")
        kinds.check_not_run(library)
        toolchain = work / f"{board}.cmake"
        toolchain.write_text(
            "set(CMAKE_SYSTEM_NAME Generic)\n"
            f"set(CMAKE_C_COMPILER {data['toolchain']['compiler']})\n"
            f"set(CMAKE_C_FLAGS_INIT \"{' '.join(data['toolchain']['cflags'])} -Werror -DMARK_OF_THE_USER\")\n"
            "set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\n")
        build = work / f"{board}_toolchain"
        clean_build(library, build, f"-DCMAKE_TOOLCHAIN_FILE={toolchain}")
        if "MARK_OF_THE_USER" not in (build / "build.ninja").read_text():
            raise common.Failure("the flags of the toolchain file are not used")
        print(f"{board}: builds by preset, by 'aotc build' and by a toolchain file")


def commands(work):
    """aotc build and run know the kind."""
    project = kinds.create("cmake", work / "a folder with 'quotes'", "--board", "host")
    common.aotc("build", project, "--quiet")
    text = common.aotc("run", project)
    if "bit-exact" not in text:
        raise common.Failure(f"aotc run printed:\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work.resolve())
    native(work)
    consumers(work)
    wrong_version(work)
    shared(work)
    optimised(work)
    options(work)
    boards(work)
    commands(work)


if __name__ == "__main__":
    common.main_of(main)
