#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Estimated instructions beside those that QEMU counts, by model and core, and by layer.

  tests/bench/estimates.py                      a table of all models and cores (docs/cycles.md)
  tests/bench/estimates.py --models A,B         of some models
  tests/bench/estimates.py --held-out           of models that no cost was chosen with (held_out_models.py)
  tests/bench/estimates.py --layers             layers that are out of bounds, too
  tests/bench/estimates.py --record             writes estimates.json: what is out of bounds now, with its figure
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]
import estimated_models  # noqa: E402
import held_out_models  # noqa: E402
import measure  # noqa: E402

TARGETS = tuple(name for name, core in measure.CORES.items() if core.estimated)
WHOLE, LAYER, SHARE = 0.05, 0.15, 0.02  # bounds of a model and of a layer; layers with more than this share
EXCEPTIONS = HERE / "estimates.json"
FIXTURES = measure.ROOT / "tests" / "models"
FILES = {name: FIXTURES / file for name, file in {
    "lstm_int8": "keras/lstm_turns_int8.tflite", "lstm_f32": "state/lstm_wide_f32.tflite",
    "lstm_hybrid": "state/lstm_wide_hybrid.tflite", "lstm_onnx": "torch/lstm_script.onnx",
    "gru_int8": "keras/gru_turns_int8.tflite", "gru_f32": "keras/gru_steps_f32.tflite",
    "gru_onnx": "torch/gru_script.onnx", "transformer_onnx": "torch/transformer_script.onnx",
    "transformer_int8": "twins/transformer_int8.tflite", "glance_int16": "keras/glance_int16.tflite",
    "conv1d_int16": "keras/conv1d_int16.tflite", "cnn_dynamic_range": "keras/weights_dynamic.tflite",
    "planes_f32": "planes/plain_planes_f32.tflite", "residual_f32": "twins/residual_f32.tflite",
    "convolutional_f32": "twins/convolutional_f32.tflite"}.items()}
SHARED = {"kws_qdq": measure.SHARED / "quantised" / "dscnn_s8s8pc.onnx"}
MODELS = (*FILES, *SHARED, *estimated_models.MADE)
HELD_OUT = tuple(held_out_models.MADE)


def path_of(model, work):
    """The file of a model; None if it belongs to ../shared and is not there."""
    if model in held_out_models.MADE:
        end, make = held_out_models.MADE[model]
        path = work / f"{model}{end}"
        path.write_bytes(make())
        return path
    if model in estimated_models.MADE:
        path = work / f"{model}.tflite"
        path.write_bytes(estimated_models.made(model))
        return path
    path = FILES.get(model) or SHARED[model]
    return path if path.exists() or model in FILES else None


def compare(aotc, path, target, work, board=None):
    """{"estimated", "counted", "layers"} of one inference; a layer is a call of the program. None: it does not fit.

    `board`: where the program runs, if not on the board of the target."""
    folder = work / f"{path.stem}.{target}"
    try:
        if aotc.run("create", path, "--board", board or measure.TARGETS[target], "-o", folder, may_not_fit=True) is None:
            return None
        aotc.run("build", folder)
        run = aotc.run("run", folder, "--timeout", aotc.timeout)
        report = aotc.run("report", folder, "--no-alternatives")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if run.get("status") != 0 or run.get("guard_ok") != 1:
        raise measure.Failure(f"{path.stem} on {target}: status {run.get('status')}, arena guards intact: "
                              f"{run.get('guard_ok')}")
    return {"estimated": report["estimated_instructions"], "counted": run["instructions"],
            "layers": [layer_of(layer, report) for layer in report["layers"]]}


def elements(tensors):
    return sum(math.prod(tensor["shape"]) for tensor in tensors)


def layer_of(layer, report):
    results = layer.get("results")
    read = [report["inputs"][operand["input"]] for operand in layer.get("operands", ()) if "input" in operand]
    read += [tensor for operand in layer.get("operands", ()) if "call" in operand
             for tensor in report["layers"][operand["call"]].get("results") or ()]
    return {"kind": layer.get("op_type") or "copy", "op": layer.get("op") or "copy", "op_index": layer.get("op_index"),
            "dtype": results[0]["dtype"] if results else "", "schedule": layer.get("schedule", ""),
            "macs": layer.get("macs", 0), "inputs": elements(read), "outputs": elements(results or ()),
            "estimated": layer.get("estimated_instructions", 0),
            "counted": layer.get("instructions") or 0}


def off(estimated, counted):
    return (estimated - counted) / counted


def outside(found):
    """{"whole" or "N TYPE": per cent} of what is out of bounds."""
    out = {}
    part = off(found["estimated"], found["counted"])
    if abs(part) > WHOLE:
        out["whole"] = round(100 * part, 1)
    for i, layer in large(found):
        part = off(layer["estimated"], layer["counted"])
        if abs(part) > LAYER:
            out[f"{i} {layer['kind']}"] = round(100 * part, 1)
    return out


def large(found):
    """(index, layer) of the layers with more than SHARE of the instructions."""
    return [(i, layer) for i, layer in enumerate(found["layers"]) if layer["counted"] > SHARE * found["counted"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=lambda text: text.split(","))
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--targets", type=lambda text: text.split(","), default=TARGETS)
    parser.add_argument("--aotc", default=measure.ROOT / "build/release/compiler/aotc")
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    aotc, exceptions = measure.Aotc(options.aotc, 600), {}
    print("| model | core | counted | estimated | off | layers over 2 % of the model that are over 15 % off |")
    print("|:--|:--|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        work = pathlib.Path(temporary)
        jobs = []
        for model in options.models or (HELD_OUT if options.held_out else MODELS):
            path = path_of(model, work)
            if path:
                jobs += [(model, t, pool.submit(compare, aotc, path, t, work)) for t in options.targets]
        for model, target, job in jobs:
            found = job.result()
            out = outside(found)
            exceptions[f"{model} {target}"] = out
            far = {k: v for k, v in out.items() if k != "whole"}
            print(f"| `{model}` | {target} | {found['counted']:,} | {found['estimated']:,} | "
                  f"{100 * off(found['estimated'], found['counted']):+.1f} % | {len(far)} of {len(large(found))} |",
                  flush=True)
            for layer, part in far.items() if options.layers else ():
                print(f"    {layer}: {part:+} %")
    if options.record:
        known = json.loads(EXCEPTIONS.read_text()) if EXCEPTIONS.exists() else {}
        known = {k: v for k, v in {**known, **exceptions}.items() if v}
        EXCEPTIONS.write_text(json.dumps(known, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
