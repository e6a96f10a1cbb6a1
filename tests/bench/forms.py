# SPDX-License-Identifier: Apache-2.0
"""The quantised forms of one network beside each other: arena, constants, estimated cycles, counted instructions.

forms.json holds the recorded figures. A requested figure of FORMS is marked in the table if it is not reached.
"""
import concurrent.futures
import shutil
import sys
from dataclasses import dataclass, field

import measure
import record

RECORD = record.RECORD.with_name("forms.json")
TARGETS = ("m4", "m55", "rv32imac")
FIGURES = {"arena bytes": "arena_bytes", "constants bytes": "constants_bytes", "estimated cycles": "estimated_cycles",
           "instructions": "instructions"}
SILU_ELEMENTS = 2048


@dataclass(frozen=True)
class Form:
    """A model below ../shared (or a function that makes it) and its requested figures.

    `m4`: most of each figure on a Cortex-M4. `of`: most of each figure as (form, part of this form's figure), on each
    target.
    """
    title: str
    source: object
    m4: dict = field(default_factory=dict)
    of: dict = field(default_factory=dict)


def silu():
    """int8 SiLU of 2,048 elements, as TensorFlow's converter writes it."""
    sys.path.append(str(measure.ROOT / "tests" / "oracle"))
    try:
        from tflite_builder import ModelBuilder
    except ImportError as missing:
        raise measure.Failure(f"{missing}; run .venv/bin/python scripts/bench") from missing
    m = ModelBuilder()
    x = m.tensor("x", "int8", (1, SILU_ELEMENTS), 0.05, 3)
    gate = m.tensor("gate", "int8", (1, SILU_ELEMENTS), 1 / 256, -128)
    y = m.tensor("y", "int8", (1, SILU_ELEMENTS), 0.03, -110)
    m.op("LOGISTIC", [x], [gate])
    m.op("MUL", [x, gate], [y])
    return m.finish([x], [y])


def alike(form, *columns):
    return {column: (form, 1.0) for column in columns or FIGURES.values()}


def as_int8(arena, cycles):
    return {"arena_bytes": arena, "estimated_cycles": cycles}


FORMS = {
    "resnet8_float": Form("resnet8, float", "quantised/resnet8_pre.onnx"),
    "resnet8_int8": Form("resnet8, int8", "quantised/resnet8_s8s8pc.onnx"),
    "resnet8_kept": Form("resnet8, weights float -> Q -> DQ", "quantised/resnet8_dqkeep.onnx",
                         as_int8(41_000, 14_200_000), alike("resnet8_int8")),
    "resnet8_int4": Form("resnet8, int4 weights", "quantised/resnet8_21.w4.onnx", as_int8(41_000, 15_500_000),
                         {"constants_bytes": ("resnet8_int8", 0.60)}),
    "resnet8_int16": Form("resnet8, int16 activations", "quantised/resnet8_a16w8.onnx", as_int8(82_000, 28_000_000)),
    "resnet8_dynamic": Form("resnet8, quantize_dynamic", "quantised/resnet8_dyn.onnx", as_int8(176_000, 45_000_000)),
    "dscnn_float": Form("dscnn, float", "quantised/dscnn_pre.onnx"),
    "dscnn_int8": Form("dscnn, int8, AveragePool behind DQ", "quantised/dscnn_s8s8pc.onnx", {"arena_bytes": 12_000}),
    "dscnn_kept": Form("dscnn, weights float -> Q -> DQ", "quantised/dscnn_dqkeep.onnx", {}, alike("dscnn_int8")),
    "dscnn_int4": Form("dscnn, int4 weights", "quantised/dscnn_21.w4.onnx", {},
                       {"constants_bytes": ("dscnn_int8", 0.60)}),
    "dscnn_int16": Form("dscnn, int16 activations", "quantised/dscnn_a16w8.onnx"),
    "dense_float": Form("dense 128x128, float", "cases/weight-only-quant-onnx/wo_f.onnx"),
    "dense_int8": Form("dense 128x128, int8 weights", "cases/weight-only-quant-onnx/wo_i8.onnx",
                       {"arena_bytes": 512, "instructions": 90_000}),
    "dense_int4": Form("dense 128x128, int4 weights", "cases/weight-only-quant-onnx/wo_i4.onnx", {"arena_bytes": 512}),
    "dense_blocks": Form("dense 256x256, blocks of int4", "cases/weight-only-quant-onnx/int4blk.onnx",
                         {"arena_bytes": 1_100}),
    "conv_int8": Form("Conv, int8 weights", "cases/weight-only-quant-onnx/wo_conv.onnx"),
    "cnn_int8": Form("cnn, int8", "cases/a16w8-qdq-onnx/cnn_a8w8pc.onnx"),
    "cnn_int16": Form("cnn, int16 activations", "cases/a16w8-qdq-onnx/cnn_a16w8pc.onnx", {},
                      {"instructions": ("cnn_int8", 2.0)}),
    "cnn_uint16": Form("cnn, uint16 activations", "cases/a16w8-qdq-onnx/cnn_u16w8pc.onnx", {},
                       {"instructions": ("cnn_int8", 2.0)}),
    "har_2d": Form("HAR, Conv2d", "cases/onnx/har2d.onnx"),
    "har_1d": Form("HAR, Conv1d", "cases/onnx/har1d.onnx", {}, alike("har_2d")),
    "tcn_2d": Form("TCN, Conv2d", "cases/conv1d-onnx/tcn2d.onnx"),
    "tcn_1d": Form("TCN, Conv1d", "cases/conv1d-onnx/tcn1d.onnx", {}, alike("tcn_2d")),
    "silu": Form(f"int8 SiLU of {SILU_ELEMENTS:,} elements", silu,
                 {"arena_bytes": SILU_ELEMENTS, "instructions": 4 * SILU_ELEMENTS}),
}


