# SPDX-License-Identifier: Apache-2.0
"""What holds for projects of every kind that 'aotc templates list' gives, so for new ones as well.

structure  twice the same bytes, at most thirteen files beside examples, no download, no path or date, no warning of a
           compiler, a README that tells the truth, a help, a test; exported templates give the same
prefixes   every kind compiles when the model is called as a part of a project or a header is
hostile    odd prefixes, names of classes, file names and values of options
damaged    a template.json with fields removed or replaced: a located error and nothing written
"""
import copy
import functools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

from kinds import common
import kinds
import pytest

MOST_FILES = 13
TEMPLATES = {p.parent.name.replace("_", "-"): json.loads(p.read_text())
             for p in sorted((common.ROOT / "templates").glob("*/template.json"))}
KINDS = [k for k in os.environ.get("AOTC_KINDS", "").split() or TEMPLATES]  # AOTC_KINDS: for whoever works at one
OF_MODELS = [k for k in KINDS if TEMPLATES[k].get("takes", "model") == "model"]
MODELS = ("digits_int8", "gadget_f32")
COMPILED = set()  # sources without a warning: compiler, flags, text, text with all that it includes
# The one that is tried first is where everything is installed.
LIKED_BOARDS = ["host", "qemu_mps2_an386", "qemu_mps2_an385", "qemu_mps3_an547", "nucleo_f446re",
                "esp32c3"]
URL = re.compile(r"\b[a-z][a-z+]*://[^\s\"'>)]+")
# Fields that registries want a URL in, and the names of XML and JSON formats.
URL_FIELDS = {
    "library.properties": r"^url=.*$",
    "library.json": r'^\s*"(homepage|url)":.*$',
    "idf_component.yml": r"^(url|repository):.*$",
    ".pdsc": r'\bxmlns:xs="[^"]*"|<url>[^<]*</url>',
}
DOWNLOADS = re.compile(r"ExternalProject|GIT_REPOSITORY|\bgit clone\b|\bpip3? install\b|\bcurl\b|\bwget\b"
                       r"|file\(\s*DOWNLOAD|\bURL\s+http|submodule|west update|lib_deps\s*=\s*\S")
PATHS = re.compile(r"(?<![\w.$})/-])/(home|tmp|work|usr|root|var|etc|mnt|Users)/")
DATES = re.compile(r"__DATE__|__TIME__|\b20\d\d-[01]\d-[0-3]\d\b|\b[0-3]?\d\.[01]?\d\.20\d\d\b|"
                   r"\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d+,? 20\d\d\b")


@functools.cache
def described():
    """What aotc says of each kind."""
    return {k["kind"]: k for k in json.loads(common.aotc("templates", "list", "--json"))}


def test_kinds_are_known():
    assert set(described()) == set(TEMPLATES)


@pytest.fixture
def kind(name):
    return described()[name]


def boards_of(kind):
    """Boards to try, None for none: all that are known to its framework, those that we like first."""
    all_boards = json.loads(common.aotc("boards", "--json"))
    fits = [b["name"] for b in all_boards
            if not kind["framework"] or kind["framework"] in b.get("frameworks", {})]
    fits.sort(key=lambda b: LIKED_BOARDS.index(b) if b in LIKED_BOARDS else len(LIKED_BOARDS))
    return fits


def make(kind, model, board, folder, *options, path=None, expect=0):
    command = ["create", path or common.model_path(model), "--project", kind, "-o", folder, "--quiet"]
    if board:
        command += ["--board", board]
    return common.aotc(*command, *options, expect=expect)


def versions_of(kind):
    """Boards that a kind is looked at with: none if it can do without, and the first that fits."""
    fits = boards_of(kind)
    if kind["board"] == "optional":
        # The generic one, one that is this machine, one that is not.
        return [None] + (fits[:1] if kind["framework"] else fits[:2])
    return fits[:1] if kind["framework"] else fits[:2]


# --- Structure ------------------------------------------------------------------------------------


def emitted_names(model, prefix, work):
    """Names of the files that 'aotc compile' writes: what counts as the model."""
    folder = work / f"{model}_c"
    common.aotc("compile", common.model_path(model), "--prefix", prefix, "-o", folder, "--quiet")
    return {p.name for p in folder.iterdir()} - {"aotc.json"}


