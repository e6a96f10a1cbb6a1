# SPDX-License-Identifier: Apache-2.0
"""--schedules with a whole NAME.map.json: the arrangement and all schedules of a compilation give the same C again, in
projects too; an arrangement that the model cannot have is refused.

CPU: about 4 seconds.
"""
import json

import common
import pytest

MODELS = common.ROOT / "tests" / "models"
DIGITS = MODELS / "digits" / "digits_int8.tflite"
GADGET = MODELS / "gadget" / "gadget_f32.tflite"


def found(name):
    [path] = MODELS.rglob(name)
    return path


def compiled(folder, model, *options):
    """The files of a compilation, and its map."""
    common.aotc("compile", model, *options, "-o", folder, "--quiet")
    files = {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "aotc.json"}
    [name] = [n for n in files if n.endswith(".map.json")]
    return files, folder / name


@pytest.mark.parametrize("name, kind, options", [
    ("gadget_f32.tflite", "order", []),
    ("stream_conv_int8.tflite", "windows", []),
    ("digits_int8.tflite", "segments", ["--stream", "max"]),
    ("residual_images_f32.tflite", "segments", ["--stream", "max"]),
    ("conv_same_int8.tflite", "segments", ["--input", "rows"]),
    ("conv1d_int8.tflite", "segments", ["--stream", "time"]),
    # Several operators of one in the file, and operators of branches.
    ("gru_dynamo.onnx", None, []),
    ("convolutional_script.onnx", None, []),
    ("if_then_else_f32.tflite", None, [])])
def test_a_map_gives_the_same_c(tmp_path, name, kind, options):
    model, core = found(name), ["--cpu", "cortex-m4f"]
    files, path = compiled(tmp_path / "first", model, *core, *options)
    arrangement = json.loads(path.read_text())["arrangement"]
    assert list(arrangement) == ([kind] if kind else [])
    # --input rows and --stream time choose the interface as well. The file replaces the search of other --stream.
    alone = [] if options == ["--stream", "max"] else options
    for i, again in enumerate([options, alone] if alone != options else [options]):
        assert compiled(tmp_path / f"again{i}", model, *core, *again, "--schedules", path)[0] == files
    said = json.loads(common.aotc("check", model, *core, *options, "--json", "--quiet"))
    assert said.get("arrangement", {}) == arrangement


def test_a_project_keeps_its_arrangement(tmp_path):
    board = ["--board", "qemu_mps2_an386"]
    files, path = compiled(tmp_path / "first", DIGITS, *board, "--stream", "max")
    common.aotc("create", DIGITS, *board, "--schedules", path, "-o", tmp_path / "app", "--quiet")
    written = json.loads((tmp_path / "app" / "aotc.json").read_text())
    assert written["compile"]["arrangement"] == json.loads(path.read_text())["arrangement"]
    [source] = (tmp_path / "app").rglob("digits_int8.c")
    assert source.read_bytes() == files["digits_int8.c"]
    said = json.loads(common.aotc("report", tmp_path / "app", "--json", "--no-alternatives"))
    assert said["arrangement"] == written["compile"]["arrangement"]
    # Other options of the model are compiled without it.
    stored = json.loads(common.aotc("report", tmp_path / "app", "--json"))
    assert {v["arena_bytes"] for v in stored["variants"] if v["stream"] == "off" and v["level"] != "balanced"} \
        - {stored["arena_bytes"]}


@pytest.mark.parametrize("change, says", [
    ({"order": [1, 0]}, "the order has 2 operators, but the graph has"),
    ({"segments": [{"first": 0, "last": 99}]}, "its segment 0-99 is not behind the one before it, or not in the graph"),
    ({"windows": [0]}, "0 of the states 0 can keep a window"),
    ({"segments": [{"first": 0}]}, "'arrangement' cannot be read"),
    ([], "'arrangement' cannot be read: it is not an object")])
def test_what_the_model_cannot_have_is_refused(tmp_path, change, says):
    _, path = compiled(tmp_path / "first", GADGET, "--cpu", "cortex-m4f")
    (tmp_path / "wrong.json").write_text(json.dumps(json.loads(path.read_text()) | {"arrangement": change}))
    done = common.aotc("check", GADGET, "--cpu", "cortex-m4f", "--schedules", tmp_path / "wrong.json", expect=None)
    slug = "schedule-file" if "cannot be read" in says else "arrangement-impossible"
    assert done.returncode == 1 and says in done.stderr and f"[{slug}]" in done.stderr, done.stderr


@pytest.mark.parametrize("made, given", [("off", "max"), ("max", "off")])
def test_another_stream_than_that_of_the_map_is_refused(tmp_path, made, given):
    _, path = compiled(tmp_path / "first", DIGITS, "--cpu", "cortex-m4f", "--stream", made)
    done = common.aotc("check", DIGITS, "--cpu", "cortex-m4f", "--stream", given, "--schedules", path, expect=None)
    assert done.returncode == 2 and "[option-conflict]" in done.stderr, done.stderr
    assert f"{path}: error: --stream gives another arrangement than this file" in done.stderr, done.stderr
    rows, plain = "rows 0-", "the model's order, nothing row by row"
    searched, stored = (rows, plain) if given == "max" else (plain, rows)
    assert f"file: {searched}" in done.stderr and f"has: {stored}" in done.stderr, done.stderr
