# SPDX-License-Identifier: Apache-2.0
"""Tables of figures beside those of other runtimes, as Markdown: the text of docs/performance.md."""
import textwrap

import baselines
import published
from measure import ROOT, TARGETS, board_of, is_float
from record import LAYER_TARGETS

DOCUMENT = ROOT / "docs" / "performance.md"
COMMAND = "scripts/bench --record"

INTRODUCTION = """# Performance

This page is generated. It is written, with the record that the tests hold every change against
(`tests/bench/record.json`), by

```
{command}
```

which takes the models of `../shared/models` and the digits sample of this repository, and for every
emulated board that a model fits runs `aotc create`, `build`, `run` and `report`. All options are the
defaults. `scripts/bench --help` lists how to measure less, or to another file.

- **Instructions** are those of one inference, of the first random sample that `create` stores, under
  `qemu -icount shift=0`, where every instruction counts 1. They are the same on every machine, but
  they are not cycles: memory, pipelines and caches are not in them. [Cycles](cycles.md) has those, by what the
  cores' documents say, and what others published for MLPerf Tiny.
- **RAM** is the arena, and the input and output buffers of the caller. Arenas of TensorFlow Lite for
  Microcontrollers (TFLM) hold inputs, outputs and the interpreter's own structures.
- **Stack** is the high-water mark of a painted stack during one inference.
- **Flash** is code and constants in the object files of the model, without the C library and
  start-up code; of TFLM, the code that was recorded (the record does not say whether parts of the C
  library are in it) and the model file.

Where the figures of the other runtime come from:

{what}

*Strongest* is the row with the fewest instructions among all kernels and flags that were measured
for that model and core, and *reference* the best one with TFLM's reference kernels. Ratios are ours
divided by theirs: below 1 is less. A dash stands where there is no such figure.

The tools of our side:

{tools}
"""


def table(head, rows, left=1):
    """Markdown; the first `left` columns are flush left."""
    lines = [head, [":---" if i < left else "---:" for i in range(len(head))], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def number(value):
    return "–" if value is None else f"{value:,}"


def ratio(ours, theirs):
    return f"{ours / theirs:.3f}" if ours is not None and theirs else "–"


def quoted(text):
    return "\n".join(textwrap.wrap(text, 98, initial_indent="> ", subsequent_indent="> "))


def name_of(row):
    return f"`{row['model']}`" + ("" if row["level"] == "default" else f" `-O {row['level']}`")


def models_of(rows):
    names = dict.fromkeys(row["model"] for row in rows)
    return sorted(names, key=lambda name: (is_float(name), name))


def overview(rows, base):
    found = {(row["model"], row["target"]): row for row in rows if row["level"] == "default"}
    targets = [t for t in TARGETS if any(row["target"] == t for row in rows)]
    lines = []
    for model in models_of(rows):
        cells = [f"`{model}`"]
        for target in targets:
            row, other = found.get((model, target)), base and base.strongest(model, target)
            cells.append(ratio(row["instructions"], other["instructions"]) if row and other
                         else "–" if row else "")
        lines.append(cells)
    return ("## Instructions against the strongest competitor\n\n"
            "Empty: the model does not fit the board or was not measured. Dash: nobody else's "
            "figure is known.\n\n" + table(["model", *targets], lines))


def flash(row):
    return row["code_bytes"] + row["constants_bytes"]


def target_tables(target, rows, base):
    speed, memory = [], []
    for row in rows:
        best = base and base.strongest(row["model"], target)
        reference = base and base.reference(row["model"], target)
        theirs = best or {}
        title = f"{baselines.KERNELS[best['kernels']]} {best['flags']}" if best else "–"
        speed.append([name_of(row), number(row["instructions"]),
                      f"{row['instructions'] / row['macs']:.2f}" if row["macs"] else "–",
                      number(theirs.get("instructions")), title,
                      ratio(row["instructions"], theirs.get("instructions")),
                      number(reference and reference["instructions"]),
                      ratio(row["instructions"], reference and reference["instructions"])])
        ram = row["arena_bytes"] + row["io_bytes"]
        their_flash = best and best["code_bytes"] + best["model_bytes"]
        memory.append([name_of(row), number(row["arena_bytes"]), number(ram),
                       number(theirs.get("arena_bytes")), ratio(ram, theirs.get("arena_bytes")),
                       number(row["stack_bytes"]), number(theirs.get("stack_bytes")),
                       number(row["code_bytes"]), number(row["constants_bytes"]),
                       number(their_flash), ratio(flash(row), their_flash)])
    return "\n".join([
        f"## {target}: {board_of(target)['title']}\n",
        table(["model", "instructions", "per MAC", "strongest", "which", "ratio", "reference",
               "ratio"], speed),
        table(["model", "arena", "arena, in, out", "TFLM arena", "ratio", "stack", "TFLM stack",
               "code", "constants", "TFLM code, model", "ratio"], memory)])


def beside(rows, base):
    """One table: ours and theirs, of every model that both were measured with."""
    lines = []
    for row in rows:
        best = base.strongest(row["model"], row["target"]) if row["level"] == "default" else None
        if best is None:
            continue
        lines.append([row["target"], name_of(row), number(row["instructions"]), number(best["instructions"]),
                      number(row["arena_bytes"] + row["io_bytes"]), number(best["arena_bytes"]),
                      number(row["stack_bytes"]), number(best["stack_bytes"]),
                      number(flash(row)), number(best["code_bytes"] + best["model_bytes"]),
                      number(best["init_instructions"])])
    return table(["core", "model", "instructions", "TFLM", "RAM", "TFLM", "stack", "TFLM", "flash", "TFLM",
                  "TFLM's start"], lines, left=2)


def layer_table(row, base):
    best = base.strongest(row["model"], row["target"])
    if best is None or "layers" not in row:
        return None
    lines = []
    for theirs, ours in baselines.pair(row["layers"], best["layers"]):
        lines.append([theirs["kind"], number(theirs["macs"]),
                      number(ours) if ours is not None else "fused or removed",
                      number(theirs["insns"]), ratio(ours, theirs["insns"])])
    lines.append(["whole", number(best["macs"]), number(row["instructions"]),
                  number(best["instructions"]), ratio(row["instructions"], best["instructions"])])
    title = f"{baselines.KERNELS[best['kernels']]} {best['flags']}"
    return (f"### `{row['model']}` on {row['target']}\n\n"
            + table(["layer", "MACs", "instructions", title, "ratio"], lines))


def layer_tables(rows, base):
    tables = [layer_table(row, base) for row in rows
              if base and row["target"] in LAYER_TARGETS and row["level"] == "default" and not is_float(row["model"])]
    tables = [text for text in tables if text]
    if not tables:
        return []
    return ["## Per layer\n\nEach row is an operator of the model file, beside the strongest "
            "competitor's. One that was fused\nhas its work in the instructions of another row.\n",
            *tables]


def markdown(rows, tools, base, estimated=None):
    rows = sorted(rows, key=lambda row: (is_float(row["model"]), row["model"], row["level"]))
    what = base.what if base else "no figures were at hand when this page was made."
    listed = "\n".join(f"- {version}" for version in dict.fromkeys(tools.values()))
    parts = [INTRODUCTION.format(command=COMMAND, what=quoted(what), tools=listed),
             overview(rows, base)]
    if estimated:
        parts.append(published.text(estimated))
    for target in TARGETS:
        chosen = [row for row in rows if row["target"] == target]
        if chosen:
            parts.append(target_tables(target, chosen, base))
    return "\n".join(parts + layer_tables(rows, base))
