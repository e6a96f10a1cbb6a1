# SPDX-License-Identifier: Apache-2.0
"""Tests what `aotc build` says of the stack, and `--fit-stack`: firmware that has no more than that runs and verifies."""
import json
import pathlib

import common
import pytest

MODEL = common.ROOT / "tests/models/digits/digits_int8.tflite"
BOARDS = ["qemu_mps2_an386", "qemu_microbit", "qemu_riscv32"]
ALIGNMENT = 16
WORK = pathlib.Path()  # each test's own folder


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments, code=0):
    done = common.aotc(*arguments, expect=None)
    assert done.returncode == code, done.stdout[-400:] + done.stderr
    return done


def create(board, name, *options):
    run("create", MODEL, "--board", board, "-o", name, "--force", "-q", *options)


@pytest.mark.parametrize("board", BOARDS)
def test_board(board):
    create(board, board)
    stack = json.loads(run("build", board, "--json", "-q").stdout)["stack"]
    assert stack["state"] in ("proven", "assumed"), stack["state"]
    assert stack["reserved_bytes"] > stack["bytes"] >= stack["model"]["bytes"] > 0, stack
    fitted = json.loads(run("build", board, "--fit-stack", "--json", "-q").stdout)["stack"]
    # RISC-V's linker shortens code by where things are, so the second bound need not be the first.
    assert fitted["reserved_bytes"] == -(-fitted["bytes"] // ALIGNMENT) * ALIGNMENT < stack["reserved_bytes"], fitted
    assert fitted["state"] == stack["state"], fitted
    stack = fitted
    measured = json.loads(run("run", board, "--json").stdout)
    assert measured["status"] == 0 and measured["stack_bytes"] <= stack["model"]["bytes"], measured
    verified = json.loads(run("verify", board, "--only", "board", "--json").stdout)
    assert verified["passed"] and verified["places"][0]["stack_bytes"] <= stack["model"]["bytes"]
    report = json.loads(run("report", board, "--json").stdout)
    assert report["stack"] == fitted["model"] and len(report["stack"]["chain"]) > 1
    counted(board, report)
    said = run("build", board, "-q").stdout
    assert f"{stack['bytes']:,} bytes, {stack['state']}; {fitted['reserved_bytes']:,} bytes reserved" in said, said


def counted(board, before):
    """`analyze cycles` of a project is what its report shows, until the firmware is another."""
    assert "counted" not in before and any("aotc analyze cycles" in a["command"] for a in before["absent"]), before["absent"]
    run("analyze", "cycles", board, "--call", "2")  # not of the run that the report is about
    assert "counted" not in json.loads(run("report", board, "--json").stdout)
    told = json.loads(run("analyze", "cycles", board, "--json").stdout)
    report = json.loads(run("report", board, "--json").stdout)
    for key in ("cycles", "instructions", "cpu", "costs"):
        assert report["counted"][key] == told[key], (key, report["counted"])
    for layer, row in zip(report["layers"], told["layers"], strict=True):
        assert layer.get("counted_cycles") == (row or {}).get("cycles"), (layer, row)
        assert layer.get("counted_instructions") == (row or {}).get("instructions"), (layer, row)
    assert sum("counted_cycles" in layer for layer in report["layers"]) > 3, told["layers"]
    assert not any("aotc analyze cycles" in a["command"] for a in report["absent"]), report["absent"]
    assert "counted_cycles" in run("report", board, "--csv").stdout.splitlines()[0]
    assert f"counted in the emulator | {told['cycles']:,} |" in run("report", board, "--markdown").stdout
    kept = WORK / board / "build" / "cycles.json"
    good = json.loads(kept.read_text())
    for damage in ({"cycles": -1}, {"cycles": 1e300}, {"instructions": "many"}, {"image": "0"}):
        kept.write_text(json.dumps(good | damage))
        assert "counted" not in json.loads(run("report", board, "--json").stdout), damage
    for damage in ({"layers": 3}, {"layers": [[]]}, {"layers": [{"cycles": "x"}] * len(good["layers"])}):
        kept.write_text(json.dumps(good | damage))
        damaged = json.loads(run("report", board, "--json").stdout)
        assert "counted" in damaged and not any("counted_cycles" in layer for layer in damaged["layers"]), damage
    kept.write_text("[" * 5000)
    assert "counted" not in json.loads(run("report", board, "--json").stdout)


def test_too_small():
    """Said by the plain build, mended by --fit-stack."""
    create(BOARDS[0], "small", "--project-option", "stack_size=256")
    assert "[stack-small]" in run("build", "small", "-q").stderr
    done = run("build", "small", "--fit-stack", "-q")
    assert "[stack-small]" not in done.stderr and "reserved" in done.stdout


def test_cannot_be_linked():
    """What --fit-stack cannot link leaves the project as it was."""
    create(BOARDS[0], "strict")
    script = next((WORK / "strict").rglob("board.ld"))
    script.write_text(script.read_text() + '\nASSERT(SIZEOF(.stack) >= 4096, "a small stack")\n')
    before = json.loads(run("build", "strict", "--json", "-q").stdout)["stack"]["reserved_bytes"]
    assert "a small stack" in run("build", "strict", "--fit-stack", "-q", code=1).stderr
    assert json.loads(run("build", "strict", "--json", "-q").stdout)["stack"]["reserved_bytes"] == before >= 4096


def test_no_size():
    create("host", "here")
    assert "[stack-fixed]" in run("build", "here", "--fit-stack", "-q", code=1).stderr
    assert "stack" not in json.loads(run("build", "here", "--json", "-q").stdout)
