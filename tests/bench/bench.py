# SPDX-License-Identifier: Apache-2.0
"""Measures models on the emulated boards: instructions, RAM, stack and flash.

Compiles every model of ../shared/models (or $AOTC_SHARED/models) and the digits sample for every
emulated board that it fits, builds and runs it, and writes the figures. Targets: m0 m3 m4 m7 m33
m55 rv32imac.

  scripts/bench --models kws --targets m4,m3 --json -   figures as JSON on standard output
  scripts/bench --level speed --json -                  the same for -O speed
  scripts/bench --targets m4 --cycles                   cycles by layer, measured and estimated
  scripts/bench --published                             estimated cycles beside results of MLPerf Tiny
  scripts/bench --forms                                 the quantised forms of ../shared on m4, m55 and rv32imac;
                                                        fails if a figure is > 1 % worse than recorded
  .venv/bin/python scripts/bench --coverage             instructions a MAC of layers of many models (layer_coverage.py)
  scripts/bench --check --level all                     fails if a figure of any column is > 1 % worse than recorded
  scripts/bench --record --level all                    writes the record and docs/performance.md
  scripts/bench --from tests/bench/record.json --markdown -   tables of what was measured before

Exit code: 0, 1 when something failed or got worse, 77 when there was nothing to measure.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import threading

import baselines
import cycles
import document
import forms
import measure
import published
import record

SKIP = 77
_output = threading.Lock()


def say(text):
    with _output:
        print(f"bench: {text}", file=sys.stderr, flush=True)


def names(text):
    return [name for name in text.split(",") if name]


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--models", type=names, metavar="A,B", help="default: all")
    add("--targets", type=names, metavar="A,B", help="default: all; of --forms: m4,m55,rv32imac")
    add("--level", choices=[*measure.LEVELS, "all"], default="balanced",
        help="what the code is for, as aotc's -O (default balanced); all: those that the record has of a model and target")
    add("--jobs", type=int, default=2, help="runs at the same time (default 2)")
    add("--json", metavar="FILE", help="write the figures; - is standard output")
    add("--markdown", metavar="FILE", help="write tables of them; - is standard output")
    add("--beside", metavar="FILE", help="write one table of them beside the strongest figures of TFLM")
    add("--cycles", action="store_true",
        help="cycles of the firmware beside the estimated ones, by layer (docs/cycles.md)")
    add("--published", action="store_true",
        help="print estimated cycles beside what others published for MLPerf Tiny; measure nothing")
    add("--forms", action="store_true", help="measure and check the quantised forms of ../shared, and print their table")
    add("--coverage", action="store_true",
        help="check the layers of models of many kinds (docs/cycles.md); with --record, replace coverage.json")
    add("--record", action="store_true", help="replace their recorded figures")
    add("--check", action="store_true", help="compare them with the record")
    add("--from", dest="source", type=pathlib.Path, metavar="FILE",
        help="take the figures from a file of --json or from the record; measure nothing")
    add("--aotc", default=os.environ.get("AOTC")
        or measure.ROOT / "build" / "release" / "compiler" / "aotc", help="compiler to measure")
    add("--work", type=pathlib.Path, default=measure.ROOT / "build" / "bench",
        help="folder for projects (default build/bench)")
    add("--timeout", type=int, default=1800, help="seconds for one emulator (default 1800)")
    options = parser.parse_args(arguments)
    options.targets = options.targets or list(forms.TARGETS if options.forms else measure.TARGETS)
    for target in options.targets:
        if target not in measure.TARGETS:
            parser.error(f"unknown target '{target}'; there are {' '.join(measure.TARGETS)}")
    if options.record and options.check:
        parser.error("--record and --check exclude each other")
    if options.source and (options.record or options.check) and not options.coverage:
        parser.error("--from measures nothing: it goes with --json, --markdown and --beside")
    return options


def available(models):
    """The models that are here. Those of ../shared may be missing, but not in CI."""
    wanted = models or [*measure.SHIPPED_MODELS, *measure.SHARED_MODELS]
    here = [model for model in wanted if measure.model_path(model)]
    missing = [model for model in wanted if model not in here]
    if missing:
        text = (f"{measure.SHARED / 'models'} is missing (set AOTC_SHARED to the folder that holds "
                f"'models'): {', '.join(missing)}")
        if os.environ.get("CI") == "true":
            raise measure.Failure(f"{text} cannot be measured, and CI=true")
        say(f"SKIPPED: {text}")
    return here


def pairs(models, targets, level, recorded):
    """(model, target, level) of what is measured."""
    if level != "all":
        return [(model, target, level) for model in models for target in targets]
    there = {record.key(row) for row in recorded}
    return [(model, target, one) for model in models for target in targets for one, name in measure.LEVELS.items()
            if (model, target, name) in there]


def measure_all(options, models):
    """(rows, keys of what does not fit); every failure is told before the first is raised."""
    aotc = measure.Aotc(options.aotc, options.timeout)
    chosen = pairs(models, options.targets, options.level, record.load()["rows"])
    rows, absent, failures = [], [], []
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        work = options.work.resolve()
        jobs = [pool.submit(measure.measure, aotc, *one, work, say, options.cycles) for one in chosen]
        for (model, target, level), job in zip(chosen, jobs):
            try:
                row = job.result()
            except measure.Failure as failure:
                failures.append(str(failure))
                continue
            if row:
                rows.append(row)
            else:
                absent.append((model, target, measure.LEVELS[level]))
    if failures:
        raise measure.Failure("\n".join(failures))
    return rows, absent


def write(file, text):
    if file == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(file).write_text(text)


def rewrite(rows, absent, tools, estimated):
    """Record and document; the document shows the whole record, not only what was measured now."""
    new = {**record.merge(record.load(), rows, absent, tools), "published": estimated}
    record.store(new)
    say(f"wrote {record.RECORD.relative_to(measure.ROOT)}")
    base = baselines.load()
    if base is None:
        say(f"{baselines.BASELINES} is missing: docs/performance.md stays as it was")
        return
    document.DOCUMENT.write_text(document.markdown(new["rows"], new["tools"], base, new["published"]))
    say(f"wrote {document.DOCUMENT.relative_to(measure.ROOT)}")


def figures(options):
    """(rows, keys of what does not fit, versions of the tools)."""
    if options.source:
        data = json.loads(options.source.read_text())
        rows, tools = (data["rows"], data["tools"]) if isinstance(data, dict) else (data, {})
        return [r for r in rows if r["target"] in options.targets
                and (not options.models or r["model"] in options.models)], [], tools
    models = available(options.models)
    if not models:
        sys.exit(SKIP)
    return *measure_all(options, models), measure.tools_of(options.targets)


def bench_forms(options):
    """Prints the table of quantised forms. Checks or records them."""
    here = forms.available()
    names_of = [name for name in options.models or forms.FORMS if name in here]
    missing = sorted(set(options.models or forms.FORMS) - set(here))
    if missing:
        text = f"{', '.join(missing)}: no such form, or its file is missing (set AOTC_SHARED)"
        if os.environ.get("CI") == "true" or not names_of:
            raise measure.Failure(text)
        say(f"SKIPPED: {text}")
    rows, absent = forms.measure_all(measure.Aotc(options.aotc, options.timeout), names_of, options.targets,
                                     options.jobs, options.work, say)
    tools = measure.tools_of(options.targets)
    sys.stdout.write(forms.markdown(rows))
    for row in rows:
        for column, now, most in forms.over(row, rows):
            say(f"{row['model']} on {row['target']}: {column} {now:,}, requested {most:,}")
    recorded = record.load(forms.RECORD)
    if options.json:
        write(options.json, json.dumps(rows, indent=1) + "\n")
    if options.record:
        gone = {record.key(row) for row in rows} | set(absent)
        kept = [row for row in recorded["rows"] if record.key(row) not in gone]
        everything = sorted([*kept, *rows], key=lambda r: (list(forms.FORMS).index(r["model"]), r["target"]))
        record.store({"tools": dict(sorted({**recorded["tools"], **tools}.items())), "rows": everything}, forms.RECORD)
        say(f"wrote {forms.RECORD.relative_to(measure.ROOT)}")
    else:
        record.check(recorded, rows, absent, tools, say, "--forms", figures=forms.FIGURES, same={})
    return 0


def main(arguments=None):
    options = options_of(arguments)
    try:
        if options.forms:
            return bench_forms(options)
        if options.published:
            if not available(published.MODELS):
                return SKIP
            sys.stdout.write(published.text(published.estimates(measure.Aotc(options.aotc, options.timeout))))
            return 0
        if options.coverage:
            import layer_coverage  # needs numpy, which the other commands do not
            layer_coverage.main(options, say)
            return 0
        rows, absent, tools = figures(options)
        if options.json:
            write(options.json, json.dumps(rows, indent=1) + "\n")
        if options.markdown:
            write(options.markdown, document.markdown(rows, tools, baselines.load()))
        if options.beside:
            base = baselines.load()
            if base is None:
                say(f"SKIPPED: {baselines.BASELINES} is missing (set AOTC_SHARED)")
                return 1 if os.environ.get("CI") == "true" else SKIP
            write(options.beside, document.beside(rows, base))
        if options.cycles:
            sys.stdout.write(cycles.text(rows))
        if options.record:
            rewrite(rows, absent, tools, published.estimates(measure.Aotc(options.aotc, options.timeout)))
        if options.check:
            record.check(record.load(), rows, absent, tools, say)
    except measure.Failure as failure:
        say(f"FAILED: {failure}")
        return 1
    return 0
