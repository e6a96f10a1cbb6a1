#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole models with weights of 4 bits: every layer as LiteRT's, and what they save.

Usage: int4_models.py TARGET --work DIR

Makes them of int8 models with scripts/int4-model, runs them as bundle.py TARGET does, and compares the bytes
of constants for a Cortex-M4 with those of int8, all channels kept: for kws and ad at most 0.60 of them.
"""
import argparse
import os
import pathlib
import subprocess
import sys

import common

MOST = {"kws": 0.60, "ad": 0.60}
OWN = ["digits_int8", "glance_int8"]


def constants(path):
    """Bytes of constants, with all of its channels."""
    return common.report(path, "--board", "nucleo_f446re", "--keep-dead-channels")["constants_bytes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    folder = common.fresh(options.work.resolve() / "models")
    shared = [name for name in MOST if (common.SHARED / "models" / f"{name}.tflite").exists()]
    failed, names = 0, []
    for name in OWN + shared:
        path = folder / f"{name}_int4.tflite"
        common.run([sys.executable, common.ROOT / "scripts" / "int4-model", common.model_path(name), path])
        names.append(path.stem)
        before, now = constants(common.model_path(name)), constants(path)
        bad = now > MOST.get(name, 1) * before
        failed += bad
        print(f"{name}: {now:,} of {before:,} bytes of constants, {now / before:.3f}{' FAILED' if bad else ''}",
              flush=True)
    done = subprocess.run([sys.executable, str(common.ROOT / "tests" / "e2e" / "bundle.py"), options.target,
                           "--work", str(options.work / "bundle"), "--models", ",".join(names)],
                          env={**os.environ, common.MORE_MODELS: str(folder)}, check=False)
    return 1 if failed else done.returncode


if __name__ == "__main__":
    sys.exit(main())
