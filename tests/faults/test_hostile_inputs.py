# SPDX-License-Identifier: Apache-2.0
"""Inputs that are no files, too large, or JSON with numbers that nothing holds; firmware that floods.

Each is refused at once, in bounded memory, with a message that names it.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import time

import common
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
MOST_MEMORY = 120 << 20  # bytes of a process, the emulated firmware and the compiler not counted


def expect(condition, what):
    if not condition:
        raise common.Failure(what)


class Aotc:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def __call__(self, *args, code=1, slug=None, says="", env=None):
        """Runs it; the exit code, the slug and the message are as expected, and memory is bounded."""
        command = [self.program, *map(str, args)]
        said = self.folder / "said.txt"
        with open(said, "wb") as out:
            process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       env={**os.environ, **(env or {})})
            status, usage = os.wait4(process.pid, 0)[1:]
        process.returncode = os.waitstatus_to_exitcode(status)
        text = said.read_bytes()[-20000:].decode(errors="replace")
        shown = " ".join(command[1:])
        expect(process.returncode in (code if isinstance(code, tuple) else (code,)),
               f"exit code {process.returncode}: {shown}\n{text[-1500:]}")
        expect(slug is None or f"[{slug}]" in text, f"no [{slug}]: {shown}\n{text[-1500:]}")
        expect(re.search(says, text), f"no '{says}': {shown}\n{text[-1500:]}")
        expect(usage.ru_maxrss << 10 < MOST_MEMORY, f"{usage.ru_maxrss >> 10} MB of memory: {shown}")
        return text


@pytest.fixture
def aotc(tmp_path):
    return Aotc(common.AOTC, tmp_path)


def project(aotc, name="app", *more):
    aotc("create", DIGITS, "--board", "host", "-o", name, *more, code=0)
    return aotc.folder / name


def test_measured_before_they_are_read(aotc):
    folder = aotc.folder
    large, pipe = folder / "large", folder / "pipe"
    large.touch()
    os.truncate(large, 2 << 30)
    os.mkfifo(pipe)
    (folder / "folder").mkdir()
    (folder / "graph.json").write_text("{}")
    app, templates = project(aotc), folder / "templates"
    aotc("templates", "export", "make", "-o", "templates", code=0)
    compiled = ["compile", DIGITS, "-o", "out"]
    uses = [["check"], ["compile", "-o", "out"], ["verify"], ["report"], ["mlf", "inspect"],
            ["mlf", "diff", DIGITS], ["mlf", "extract", "-o", "out"], ["graph", "inspect"],
            [*compiled, "--devices"], [*compiled, "--schedules"], ["verify", DIGITS, "--input"],
            ["check", folder / "graph.json", "--params"], ["graph", "inspect", folder / "graph.json", "--params"],
            ["create", DIGITS, "--board", "host", "-o", "x", "--samples"],
            ["create", DIGITS, "--board", "host", "-o", "x", "--labels"],
            ["create", "--project", "host-driven", "--board", "host", "-o", "x"]]
    for use in uses:
        for path, slug in ((large, "file-too-large"), (pipe, "file-read"), ("/dev/zero", "file-read"),
                           (folder / "folder", None)):
            code = 2 if use[:2] == ["mlf", "diff"] else 1
            text = aotc(*use, path, code=code, slug=slug)
            expect(str(path) in text, f"{use} does not name {path}: {text}")
    for place, run in ((app / "aotc.json", ["build", "app"]),
                       (templates / "make" / "template.json",
                        ["create", DIGITS, "--templates", templates, "--project", "make", "-o", "x"])):
        content = place.read_bytes()
        for source, slug in ((large, "file-too-large"), (pipe, "file-read")):
            place.unlink()
            place.symlink_to(source)
            # What is no file is not seen as a template at all.
            aotc(*run, slug=slug if place.parent == app or source == large else None)
        place.unlink()
        place.write_bytes(content)
    expect(not (folder / "out").exists() and not (folder / "x").exists(), "output of what was refused")


def test_numbers_that_nothing_holds(aotc):
    folder = aotc.folder
    number = '{"calls": [{"op_index": 0,\n  "schedule": {"pixels": %s}}]}'
    (folder / "s.json").write_text(number % "1e400")
    aotc("compile", DIGITS, "--schedules", "s.json", slug="schedule-file",
         says=r"^s\.json:2:26: error: .*a number is out of range: 1e400 ")
    for value in ("1e40", "99999999999", "-1e400", "1e99999"):
        (folder / "s.json").write_text(number % value)
        aotc("compile", DIGITS, "--schedules", "s.json", slug="schedule-file", says=r"^s\.json")
    (folder / "s.json").write_text('{"calls": [{"op_index": 4294967296, "schedule": {"algorithm": "tiles"}}]}')
    aotc("compile", DIGITS, "--schedules", "s.json", slug="schedule-file", says="op_index")
    (folder / "d.json").write_text('{"devices": [{"name": "cpu",\n "type": 1e400}]}')
    aotc("compile", DIGITS, "--devices", "d.json", slug="devices-invalid",
         says=r"^d\.json:2:10: error: .*a number is out of range: 1e400 ")
    aotc("templates", "export", "make", "-o", "templates", code=0)
    template = folder / "templates" / "make" / "template.json"
    template.write_text(template.read_text().replace('"title"', '"x": 1e400, "title"', 1))
    aotc("create", DIGITS, "--templates", "templates", "--project", "make", slug="template-invalid",
         says=r"^templates/make/template\.json:\d+:\d+: error: .*a number is out of range: 1e400 ")
    (folder / "g.json").write_text('{"nodes": [],\n "arg_nodes": [1e400]}')
    aotc("graph", "inspect", "g.json", slug="graph-syntax", says=r"^g\.json:2:\d+: error: .*number")
    (folder / "metadata.json").write_text('{"version": 1e400}')
    with tarfile.open(folder / "a.tar", "w") as tar:
        tar.add(folder / "metadata.json", "./metadata.json")
    for path in ("a.tar", "metadata.json"):
        aotc("mlf", "inspect", path, slug="mlf-metadata", says=rf"^{path}.*1e400")


def leaves(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        if key not in ("written", "summary"):
            yield from leaves(below, (*path, key))


def test_changed_descriptions_of_projects(aotc):
    """Whatever stands in aotc.json: a project, or a message; never a bug."""
    app = project(aotc)
    description = app / "aotc.json"
    whole = json.loads(description.read_text())
    values = ("1e400", "null", "-1", '"x"', "[]", "{}", "[1]", "true", "1" * 30, '[{"op_index": 1e9}]')
    tried = 0
    for n, path in enumerate(leaves(whole)):
        for value in (values[n % len(values)], values[(3 * n + 1) % len(values)]):
            marked = json.loads(json.dumps(whole))
            at = marked
            for key in path[:-1]:
                at = at[key]
            if path:
                at[path[-1]] = "@here@"
            description.write_text(json.dumps(marked).replace('"@here@"', value) if path else value)
            aotc(("verify", "report")[n % 2], "app", *(("--only", "host") if n % 2 == 0 and n > 8 else ()),
                 code=(0, 1, 2, 3, 4, 5, 6))
            tried += 1
    print(f"  ({tried} changed descriptions)")


def test_floods(aotc):
    app = project(aotc)
    (app / "build").mkdir()
    image = app / json.loads((app / "aotc.json").read_text())["image"]
    for text, code, slug in (("exec yes", 6, "device-flood"),
                             ("exec tr '\\0' x </dev/zero", 6, "device-flood")):
        image.write_text(f"#!/bin/sh\n{text}\n")
        image.chmod(0o755)
        aotc("run", "app", code=code, slug=slug, says=r"^app: error: ")
    # A build that says more than anybody reads: the end of it is shown.
    (app / "CMakeLists.txt").write_text(
        'cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\n'
        'add_custom_target(x ALL COMMAND yes | head -c 60000000 COMMAND echo the last line && false)\n')
    shutil.rmtree(app / "build")
    aotc("build", "app", code=1, slug="build-failed", says="the last line")


def test_results_that_flood(aotc):
    """Firmware that answers `verify` with gigabytes."""
    app = project(aotc)
    aotc("build", "app", code=0)
    image = app / json.loads((app / "aotc.json").read_text())["image"]
    cmake = app / "CMakeLists.txt"
    cmake.write_text('cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\nadd_custom_target(x ALL)\n')
    shutil.rmtree(app / "build")
    (app / "build").mkdir()
    image.write_text('#!/bin/sh\ntruncate -s 900M "$3"\n')
    image.chmod(0o755)
    aotc("verify", "app", code=6, slug="verify-device", says="host C: error: ")


def test_programs_end_with_aotc(aotc):
    """Whatever ends aotc, the emulator that it started does not go on."""
    app = project(aotc)
    (app / "build").mkdir()
    image = app / json.loads((app / "aotc.json").read_text())["image"]
    started = aotc.folder / "pid"
    image.write_text(f"#!/bin/sh\necho $$ >{started}.new\nmv {started}.new {started}\nexec sleep 600\n")
    image.chmod(0o755)
    process = subprocess.Popen([aotc.program, "run", "app"], cwd=aotc.folder, stdin=subprocess.DEVNULL)
    for _ in range(6000):
        if started.exists():
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    status = pathlib.Path("/proc", started.read_text().strip(), "status")
    for _ in range(6000):
        if not status.exists() or "State:\tZ" in status.read_text():
            return
        time.sleep(0.01)
    raise common.Failure("the firmware runs on behind a killed aotc")


def test_temporary_directories(aotc):
    """What a killed run left is cleared by the next, what belongs to a living one is not."""
    import fcntl
    temporary = aotc.folder / "tmp"
    for name in ("aotc-tmp-dead00", "aotc-tmp-alive0", "aotc-tmp-longer0", "other"):
        (temporary / name / "below").mkdir(parents=True)
        (temporary / name / ".lock").touch()
    (temporary / "aotc-tmp-early0").mkdir()  # killed before it had a lock
    alive = os.open(temporary / "aotc-tmp-alive0" / ".lock", os.O_RDONLY)
    fcntl.flock(alive, fcntl.LOCK_EX)
    aotc("verify", DIGITS, "--only", "host", code=0, env={"TMPDIR": str(temporary)})
    os.close(alive)
    names = sorted(p.name for p in temporary.iterdir())
    expect(names == ["aotc-tmp-alive0", "aotc-tmp-longer0", "other"], f"left: {names}")
