# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/cli.md, the man pages and the completions, compared with the program."""
import functools
import os
import re
import shutil
import subprocess

import common
import manual
import pytest


@functools.cache
def help_of(*path):
    return common.aotc("help", *path)


def commands_of(path=()):
    """Every path of subcommands, as help lists them."""
    yield path
    if path == ("analyze", "signatures"):
        return  # help is aotc-analyze's
    listed = re.search(r"^Commands:\n((?:  .*\n)*)", help_of(*path), re.M)
    for line in listed[1].splitlines() if listed else []:
        if re.match(r"  \S", line):
            yield from commands_of((*path, line.split()[0]))


def test_tables_are_those_of_the_program():
    assert manual.split_page()[1] == help_of("--markdown"), "run tests/cli/manual.py --write"


def test_every_command_is_described():
    paths = [p for p in commands_of() if p]
    assert len(paths) >= 25
    head = manual.split_page()[0]
    for path in paths:
        assert f"`{path[0]}" in head, "in the table of commands in docs/cli.md"
        if path == ("analyze", "signatures"):
            continue
        said = help_of(*path)
        assert said == common.aotc(*path, "--help")
        long = [line for line in said.splitlines() if len(line) > 80 and " " in line.strip()[:60]]
        assert all(line.startswith(("Usage:", "  -")) for line in long), f"wide lines in the help of {path}"


def test_man_pages_are_well_formed():
    for path in commands_of():
        page = common.aotc("man", *path)
        for section in (".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXIT STATUS"):
            assert f"\n{section}" in "\n" + page, path
        if not shutil.which("groff"):
            continue
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True)
        shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout).replace("\u2212", "-").replace("\u2010", "-")
        assert (done.returncode, done.stderr) == (0, "") and "EXIT STATUS" in shown, path
        # No line of text may be lost to a control character.
        for name in re.findall(r"^\| `(--[a-z-]+)", manual.split_page()[1], re.M) if path == ("check",) else []:
            assert name in shown or name not in common.aotc("check", "--help-all"), path


BASH = r"""
eval "$("$1" completion bash)" || exit 9
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _aotc; printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '; }
shift
complete_words "$@"
"""


@pytest.fixture
def completed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "net.tflite").touch()
    (tmp_path / "with space.tflite").touch()
    return lambda *words: common.run(["bash", "--norc", "-c", BASH, "bash", common.AOTC, *words], cwd=tmp_path).split()


def test_bash_completes(completed):
    commands = [p[0] for p in commands_of() if len(p) == 1]
    for words, want in (
            (["aotc", ""], sorted(commands)),
            (["aotc", "che"], ["check"]),
            (["aotc", "mlf", ""], ["diff", "extract", "inspect"]),
            (["aotc", "check", "--bo"], ["--board"]),
            (["aotc", "check", "net.tflite", "--arena", ""], ["caller", "model"]),
            (["aotc", "check", "--arena", "=", "mo"], ["model"]),
            (["aotc", "check", "--arena", "="], ["caller", "model"]),
            (["aotc", "compile", "-O", "s"], ["size", "speed"]),
            (["aotc", "create", "--board", "qemu_mps2_an38"], ["qemu_mps2_an385", "qemu_mps2_an386"]),
            (["aotc", "create", "--cpu", "cortex-m4"], ["cortex-m4f"]),
            (["aotc", "create", "--project", "arduino"], ["arduino-library", "arduino-sketch"]),
            (["aotc", "boards", "host"], ["host"]),
            (["aotc", "check", "net"], ["net.tflite"]),
            (["aotc", "net"], ["net.tflite"]),
            (["aotc", "check", "with"], ["with", "space.tflite"]),
            (["aotc", "build", ""], ["folder"]),
            (["aotc", "compile", "-o", ""], ["folder"]),
            (["aotc", "completion", ""], ["bash", "fish", "zsh"]),
            (["aotc", "run", "--timeout", ""], [])):
        assert completed(*words) == want, words


def test_bash_offers_every_option(completed):
    for path in commands_of():
        if path not in ((), ("analyze", "signatures")):
            listed = set(re.findall(r"^  (?:-\w, )?(-[-\w]+)", common.aotc(*path, "--help-all"), re.M))
            assert listed - {"-h"} <= set(completed("aotc", *path, "-")), path


def test_other_shells_read_their_scripts(tmp_path):
    for shell in ("zsh", "fish"):
        script = tmp_path / f"aotc.{shell}"
        script.write_text(common.aotc("completion", shell))
        if shutil.which(shell):
            common.run([shell, "-n", script])
        else:
            print(f"  ({shell} is not installed: its script was written, not read)")
    if shutil.which("fish"):
        program = f"set PATH {os.path.dirname(common.AOTC)} $PATH; source {tmp_path / 'aotc.fish'}; complete -C "
        for line, want in (("aotc che", "check"), ("aotc check --arena ", "caller"), ("aotc mlf ", "inspect"),
                           ("aotc create --board qemu_mps2_an38", "qemu_mps2_an386"), ("aotc check --str", "--strip-float-io")):
            said = common.run(["fish", "--no-config", "-c", f"{program}'{line}'"]).splitlines()
            assert want in [answer.split("\t")[0] for answer in said], line
