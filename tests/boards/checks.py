# SPDX-License-Identifier: Apache-2.0
"""check() of the tests of boards: each is a subtest of the test that runs, so that all of them are made and counted.

A test file imports each_check, too, which is the fixture behind it.
"""
import pytest

_running = []


@pytest.fixture(autouse=True)
def each_check(subtests):
    _running.append(subtests)
    yield
    _running.pop()


def check(good, what, detail=""):
    with _running[-1].test(what):
        assert good, detail
    return good
