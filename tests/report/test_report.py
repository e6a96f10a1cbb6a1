# SPDX-License-Identifier: Apache-2.0
"""Tests `aotc report --html`, --csv, --markdown, --compare, and that all of them say what `--json` says."""
import csv
import functools
import html.parser
import io
import json
import pathlib
import random
import re
import subprocess
import sys

import common
import pytest
from tflite_builder import ModelBuilder

sys.path.append(str(common.ROOT / "tests/models/generate"))
from state_direct import while_int8  # noqa: E402

DIGITS = common.ROOT / "tests/models/digits/digits_int8.tflite"
STATES = common.ROOT / "tests/models/state"
VOID = {"meta", "link", "br", "hr", "img", "input", "col"}
MOST_OF_VWW = 340_000  # it holds the C
WORK = pathlib.Path()  # each test's own folder


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class Page(html.parser.HTMLParser):
    """What is wrong with the nesting of a page, its ids, its scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.ids, self.scripts, self.attributes = [], [], [], [], []
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        self.attributes += [(tag, k, v) for k, v in attributes]
        self.ids += [v for k, v in attributes if k == "id"]
        if tag == "script":
            self.scripts.append((dict(attributes), []))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()} closes something else")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1].append(data)

    def script(self, name):
        return next((a, "".join(text)) for a, text in self.scripts if a.get("id") == name)

    def data(self):
        data = json.loads(self.script("data")[1])
        if data.get("source"):
            attributes, text = self.script("source")
            blanks = " " * int(attributes["data-blanks"])
            text = re.sub(r"<\\([/!\\])", r"<\1", text)
            data["source"]["text"] = re.sub(r"^\t+", lambda tabs: (blanks or "\t") * len(tabs[0]), text, flags=re.M)
        return data


def run(*arguments, code=0):
    done = common.run([common.AOTC, *arguments], expect=None)
    assert done.returncode == code, done.stderr
    return done


def text_of_report(model, *options):
    return run("report", model, *options, "--json").stdout


@functools.cache
def report_of_digits(*options):
    return text_of_report(DIGITS, *options)


def report_of(model, *options):
    is_kept = model == DIGITS and "--compare" not in options
    return json.loads(report_of_digits(*options) if is_kept else text_of_report(model, *options))


def page_of(model, *options):
    run("report", model, *options, "--html", "page.html")
    return (WORK / "page.html").read_text(encoding="utf-8")


# --- The page --------------------------------------------------------------------------------


def well_formed(text):
    page = Page(text)
    assert not page.wrong, page.wrong
    assert len(page.ids) == len(set(page.ids)), page.ids
    assert text.startswith("<!-- SPDX-License-Identifier: 0BSD -->\n<!DOCTYPE html>") and 'lang="en"' in text
    loaded = [(t, k, v) for t, k, v in page.attributes if k in ("src", "href", "srcset") and not v.startswith(("#", "data:"))]
    assert not loaded, loaded
    head = text.partition('<script type="application/json"')[0]
    assert "default-src 'none'" in head and "@import" not in head and "url(" not in head
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|WebSocket|innerHTML", text.rpartition("<script>")[2])
    return page


def test_page_holds_what_json_says():
    options = ("--board", "qemu_mps2_an386", "-O", "size")
    text = page_of(DIGITS, *options)
    assert well_formed(text).data() == report_of(DIGITS, *options)
    assert text == page_of(DIGITS, *options), "drawn twice, a page has other bytes"
    assert not [p.name for p in WORK.iterdir() if p.name.startswith(".")], "something is left beside the page"


def test_no_board_and_no_arena():
    data = well_formed(page_of(DIGITS, "--memory", "workspace")).data()
    assert "memory" not in data and data["absent"][0]["part"] == "code for one CPU", data["absent"]


def test_names_of_the_model_are_text():
    """A tensor that is called as the end of a script."""
    model = DIGITS.read_bytes()
    name = report_of(DIGITS)["layers"][0]["results"][0]["tensor"].encode()
    evil = (b"</script><script>alert(1)</script><!-- & \" |`" + b"x" * 200)[:len(name)]
    assert len(evil) == len(name) > 9 and model.count(name) >= 1
    path = WORK / "evil.tflite"
    path.write_bytes(model.replace(name, evil))
    page = well_formed(page_of(path))
    assert page.data()["layers"][0]["results"][0]["tensor"].startswith("</script>")
    assert len(page.scripts) == 3
    assert "</script" not in run("report", path, "--markdown").stdout


def test_size_of_vww():
    model = common.model_path("vww")
    size = len(page_of(model, "--board", "qemu_mps2_an386").encode())
    print(f"the page of vww has {size:,} bytes")
    assert size < MOST_OF_VWW, size


def test_a_page_that_cannot_be_written():
    done = run("report", DIGITS, "--html", "absent/page.html", code=1)
    assert "[file-write]" in done.stderr, done.stderr


# --- What is in the object -------------------------------------------------------------------


def test_boards_are_what_compiling_gives():
    """Two of them, beside `aotc check` of the board, which also says what fits."""
    data = report_of(DIGITS, "--board", "qemu_mps2_an386")
    rows = {b["board"]: b for b in data["boards"]}
    assert len(rows) == len(data["boards"]) > 20 and [b["board"] for b in data["boards"] if b.get("chosen")] == ["qemu_mps2_an386"]
    for board in ("qemu_microbit", "nucleo_l4r5zi"):
        checked = json.loads(run("check", DIGITS, "--board", board, "--json").stdout)
        for key in ("arena_bytes", "constants_bytes", "estimated_cycles"):
            assert rows[board][key] == checked[key], (board, key, rows[board], checked[key])
        assert rows[board]["fits"]
    assert not rows["arduino_uno"]["fits"] and "estimated_cycles" not in rows["arduino_uno"]
    assert rows["nucleo_l4r5zi"]["milliseconds"] == round(rows["nucleo_l4r5zi"]["estimated_cycles"] / 120e3, 2)


def test_variants_are_what_compiling_gives():
    data = report_of(DIGITS, "--cpu", "cortex-m4f")
    assert sum(v["chosen"] for v in data["variants"]) == 1 and len(data["variants"]) == 10
    for v in data["variants"]:
        one = json.loads(run("check", DIGITS, "--cpu", "cortex-m4f", *v["options"].split(), "--json").stdout)
        for key in ("arena_bytes", "constants_bytes", "level", "prefer", "stream"):
            assert one[key] == v[key], (v, key, one[key])
    chosen = next(v for v in data["variants"] if v["chosen"])
    assert data["next"], "a network of convolutions has something to try"
    for step in data["next"]:
        like = [v for v in data["variants"] if v["arena_bytes"] - chosen["arena_bytes"] == step["arena_bytes"]
                and step["option"] in v["options"]]
        assert like, step


def test_pareto_points():
    """Nothing is better in arena and cycles, and the options give what is said."""
    arguments = ("--cpu", "cortex-m4f")
    data = report_of(DIGITS, *arguments)
    points, variants = data["pareto"], data["variants"]

    def better(a, b):
        figures = [(v["arena_bytes"], v["estimated_cycles"]) for v in (a, b)]
        return figures[0] != figures[1] and all(x <= y for x, y in zip(*figures))

    assert [p["arena_bytes"] for p in points] == sorted(p["arena_bytes"] for p in points) and len(points) >= 3, points
    assert [p["chosen"] for p in points].count(True) == 1
    for p in points:
        assert any(better(v, p) for v in variants) == ("instead" in p), p
        assert "instead" not in p or p["chosen"], p
        one = json.loads(run("check", DIGITS, *arguments, *p["options"].split(), "--json").stdout)
        assert one["arena_bytes"] == p["arena_bytes"], (p, one["arena_bytes"])
    for v in variants:
        assert v["pareto"] == any(p["options"] == v["options"] and "instead" not in p for p in points), v
        assert v["pareto"] or any(all(p[k] <= v[k] for k in ("arena_bytes", "estimated_cycles")) for p in points), v
    text = run("report", DIGITS, *arguments).stdout
    for p in points:
        line = p["options"] + (" *" if p["chosen"] else "")
        assert any(t.startswith(line + " ") and f"{p['arena_bytes']:,}" in t for t in text.splitlines()), (line, text)


def test_one_layer_has_one_figure():
    """report, check, the schedules of a layer and the page say the same cycles."""
    arguments = ("--cpu", "cortex-m4f")
    data = report_of(DIGITS, *arguments)
    checked = json.loads(run("check", DIGITS, *arguments, "--json").stdout)
    cycles = [layer["estimated_cycles"] for layer in data["layers"]]
    assert sum(cycles) == data["estimated_cycles"] == checked["estimated_cycles"], (cycles, checked["estimated_cycles"])
    assert next(v for v in data["variants"] if v["chosen"])["estimated_cycles"] == data["estimated_cycles"]
    listed = json.loads(run("schedules", DIGITS, *arguments, "--json").stdout)["operators"]
    compared = 0
    for operator in listed:
        layers = [layer for layer in data["layers"] if layer.get("op_index") == operator["op_index"]]
        chosen = next(a for a in operator["alternatives"] if a["chosen"])
        assert [chosen["estimated_cycles"]] == [layer["estimated_cycles"] for layer in layers], (chosen, layers)
        assert [chosen["estimated_instructions"]] == [layer["estimated_instructions"] for layer in layers], (chosen, layers)
        compared += 1
    assert compared > 5, compared


def test_options_are_compared_by_cycles():
    """Where a core's cycles are known, more instructions are no loss if they take fewer cycles."""
    data = report_of(DIGITS, "--cpu", "cortex-m4f")
    assert all("cycles" in n["text"] or "instructions" not in n["text"] for n in data["next"]), data["next"]
    assert all("estimated_cycles" in v for v in data["variants"]), data["variants"]
    other = report_of(DIGITS, "--board", "arduino_mega2560")
    assert not any("estimated_cycles" in v for v in other["variants"]), other["variants"]
    assert other["pareto"] and not any("cycles" in n["text"] for n in other["next"])


