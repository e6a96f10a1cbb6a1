# SPDX-License-Identifier: Apache-2.0
"""The first help screen of each command is short, and --help-all has every option."""
import re

import common
import pytest

MOST = 12
ROW = re.compile(r"^  (-[^ ].*?)(?:  |$)", re.M)


def commands():
    """Every command that takes options, as words behind aotc."""
    names = re.findall(r"^  ([a-z-]+)(?: |$)", common.aotc("help").split("Options:")[0], re.M)
    for name in names:
        below = re.findall(r"^  ([a-z-]+)(?: |$)", common.aotc("help", name).split("Options:")[0], re.M)
        yield from ([name, other] for other in below) if "COMMAND" in common.aotc("help", name) else [[name]]


def rows(text):
    return [row.split(",")[-1].split()[0] for row in ROW.findall(text)]


def test_first_screen_has_at_most_12_options():
    found = {" ".join(words): rows(common.aotc("help", *words)) for words in commands()}
    assert len(found) > 30
    assert {name: len(options) for name, options in found.items() if len(options) > MOST} == {}


@pytest.mark.parametrize("command", ["check", "compile", "create", "verify", "report", "evaluate", "diff", "schedules"])
def test_all_options_are_behind_help_all(command):
    short, whole = common.aotc(command, "--help"), common.aotc(command, "--help-all")
    more = int(re.search(rf"'aotc {command} --help-all' shows (\d+) more options", short)[1])
    missing = set(rows(whole)) - set(rows(short)) - {"--help-all"}
    assert len(missing) == more and set(rows(short)) <= set(rows(whole)), (missing, more)
    assert {"--board", "--cpu", "--optimize", "--prefer", "--stream"} <= set(rows(short))
    # The two options that trade resources are explained together.
    assert short.index("--prefer") - short.index("--optimize") < 700
