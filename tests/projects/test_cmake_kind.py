# SPDX-License-Identifier: Apache-2.0
"""--project cmake: built with gcc and clang, its demo run, the library consumed by add_subdirectory,
FetchContent and find_package, as a shared library and as part of one, and built for boards by its
preset and by a toolchain file."""
import json
import shutil

from kinds import common
import kinds
import pytest

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
    text = cmake("-S", source, "-B", build, "-G", "Ninja", *CACHE, *options, cwd=source)
    text += cmake("--build", build, "-j", "2")
    if "warning" in text.lower():
        raise common.Failure(f"a warning:\n{text}")
    return text


@pytest.mark.parametrize("model, compiler", [("digits_int8", "gcc"), ("digits_int8", "clang-19"), ("digits_f32", "gcc")])
def test_native(model, compiler, tmp_path):
    common.require(compiler)
    project = kinds.create("cmake", tmp_path / "lib", model=model)
    build = tmp_path / "build"
    clean_build(project, build, "--preset", "default", f"-DCMAKE_C_COMPILER={compiler}", "-Wdev", "-DCMAKE_C_FLAGS=-Werror")
    kinds.check_demo(common.run([build / "digits_demo"]), model)
    cmake("-E", "env", "ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return kinds.create("cmake", tmp_path_factory.mktemp("library") / "consumed", "--project-option", "version=2.1")


@pytest.fixture(scope="module")
def prefix(library, tmp_path_factory):
    """Where the library is installed."""
    work = tmp_path_factory.mktemp("installed")
    clean_build(library, work / "build")
    cmake("--install", work / "build", "--prefix", work / "prefix")
    return work / "prefix"


def in_project(folder, text, way, library):
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(text.replace("@WAY@", WAYS[way]).replace("@LIBRARY@", str(library)))
    shutil.copy(kinds.HERE / "consumer.c", folder)
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_consumer(way, library, prefix, tmp_path):
    folder = in_project(tmp_path / "consumer", CONSUMER, way, library)
    (folder / "model_only.c").write_text(MODEL_ONLY)
    clean_build(folder, folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    kinds.check_consumer(folder / "build" / "consumer")
    common.run([folder / "build" / "model_only"])
    # Beside somebody else's project there is no demo and nothing to install.
    assert not list((folder / "build").rglob("digits_demo*"))


@pytest.mark.parametrize("version", ["1", "3", "2.5"])
def test_wrong_version(version, prefix, tmp_path):
    """The package of version 2.1 is not for those who ask for another one."""
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.15)\nproject(x C)\nfind_package(digits {version} REQUIRED)\n")
    done = cmake("-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", expect=None)
    assert done.returncode != 0 and "compatible" in done.stderr


@pytest.fixture(scope="module")
def shared_prefix(library, tmp_path_factory):
    """Where the library is installed as a shared one."""
    work = tmp_path_factory.mktemp("shared")
    clean_build(library, work / "build", "-DBUILD_SHARED_LIBS=ON")
    cmake("--install", work / "build", "--prefix", work / "prefix")
    kinds.check_demo(common.run([work / "build" / "digits_demo"]))
    return work / "prefix"


@pytest.mark.parametrize("way, built, is_shared", [("add_subdirectory", "OFF", False), ("add_subdirectory", "ON", True),
                                                   ("find_package", "OFF", True)])
def test_in_a_shared_library(way, built, is_shared, library, shared_prefix, tmp_path):
    """The model as a shared library and as part of one: in the consumer's build, and installed."""
    folder = in_project(tmp_path / "plugin", PLUGIN, way, library)
    (folder / "plugin.c").write_text(PLUGIN_C)
    (folder / "start.c").write_text(START_C)
    clean_build(folder, folder / "build", f"-DCMAKE_PREFIX_PATH={shared_prefix}", f"-DBUILD_SHARED_LIBS={built}")
    kinds.check_consumer(folder / "build" / "consumer")
    needed = "libdigits.so.2" in common.run(["readelf", "-d", folder / "build" / "libplugin.so"])
    assert needed == is_shared


@pytest.mark.parametrize("options, project, wanted", [
    ([], "", ["-O2"]),
    (["-DCMAKE_BUILD_TYPE=Debug"], "", []),
    (["-DCMAKE_BUILD_TYPE=MinSizeRel"], "", ["-Os"]),
    (["-DCMAKE_C_FLAGS=-Os"], "", ["-Os"]),
    ([], "add_compile_options(-g -Og)", ["-Og"])], ids=["none", "debug", "size", "flags", "project"])
def test_optimised(options, project, wanted, library, tmp_path):
    """-O2 where nobody says otherwise, and nowhere else; the build type is left to the user."""
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.15)\nproject(x C)\n{project}\n"
        f"{WAYS['add_subdirectory'].replace('@LIBRARY@', str(library))}\n"
        'if(CMAKE_BUILD_TYPE AND NOT CMAKE_BUILD_TYPE MATCHES "Debug|MinSizeRel")\n'
        "  message(FATAL_ERROR \"build type ${CMAKE_BUILD_TYPE}\")\nendif()\n")
    build = tmp_path / "build"
    cmake("-S", tmp_path, "-B", build, "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        assert [word for word in entry["command"].split() if word.startswith("-O")] == wanted, entry["file"]


def test_options(tmp_path):
    library, build = kinds.create("cmake", tmp_path / "library"), tmp_path / "build"
    clean_build(library, build, "-DDIGITS_SELF_TEST=OFF", "-DDIGITS_ARENA_SECTION=.somewhere")
    assert ".somewhere" in common.run(["objdump", "-h", build / "libdigits_app.a"])
    symbols = common.run(["nm", build / "libdigits_app.a"])
    assert "digits_run_traced" not in symbols and "digits_port_now" in symbols


def test_model_alone(tmp_path):
    build = tmp_path / "build"
    clean_build(kinds.create("cmake", tmp_path / "library"), build, "-DDIGITS_APP=OFF")
    assert not (build / "libdigits_app.a").exists() and (build / "libdigits.a").exists()


BOARDS = ["qemu_mps2_an386", "qemu_mps3_an547", "qemu_riscv32"]


@pytest.mark.parametrize("board", BOARDS)
def test_board_by_preset(board, tmp_path):
    common.require(common.board(board)["toolchain"]["compiler"])
    library = kinds.create("cmake", tmp_path / "library", "--board", board)
    clean_build(library, tmp_path / "build", "--preset", "default", "-DCMAKE_C_FLAGS_INIT=-Werror")
    common.aotc("build", library, "--quiet")
    kinds.check_not_run(library)


@pytest.mark.parametrize("board", BOARDS)
def test_board_by_toolchain_file(board, tmp_path):
    """The file's flags decide."""
    toolchain, build, file = common.board(board)["toolchain"], tmp_path / "build", tmp_path / "board.cmake"
    common.require(toolchain["compiler"])
    library = kinds.create("cmake", tmp_path / "library", "--board", board)
    file.write_text("set(CMAKE_SYSTEM_NAME Generic)\n"
                    f"set(CMAKE_C_COMPILER {toolchain['compiler']})\n"
                    f"set(CMAKE_C_FLAGS_INIT \"{' '.join(toolchain['cflags'])} -Werror -DMARK_OF_THE_USER\")\n"
                    "set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\n")
    clean_build(library, build, f"-DCMAKE_TOOLCHAIN_FILE={file}")
    assert "MARK_OF_THE_USER" in (build / "build.ninja").read_text()


def test_build_and_run(tmp_path):
    project = kinds.create("cmake", tmp_path / "a folder with 'quotes'", "--board", "host")
    common.aotc("build", project, "--quiet")
    assert "bit-exact" in common.aotc("run", project)
