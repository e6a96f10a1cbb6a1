# SPDX-License-Identifier: Apache-2.0
"""Which entries of ctest run: by lane, by what a change can reach, and by the verdicts on record. scripts/test calls it.

Usage: selection.py write --out DIR [--lane quick|default|all] [--tenth N] [--changed [BASE]]
                         BUILD...
       selection.py run [--sampled] KEY -- COMMAND...
       selection.py fresh [--record]
       selection.py check BUILD...

write  makes DIR/CTestTestfile.cmake of the builds' entries. An entry whose verdict is on record prints what it printed
       then; each other one stores its output if it passes.
run    is what such an entry calls.
fresh  ends with 0 if the quickstart on a fresh machine passed with what decides it now; --record says that it did.
check  says which entries have no label of a lane or a stage.

An entry has these labels:
  quick, full, all   its lane: `scripts/test --quick`, `scripts/test`, `scripts/test --all`; each has those before it
  stage.NAME         the stages and programs of compiler/ that it exercises; those that they link count, too
  reads.all          it reads texts of the whole repository
  reads.docs/PAGE    of the documents it reads this one
A file reaches an entry by the rules of `reaches`; one that no rule knows reaches all of them.
"""
import argparse
import ast
import collections
import functools
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
import verdicts  # noqa: E402

COVERAGE = "dev.coverage"  # looks at what the entries that it depends on have counted
LANES = ("quick", "full", "all")
# Not passed on: ctest makes it up, or it is written separately.
DERIVED = {"WORKING_DIRECTORY", "LABELS", "FIXTURES_SETUP", "FIXTURES_REQUIRED", "DEPENDS", "ENVIRONMENT"}
# They decide how much of a test is done, or what is missing.
ENVIRONMENT = ("CI", "AOTC_SHARED", "AOTC_KERNELS", "AOTC_MORE_MODELS", "ASAN_OPTIONS", "CFLAGS", "CC", "LANG", "LC_ALL")
# Without one of these no verdict on an entry counts.
TOOLS = ("gcc", "clang-19", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "avr-gcc", "qemu-system-arm", "qemu-system-riscv32",
         "simavr", "valgrind", "cppcheck", "cmake", "python3")
# What decides whether the quickstart works on a machine that has nothing.
SETUP = re.compile(r"^(CMakeLists\.txt|CMakePresets\.json|pyproject\.toml|README\.md|(compiler|crt|templates|tests)/CMakeLists\.txt|"
                   r"compiler/.*\.cmake|packaging/.*|scripts/(setup|quickstart.*|fresh-machine)|tests/requirements.*\.txt|"
                   r"tests/models/digits/.*)$")
# What is below these folders is the compiler's, or copied into what it writes.
WRITTEN_OUT = ("boards", "crt", "templates")
SKIP = 77  # what ctest takes for "skipped"
BUILDS = "it defines entries, or how programs are built"
# What pytest reads for all tests.
PYTEST = ("tests/conftest.py", "tests/pytest.ini")
# Folders of tests whose Python files are found by their names at run time.
FOUND_BY_NAME = {"ops"}


def label_lane(labels):
    found = [lane for lane in LANES if lane in labels]
    return found[0] if found else "full"


# --- Entries --------------------------------------------------------------------------------------


class Entry:
    """One test of ctest: its command, properties, labels and what it needs first."""

    def __init__(self, test, build):
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        self.name, self.command = test["name"], test["command"]
        self.properties = {k: v for k, v in properties.items() if k not in DERIVED}
        self.labels = set(properties.get("LABELS", []))
        self.environment = properties.get("ENVIRONMENT", [])
        self.folder = properties.get("WORKING_DIRECTORY", str(build))
        self.setup = set(properties.get("FIXTURES_SETUP", []))
        self.required = set(properties.get("FIXTURES_REQUIRED", []))
        self.depends = list(properties.get("DEPENDS", []))
        self.lane = label_lane(self.labels)
        self.stages = {label.removeprefix("stage.") for label in self.labels if label.startswith("stage.")}
        self.needs = []  # entries that run before it


