# SPDX-License-Identifier: Apache-2.0
"""`cmake --install` and `cpack`: what they put where, and that it runs from there."""
import pathlib
import re
import subprocess

import common
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise common.Failure(f"{' '.join(map(str, command))}: {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def commands_of(program):
    listed = run(program, "--help").split("Commands:\n")[1].split("\nOptions:")[0]
    return re.findall(r"^  ([a-z-]+)", listed, re.M)


def check_tree(usr):
    """The program runs where it lies, and says of every command what it says itself."""
    program = usr / "bin/aotc"
    commands = commands_of(program)
    assert len(commands) > 15, commands
    pages = {p.name for p in (usr / "share/man/man1").iterdir()}
    assert pages == {"aotc.1", *(f"aotc-{c}.1" for c in commands)}, pages
    for command in commands:
        text = (usr / f"share/man/man1/aotc-{command}.1").read_text()
        assert text.startswith(f".TH AOTC-{command.upper()} 1") or text.startswith(".TH "), text[:60]
    for shell, file in (("bash", "bash-completion/completions/aotc"), ("zsh", "zsh/vendor-completions/_aotc"),
                        ("fish", "fish/vendor_completions.d/aotc.fish")):
        assert (usr / "share" / file).read_text() == run(program, "completion", shell), shell
    run("bash", "-n", usr / "share/bash-completion/completions/aotc")
    assert "Apache-2.0" in (usr / "share/doc/aotc/copyright").read_text()
    return len(commands)


@pytest.fixture(scope="module")
def tools():
    common.require("cmake", "cpack", "dpkg-deb", "dpkg-shlibdeps")


@pytest.fixture(scope="module")
def packages(tools, build_folder, tmp_path_factory):
    """Debian packages by name."""
    folder = tmp_path_factory.mktemp("packages")
    run("cpack", "-B", folder, cwd=build_folder)
    return {p.name.split("_")[0]: p for p in folder.glob("*.deb")}


def test_install(tools, build_folder, tmp_path, record_property):
    run("cmake", "--install", build_folder, "--prefix", tmp_path / "usr", "--component", "runtime")
    record_property("cases", check_tree(tmp_path / "usr"))


def test_package(packages, tmp_path):
    package, work = packages["aotc"], tmp_path
    fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "--field", package).splitlines() if ": " in line)
    assert fields["Package"] == "aotc" and "libc6" in fields["Depends"] and "gcc" in fields["Recommends"], fields
    assert "clang" not in fields["Depends"] and "LLVM" not in fields["Depends"], fields["Depends"]
    run("dpkg-deb", "--extract", package, work / "unpacked")
    check_tree(work / "unpacked/usr")
    # Boards, templates and the C runtime are in the program: the first firmware needs nothing of this repository.
    model = ROOT / "tests/models/digits/digits_int8.tflite"
    run(work / "unpacked/usr/bin/aotc", "create", model, "--board", "host", "-o", work / "app", cwd=work)
    run(work / "unpacked/usr/bin/aotc", "verify", work / "app", cwd=work)


def test_package_analyze(packages, build_folder):
    """Clang's libraries are what aotc-analyze needs, and nothing else does."""
    if not (build_folder / "compiler/aotc-analyze").exists():
        common.skip("aotc-analyze is not built")
    assert "libllvm19" in run("dpkg-deb", "--field", packages["aotc-analyze"], "Depends").lower()
