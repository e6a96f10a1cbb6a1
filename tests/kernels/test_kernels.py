# SPDX-License-Identifier: Apache-2.0
"""Every microkernel's assembly against its C, on an emulated Cortex-M4. The C calls intrinsics, but for `gcc_O0`."""
import pathlib
import re
import shutil
import subprocess

import common
import pytest

HERE = pathlib.Path(__file__).resolve().parent
E2E = common.ROOT / "tests" / "e2e"
GCC = "arm-none-eabi-gcc"
CORE = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
# What compiles the kernels; the rest of the program is always gcc's.
COMPILERS = {"gcc": [GCC, *CORE], "clang": ["clang-19", "--target=thumbv7em-none-eabihf", *CORE, "-ffreestanding"]}
VARIANTS = {f"{name}_O{level}": [*command, f"-O{level}"] for name, command in COMPILERS.items() for level in "0123s"}
VARIANTS["gcc_O0"] += ["-fstack-protector-all", "-U__ARM_FEATURE_SIMD32"]
EMULATOR = ["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor", "none", "-serial",
            "none", "-semihosting-config", "enable=on,target=native,chardev=out", "-chardev",
            "stdio,id=out", "-kernel"]


@pytest.fixture(scope="module")
def source(build_folder, tmp_path_factory):
    """The kernels, and their cases, as C."""
    path = tmp_path_factory.mktemp("kernels") / "kernels.c"
    common.run([build_folder / "tests" / "emit_kernels", path])
    return path


@pytest.mark.parametrize("variant", VARIANTS)
def test_kernels(variant, source, tmp_path, record_property):
    missing = {tool for tool in (GCC, EMULATOR[0], VARIANTS[variant][0]) if shutil.which(tool) is None}
    if missing:
        common.missing(f"not installed: {', '.join(sorted(missing))}; scripts/setup installs them")
    made, image = tmp_path / "kernels.o", tmp_path / "kernels.elf"
    macros = subprocess.run([*VARIANTS[variant], "-I", HERE, "-E", "-dM", source], check=True, capture_output=True,
                            text=True).stdout
    assert ("#define C_ACLE" in macros) == ("-U__ARM_FEATURE_SIMD32" not in VARIANTS[variant])
    common.run([*VARIANTS[variant], *STRICT, "-I", HERE, "-c", source, "-o", made])
    common.run([GCC, *CORE, *STRICT, "-O2", "-I", HERE, HERE / "main.c", E2E / "cortex_m4_start.c", made, "--specs=rdimon.specs",
                "-T", E2E / "cortex_m4.ld", "-o", image])
    text = common.run_program([*EMULATOR, image])
    found = re.search(r"^(\d+) passed, 0 failed$", text, re.M)
    assert found and int(found[1]) > 0, text
    record_property("cases", int(found[1]))