def entries_of(builds):
    """{name: Entry} of all builds. What the build with sanitizers has runs there only, but for what makes files."""
    found = {}
    for build in builds:
        told = json.loads(subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                                         capture_output=True, text=True).stdout)
        for test in told["tests"]:
            if "command" not in test or any(p["name"] == "DISABLED" and p["value"] for p in test.get("properties", [])):
                continue
            entry = Entry(test, build)
            if entry.name.startswith("dev.") and not entry.setup:
                found.pop(entry.name.removeprefix("dev."), None)
            found[entry.name] = entry
    for entry in found.values():
        entry.needs = [other for other in found.values()
                       if other is not entry and (other.setup & entry.required or other.name in entry.depends)]
    return found


# --- What a file reaches --------------------------------------------------------------------------


@functools.cache
def files():
    """All files of the repository that are there, relative to it; new ones that are not ignored, too."""
    told = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "-co", "--exclude-standard"], check=True, capture_output=True,
                          text=True).stdout
    return sorted(name for name in told.split("\0") if name and (ROOT / name).is_file())


@functools.cache
def by_name():
    """{file name: its paths} of Python files and scripts."""
    found = collections.defaultdict(list)
    for name in files():
        if name.endswith(".py") or name.startswith("scripts/"):
            found[os.path.basename(name)].append(name)
    return found


