# SPDX-License-Identifier: Apache-2.0
"""Every step that writes output is made to fail, and every step is where aotc is killed.

A shim that is preloaded counts the calls of the file system that are about the output. For each call
of each command: it fails (EIO, ENOSPC), or the process is killed instead of it; and allocations fail
(a sample of them; AOTC_ALL_FAULTS=1 takes every call and every allocation of all scenarios). Afterwards the output is the old one or the new one, whole, what
a user added is there, and the next run succeeds and leaves nothing beside it.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import time

import common
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
DIGITS = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
GRAPH = ROOT / "tests" / "graph_json" / "malformed" / "valid.json"
MEMORY_SAMPLES = 10
SAMPLE = 6
# The second is what libarchive says before it ends the process.
MESSAGES = ("error: ", "Error in libarchive: Out of memory")
SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function())
    return function


class Scenario:
    """A command whose output is replaced. `old` and `new` give its arguments behind aotc."""

    def __init__(self, name, old, new, out="out", cwd=".", mine=(), shim=None, gap=False,
                 swap_only=False, given=(), builds=False, sample=0):
        self.name, self.old, self.new, self.out, self.cwd = name, old, new, out, cwd
        self.mine = mine    # files that a user added to the old output
        self.shim = shim or {}
        self.gap = gap      # without an exchange of names a kill may come when neither is in place
        self.swap_only = swap_only  # what is before that is another scenario's
        self.given = given    # commands that make what the others read, in the folder above the output's
        self.sample = sample  # this many of the calls; what writes is shared with the scenarios above
        self.builds = builds  # builds what it wrote, with tools that fail: it ends with [build-failed]

    def finished(self, done):
        """The output was written."""
        return done.returncode == 0 or (self.builds and "[build-failed]" in done.stderr)


def compile_to(prefix, *more):
    return ["compile", DIGITS, "--prefix", prefix, "-o", "out", *more]


@scenario
def fresh():
    return Scenario("compile, nothing there", None, compile_to("new"), out="deep/out")


@scenario
def replaced():
    return Scenario("compile, replaced", compile_to("old"), compile_to("new"))


@scenario
def two_steps():
    return Scenario("compile, no exchange of names", compile_to("old"), compile_to("new"),
                    shim={"AOTC_FAULT_NO_EXCHANGE": "1"}, gap=True, swap_only=True)


@scenario
def forced():
    return Scenario("compile --force, files of a user", compile_to("old"), compile_to("new", "--force"),
                    mine=("notes.txt", "deep/notes.txt", ".git/HEAD"))


@scenario
def copied():
    return Scenario("compile --force, neither exchange nor links", compile_to("old"),
                    compile_to("new", "--force"), mine=("notes.txt", "deep/notes.txt"),
                    shim={"AOTC_FAULT_NO_EXCHANGE": "1", "AOTC_FAULT_NO_LINK": "1"}, gap=True, swap_only=True)


@scenario
def in_place():
    here = ["compile", DIGITS, "-o", "."]
    return Scenario("compile --force, in the shell's directory", here + ["--prefix", "old"],
                    here + ["--prefix", "new", "--force"], cwd="out", mine=("notes.txt",), gap=True, swap_only=True)


@scenario
def archive():
    return Scenario("compile --format mlf", compile_to("old", "--format", "mlf"),
                    compile_to("new", "--format", "mlf"))


@scenario
def archive_without_exchange():
    return Scenario("compile --format mlf, no exchange of names", compile_to("old", "--format", "mlf"),
                    compile_to("new", "--format", "mlf"), shim={"AOTC_FAULT_NO_EXCHANGE": "1"})


@scenario
def project():
    kind = ["create", DIGITS, "--project", "make", "-o", "out", "--prefix"]
    return Scenario("create", [*kind, "old"], [*kind, "new"], swap_only=True)


@scenario
def extracted():
    given = [["compile", DIGITS, "--format", "mlf", "--prefix", p, "-o", f"{p}.tar"] for p in ("old", "new")]
    return Scenario("mlf extract --force", ["mlf", "extract", "../old.tar", "-o", "out"],
                    ["mlf", "extract", "../new.tar", "-o", "out", "--force"], given=given, mine=("notes.txt",),
                    sample=SAMPLE)


@scenario
def exported():
    return Scenario("templates export", ["templates", "export", "make", "-o", "out"],
                    ["templates", "export", "zephyr", "-o", "out"], sample=SAMPLE)


@scenario
def converted():
    return Scenario("graph convert", ["graph", "convert", GRAPH, "--text", "-o", "out"],
                    ["graph", "convert", GRAPH, "-o", "out"])


@scenario
def timed():
    command = ["bench", "--ops", DIGITS, "--board", "host", "-q", "-o", "out"]
    return Scenario("bench -o", [*command, "-O", "size"], [*command, "-O", "speed"], sample=SAMPLE, builds=True)


class Lab:
    def __init__(self, program, work):
        self.program, self.work = program, work
        self.shim = work / "shim.so"
        subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-o", self.shim, HERE / "shim.cpp", "-ldl"], check=True)
        # Without compilers nothing is measured: what a stack takes does not matter here.
        self.tools = work / "tools"
        self.tools.mkdir()
        for name in ("cc", "gcc", "cmake", "make"):
            (self.tools / name).write_text("#!/bin/sh\nexit 1\n")
            (self.tools / name).chmod(0o755)
        self.injected = self.survived = 0

    def environment(self, root, path="/nonexistent", **settings):
        return {**os.environ, "PATH": str(path), "LD_PRELOAD": str(self.shim), "AOTC_FAULT_ROOT": str(root),
                **{f"AOTC_FAULT_{k}": str(v) for k, v in settings.items()}}

    def run(self, args, cwd, env=None, path="/nonexistent"):
        env = env or {**os.environ, "PATH": str(path)}
        return subprocess.run([self.program, *map(str, args)], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=120)


def content(path):
    """What a user sees there: files by name; None if there is nothing."""
    if path.is_file():
        return {"": path.read_bytes()}
    if not path.is_dir():
        return None
    # Not what was made of the output by building it.
    made = [p.parent for p in path.glob("*/.made-by-aotc")]
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in sorted(path.rglob("*"))
            if p.is_file() and not any(folder in p.parents for folder in made)}


class Trial:
    """One scenario: the states that are allowed, and the faults one by one."""

    def __init__(self, lab, index, s):
        self.lab, self.s = lab, s
        self.base = lab.work / f"s{index}"
        self.root = self.base / "run"          # what calls are counted below
        self.template = self.base / "template"  # as the folder is before a run
        self.path = lab.tools if s.builds else "/nonexistent"
        shutil.rmtree(self.base, ignore_errors=True)
        self.base.mkdir()
        for command in s.given:
            self.expect_done(lab.run(command, self.base), "what is given")
        (self.template / s.cwd).mkdir(parents=True)
        if s.old:
            self.expect_done(lab.run(s.old, self.template / s.cwd, path=self.path), "the old output")
        for name in s.mine:
            path = self.template / "out" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"mine: {name}")
        self.args = [s.out if a == "out" else a for a in s.new]
        self.reset()
        self.old = content(self.root / s.out)
        log = self.base / "log"
        self.expect_done(self.inject(LOG=log), "the new output")
        self.new = content(self.root / s.out)
        *self.calls, last = log.read_text().splitlines()
        self.allocations = int(last.split()[1])
        if self.new == self.old or not self.calls:
            raise common.Failure("the scenario changes nothing")
        self.beside = self.names()

    def reset(self):
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.template, self.root, symlinks=True)

    def names(self):
        return sorted(p.relative_to(self.root).as_posix() for p in self.root.rglob("*")
                      if (self.root / self.s.out) not in p.parents)

    def inject(self, **settings):
        return self.lab.run(self.args, self.root / self.s.cwd,
                            self.lab.environment(self.root, self.path, **settings, **{
                                k.removeprefix("AOTC_FAULT_"): v for k, v in self.s.shim.items()}))

    def expect_done(self, done, what):
        if not self.s.finished(done):
            raise common.Failure(f"{what}: exit code {done.returncode}: {done.stderr[-500:]}")

    def kept(self, where):
        """Everything that a user added is there."""
        for name in self.s.mine:
            path = self.root / "out" / name
            if not path.is_file() or path.read_text() != f"mine: {name}":
                raise common.Failure(f"{where}: '{name}' of the user is gone")

    def check(self, title, done, codes, killed=False):
        lab, s = self.lab, self.s
        if done.returncode not in codes:
            raise common.Failure(f"{title}: exit code {done.returncode}, not one of {codes}: {done.stderr[-500:]}")
        now = content(self.root / s.out)
        whole = now in (self.old, self.new)
        if not whole and not (s.gap and killed):
            raise common.Failure(f"{title}: neither the old nor the new output: {sorted(now or {})}")
        if s.finished(done) and now != self.new:
            raise common.Failure(f"{title}: done, but the new output is not there")
        if done.returncode == 1 and not any(text in done.stderr for text in MESSAGES):
            raise common.Failure(f"{title}: fails without a message")
        if not s.gap or not killed:
            self.kept(title)
        again = self.lab.run(self.args, self.root / s.cwd, path=self.path)
        self.expect_done(again, f"{title}: the next run")
        if content(self.root / s.out) != self.new:
            raise common.Failure(f"{title}: the next run does not give the new output")
        self.kept(f"{title}: behind the next run")
        if self.names() != self.beside:
            raise common.Failure(f"{title}: left behind: {sorted({*self.names()} - {*self.beside})}")
        lab.survived += 1

    def one(self, title, codes, killed=False, **settings):
        self.lab.injected += 1
        self.reset()
        self.check(f"{self.s.name}: {title}", self.inject(**settings), codes, killed)

    def first(self):
        """The first call to fail: where only the swap is of interest, the last steps before it."""
        swaps = [n for n, call in enumerate(self.calls, 1) if call.startswith(("rename", "linkat"))]
        return max(1, swaps[0] - 8) if self.s.swap_only and swaps else 1

    def all(self, everything):
        first = 1 if everything else self.first()
        numbered = list(enumerate(self.calls, 1))[first - 1:]
        if self.s.sample and not everything:
            numbered = numbered[::max(1, len(numbered) // self.s.sample)]
        for n, call in numbered:
            # What fails when the output is in place, and is only about clearing, is no failure.
            self.one(f"call {n} of {len(self.calls)} ({call}) fails", (0, 1), AT=n,
                     ACTION=("EIO", "ENOSPC")[n % 2])
            self.one(f"killed at call {n} of {len(self.calls)} ({call})", (-signal.SIGKILL,), True, AT=n,
                     ACTION="kill")
        step = 1 if everything else max(1, self.allocations // min(MEMORY_SAMPLES, self.s.sample or MEMORY_SAMPLES))
        for n in range(1 + step // 2, self.allocations + 1, step):
            self.one(f"allocation {n} of {self.allocations} fails", (0, 1), MEMORY=n)
            # With no memory at all the C++ library may end the process: as if it was killed.
            self.one(f"allocation {n} of {self.allocations} and all behind it fail",
                     (0, 1, -signal.SIGABRT, -signal.SIGSEGV), True, MEMORY=n, MEMORY_ON=1)


def expect_success(done, what):
    if done.returncode != 0:
        raise common.Failure(f"{what}: exit code {done.returncode}: {done.stderr[-500:]}")


@pytest.mark.parametrize("where, cwd", [("out", "."), (".", "out")], ids=["a directory", "the shell's directory"])
def test_two_writers(where, cwd, lab, record_property):
    """The second waits for the first, wherever that is, also in the shell's own directory."""
    root = lab.work / "writers"
    log = lab.work / "writers.log"
    shutil.rmtree(root, ignore_errors=True)
    (root / cwd).mkdir(parents=True)

    def command(prefix):
        return ["compile", DIGITS, "-o", where, "--prefix", prefix]

    trees = {}
    for prefix in ("one", "two", "one"):
        log.unlink(missing_ok=True)
        expect_success(lab.run(command(prefix), root / cwd, lab.environment(root, LOG=log)), prefix)
        trees[prefix] = content(root / "out")
    # The calls of a run that replaces the other's output: stopped at some of those behind the lock.
    calls = log.read_text().splitlines()[:-1]
    locked = calls.index("flock") + 1
    expect_success(lab.run(command("two"), root / cwd), "two")
    tried = waited = 0
    for n in range(locked + 1, len(calls) + 1, max(1, len(calls) // 8)):
        busy = lab.work / "busy"
        busy.unlink(missing_ok=True)
        first = subprocess.Popen([lab.program, *map(str, command("one"))], cwd=root / cwd,
                                 env=lab.environment(root, AT=n, ACTION="stop"),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if not os.WIFSTOPPED(os.waitpid(first.pid, os.WUNTRACED)[1]):
            raise common.Failure(f"the first does not come to call {n}")
        second = subprocess.Popen([lab.program, *map(str, command("two"))], cwd=root / cwd,
                                  env=lab.environment(root, BUSY=busy),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while second.poll() is None and not busy.exists():
            time.sleep(0.005)
        waited += busy.exists()
        first.send_signal(signal.SIGCONT)
        for process in (first, second):
            errors = process.communicate(timeout=120)[1]
            if process.returncode != 0:
                raise common.Failure(f"stopped at call {n}: {errors}")
        tried += 1
        if content(root / "out") != trees["two"]:
            raise common.Failure(f"stopped at call {n}: the output is not the second's: "
                          f"{sorted(content(root / 'out'))}")
        if sorted(p.name for p in root.iterdir()) != ["out"]:
            raise common.Failure(f"{sorted(p.name for p in root.iterdir())}")
    # Behind its last calls the first has given the lock back.
    if waited < tried - 1 or tried < 4:
        raise common.Failure(f"the second waited in {waited} of {tried} runs only")
    record_property("cases", tried)


def test_many_writers(lab):
    """Twelve at once, no shim: all succeed, and what is there in the end is one's."""
    root = lab.work / "many"
    root.mkdir()
    prefixes = ["a", "b", "c"]
    trees = []
    for p in prefixes:
        expect_success(lab.run(compile_to(p), root), p)
        trees.append(content(root / "out"))
    running = [subprocess.Popen([lab.program, *map(str, compile_to(prefixes[i % 3]))], cwd=root,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for i in range(12)]
    for process in running:
        errors = process.communicate(timeout=120)[1]
        if process.returncode != 0:
            raise common.Failure(f"many writers: {errors}")
    if content(root / "out") not in trees or [p.name for p in root.iterdir()] != ["out"]:
        raise common.Failure("many writers: the output is nobody's")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return Lab(common.AOTC, tmp_path_factory.mktemp("lab"))


@pytest.mark.parametrize("index", range(len(SCENARIOS)), ids=[s.name for s in SCENARIOS])
def test_faults(index, lab, record_property):
    before, survived = lab.injected, lab.survived
    Trial(lab, index, SCENARIOS[index]).all("AOTC_ALL_FAULTS" in os.environ)
    record_property("cases", lab.injected - before)
    assert lab.injected - before == lab.survived - survived > 0
