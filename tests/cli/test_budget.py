# SPDX-License-Identifier: Apache-2.0
"""--budget and --objective: the search meets its limits with figures of the C that it writes, keeps the user's options,
is no worse than the default, repeats itself, and names limits that can be met.

CPU: about 40 seconds.
"""
import json
import re

import common
import pytest

MODELS = common.ROOT / "tests" / "models"
DIGITS = MODELS / "digits" / "digits_int8.tflite"
GADGET = MODELS / "gadget" / "gadget_int8.tflite"
BOARD = "qemu_mps2_an386"


def figures(*arguments):
    said = json.loads(common.aotc("check", *arguments, "--json", "--quiet"))
    caller = (0 if said["input_in_arena"] else said["input_bytes"]) + (0 if said["output_in_arena"] else said["output_bytes"])
    return said, said["arena_bytes"] + said.get("state_bytes", 0) + caller


def refused(code, *arguments):
    """Standard error of a search that ends with this exit code."""
    done = common.aotc("check", GADGET, *arguments, "--quiet", expect=None)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_limits_are_met_by_what_is_written():
    said, ram = figures(DIGITS, "--board", BOARD, "--budget", "ram=2000,flash=64K")
    assert ram == said["budget"]["ram_bytes"] <= 2000
    assert said["constants_bytes"] < said["budget"]["flash_bytes"] <= 64 << 10
    # Without a search, the arena alone takes more.
    assert figures(DIGITS, "--board", BOARD)[1] > 2000


@pytest.mark.parametrize("objective, figure", [("ms", "cycles"), ("ram", "ram_bytes"), ("flash", "flash_bytes")])
def test_no_variant_is_better_by_the_objective(objective, figure):
    found = figures(GADGET, "--board", BOARD, "--objective", objective)[0]["budget"]
    for options in ([], ["-O", "speed"], ["--stream", "max"]):
        fixed = figures(GADGET, "--board", BOARD, *options, "--budget", "ram=1M")[0]["budget"]
        if figure != "flash_bytes" or fixed["code_measured"]:
            assert found[figure] <= fixed[figure], options


@pytest.mark.parametrize("given, stays, better", [
    # Each limit can be met only with another value than the given one, which is the default.
    (["--stream", "off"], {"stream": "off"}, "ram=2000"),
    (["-O", "balanced"], {"level": "balanced"}, "flash=21500"),
    (["--prefer", "flash"], {"level": "size"}, "cycles=320K")])
def test_given_values_stay(given, stays, better):
    board = ["--board", BOARD]
    said = figures(DIGITS, *board, *given, "--objective", "ms")[0]
    assert {key: said[key] for key in stays} == stays
    assert common.aotc("check", DIGITS, *board, *given, "--budget", better, "--quiet", expect=None).returncode == 3
    common.aotc("check", DIGITS, *board, "--budget", better, "--quiet")


def test_several_models_have_no_budget(tmp_path):
    done = common.aotc("compile", DIGITS, GADGET, "--together", "--budget", "ram=1", "-o", tmp_path / "out", expect=None)
    assert done.returncode == 2 and "--budget applies to one model" in done.stderr, done.stderr


def test_milliseconds_are_written_as_limits_are():
    given = ["--board", "nano33ble", "-O", "size", "--prefer", "ram", "--stream", "off"]
    said = refused(3, *given, "--budget", "ms=0.001")
    least = re.search(r"help: ms=([0-9.]+) can be met together with the other limits: -O size", said)[1]
    common.aotc("check", GADGET, *given, "--budget", f"ms={least}", "--quiet")


def test_given_options_stay():
    said = figures(DIGITS, "--board", BOARD, "-O", "size", "--stream", "max", "--budget", "ram=64K")[0]
    assert (said["level"], said["stream"]) == ("size", "max")


def test_a_project_is_what_the_search_found(tmp_path):
    def c_of(folder, *arguments):
        common.aotc("compile", DIGITS, "--cpu", "cortex-m4f", *arguments, "-o", folder, "--quiet")
        return (folder / "digits_int8.c").read_text(), json.loads((folder / "aotc.json").read_text())["compile"]
    first, stored = c_of(tmp_path / "one", "--objective", "ms")
    again, _ = c_of(tmp_path / "two", "--objective", "ms")
    assert first == again
    # aotc.json has the choice, not the budget: the options and schedules give the same C without a search.
    assert "budget" not in stored and stored["level"] == "speed"
    schedules = tmp_path / "schedules.json"
    schedules.write_text(json.dumps({"calls": stored["schedules"]}))
    assert c_of(tmp_path / "three", "-O", "speed", "--schedules", schedules)[0] == first


