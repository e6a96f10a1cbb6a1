# SPDX-License-Identifier: Apache-2.0
"""Emitted C as gcc and clang build it at every level, run on this machine: every layer is LiteRT's (run_matrix.py)."""
import pytest
import run_matrix

BUILDERS = {}  # those of one compiler and width share objects


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def plan(folder):
    return run_matrix.prepare(folder, full=False)


@pytest.mark.parametrize("build", run_matrix.all_builds(full=False), ids=lambda build: build.name)
def test_run_matrix(build, plan, folder, record_property):
    builder = BUILDERS.setdefault((build.compiler, build.bits), run_matrix.Builder(folder))
    compared, wrong = run_matrix.run_build(builder, build, plan[build])
    assert compared and not wrong, "\n".join(text[:2000] for text in wrong)
    record_property("cases", len(plan[build]))
