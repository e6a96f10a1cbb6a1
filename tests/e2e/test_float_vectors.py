# SPDX-License-Identifier: Apache-2.0
"""Subnormal numbers in float layers on a Cortex-M55, whose vectors take them as 0.

The model has products and sums that are subnormal. Kernels find that out and compute these tiles in the FPU. Without that
test the vectors' results are others than LiteRT's, so the test is needed, and QEMU's vectors flush as the core's do.
"""
import re

import bundle
import common
import emitted_cases
import numpy as np
import pytest

MODEL, TARGET = "vectors_tiny_float32", "cortex_m55_files"
# The branch behind the test of FPSCR's flags.
BRANCH = re.compile(r'("tst r\d+,\s*#136\\n"\n(?:\s*/\*.*\n)*)\s*"bne \d+f\\n"\n')


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    bundle.require(TARGET)
    folder = tmp_path_factory.mktemp("tiny")
    return folder, bundle.Case(MODEL, bundle.Program(TARGET, options=("--cpu", "cortex-m55")), folder)


def run(folder, case):
    image = bundle.build(emitted_cases.TARGETS[TARGET], folder, bundle.write_sources(folder, [case.prefix], 1), ["-O2"])
    common.run_program([c.format(image=image) for c in emitted_cases.TARGETS[TARGET].command], [case.given], [case.results])
    return case.compare()


def test_reference_has_subnormals(case):
    tiny = np.finfo(np.float32).tiny
    results = [np.abs(result) for sample in case[1]._oracle.outputs for result in sample]
    assert sum(((0 < result) & (result < tiny)).any() for result in results) >= 3


# 3 CPU seconds.
def test_exact(case):
    print(run(*case))


# 3 CPU seconds.
def test_vectors_alone_differ(case):
    folder, model = case
    source = folder / f"{model.prefix}.c"
    text, branches = BRANCH.subn(r"\1", source.read_text())
    assert branches >= 2, "no kernel tests the flags"
    source.write_text(text)
    with pytest.raises(common.Failure, match="differ"):
        run(folder, model)
