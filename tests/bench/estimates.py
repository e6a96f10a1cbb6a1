#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Estimated instructions beside those that QEMU counts, by model and core, and by layer.

  tests/bench/estimates.py                      a table of all models and cores (docs/cycles.md)
  tests/bench/estimates.py --models A,B         of some models
  tests/bench/estimates.py --layers             layers that are out of bounds, too
  tests/bench/estimates.py --record             writes estimates.json: what is out of bounds now, with its figure
"""
import argparse
import concurrent.futures
import json
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]
import estimated_models  # noqa: E402
import measure  # noqa: E402

TARGETS = ("m4", "m55", "rv32imac")
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


def path_of(model, work):
    """The file of a model; None if it belongs to ../shared and is not there."""
    if model in estimated_models.MADE:
        path = work / f"{model}.tflite"
        path.write_bytes(estimated_models.made(model))
        return path
    path = FILES.get(model) or SHARED[model]
    return path if path.exists() or model in FILES else None


def compare(aotc, path, target, work):
    """{"estimated", "counted", "layers": [(type, estimated, counted)]} of one inference."""
    folder = work / f"{path.stem}.{target}"
    try:
        aotc.run("create", path, "--board", measure.TARGETS[target], "-o", folder)
        aotc.run("build", folder)
        counted = aotc.run("run", folder, "--timeout", aotc.timeout)["instructions"]
        report = aotc.run("report", folder, "--no-alternatives")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"estimated": report["estimated_instructions"], "counted": counted,
            "layers": [(layer.get("op_type") or "copy", layer.get("estimated_instructions", 0),
                        layer.get("instructions") or 0) for layer in report["layers"]]}


def off(estimated, counted):
    return (estimated - counted) / counted


def outside(found):
    """{"whole" or "N TYPE": per cent} of what is out of bounds."""
    out = {}
    part = off(found["estimated"], found["counted"])
    if abs(part) > WHOLE:
        out["whole"] = round(100 * part, 1)
    for i, (kind, estimated, counted) in enumerate(found["layers"]):
        if counted > SHARE * found["counted"] and abs(off(estimated, counted)) > LAYER:
            out[f"{i} {kind}"] = round(100 * off(estimated, counted), 1)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=lambda text: text.split(","), default=MODELS)
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
        for model in options.models:
            path = path_of(model, work)
            if path:
                jobs += [(model, t, pool.submit(compare, aotc, path, t, work)) for t in TARGETS]
        for model, target, job in jobs:
            found = job.result()
            out = outside(found)
            exceptions[f"{model} {target}"] = out
            far = {k: v for k, v in out.items() if k != "whole"}
            large = sum(counted > SHARE * found["counted"] for _, _, counted in found["layers"])
            print(f"| `{model}` | {target} | {found['counted']:,} | {found['estimated']:,} | "
                  f"{100 * off(found['estimated'], found['counted']):+.1f} % | {len(far)} of {large} |", flush=True)
            for layer, part in far.items() if options.layers else ():
                print(f"    {layer}: {part:+} %")
    if options.record:
        known = json.loads(EXCEPTIONS.read_text()) if EXCEPTIONS.exists() else {}
        known = {k: v for k, v in {**known, **exceptions}.items() if v}
        EXCEPTIONS.write_text(json.dumps(known, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