def test_loops_of_known_length_multiply():
    """A loop of 20 iterations beside the same one whose length is an input: MACs and cycles of every iteration."""
    arguments = ("--cpu", "cortex-m4f")
    counted, open_ended = WORK / "loop_20.tflite", WORK / "loop_n.tflite"
    counted.write_bytes(while_int8(20))
    open_ended.write_bytes(while_int8())
    whole, once = (report_of(model, *arguments, "--no-alternatives") for model in (counted, open_ended))
    assert (whole["macs"], once["macs"]) == (20 * 64, 64), (whole["macs"], once["macs"])
    assert "per_iteration" not in whole and once["per_iteration"], once.get("per_iteration")
    checked = 0
    for a, b in zip(whole["layers"], once["layers"], strict=True):
        times = a.get("times", 1)
        assert "times" not in b and times in (1, 20, 21), (a, b)
        if times == 1:
            continue
        assert b["per_iteration"] and "per_iteration" not in a, (a, b)
        for figure in ("estimated_cycles", "estimated_instructions"):
            assert a[figure] == times * b[figure] > 0, (figure, a, b)
        checked += 1
        assert (times == 21) == (a["op_type"] == "LESS"), a
    assert checked >= 4, whole["layers"]
    for figure in ("estimated_cycles",):
        assert whole[figure] == sum(layer[figure] for layer in whole["layers"]), whole[figure]
        assert once[figure] == sum(layer[figure] for layer in once["layers"]), once[figure]
    for model, units in ((counted, ("MACs per inference", "cycles, estimated")),
                         (open_ended, ("MACs per iteration", "cycles per iteration, estimated"))):
        text = run("check", model, *arguments).stdout
        assert all(unit in text for unit in units), text
        assert ("per iteration" in text) == (model == open_ended), text