@functools.cache
def stage_graph():
    """{stage or program of compiler/: all stages that it is linked to}, as scripts/check-layers reads them."""
    path = str(ROOT / "scripts" / "check-layers")
    loader = importlib.machinery.SourceFileLoader("check_layers", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", loader))
    loader.exec_module(module)
    links = module.linked((ROOT / "compiler" / "CMakeLists.txt").read_text())

    def below(unit, seen):
        for other in links.get(unit, ()):
            if other not in seen:
                seen.add(other)
                below(other, seen)
        return seen
    return {unit: below(unit, {unit}) for unit in {*links, *module.STAGES}}


def called(name, by, text):
    """Files of a name that a file means: the one beside it, else those in folders that its text names, else all."""
    found = by_name().get(name, [])
    beside = [path for path in found if os.path.dirname(path) == os.path.dirname(by)]
    near = [path for path in found if f'"{os.path.basename(os.path.dirname(path))}"' in text
            or f"{os.path.basename(os.path.dirname(path))}/" in text]
    return beside or near or found


@functools.cache
def file_list():
    return verdicts.digest_of(verdicts.content(__file__), "\n".join(files()))


@functools.cache
def facts(name):
    """(what a file names, whether it names documents), which are stored under its content: to parse them all takes long."""
    key = verdicts.digest_of("facts", name, verdicts.content(ROOT / name), file_list())
    found = verdicts.store().get(key)
    if found is None:
        found = {"names": sorted(find_names(name)), "documents": find_documents(name)}
        verdicts.store().put(key, found)
    return frozenset(found["names"]), found["documents"]


def named_in(name):
    return facts(name)[0]


def names_documents(name):
    return facts(name)[1]


def find_names(name):
    """Python files and scripts that a file imports, or names in its code."""
    try:
        text = (ROOT / name).read_text()
        tree = ast.parse(text)
    except UnicodeDecodeError:
        return frozenset()
    except SyntaxError:  # a script of another language
        return frozenset(path for path in scripts() if re.search(rf"{re.escape(path)}(?![\w-])", text))
    found, documents = set(), set()
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            documents.add(id(node.value))
        elif isinstance(node, ast.Import):
            modules = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module] if node.module else [a.name for a in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            for word in re.findall(r"[\w-]+\.py\b", node.value):
                found.update(called(word, name, text))
        for module in modules:
            first = module.split(".")[0]
            if first == "aotc":
                found.update(path for path in files() if path.startswith("python/aotc/") and path.endswith(".py"))
            elif first not in sys.stdlib_module_names or any(os.path.dirname(p) == os.path.dirname(name)
                                                             for p in by_name().get(f"{first}.py", ())):
                found.update(called(f"{first}.py", name, text))
    for path in scripts() if "scripts" in text else ():
        if path[8:] in text and re.search(rf"""scripts["']?\s*[/,]\s*["']?{re.escape(path[8:])}(?![\w-])""", text):
            found.add(path)
    return frozenset(found)


@functools.cache
def scripts():
    return [path for path in files() if path.startswith("scripts/")]


def find_documents(name):
    """Whether a word of a file's code, not of what it tells people, is the path of documents."""
    text = (ROOT / name).read_text(errors="replace")
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return bool(re.search(r"\bdocs\b|\.md\b|README|CHANGELOG", text))
    return any(isinstance(node, ast.Constant) and isinstance(node.value, str)
               and re.fullmatch(r"[^\s()]*(\bdocs\b|\.md\b|README|CHANGELOG)[^\s()]*", node.value) for node in ast.walk(tree))


def closure(names):
    """Files, and all that they name."""
    seen, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += named_in(name)
    return seen


@functools.cache
def text_of(names):
    """The text of files, and its words."""
    text = "\n".join((ROOT / name).read_text(errors="replace") for name in sorted(names))
    return text, frozenset(re.findall(r"[\w.-]+", text))


@functools.cache
def is_named(top, names):
    """Whether the text of files names a folder of the repository."""
    return re.search(rf"""["']{re.escape(top)}["']|\b{re.escape(top.lstrip('.'))}/""", text_of(names)[0]) is not None


class Reach:
    """What reaches an entry."""

    def __init__(self, entry):
        self.everything = "reads.all" in entry.labels
        words = [*entry.command, *(e.partition("=")[2] for e in entry.environment)]
        inside = [os.path.relpath(w, ROOT) for word in words for w in re.split(r"[=,]|::", word) if w.startswith(f"{ROOT}/")]
        if "pytest" in entry.command:
            inside += PYTEST
        scripts = [name for name in inside if (ROOT / name).is_file() and not name.startswith(("build/", ".venv/"))]
        self.python = closure(name for name in scripts if name.endswith(".py") or name.startswith("scripts/"))
        self.named = {name for name in inside if not name.startswith(("build/", ".venv/"))}
        self.text, self.words = text_of(frozenset(self.python))
        self.folders = {name.split("/")[1] for name in (*self.python, *self.named) if name.startswith("tests/") and "/" in name[6:]}
        graph = stage_graph()
        self.stages = set().union(*(graph.get(stage, {stage}) for stage in entry.stages)) if entry.stages else set()
        self.pages = {label.removeprefix("reads.") for label in entry.labels if label.startswith("reads.docs/")}
        self.documents = any(names_documents(name) for name in self.python)

    def signature(self):
        """Entries with the same one are reached by the same files."""
        return (self.everything, frozenset(self.python), frozenset(self.named), frozenset(self.stages), frozenset(self.pages))

    def reaches(self, name):
        """None if a changed file cannot reach the entry, else why it can."""
        if self.everything:
            return "the entry reads the whole repository"
        top, _, rest = name.partition("/")
        if name in self.python or name in self.named:
            return "the entry runs or names it"
        if any(name.startswith(f"{folder}/") for folder in self.named):
            return "the entry is given its folder"
        if top == "docs" or (not rest and (name.endswith((".md", "LICENSE")) or name == "mkdocs.yml")):
            if self.pages:
                return "the entry reads this page" if name in self.pages else None
            return "the entry reads documents" if self.documents else None
        if name in (".gitignore", ".clang-format", ".clang-tidy", "pyproject.toml") or top in (".ci", "packaging", "examples", "python"):
            return f"the entry names {top}" if is_named(top, frozenset(self.python)) else None
        if top == "scripts" or name in PYTEST:
            return None  # one that the entry names is in its closure
        if os.path.basename(name) in ("CMakeLists.txt", "CMakePresets.json") or name.endswith(".cmake"):
            return BUILDS
        if top == "compiler" and "/" in rest:
            parts = rest.split("/")
            unit = parts[1] if parts[0] == "tools" else parts[0]
            if unit not in stage_graph() and unit != "embedded":
                return "no rule knows this folder of compiler/"
            return f"the entry exercises {unit}" if unit in self.stages else None
        if top in WRITTEN_OUT:
            return f"the compiler embeds {top}" if "project" in self.stages or top in self.words or not self.python else None
        if top == "tests" and "/" in rest:
            return self.test_file(rest)
        return "no rule knows it"

    def test_file(self, rest):
        folder = rest.split("/")[0]
        is_near = not self.python or folder in self.folders or folder in self.words
        if rest.endswith(".py") and folder not in FOUND_BY_NAME:
            return "lit reads it" if folder == "lit" and not self.python else None
        return f"the entry reads tests/{folder}" if is_near else None


class Selection:
    """The entries of builds, and for each what reaches it."""

    def __init__(self, builds):
        self.builds = [pathlib.Path(build).resolve() for build in builds]
        self.entries = entries_of(self.builds)
        self._reach, self._keys = {}, {}
        self.read = {}  # digests of what reaches entries

    def reach(self, entry):
        # Entries of one script read the same.
        if entry.name not in self._reach:
            self._reach[entry.name] = Reach(entry)
        return self._reach[entry.name]

    def why(self, entry, changed):
        """The first changed file that reaches an entry or what it needs, and why; or None."""
        for one in (entry, *entry.needs):
            for name in changed:
                reason = self.reach(one).reaches(name)
                if reason:
                    return name, reason
        return None

    @functools.cached_property
    def digests(self):
        return {name: verdicts.content(ROOT / name) for name in files()}

    @functools.cached_property
    def installed(self):
        shared = pathlib.Path(os.environ.get("AOTC_SHARED") or ROOT.parent / "shared")
        return verdicts.digest_of(verdicts.own(), verdicts.content(__file__), sorted(python_packages()),
                                  [verdicts.tool(tool) for tool in TOOLS],
                                  {name: os.environ.get(name, "") for name in ENVIRONMENT},
                                  verdicts.tree(shared) if shared.is_dir() else "no shared models")

    def key(self, entry):
        """Of a verdict on the entry: its command, its programs, and all files that reach it."""
        if entry.name not in self._keys:
            self._keys[entry.name] = self.find_key(entry)
        return self._keys[entry.name]

    def find_key(self, entry):
        reach = self.reach(entry)
        # What defines entries and programs is in the command, and in the programs themselves.
        signature = reach.signature()
        if signature not in self.read:
            self.read[signature] = verdicts.digest_of("\n".join(
                f"{self.digests[name]} {name}" for name in files() if (reason := reach.reaches(name)) and reason != BUILDS))
        programs, words = [], [*entry.command, *(e.partition("=")[2] for e in entry.environment)]
        built = {p for w in words for p in re.split(r"[=,]", w) if any(p.startswith(f"{b}/") for b in self.builds)}
        for stage, made in (("driver", ("aotc", "aotc-analyze")), ("aotc-opt", ("aotc-opt",)), ("aotc-analyze", ("aotc-analyze",))):
            if stage in entry.stages:
                built |= {str(b / "compiler" / program) for b in self.builds for program in made}
        for program in sorted(built):
            if os.path.isfile(program):
                programs.append([os.path.relpath(program, ROOT), verdicts.content(program)])
        return verdicts.digest_of("entry", self.installed, verdicts.text_of(entry.command), verdicts.text_of(entry.environment),
                                  {k: str(v) for k, v in entry.properties.items() if k not in ("COST", "TIMEOUT")},
                                  self.read[signature], programs, [self.key(other) for other in entry.needs if other.setup or entry.depends])


def python_packages():
    """Of the environment that tests run in."""
    found = []
    for folder in (ROOT / ".venv").glob("lib/python*/site-packages"):
        found += [p.name for p in folder.iterdir() if p.name.endswith(".dist-info")]
    return found


# --- A change ------------------------------------------------------------------------------------


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True).stdout


