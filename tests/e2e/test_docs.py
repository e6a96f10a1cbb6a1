# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows, against what it is about."""
import os
import pathlib
import re
import subprocess

import common
import docs
import pytest

DOCS = common.ROOT / "docs"


def blocks(page, language):
    text = (DOCS / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def absent(page, language, real):
    """Lines of blocks that are not in `real`, with space at both ends ignored."""
    known = {line.strip() for line in real.splitlines()}
    shown = [line for block in blocks(page, language) for line in block.splitlines()]
    if not shown:
        raise common.Failure(f"{page} shows no {language}")
    return [f"{page}: not a line of the real thing: {line}" for line in shown
            if line.strip() not in known | {"", "..."}]


def test_excerpts(tmp_path):
    """Lines of C blocks in docs/emitted-c.md are lines of the files that aotc emits, and C++ blocks of
    docs/adding-an-operator.md are lines of the operators that it walks through, and of their rules; what docs/from-keras.md
    shows are lines of files that were run."""
    work = tmp_path
    model = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
    common.aotc("compile", model, "--prefix", "digits", "-o", work / "digits", "--quiet")
    unrolled = common.ROOT / "tests" / "models" / "keras" / "gru_steps_int8.tflite"
    common.aotc("compile", unrolled, "--prefix", "gru", "-o", work / "gru", "--quiet")
    emitted = "\n".join(p.read_text() for name in ("digits", "gru")
                        for p in sorted((work / name).glob(f"{name}*.[ch]")))
    problems = absent("emitted-c.md", "c", emitted)
    kws = common.SHARED / "models" / "kws.tflite"
    if kws.exists():
        common.aotc("compile", kws, "--prefix", "kws", "--board", "qemu_mps2_an386", "-o", work / "kws", "--quiet")
        problems += absent("emitted-c.md", "c kws", (work / "kws" / "kws.c").read_text())
    elif os.environ.get("CI") == "true":
        problems.append(f"{kws} is missing, and CI=true")
    operators = common.ROOT / "compiler" / "ops"
    problems += absent("adding-an-operator.md", "cpp",
                       (operators / "leaky_relu" / "leaky_relu.cpp").read_text() +
                       (operators / "leaky_relu" / "attributes.h").read_text() +
                       (common.ROOT / "compiler/frontends/tflite/rules/elementwise.cpp").read_text() +
                       (common.ROOT / "compiler/frontends/tflite/rules/recurrent.cpp").read_text() +
                       (common.ROOT / "compiler/frontends/onnx/rules_elementwise.cpp").read_text() +
                       (operators / "rearrange" / "borders.cpp").read_text())
    cases = common.ROOT / "tests" / "ops" / "leaky_relu" / "cases.py"
    problems += absent("adding-an-operator.md", "python", cases.read_text() +
                       (common.ROOT / "tests/onnx_models/operators.py").read_text())
    models = common.ROOT / "tests" / "models"
    problems += absent("from-keras.md", "c", (models / "from_keras" / "read_digit.c").read_text())
    problems += absent("from-keras.md", "python", (models / "generate" / "from_keras.py").read_text() +
                       (models / "generate" / "common.py").read_text())
    problems += absent("speech.md", "c", (common.ROOT / "examples" / "speech" / "speech.c").read_text())
    assert not problems, "\n".join(problems)


def test_slugs():
    """Every slug of a message is explained in docs/errors.md or docs/cli.md."""
    call = re.compile(r'\b(?:error|warning|note_at)\(\s*[\w().\[\]>:{}*& -]+,\s*"([a-z0-9-]+)"')
    found = set()
    for path in (common.ROOT / "compiler").rglob("*.cpp"):
        found |= set(call.findall(path.read_text()))
    pages = (DOCS / "errors.md").read_text() + (DOCS / "cli.md").read_text()
    explained = set(re.findall(r"^\| `([a-z0-9-]+)` \|", pages, re.M))
    assert len(found) >= 10 and len(explained) >= 10
    assert sorted(found - explained) == []


def test_links():
    """Files that pages link to or name exist."""
    pages = [*DOCS.glob("*.md"), *common.ROOT.glob("*.md")]
    problems = []
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            if not (page.parent / target).exists():
                problems.append(f"{page.name}: link to '{target}', which does not exist")
        named = re.findall(r"`((?:compiler|tests|scripts|docs|crt|boards|templates)/[\w./-]+)`", text)
        for target in named:
            if "NAME" not in target and not (common.ROOT / target).exists():
                problems.append(f"{page.name}: names '{target}', which does not exist")
    assert not problems, "\n".join(problems)


DEVELOPER_PAGES = ("docs/design.md", "docs/adding-a-board.md", "docs/adding-a-cpu.md", "docs/adding-a-pass.md", "docs/adding-an-operator.md", "docs/ir.md",
                   "CONTRIBUTING.md")
# Pages name files as the folder's own text would.
FOLDERS = ("", "compiler/", "compiler/ops/", "tests/", "docs/", "crt/", "templates/*/", "boards/*/")
A_PATH = re.compile(r"[\w.*<>-]+(/[\w.*<>-]+)+/?")
AN_IDENTIFIER = re.compile(r"(?=.*(?:_|::|[a-z][A-Z]))[A-Za-z_]\w*((::|\.)\w+)*(\(\))?")
STYLE = {"PascalCase"}  # how names are written, and no name
NO_SOURCES = {".md", ".tflite", ".onnx", ".npy", ".png", ".svg", ".bin"}


def words_of_sources():
    listed = subprocess.run(["git", "ls-files"], cwd=common.ROOT, capture_output=True, text=True, check=True).stdout
    words = set()
    for name in listed.splitlines():
        path = common.ROOT / name
        if path.suffix not in NO_SOURCES and path.is_file():
            words |= set(re.findall(r"\w+", path.read_text(errors="replace")))
    return words


def is_there(path):
    """A path of the repository, without its suffix perhaps. NAME stands for any name."""
    pattern = re.sub(r"<\w+>|\b[A-Z]{2,}\b|(?<=_)[A-Z]{2,}(?=\.)", "*", path.strip("/"))
    # Models of others, which may be elsewhere.
    return pattern.startswith(("build/", "../shared")) or any(any(common.ROOT.glob(folder + pattern + more)) for folder in FOLDERS
                                               for more in ("", ".*", ".cpp", ".h"))


def symbols_missing(text, words):
    """Names in backticks, outside of blocks of code, that nothing has."""
    out = []
    for token in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        if A_PATH.fullmatch(token):
            out += [] if is_there(token) else [token]
        elif AN_IDENTIFIER.fullmatch(token) and token not in STYLE:
            parts = [part for part in re.findall(r"\w+", token) if not re.search(r"(^|_)[A-Z]{2,}$", part)]
            out += [token] if any(part not in words for part in parts) else []
    return out


def test_symbols():
    """Paths and identifiers in backticks on the pages for contributors are there: a path in the repository, each part of an
    identifier as a word of some source."""
    words = words_of_sources()
    control = "`no_such_" + "symbol` `Operator::no_" + "member` `ops/no_such/file.h` `Operator::uint8_form` `ops/operator.h`"
    assert len(symbols_missing(control, words)) == 3
    missing = [f"{page}: `{token}` is in no source" for page in DEVELOPER_PAGES
               for token in symbols_missing((common.ROOT / page).read_text(), words)]
    assert not missing, "\n".join(missing)


def test_pictures(tmp_path):
    """scripts/pictures draws what is in docs/pictures."""
    work = tmp_path
    drawn = common.run([common.ROOT / "scripts" / "pictures", "--out", work, "--aotc", common.AOTC])
    problems = []
    for path in sorted((DOCS / "pictures").glob("*.svg")):
        if f"{path.name} stays as it was" in drawn:
            if os.environ.get("CI") == "true":
                problems.append(f"{path.name}: {drawn}")
        elif not (work / path.name).exists():
            problems.append(f"{path.name}: scripts/pictures does not draw it")
        elif (work / path.name).read_bytes() != path.read_bytes():
            problems.append(f"{path.name}: not what scripts/pictures draws; run it and look at the picture")
    assert not problems, "\n".join(problems)


def test_pictures_of_the_arena(tmp_path):
    """Every offset that 'report' tells is one that the run function uses in that call, and no other."""
    work = tmp_path
    model, board = common.model_path("digits_int8"), ["--board", "qemu_mps2_an386"]
    report = common.report(model, *board)
    common.aotc("compile", model, *board, "--prefix", "digits", "-o", work / "digits", "--quiet")
    source, header = ((work / "digits" / f"digits.{end}").read_text() for end in "ch")
    places = {name: int(at) for name, at in [*re.findall(r"^    (DIGITS_\w+) = (\d+),", source, re.M),
                                             *re.findall(r"^#define (DIGITS_\w+_OFFSET) (\d+)", header, re.M)]}
    body = source.split("int32_t digits_run(")[1]
    used = {}
    for text in re.split(r"/\* call (?=\d+: )", body)[1:]:
        call = int(text.split(":")[0])
        used[call] = {places[name] for name in re.findall(r"\(a \+ (\w+)\)", text)}
    told = {call: {m["offset"] for m in report["memory"] if m["first_call"] <= call <= m["last_call"]}
            for call in used}
    reads = [f"call {c}: the C uses {sorted(used[c] - told[c])}, which 'report' does not tell"
             for c in used if not used[c] <= told[c]]
    # Each begins and ends with a call that uses it.
    ends = [f"{m}: the C does not use it in call {c}" for m in report["memory"]
            for c in (m["first_call"], m["last_call"]) if c in used and m["offset"] not in used[c]]
    # Every result has an entry that begins with its call; the last one is the caller's.
    begin = {(m.get("tensor"), m["first_call"]) for m in report["memory"]}
    ends += [f"call {layer['call']}: 'report' has no place of its result {result['tensor']}"
             for layer in report["layers"][:-1] for result in layer["results"]
             if (result["tensor"], layer["call"]) not in begin]
    assert len(used) == len(report["layers"]) and report["memory"]
    assert not reads + ends, "\n".join(reads + ends)


def test_usage():
    """Lines of code that begin with 'aotc' on any page, whatever shows before: commands and options exist."""
    helps, problems, seen = {}, [], 0
    names = set(re.findall(r"^  ([a-z-]+)(?:,| )", common.aotc("--help"), re.M))
    for page in [*sorted(DOCS.glob("*.md")), common.ROOT / "README.md"]:
        blocks = re.findall(r"^```\n(.*?)^```$", page.read_text(), re.M | re.S)
        # Of blocks that show a terminal only what was typed; what aotc then says is no command is meant so.
        code = "".join("".join(re.findall(r"^\$ .*\n", b, re.M)) if re.search(r"^\$ ", b, re.M) else b
                       for b in (b.replace("\\\n", " ") for b in blocks))
        meant = set(re.findall(r"there is no command or file named '(.*?)'", page.read_text()))
        spans = re.findall(r"`(aotc [^`]+)`", page.read_text())
        for line in [*code.splitlines(), *spans]:
            for part in re.split(r"&&|\|\||[|;]", line.split(" #")[0]):
                words = part.strip().removeprefix("$ ").replace("$aotc", "aotc").split()
                if len(words) < 2 or words[0] != "aotc" or words[1:3] == ["analyze", "signatures"] or words[1] in meant:
                    continue  # the options of signatures are those of aotc-analyze, which may not be built
                seen += 1
                command = words[1:3] if words[1] in ("analyze", "graph", "mlf", "rpc", "templates") else words[1:2]
                if words[1] not in names:
                    known = re.fullmatch(r"-.*|[A-Z]+|.*\.(tflite|tar)", words[1])
                    if not known:
                        problems.append(f"{page.name}: '{words[1]}' is no command: {line}")
                    command = ["create"]
                if tuple(command) not in helps:
                    helps[tuple(command)] = common.aotc(*command, "--help-all", expect=None).stdout + common.aotc("--help")
                given = {re.match(r"-+[a-zA-Z-]*", w)[0] for w in words[1:] if re.match(r"-+[a-zA-Z]", w)}
                there = set(re.findall(r"(?<![\w-])-{1,2}[a-zA-Z][a-zA-Z-]*", helps[tuple(command)]))
                problems += [f"{page.name}: '{o}' is no option of {' '.join(command)}: {line}"
                             for o in sorted(given - there - {"-h", "--help", "--help-all", "-O"})]
    assert seen >= 100, "so few commands were found on the pages"
    assert not problems, "\n".join(problems)


def test_lines_are_compared_as_they_should_be():
    assert not docs.matches(["a", "...", "d"], ["a", "b", "c"]) and docs.matches(["a ...", "...", "d"], ["a x", "b", "d"])


@pytest.mark.parametrize("page", docs.PAGES, ids=lambda page: pathlib.Path(page).stem)
def test_commands(page, tmp_path):
    problems = docs.run_page(common.ROOT / page, tmp_path, False)
    assert not problems, "\n".join(problems)