def test_what_is_between_stream_auto_and_max():
    """Is tried by --stream-most, whatever --stream was asked for."""
    model = common.model_path("resnet_f32")
    for given in ((), ("--stream", "auto", "--stream-most", "5")):
        options = [v["options"] for v in report_of(model, "--cpu", "cortex-m0", *given)["variants"]]
        assert "-O balanced --stream auto --stream-most 0" in options and "-O speed --stream max" in options, options


def test_what_planes_of_pictures_cost():
    model = common.ROOT / "tests" / "models" / "torch" / "convolutional_script.onnx"
    data = report_of(model, "--cpu", "cortex-m4f")
    step = next(s for s in data["next"] if s["option"] == "--input-layout nhwc")
    turned = json.loads(run("check", model, "--cpu", "cortex-m4f", "--input-layout", "nhwc", "--json").stdout)
    assert turned["arena_bytes"] - data["arena_bytes"] == step["arena_bytes"] < 0, step


def test_peak_and_overlaps():
    data = report_of(DIGITS)
    memory = data["memory"]

    def used(call):
        taken = set()
        for m in memory:
            if m["first_call"] <= call <= m["last_call"]:
                taken |= set(range(m["offset"], m["offset"] + m["bytes"]))
        return len(taken)

    by_call = [used(c) for c in range(len(data["layers"]))]
    assert [l["arena_used_bytes"] for l in data["layers"]] == by_call
    assert data["peak"]["call"] == by_call.index(max(by_call)) and data["peak"]["used_bytes"] == max(by_call)
    pairs = {(a, b) for b, n in enumerate(memory) for a, m in enumerate(memory[:b])
             if m["last_call"] >= n["first_call"] and m["offset"] < n["offset"] + n["bytes"]
             and n["offset"] < m["offset"] + m["bytes"]}
    assert {(o["under"], o["over"]) for o in data["overlaps"]} == pairs and pairs


