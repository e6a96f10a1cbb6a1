# SPDX-License-Identifier: Apache-2.0
"""The recorded figures, and when a measurement is worse than they are.

record.json holds one row a line, sorted, so that a change of one figure is one line of a diff.
Compile times are not recorded: they differ from run to run.
"""
import json

from measure import ROOT, TARGETS, Failure, is_float

RECORD = ROOT / "tests" / "bench" / "record.json"
TOLERANCE = 0.01
LAYER_TARGETS = ("m3", "m4")  # whose layers docs/performance.md shows
# Every column of figures. Multiply-accumulates are the model's: another count is another model or a wrong one.
FIGURES = {"instructions": "instructions", "arena bytes": "arena_bytes", "bytes of inputs and outputs": "io_bytes",
           "stack bytes": "stack_bytes", "code bytes": "code_bytes", "constants bytes": "constants_bytes"}
SAME = {"multiply-accumulates": "macs"}
NOT_RECORDED = ("compile_ms", "cycles", "counted_instructions", "estimated_cycles", "cycle_layers")


def key(row):
    return row["model"], row["target"], row["level"]


def title(model, target, level):
    return f"{model} on {target}" + ("" if level == "default" else f" at -O {level}")


def load(path=RECORD):
    if not path.exists():
        return {"tools": {}, "rows": []}
    return json.loads(path.read_text())


def order(row):
    return is_float(row["model"]), row["model"], list(TARGETS).index(row["target"]), row["level"]


def slim(row):
    kept = {k: v for k, v in row.items() if k not in NOT_RECORDED}
    if row["target"] not in LAYER_TARGETS or is_float(row["model"]):
        kept.pop("layers", None)
    return kept


def merge(record, rows, absent, tools):
    """The record with `rows` in it, and without what no longer fits (`absent`: keys)."""
    new = {key(row): slim(row) for row in rows}
    gone = set(new) | set(absent)
    kept = [row for row in record["rows"] if key(row) not in gone]
    return {**record, "tools": dict(sorted({**record["tools"], **tools}.items())),
            "rows": sorted([*kept, *new.values()], key=order)}


def store(record, path=RECORD):
    lines = ",\n".join("  " + json.dumps(row) for row in record["rows"])
    tools = json.dumps(record["tools"], indent=2).replace("\n", "\n ")
    published = f' "published": {json.dumps(record["published"])},\n' if "published" in record else ""
    path.write_text(f'{{\n "tools": {tools},\n{published} "rows": [\n{lines}\n ]\n}}\n')


def compare(record, rows, absent, figures=FIGURES, same=SAME):
    """(what got worse, what got better), as texts. `figures` and `same`: columns by their names in texts."""
    old = {key(row): row for row in record["rows"]}
    worse, better = [], []
    for row in rows:
        name = title(*key(row))
        if key(row) not in old:
            worse.append(f"{name}: is not in the record")
            continue
        for what, column in same.items():
            now, was = row[column], old[key(row)][column]
            if now != was:
                worse.append(f"{name}: {what} {was:,} -> {now:,}")
        for what, column in figures.items():
            now, was = row[column], old[key(row)][column]
            slack = was * TOLERANCE
            change = f"{name}: {what} {was:,} -> {now:,} ({(now - was) / max(was, 1):+.1%})"
            if now - was > slack:
                worse.append(change)
            elif was - now > slack:
                better.append(change)
    worse += [f"{title(*gone)}: does not fit any more" for gone in absent if gone in old]
    return worse, better


def check(record, rows, absent, tools, say, what="--level all", **columns):
    """Raises Failure if anything is worse than recorded, or if nothing was compared. `what`: options of scripts/bench
    that measure it."""
    if not rows and not absent:
        raise Failure("nothing was measured")
    worse, better = compare(record, rows, absent, **columns)
    for program, version in tools.items():
        recorded = record["tools"].get(program)
        if recorded != version:
            say(f"note: the record was made with {program} '{recorded}', here it is '{version}'")
    for text in better:
        say(f"better than recorded: {text}")
    if better:
        say(f"keep what was won: scripts/bench {what} --record, in the commit that won it")
    if worse:
        models = ",".join(sorted({row["model"] for row in rows} | {a[0] for a in absent}))
        targets = ",".join(t for t in TARGETS if t in {r["target"] for r in rows}
                           | {a[1] for a in absent})
        raise Failure(
            "worse than recorded by more than 1 %:\n  " + "\n  ".join(worse)
            + "\nIf this is meant, record it in the same commit and say why in its message:\n"
            f"  scripts/bench {what} --models {models} --targets {targets} --record\n"
            "(without --models and --targets it measures everything)")
    say(f"{len(rows)} runs are within 1 % of the record")
