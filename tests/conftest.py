# SPDX-License-Identifier: Apache-2.0
"""Fixtures, options and the final line of all tests that pytest runs.

A run ends with `N passed, N failed, N skipped`, which count-tests sums up. Each test counts as one case.
A test that checks several cases at once says how many: record_property("cases", N). Subtests count one by one.

common.skip skips a test. common.missing skips it, too, but fails with CI=true. A run whose tests are all skipped ends
with exit code 77, which ctest reports as skipped.
"""
import collections
import os
import pathlib

import pytest

ALL_SKIPPED = 77
COUNTS = pytest.StashKey[collections.Counter]()
SUBTESTS = pytest.StashKey[collections.Counter]()


def pytest_addoption(parser):
    group = parser.getgroup("aotc")
    group.addoption("--build", type=pathlib.Path, help="CMake's build folder (default: $AOTC_BUILD, or build/release)")
    group.addoption("--models", metavar="A,B", type=lambda text: text.split(","),
                    help="names or files of models, in place of those of tests that are marked with models()")
    group.addoption("--aotc", type=pathlib.Path, help="the compiler (default: $AOTC, or that of the build folder)")


def pytest_configure(config):
    root = pathlib.Path(__file__).resolve().parents[1]
    build = config.getoption("build") or os.environ.get("AOTC_BUILD") or root / "build" / "release"
    build = pathlib.Path(build).resolve()
    # A build folder on the command line comes before $AOTC, which is from another one.
    inherited = None if config.getoption("build") else os.environ.get("AOTC")
    aotc = config.getoption("aotc") or inherited or build / "compiler" / "aotc"
    os.environ.update(AOTC_BUILD=str(build), AOTC=str(pathlib.Path(aotc).resolve()))
    config.stash[COUNTS], config.stash[SUBTESTS] = collections.Counter(), collections.Counter()
    config.pluginmanager.register(Counter(config), "aotc-counter")


def pytest_generate_tests(metafunc):
    for marker in metafunc.definition.iter_markers("models"):
        metafunc.parametrize("model", metafunc.config.getoption("models") or marker.args, ids=lambda m: pathlib.Path(m).stem)


class Counter:
    """Counts cases."""

    def __init__(self, config):
        self._counts, self._subtests = config.stash[COUNTS], config.stash[SUBTESTS]

    def pytest_collectreport(self, report):
        if report.failed or report.skipped:
            self._counts[report.outcome] += 1

    def pytest_runtest_logreport(self, report):
        if hasattr(report, "context"):
            self._subtests[report.nodeid, report.outcome] += 1
            self._counts[report.outcome] += 1
            return
        counted = sum(n for (node, _), n in self._subtests.items() if node == report.nodeid)
        if report.when == "call" and report.passed and not counted:
            self._counts["passed"] += dict(report.user_properties).get("cases", 1)
        elif report.skipped or (report.failed and not self._subtests[report.nodeid, "failed"]):
            self._counts[report.outcome] += 1


def _skips():
    """Runs a hook; common.skip below it skips the test."""
    import common
    try:
        return (yield)
    except common.Skipped as skipped:
        pytest.skip(skipped.why)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup():
    return (yield from _skips())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    return (yield from _skips())


def pytest_sessionfinish(session, exitstatus):
    counts = session.config.stash[COUNTS]
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and set(+counts) == {"skipped"}:
        session.exitstatus = ALL_SKIPPED


def pytest_unconfigure(config):
    counts = config.stash.get(COUNTS, None)
    if counts is not None and config.pluginmanager.hasplugin("terminalreporter") and not config.getoption("collectonly"):
        config.get_terminal_writer().line(", ".join(f"{counts[n]} {n}" for n in ("passed", "failed", "skipped")))


@pytest.fixture(scope="session")
def build_folder():
    """CMake's build folder: programs of ours that a test runs lie there."""
    return pathlib.Path(os.environ["AOTC_BUILD"])