def own_files(files, emitted):
    """Files of the project beside the model, the runtime and aotc.json."""
    manifest = json.loads(files["aotc.json"])
    folder = manifest["model_folder"]
    model = {folder + name for name in emitted} | {manifest.get("model")}
    runtime = [p for p in files if re.match(r"(.*/)?(include|src)/tvm/|.*/dlpack/|runtime/", p)]
    return [p for p in files if p not in model and p not in runtime and p not in ("aotc.json", "LICENSE.txt")]


def check_texts(files, own):
    for name in files:
        if name.endswith(".tflite"):
            continue
        text = files[name].decode("utf-8")
        base = name.rsplit("/", 1)[-1]
        field = URL_FIELDS.get(base) or URL_FIELDS.get(pathlib.PurePath(base).suffix)
        if field:
            text = re.sub(field, "", text, flags=re.M)
        for what, pattern in (("URL", URL), ("download", DOWNLOADS), ("path of a machine", PATHS),
                              ("date", DATES)):
            # aotc.json says how to install what builds the project; nothing there is run.
            if name == "aotc.json" and what in ("URL", "download"):
                continue
            found = pattern.search(text)
            if found:
                raise common.Failure(f"{name}: a {what}: {found.group(0)}")
        if name in own and re.search(r"@[a-z][a-z0-9_]*@", text) and base != "README.md":
            raise common.Failure(f"{name}: a key is left")


def check_readme(files, own):
    """Files and folders that the README names in code are there."""
    if "README.md" not in files:
        raise common.Failure("there is no README.md")
    text = files["README.md"].decode()
    code = re.findall(r"`([^`\n]+)`", text) + re.findall(r"^    (\S.*)$", text, re.M)
    endings = r"(c|h|cpp|ino|ld|conf|cmake|properties|yml|yaml)"
    for word in {w for c in code for w in c.split()}:
        word = word.strip("\"',;:()")
        if not re.fullmatch(rf"[\w./-]+\.{endings}|[\w-]+/", word) or word.startswith((".", "build", "path/")):
            continue
        known = any(p == word or p.endswith("/" + word) or p.startswith(word) for p in files)
        # What others have to write or what a build makes is told by a sentence, not by a name of ours.
        if not known and word not in ("components/", "third_party/", "prj.conf", "lib/", "libraries/", "modules/"):
            raise common.Failure(f"README.md names '{word}', which is not there")


def preprocessed(command, source):
    """What the compiler reads of a source; None where an include is missing."""
    done = subprocess.run([*command, "-E", source], capture_output=True, text=True)
    return re.sub(r"^# .*\n", "", done.stdout, flags=re.M) if done.returncode == 0 else None


def check_compiles(project, files, kind, tests):
    """No warning: by the kind's own build, else file by file. Files that include the headers of a
    framework are left to the test that the kind's proof names."""
    manifest = json.loads(files["aotc.json"])
    if manifest.get("build", [""])[0] in ("cmake", "make"):
        flags = {"CFLAGS": "-O1 -Wall -Wextra -Werror", "CMAKE_C_COMPILER_LAUNCHER": "ccache"}
        if shutil.which("ccache") is None:
            del flags["CMAKE_C_COMPILER_LAUNCHER"]
        common.aotc("build", project, "--quiet", env={**os.environ, **flags})
        return "built"
    board = common.board(manifest["board"])
    compiler = board["toolchain"]["compiler"] or "cc"
    cflags = board["toolchain"]["cflags"]
    if shutil.which(compiler) is None:
        return f"not compiled: {compiler} is not installed"
    folders = sorted({project, *(p.parent for p in project.rglob("*.h"))})
    compiled = foreign = 0
    target = project.parent / f"{project.name}.o"
    headers = [f"-I{f}" for f in folders]
    for source in sorted(project.rglob("*")):
        if source.suffix not in (".c", ".cpp", ".ino"):
            continue
        language = compiler if source.suffix == ".c" else re.sub(r"(gcc|cc)$", "g++", compiler)
        standard = "-std=c99" if source.suffix == ".c" else "-std=c++11"
        flags = [*cflags, standard, "-Wall", "-Wextra", "-Werror", "-O1"]
        read = None if source.suffix == ".ino" else preprocessed([language, *flags, *headers], source)
        if read is None:
            foreign += 1
            continue
        # Most kinds have the same model in them: a text is compiled once with the same flags.
        once = (language, *flags, source.read_text(), read)
        if once not in COMPILED:
            common.run([*common.cached(language), *flags, "-c", source, *headers, "-o", target])
            COMPILED.add(once)
        compiled += 1
    if foreign and not tests:
        raise common.Failure(f"{foreign} sources need a framework, and its proof names no test")
    return f"{compiled} compiled, {foreign} by its own test"


