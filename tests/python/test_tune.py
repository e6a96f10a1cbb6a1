# SPDX-License-Identifier: Apache-2.0
"""aotc.tune and aotc.conformance: real points in the emulator where they are few, elsewhere workers that answer from what
these gave, and lie, die or return garbage."""
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import types
from unittest.mock import patch

import numpy
import onnx
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import aotc  # noqa: E402
import aotc.conformance  # noqa: E402
import aotc.tune  # noqa: E402
import common  # noqa: E402
from aotc import _engine, _layers, _points, _search, _store, _tune_command, executors  # noqa: E402
from errors import raises  # noqa: E402

MODEL = ROOT / "tests/models/digits/digits_int8.tflite"
BOARD = "qemu_mps2_an386"
FEW = {"board": BOARD, "levels": ["balanced"], "alternatives": 1, "programs": 2}


@pytest.fixture(scope="module")
def use(tmp_path_factory):
    """A search with real points, what it found, and a point of it."""
    common.require(common.board(BOARD)["emulator"]["program"])
    work = tmp_path_factory.mktemp("tune")
    # Points are built here, where a compiler's cache (CCACHE_BASEDIR) knows a source of an earlier point again.
    points = str(common.fresh(work / "points"))
    with patch.dict(os.environ, TMPDIR=points), patch.object(tempfile, "tempdir", points):
        made = types.SimpleNamespace(work=work)
        made.first = search(made, "serial", executors.Serial())
        made.store = _store.Store(work / "serial")
        made.text = text_of(made, made.first, "serial")
        made.point = _points.point(MODEL.read_bytes(), MODEL.name, BOARD, _points.versions(BOARD))
        yield made


class Answers(concurrent.futures.Executor):
    """Workers that know the results of the first run. `spoil` makes of each what they return."""

    def __init__(self, use, spoil=lambda result, point: result, names=("w0", "w1", "w2")):
        self.store, self.spoil, self.names, self.calls = use.store, spoil, names, itertools.count()

    def submit(self, fn, point, model, avoid):
        future = concurrent.futures.Future()
        name = next(n for n in itertools.islice(itertools.cycle(self.names), next(self.calls) % len(self.names), None)
                    if n not in avoid)
        known = self.store.result(point)
        value = known["value"] if known else {"state": "failed", "message": "unknown point"}
        future.set_result(self.spoil(_points.sealed(_points.key_of(point), value, name), point))
        return future


def search(use, folder, executor, **more):
    return aotc.tune.search(MODEL, cache=use.work / folder, executor=executor, **{**FEW, **more})


def text_of(use, found, name):
    return found.write(use.work / f"{name}.json").read_bytes()


# --- Real points ---------------------------------------------------------------------------------


def test_a_pool_gives_what_one_process_gives(use):
    assert use.first.counts.measured >= 2 and not use.first.counts.poisoned
    found = search(use, "pool", lambda: executors.processes(2))
    assert text_of(use, found, "pool") == use.text
    again = search(use, "pool", executors.Serial())
    assert again.counts.measured == 0 and again.counts.cached > 0 and text_of(use, again, "again") == use.text


def test_the_file_compiles_to_what_was_measured(use):
    found = search(use, "serial", executors.Serial(), objective="flash", flash=10**6, programs=1)
    assert found.gain >= 0 and found.figures["flash"] <= found.default["flash"]
    path = found.write(use.work / "flash.json")
    out = use.work / "compiled"
    made = json.loads(common.aotc("compile", MODEL, "--board", BOARD, *aotc._command.flags(found.options), "--schedules", path,
                                  "-o", out, "--json", "--quiet"))
    assert made["constants_bytes"] == found.figures["constants"] and made["arena_bytes"] == found.figures["arena"]


