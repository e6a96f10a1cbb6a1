# SPDX-License-Identifier: Apache-2.0
"""The final line of a run and its exit code, and what scripts/count-tests reads of them."""
import importlib.machinery
import importlib.util
import pathlib

import pytest

pytest_plugins = ["pytester"]
TESTS = pathlib.Path(__file__).resolve().parent
HEAD = "import common, pytest\n"
CASES = {
    "passed": ("def test(): pass", 0, (1, 0, 0)),
    "failed": ("def test(): raise common.Failure('no')", 1, (0, 1, 0)),
    "several": ("def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): common.skip('no board')", 1, (1, 1, 1)),
    "skipped": ("def test(): common.skip('no board')", 77, (0, 0, 1)),
    "skipped by a fixture": ("@pytest.fixture\ndef f(): common.skip('')\ndef test(f): pass", 77, (0, 0, 1)),
    "skipped file": ("pytest.skip('no', allow_module_level=True)", 77, (0, 0, 1)),
    "missing": ("def test(): common.missing('no model')", 77, (0, 0, 1)),
    "error in a fixture": ("@pytest.fixture\ndef f(): assert 0\ndef test(f): pass", 1, (0, 1, 0)),
    "error behind a test": ("@pytest.fixture\ndef f():\n  yield\n  assert 0\ndef test(f): pass", 1, (1, 1, 0)),
    "does not import": ("import nowhere_to_be_found", 2, (0, 1, 0)),
    "no test": ("x = 1", 5, (0, 0, 0)),
    "told": ("def test(record_property): record_property('cases', 12)", 0, (12, 0, 0)),
    "told and failed": ("def test(record_property):\n  record_property('cases', 12)\n  assert 0", 1, (0, 1, 0)),
    "parameters": ("@pytest.mark.parametrize('n', range(3))\ndef test(n): assert n != 1", 1, (2, 1, 0)),
    "subtests": ("def test(subtests):\n  for n in range(4):\n    with subtests.test(n=n): assert n != 2", 1, (3, 1, 0)),
}


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs a test file with our conftest.py."""
    def run(text, ci=""):
        monkeypatch.setenv("CI", ci)
        pytester.makepyfile(test_it=HEAD + text)
        return pytester.runpytest_inprocess("-q", "-rs", "-p", "conftest")
    return run


def counted(done):
    """(passed, failed, skipped) as scripts/count-tests reads them."""
    loader = importlib.machinery.SourceFileLoader("count_tests", str(TESTS.parent / "scripts" / "count-tests"))
    count_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("count_tests", loader))
    loader.exec_module(count_tests)
    numbers = count_tests.PLAIN.findall(done.stdout.str())
    assert len(numbers) == 1
    assert done.stdout.str().rstrip().endswith("skipped")
    return tuple(map(int, numbers[0]))


@pytest.mark.parametrize("name", CASES)
def test_final_line(name, run):
    text, code, counts = CASES[name]
    done = run(text)
    assert (done.ret, counted(done)) == (code, counts)


def test_missing_fails_in_ci(run):
    done = run("def test(): common.missing('no model')", ci="true")
    assert (done.ret, counted(done)) == (1, (0, 1, 0))
    assert "no model, and CI=true" in done.stdout.str()


def test_skip_says_why(run):
    assert "no board" in run("def test(): common.skip('no board')").stdout.str()