@functools.cache
def tests_of(build):
    return re.findall(r"^\s*Test\s+#\d+: (\S+)", common.run(["ctest", "--test-dir", build, "-N"]), re.M)


def tests_named(proof, build):
    """Tests that 'ctest -R NAME' in the proof finds; an error if there are none."""
    names = tests_of(build)
    wanted = re.findall(r"ctest -R ([\w.]+)", proof)
    for pattern in wanted:
        if not any(re.search(pattern, n) for n in names):
            raise common.Failure(f"its proof names 'ctest -R {pattern}', and there is no such test")
    return [n for n in names if any(re.search(p, n) for p in wanted)]


def check_description(kind, build):
    for field in ("title", "tool", "proof"):
        if not kind[field] or "\n" in kind[field]:
            raise common.Failure(f"template.json has no {field} of one line")
    help_text = common.aotc("create", "--help-project", kind["kind"])
    for word in [kind["kind"], *(o["name"] for o in kind["options"])]:
        if word not in help_text:
            raise common.Failure(f"--help-project does not mention '{word}'")
    for option in kind["options"]:
        if not option["help"]:
            raise common.Failure(f"option {option['name']} has no help")
    return tests_named(kind["proof"], build)


def check_exported(kind, board, model, files, work):
    """Templates that were exported and given back make the same project."""
    for name, export in (("all", ["templates", "export"]), ("one", ["templates", "export", kind])):
        folder = work / f"templates_{name}"
        shutil.rmtree(folder, ignore_errors=True)
        common.aotc(*export, "-o", folder)
        again = work / f"from_{name}" / "one"
        shutil.rmtree(again, ignore_errors=True)
        again.parent.mkdir(exist_ok=True)
        make(kind, model, board, again, "--templates", folder)
        if kinds.files_of(again) != files:
            raise common.Failure(f"exported templates ({name}) make another project")


@pytest.mark.parametrize("name", KINDS)
def test_structure_description(name, kind, build_folder):
    check_description(kind, build_folder)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", OF_MODELS)
def test_structure(name, model, kind, build_folder, tmp_path, subtests):
    tests = tests_named(kind["proof"], build_folder)
    for board in versions_of(kind):
        with subtests.test(board=board):
            one_project(kind, model, board, tests, tmp_path)


def one_project(kind, model, board, tests, work):
    folder = common.fresh(work / kind["kind"] / f"{model}_{board}")
    # A sketch has the name of its folder, so there it is the folder above that differs.
    named = any(o["default"] == {"model": "sketch_name"} for o in kind["options"])
    first = folder / "one"
    second = folder / "other folder" / ("one" if named else "the 'second'")
    second.parent.mkdir()
    made = make(kind["kind"], model, board, first, expect=None)
    if made.returncode == 3:
        pytest.skip("does not fit")
    if made.returncode != 0:
        raise common.Failure(made.stderr)
    make(kind["kind"], model, board, second)
    files = kinds.files_of(first)
    if files != kinds.files_of(second):
        raise common.Failure("made twice, it is not the same")
    emitted = emitted_names(model, json.loads(files["aotc.json"])["prefix"], folder)
    own = own_files(files, emitted)
    if len([p for p in own if not p.startswith(("examples/", "samples/", "tests/"))]) > MOST_FILES:
        raise common.Failure(f"{len(own)} files beside the model: {own}")
    check_texts(files, own)
    check_readme(files, own)
    if model == MODELS[0]:
        check_exported(kind["kind"], board, model, files, folder)
    print(check_compiles(first, files, kind, tests))


# --- Prefixes -------------------------------------------------------------------------------------