@pytest.mark.parametrize("board", [BOARD, "host"])
def test_a_project_verifies(tmp_path, board):
    folder = tmp_path / "app"
    common.aotc("create", DIGITS, "--board", board, "--budget", "ram=2K", "-o", folder, "--quiet")
    common.aotc("verify", folder, "--only", "host", "--quiet")


def test_a_limit_that_the_message_names_can_be_met():
    said = refused(3, "--board", BOARD, "--budget", "ram=100,flash=64K")
    assert re.search(r"error: no candidate meets the budget ram=100,flash=64K; \d+ were compiled \[over-budget\]\n"
                     r"  note: closest: -O \w+.* with RAM [\d,]+ bytes, flash ", said), said
    least = re.search(r"help: ram=(\d+) can be met together with the other limits: -O ", said)
    budget = figures(GADGET, "--board", BOARD, "--budget", f"ram={least[1]},flash=64K")[0]["budget"]
    assert budget["ram_bytes"] <= int(least[1])
    refused(3, "--board", BOARD, "--budget", f"ram={int(least[1]) - 1},flash=64K")


@pytest.mark.parametrize("budget, text", [
    ("ram=64Q", "'ram=64Q' is not a limit of --budget"), ("ram", "'ram' is not a limit"), ("ram=0", "'ram=0' is not a limit"),
    ("speed=1", "'speed=1' is not a limit"), ("ram=1K,ram=2K", "--budget has two limits for 'ram'"), ("ram=1e400", "is not a limit"),
    ("ram=-4", "is not a limit"), ("cycles=1,", None)])
def test_texts(budget, text):
    done = common.aotc("check", GADGET, "--board", BOARD, "--budget", budget, "--quiet", expect=None)
    if text is None:
        assert done.returncode in (0, 3), done.stderr
    else:
        assert done.returncode == 2 and text in done.stderr and "[budget-invalid]" in done.stderr, done.stderr


def test_time_needs_a_clock_or_a_core():
    said = refused(2, "--budget", "cycles=1M")
    assert "cannot estimate the cycles of this target [budget-invalid]" in said, said


def test_schedules_are_explained():
    """The reasons agree with the figures, and -O speed compiles what the list says that it chooses."""
    arguments = [DIGITS, "--cpu", "cortex-m4", "--most", "6"]
    text = common.aotc("schedules", *arguments, "--explain")
    rows = [re.split(r" {2,}", line) for line in text.splitlines()]
    assert rows[0] == ["op_index", "type", "schedule", "estimate", "constants", "scratch", "chosen by", "reason"]
    chosen = [row for row in rows if row[-1].startswith("chosen")]
    operators = json.loads(common.aotc("schedules", *arguments, "--json"))["operators"]
    assert len(chosen) == len(operators)
    for op in operators:
        best = min(a["estimated_cycles"] for a in op["alternatives"])
        row = next(row for row in chosen if row[0] == str(op["op_index"]))
        assert (row[-1] in ("chosen: the lowest estimate", "chosen: the lowest estimate of those listed", "chosen: the only one")) == (op["alternatives"][0]["estimated_cycles"] == best)
        assert sum(a["chosen"] for a in op["alternatives"]) == 1
        assert "-O balanced" in op["alternatives"][0]["chosen_by"]
    speed = json.loads(common.aotc("schedules", *arguments, "-O", "speed", "--json"))["operators"]
    for op, other in zip(operators, speed):
        named = [a["name"] for a in op["alternatives"] if "-O speed" in a["chosen_by"]]
        assert named in ([], [other["alternatives"][0]["name"]])


def test_schedules_of_one_operator():
    one = json.loads(common.aotc("schedules", DIGITS, "--cpu", "cortex-m4", "--op", "4", "--json"))["operators"]
    assert [op["op_index"] for op in one] == [4]
    done = common.aotc("schedules", DIGITS, "--cpu", "cortex-m4", "--op", "99", expect=None)
    assert done.returncode == 1 and "[op-unknown]" in done.stderr and "help: " in done.stderr, done.stderr


def test_the_price_of_flash_is_explained():
    text = common.aotc("schedules", common.model_path("resnet"), "--cpu", "cortex-m4f", "--op", "5", "--most", "2", "--explain")
    saved, price = re.search(r"it saves ([\d.]+) instructions for each further byte of constants, but must save ([\d.]+)", text).groups()
    assert float(saved) <= float(price), text


def test_warnings_about_the_model_are_shown():
    model = MODELS / "sklearn" / "random_forest_names.onnx"
    done = common.aotc("check", model, "--board", BOARD, "--objective", "ram", "--quiet", expect=None)
    assert done.returncode == 0 and done.stderr.count("[onnx-labels]") == 1, done.stderr
