# SPDX-License-Identifier: Apache-2.0
"""The Arduino library against the rules of the library specification and of Arduino's linter.

The rules are checked by this script, by the linter's numbers; each must also be found broken in a
library that breaks it. Where arduino-lint is installed, it is run too, with --compliance strict.
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import threading
import urllib.parse

import pytest
import sketches
from sketches import common

CATEGORIES = {"Display", "Communication", "Signal Input/Output", "Sensors", "Device Control",
              "Timing", "Data Storage", "Data Processing", "Other", "Uncategorized"}
FIELDS = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url",
          "architectures", "depends", "dot_a_linkage", "includes", "precompiled", "ldflags"}
SEMVER = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}"
HEADERS = {".h", ".hh", ".hpp"}


def properties_of(folder, broken):
    """library.properties as a dictionary."""
    file = folder / "library.properties"
    if not file.is_file():
        broken.append("LP001")
        return {}
    found = {}
    for line in file.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals:
            broken.append("LP005")
        found[key.strip()] = value.strip()
    return found


def check_name(folder, name, broken):
    rules = {
        "LP008": len(name) >= 3, "LP009": len(name) <= 63, "LP010": len(name) <= 16,
        "LP011": re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]*", name),
        "LP012": not name.lower().startswith("arduino"), "LP014": "arduino" not in name.lower(),
        "LP015": " " not in name, "LP016": "library" not in name.lower(),
        "LS008": (folder / "src" / f"{name}.h").is_file(),
    }
    broken += [rule for rule, kept in rules.items() if not kept]


def check_texts(p, broken):
    rules = {
        "LP020": re.fullmatch(r"[0-9.]+[0-9A-Za-z.+-]*", p.get("version", "")),
        "LP021": re.fullmatch(SEMVER, p.get("version", "")),
        "LP024": p.get("author"), "LP026": p.get("maintainer"),
        "LP057": "arduino" not in p.get("maintainer", "").lower(),
        "LP028": "email" not in p, "LP032": p.get("sentence"),
        "LP034": "paragraph" in p,
        "LP036": not p.get("sentence") or p["sentence"] not in p.get("paragraph", ""),
        "LP038": p.get("category") in CATEGORIES, "LP039": p.get("category") != "Uncategorized",
        "LP041": urllib.parse.urlsplit(p.get("url", "")).scheme in ("http", "https"),
        "LP044": p.get("architectures", "-") != "",
        "LP046": p.get("architectures", "") == p.get("architectures", "").lower(),
        "LP006": set(p) <= FIELDS,
    }
    broken += [rule for rule, kept in rules.items() if not kept]
    missing = {"name": "LP007", "version": "LP019", "author": "LP023", "maintainer": "LP025",
               "sentence": "LP031", "category": "LP037", "url": "LP040", "architectures": "LP043"}
    broken += [rule for field, rule in missing.items() if field not in p]


def check_files(folder, p, broken):
    names = [path for path in folder.rglob("*")]
    examples = sorted((folder / "examples").glob("*")) if (folder / "examples").is_dir() else []
    rules = {
        "LS001": any(f.suffix in HEADERS for f in (folder / "src").glob("*")),
        "LS002": len(folder.name) <= 63, "LS003": re.fullmatch(NAME, folder.name),
        "LS004": not (folder / ".gitmodules").exists(),
        "LS005": not any(path.is_symlink() for path in names),
        "LS006": not (folder / ".development").exists(),
        "LS007": not any(path.suffix.lower() == ".exe" for path in names),
        "LS010": not (folder / "utility").exists(),
        "LD001": any(re.fullmatch(r"readme(\..*)?", f.name, re.I) for f in folder.iterdir()),
        "LD002": any(re.fullmatch(r"licen[cs]e(\..*)?", f.name, re.I) for f in folder.iterdir()),
        "LD003": not list(folder.glob("*.ino")), "LD004": examples,
        "LP052": all((folder / "src" / h.strip()).is_file()
                     for h in p.get("includes", "").split(",")),
        "SS001": all((e / f"{e.name}.ino").is_file() for e in examples),
        "SS002": all(re.fullmatch(NAME, f.name) for e in examples for f in e.iterdir()),
        "LC001": not any(re.search(r"#include\s*[<\"](?!Arduino\.h)(?i:arduino\.h)", f.read_text())
                         for f in (folder / "src").glob("*") if f.suffix in (".h", ".c", ".cpp")),
    }
    broken += [rule for rule, kept in rules.items() if not kept]


def check_keywords(folder, broken):
    """keywords.txt: fields between single tabs, kinds that the editor knows, names that exist."""
    code = "".join(f.read_text() for f in (folder / "src").glob("*.h"))
    for line in (folder / "keywords.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 2 or fields[1] not in ("KEYWORD1", "KEYWORD2", "KEYWORD3", "LITERAL1"):
            broken.append("keywords: " + line)
        elif fields[1] != "KEYWORD3" and not re.search(rf"\b{re.escape(fields[0])}\b", code):
            broken.append("keywords: unknown " + fields[0])


def check(folder):
    """The rules that a library breaks."""
    broken = []
    p = properties_of(folder, broken)
    if p:
        check_name(folder, p.get("name", ""), broken)
        check_texts(p, broken)
    check_files(folder, p, broken)
    check_keywords(folder, broken)
    return broken


# Each breaks a rule: what is done to library.properties, or to the folder.
def damages(folder):
    file = folder / "library.properties"

    def field(name, value):
        def change():
            text = file.read_text()
            line = "" if value is None else f"{name}={value}\n"
            file.write_text(re.sub(rf"^{name}=.*\n", lambda _: line, text, flags=re.M))
        return change

    return {
        "LP001": file.unlink, "LP005": lambda: file.write_text(file.read_text() + "nothing\n"),
        "LP006": lambda: file.write_text(file.read_text() + "licence=none\n"),
        "LP007": field("name", None), "LP012": field("name", "ArduinoModel"),
        "LP015": field("name", "Digits Model"), "LP019": field("version", None),
        "LP021": field("version", "1.0"), "LP024": field("author", ""),
        "LP036": field("paragraph", "A trained network as plain C. And more."),
        "LP037": field("category", None), "LP038": field("category", "Machine Learning"),
        "LP040": field("url", None), "LP041": field("url", "somewhere"),
        "LP043": field("architectures", None), "LP052": field("includes", "Other.h"),
        "LS008": lambda: (folder / "src" / "DigitsModel.h").rename(folder / "src" / "Other.h"),
        "LD001": (folder / "README.md").unlink, "LD002": (folder / "LICENSE.txt").unlink,
        "LD004": lambda: shutil.rmtree(folder / "examples"),
        "SS001": lambda: (folder / "examples" / "RunModel").rename(folder / "examples" / "Other"),
        "keywords: ": lambda: (folder / "keywords.txt").write_text("digits_run KEYWORD2\n"),
    }


def lint(folder):
    """arduino-lint itself, if it is installed: no errors, and none of its warnings."""
    program = shutil.which("arduino-lint")
    if program is None:
        return
    done = common.run([program, "--compliance", "strict", "--format", "json", folder], expect=None,
                      env={**os.environ, "ARDUINO_LINT_LIBRARY_MANAGER_INDEXING": "true"})
    summary = json.loads(done.stdout)["summary"]
    assert done.returncode == summary["errorCount"] == summary["warningCount"] == 0


@pytest.mark.parametrize("kind, below", [("arduino-library", "."), ("arduino-sketch", "."), ("platformio", "lib/DigitsModel")])
def test_arena(kind, below, digits, tmp_path):
    """The option that puts the arena into another memory."""
    source = f"src/{digits.prefix}_app_memory.c"
    chosen = ["--board", "teensy41", "--project-option"]
    # The board's default is OCRAM; DTCM is where variables lie, which takes no section.
    placed = digits.create(kind, tmp_path / "placed", *chosen, "arena=PSRAM") / below / source
    plain = digits.create(kind, tmp_path / "plain", *chosen, "arena=DTCM") / below / source
    default = digits.create(kind, tmp_path / "default", "--board", "teensy41") / below / source
    sections = {m["name"]: m.get("arena_sections", {}).get("arduino") for m in common.board("teensy41")["memories"]}
    found = [re.findall(r'^#define \w+_PLACE_ARENA .*section\("(.*)"\)', f.read_text(), re.M)
             for f in (placed, default, plain)]
    assert found == [[sections["PSRAM"]], [sections["OCRAM"]], []]


@pytest.mark.parametrize("board, memory", [("teensy41", "FLASH"), ("nano33ble", "SDRAM")])
def test_arena_refused(board, memory, digits, tmp_path):
    refused = common.aotc("create", digits.path, "--project", "arduino-sketch", "--board", board, "-o", tmp_path / "refused",
                          "--project-option", f"arena={memory}", expect=None)
    assert refused.returncode == 1 and "[template-option]" in refused.stderr
    assert not (tmp_path / "refused").exists()


@pytest.fixture(scope="module")
def page():
    """A web page on this machine, for the rule that the library's page exists."""
    class Page(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return sketches.Case("digits_int8", "digits", tmp_path_factory.mktemp("digits"))


BOARDS = {"arduino_mega2560": "avr", "nano33ble": "mbed_nano", None: "*"}  # the architecture that is named


@pytest.mark.parametrize("board", BOARDS)
def test_rules(board, digits, page, tmp_path):
    library = digits.create("arduino-library", tmp_path / "DigitsModel", *(["--board", board] if board else []),
                            "--project-option", f"url={page}")
    broken = check(library)
    assert broken == []
    assert properties_of(library, broken)["architectures"] == BOARDS[board]
    lint(library)


def test_sketch(digits, tmp_path):
    """SD001 and SD002: a sketch has a README and a licence."""
    sketch = digits.create("arduino-sketch", tmp_path / "DigitsSketch", "--license", "MIT")
    for name, text in (("README.md", "# "), ("LICENSE.txt", "SPDX-License-Identifier: MIT\n")):
        assert text in (sketch / name).read_text()
    lint(sketch)


@pytest.fixture(scope="module")
def library(digits, tmp_path_factory):
    return digits.create("arduino-library", tmp_path_factory.mktemp("library") / "DigitsModel", "--project-option",
                         "url=http://127.0.0.1/")


@pytest.mark.parametrize("rule", damages(pathlib.Path()))
def test_broken_rule_is_found(rule, library, tmp_path):
    bad = shutil.copytree(library, tmp_path / "DigitsModel")
    damages(bad)[rule]()
    assert any(b.startswith(rule) for b in check(bad))