def base_of(name):
    """The commit where the branch left `name`, or by default the main branch."""
    for candidate in (name,) if name else ("origin/HEAD", "origin/main", "main", "HEAD~1"):
        done = subprocess.run(["git", "-C", ROOT, "merge-base", "HEAD", candidate], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    sys.exit(f"test: --changed: there is no commit '{name or 'main'}'; name one: --changed=COMMIT")


def changed_since(base):
    told = git("diff", "-z", "--name-only", "--no-renames", base) + git("ls-files", "-z", "-o", "--exclude-standard")
    return sorted({name for name in told.split("\0") if name})


# --- The file for ctest --------------------------------------------------------------------------


def quoted(word):
    """A word as CMake takes it."""
    for level in range(9):
        close = "]" + "=" * level + "]"
        if close not in word + "]" and not (word.endswith("]") and level == 0):
            return f"[{'=' * level}[{word}{close}"
    raise ValueError(word)


def property_text(value):
    if isinstance(value, list):
        return ";".join(str(v) for v in value)
    return {True: "TRUE", False: "FALSE"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def defined(entry, command, chosen):
    properties = dict(entry.properties)
    properties["WORKING_DIRECTORY"] = entry.folder
    properties["LABELS"] = sorted(entry.labels)
    properties["ENVIRONMENT"] = entry.environment
    if entry.setup:
        properties["FIXTURES_SETUP"] = sorted(entry.setup)
    required = {fixture for other in entry.needs if other.name in chosen for fixture in other.setup & entry.required}
    if required:
        properties["FIXTURES_REQUIRED"] = sorted(required)
    depends = [name for name in entry.depends if name in chosen]
    if depends:
        properties["DEPENDS"] = depends
    lines = [f"add_test({quoted(entry.name)} {' '.join(quoted(word) for word in command)})"]
    for name, value in sorted(properties.items()):
        if value not in ([], ""):
            lines.append(f"set_tests_properties({quoted(entry.name)} PROPERTIES {name} {quoted(property_text(value))})")
    return "\n".join(lines) + "\n"


def in_lane(entry, lane, tenth, rest):
    if entry.name == COVERAGE:  # exists only in a build that counts
        return lane != "quick"
    if lane == "quick":
        return entry.lane == "quick"
    if entry.lane != "all" or lane == "all":
        return True
    return tenth is not None and rest[entry.name] % 10 == tenth % 10


def write(options):
    selection = Selection(options.builds)
    entries = selection.entries
    rest = {name: index for index, name in enumerate(sorted(n for n, e in entries.items() if e.lane == "all"))}
    chosen = {name for name, e in entries.items() if in_lane(e, options.lane, options.tenth, rest)}
    print(f"test: {len(chosen)} of {len(entries)} entries are in this lane", file=sys.stderr)
    if options.changed is not None:
        base = base_of(options.changed)
        changed = changed_since(base)
        reasons = {name: selection.why(entries[name], changed) for name in sorted(chosen)}
        left_out = [name for name, reason in reasons.items() if reason is None]
        chosen -= set(left_out)
        tell_change(base, changed, reasons, left_out)
    hits = {}
    keys = {}
    counts = COVERAGE in chosen
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print(f"test: not installed: {', '.join(missing)}; no verdict on an entry counts (scripts/setup)", file=sys.stderr)
    for name in sorted(chosen) if not missing else ():
        entry = entries[name]
        # What makes files for others is quick, or keeps them itself. What is to fail, or in a way, is looked at by ctest.
        if entry.setup or {"WILL_FAIL", "PASS_REGULAR_EXPRESSION"} & entry.properties.keys() or name.startswith("fresh_machine") or \
                name == COVERAGE:
            continue
        keys[name] = selection.key(entry)
        found = verdicts.look_up(keys[name])
        if found is not None:
            hits[name] = found
    sampled = {name for name in hits if verdicts.is_sampled(keys[name])}
    running = chosen - (hits.keys() - sampled)
    if counts:
        counted = {name for name in entries[COVERAGE].depends if name in entries and in_lane(entries[name], "default", None, rest)}
        if idle := counted - running:
            chosen.discard(COVERAGE)
            running.discard(COVERAGE)
            print(f"test: {COVERAGE} is left out: {len(idle)} of the {len(counted)} entries that it counts do not run", file=sys.stderr)
    for name in list(running):
        for other in entries[name].needs:  # whose files it reads
            running.add(other.name)
            chosen.add(other.name)
    out = options.out
    (out / "verdicts").mkdir(parents=True, exist_ok=True)
    texts = []
    for name in sorted(chosen):
        entry = entries[name]
        command = entry.command
        if name not in running:
            file = out / "verdicts" / f"{name}.txt"
            file.write_text(hits[name]["value"])
            command = ["cmake", "-E", "cat", str(file)]
        elif name in keys:
            command = [sys.executable, __file__, "run", *(["--sampled"] if name in sampled else []), keys[name], "--", *command]
        texts.append(defined(entry, command, chosen))
    (out / "CTestTestfile.cmake").write_text("".join(texts))
    print(f"test: {len(chosen)} entries, of which {len(chosen) - len(running)} passed before with the same inputs "
          f"({len(sampled)} more of these run again)", file=sys.stderr)


def tell_change(base, changed, reasons, left_out):
    """What a change reaches, and what it does not."""
    print(f"test: {len(changed)} files differ from {base[:12]}:", file=sys.stderr)
    for name in changed[:40]:
        print(f"  {name}", file=sys.stderr)
    by_reason = collections.Counter(reason for reason in reasons.values() if reason)
    for (name, reason), count in by_reason.most_common(20):
        print(f"test: {count} entries run: {name}: {reason}", file=sys.stderr)
    groups = collections.Counter(name.removeprefix("dev.").split(".")[0] for name in left_out)
    print(f"test: {len(left_out)} entries are left out, because no changed file reaches them: "
          f"{', '.join(f'{group} ({count})' for group, count in sorted(groups.items()))}", file=sys.stderr)


def run(options):
    """Runs an entry; stores what it printed if it passes."""
    done = subprocess.run(options.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    sys.stdout.write(done.stdout)
    if done.returncode == 0:
        if not options.sampled:
            verdicts.store().put(options.key, {"what": shlex.join(options.command), "value": done.stdout})
    elif options.sampled:
        verdicts.store().remove(options.key)
        print(f"verdicts: the stored verdict {verdicts.store().path(options.key)} says that this passed with the same inputs; "
              "it is deleted. Its key misses something, or the test depends on chance.")
    if done.returncode == SKIP and not re.search(r"^\d+ passed, \d+ failed, \d+ skipped$", done.stdout, re.M):
        print("0 passed, 0 failed, 1 skipped")  # ctest's log says of it that it passed
    return done.returncode


def fresh(options):
    """Whether the quickstart's inputs have a verdict."""
    key = verdicts.digest_of("fresh", verdicts.packages(), [[name, verdicts.content(ROOT / name)] for name in files() if SETUP.match(name)])
    if options.record:
        verdicts.store().put(key, {"what": "quickstart on a fresh machine", "value": "passed"})
        return 0
    return 1 if verdicts.look_up(key) is None else 0


def check(options):
    """Whether each entry has its labels."""
    wrong = 0
    for name, entry in Selection(options.builds).entries.items():
        if not any(lane in entry.labels for lane in LANES) and not entry.setup:
            print(f"{name}: no label of a lane: {', '.join(LANES)}")
            wrong += 1
        unknown = entry.stages - stage_graph().keys() - {"none"}
        if unknown or not entry.stages:
            print(f"{name}: {'no stage' if not entry.stages else 'unknown stages ' + ', '.join(sorted(unknown))}")
            wrong += 1
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    one = commands.add_parser("write")
    one.add_argument("--out", type=lambda text: pathlib.Path(text).resolve(), required=True)
    one.add_argument("--lane", choices=("quick", "default", "all"), default="default")
    one.add_argument("--tenth", type=int)
    one.add_argument("--changed", nargs="?", const="")
    one.add_argument("builds", nargs="+", metavar="BUILD")
    one = commands.add_parser("run")
    one.add_argument("key")
    one.add_argument("--sampled", action="store_true")
    one.add_argument("command", nargs=argparse.REMAINDER)
    one = commands.add_parser("fresh")
    one.add_argument("--record", action="store_true")
    one = commands.add_parser("check")
    one.add_argument("builds", nargs="+", metavar="BUILD")
    options = parser.parse_args()
    if options.what == "run":
        options.command = options.command[1:] if options.command[:1] == ["--"] else options.command
    return {"write": write, "run": run, "fresh": fresh, "check": check}[options.what](options) or 0


if __name__ == "__main__":
    sys.exit(main())