# 'model' is what a file is called most often. The others are names of files that kinds have around it,
# or headers of the C library: the latter become another prefix.
BUILT_PREFIXES = ["model"]
PREFIXES = ["board", "harness", "benchmark", "math"]
STAND_INS = [common.ROOT / "tests" / "zephyr", common.ROOT / "tests" / "zephyr" / "include" / "new",
             common.ROOT / "tests" / "projects" / "esp_idf"]


def syntax(project):
    """Every C source by itself, but for those of a framework that there is no stand-in for."""
    board = common.board(json.loads((project / "aotc.json").read_text())["board"])
    compiler = board["toolchain"]["compiler"] or "cc"
    folders = [f"-I{p}" for p in sorted({s.parent for s in project.rglob("*.h")})]
    sources = sorted(project.rglob("*.c"))
    command = [compiler, *board["toolchain"]["cflags"], "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-DAOTC_VERIFY=1",
               '-DCONFIG_BOARD="b"', "-DCONFIG_SYS_CLOCK_TICKS_PER_SEC=100", "-fsyntax-only", *folders,
               *(f"-I{p}" for p in STAND_INS)]
    if common.run([*command, *sources], expect=None).returncode == 0:
        return len(sources)
    count = 0
    for source in sources:
        done = common.run([*command, source], expect=None)
        if done.returncode != 0 and "No such file or directory" not in done.stderr:
            raise common.Failure(f"{source.relative_to(project)}: {done.stderr[-1500:]}")
        count += done.returncode == 0
    return count


@pytest.mark.parametrize("prefix", BUILT_PREFIXES + PREFIXES)
@pytest.mark.parametrize("name", OF_MODELS)
def test_prefixes(name, prefix, kind, tmp_path):
    folder = tmp_path / "project"
    # A float model includes <math.h> as well.
    make(name, "relu_int8" if prefix in BUILT_PREFIXES else "gadget_f32", versions_of(kind)[0], folder, "--prefix", prefix)
    assert syntax(folder) > 0
    manifest = json.loads((folder / "aotc.json").read_text())
    if prefix in BUILT_PREFIXES and manifest.get("build", [""])[0] in ("cmake", "make"):
        common.aotc("build", folder, "--quiet")


# --- Hostile --------------------------------------------------------------------------------------

LABELS = 'quo"te\nback\\slash\n*/ int evil; /*\n@prefix@ @arena_bytes@\n??/\n$(touch x) `y` ${z}\n\t\n\xe4\n'
ODD_PREFIXES = ["a b", "a;b", "int", "9a", "a-b", "", "x" * 300, "a\nb", "../a", "@prefix@", "$(x)"]
GOOD_PREFIXES = ["test", "all", "Kws9", "install", "a", "main_"]
MODEL_NAME = "it's a \"model\" @prefix@ $(x) ${y} %d*.tflite"


def after_error(made, folder, *slugs):
    """A located error, and nothing written."""
    said = made.stdout + made.stderr
    if made.returncode not in (1, 2) or (slugs and not any(f"[{s}]" in said for s in slugs)):
        raise common.Failure(f"exit code {made.returncode}: {said[-600:]}")
    if folder.exists():
        raise common.Failure(f"an error, and {folder.name} was written")


@pytest.mark.parametrize("number, prefix", list(enumerate(GOOD_PREFIXES)))
@pytest.mark.parametrize("name", OF_MODELS)
def test_hostile_good_prefix(name, number, prefix, kind, tmp_path):
    labels = tmp_path / "labels.txt"
    labels.write_text(LABELS + "plain\nplain\n", encoding="utf-8")
    folder = tmp_path / f"good{number}"
    make(name, "relu_int8", versions_of(kind)[0], folder, "--prefix", prefix, "--labels", labels)
    check_buildable(folder, name)


@pytest.mark.parametrize("name", OF_MODELS)
def test_hostile_model_name(name, kind, tmp_path):
    odd_model = shutil.copy(common.model_path("relu_int8"), tmp_path / MODEL_NAME)
    make(name, "relu_int8", versions_of(kind)[0], tmp_path / "odd_model", path=odd_model)
    check_buildable(tmp_path / "odd_model", name)