def killing(folder):
    """`measure`, in a pool's process that dies once, of SIGKILL."""
    real = _points.measure

    def measure(point, model, avoid=()):
        try:
            os.close(os.open(folder / "killed", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return real(point, model, avoid)
        os.kill(os.getpid(), signal.SIGKILL)

    measure.__module__, measure.__qualname__ = "aotc._points", "measure"
    return measure


def test_a_killed_worker_loses_nothing(use):
    with patch.object(_points, "measure", killing(use.work)):
        found = search(use, "killed_worker", lambda: executors.processes(2), repeat=0.0)
    assert found.counts.lost >= 1 and not found.counts.poisoned and text_of(use, found, "killed") == use.text


def test_a_killed_run_goes_on(use):
    cache, out = use.work / "killed_run", use.work / "killed_run.json"
    command = [sys.executable, "-m", "aotc.tune", str(MODEL), "--board", BOARD, "--levels", "balanced", "--alternatives", "1",
               "--programs", "2", "--jobs", "1", "--cache", str(cache), "-o", str(out), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    run = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
    while run.poll() is None and not list(cache.glob("results/*/*.json")):
        pass_some(run)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    before = len(list(cache.glob("results/*/*.json")))
    assert before >= 1 and not out.exists()
    done = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    assert out.read_bytes() == use.text and done["cached"] >= before
    assert not [p for p in cache.rglob(".*") if p.is_file() and p.stat().st_size], "half-written files"


def pass_some(run):
    try:
        run.wait(timeout=0.05)
    except subprocess.TimeoutExpired:
        pass


# --- Workers that cannot be believed -------------------------------------------------------------


def test_garbage_is_asked_for_again(use):
    kinds = [None, "text", {}, {"key": 1, "worker": "w", "value": {}, "checksum": ""}, float("nan")]
    seen = {}

    def spoil(result, point):
        n = seen[result["key"]] = seen.get(result["key"], 0) + 1
        if n > 1:
            return result
        if len(seen) % 3 == 0:
            return {**result, "value": {**result["value"], "instructions": 7}}  # its checksum is another's
        if len(seen) % 3 == 1:
            return _points.sealed("0" * 64, result["value"], "w")
        return kinds[len(seen) % len(kinds)]

    found = search(use, "garbage", Answers(use, spoil))
    assert found.counts.refused >= len(seen) >= 2, found.counts
    assert text_of(use, found, "garbage") == use.text, found.counts


def test_impossible_figures_are_garbage(use):
    point, value = use.point, use.store.result(use.point)["value"]
    assert _points.problem_of(point, _points.sealed(_points.key_of(point), value, "w")) == ""
    for field, wrong in (("instructions", -1), ("instructions", True), ("instructions", 0), ("flash", 1 << 60), ("flash", value["flash"] - 4),
                         ("ram", 0.5), ("c", "short"), ("layers", None), ("state", "fine")):
        spoiled = _points.sealed(_points.key_of(point), {**value, field: wrong}, "w")
        assert _points.problem_of(point, spoiled), f"{field} = {wrong}"


def test_a_point_nobody_can_tell_of_is_poisoned(use):
    def spoil(result, point):
        return None if point["calls"] else result

    found = search(use, "poisoned", Answers(use, spoil))
    assert found.counts.poisoned and all("invalid result" in why for why in found.counts.poisoned.values())
    assert found.gain >= 0 and not found.calls
    raises(aotc.Error, lambda: search(use, "poisoned2", Answers(use, lambda r, p: None)), "invalid result")


def lying(result, point, name="w1"):
    value = result["value"]
    if result["worker"] != name or value["state"] != "verified":
        return result
    return _points.sealed(result["key"], {**value, "instructions": value["instructions"] // 2}, name)


def test_a_lie_that_wins_is_found(use):
    error = raises(aotc.tune.Disagreement, lambda: search(use, "lie", Answers(use, lying), repeat=0.0))
    assert {error.first["worker"], error.second["worker"]} > {"w1"}
    assert error.first["value"]["instructions"] != error.second["value"]["instructions"]
    store = _store.Store(use.work / "lie")
    assert not (store.folder / "results" / error.first["key"][:2] / f"{error.first['key']}.json").exists()
    assert list(store.folder.glob("alarms/*/*.json"))


def test_all_workers_lying_alike_is_found_here(use):
    raises(aotc.tune.Disagreement, lambda: search(use, "liars", Answers(use, lambda r, p: lying(r, p, r["worker"])), repeat=0.0),
           "on this machine")


def test_some_points_run_twice(use):
    found = search(use, "twice", Answers(use), repeat=1.0)
    assert found.counts.repeated >= found.counts.measured >= 2, found.counts
    assert text_of(use, found, "twice") == use.text, found.counts
    raises(aotc.tune.Disagreement, lambda: search(use, "twice_lie", Answers(use, lying), repeat=1.0), "w1")


# --- Machines that fail, limits, options ---------------------------------------------------------


def failed(point, message="OSError: no space left"):
    return _points.sealed(_points.key_of(point), {"state": "failed", "message": message}, _points.worker_id())


def test_a_failure_is_no_fact_of_a_point(use):
    """Neither of a first run, nor of a second one, which the client does where the executor has one worker."""
    for facts in (0, 1):
        runs = itertools.count()

        def measure(point, model, avoid=()):
            if _points.worker_id() in avoid:
                return _points.sealed(_points.key_of(point), {"state": "declined"}, _points.worker_id())
            return use.store.result(point) if next(runs) < facts else failed(point)

        store = _store.Store(use.work / f"failed{facts}")
        engine = _engine.Engine(executors.Serial(), store, {use.point["model"]: MODEL.read_bytes()}, repeat=1.0)
        with patch.object(_points, "measure", measure):
            [value] = engine.values([use.point]).values()
        assert value == {"state": "poisoned", "message": "OSError: no space left"} and store.result(use.point) is None
        assert next(runs) == facts + _engine.ATTEMPTS and not list(store.folder.glob("alarms/*/*"))
    raises(ValueError, lambda: store.keep(failed(use.point)))
    _store.write_whole(store._path("results", _points.key_of(use.point)), _points.canonical(failed(use.point)))
    assert store.result(use.point) is None


def test_a_winner_that_cannot_be_run_here_is_no_disagreement(use):
    with patch.object(_points, "measure", lambda point, model, avoid=(): failed(point)):
        raises(aotc.DeviceError, lambda: search(use, "own", Answers(use)), "no space left", "this machine could not repeat")
    store = _store.Store(use.work / "own")
    assert store.result(use.point) is not None and not list(store.folder.glob("alarms/*/*"))


class Leaner(concurrent.futures.Executor):
    """Two workers with which programs that have schedules take 100 bytes of flash less, and twice the instructions."""

    def __init__(self, use):
        self.value = use.store.result(use.point)["value"]

    def submit_where(self, requires, avoid, fn, point, model, more):
        value = self.value
        if point["calls"]:
            value = {**value, "constants": value["constants"] - 100, "flash": value["flash"] - 100, "instructions": 2 * value["instructions"]}
        future = concurrent.futures.Future()
        name = "a" if "a" not in avoid else "b"
        future.set_result(executors.Placed(name, _points.sealed(_points.key_of(point), value, name)))
        return future

    submit = None


def test_limits_below_the_default_hold(use):
    default = use.first.default
    calls = [{"op_index": 0, "schedule": {"algorithm": "tiles"}}]
    best = [(0.0, default["flash"] - 100, calls)]

    def within(folder, **limits):
        with patch.object(_points, "lacking", lambda labels: ["a machine of its own"]), \
                patch.object(_layers.Layers, "best", lambda self, *_: best):
            return search(use, folder, Leaner(use), **limits)

    found = within("leaner", flash=10**6)
    assert not found.calls and found.gain == 0
    found = within("leaner", flash=default["flash"] - 50)
    assert found.calls == calls and found.figures["flash"] == default["flash"] - 100 and found.gain < 0
    error = raises(aotc.DoesNotFitError, lambda: within("leaner", flash=default["flash"] - 101), "[does-not-fit]",
                   f"{default['flash'] - 101:,} bytes of flash", f"takes {default['ram']:,} bytes of ram", f"{default['flash'] - 100:,} bytes")
    assert _tune_command.ended(error) == 3
    raises(aotc.DoesNotFitError, lambda: within("leaner", ram=1), "at most 1 bytes of ram")


def test_options_that_are_files_are_refused(use):
    path = use.work / "s.json"
    path.write_text('{"calls": []}')
    for options in ({"schedules": str(path)}, {"operators": ["a.c"]}, {"operator_include": "."}, {"templates": "."}, {"devices": "d"},
                    {"params": "p"}, {"samples": "x.npy"}, {"labels_": "l"}, {"prefix": path}, {"state": "out=in@f.npy"},
                    {"state": {"out": "in@f.npy"}}):
        name = next(iter(options)).strip("_").replace("_", "-")
        raises(aotc.OptionError, lambda: search(use, "files", Answers(use), **options), f"--{name}", "file")
        raises(aotc.OptionError, lambda: aotc.conformance.table([MODEL], boards=[BOARD], cache=use.work / "files", **options), f"--{name}")
    assert aotc._command.without_files({"prefix": "a", "state": {"out": "in"}, "shape": None}) == {"prefix": "a", "state": {"out": "in"}}


def test_preferences_are_those_of_the_compiler(use):
    """Each once: what two names say alike is one point."""
    options = aotc.tune._options
    assert options("balanced", "off", "cycles") == {}
    assert options("balanced", "off", "flash") == options("size", "off", "cycles") == {"optimize": "size"}
    assert options("speed", "max", "ram") == {"optimize": "speed", "stream": "max", "prefer": "ram"}
    for name in aotc.tune.PREFERS:
        aotc.compile(MODEL, cpu="cortex-m4f", prefer=name)
    for wrong in ("latency", "speed"):
        raises(aotc.OptionError, lambda: search(use, "prefer", Answers(use), prefer=[wrong]), "--prefer", "cycles, ram, flash")


def test_wrong_arguments_are_refused(use):
    for wrong in ({"levels": "speed"}, {"levels": ["fast"]}, {"levels": []}, {"levels": None}, {"stream": ["on"]}, {"stream": "off"},
                  {"prefer": [1]}, {"objective": {"ram": "2"}}, {"objective": {}}, {"objective": 3}, {"objective": ""},
                  {"programs": -1}, {"alternatives": "1"}, {"ram": -1}, {"flash": 0.5}, {"board": "host"}):
        [name] = wrong
        raises(aotc.OptionError, lambda: search(use, "wrong", Answers(use), **wrong), f"--{name}")
    for models, more in (([MODEL], {"boards": []}), ([MODEL], {"boards": BOARD}), ([MODEL], {"boards": [BOARD], "levels": "speed"}),
                         ([MODEL], {"boards": [""]}), ([], {"boards": [BOARD]}), (str(MODEL), {"boards": [BOARD]})):
        raises(aotc.OptionError, lambda: aotc.conformance.table(models, cache=use.work / "wrong", executor=Answers(use), **more))


def test_a_model_in_several_files_is_refused(use):
    weights = onnx.numpy_helper.from_array(numpy.ones((16, 64), "float32"), "w")
    graph = onnx.helper.make_graph([onnx.helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
                                   [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 16])],
                                   [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 64])], [weights])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    path = use.work / "two.onnx"
    onnx.save_model(model, path, save_as_external_data=True, location="two.bin", size_threshold=0)
    words = ("two.onnx", "in other files", "save it as one file")
    error = raises(aotc.ModelError, lambda: aotc.tune.search(path, cache=use.work / "two", executor=executors.Serial(), **FEW), *words)
    assert "not there" not in str(error)
    [cell] = aotc.conformance.table([path], boards=[BOARD], levels=["size"], cache=use.work / "two", executor=executors.Serial()).cells
    assert cell.state == "error" and all(word in cell.message for word in words), cell


def test_the_boards_of_a_table_can_pass(use):
    told = []
    boards = aotc.conformance.default_boards(told.append)
    assert {"host", BOARD} <= set(boards) and not any("arduino" in b for b in boards), boards
    assert len(told) <= 1 and all("skipped" in line for line in told)
    assert _points.requirements("host") == ("toolchain:cc",)
    made = aotc.conformance.table([MODEL], boards=["host"], levels=["balanced"], cache=use.work / "host", executor=executors.Serial(),
                                  repeat=1.0)
    assert made.passed and made.counts.repeated == 1, made


def test_what_is_no_regular_file_stays(use):
    target, link, pipe = use.work / "target", use.work / "link", use.work / "pipe"
    link.symlink_to(target)
    for _ in range(2):  # where the link leads to nothing, and to a file
        _store.write_whole(link, b"new")
        assert link.is_symlink() and target.read_bytes() == b"new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    _store.write_whole(pipe, b"through")
    assert pipe.is_fifo() and os.read(reader, 99) == b"through"
    os.close(reader)


def test_another_program_is_another_version(use):
    program = use.work / "program"
    seen = set()
    for text in ("#!/bin/sh\necho 1\n", "#!/bin/sh\necho 1 \n", "#!/bin/sh\necho 123\n"):
        program.write_text(text)
        program.chmod(0o755)
        seen.add(_points._identity(str(program)))
    assert len(seen) == 3
    program.unlink()
    assert _points._identity(str(program)) == "missing"


# --- Who may run what ----------------------------------------------------------------------------


class Labelled(Answers):
    """An executor that chooses workers by labels."""

    def __init__(self, use, labels, spoil=lambda result, point: result):
        super().__init__(use, spoil)
        self.labels, self.given = labels, []

    def submit_where(self, requires, avoid, fn, point, model, more):
        able = [name for name, has in self.labels.items() if set(requires) <= has]
        if not able:
            raise executors.Unavailable(f"no worker has {', '.join(requires)}")
        name = next((n for n in able if n not in avoid), able[0])
        self.given.append(name)
        future = concurrent.futures.Future()
        result = self.store.result(point)
        future.set_result(executors.Placed(name, _points.sealed(result["key"], result["value"], "whatever")))
        return future


def test_a_wrong_label_is_given_nothing(use):
    right = set(_points.requirements(BOARD))
    assert right == {"toolchain:arm-none-eabi-gcc", "emulator:qemu-system-arm"}
    workers = Labelled(use, {"wrong": {"toolchain:arm-none-eabi-gcc", "emulator:qemu-system-riscv32"}, "a": right, "b": right})
    found = search(use, "labels", workers, repeat=1.0)
    assert set(workers.given) == {"a", "b"} and text_of(use, found, "labels") == use.text
    raises(aotc.Error, lambda: search(use, "labels2", Labelled(use, {"wrong": set()})), "no worker has", "qemu-system-arm")


def test_a_plain_executor_takes_what_this_machine_can_run(use):
    raises(aotc.Error, lambda: aotc.tune.search(MODEL, board="nucleo_h743zi", cache=use.work / "board", executor=executors.Serial()),
           "this machine has no", "board:nucleo_h743zi")


def test_another_version_is_refused(use):
    other = {**use.point, "versions": {**use.point["versions"], "aotc": "0" * 32}}
    result = _points.measure(other, MODEL.read_bytes())
    assert result["value"]["state"] == "failed" and "aotc" in result["value"]["message"]
    assert _points.measure(use.point, b"another")["value"]["state"] == "failed"


# --- The search, the queue, the command ----------------------------------------------------------


def test_the_search_is_exact(use):
    draw = random.Random(1)
    for _ in range(200):
        groups = [[_search.Option(0.0, 0, (g, 0))] + [_search.Option(draw.randint(-9, 9), draw.randint(-9, 9), (g, o))
                  for o in range(1, draw.randint(1, 4))] for g in range(draw.randint(1, 5))]
        limit, count = draw.randint(-12, 6), draw.randint(1, 6)
        every = sorted(sum(o.cost for o in way) for way in itertools.product(*groups) if sum(o.flash for o in way) <= limit)
        found = _search.best(groups, limit, count)
        assert [cost for cost, _, _ in found] == every[:count], (groups, limit)
        for cost, flash, choices in found:
            taken = [next(o for o in g if o.choice == c) for g, c in zip(groups, choices)]
            assert (sum(o.cost for o in taken), sum(o.flash for o in taken)) == (cost, flash) and flash <= limit


def test_listed_schedules_can_be_had(use):
    for board, some in ((BOARD, 12), ("qemu_riscv32", 4)):
        listed = json.loads(common.aotc("schedules", MODEL, "--board", board, "--json"))["operators"]
        assert len(listed) > 5 and all(o["alternatives"][0]["chosen"] for o in listed)
        names = [[a["name"] for a in o["alternatives"]] for o in listed]
        assert all(len(set(n)) == len(n) for n in names) and max(map(len, names)) > 4
        draw = random.Random(1)
        for _ in range(some):
            calls = [{"op_index": o["op_index"], "schedule": draw.choice(o["alternatives"])["schedule"]} for o in listed]
            (use.work / "listed.json").write_text(json.dumps({"calls": calls}))
            common.aotc("check", MODEL, "--board", board, "--schedules", use.work / "listed.json", "--quiet")


def test_a_table_has_a_cell_for_each(use):
    damaged = use.work / "damaged.tflite"
    damaged.write_bytes(MODEL.read_bytes()[:1000])
    made = aotc.conformance.table([MODEL, damaged], boards=[BOARD, "nucleo_h743zi"], levels=["balanced"], cache=use.work / "serial",
                                  executor=executors.Serial(), optimize="balanced")
    good, board, bad, _ = made.cells
    assert good.state == "verified" and good.exact == good.layers == 11 and good.instructions == use.first.default["instructions"]
    assert board.state == "poisoned" and "board:nucleo_h743zi" in board.message
    assert bad.state == "error" and bad.message.startswith("damaged.tflite") and "[" in bad.message, bad
    assert not made.passed and "1 of 4 verified" in str(made) and made.markdown.count("\n| ") == 4
    assert json.loads(made.json)["cells"][0]["arena"] == good.arena and made.html.count('class="bad"') == 3
    assert "damaged.tflite" in made.html and "src=" not in made.html


def test_a_long_queue_waits_outside(use):
    drawn, ended, most = 0, 0, 0
    versions = _points.versions("host")

    def points():
        nonlocal drawn
        for seed in range(10_000):
            drawn += 1
            yield _points.point(b"x", "x.tflite", "host", versions, seed=seed)

    class None_(concurrent.futures.Executor):
        def submit(self, fn, point, model, avoid):
            future = concurrent.futures.Future()
            future.set_result(_points.sealed(_points.key_of(point), {"state": "error", "slug": "", "message": "x"}, "w"))
            return future

    store = _store.Store(use.work / "queue")
    store.keep = lambda result: None
    engine = _engine.Engine(None_(), store, {_points.sha256(b"x"): b"x"}, window=8, repeat=0.0)
    for _ in engine.results(points()):
        ended += 1
        most = max(most, drawn - ended)
    assert ended == 10_000 and most <= 9, most


def test_options_are_checked(use):
    def refused(*arguments, code=2):
        done = subprocess.run([common.AOTC, "tune", *map(str, arguments)], capture_output=True, text=True, cwd=use.work,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "AOTC_PYTHON": sys.executable})
        assert done.returncode == code and "error" in done.stderr and "Traceback" not in done.stderr, (arguments, done)
        return done.stderr

    good = (MODEL, "--board", BOARD)
    assert "--board" in refused(MODEL)
    assert "'speed'" in refused(*good, "--objective", "speed")
    assert "above 0" in refused(*good, "--objective", "flash=-1")
    assert "above 0" in refused(*good, "--objective", "flash=nan")
    assert "'fast'" in refused(*good, "--levels", "fast")
    assert "--flash" in refused(*good, "--flash", "-3")
    assert "--ram" in refused(*good, "--ram", "1G")
    refused(*good, "--jobs", "100000")
    assert "directory" in refused(*good, "-o", use.work / "no/such/file.json")
    assert "is the model" in refused(*good, "-o", MODEL)
    refused("/nowhere.tflite", "--board", BOARD, "-o", "x.json", code=1)
    refused(MODEL, "--board", "no_board", "-o", "x.json", code=2)
    assert not (use.work / "x.json").exists()
    done = subprocess.run([common.AOTC, "tune", *map(str, good)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": "", "AOTC_PYTHON": "/usr/bin/true"})
    assert done.returncode in (0, 5)
    done = subprocess.run([common.AOTC, "tune", *map(str, good)], capture_output=True, text=True,
                          env={**os.environ, "AOTC_PYTHON": "/usr/bin/false"})
    assert done.returncode == 5 and "pip install aotc" in done.stderr


def test_the_page_runs(use):
    """The Python of docs/tuning.md, block after block."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/tuning.md").read_text(), re.M | re.S)
    assert len(blocks) >= 3
    folder = common.fresh(use.work / "page")
    (folder / MODEL.name).write_bytes(MODEL.read_bytes())
    script = "import os\nos.environ['XDG_CACHE_HOME'] = 'cache'\n" + "".join(blocks)
    (folder / "cache/aotc").mkdir(parents=True)
    shutil.copytree(use.work / "serial", folder / "cache/aotc/tune")
    common.run([sys.executable, "-c", script], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert (folder / "digits.schedules.json").read_bytes() == use.text