def available():
    return [name for name, form in FORMS.items() if callable(form.source) or (measure.SHARED / form.source).exists()]


def measure_form(aotc, name, target, work, say):
    """The row of a form, or None if the model does not fit the board."""
    source = FORMS[name].source
    folder = work / f"form_{name}.{target}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = measure.SHARED / source if isinstance(source, str) else folder / f"{name}.tflite"
    if callable(source):
        path.write_bytes(source())
    try:
        done = measure.run_project(aotc, path, measure.TARGETS[target], folder / "project", [], f"{name} on {target}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if done is None:
        return None
    report, size, run = done
    say(f"{name} on {target}: {run['instructions']:,} instructions")
    return {"model": name, "target": target, "level": "default", "arena_bytes": report["arena_bytes"],
            "constants_bytes": size["constants_bytes"], "estimated_cycles": report.get("estimated_cycles") or 0,
            "instructions": run["instructions"]}


def measure_all(aotc, names, targets, jobs, work, say):
    """(rows, keys of what does not fit)."""
    chosen = [(name, target) for name in names for target in targets]
    with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        found = list(pool.map(lambda one: measure_form(aotc, *one, work.resolve(), say), chosen))
    return ([row for row in found if row],
            [(name, target, "default") for (name, target), row in zip(chosen, found) if not row])


def requested(row, rows):
    """The most of each figure that is requested of a row."""
    form = FORMS[row["model"]]
    most = dict(form.m4) if row["target"] == "m4" else {}
    for column, (other, part) in form.of.items():
        twin = [r for r in rows if (r["model"], r["target"]) == (other, row["target"])]
        if twin:
            most[column] = min(most.get(column, float("inf")), int(part * twin[0][column]))
    return most


def over(row, rows):
    """(column, figure, requested figure) of what a row does not reach."""
    return [(column, row[column], most) for column, most in requested(row, rows).items() if row[column] > most]


def markdown(rows):
    lines = ["| form | core | arena, bytes | constants, bytes | estimated cycles | instructions | requested |",
             "|:--|:--|--:|--:|--:|--:|:--|"]
    for row in sorted(rows, key=lambda r: (list(measure.TARGETS).index(r["target"]), list(FORMS).index(r["model"]))):
        most = requested(row, rows)
        cells = [f"{row[column]:,}{' (over)' if row[column] > most.get(column, row[column]) else ''}"
                 for column in FIGURES.values()]
        bounds = "; ".join(f"{what} {most[column]:,}" for what, column in FIGURES.items() if column in most)
        lines.append(f"| {FORMS[row['model']].title} | {row['target']} | {' | '.join(cells)} | {bounds or '–'} |")
    return "\n".join(lines) + "\n"
