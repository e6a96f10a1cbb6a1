#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MISRA C:2012 over the C that aotc writes, by the addon of cppcheck.

Usage: misra.py check|record --work DIR [--some] [--modes A,B]

check     fails at a hit that tests/e2e/misra.json does not allow
record    writes the counts of misra.json and the tables of docs/misra.md

The modes are those of modes.py: each CPU, and each option of `aotc compile` that changes the C. With --some each mode
takes its own few models. Without it each mode takes all whole models, and every other model of tests/models takes one
mode after the default, the next model the next mode. --modes takes some of the modes, and counts nothing.

Only hits in files that aotc wrote count, and those of equal files count once. A rule that is not in the list, a mandatory
rule, and a rule with over a tenth more places than listed are failures. Tables are cut to their first values before
cppcheck reads them: no rule asks how long a table is, and those of ad take it more than an hour.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import sys

import common
import modes
import verdicts

LIST = pathlib.Path(__file__).with_name("misra.json")
PAGE = common.ROOT / "docs" / "misra.md"
BEGIN, END = "<!-- misra.py record -->\n", "<!-- end -->\n"
# What may not be deviated from, whatever the reason.
MANDATORY = {"9.1", "12.5", "13.6", "17.3", "17.4", "17.6", "19.1", "21.13", "21.17", "21.18",
             "21.19", "21.20", "22.2", "22.4", "22.5", "22.6"}
# Models that every mode compiles without --some; all of ../shared are, too.
WHOLE = ["digits_int8", "digits_f32", "gadget_int8", "gadget_f32", "convolutional_int8", "convolutional_f32",
         "transformer_int8", "gru_steps_int8", "glance_int16"]
KEPT_VALUES = 16  # of every table
# A file with violations that are known: what does not find them finds nothing.
CONTROL = """\
#include <stdint.h>
int32_t control(int32_t a);
int32_t control(int32_t a)
{
    int32_t b = 017;
    if (a == 0) goto out;
    b = a++ + b;
out:
    return b;
}
"""
CONTROL_RULES = {"7.1", "13.3", "15.1"}


def all_jobs():
    """(mode, paths) without --some."""
    every = modes.modes()
    default, *others = every
    whole = [modes.path_of(name) for name in WHOLE] + sorted((common.SHARED / "models").glob("*.tflite"))
    jobs = [(mode, paths) for mode, paths in modes.jobs_of_modes() if mode.is_together]
    jobs += [(mode, [path]) for mode in every if not mode.is_together for path in whole]
    others = [mode for mode in others if not mode.is_together]
    for number, path in enumerate(p for p in modes.all_models() if p not in whole):
        jobs += [(default, [path]), (others[number % len(others)], [path])]
    return jobs


def cut_tables(folder):
    """Every table of numbers keeps its first values, and says that it has no more."""
    kept = {}

    def cut(match):
        values = [v for v in match["values"].replace("\n", " ").split(",") if v.strip()]
        if len(values) <= KEPT_VALUES:
            return match[0]
        kept[match["name"]] = len(values)
        return (f"{match['name']}[{KEPT_VALUES}]{match['middle']}= {{\n    "
                f"{', '.join(v.strip() for v in values[:KEPT_VALUES])}\n}};")

    table = re.compile(r"(?P<name>\w+)\[\d+\](?P<middle>[^=;{}]*)= \{(?P<values>[^{};]*)\};")
    for file in sorted(folder.glob("*.c")):
        file.write_text(table.sub(cut, file.read_text()))
    for file in sorted(folder.glob("*.[ch]")):
        text = file.read_text()
        for name, length in kept.items():
            text = text.replace(f"{name}[{length}]", f"{name}[{KEPT_VALUES}]")
        file.write_text(text)