def test_peak_of_branches_and_loops():
    """The busiest call has what the planner says that no arena goes below; there is none where calls are not in a row."""
    peaks = 0
    for model in sorted(STATES.glob("*.tflite")):
        if model.stem == "while_shift_f32":  # is refused
            continue
        data = report_of(model)
        if "peak" in data:
            peaks += 1
            used = data["peak"]["used_bytes"]
            words = sum((data["memory"][i]["bytes"] + 3) // 4 * 4 for i in data["peak"]["memory"])  # as they are placed
            assert used <= data["arena_bytes"] and words >= data["arena_lower_bound"], (model.name, used, words)
    assert peaks > 10, peaks


def test_reports_with_many_members():
    for model in sorted(STATES.glob("counter_*.tflite")):
        report_of(model, "--board", "qemu_mps2_an386", "--slice", "call")


def test_a_page_is_not_written_over_what_it_is_made_from():
    model, old = WORK / "here.tflite", WORK / "here.json"
    model.write_bytes(DIGITS.read_bytes())
    old.write_text(report_of_digits())
    for arguments in (["here.tflite", "--html", "here.tflite"], [DIGITS, "--compare", old, "--html", "here.json"]):
        assert "[output-exists]" in run("report", *arguments, code=1).stderr
    assert model.read_bytes() == DIGITS.read_bytes() and "prefix" in json.loads(old.read_text())


def test_a_run_of_another_firmware_is_not_this_one_s():
    run("create", DIGITS, "--board", "host", "-o", "ran", "--force", "-q")
    run("build", "ran", "-q")
    run("run", "ran", "-q")
    kept = WORK / "ran" / "build" / "run.json"
    good = json.loads(kept.read_text())

    def told():
        return json.loads(run("report", "ran", "--json").stdout)["run"]

    assert told()["values"] == good["values"]
    for damage in ({"op_ticks": 5}, {"op_ticks": {"a": 1}}, {"op_ticks": [1e300]}, {"values": {"time": 1e300}}, {"values": [1]}):
        kept.write_text(json.dumps(good | damage))
        run("report", "ran", "-q")
        assert not set(damage) & set(told()), damage
    kept.write_text(json.dumps(good | {"values": dict.fromkeys(good["values"], "x")}))
    run("report", "ran")
    kept.write_text(json.dumps(good | {"image": "0"}))
    assert told() == {}


def test_flow():
    """Every call but a first reads something, only what comes before it; the last one is the output's."""
    data = report_of(DIGITS)
    for i, layer in enumerate(data["layers"]):
        assert layer["operands"], layer
        assert all(o.get("call", -1) < i for o in layer["operands"]), layer
    assert {"call": len(data["layers"]) - 1} == data["outputs"][0]["from"]
    assert sum(len(l["operands"]) == 2 for l in data["layers"]) == sum(l["op_type"] == "ADD" for l in data["layers"]) > 0


def test_source():
    data = report_of(DIGITS)
    lines = data["source"]["text"].split("\n")
    for f in data["source"]["functions"]:
        assert any(f["name"] + "(" in lines[n] for n in range(f["line_begin"] - 1, f["line_begin"] + 2)), f
        assert lines[f["line_end"] - 1] == "}", f
    assert sorted(c for f in data["source"]["functions"] for c in f["calls"]) == list(range(len(data["layers"])))


def test_constants():
    data = report_of(DIGITS, "-O", "speed")
    assert sum(c["bytes"] for c in data["constants"]) == data["constants_bytes"]
    for i, layer in enumerate(data["layers"]):
        assert layer["constants_bytes"] == sum(c["bytes"] for c in data["constants"] if i in c["calls"]), layer


# --- Other forms -----------------------------------------------------------------------------


def test_csv():
    data = report_of(DIGITS)
    rows = list(csv.DictReader(io.StringIO(run("report", DIGITS, "--csv").stdout)))
    assert len(rows) == len(data["layers"])
    for row, layer in zip(rows, data["layers"]):
        for key in ("call", "macs", "estimated_instructions", "live_bytes", "scratch_bytes", "constants_bytes", "op_type",
                    "schedule", "function"):
            assert row[key] == str(layer[key]), (key, row, layer)
        assert row["tensor"] == layer["results"][0]["tensor"]


def test_csv_has_no_formulas():
    """A tensor's name comes from the model, and a spreadsheet computes what begins like a formula."""
    for tensor, want in (("=1+2", "'=1+2"), ('@SUM(A1,"x")', "'@SUM(A1,\"x\")"), ("1=2", "1=2")):
        builder = ModelBuilder()
        given, made = builder.tensor("x", "float32", (1, 4)), builder.tensor(tensor, "float32", (1, 4))
        builder.op("RELU", [given], [made])
        (WORK / "named.tflite").write_bytes(builder.finish([given], [made]))
        [row] = csv.DictReader(io.StringIO(run("report", "named.tflite", "--csv").stdout))
        assert row["tensor"] == want, row


def test_markdown():
    data, text = report_of(DIGITS), run("report", DIGITS, "--markdown").stdout
    assert f"| arena | {data['arena_bytes']:,} bytes |" in text and data["peak"]["text"].replace("_", "\\_") in text
    assert len(re.findall(r"^\| \d+ \|", text, re.M)) == len(data["layers"])


def test_forms_exclude_each_other():
    for pair in (("--csv", "--json"), ("--markdown", "--json"), ("--csv", "--markdown")):
        assert "[usage]" in run("report", DIGITS, *pair, code=2).stderr


def test_no_alternatives():
    whole, part = report_of(DIGITS), report_of(DIGITS, "--no-alternatives")
    for key in ("layers", "arena_bytes", "constants_bytes", "code_bytes", "memory", "constants"):
        assert part.get(key) == whole.get(key), key
    assert len(whole["variants"]) > 5 and whole["boards"] and whole["next"]
    assert part["variants"] == [v for v in whole["variants"] if v["chosen"]] and part["next"] == []
    assert "boards" not in part and len(part["levels"]) == len(part["pareto"]) == 1
    text = run("report", DIGITS, "--no-alternatives").stdout
    assert "CONV_2D" in text and "-O balanced" in text and "-O speed" not in text and "best trade-offs" not in text, text
    assert {"part": "other options and boards", "command": "aotc report digits_int8.tflite"} in part["absent"]
    assert all(a["part"] != "other options and boards" for a in whole["absent"])
    # The page has what the report has, and says what is left out.
    run("report", DIGITS, "--no-alternatives", "--html", "part.html")
    page = (WORK / "part.html").read_text()
    assert "other options and boards" in page and "drawLevels" in page, len(page)


# --- Differences -----------------------------------------------------------------------------


def test_compare():
    (WORK / "old.json").write_text(report_of_digits())
    same = report_of(DIGITS, "--compare", "old.json")
    assert same["difference"]["layers"] == [] and same["difference"]["same_layers"] == len(same["layers"])
    faster = report_of(DIGITS, "--cpu", "cortex-m4f", "--compare", "old.json")
    for f in faster["difference"]["totals"]:
        assert f["new"] == faster[f["figure"]] and f["old"] == same[f["figure"]], f
    assert any("schedule" in l.get("what", []) for l in faster["difference"]["layers"])
    assert faster["difference"]["same_layers"] + len(faster["difference"]["layers"]) == len(faster["layers"])
    text = run("report", DIGITS, "-O", "size", "--compare", "old.json", "--markdown").stdout
    assert "### Difference to digits" in text
    well_formed(page_of(DIGITS, "--compare", "old.json"))


def diff(*arguments):
    return json.loads(run("diff", *arguments, "--json").stdout)


def test_diff():
    """Of a model, a project and a report of the same model nothing differs; of others what their reports say."""
    (WORK / "old.json").write_text(report_of_digits())
    run("create", DIGITS, "--board", "host", "-o", "app", "--force", "-q")
    layers = report_of(DIGITS)["layers"]
    for pair in ((DIGITS, DIGITS), ("old.json", DIGITS), (DIGITS, "old.json")):
        same = diff(*pair)
        assert same["layers"] == [] and same["same_layers"] == len(layers) and "accuracy" not in same, same
    assert len(diff("app", DIGITS)["totals"]) > 3
    floats = DIGITS.with_name("digits_f32.tflite")
    d, theirs = diff(DIGITS, floats), report_of(floats)
    assert {f["figure"]: f["new"] for f in d["totals"]}["arena_bytes"] == theirs["arena_bytes"]
    for l in d["layers"]:
        assert l["change"] == "changed" and l["old_call"] == l["new_call"] and "type" in l["what"], l
        for f in l["figures"]:
            assert (f["old"], f["new"]) == (layers[l["old_call"]][f["figure"]], theirs["layers"][l["new_call"]][f["figure"]]), f


def test_diff_of_layers_that_come_and_go():
    report = report_of(DIGITS)
    shorter = dict(report, layers=report["layers"][:2] + report["layers"][3:])
    (WORK / "long.json").write_text(json.dumps(report))
    (WORK / "short.json").write_text(json.dumps(shorter))
    gone, came = diff("long.json", "short.json"), diff("short.json", "long.json")
    assert [(l["change"], l["old_call"]) for l in gone["layers"]] == [("removed", 2)], gone["layers"]
    assert [(l["change"], l["new_call"]) for l in came["layers"]] == [("added", 2)], came["layers"]
    assert gone["same_layers"] == came["same_layers"] == len(report["layers"]) - 1
    other = json.loads(json.dumps(report))
    other["layers"][4]["constants_checksum"] = "0"  # trained again
    (WORK / "other.json").write_text(json.dumps(other))
    assert [(l["new_call"], l["what"], l["figures"]) for l in diff("long.json", "other.json")["layers"]] == [(4, ["constants"], [])]


def test_diff_of_accuracy():
    data = ("--data", DIGITS.with_name("test_inputs_int8.npy"), "--labels", DIGITS.with_name("test_labels.npy"))
    verified = json.loads(run("verify", DIGITS, *data, "--only", "host", "--json").stdout)["accuracy"][0]
    found = diff(DIGITS, DIGITS, *data)["accuracy"]
    assert found == {"inputs": verified["inputs"], "same_class": verified["inputs"], "old_right": verified["right"],
                     "new_right": verified["right"]}, found
    (WORK / "old.json").write_text(report_of_digits())
    assert "[report-no-model]" in run("diff", "old.json", DIGITS, *data, code=1).stderr
    assert "[usage]" in run("diff", DIGITS, DIGITS, *data[2:], code=2).stderr
    assert "[file-read]" in run("diff", DIGITS, "absent.json", code=1).stderr


def test_diff_of_what_is_no_report():
    """JSON of somebody else, damaged, or made to break what reads it: an error that says where, with either command."""
    deep = "[" * 100_000 + "]" * 100_000
    report = report_of_digits()
    bad = {"": "is not JSON", "{": "is not JSON", report[:len(report) // 2]: "is not JSON", "\ufeff": "is not JSON", "[]": "is not a report of aotc",
           '{"a": 1}': "is not a report of aotc", '{"layers": {}, "prefix": "a"}': "is not a report of aotc", '{"layers": [1], "prefix": "a"}': "is not a report of aotc",
           '{"layers": [], "prefix": 3}': "is not a report of aotc", '{"layers": [], "prefix": "a", "macs": 1e400}': "1:39: error: the file is not JSON: a number is out of range",
           deep: "1:257: error: the file is not JSON: nested deeper", '{"layers": [{"results": [{"shape": %s}]}], "prefix": "a"}' % deep: "nested deeper",
           '{"layers": [], "prefix": "a", "run": %s}' % deep: "nested deeper"}
    for text, says in bad.items():
        (WORK / "bad.json").write_text(text, encoding="utf-8")
        for arguments in (["diff", "bad.json", DIGITS], ["diff", DIGITS, "bad.json"], ["report", DIGITS, "--compare", "bad.json"]):
            done = run(*arguments, code=1)
            assert re.search(rf"^bad\.json:.*\[report-invalid\]", done.stderr, re.M) and says in done.stderr, (text[:60], done.stderr[:400])
            assert not done.stdout, done.stdout
    (WORK / "graph.json").write_text('{"nodes": 3}')
    assert "[graph-form]" in run("diff", "graph.json", DIGITS, code=1).stderr, "a graph of TVM is read as one"
    (WORK / "folder.json").mkdir(exist_ok=True)
    assert "folder.json: error" in run("diff", "folder.json", DIGITS, code=1).stderr


def test_diff_of_reports_with_other_types():
    """Any value in the place of any other: what cannot be compared is not, or it is no report."""
    report = report_of(DIGITS)
    (WORK / "whole.json").write_text(json.dumps(report))
    rng = random.Random(5)
    for _ in range(150):
        other = json.loads(json.dumps(report))
        at = other
        for _ in range(rng.randrange(6)):
            inner = [v for v in (at.values() if isinstance(at, dict) else at) if isinstance(v, (dict, list)) and v]
            at = rng.choice(inner) if inner else at
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        at[key] = value = rng.choice([None, True, -1, 0.5, 1e300, 2 ** 64 - 1, "", "\u001b[1m", [], [[]], {}, {"a": {}}])
        (WORK / "other.json").write_text(json.dumps(other))
        for pair in (("whole.json", "other.json"), ("other.json", "whole.json")):
            done = subprocess.run([common.AOTC, "diff", *pair], capture_output=True, text=True)
            assert done.returncode == 0 or (done.returncode == 1 and "[report-invalid]" in done.stderr), (value, key, done)
            assert "\x1b" not in done.stdout + done.stderr, (value, key)


def test_compare_with_what_is_no_report():
    for text in ("", "{", "[]", '{"layers": 3}', '{"layers": [3], "prefix": "a"}'):
        (WORK / "bad.json").write_text(text)
        assert "[report-invalid]" in run("report", DIGITS, "--compare", "bad.json", code=1).stderr
    # Of an older version, or made by hand: what it has not is not compared.
    for text in ('{"layers": [], "prefix": "a"}', '{"layers": [{"op_type": 3, "results": [4]}], "prefix": "a", "unit": 3}',
                 '{"layers": [{"results": {"shape": 3}, "macs": "many"}], "prefix": "a", "run": {"values": 3}, "stack": 4}'):
        (WORK / "bad.json").write_text(text)
        data = report_of(DIGITS, "--compare", "bad.json")
        assert data["difference"]["totals"] == [] and data["difference"]["same_layers"] == 0
    for number in ("1e300", "18446744073709551615", "-9223372036854775808", "0.5"):
        (WORK / "bad.json").write_text('{"layers": [], "prefix": "a\\u001b[1m", "macs": %s}' % number)
        done = run("report", DIGITS, "--compare", "bad.json")
        assert "MACs" not in done.stdout.split("old: ")[1] and "\x1b" not in done.stdout, done.stdout[-400:]
