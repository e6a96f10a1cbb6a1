#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pages show behind '$ ' is what the commands print.

Usage: docs.py commands [--pages A.md,B.md] [--update] --work DIR

Each page's commands run one after the other in one directory that has tests/, scripts/ and nothing else; a line '...'
stands for any lines. What follows a comment '<!-- $ COMMAND -->', a block of code or the lines up to an empty one, was
printed by that command. test_docs.py calls this, and checks the rest of the documentation.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

import common


def shown_commands(lines):
    """(command, from which line to which its output is shown), in the order of a page."""
    found, inside, i = [], False, 0
    while i < len(lines):
        line, i = lines[i], i + 1
        printed_by = re.fullmatch(r"<!-- \$ (.*) -->", line)
        if line.startswith("```"):
            inside = not inside
        elif printed_by or (inside and line.startswith("$ ")):
            command, ends = (printed_by[1], ("",)) if printed_by else (line[2:], ("```", "$ "))
            while command.endswith("\\"):
                command, i = command[:-1] + lines[i].strip(), i + 1
            if printed_by and lines[i:i + 1] == ["```"]:
                ends, inside, i = ("```",), True, i + 1
            start = i
            while i < len(lines) and not (lines[i].startswith(ends) if ends != ("",) else lines[i] == ""):
                i += 1
            found.append((command, start, i))
    return found


def matches(shown, printed):
    """Whether the lines are those printed; '...' alone on a line is any lines, within one any text."""
    expression = ""
    for line in shown:
        if line == "...":
            expression += r"(?:.*\n)*?"
        else:
            expression += ".*".join(re.escape(part) for part in line.split("...")) + "\n"
    return re.fullmatch(expression, "".join(line + "\n" for line in printed)) is not None


def tidy(lines):
    """Without spaces at the ends of lines and without empty lines at the end."""
    return "\n".join(line.rstrip() for line in lines).rstrip("\n").splitlines()


def run_page(page, work, update):
    place = common.fresh(work / page.stem)
    for folder in ("tests", "scripts", "examples"):
        (place / folder).symlink_to(common.ROOT / folder)
    if "../shared/" in page.read_text():
        common.model_path("kws")  # not there: skips, or fails in CI
        (work / "shared").unlink(missing_ok=True)
        (work / "shared").symlink_to(common.SHARED)
    environment = {**os.environ, "PATH": f"{pathlib.Path(common.AOTC).parent}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
                   "NO_COLOR": "1", "COLUMNS": "100"}
    lines, problems, behind = page.read_text().splitlines(), [], 0
    shows = shown_commands(lines)
    if not shows:
        raise common.Failure(f"{page} shows no command")
    for command, start, end in shows:
        done = subprocess.run(["bash", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        shown, printed = tidy(lines[start + behind:end + behind]), tidy(done.stdout.splitlines())
        if matches(shown, printed):
            continue
        if update:
            more = [""] if lines[end + behind - 1:end + behind] == [""] and end > start else []
            lines[start + behind:end + behind] = printed + more
            behind += len(printed) + len(more) - (end - start)
            continue
        problems.append("\n".join([f"{page.name}:{start}: $ {command}", "prints", *printed, "and the page shows",
                                   *shown, ""]))
    if update:
        page.write_text("\n".join(lines) + "\n")
    return problems


PAGES = ("README.md", "docs/from-keras.md", "docs/how-do-i.md", "docs/from-tflm.md", "docs/cli.md", "docs/operators.md",
         "docs/boards.md", "docs/speech.md", "docs/from-scikit-learn.md", "docs/from-pytorch.md", "docs/analyze.md",
         "docs/state.md", "docs/streaming.md", "docs/together.md", "docs/weights.md", "docs/make-it-fit.md")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=["commands"])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--pages", default=",".join(PAGES), help="these, separated by commas")
    parser.add_argument("--update", action="store_true", help="write what commands print into the pages")
    options = parser.parse_args()
    problems = [problem for page in options.pages.split(",")
                for problem in run_page(common.ROOT / page, options.work.resolve(), options.update)]
    if problems:
        raise common.Failure(f"{len(problems)} problems\n" + "\n".join(problems))
    print("commands: nothing wrong")


if __name__ == "__main__":
    common.main_of(main)