@pytest.mark.parametrize("prefix", ODD_PREFIXES, ids=range(len(ODD_PREFIXES)))
@pytest.mark.parametrize("name", OF_MODELS)
def test_hostile_odd_prefix(name, prefix, kind, tmp_path):
    folder = tmp_path / "bad"
    made = make(name, "relu_int8", versions_of(kind)[0], folder, "--prefix", prefix, expect=None)
    if made.returncode != 0:
        after_error(made, folder)
        return
    used = json.loads((folder / "aotc.json").read_text())["prefix"]
    assert re.fullmatch(r"[A-Za-z_]\w*", used) and used != "int"
    check_buildable(folder, name)


@pytest.mark.parametrize("name", OF_MODELS)
def test_hostile_options(name, kind, tmp_path, subtests):
    def attempt(option, value):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        return make(name, "relu_int8", versions_of(kind)[0], tmp_path / "out", "--project-option", f"{option}={value}",
                    expect=None)

    for option in kind["options"]:
        # Of the other types every value is one that is not on a list, or no number.
        free = option["type"] in ("string", "name")
        for value in ("-O2\nevil", "a\x01b", "\r")[:3 if free else 1]:
            with subtests.test(option=option["name"], value=value):
                after_error(attempt(option["name"], value), tmp_path / "out", "template-option")
        for value in ('a"b', "'", "\\", "@prefix@", "a" * 5000, "$(touch x)", "")[:7 if free else 1]:
            with subtests.test(option=option["name"], value=value[:20]):
                made = attempt(option["name"], value)
                if made.returncode != 0:
                    after_error(made, tmp_path / "out", "template-option", "option-value")
    with subtests.test(option="no_such"):
        after_error(attempt("no_such", "1"), tmp_path / "out", "template-option")


def check_buildable(folder, kind):
    """A project that aotc can build without another tool builds."""
    manifest = json.loads((folder / "aotc.json").read_text())
    # CMake takes seconds for what the other takes a tenth: it sees one odd name of each sort.
    if "build" in manifest and (kind == "make" or kind == "cmake" and folder.name in ("good0", "odd_model")):
        common.aotc("build", folder, "--quiet")


# --- Damaged --------------------------------------------------------------------------------------

REPLACEMENTS = [None, 0, -1, 1.5, True, "", "x", "@no_such@", "../../x", [], {}, [[]], [0], {"x": 1}, "a" * 10000]


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, name))


def with_change(value, path, change):
    value = copy.deepcopy(value)
    if not path:
        return change
    inner = value
    for name in path[:-1]:
        inner = inner[name]
    if change == "removed":
        del inner[path[-1]]
    else:
        inner[path[-1]] = change
    return value


def damaged_texts(text, rng, count):
    """(what was done, damaged text)"""
    whole = json.loads(text)
    everywhere = list(places(whole))
    for path in [(f,) for f in whole]:
        yield f"without {path[0]}", json.dumps(with_change(whole, path, "removed"))
    for _ in range(count):
        path = rng.choice(everywhere)
        change = rng.choice(["removed", *REPLACEMENTS])
        if not path and change == "removed":
            continue
        yield f"{path} = {change!r:.40}", json.dumps(with_change(whole, path, change))
    for at in (0, 1, len(text) // 2, len(text) - 2):
        yield f"cut at {at}", text[:at]
    yield "not text", "\xff\x00"
    yield "deep", "[" * 100000


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "templates"
    common.aotc("templates", "export", "-o", folder)
    return folder


@pytest.mark.parametrize("name", OF_MODELS)
def test_damaged(name, kind, templates, tmp_path, subtests):
    description = templates / name.replace("-", "_") / "template.json"
    text, out = description.read_text(), tmp_path / "out"
    for what, broken in damaged_texts(text, random.Random(name), 30):
        description.write_text(broken, encoding="utf-8")
        shutil.rmtree(out, ignore_errors=True)
        made = make(name, "relu_int8", versions_of(kind)[0], out, "--templates", templates, expect=None)
        with subtests.test(damage=what):
            if made.returncode != 0:
                after_error(made, out, "template-invalid", "template-key", "template-option",
                            "template-board", "template-model", "template-unknown", "file-read",
                            "file-write", "board-missing")
            assert not any(".." in p.relative_to(out).parts for p in out.rglob("*"))
            assert {p.name for p in tmp_path.iterdir()} <= {"out"}
    description.write_text(text)