# What runs the addon: it makes objects by the hundred thousand and drops none, and looking for garbage
# among them takes an eighth of its time.
ADDON_PYTHON = f"""\
#!{sys.executable}
import gc, os, runpy, sys
gc.disable()
del sys.argv[0]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def addon_python(folder):
    """The path of ADDON_PYTHON as a program in a folder."""
    program = folder / "addon_python"
    program.write_text(ADDON_PYTHON)
    program.chmod(0o755)
    return program


COMMAND = ["--addon=misra", "--std=c99", "--quiet", "--enable=style", "--platform=arm32-wchar_t4",
           "--template={file}\t{line}\t{id}"]
INCLUDED = common.ROOT / "crt" / "include"


def key_of(folder):
    """What decides the hits of a folder of C."""
    addon = sorted(pathlib.Path("/usr/lib/x86_64-linux-gnu/cppcheck/addons").glob("misra*.py"))
    return verdicts.digest_of("misra", verdicts.own(), verdicts.tool("cppcheck"), COMMAND,
                              [verdicts.content(file) for file in addon], verdicts.tree(INCLUDED),
                              [[file.name, file.read_text()] for file in sorted(folder.glob("*.[ch]"))])


def hits_in(folder):
    """[file, line, rule] of every hit in a folder of C, sorted."""
    done = common.run(["cppcheck", f"--addon-python={addon_python(folder)}", *COMMAND, "-I", INCLUDED, folder], expect=None,
                      timeout=3600)
    if done.returncode != 0:
        raise common.Failure(f"cppcheck: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    found = set()
    for line in done.stderr.splitlines():
        file, number, name = (line.split("\t") + ["", ""])[:3]
        if pathlib.Path(file).parent != folder:
            continue  # headers of the C runtime, in configurations that it refuses
        if name.startswith("misra-c2012-"):
            found.add((pathlib.Path(file).name, int(number), name.removeprefix("misra-c2012-")))
        elif name in ("syntaxError", "internalError", "internalAstError", "preprocessorErrorDirective"):
            raise common.Failure(f"cppcheck cannot read what aotc wrote: {line}")
    return sorted(map(list, found))


def control(work):
    folder = common.fresh(work / "control")
    (folder / "control.c").write_text(CONTROL)
    found = verdicts.remember("MISRA of a file that breaks rules", key_of(folder), lambda: hits_in(folder))
    missed = CONTROL_RULES - {rule for _, _, rule in found}
    if missed:
        raise common.Failure(f"cppcheck does not find {sorted(missed)} in a file that has them")


class Measured:
    """What cppcheck finds: rule -> number of places, and the first of them."""

    def __init__(self):
        self.counts, self.example, self.keys = collections.Counter(), {}, set()
        self.compiled = self.refused = 0  # compilations

    def add(self, mode, folder, key, found):
        self.compiled += 1
        if key in self.keys:
            return
        self.keys.add(key)
        for file, line, rule in found:
            self.counts[rule] += 1
            self.example.setdefault(rule, f"{folder / file}:{line} ({mode.name})")


def measure(work, some, names=()):
    control(work)
    modes.check_complete()
    jobs = list(modes.jobs_of_modes()) if some else all_jobs()
    jobs = [job for job in jobs if not names or job[0].name in names]
    told = Measured()

    def one(job):
        mode, paths = job
        # One prefix of a model for all modes: equal C is equal to the letter. With --together it names what models share.
        folder = work / mode.name / "_".join(path.stem for path in paths)
        place = modes.emit(mode, paths, folder, "both" if mode.is_together else common.prefix_of(paths[0].stem))
        if place is None:
            return None
        cut_tables(place)
        key = key_of(place)
        return place, key, verdicts.remember(f"MISRA of {mode.name} {paths[0].stem}", key, lambda: hits_in(place))

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("AOTC_JOBS") or 2)) as pool:
        for (mode, paths), found in zip(jobs, pool.map(one, jobs)):
            if some and not found:
                raise common.Failure(f"{mode.name}: {paths[0].name} is refused")
            told.refused += found is None
            if found:
                told.add(mode, *found)
    print(f"{len({mode.name for mode, _ in jobs})} modes, {told.compiled} compilations, {told.refused} refused, "
          f"{len(told.keys)} different; {sum(told.counts.values()):,} places of {len(told.counts)} rules")
    return told


def by_number(rule):
    return [int(part) for part in rule.split(".")]


def table_of(allowed):
    lines = ["| rule | category | places | why |", "|---|---|---:|---|"]
    for rule in sorted(allowed, key=by_number):
        entry = allowed[rule]
        lines.append(f"| {rule} | {entry['category']} | {entry['some']:,} | {entry['why']} |")
    return "\n".join(lines) + "\n"


def table_of_modes():
    """The modes, for the page: those of one option, and the CPUs in a row each for their options."""
    lines = ["| mode | options | models of `--some` |", "|---|---|---|"]
    names = ", ".join(f"`{cpu}`" for cpu in modes.cpus())
    for options, models in modes.CPU_OPTIONS.values():
        words = " ".join(["--cpu CPU", *options])
        lines.append(f"| each CPU: {names} | `{words}` | {', '.join(models)} |")
    for name, (options, models) in modes.OPTIONS.items():
        words = f"`{' '.join(options)}`" if options else ""
        lines.append(f"| {name} | {words} | {', '.join(models)} |")
    return "\n".join(lines) + "\n"


def check(work, some, names):
    allowed = json.loads(LIST.read_text())
    told = measure(work, some, names)
    bad = [f"rule {r} is mandatory: it cannot be in the list" for r in allowed if r in MANDATORY]
    bad += [f"rule {r}: no reason" for r, entry in allowed.items() if len(entry["why"]) < 40]
    for rule in sorted(told.counts, key=by_number):
        count = told.counts[rule]
        if rule not in allowed:
            bad.append(f"rule {rule} is not in the list: {count} places, first {told.example[rule]}")
            continue
        # Of all models a count is listed once somebody recorded it.
        most = None if names else allowed[rule].get("some" if some else "all")
        print(f"rule {rule}: {count} places, listed {most}")
        if most is not None and count > most + most // 10:
            bad.append(f"rule {rule}: {count} places, {most} are listed; first {told.example[rule]}")
    for rule in [r for r in allowed if r not in told.counts and some and not names]:
        bad.append(f"rule {rule} is listed, but nothing hits it: take it out")
    for table, place in ((table_of(allowed), LIST.name), (table_of_modes(), "modes.py")):
        if table not in PAGE.read_text():
            bad.append(f"a table of {PAGE.name} is not that of {place}: run misra.py record")
    if bad:
        raise common.Failure("\n".join(bad))
    print(f"{sum(told.counts.values()):,} places of {len(told.counts)} rules, all of them listed, none mandatory")


def record(work, some, names):
    if names:
        raise common.Failure("record takes all modes")
    allowed = json.loads(LIST.read_text()) if LIST.exists() else {}
    told = measure(work, some)
    for rule in sorted(told.counts, key=by_number):
        print(f"rule {rule}: {told.counts[rule]}, first {told.example[rule]}")
        entry = allowed.setdefault(rule, {"category": "", "some": 0, "why": ""})
        entry["some" if some else "all"] = told.counts[rule]
    gone = [rule for rule in allowed if some and rule not in told.counts]
    allowed = {rule: allowed[rule] for rule in sorted(allowed, key=by_number) if rule not in gone}
    LIST.write_text(json.dumps(allowed, indent=2) + "\n")
    write_page([table_of_modes(), table_of(allowed)])


def write_page(tables):
    """Writes each table between its two comments."""
    head, *parts = PAGE.read_text().split(BEGIN)
    for table, part in zip(tables, parts, strict=True):
        head += BEGIN + table + END + part.split(END)[1]
    PAGE.write_text(head)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "record"])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--some", action="store_true", help="few models of each mode")
    parser.add_argument("--modes", default="", help="some modes, separated by commas")
    options = parser.parse_args()

    def test():
        common.require("cppcheck")
        {"check": check, "record": record}[options.what](
            options.work.resolve(), options.some, [name for name in options.modes.split(",") if name])

    common.main_of(test)


if __name__ == "__main__":
    main()
