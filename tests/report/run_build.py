#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what `aotc build` says of the stack, and `--fit-stack`: firmware that has no more than that runs and verifies.

Usage: run_build.py --aotc PROGRAM --work DIRECTORY

Ends with a line "N passed, N failed".
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/models/digits/digits_int8.tflite"
BOARDS = ["qemu_mps2_an386", "qemu_microbit", "qemu_riscv32"]
ALIGNMENT = 16


class Tests:
    def __init__(self, aotc, work):
        self.aotc, self.work = aotc, work
        self.passed = self.failed = 0

    def run(self, *arguments, code=0):
        done = subprocess.run([self.aotc, *map(str, arguments)], capture_output=True, text=True, cwd=self.work, check=False)
        assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stdout[-400:]}{done.stderr}"
        return done

    def create(self, board, name, *options):
        self.run("create", MODEL, "--board", board, "-o", name, "--force", "-q", *options)

    def board(self, board):
        self.create(board, board)
        stack = json.loads(self.run("build", board, "--json", "-q").stdout)["stack"]
        assert stack["state"] in ("proven", "assumed"), stack["state"]
        assert stack["reserved_bytes"] > stack["bytes"] >= stack["model"]["bytes"] > 0, stack
        fitted = json.loads(self.run("build", board, "--fit-stack", "--json", "-q").stdout)["stack"]
        # RISC-V's linker shortens code by where things are, so the second bound need not be the first.
        assert fitted["reserved_bytes"] == -(-fitted["bytes"] // ALIGNMENT) * ALIGNMENT < stack["reserved_bytes"], fitted
        assert fitted["state"] == stack["state"], fitted
        stack = fitted
        measured = json.loads(self.run("run", board, "--json").stdout)
        assert measured["status"] == 0 and measured["stack_bytes"] <= stack["model"]["bytes"], measured
        verified = json.loads(self.run("verify", board, "--only", "board", "--json").stdout)
        assert verified["passed"] and verified["places"][0]["stack_bytes"] <= stack["model"]["bytes"]
        report = json.loads(self.run("report", board, "--json").stdout)
        assert report["stack"] == fitted["model"] and len(report["stack"]["chain"]) > 1
        self.counted(board, report)
        said = self.run("build", board, "-q").stdout
        assert f"{stack['bytes']:,} bytes, {stack['state']}; {fitted['reserved_bytes']:,} bytes reserved" in said, said

    def counted(self, board, before):
        """`analyze cycles` of a project is what its report shows, until the firmware is another."""
        assert "counted" not in before and any("aotc analyze cycles" in a["command"] for a in before["absent"]), before["absent"]
        self.run("analyze", "cycles", board, "--call", "2")  # not of the run that the report is about
        assert "counted" not in json.loads(self.run("report", board, "--json").stdout)
        told = json.loads(self.run("analyze", "cycles", board, "--json").stdout)
        report = json.loads(self.run("report", board, "--json").stdout)
        for key in ("cycles", "instructions", "cpu", "costs"):
            assert report["counted"][key] == told[key], (key, report["counted"])
        for layer, row in zip(report["layers"], told["layers"], strict=True):
            assert layer.get("counted_cycles") == (row or {}).get("cycles"), (layer, row)
            assert layer.get("counted_instructions") == (row or {}).get("instructions"), (layer, row)
        assert sum("counted_cycles" in layer for layer in report["layers"]) > 3, told["layers"]
        assert not any("aotc analyze cycles" in a["command"] for a in report["absent"]), report["absent"]
        assert "counted_cycles" in self.run("report", board, "--csv").stdout.splitlines()[0]
        assert f"counted in the emulator | {told['cycles']:,} |" in self.run("report", board, "--markdown").stdout
        kept = self.work / board / "build" / "cycles.json"
        good = json.loads(kept.read_text())
        for damage in ({"cycles": -1}, {"cycles": 1e300}, {"instructions": "many"}, {"image": "0"}):
            kept.write_text(json.dumps(good | damage))
            assert "counted" not in json.loads(self.run("report", board, "--json").stdout), damage
        for damage in ({"layers": 3}, {"layers": [[]]}, {"layers": [{"cycles": "x"}] * len(good["layers"])}):
            kept.write_text(json.dumps(good | damage))
            damaged = json.loads(self.run("report", board, "--json").stdout)
            assert "counted" in damaged and not any("counted_cycles" in layer for layer in damaged["layers"]), damage
        kept.write_text("[" * 5000)
        assert "counted" not in json.loads(self.run("report", board, "--json").stdout)

    def too_small(self):
        """Said by the plain build, mended by --fit-stack."""
        self.create(BOARDS[0], "small", "--project-option", "stack_size=256")
        assert "[stack-small]" in self.run("build", "small", "-q").stderr
        done = self.run("build", "small", "--fit-stack", "-q")
        assert "[stack-small]" not in done.stderr and "reserved" in done.stdout

    def cannot_be_linked(self):
        """What --fit-stack cannot link leaves the project as it was."""
        self.create(BOARDS[0], "strict")
        script = next((self.work / "strict").rglob("board.ld"))
        script.write_text(script.read_text() + '\nASSERT(SIZEOF(.stack) >= 4096, "a small stack")\n')
        before = json.loads(self.run("build", "strict", "--json", "-q").stdout)["stack"]["reserved_bytes"]
        assert "a small stack" in self.run("build", "strict", "--fit-stack", "-q", code=1).stderr
        assert json.loads(self.run("build", "strict", "--json", "-q").stdout)["stack"]["reserved_bytes"] == before >= 4096

    def no_size(self):
        self.create("host", "here")
        assert "[stack-fixed]" in self.run("build", "here", "--fit-stack", "-q", code=1).stderr
        assert "stack" not in json.loads(self.run("build", "here", "--json", "-q").stdout)

    def all(self):
        tests = [(f"board {b}", lambda b=b: self.board(b)) for b in BOARDS]
        for name, test in [*tests, ("too small", self.too_small), ("cannot be linked", self.cannot_be_linked), ("no size", self.no_size)]:
            try:
                test()
                self.passed += 1
            except AssertionError as e:
                self.failed += 1
                print(f"FAILED {name}: {e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    tests = Tests(args.aotc.resolve(), args.work)
    tests.all()
    print(f"{tests.passed} passed, {tests.failed} failed")
    return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main())
