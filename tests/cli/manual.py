#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/cli.md, the man pages and the completions, compared with the program.

Usage: manual.py --aotc PROGRAM --work DIR [--write]

--write puts what `aotc help --markdown` prints into docs/cli.md. Ends with 'N passed, N failed'.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cli.md"
BEGIN, END = "<!-- aotc help --markdown -->\n", "<!-- end -->\n"


class Failure(Exception):
    pass


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr[:2000]}")
    return done.stdout


def split_page():
    before, rest = PAGE.read_text().split(BEGIN)
    inside, after = rest.split(END)
    return before, inside, after


def commands_of(aotc, path=()):
    """Every path of subcommands, as help lists them."""
    yield path
    if path == ("analyze", "signatures"):
        return  # help is aotc-analyze's
    text = run(aotc, "help", *path)
    listed = re.search(r"^Commands:\n((?:  .*\n)*)", text, re.M)
    for line in listed[1].splitlines() if listed else []:
        if re.match(r"  \S", line):
            yield from commands_of(aotc, (*path, line.split()[0]))


def tables_are_those_of_the_program(aotc, _):
    if split_page()[1] != run(aotc, "help", "--markdown"):
        raise Failure("docs/cli.md is not what the program prints: run tests/cli/manual.py --write")


def every_command_is_described(aotc, _):
    paths = [p for p in commands_of(aotc) if p]
    if len(paths) < 25:
        raise Failure(f"only {len(paths)} commands: {paths}")
    head = split_page()[0]
    for path in paths:
        if f"`{path[0]}" not in head:
            raise Failure(f"the table of commands in docs/cli.md has no '{path[0]}'")
        if path == ("analyze", "signatures"):
            continue
        said = run(aotc, "help", *path)
        if said != run(aotc, *path, "--help"):
            raise Failure(f"help {path} and --help differ")
        long = [line for line in said.splitlines() if len(line) > 80 and " " in line.strip()[:60]]
        if long and not all(line.startswith(("Usage:", "  -")) for line in long):
            raise Failure(f"wide lines in the help of {path}: {long}")


def man_pages_are_well_formed(aotc, _):
    for path in commands_of(aotc):
        page = run(aotc, "man", *path)
        for section in (".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXIT STATUS"):
            if f"\n{section}" not in "\n" + page:
                raise Failure(f"man {path} has no {section}")
        if not shutil.which("groff"):
            continue
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True)
        shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout).replace("\u2212", "-").replace("\u2010", "-")
        if done.returncode != 0 or done.stderr or "EXIT STATUS" not in shown:
            raise Failure(f"man {path}: {done.stderr[:500]}")
        # No line of text may be lost to a control character.
        for name in re.findall(r"^\| `(--[a-z-]+)", split_page()[1], re.M) if path == ("check",) else []:
            if name in run(aotc, "check", "--help-all") and name not in shown:
                raise Failure(f"man check lost {name}")


BASH = r"""
eval "$("$1" completion bash)" || exit 9
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _aotc; printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '; }
shift
complete_words "$@"
"""


def completed(aotc, folder, *words):
    return run("bash", "--norc", "-c", BASH, "bash", aotc, *words, cwd=folder).split()


def bash_completes(aotc, work):
    shutil.rmtree(work, ignore_errors=True)
    (work / "folder").mkdir(parents=True)
    (work / "net.tflite").touch()
    (work / "with space.tflite").touch()
    commands = [p[0] for p in commands_of(aotc) if len(p) == 1]
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
        have = completed(aotc, work, *words)
        if have != want:
            raise Failure(f"{words}: {have}, not {want}")
    # Every option is offered for its command.
    for path in commands_of(aotc):
        if path in ((), ("analyze", "signatures")):
            continue
        offered = set(completed(aotc, work, "aotc", *path, "-"))
        listed = set(re.findall(r"^  (?:-\w, )?(-[-\w]+)", run(aotc, "help", *path), re.M))
        if not listed - {"-h"} <= offered:
            raise Failure(f"{path}: not offered: {listed - offered}")


def other_shells_read_their_scripts(aotc, work):
    work.mkdir(parents=True, exist_ok=True)
    for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])):
        script = work / f"aotc.{shell}"
        script.write_text(run(aotc, "completion", shell))
        if shutil.which(shell):
            run(*check, script)
        else:
            print(f"  ({shell} is not installed: its script was written, not read)")
    if shutil.which("fish"):
        program = f"set PATH {aotc.parent} $PATH; source {work / 'aotc.fish'}; complete -C "
        for line, want in (("aotc che", "check"), ("aotc check --arena ", "caller"), ("aotc mlf ", "inspect"),
                           ("aotc create --board qemu_mps2_an38", "qemu_mps2_an386"), ("aotc check --str", "--strip-float-io")):
            said = [answer.split("\t")[0] for answer in run("fish", "--no-config", "-c", f"{program}'{line}'").splitlines()]
            if want not in said:
                raise Failure(f"fish does not complete '{line}' to '{want}': {said[:20]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/manual"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    aotc = options.aotc.resolve()
    if options.write:
        before, _, after = split_page()
        PAGE.write_text(before + BEGIN + run(aotc, "help", "--markdown") + END + after)
        return
    failed = 0
    tests = [tables_are_those_of_the_program, every_command_is_described, man_pages_are_well_formed, bash_completes,
             other_shells_read_their_scripts]
    for test in tests:
        try:
            test(aotc, options.work.resolve())
        except Failure as failure:
            failed += 1
            print(f"FAILED {test.__name__}: {failure}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
