#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the node tests of a package onnx that makes them in memory (1.22 and later) to a folder, as earlier ones have
them on disk.

Usage: write_node_tests.py FOLDER     with a Python that has that package; then
       scripts/onnx-node-tests --root FOLDER
"""
import pathlib
import sys

import numpy as np


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        help_asked = sys.argv[1:] in (["-h"], ["--help"])
        print(__doc__, file=sys.stdout if help_asked else sys.stderr)
        sys.exit(0 if help_asked else 2)
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.loader import load_node_model_tests
    written = 0
    for case in load_node_model_tests():
        folder = pathlib.Path(sys.argv[1]) / case.name
        data = folder / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        for kind, values in zip(("input", "output"), case.data_sets[0]):
            for i, value in enumerate(values):
                if isinstance(value, (np.ndarray, np.generic)):
                    value = numpy_helper.from_array(np.asarray(value))
                # Others, sequences among them, are no tensors.
                (data / f"{kind}_{i}.pb").write_bytes(value.SerializeToString() if isinstance(value, onnx.TensorProto) else b"?")
        written += 1
    print(f"{written} tests of onnx {onnx.__version__}")


if __name__ == "__main__":
    main()
