#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What holds for projects of every kind that 'aotc templates list' gives, so for new ones as well.

Usage: all_kinds.py structure|prefixes|hostile|damaged --work DIR

structure  twice the same bytes, at most thirteen files beside examples, no download, no path or date, no warning of a
           compiler, a README that tells the truth, a help, a test; exported templates give the same
prefixes   every kind compiles when the model is called as a part of a project or a header is
hostile    odd prefixes, names of classes, file names and values of options
damaged    a template.json with fields removed or replaced: a located error and nothing written
"""
import argparse
import copy
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import kinds
from kinds import common

MOST_FILES = 13
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


def described():
    """The kinds; with AOTC_KINDS only those that it names, for whoever works at one."""
    only = os.environ.get("AOTC_KINDS", "").split()
    return [k for k in json.loads(common.aotc("templates", "list", "--json"))
            if not only or k["kind"] in only]


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


def tests_named(proof, build):
    """Tests that 'ctest -R NAME' in the proof finds; an error if there are none."""
    listed = common.run(["ctest", "--test-dir", build, "-N"])
    names = re.findall(r"^\s*Test\s+#\d+: (\S+)", listed, re.M)
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


def structure(work):
    build = pathlib.Path(os.environ.get("AOTC_BUILD") or common.ROOT / "build" / "release")
    rows, problems = [], []
    for kind in described():
        if kind["takes"] != "model":
            rows.append((kind["kind"], "", "takes operators: see its own tests", "", "", ""))
            check_description(kind, build)
            continue
        try:
            tests = check_description(kind, build)
        except common.Failure as failure:
            problems.append(f"{kind['kind']}: {failure}")
            tests = []
        for model in MODELS:
            for board in versions_of(kind):
                try:
                    rows.append(one_project(kind, model, board, tests, work))
                except common.Failure as failure:
                    problems.append(f"{kind['kind']}, {model}, {board}: {failure}")
    print(f"{'kind':16} {'model':12} {'board':16} {'files':>5} {'bytes':>7}  compiled")
    for row in rows:
        print(f"{row[0]:16} {row[1]:12} {row[2]:16} {row[3]:>5} {row[4]:>7}  {row[5]}")
    if problems:
        raise common.Failure(f"{len(problems)} problems\n" + "\n".join(problems))


def one_project(kind, model, board, tests, work):
    folder = common.fresh(work / kind["kind"] / f"{model}_{board}")
    # A sketch has the name of its folder, so there it is the folder above that differs.
    named = any(o["default"] == {"model": "sketch_name"} for o in kind["options"])
    first = folder / "one"
    second = folder / "other folder" / ("one" if named else "the 'second'")
    second.parent.mkdir()
    made = make(kind["kind"], model, board, first, expect=None)
    if made.returncode == 3:
        return kind["kind"], model, str(board), "", "", "does not fit"
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
    said = check_compiles(first, files, kind, tests)
    return kind["kind"], model, board or "-", len(own), sum(len(files[p]) for p in own), said


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


def prefixes(work):
    problems = []
    for kind in described():
        if kind["takes"] != "model":
            continue
        board = versions_of(kind)[0]
        counts = []
        for prefix in BUILT_PREFIXES + PREFIXES:
            folder = common.fresh(work / kind["kind"]) / "project"
            try:
                # A float model includes <math.h> as well.
                make(kind["kind"], "relu_int8" if prefix in BUILT_PREFIXES else "gadget_f32", board, folder,
                     "--prefix", prefix)
                counts.append(syntax(folder))
                manifest = json.loads((folder / "aotc.json").read_text())
                if prefix in BUILT_PREFIXES and manifest.get("build", [""])[0] in ("cmake", "make"):
                    common.aotc("build", folder, "--quiet")
            except common.Failure as failure:
                problems.append(f"{kind['kind']} --prefix {prefix}: {failure}")
        print(f"{kind['kind']}: {counts} sources by prefix")
    if problems:
        raise common.Failure(f"{len(problems)} problems\n" + "\n".join(problems))


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


def hostile_kind(kind, board, work):
    name = kind["kind"]
    model = "relu_int8"
    labels = work / "labels.txt"
    labels.write_text(LABELS + "plain\nplain\n", encoding="utf-8")
    odd_model = work / MODEL_NAME
    shutil.copy(common.model_path(model), odd_model)
    for number, prefix in enumerate(GOOD_PREFIXES):
        folder = work / f"good{number}"
        made = make(name, model, board, folder, "--prefix", prefix, "--labels", labels, expect=None)
        if made.returncode != 0:
            raise common.Failure(f"prefix '{prefix}': {made.stderr}")
        check_buildable(folder, name)
        shutil.rmtree(folder)
    folder = work / "odd_model"
    make(name, model, board, folder, path=odd_model)
    check_buildable(folder, name)
    for prefix in ODD_PREFIXES:
        folder = work / "bad"
        made = make(name, model, board, folder, "--prefix", prefix, expect=None)
        if made.returncode != 0:
            after_error(made, folder)
            continue
        used = json.loads((folder / "aotc.json").read_text())["prefix"]
        if not re.fullmatch(r"[A-Za-z_]\w*", used) or used == "int":
            raise common.Failure(f"prefix '{prefix}' became '{used}'")
        check_buildable(folder, name)
        shutil.rmtree(folder)
    for option in kind["options"]:
        # Of the other types every value is one that is not on a list, or no number.
        free = option["type"] in ("string", "name")
        for value in ("-O2\nevil", "a\x01b", "\r")[:3 if free else 1]:
            made = make(name, model, board, work / "bad", "--project-option", f"{option['name']}={value}",
                        expect=None)
            after_error(made, work / "bad", "template-option")
        for value in ('a"b', "'", "\\", "@prefix@", "a" * 5000, "$(touch x)", "")[:7 if free else 1]:
            folder = work / "strange"
            made = make(name, model, board, folder, "--project-option", f"{option['name']}={value}",
                        expect=None)
            if made.returncode != 0:
                after_error(made, folder, "template-option", "option-value")
            shutil.rmtree(folder, ignore_errors=True)
    made = make(name, model, board, work / "bad", "--project-option", "no_such=1", expect=None)
    after_error(made, work / "bad", "template-option")


def check_buildable(folder, kind):
    """A project that aotc can build without another tool builds."""
    manifest = json.loads((folder / "aotc.json").read_text())
    # CMake takes seconds for what the other takes a tenth: it sees one odd name of each sort.
    if "build" in manifest and (kind == "make" or kind == "cmake" and folder.name in ("good0", "odd_model")):
        common.aotc("build", folder, "--quiet")


def hostile(work):
    problems = []
    for kind in described():
        if kind["takes"] != "model":
            continue
        board = versions_of(kind)[0]
        try:
            hostile_kind(kind, board, common.fresh(work / kind["kind"]))
            print(f"{kind['kind']}: odd names and values are taken or refused")
        except common.Failure as failure:
            problems.append(f"{kind['kind']}: {failure}")
    if problems:
        raise common.Failure(f"{len(problems)} problems\n" + "\n".join(problems))


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


def damaged(work):
    rng = random.Random(6)
    folder = work / "templates"
    common.aotc("templates", "export", "-o", folder)
    model = "relu_int8"
    seen, problems = {}, []
    for kind in described():
        if kind["takes"] != "model":
            continue
        board = versions_of(kind)[0]
        description = folder / kind["kind"].replace("-", "_") / "template.json"
        text = description.read_text()
        for what, broken in damaged_texts(text, rng, 30):
            description.write_text(broken, encoding="utf-8")
            out = work / "out"
            shutil.rmtree(out, ignore_errors=True)
            made = make(kind["kind"], model, board, out, "--templates", folder, expect=None)
            slug = re.search(r"\[([a-z-]+)\]", made.stderr)
            try:
                if made.returncode != 0:
                    after_error(made, out, "template-invalid", "template-key", "template-option",
                                "template-board", "template-model", "template-unknown", "file-read",
                                "file-write", "board-missing")
                elif any(".." in p.relative_to(out).parts for p in out.rglob("*")) or (work / "x").exists():
                    raise common.Failure("wrote outside of the project")
                left = {p.name for p in work.iterdir()} - {"templates", "out"}
                if left:
                    raise common.Failure(f"left beside the project: {left}")
                seen[slug.group(1) if slug else "made"] = seen.get(slug.group(1) if slug else "made", 0) + 1
            except common.Failure as failure:
                problems.append(f"{kind['kind']}, {what}: {failure}")
        description.write_text(text)
    print(", ".join(f"{n} {k}" for k, n in sorted(seen.items())))
    if problems:
        raise common.Failure(f"{len(problems)} problems\n" + "\n".join(problems[:40]))


def main():
    checks = {f.__name__: f for f in (structure, prefixes, hostile, damaged)}
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=checks)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    checks[options.check](common.fresh(options.work.resolve()))


if __name__ == "__main__":
    common.main_of(main)
