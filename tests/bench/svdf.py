#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of int8 SVDF layers for each multiply-accumulate.

Usage: svdf.py [--target m4] [--most RATIO] [--level balanced]

The layers have the sizes of TFLite Micro's keyword model (inputs, units, memory of rank 1) and states of int8 and
of int16; weights are drawn. Prints instructions of each layer, and exits with 1 if those of the widest one
are more than --most (default 1.30) for each MAC.
"""
import argparse
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "models" / "generate")]
import measure  # noqa: E402
import state_svdf  # noqa: E402

SIZES = ((96, 64, 8), (16, 64, 8), (16, 32, 32), (32, 32, 32))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="m4", choices=measure.TARGETS)
    parser.add_argument("--most", type=float, default=1.30)
    parser.add_argument("--level", default="balanced", choices=measure.LEVELS)
    parser.add_argument("--aotc", default=measure.ROOT / "build/release/compiler/aotc")
    options = parser.parse_args()
    aotc = measure.Aotc(options.aotc, 600)
    layers = [state_svdf.Layer(*size, state=state, seed=i) for state in ("int8", "int16")
              for i, size in enumerate(SIZES)]
    with tempfile.TemporaryDirectory() as temporary:
        measure.SHIPPED = pathlib.Path(temporary)
        (measure.SHIPPED / "svdf.tflite").write_bytes(state_svdf.model(layers, state_svdf.add_int8))
        row = measure.measure(aotc, "svdf", options.target, options.level, measure.SHIPPED / "work", print)
    print(f"{'inputs':>6} {'units':>6} {'memory':>6} {'state':>6} {'MACs':>8} {'instructions':>12} {'for each':>8}")
    ratios = []
    for layer, found in zip(layers, row["layers"], strict=True):
        ratios.append(found["instructions"] / found["macs"])
        print(f"{layer.inputs:>6} {layer.units:>6} {layer.memory:>6} {layer.state:>6} {found['macs']:>8,} "
              f"{found['instructions']:>12,} {ratios[-1]:>8.2f}")
    return 1 if max(ratios[0], ratios[len(SIZES)]) > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
