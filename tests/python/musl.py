#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package in a root of musl's C library: installed by pip there, and used.

Usage: musl.py --work DIR

Python itself is built for musl from Debian's sources (musl-gcc is of the package musl-tools), which takes three
minutes of CPU once for each DIR; numpy is the wheel of PyPI. Needs root, for chroot. What the network computes there is
compared with LiteRT's reference kernels, which run outside. Not part of scripts/test: see tests/reliability/lanes.py.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import package  # noqa: E402
from package import MODELS, common, run  # noqa: E402

INSIDE = """
import os, sys
import numpy as np
import aotc
assert not os.path.exists("/lib/x86_64-linux-gnu") and "musl" in sys.implementation._multiarch, sys.implementation
m = aotc.compile("/digits.tflite", cpu="cortex-m4f")
assert m.report().data["arena_bytes"] == m.arena > 0 and "digits.c" in m.files
x = np.load("/inputs.npy")
assert np.array_equal(m(x, raw=True), np.load("/outputs.npy"))
try:
    m.verify("qemu_mps2_an386")
except aotc.ToolMissingError as error:
    assert "apt-get install" in str(error), error
else:
    raise SystemExit("verified without a cross compiler")
try:
    aotc.compile(b"nonsense")
except aotc.ModelError as error:
    assert error.slug == "model-format", error
print("used", len(x), "inputs, arena of", m.arena, "bytes")
"""


def sources(work):
    """Debian's source packages, unpacked: the folders of Python, zlib and libffi."""
    made = common.fresh(work / "sources")
    (made / "lists/partial").mkdir(parents=True)
    (made / "cache").mkdir()
    (made / "list").write_text("deb-src http://deb.debian.org/debian bookworm main\n")
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::SourceList={made}/list", "-o", "Dir::Etc::SourceParts=/nonexistent",
           "-o", f"Dir::State::Lists={made}/lists", "-o", f"Dir::Cache={made}/cache", "-o", "APT::Sandbox::User=root"]
    run(*apt, "update")
    run(*apt, "source", "--download-only", "python3.11", "zlib", "libffi", cwd=made)
    for archive in made.glob("*.orig.tar.*"):
        if archive.suffix != ".asc":
            run("tar", "xf", archive, cwd=made)
    [python], [zlib], [ffi] = (list(made.glob(f"{name}-*/")) for name in ("Python", "zlib", "libffi"))
    return python, zlib, ffi


def make_compiler(work):
    """musl-gcc with the kernel's headers, which musl leaves to the system; what it says of itself is Debian's C library's."""
    kernel = common.fresh(work / "kernel")
    for name, place in (("linux", "/usr/include/linux"), ("asm-generic", "/usr/include/asm-generic"),
                        ("asm", "/usr/include/x86_64-linux-gnu/asm")):
        (kernel / name).symlink_to(place)
    tools = common.fresh(work / "tools")
    (tools / "musl-cc").write_text(
        '#!/bin/sh\nfor a in "$@"; do case "$a" in -print-multiarch|--print-multiarch) exit 0 ;; esac; done\n'
        f'exec musl-gcc -idirafter "{kernel}" "$@"\n')
    (tools / "dpkg-architecture").write_text("#!/bin/sh\nexit 1\n")  # is asked next, and would name the same headers
    for program in tools.iterdir():
        program.chmod(0o755)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "CC": "musl-cc"}


def build_python(work):
    """work/python: an installation for /python of a root that has musl's libc."""
    done = work / "python"
    if (done / "python/bin/python3").exists():
        return done
    print("musl: building Python", file=sys.stderr)
    python, zlib, ffi = sources(work)
    environment = make_compiler(work)
    jobs = f"-j{os.cpu_count()}"
    run("./configure", "--static", cwd=zlib, env={**environment, "CFLAGS": "-O1 -fPIC"})
    run("make", jobs, "libz.a", cwd=zlib, env=environment)
    run("./configure", "--disable-shared", "--with-pic", "--disable-docs", cwd=ffi, env=environment)
    run("make", jobs, cwd=ffi, env=environment)
    [ffi] = ffi.glob("x86_64*/")
    run("./configure", "--prefix=/python", "--build=x86_64-pc-linux-musl", "--without-static-libpython", "--disable-test-modules",
        cwd=python, env={**environment, "OPT": "-DNDEBUG -fwrapv -O1 -w", "CFLAGS": f"-I{zlib}", "LDFLAGS": f"-L{zlib} -L{ffi}/.libs"})
    make = python / "Makefile"
    make.write_text(re.sub(r"(?m)^LIBFFI_INCLUDEDIR=.*", f"LIBFFI_INCLUDEDIR={ffi}/include", make.read_text()))
    run("make", jobs, cwd=python, env=environment)
    aside = common.fresh(work / "python.new")
    run("make", "install", f"DESTDIR={aside}", cwd=python, env=environment)
    shutil.rmtree(done, ignore_errors=True)
    aside.rename(done)
    return done


def make_root(work):
    root = common.fresh(work / "root")
    shutil.copytree(build_python(work), root, symlinks=True, dirs_exist_ok=True)
    (root / "lib").mkdir(exist_ok=True)
    shutil.copy(pathlib.Path("/lib/ld-musl-x86_64.so.1").resolve(), root / "lib/ld-musl-x86_64.so.1")
    for name in ("tmp", "dev", "etc"):
        (root / name).mkdir(exist_ok=True)
    (root / "dev/null").write_bytes(b"")
    return root


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = parser.parse_args().work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0:
        common.skip("a root of its own needs root")
    if shutil.which("musl-gcc") is None:
        common.skip("musl-gcc is missing: apt-get install musl-tools")
    root, chroot = make_root(work), shutil.which("chroot")

    def inside(*command):
        return run(chroot, root, "/python/bin/python3", *command, env={"PATH": "/python/bin", "HOME": "/tmp"})
    shutil.rmtree(work / "built", ignore_errors=True)
    wheel = package.build_wheel(work)
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--platform", "musllinux_1_1_x86_64",
        "--python-version", "3.11", "-d", root / "wheels", "numpy==1.26.4")  # that of 2.4.6 crashes with Debian's musl
    # One for glibc alone is refused, so that it is the tag for musl that is taken.
    other = root / "wheels" / wheel.name.replace(".musllinux_1_1_x86_64", "")
    shutil.copy(wheel, other)
    assert other.name != wheel.name
    done = subprocess.run([chroot, root, "/python/bin/python3", "-m", "pip", "install", "--no-index", f"/wheels/{other.name}"],
                          env={"HOME": "/tmp"}, capture_output=True, text=True)
    assert done.returncode != 0 and "not a supported wheel" in done.stderr, done
    other.unlink()
    shutil.copy(wheel, root / "wheels")
    inside("-m", "pip", "install", "--quiet", "--no-index", "--root-user-action=ignore",
           *(f"/wheels/{p.name}" for p in (root / "wheels").iterdir()))
    import numpy as np
    path, x, _ = package.digits("int8")
    shutil.copy(path, root / "digits.tflite")
    np.save(root / "inputs.npy", x)
    np.save(root / "outputs.npy", package.reference(MODELS / "digits/digits_int8.tflite", x)[0])
    print(inside("-c", INSIDE).strip())
    print("2 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    common.main_of(main)
