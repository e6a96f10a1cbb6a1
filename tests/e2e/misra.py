#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MISRA C:2012 over the C that aotc writes, by the addon of cppcheck.

Usage: misra.py check --work DIR [--some]    no hit that tests/e2e/misra.json does not allow
       misra.py record --work DIR            writes its counts, and the table of docs/misra.md

Every model is compiled as users compile it, and some also with other options; with --some these and few models. Tables are cut to their
first values before cppcheck reads them (no rule asks how long a table is, and those of
ad take it more than an hour). Only hits in files that aotc wrote count. A rule that is not in
the list, a mandatory rule in the list, and a rule that is hit by over a tenth more often than listed
are failures.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re

import bundle
import common

LIST = pathlib.Path(__file__).with_name("misra.json")
PAGE = common.ROOT / "docs" / "misra.md"
BEGIN, END = "<!-- misra.py record -->\n", "<!-- end -->\n"
# What may not be deviated from, whatever the reason.
MANDATORY = {"9.1", "12.5", "13.6", "17.3", "17.4", "17.6", "19.1", "21.13", "21.17", "21.18",
             "21.19", "21.20", "22.2", "22.4", "22.5", "22.6"}
# Compiled also with these: (options, models).
VARIANTS = {
    "packed": (["--calling-convention", "packed"], ["gadget_int8", "digits_f32"]),
    "registry": (["--calling-convention", "registry"], ["digits_int8"]),
    "workspace": (["--memory", "workspace"], ["gadget_int8"]),
    "model_arena": (["--arena", "model", "--input", "preserve"], ["gadget_f32"]),
    "cortex_m4": (["--board", "qemu_mps2_an386"], ["kws", "gadget_int8"]),
    "cortex_m55": (["--board", "qemu_mps3_an547"], ["kws", "gadget_int8"]),
}
# What --some takes beside the variants.
SOME = {"digits_int8", "gadget_f32", "kws", "micro_speech"}
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


def models():
    shared = sorted((common.SHARED / "models").glob("*.tflite"))
    if not shared and os.environ.get("CI") == "true":
        raise common.Failure(f"{common.SHARED}/models is missing, and CI=true")
    own = [p for folder in ("digits", "gadget")
           for p in sorted((common.ROOT / "tests" / "models" / folder).glob("*.tflite"))]
    return [p for p in own + shared if p.stem not in bundle.REFUSED]


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
ADDON_PYTHON = """\
#!/usr/bin/env python3
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


def hits_in(folder):
    """(file, line, rule) of every hit in a folder of C."""
    done = common.run(
        ["nice", "cppcheck", "--addon=misra", f"--addon-python={addon_python(folder)}", "--std=c99",
         "--quiet", "--enable=style", "--platform=arm32-wchar_t4", "--template={file}\t{line}\t{id}", "-I",
         common.ROOT / "crt" / "include", folder], expect=None, timeout=3600)
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
    return found


def control(work):
    folder = common.fresh(work / "control")
    (folder / "control.c").write_text(CONTROL)
    missed = CONTROL_RULES - {rule for _, _, rule in hits_in(folder)}
    if missed:
        raise common.Failure(f"cppcheck does not find {sorted(missed)} in a file that has them")


def measure(work, some):
    """Rule -> number of places; the same of what --some takes; rule -> an example."""
    control(work)
    jobs = [(path, "plain", []) for path in models() if not some or path.stem in SOME]
    for variant, (options, names) in VARIANTS.items():
        found = {path.stem: path for path in models()}
        jobs += [(found[name], variant, options) for name in names if name in found]

    def one(job):
        path, variant, options = job
        prefix = common.prefix_of(path.stem)
        folder = common.fresh(work / variant / prefix)
        common.aotc("compile", path, "--prefix", prefix, "-o", folder, "--force", "--quiet", *options)
        cut_tables(folder)
        return hits_in(folder)

    counts, of_some, example = collections.Counter(), collections.Counter(), {}
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("AOTC_JOBS") or 2)) as pool:
        for (path, variant, _), found in zip(jobs, pool.map(one, jobs)):
            for file, line, rule in sorted(found):
                counts[rule] += 1
                of_some[rule] += variant != "plain" or path.stem in SOME
                example.setdefault(rule, f"{variant} {file}:{line}")
    print(f"{len(jobs)} compilations, {sum(counts.values())} hits of {len(counts)} rules")
    return counts, of_some, example


def by_number(rule):
    return [int(part) for part in rule.split(".")]


def table_of(allowed):
    lines = ["| rule | category | places | why |", "|---|---|---:|---|"]
    for rule in sorted(allowed, key=by_number):
        entry = allowed[rule]
        lines.append(f"| {rule} | {entry['category']} | {entry['count']:,} | {entry['why']} |")
    return "\n".join(lines) + "\n"


def check(work, some):
    allowed = json.loads(LIST.read_text())
    counts, _, example = measure(work, some)
    bad = [f"rule {r} is mandatory: it cannot be in the list" for r in allowed if r in MANDATORY]
    bad += [f"rule {r}: no reason" for r, entry in allowed.items() if len(entry["why"]) < 40]
    for rule in sorted(counts, key=by_number):
        if rule not in allowed:
            bad.append(f"rule {rule} is not in the list: {counts[rule]} places, first "
                       f"{example[rule]}")
            continue
        most = allowed[rule]["some" if some else "count"]
        print(f"rule {rule}: {counts[rule]} places, listed {most}")
        if counts[rule] > most + most // 10:
            bad.append(f"rule {rule}: {counts[rule]} places, {most} are listed; first {example[rule]}")
    for rule in [r for r in allowed if r not in counts and not some]:
        print(f"rule {rule} is listed, but nothing hits it: take it out, if ../shared is there")
    if table_of(allowed) not in PAGE.read_text():
        bad.append(f"the table of {PAGE.name} is not that of {LIST.name}: run misra.py record")
    if bad:
        raise common.Failure("\n".join(bad))
    print(f"{sum(counts.values()):,} places of {len(counts)} rules, all of them listed, none mandatory")


def record(work, _):
    allowed = json.loads(LIST.read_text()) if LIST.exists() else {}
    counts, of_some, example = measure(work, False)
    for rule in counts:
        print(f"rule {rule}: {counts[rule]}, first {example[rule]}")
        entry = allowed.setdefault(rule, {"category": "", "count": 0, "why": ""})
        entry["count"], entry["some"] = counts[rule], of_some[rule]
    allowed = {rule: allowed[rule] for rule in sorted(counts, key=by_number)}
    LIST.write_text(json.dumps(allowed, indent=2) + "\n")
    if PAGE.exists():
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + table_of(allowed) + END + rest.split(END)[1])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("what", choices=["check", "record"])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--some", action="store_true")
    options = parser.parse_args()

    def test():
        common.require("cppcheck")
        {"check": check, "record": record}[options.what](options.work.resolve(), options.some)

    common.main_of(test)


if __name__ == "__main__":
    main()
