# SPDX-License-Identifier: Apache-2.0
"""The command line from the outside: every message, exit code and stream that scripts rely on."""
import json
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import time

import common
from common import Failure
import pytest

ROOT = common.ROOT
DIGITS = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
GADGET_F32 = ROOT / "tests" / "models" / "gadget" / "gadget_f32.tflite"
UNSUPPORTED = ROOT / "tests" / "fuzz" / "corpus" / "tflite" / "unsupported.tflite"
COMMANDS = ["check", "compile", "create", "build", "run", "verify", "report", "ops", "boards"]
EXIT_CODES = {0, 1, 2, 3, 4, 5, 6}  # 70 is a bug


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            raise Failure(f"standard output is no JSON: {self.out[:300]!r}")


class Cli:
    """Runs aotc in a folder of the test's own."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def __call__(self, *args, code=0, env=None, file_limit=None, timeout=600):
        def limit():
            # What a full disk does: writes fail beyond so many bytes.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

        environment = {**os.environ, **(env or {})}
        done = subprocess.run([self.program, *map(str, args)], cwd=self.folder, env=environment,
                              capture_output=True, text=True, errors="replace", timeout=timeout,
                              stdin=subprocess.DEVNULL, preexec_fn=limit if file_limit else None)
        if code is not None and done.returncode != code:
            raise Failure(f"exit code {done.returncode}, not {code}: aotc {' '.join(map(str, args))}\n"
                          f"{done.stdout[-1500:]}{done.stderr[-1500:]}")
        return Result(done.returncode, done.stdout, done.stderr)

    def names(self):
        return sorted(p.name for p in self.folder.iterdir())


@pytest.fixture
def aotc(tmp_path):
    return Cli(common.AOTC, tmp_path)


def expect(text, *patterns):
    for pattern in patterns:
        if not re.search(pattern, text, re.M):
            raise Failure(f"no match for '{pattern}' in:\n{text[:2000]}")


def same(have, want, what="text"):
    if have != want:
        raise Failure(f"{what} differs\n  have: {have!r}\n  want: {want!r}")


def write_npy(path, dtype, shape, data):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def edit(path, pattern, replacement):
    text = path.read_text()
    changed, count = re.subn(pattern, replacement, text, count=1)
    if count != 1:
        raise Failure(f"nothing in {path} matches {pattern}")
    path.write_text(changed)


# --- Usage ----------------------------------------------------------------------------------------


def test_help_of_every_command(aotc):
    expect(aotc("--help").out, *COMMANDS, r"Exit codes: 0 done")
    for command in COMMANDS:
        said = aotc(command, "--help")
        expect(said.out, r"--json", r"Usage|OPTIONS")
        same(said.err, "", "standard error of help")
    expect(aotc("create", "--help-project", "bare_metal").out, r"optimize", r"stack_size")
    expect(aotc("--version").out, r"^aotc \d+\.\d+")
    same(aotc("-V").out, aotc("--version").out, "-V")
    same(aotc("help").out, aotc("--help").out, "help")
    same(aotc("help", "mlf", "diff").out, aotc("mlf", "diff", "--help").out, "help of a subcommand")
    expect(aotc("help", "chek", code=2).err, r"^aotc help: error: aotc has no command 'chek' \[usage\]$",
           r"did you mean the command 'check'\?")
    # Also behind options, and with templates of the user's.
    aotc("templates", "export", "-o", "mine")
    edit(aotc.folder / "mine/bare_metal/template.json", r'"title": "', '"title": "my own ')
    for order in (["--templates", "mine", "--help-project", "bare_metal"], ["--help-project", "bare_metal", "--templates", "mine"]):
        expect(aotc("create", *order).out, r"^bare-metal: my own ")


def test_usage_errors(aotc):
    expect(aotc("analyze", "stakc", "x", code=2).err, r"there is no command 'stakc'", r"did you mean the command 'stack'\?")
    expect(aotc("analyze", code=2).err, r"aotc analyze: error: a command is required")
    expect(aotc("buld", "x", code=2).err, r"no command or file named 'buld'", r"did you mean the command 'build'\?")
    expect(aotc("check", DIGITS, "--bord", "x", code=2).err, r"did you mean the option '--board'\?")
    expect(aotc("check", code=2).err, r"MODEL")
    expect(aotc("compile", DIGITS, "--memory", "heap", code=2).err, r"--memory")
    expect(aotc("create", DIGITS, code=2).err, r"needs a board \[board-missing\]", r"help: .*--board")
    same(aotc("check", DIGITS, "--bord", "x", code=2).err,
         "aotc check: error: The following argument was not expected: --bord [usage]\n"
         "  help: did you mean the option '--board'?\n  help: 'aotc check --help' shows how to use it\n")
    expect(aotc("mlf", "inspct", code=2).err, r"^aotc mlf: error: .* \[usage\]$", r"did you mean the command 'inspect'\?")
    expect(aotc("verify", DIGITS, "--samples", "0", code=2).err, r"--samples: .*range")
    expect(aotc("create", DIGITS, "--project-option", "x", code=2).err, r"'x' is not NAME=VALUE \[usage\]$")
    expect(aotc("compile", DIGITS, "--date", "1", code=2).err, r"--date .* \[usage\]$", r"help: add --format mlf")
    expect(aotc("boards", "host", "--cpu", "native", code=2).err, r"excludes")
    for args in (["frobnicate"], [], ["--no-such"], ["mlf"]):
        same(aotc(*args, code=2).out, "", "standard output of a usage error")


# --- Bad input ------------------------------------------------------------------------------------


def test_unsupported_operators(aotc):
    shutil.copy(UNSUPPORTED, aotc.folder / "net.tflite")
    said = aotc("check", "net.tflite", code=1)
    same(said.out, "", "standard output")
    expected = (ROOT / "tests" / "cli" / "unsupported.txt").read_text()
    same(said.err, expected, "the message")


def test_unreadable_models(aotc):
    same(aotc("check", "none.tflite", code=1).err,
         "none.tflite: error: cannot read file: no such file [file-read]\n  help: there is no .tflite file in '.'\n")
    same(aotc("check", ".", code=1).err,
         ".: error: cannot read file: it is a directory [file-read]\n  help: give a file that can be read\n")
    (aotc.folder / "empty.tflite").write_bytes(b"")
    (aotc.folder / "text.tflite").write_text("not a model at all\n" * 9)
    (aotc.folder / "cut.tflite").write_bytes(DIGITS.read_bytes()[:5000])
    for name in ("empty", "text", "cut"):
        expect(aotc("check", f"{name}.tflite", code=1).err, rf"^{name}\.tflite: .*error: .*\[tflite-invalid\]$")


def test_shapes_of_inputs(aotc):
    model = ROOT / "tests" / "models" / "keras" / "conv1d_int8.tflite"
    for text, why in (("motion", "is not INPUT=SHAPE"), ("motion=1,0,3", "is not INPUT=SHAPE"),
                      ("=1,2", "is not INPUT=SHAPE"), ("motion=1,,3", "is not INPUT=SHAPE")):
        same(aotc("check", model, "--shape", text, code=2).err,
             f"--shape: error: '{text}' {why} [shape-invalid]\n"
             "  help: write the input's name and its dimensions, each at least 1: "
             "--shape input=1,98,40\n")
    expect(aotc("check", model, "--shape", "motion=2,16,3", "--shape", "motion=1,16,3", code=2).err,
           "'motion=1,16,3' gives an input a second shape")
    expect(aotc("check", model, "--shape", "sound=2,16,3", code=1).err, r"\[input-name\]", "the model has 'motion'")
    # An option takes one value: what follows is the model.
    aotc("check", "--shape", "motion=2,16,3", model)
    expect(aotc("compile", model, "--shape", "motion=2,16,3", "other=1", code=2).err,
           r"expected one model, but 2 are given \[usage\]\n  help: if 'other=1' is a second value of an option, repeat the option's name in front of it")
    made = aotc("check", model, "--shape", "motion=2,16,3", "--json").json()
    same(made["inputs"][0]["shape"], [2, 16, 3])
    # A project keeps it: what is verified is what was made.
    aotc("create", model, "--shape", "motion=2,16,3", "--board", "host", "-o", "app")
    same(json.loads((aotc.folder / "app" / "aotc.json").read_text())["compile"]["shapes"],
         ["motion=2,16,3"])
    same(aotc("report", "app", "--json").json()["inputs"][0]["shape"], [2, 16, 3])
    expect(aotc("verify", "app", "--only", "host", "--samples", "1").out, "bit-exact")
    for target in ("app", DIGITS):
        expect(aotc("verify", target, "--only", "board", code=2).err, r"\[board-unused\]")


def test_models_of_other_formats(aotc):
    folder = aotc.folder / "saved"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(b"\x08\x01")
    for command in ("check", "compile", "verify", "report"):
        same(aotc(command, "saved", code=1).err,
             "saved: error: this is a SavedModel; aotc reads ONNX (.onnx), TensorFlow Lite "
             "(.tflite), and graphs and archives of TVM [model-format]\n"
             "  help: convert it: python3 -c \"import tensorflow as tf; open('saved.tflite', "
             "'wb').write(tf.lite.TFLiteConverter.from_saved_model('saved').convert())\"\n"
             "  help: for int8, first set 'optimizations' and 'representative_dataset' of the converter\n")
    (aotc.folder / "kws.tflite").write_text("version https://git-lfs.github.com/spec/v1\n")
    same(aotc("check", "kws.tflite", code=1).err,
         "kws.tflite: error: this is a Git LFS pointer instead of the model; aotc reads "
         "ONNX (.onnx), TensorFlow Lite (.tflite), and graphs and archives of TVM [model-format]\n"
         "  help: fetch the model: git lfs pull --include 'kws.tflite'\n")


def test_unknown_names(aotc):
    said = aotc("check", DIGITS, "--board", "qemu_mps2_an387", code=1)
    expect(said.err, r"\[board-unknown\]", r"did you mean 'qemu_mps2_an38[56]'\?")
    expect(aotc("check", DIGITS, "--signature", "nope", code=1).err, r"\[signature-unknown\]")
    expect(aotc("check", DIGITS, "--dump-after", "dead-cod", code=1).err, r"\[pass-unknown\]", r"did you mean 'dead-code'")


def test_wrong_inputs(aotc):
    folder = aotc.folder
    write_npy(folder / "good.npy", "|i1", (1, 8, 8, 1), bytes(64))
    write_npy(folder / "floats.npy", "<f4", (1, 8, 8, 1), bytes(256))
    write_npy(folder / "short.npy", "|i1", (1, 8, 7, 1), bytes(56))
    write_npy(folder / "fortran.npy", "|i1", (8, 8), bytes(64))
    (folder / "fortran.npy").write_bytes((folder / "fortran.npy").read_bytes().replace(b"False", b"True "))
    (folder / "cut.npy").write_bytes((folder / "good.npy").read_bytes()[:100])
    (folder / "text.npy").write_text("1 2 3\n")
    write_npy(folder / "turned.npy", "|i1", (1, 1, 8, 8), bytes(64))  # dimensions of 1 may stand anywhere
    write_npy(folder / "flat.npy", "|i1", (3, 64), bytes(192))
    write_npy(folder / "planes.npy", "|i1", (3, 8, 4, 2), bytes(192))
    for name, slug in (("floats", "input-type"), ("short", "input-shape"), ("planes", "input-shape"), ("fortran", "npy-"),
                       ("cut", "npy-"), ("text", "npy-"), ("absent", "file-read")):
        expect(aotc("evaluate", DIGITS, "--input", f"{name}.npy", "-o", "values", code=1).err, rf"{name}\.npy.*\[{slug}")
        same((folder / "values").exists(), False, "values in spite of the error")
    for name in ("good", "turned", "flat"):
        aotc("evaluate", DIGITS, "--input", f"{name}.npy", "-o", "values")
    expect(aotc("verify", DIGITS, "--input", "good.npy", "--input", "good.npy", code=1).err, r"\[input-count\]")
    expect(aotc("verify", DIGITS, "--input", "nope=good.npy", code=1).err, r"\[input-name\]", r"note: input: ")
    said = aotc("create", DIGITS, "--board", "host", "--samples", "floats.npy", "-o", "app", code=1)
    expect(said.err, r"\[input-type\]")
    same((folder / "app").exists(), False, "a project in spite of the error")


def test_evaluated(aotc):
    digits = ROOT / "tests/models/digits"
    out = aotc.folder / "values"
    for kind in ("int8", "f32"):  # the outputs beside the models are LiteRT's
        said = aotc("evaluate", digits / f"digits_{kind}.tflite", "--input", digits / f"test_inputs_{kind}.npy", "-o", "values",
                    "--json")
        [output] = json.loads(said.out)["outputs"]
        have, want = (out / output["file"]).read_bytes(), (digits / f"test_outputs_{kind}.npy").read_bytes()
        same(output["shape"], [450, 10])
        if kind == "int8":
            same(have[-4500:] == want[-4500:], True, "the outputs are LiteRT's")
            image = (digits / "test_inputs_int8.npy").read_bytes()[-64:]
        else:
            pairs = zip(struct.unpack("<4500f", have[-18000:]), struct.unpack("<4500f", want[-18000:]))
            same(max(abs(a - b) for a, b in pairs) < 1e-5, True, "the outputs are LiteRT's, but for exp")
    (out / "mine.txt").write_text("mine")
    expect(aotc("evaluate", DIGITS, "--input", digits / "test_inputs_int8.npy", "-o", "values", code=1).err, r"\[output-exists\]")
    expect(aotc("evaluate", DIGITS, code=2).err, "-o is missing")
    expect(aotc("evaluate", DIGITS, "--serve", "-o", "values", code=2).err, "excludes")

    def serve(requests):
        return subprocess.run([aotc.program, "evaluate", DIGITS, "--serve"], input=requests, capture_output=True, timeout=60)

    served = serve(b"run\n" + image + b"reset\nrun\n" + image + b"run\nshort")
    answer = b"ok\n" + (digits / "test_outputs_int8.npy").read_bytes()[-10:]
    same((served.stdout, served.returncode), (answer + b"ok\n" + answer, 0), "answers")
    for hostile in (b"walk\n", b"r" * 100000):
        served = serve(hostile)
        same((served.stdout, served.returncode), (b"error the request must be 'run' or 'reset'\n", 2))


# --- Output ---------------------------------------------------------------------------------------


def test_foreign_output_is_kept(aotc):
    mine = aotc.folder / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("three years")
    expect(aotc("compile", DIGITS, "-o", "mine", code=1).err, r"\[output-exists\]", r"help: .*--force")
    same((mine / "thesis.txt").read_text(), "three years")
    (aotc.folder / "file").write_text("x")
    expect(aotc("compile", DIGITS, "-o", "file", code=1).err, r"\[output-exists\]")
    same((aotc.folder / "file").read_text(), "x")
    said = aotc("compile", DIGITS, "-o", "mine", "--force", "--quiet")
    same(said.err, "", "what is said when nothing was replaced")
    same((mine / "thesis.txt").read_text(), "three years")
    expect(aotc("compile", DIGITS, "-o", "mine", code=1).err, r"note: added: thesis\.txt$")
    (mine / "thesis.txt").unlink()
    aotc("compile", DIGITS, "-o", "mine")  # its own it replaces
    same(aotc.names(), ["file", "mine"])
    # A file of this name alone does not make it aotc's.
    (aotc.folder / "empty").mkdir()
    (aotc.folder / "empty" / "aotc.json").write_text("{}")
    (aotc.folder / "empty" / "thesis.txt").write_text("three years")
    same(aotc("compile", DIGITS, "-o", "empty", code=1).err,
         "empty: error: the output directory exists, and aotc did not write it [output-exists]\n"
         "  note: added: aotc.json\n  note: added: thesis.txt\n"
         "  help: choose another -o DIRECTORY, or pass --force: aotc then replaces files that have the names of its own files, "
         "and keeps all other files\n")
    same((aotc.folder / "empty" / "thesis.txt").read_text(), "three years")


def test_projects_are_kept(aotc):
    create = ["create", DIGITS, "--board", "host", "-o", "app"]
    aotc(*create)
    aotc("build", "app")
    aotc(*create)  # what was built does not stop it, and goes
    app = aotc.folder / "app"
    same((app / "build").exists(), False, "the build of the old project")
    (app / "src" / "mine.c").write_text("int mine;")
    readme = (app / "README.md").read_text()
    (app / "README.md").write_text(readme + "mine\n")
    (app / "build").mkdir()  # not by aotc
    (app / "build" / "x.o").write_text("")
    said = aotc(*create, code=1)
    expect(said.err, r"^app: error: the output directory has files that were changed or added since aotc wrote it "
           r"\[output-exists\]$", r"note: changed: README\.md$", r"note: added: build/ \(1 file\)$",
           r"note: added: src/mine\.c$", r"help: .*--force")
    same((app / "README.md").read_text(), readme + "mine\n")
    said = aotc(*create, "--force")
    expect(said.err, r"^app: warning: .*\[output-replaced\]\n  note: changed: README\.md\n")
    same((app / "README.md").read_text(), readme)
    same((app / "src" / "mine.c").read_text(), "int mine;")
    same((app / "build" / "x.o").exists(), True, "a file that a user added")
    aotc("build", "app")
    expect(aotc(*create, code=1).err, r"note: added: build/")  # it was the user's before
    same(aotc.names(), ["app"])


def test_full_disk_leaves_nothing(aotc):
    expect(aotc("compile", DIGITS, "-o", "out", code=1, file_limit=4096).err, r"\[file-write\]")
    same(aotc.names(), [], "files behind a failed command")
    aotc("compile", DIGITS, "-o", "out", "--prefix", "old")
    before = {p.name: p.read_bytes() for p in (aotc.folder / "out").iterdir()}
    expect(aotc("compile", DIGITS, "-o", "out", "--prefix", "new", code=1, file_limit=4096).err, r"\[file-write\]")
    same({p.name: p.read_bytes() for p in (aotc.folder / "out").iterdir()} == before, True, "the old output")
    same(aotc.names(), ["out"])
    expect(aotc("compile", DIGITS, "-o", "out/old.c/below", code=1).err, r"\[file-write\]")


def test_killed_leaves_no_half_output(aotc):
    complete = aotc("compile", DIGITS, "-o", "whole", "--json").json() and sorted(
        p.name for p in (aotc.folder / "whole").iterdir())
    appeared = 0
    for attempt in range(25):
        out = aotc.folder / f"out{attempt}"
        process = subprocess.Popen([aotc.program, "compile", DIGITS, "-o", out], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(0.001 * attempt)
        process.kill()
        process.wait()
        if out.exists():
            appeared += 1
            same(sorted(p.name for p in out.iterdir()), complete, "files of an output that appeared")
    print(f"  ({appeared} of 25 were done before they were killed)")


def test_full_standard_output(aotc):
    for args in (["ops"], ["check", DIGITS, "--json"], ["boards", "--json"], ["report", DIGITS]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([aotc.program, *map(str, args)], stdout=full, stderr=subprocess.PIPE, text=True)
        same(done.returncode, 1, f"exit code of {args}")
        expect(done.stderr, r"standard output: error: .*\[file-write\]")


def every_command(aotc):
    """A command line of each, that prints something."""
    aotc("compile", DIGITS, "-o", "made")
    aotc("create", DIGITS, "--board", "host", "-o", "app")
    aotc("compile", DIGITS, "--format", "mlf", "-o", "a.tar")
    graph = ROOT / "tests/graph_json/graphs"
    lines = [["check", DIGITS], ["compile", DIGITS, "-o", "made"], ["create", DIGITS, "--board", "host", "-o", "app"],
             ["build", "nowhere"], ["run", "app"], ["verify", "nowhere"],
             ["evaluate", DIGITS, "--input", "none.npy", "-o", "values"], ["report", DIGITS], ["diff", DIGITS, DIGITS], ["ops"], ["ops", "--like", "GRU"],
             ["boards"], ["boards", "host"], ["cpus"], ["templates", "list"], ["templates", "export", "-o", "mine"],
             ["mlf", "inspect", "a.tar"], ["mlf", "extract", "a.tar", "-o", "unpacked", "--force"], ["mlf", "diff", "a.tar", "none.tar"],
             ["schedules", DIGITS], ["flash", "nowhere"], ["tune", DIGITS, "--board", "nowhere"], ["rpc", "list", "nowhere"], ["rpc", "call", "nowhere", "f"], ["rpc", "time", "nowhere", "f"],
             ["bench", "--ops", DIGITS, "--board", "nowhere"], ["project-server"], ["graph", "inspect", "none.json"],
             ["graph", "convert", "none.json"], ["analyze", "signatures", "none.c"], ["help"], ["help", "check"],
             ["man", "check"], ["completion", "bash"], ["--help"], ["--version"], ["nosuch"], ["check"], []]
    names = {line[0] for line in lines if line}
    listed = re.search(r"^Commands:\n((?:  .*\n)*)", aotc("help").out, re.M)[1]
    same(sorted(set(re.findall(r"^  (\S+)", listed, re.M)) - names), [], "commands that are not tried")
    return lines


def test_streams_that_take_nothing(aotc):
    def start(args, redirection):
        quoted = " ".join("'" + str(a) + "'" for a in [aotc.program, *args])
        done = subprocess.run(["bash", "-c", f"{quoted} {redirection}"], cwd=aotc.folder, capture_output=True, text=True, timeout=120)
        return done

    for args in every_command(aotc):
        usual = start(args, "")
        if usual.returncode not in EXIT_CODES:
            raise Failure(f"{args}: exit code {usual.returncode}")
        # What was to be printed is lost: done becomes 1, any other code stays.
        lost = usual.returncode if usual.returncode != 0 or not usual.stdout else 1
        for redirection, want in (("2>/dev/full", usual.returncode), ("2>&-", usual.returncode), (">/dev/full", lost),
                                  (">&-", lost), (">/dev/full 2>/dev/full", lost), (">&- 2>&-", lost), ("<&- >&- 2>&-", lost),
                                  ("> >(exec >&-)", None)):
            have = start(args, redirection).returncode
            if have != want and (want is not None or have not in EXIT_CODES):
                raise Failure(f"{args} {redirection}: exit code {have}, not {want}")
    expect(start(["ops"], ">&-").stderr, r"^standard output: error: cannot write: Bad file descriptor \[file-write\]$")
    # A closed stream's number is not given to a file that is written.
    start(["compile", DIGITS, "-o", "closed"], ">&- 2>&-")
    same({p.name: p.read_bytes() for p in (aotc.folder / "closed").iterdir()} ==
         {p.name: p.read_bytes() for p in (aotc.folder / "made").iterdir()}, True, "files written with closed streams")


def test_deterministic(aotc):
    for out in ("one", "two"):
        aotc("compile", DIGITS, "-o", out, "--prefix", "d", env={"LC_ALL": "C", "TZ": out})
        aotc("create", DIGITS, "--board", "qemu_mps2_an386", "-o", f"{out}_app", "--prefix", "d")
    for kind in ("", "_app"):
        trees = [{p.relative_to(aotc.folder / (n + kind)): p.read_bytes()
                  for p in (aotc.folder / (n + kind)).rglob("*") if p.is_file()} for n in ("one", "two")]
        same(trees[0] == trees[1] and len(trees[0]) > 3, True, "two runs give the same files")


# --- What is printed ------------------------------------------------------------------------------


def test_json_of_every_reporting_command(aotc):
    same(aotc("check", DIGITS, "--json").json()["macs"], 224752)
    same(aotc("compile", DIGITS, "-o", "c", "--json").json()["prefix"], "digits_int8")
    same(aotc("create", DIGITS, "--board", "host", "-o", "app", "--json").json()["project"], "app")
    same(aotc("build", "app", "--json").json()["code_bytes"] > 1000, True, "code size")
    run = aotc("run", "app", "--json").json()
    same((run["exit_code"], run["status"], run["guard_ok"]), (0, 0, 1), "run")
    verified = aotc("verify", "app", "--json").json()
    same((verified["passed"], [p["place"] for p in verified["places"]]), (True, ["host C"]), "verify")
    report = aotc("report", "app", "--json").json()
    for layer in report["layers"]:
        for key in ("function", "schedule", "macs", "live_bytes", "constants_bytes", "results", "nanoseconds"):
            if key not in layer:
                raise Failure(f"report has no '{key}' in {layer}")
    same(sum(layer["macs"] for layer in report["layers"]), report["macs"], "sum of MACs")
    names = [o["name"] for o in aotc("ops", "--json").json()]
    same(sorted(names) == names and "conv_2d" in names, True, "operators in order")
    compared = aotc("ops", "--compare", "--json").json()
    same([o["name"] for o in compared if o["tflm"] and o["litert"] and not o["aotc"]], [], "what TFLM has and aotc lacks")
    expect(aotc("ops", "--compare", "--like", "add", code=2).err, r"give --like or --compare, not both")
    same("host" in [b["name"] for b in aotc("boards", "--json").json()], True, "boards")
    # An error is said on standard error, also with --json.
    same(aotc("check", "none.tflite", "--json", code=1).out, "")


def test_tables_for_people(aotc):
    said = aotc("compile", DIGITS, "-o", "out", "--board", "qemu_mps2_an386").out
    expect(said, r"^RAM: arena +\d[\d,]* bytes +optimal +of .* on qemu_mps2_an386$", r"^RAM: stack +\d[\d,]* bytes",
           r"^flash: constants", r"^MACs per inference +224,752$", r"^wrote out/: .*digits_int8\.c", r"^next: ")
    expect(aotc("report", DIGITS).out, r"operator +result +MACs +arena live +constants +schedule",
           r"^0 +op \d+ CONV_2D", r"^MACs per inference")
    # Text columns start where their title does, whatever they begin with.
    lines = aotc("ops").out.splitlines()
    column = lines[0].index("what it does")
    for line in lines:
        if line[column - 1] != " " or line[column] == " ":
            raise Failure(f"misaligned: {line}")


def test_operators_like(aotc):
    same(aotc("ops", "--like", "CONV_2D").out.splitlines()[1].split()[0], "conv_2d")
    expect(aotc("ops", "--like", "SQUEEZE").out, r"^reshape ")
    expect(aotc("ops", "--like", "exp").out, r"^logistic ", r"^reshape ")
    expect(aotc("ops", "--like", "sofmax").out, r"^softmax ")
    gru = aotc("ops", "--like", "GRU")
    expect(gru.err, r"no operator is called 'GRU'; .*unroll")
    expect(gru.out, r"^fully_connected ", r"^tanh ")
    expect(aotc("ops", "--like", "STABLEHLO_GATHER").err, r"aotc does not support .STABLEHLO_GATHER., an operator of TFLite")
    expect(aotc("ops", "--like", "zzzzzz", code=1).err, r"'aotc ops' lists all \d+")
    same([o["name"] for o in aotc("ops", "--like", "CONV_2D", "--json").json()][0], "conv_2d")


def test_operators_by_other_names(aotc):
    for name, op in (("sigmoid", "logistic"), ("Dense", "fully_connected"), ("ReLU", "relu"), ("nn.Linear", "fully_connected"),
                     ("AvgPool2d", "average_pool_2d"), ("GlobalAveragePooling2D", "mean"), ("Gemm", "fully_connected")):
        said = aotc("ops", "--like", name.removeprefix("nn."))
        same((said.out.splitlines()[1].split()[0], said.err), (op, ""), f"operator for {name}")
    known = {o["name"]: o["other_names"] for o in aotc("ops", "--json").json()}
    table = (ROOT / "compiler/driver/cmd_ops.cpp").read_text()
    listed = re.findall(r'^      \{"(\w+)", \{', table, re.M)
    same([name for name in listed if not known.get(name)], [], "other names of operators that there are not")
    # An operator of TFLite that is missing is said to be missing, whatever has a name like it.
    said = aotc("ops", "--like", "SPARSE_TO_DENSE", code=None)
    expect(said.err, r"^aotc does not support 'SPARSE_TO_DENSE', an operator of TFLite")
    here = {plain for o in aotc("ops", "--json").json() for plain in o["tflite_names"]}
    if "SHAPE" not in here:
        expect(aotc("ops", "--like", "SHAPE").err, r"^aotc does not support 'SHAPE', an operator of TFLite; nearest:$")
    same(aotc("ops", "--like", "conv").err, "", "a part of names")


def test_cpus(aotc):
    listed = aotc("cpus", "--json").json()
    names = [c["name"] for c in listed]
    same(names, sorted(names), "order of CPUs")
    boards = {b["name"]: b for b in aotc("boards", "--json").json()}
    same(sorted(b for c in listed for b in c["boards"]), sorted(boards), "every board is in one CPU")
    for cpu in listed:
        for board in cpu["boards"]:
            if boards[board]["cpu"] != cpu["cpu"] or not set(cpu["features"]) <= set(boards[board]["features"]):
                raise Failure(f"{board} has not what {cpu['name']} promises")
        aotc("check", DIGITS, "--cpu", cpu["name"])
    # The same code as for a board with it.
    for out, options in (("board", ["--board", "qemu_mps2_an386"]), ("cpu", ["--cpu", "cortex-m4f"]), ("core", ["--cpu", "cortex-m4"])):
        same(aotc("compile", DIGITS, "-o", out, *options).err, "", "a note although it is said what for")
    for out in ("cpu", "core"):
        same((aotc.folder / out / "digits_int8.c").read_text() == (aotc.folder / "board/digits_int8.c").read_text(), True, "code")
    same(aotc("check", DIGITS, "--cpu", "cortex-m4f", "--json").json()["cpu"], "cortex-m4f", "CPU in JSON")
    expect(aotc("check", DIGITS, "--cpu", "cortex-m44f", code=1).err, r"^--cpu cortex-m44f: error: this CPU is not known \[cpu-unknown\]$",
           r"did you mean 'cortex-m4f'\?", r"help: 'aotc cpus'")
    expect(aotc("check", DIGITS, "--cpu", "cortex-m4f", "--board", "host", code=2).err, r"\[option-conflict\]")
    # Kinds of projects without a board remember it.
    aotc("create", DIGITS, "--project", "arduino-library", "--cpu", "cortex-m4f", "-o", "library")
    same("smlad" in "".join(p.read_text() for p in (aotc.folder / "library").rglob("*.c")), True, "instructions of the CPU")
    same(json.loads((aotc.folder / "library/aotc.json").read_text())["compile"]["cpu"], "cortex-m4f", "CPU of a project")
    expect(aotc("create", DIGITS, "--cpu", "cortex-m4f", code=2).err, r"\[board-missing\]")


def test_cpus_without_boards(aotc):
    listed = {c["name"]: c for c in aotc("cpus", "--json").json()}
    arena = {}
    for name in ("cortex-m3", "cortex-m33+nodsp", "cortex-m52f", "cortex-m55f", "cortex-m85", "rv32imafc"):
        arena[name] = aotc("check", DIGITS, "--cpu", name, "--json").json()["arena_bytes"]
    for name in ("cortex-m52f", "cortex-m85f"):
        same(listed[name]["boards"], [], name)
        for member in ("isa", "features", "cflags"):
            same(listed[name][member], listed["cortex-m55f"][member], f"{member} of {name}")
    same([arena[name] for name in ("cortex-m52f", "cortex-m85")], [arena["cortex-m55f"]] * 2, "arena with Helium")
    same("dsp" in listed["cortex-m33+nodsp"]["features"], False, "DSP extension")
    same(listed["cortex-m33+nodsp"]["cflags"][0], "-mcpu=cortex-m33+nodsp", "flag")
    same(arena["cortex-m33+nodsp"], arena["cortex-m3"], "arena of the kernels of Cortex-M3")
    same("fpu" in listed["rv32imafc"]["features"], True, "FPU")


def test_boards_with_cores_that_old_compilers_lack(aotc):
    """The flags of an older core build; a flag that the compiler lacks is named."""
    for cflags in ({}, {"toolchain": {"cflags": ["-mcpu=cortex-m85", "-mfloat-abi=hard", "-mthumb", "--specs=nano.specs"]}}):
        (aotc.folder / "mine.json").write_text(json.dumps({"like": "qemu_mps3_an547", "title": "mine", "cpu": "cortex-m85", **cflags}))
        aotc("create", DIGITS, "--board", "mine.json", "-o", "app")
        version = subprocess.run(["arm-none-eabi-gcc", "-dumpversion"], capture_output=True, text=True, check=True).stdout
        if not cflags:
            expect(aotc("build", "app").err, r"with -mcpu=cortex-m55, whose code also runs on cortex-m85$")
            expect(aotc("run", "app").out + "", r"self test: bit-exact")
        elif int(version.split(".")[0]) < 13:
            expect(aotc("build", "app", code=1).err, r"\[build-failed\]", r"help: this arm-none-eabi-gcc does not know cortex-m85: "
                   r"use a newer compiler, or -mcpu=cortex-m55 in the board's \"cflags\": its code also runs on cortex-m85$")


def test_nobody_said_what_for(aotc):
    shutil.copy(DIGITS, aotc.folder / "net.tflite")
    note = ("net.tflite: note: the C is for any CPU; on a Cortex-M4, C for the Cortex-M4 is more than twice as fast "
            "[any-cpu]\n  help: name the target with --cpu NAME or --board NAME; 'aotc cpus' and 'aotc boards' list the names\n")
    same(aotc("check", "net.tflite").err, note, "the note")
    same(aotc("compile", "net.tflite", "-o", "c").err, note, "the note")
    for quiet in (["--json"], ["--board", "generic"], ["--cpu", "generic"], ["--board", "host"], ["-q"]):
        same(aotc("check", "net.tflite", *quiet).err, "", f"standard error with {quiet}")
    same(aotc("check", GADGET_F32).err, "", "standard error for floats")


def test_kinds_of_projects_nearly_right(aotc):
    said = aotc("create", DIGITS, "--board", "host", "--project", "arduino", code=1)
    expect(said.err, r"\[template-unknown\]", r"did you mean 'arduino-library'\?", r"did you mean 'arduino-sketch'\?",
           r"^  help: kinds: arduino-library, ")
    same("mlperf" in said.err.split("kinds:")[0], False, "a kind of another family")
    expect(aotc("create", DIGITS, "--project", "zephir", code=1).err, r"did you mean 'zephyr'\?")


def test_cores_that_are_not_known_are_refused_with_the_nearest(aotc):
    for name, nearest in (("star-mc1", "cortex-m33f"), ("cortex-m23", "cortex-m0plus"), ("cortex-m35p", "cortex-m33f")):
        said = aotc("check", DIGITS, "--cpu", name, code=1)
        expect(said.err, rf"^--cpu {name}: error: this CPU is not known \[cpu-unknown\]$", rf"help: use '{nearest}', the nearest known CPU: its code also runs on your CPU$")
    for name, helps in (("pico", ["rp2040_pico"]), ("bluepill", ["--cpu cortex-m3", "nucleo_f446re"]),
                        ("stm32f411", ["--cpu cortex-m4f", "nucleo_f446re"]), ("STM32F407-DISCO", ["--cpu cortex-m4f"]),
                        ("uno", ["arduino_uno"]), ("nano_every", ["--cpu atmega328p", "arduino_uno"]),
                        ("Nano RP2040 Connect", ["--cpu cortex-m0plus", "rp2040_pico"]),
                        ("nano-esp32", ["--cpu xtensa-lx7", "esp32s3"])):
        said = aotc("check", DIGITS, "--board", name, code=1).err
        expect(said, r"\[board-unknown\]", *(f"help: .*{re.escape(h)}" for h in helps))


def test_boards_of_a_users_own(aotc):
    own = {"like": "qemu_mps2_an386", "title": "mine", "emulator": None}
    (aotc.folder / "my-board.json").write_text(json.dumps(own))
    expect(aotc("boards", "my-board.json").out, r"^my_board: mine$", r"cortex-m4")
    same(aotc("check", DIGITS, "--board", "my-board.json", "--json").json()["board"], "my_board", "board")
    expect(aotc(DIGITS, "--board", "my-board.json", "-o", "app").out, r"^next: aotc build app$")
    # The project needs no file any more.
    (aotc.folder / "my-board.json").unlink()
    same(aotc("report", "app", "--json", "--no-alternatives").json()["board"], "my_board", "board of the project")
    for change, place, says in (({"features": ["mul", "dsp", "mve"]}, True, r"feature 'mve' belongs to other instruction sets.*\[board-core\]"),
                                ({"cpu": "cortex-m35p"}, True, r"CPU 'cortex-m35p' is not known \[board-core\]"),
                                ({"feature": []}, True, r"the member 'feature' is unknown \[board-invalid\]"),
                                ({"like": "qemu_mps2_an387"}, True, r"unknown board 'qemu_mps2_an387'"),
                                ({"like": "bad.json"}, True, r"'like' names the unknown board 'bad\.json'"),
                                ({"like": "nrf52840dk", "emulator": {"clock_hz": None}}, True, r"'emulator\.clock_hz' is missing"),
                                ({"stack_bytes": -1}, True, r"'stack_bytes' must be an integer")):
        (aotc.folder / "bad.json").write_text(json.dumps({**own, **change}, indent=1))
        said = aotc("check", DIGITS, "--board", "bad.json", code=1).err
        expect(said, r"^bad\.json:\d+:\d+: error: .*" + says, r"^  help: ")
        same("json.exception" in said, False, "an exception")
    (aotc.folder / "bad.json").write_text("{")
    expect(aotc("check", DIGITS, "--board", "bad.json", code=1).err, r"^bad\.json:1:\d+: error: ")
    aotc("check", DIGITS, "--board", "absent.json", code=1)


def test_the_board_decides_the_kind_of_project(aotc):
    for board, kind, then in (("rp2040_pico", "arduino_sketch", "build"), ("esp32", "arduino_sketch", "build"), ("nano33ble", "arduino_sketch", "build"),
                              ("arduino_mega2560", "arduino_sketch", "build"), ("generic", "cmake", "build"), ("host", "bare_metal", "build"),
                              ("nucleo_h743zi", "bare_metal", "build")):
        said = aotc(DIGITS, "--board", board, "-o", board).out
        same(json.loads((aotc.folder / board / "aotc.json").read_text())["project"], kind, f"kind for {board}")
        steps = re.search(r"^next: (.*)$", said, re.M)[1]
        if board == "nucleo_h743zi":
            same(steps, f"aotc build {board} && aotc flash {board} && aotc run {board} --port PORT", "next")
        # Emulators run the images of two of them.
        same("aotc run" in steps and "--port" not in steps, board in ("host", "arduino_mega2560"), f"next: {steps}")
    same(aotc(DIGITS, "--board", "rp2040_pico", "--project", "bare-metal", "-o", "x", code=1).code, 1, "a kind that was asked for")


def test_memory_that_does_not_work_after_reset(aotc):
    for arguments in (["--project-option", "arena=SDRAM"], ["--pool", "sdram:100000"], ["--constants-section", ".qspi"]):
        said = aotc(DIGITS, "--board", "stm32f746g_disco", "-o", "app", *arguments, code=1).err
        expect(said, r"\[memory-setup\]$", r"note: needed: .*", r"help: --project-option memory_setup=true adds src/memory_setup.c")
        same((aotc.folder / "app").exists(), False, "a project")
        aotc(DIGITS, "--board", "stm32f746g_disco", "-o", "app", "--project-option", "memory_setup=true", *arguments)
        setup = (aotc.folder / "app/src/memory_setup.c").read_text()
        expect(setup, r"SDRAM at 0xc0000000: .*MPU must define 8,388,608 bytes at 0xc0000000 as Normal memory", r"QSPI at 0x90000000", "#error")
        same("MPU must define 16,777,216" in setup, False, "flash at an address that is Normal memory")
        shutil.rmtree(aotc.folder / "app")
    expect(aotc(DIGITS, "--board", "nucleo_h743zi", "-o", "app", "--project-option", "arena=SRAM1", code=1).err, r"RCC_AHB2ENR")


def test_zephyr_names_of_boards(aotc):
    for board, says in (("qemu_mps3_an547", r"3\.7 calls this board `mps3/an547`; Zephyr 4\.0 and later call it `mps3/corstone300/an547`"),
                        ("qemu_mps2_an386", r"Zephyr has this board since version 4\.1"), ("qemu_mps2_an500", r"Zephyr has this board since version 4\.1"),
                        ("nrf52840dk", r"3\.7 and later call this board `nrf52840dk/nrf52840`")):
        aotc(DIGITS, "--board", board, "--project", "zephyr", "-o", board)
        expect((aotc.folder / board / "README.md").read_text(), says)
    # Zephyr gives its applications the first of three SRAMs.
    expect(aotc("create", DIGITS, "--board", "nucleo_l4r5zi", "--project", "zephyr", "-o", "app").out, r"of 192\.0 KiB on nucleo_l4r5zi|of 196,608 bytes on nucleo_l4r5zi")
    expect(aotc("create", DIGITS, "--board", "nucleo_l4r5zi", "-o", "bare").out, r"of 655,360 bytes on nucleo_l4r5zi")


def test_bench_refuses_what_cannot_run(aotc):
    for board, message in (("nucleo_f446re", r"^--board nucleo_f446re: error: the board has no emulator; aotc emulates a different board .*\[no-emulator\]$"),
                           ("rp2040_pico", r"\[template-board\]$"), ("arduino_uno", r"\[template-board\]$"), ("esp32", r"\[template-board\]$")):
        said = aotc("bench", "--ops", DIGITS, "--board", board, "-o", "kept", code=None, env={"TMPDIR": "/nonexistent"})
        expect(said.err, message, r"help: boards (?:that|with) .*: (\w+, )*host, (\w+, )*qemu_microbit, (\w+, )*qemu_mps2_an386")
        same(said.code in (1, 5), True, f"exit code {said.code}")
        same((aotc.folder / "kept").exists(), False, "a firmware that was made all the same")
    expect(aotc("bench", "--ops", DIGITS, "--board", "qemu_mps2_an386", code=5, env={"PATH": "/nonexistent"}).err, r"\[tool-missing\]$")


def test_figures_of_check(aotc):
    said = aotc("check", DIGITS, "--board", "qemu_mps2_an386").out
    same("KiB" in said or "MiB" in said, False, "a second unit")
    expect(said, r"of 4,194,304 bytes on qemu_mps2_an386")
    live = [layer["live_bytes"] for layer in aotc("check", DIGITS, "--json").json()["layers"]]
    arena = aotc("check", DIGITS, "--json").json()["arena_bytes"]
    for command in ("check", "report"):
        said = aotc(command, DIGITS).out
        if max(live) > arena:
            expect(said, rf"^Peak of live tensors: {max(live):,} bytes\. The arena is smaller ")
        else:
            same("Peak of live tensors" in said, False, "an explanation of nothing")


def test_figures_of_removed_channels(aotc):
    pruned = common.model_path("hello_world_int8")
    j = aotc("check", pruned, "--json").json()
    same(j["model_macs"] > j["macs"], True, "removed MACs")
    expect(aotc("check", pruned).out, rf"^MACs per inference +{j['macs']:,} +the model has {j['model_macs']:,}, and "
           rf"removed channels have {j['model_macs'] - j['macs']:,}$")
    whole = aotc("check", pruned, "--json", "--keep-dead-channels").json()
    same((whole["macs"], whole["model_macs"]), (j["model_macs"],) * 2, "MACs without removing")


def on_terminal(program, args, folder, environment):
    """What a program writes to a terminal: standard error only."""
    master, slave = pty.openpty()
    process = subprocess.Popen([program, *map(str, args)], cwd=folder, stdout=subprocess.DEVNULL, stderr=slave,
                               stdin=subprocess.DEVNULL, env=environment)
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    process.wait()
    os.close(master)
    return text.decode(errors="replace")


def test_colour_and_progress_only_on_a_terminal(aotc):
    plain = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    args = ["check", "none.tflite"]
    expect(on_terminal(aotc.program, args, aotc.folder, plain), "\x1b\\[31m")
    same("\x1b[3" in on_terminal(aotc.program, args, aotc.folder, {**plain, "NO_COLOR": "1"}), False, "colour with NO_COLOR")
    same("\x1b" in aotc("check", "none.tflite", code=1).err, False, "colour in a pipe")
    aotc("create", DIGITS, "--board", "host", "-o", "app")
    same(aotc("build", "app", "--quiet").err, "", "standard error of a quiet build")
    said = aotc("verify", "app").err
    same(said, "", "progress in a pipe")
    expect(on_terminal(aotc.program, ["verify", "app"], aotc.folder, plain), r"verify on host C: run 3 samples")
    same(on_terminal(aotc.program, ["verify", "app", "-q"], aotc.folder, plain), "", "progress of a quiet command")


# --- Projects -------------------------------------------------------------------------------------


def test_paths_with_spaces_and_commas(aotc):
    for name in ("with space", "with,comma", "with'quote"):
        folder = aotc.folder / name
        folder.mkdir()
        shutil.copy(DIGITS, folder / "my model, v2.tflite")
        said = aotc(f"{name}/my model, v2.tflite", "--board", "host", "-o", f"{name}/an app")
        expect(said.out, r"next: aotc build '")
        aotc("build", f"{name}/an app")
        aotc("run", f"{name}/an app")
        aotc("verify", f"{name}/an app", env={"TMPDIR": str(folder)})


def test_damaged_projects(aotc):
    expect(aotc("build", "nowhere", code=1).err, r"the project does not exist \[project-invalid\]")
    aotc("compile", DIGITS, "-o", "model")
    expect(aotc("build", "model", code=1).err, r"a compiled model, not a project")
    aotc("create", DIGITS, "--board", "host", "-o", "app")
    expect(aotc("run", "app", code=1).err, r"\[not-built\]", r"help: run 'aotc build app'")
    manifest = aotc.folder / "app" / "aotc.json"
    whole = json.loads(manifest.read_text())
    broken = [b"", b"{", b"[]", b"null", b"\xff\xfe", b"{" * 100000]
    for key in ("board", "model", "image", "prefix", "configure", "build", "compile"):
        broken.append(json.dumps({k: v for k, v in whole.items() if k != key}).encode())
        for value in (1, [], [1], {"memory": 3}, None, [""]):
            broken.append(json.dumps({**whole, key: value}).encode())
    # A schedule that is no schedule is not passed over.
    for calls in ([1], [{"op_index": 0, "schedule": {"pixels": "4"}}]):
        compile_part = {**whole["compile"], "schedules": calls}
        broken.append(json.dumps({**whole, "compile": compile_part}).encode())
    for content in broken:
        manifest.write_bytes(content)
        for command in ("build", "run", "verify", "report"):
            said = aotc(command, "app", code=1)
            expect(said.err, r"\[project-invalid\]")
    manifest.write_text(json.dumps({**whole, "board": "no_such"}))
    expect(aotc("build", "app", code=1).err, r"\[board-unknown\]")


def test_missing_toolchain(aotc):
    for board, package in (("host", "gcc"), ("qemu_riscv32", "gcc-riscv64-unknown-elf"), ("qemu_riscv32_v", "clang-19")):
        aotc("create", DIGITS, "--board", board, "-o", board)
        said = aotc("build", board, code=5, env={"PATH": ""})
        expect(said.err, r"is not installed \[tool-missing\]", rf"help: install it: apt-get install .*{package}")
        aotc("verify", board, code=5, env={"PATH": "/nonexistent"})
    aotc("verify", DIGITS, code=5, env={"PATH": "/nonexistent"})
    # A compiler, but nothing to build with.
    tools = aotc.folder / "tools"
    tools.mkdir()
    (tools / "cc").symlink_to(shutil.which("cc"))
    expect(aotc("build", "host", code=5, env={"PATH": str(tools)}).err, r"neither 'ninja' nor 'make'")
    (tools / "make").symlink_to("/bin/true")
    expect(aotc("build", "host", code=5, env={"PATH": str(tools)}).err, r"'cmake' is not installed", r"apt-get install cmake")


def test_failing_build(aotc):
    aotc("create", DIGITS, "--board", "host", "-o", "app")
    edit(aotc.folder / "app/model/digits_int8.c", r"\nint32_t digits_int8_run", "\nthis is no C\nint32_t digits_int8_run")
    expect(aotc("build", "app", code=1).err, r"\[build-failed\]", r"note: command: cmake", r"digits_int8\.c")


def test_verify_finds_a_changed_constant(aotc):
    aotc("create", DIGITS, "--board", "host", "-o", "app")
    aotc("build", "app")
    aotc("verify", "app")
    # The first weight of the second layer that has weights.
    data = aotc.folder / "app/model/digits_int8_data.c"
    tables = re.findall(r"digits_int8_call(\d+)_weights", data.read_text())
    layer = sorted({int(t) for t in tables})[1]
    text = data.read_text()
    at = re.search(rf"digits_int8_call{layer}_weights\[\d+\][^;]*?= \{{\s*(-?\d+)", text)
    value = int(at[1])
    data.write_text(text[:at.start(1)] + str(value - 100 if value > 0 else value + 100) + text[at.end(1):])
    said = aotc("verify", "app", code=4)
    title = re.search(rf"call {layer}: (.*?)'", (aotc.folder / "app/model/digits_int8.c").read_text())[1]
    expect(said.err, rf"^host C: error: op \d+ {re.escape(title)}.*: sample \d, element \d+ \(\[[\d,]+\]\) is -?\d+, the reference "
           r"gives -?\d+ \[verify-differs\]$")
    same(said.err.count("error:"), 1, "number of errors")
    broken = aotc("verify", "app", "--json", code=4).json()
    same((broken["passed"], broken["errors"][0]["slug"]), (False, "verify-differs"), "JSON of a failure")
    # The firmware finds it by itself.
    same("self_test_failed=0" in said.out, False, "a passed self test")
    aotc("build", "app")
    said = aotc("run", "app", code=6)
    expect(said.out, rf"^self test: FAILED, the first layer that differs is {layer}, op \d+ {re.escape(title)}'")


def test_firmware_tests_itself(aotc):
    for model, says in ((DIGITS, r"bit-exact, 11 results of layers"),
                        (GADGET_F32, r"floats within tolerance, \d+ results of layers")):
        aotc("create", model, "--board", "host", "-o", "app", "--force")
        aotc("build", "app")
        expect(aotc("run", "app").out, rf"^self test: {says}$")


def test_templates_are_listed_and_exported(aotc):
    listed = aotc("templates", "list", "--json").json()
    kinds = [t["kind"] for t in listed]
    same(kinds, sorted(kinds), "order of kinds")
    same({"bare-metal", "host-driven"} <= set(kinds), True, "kinds")
    for t in listed:
        same([k for k in ("title", "tool", "proof") if not t[k]], [], f"what {t['kind']} does not say")
        expect(aotc("create", "--help-project", t["kind"]).out, rf"^{t['kind']}: ", r"^  built by ", r"^  proven ")
    aotc("templates", "export", "-o", "mine")
    expect(aotc("templates", "export", "-o", "mine").out, r"^next: edit the files")
    (aotc.folder / "other").mkdir()
    (aotc.folder / "other/README.md").write_text("a user's own")
    expect(aotc("templates", "export", "-o", "other", code=1).err, r"\[output-exists\]")
    for templates in ([], ["--templates", "mine"]):
        aotc("create", DIGITS, "--board", "host", "-o", "app" + str(len(templates)), *templates)
    files = [sorted(p.relative_to(aotc.folder / a) for p in (aotc.folder / a).rglob("*") if p.is_file()) for a in ("app0", "app2")]
    same(files[0], files[1], "files from exported templates")
    for name in files[0]:
        same((aotc.folder / "app0" / name).read_bytes() == (aotc.folder / "app2" / name).read_bytes(), True, str(name))
    description = aotc.folder / "mine/bare_metal/template.json"
    whole = json.loads(description.read_text())
    # A place to go to: line and column, the line of a key.
    description.write_text('{\n  "title" "x"\n}\n')
    expect(aotc("create", DIGITS, "--board", "host", "-o", "broken", "--templates", "mine", code=1).err,
           r"^mine/bare_metal/template\.json:2:\d+: error: .*\[template-invalid\]")
    description.write_text(json.dumps(whole))
    readme = aotc.folder / "mine/bare_metal/README.md"
    kept = readme.read_text()
    readme.write_text("\n\n@no_key@\n" + kept)
    expect(aotc("create", DIGITS, "--board", "host", "-o", "broken", "--templates", "mine", code=1).err,
           r"README\.md uses the undeclared key 'no_key' in line 3 \[template-key\]")
    readme.write_text(kept)
    for damage in ({"colour": "red"}, {"files": 7}, {"title": 1}, {"options": {"x": {"type": "number", "default": "", "help": ""}}},
                   {"files": [{"path": "no_such_file"}]}, {"keys": {"prefix": {"from": "option", "option": "none"}}}):
        description.write_text(json.dumps({**whole, **damage}))
        said = aotc("create", DIGITS, "--board", "host", "-o", "broken", "--templates", "mine", code=1)
        expect(said.err, r"\[(template-invalid|template-key|file-read)\]")
        same((aotc.folder / "broken").exists(), False, "a directory after an error")


def test_verify_finds_writes_outside_of_the_arena(aotc):
    aotc("create", DIGITS, "--board", "host", "-o", "app")
    edit(aotc.folder / "app/model/digits_int8.c", r"\n    return 0;\n}\n$",
         r"\n    ((uint8_t *)arena)[DIGITS_INT8_ARENA_SIZE + 3u] = 0;\n    return 0;\n}\n")
    aotc("build", "app")
    expect(aotc("verify", "app", code=4).err, r"outside of its arena \[verify-guard\]")
    expect(aotc("run", "app", code=6).err, r"\[device-failed\]")


def test_a_model_that_fails(aotc):
    aotc("create", DIGITS, "--board", "host", "-o", "app")
    edit(aotc.folder / "app/model/digits_int8.c", r"\n    return 0;\n}\n$", r"\n    return 77;\n}\n")
    aotc("build", "app")
    expect(aotc("run", "app", code=6).err, r"exit code 1 \[device-failed\]")
    expect(aotc("verify", "app", code=4).err, r"status 77 \[verify-device\]")


def test_verify_keeps_its_host_program(aotc):
    tools, log, cache = aotc.folder / "tools", aotc.folder / "log", aotc.folder / "cache"
    tools.mkdir()
    (tools / "cc").write_text(f"#!/bin/sh\necho compiled >> {log}\nexec /usr/bin/cc \"$@\"\n")
    (tools / "cc").chmod(0o755)
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(cache)}

    def verify(*options, times, **more):
        expect(aotc("verify", DIGITS, "--only", "host", *options, env={**environment, **more}).out,
               r"host C: bit-exact in 11 of 11 layers")
        same(log.read_text().count("compiled"), times, "times that a compiler ran")

    verify(times=1)
    verify(times=1)
    verify("--seed", "9", times=1)  # inputs are no part of the program
    verify("-O", "speed", "--input", "preserve", times=2)  # other C
    kept = list((cache / "aotc" / "verify").iterdir())
    same(len(kept), 2, "programs kept")
    for path in kept:
        path.unlink()
    verify(times=3)
    [path] = (cache / "aotc" / "verify").iterdir()
    for damage in (lambda data: data[:len(data) // 2], lambda data: b"",
                   lambda data: data[:-200] + bytes([data[-200] ^ 1]) + data[-199:]):
        path.write_bytes(damage(path.read_bytes()))
        before = log.read_text().count("compiled")
        verify(times=before + 1)
    verify(times=7, XDG_CACHE_HOME="/dev/null/nowhere")  # nothing can be kept there
    verify(times=8, XDG_CACHE_HOME="/dev/null/nowhere")
    # Another compiler of the same name.
    (tools / "cc").write_text((tools / "cc").read_text() + "# newer\n")
    verify(times=9)


def test_verify_by_several_at_once(aotc):
    environment = {**os.environ, "XDG_CACHE_HOME": str(aotc.folder / "cache")}
    running = [subprocess.Popen([aotc.program, "verify", DIGITS, "--only", "host"], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
               for _ in range(4)]
    for process in running:
        expect(process.communicate()[0], r"host C: bit-exact in 11 of 11 layers")
    same(len(list((aotc.folder / "cache" / "aotc" / "verify").iterdir())), 1, "files in the cache")


def test_a_model_that_never_ends(aotc):
    aotc("create", DIGITS, "--board", "host", "-o", "app")
    edit(aotc.folder / "app/model/digits_int8.c", r"\n    uint8_t \*const a = \(uint8_t \*\)arena;\n",
         r"\n    uint8_t *const a = (uint8_t *)arena;\n    for (volatile int i = 0; i < 1; i = 0) { }\n")
    aotc("build", "app")
    expect(aotc("run", "app", "--timeout", "1", code=6).err, r"did not end within 1 seconds \[device-timeout\]", r"--timeout")
    expect(aotc("verify", "app", "--timeout", "1", code=6).err, r"\[device-timeout\]")


def test_float_boundaries_are_stripped_on_request(aotc):
    model = ROOT / "tests/models/ops/conv_io_int8_float_io.tflite"
    for options, dtype in (([], "f32"), (["--strip-float-io"], "i8")):
        made = aotc("create", model, "--board", "host", "-o", dtype, "--prefix", "m", "--json", *options).json()
        same([t["dtype"] for t in made["inputs"] + made["outputs"]], [dtype, dtype], "types")
        aotc("build", dtype)
        aotc("verify", dtype)  # the project remembers the option
    same(aotc("check", model, "--json", "--strip-float-io").json()["inputs"][0]["scale"] > 0, True, "scale")


def test_workspace_and_own_arena(aotc):
    for name, options in (("space", ["--memory", "workspace"]), ("own", ["--arena", "model"])):
        made = aotc("create", DIGITS, "--board", "host", "-o", name, "--json", *options).json()
        aotc("build", name)
        run = aotc("run", name, "--json").json()
        aotc("verify", name)
        aotc("report", name)
        if name == "space":
            same(run["workspace_high_water"], run["workspace_bytes"], "high water of the workspace")
            same(run["workspace_bytes"], made["workspace_bytes"], "workspace of the report")
            # A block less than needed: the run fails, with its status. (The runtime's array has up to
            # 15 bytes more, for its alignment.)
            size = aotc.folder / "space/runtime/workspace.cmake"
            size.write_text(size.read_text().replace(str(run["workspace_bytes"]), str(run["workspace_bytes"] - 16)))
            aotc("build", name)
            said = aotc("run", name, code=6)
            expect(said.out, r"returned status -2")
            expect(aotc("verify", name, code=4).err, r"status -2 \[verify-device\]")


def test_inputs_and_outputs_in_the_arena(aotc):
    def compiled(*options):
        return json.loads(aotc("compile", DIGITS, "-o", "contract", "--json", *options).out)

    default = compiled()
    same((default["input_in_arena"], default["output_in_arena"]), (True, False), "the default")
    both = compiled("--input", "overwrite", "--output", "overwrite")
    same((both["input_in_arena"], both["output_in_arena"]), (True, True), "both in the arena")
    none = compiled("--input", "preserve", "--output=preserve")
    same((none["input_in_arena"], none["output_in_arena"]), (False, False), "none in the arena")
    workspace = compiled("--memory", "workspace")
    same((workspace["input_in_arena"], workspace["output_in_arena"]), (False, False), "no arena")
    said = aotc("check", DIGITS)
    expect(said.out, r"^RAM: outputs +10 bytes +inputs in the arena$")
    for option in ("--input", "--output"):
        said = aotc("check", DIGITS, "--memory", "workspace", option, "overwrite", code=2)
        expect(said.err, rf"error: '{option} overwrite' needs an arena.*\[option-conflict\]", r"--memory static")
    said = aotc("check", DIGITS, "--memory", "workspace", "--slice", "call", code=2)
    expect(said.err, r"error: --slice keeps intermediate.*\[option-conflict\]", r"--memory static")
    aotc("compile", DIGITS, "--output", "contract", code=2)
    # verify takes files and words in one option.
    expect(aotc("verify", DIGITS, "--input", "preserve", "--only", "host", "--samples", "1").out, r"bit-exact in")
    expect(aotc("verify", DIGITS, "--input", "nothing.npy", "--input", "overwrite", code=1).err, r"nothing\.npy")


def test_slices(aotc):
    aotc("compile", DIGITS, "--board", "qemu_mps2_an386", "-o", "whole")
    whole = (aotc.folder / "whole/digits_int8.c").read_text()
    same("digits_int8_step" in whole, False, "slices that nobody asked for")
    said = aotc("compile", DIGITS, "--board", "qemu_mps2_an386", "-o", "calls", "--slice", "call", "--json").json()
    calls = (aotc.folder / "calls/digits_int8.c").read_text()
    same(calls.startswith(whole), True, "the rest of the file")
    longest = said["longest_slice"]["instructions"]
    expect((aotc.folder / "calls/digits_int8.h").read_text(), rf"LONGEST_SLICE {longest}u$")
    expect(aotc("report", DIGITS, "--board", "qemu_mps2_an386", "--slice", "call").out, r"^longest slice +[\d,]+ +instruc")
    # The message says what can be had, and that can be had.
    said = aotc("compile", DIGITS, "--board", "qemu_mps2_an386", "--slice", "10", code=1).err
    expect(said, r"op \d+.*no part of call \d+ is shorter than \d+ .*\[slice-too-short\]")
    least = re.search(r"--slice (\d+)$", said, re.M)[1]
    options = ("--board", "qemu_mps2_an386", "--slice")
    said = aotc("compile", DIGITS, "-o", "least", *options, least, "--json").json()["longest_slice"]["instructions"]
    same(said <= int(least) < longest, True, f"{said}, {least}, {longest}")
    aotc("compile", DIGITS, *options, str(int(least) - 1), code=1)
    for text, message in (("often", r"--slice often is not a number"), ("0", r"--slice 0 is not a number"),
                          ("9999999999", r"is not a number")):
        expect(aotc("compile", DIGITS, "--slice", text, code=2).err, message, r"\[option-conflict\]")
    said = aotc("compile", DIGITS, "--slice", "50000", "--calling-convention", "packed", code=2)
    expect(said.err, r"splits operator calls into parts, but packed functions have no arguments for the bounds of a part \[option-conflict\]")
    said = aotc("compile", DIGITS, "--stream", "max", "--calling-convention", "registry", code=2)
    expect(said.err, r"a function of the registry cannot report single rows \[option-conflict\]")
    # A project remembers it.
    aotc("create", DIGITS, *options, least, "-o", "project")
    expect(next((aotc.folder / "project").rglob("digits_int8.h")).read_text(), r"LONGEST_SLICE")
    expect(aotc("report", "project").out, r"^longest slice")


def test_levels(aotc):
    made = {}
    for level in ("speed", "balanced", "size"):
        made[level] = json.loads(aotc("check", DIGITS, "-O", level, "--json").out)
        same(made[level]["level"], level, "level")
    functions = {level: len({layer["function"] for layer in j["layers"]}) for level, j in made.items()}
    if not functions["speed"] >= functions["balanced"] >= functions["size"]:
        raise Failure(f"functions by level: {functions}")
    report = json.loads(aotc("report", DIGITS, "-O", "size", "--board", "host", "--json").out)
    by_level = {row["level"]: row for row in report["levels"]}
    same(list(by_level), ["size", "balanced", "speed"], "levels of the report")
    for level, row in by_level.items():
        same(row["constants_bytes"], made[level]["constants_bytes"], f"constants of {level}")
        same(row["functions"], functions[level], f"functions of {level}")
        if row["code_bytes"] < 500:
            raise Failure(f"code of {level}: {row}")
    said = aotc("report", DIGITS, "-O", "size").out
    expect(said, r"^level +arena +constants +functions +code$", r"^-O size \* ", r"^-O balanced +\d")
    aotc("check", DIGITS, "-O3", code=2)
    same(json.loads(aotc("check", DIGITS, "--prefer", "ram", "--json").out)["prefer"], "ram", "preference")
    same(json.loads(aotc("check", DIGITS, "--prefer", "flash", "--json").out)["level"], "size", "level of flash")
    aotc("check", DIGITS, "--prefer", "bytes", code=2)


def test_schedules(aotc):
    board = ("--board", "qemu_mps2_an386")
    aotc("compile", DIGITS, *board, "-o", "first")
    chosen = json.loads((aotc.folder / "first" / "digits_int8.map.json").read_text())
    convolutions = [c for c in chosen["calls"] if c.get("schedule", {}).get("algorithm") == "pairs"
                    and "pixels" in c["schedule"]]
    if not convolutions:
        raise Failure(f"no convolution takes pairs: {chosen['calls']}")
    # The map gives back what it was made with.
    aotc("compile", DIGITS, *board, "-o", "second", "--schedules", "first/digits_int8.map.json")
    same((aotc.folder / "second" / "digits_int8.c").read_text(),
         (aotc.folder / "first" / "digits_int8.c").read_text(), "the C of the same schedules")
    other = convolutions[0]["schedule"]
    other["pixels"] = 1 if other["pixels"] > 1 else 2
    (aotc.folder / "other.json").write_text(json.dumps(chosen))
    aotc("compile", DIGITS, *board, "-o", "third", "--schedules", "other.json")
    made = json.loads((aotc.folder / "third" / "digits_int8.map.json").read_text())
    same([c.get("schedule") for c in made["calls"]], [c.get("schedule") for c in chosen["calls"]],
         "the schedules asked for")
    expect(aotc("verify", DIGITS, *board, "--schedules", "other.json", "--only", "host",
                "--samples", "1").out, r"bit-exact in")
    # What cannot be had is an error that names the nearest.
    other["pixels"] = 99
    (aotc.folder / "wrong.json").write_text(json.dumps(chosen))
    said = aotc("compile", DIGITS, *board, "-o", "no", "--schedules", "wrong.json", code=1).err
    expect(said, r"error: the schedule asked for, 'pairs: pixels 99', cannot be had "
                 r"\[schedule-impossible\]", r"note: nearest is 'pairs: pixels \d")
    for text, message in (('{"calls": [\n', r"wrong\.json:2:1: error: this is not JSON.*\[schedule-file\]"),
                          ("[]", r"the file has no list 'calls' \[schedule-file\]"),
                          ('{"calls": [{"op_index": 1, "schedule": {"pixels": "4"}}]}',
                           r"call 0: 'pixels' must be an integer \[schedule-file\]"),
                          ('{"calls": [{"op_index": 99, "schedule": {}}]}',
                           r"operator 99, which is not compiled \[schedule-unknown-op\]")):
        (aotc.folder / "wrong.json").write_text(text)
        expect(aotc("check", DIGITS, *board, "--schedules", "wrong.json", code=1).err, message)
    same(aotc.names(), ["first", "other.json", "second", "third", "wrong.json"], "files")


def test_assembly(aotc):
    def code(*options):
        target = () if "--cpu" in options else ("--board", "qemu_mps2_an386")
        aotc("compile", DIGITS, *target, "-o", "made", "--force", *options)
        return (aotc.folder / "made" / "digits_int8.c").read_text()

    same("__asm__" in code(), True, "kernels are assembly")
    for form, intrinsics in (("intrinsics", True), ("c", False)):
        text = code("--kernels", form)
        same("__asm__" in text, False, f"assembly after --kernels {form}")
        same("__smlad" in text, intrinsics, f"intrinsics after --kernels {form}")
    vectors = code("--cpu", "cortex-m55f", "--kernels", "intrinsics")
    same("__asm__" in vectors, False, "assembly of vectors after --kernels intrinsics")
    same("vmladavaq_s8" in vectors, True, "intrinsics of vectors")
    aotc("check", DIGITS, "--kernels", "maybe", code=2)


CPP = """
#include <cstdio>
#include <cstring>
#include "first.h"
#include "second.h"
static int8_t image[FIRST_INPUT_IMAGE_ELEMENTS];
static int8_t one[FIRST_OUTPUT_PROBABILITIES_ELEMENTS], two[SECOND_OUTPUT_PROBABILITIES_ELEMENTS];
alignas(FIRST_ARENA_ALIGN) static unsigned char arena[FIRST_ARENA_SIZE];
int main() {
  for (unsigned i = 0; i < FIRST_INPUT_IMAGE_ELEMENTS; ++i) image[i] = static_cast<int8_t>(i * 37);
  first_inputs a = {image};
  first_outputs b = {one};
  std::memcpy(second_input_image(nullptr), image, sizeof image);
  second_outputs d = {two};
  if (first_run(&a, &b, nullptr) != FIRST_ERROR_ARGUMENT) return 1;
  if (first_run(&a, &b, arena + 1) != FIRST_ERROR_ARGUMENT) return 2;
  if (first_run(nullptr, &b, arena) != FIRST_ERROR_ARGUMENT) return 3;
  if (first_run(&a, &b, arena) != 0 || second_run(nullptr, &d, nullptr) != 0) return 4;
  return std::memcmp(one, two, sizeof one) != 0 ? 5 : 0;
}
"""


def test_two_models_in_a_cpp_program(aotc):
    aotc("compile", DIGITS, "--prefix", "first", "-o", "first", "--input", "preserve")
    aotc("compile", DIGITS, "--prefix", "second", "-o", "second", "--arena", "model")
    (aotc.folder / "main.cpp").write_text(CPP)
    steps = [["gcc", "-std=c99", "-O1", "-Wall", "-Werror", "-c", *[f"{p}/{p}{s}.c" for p in ("first", "second") for s in ("", "_data")]],
             ["g++", "-std=c++11", "-Wall", "-Werror", "-pedantic", "-Ifirst", "-Isecond", "main.cpp", "first.o", "first_data.o",
              "second.o", "second_data.o", "-lm", "-o", "program"], ["./program"]]
    for step in steps:
        done = subprocess.run(step, cwd=aotc.folder, capture_output=True, text=True)
        same(done.returncode, 0, f"exit code of {step[0]}: {done.stderr[:800]}")
    symbols = subprocess.run(["nm", "-g", "--defined-only", "first.o", "first_data.o"], cwd=aotc.folder, capture_output=True, text=True)
    for line in symbols.stdout.splitlines():
        if len(line.split()) == 3 and not line.split()[2].startswith("first_"):
            raise Failure(f"a symbol without the prefix: {line}")


# --- Boards ---------------------------------------------------------------------------------------


def test_too_large_for_the_board(aotc):
    model = common.model_path("vww")
    said = aotc("check", model, "--board", "qemu_microbit", code=3)
    expect(said.err, r"board qemu_microbit has .* \[does-not-fit\]", r"note: (arena|constants) ", r"help: ")
    aotc(model, "--board", "qemu_microbit", "-o", "app", code=3)
    same((aotc.folder / "app").exists(), False, "a project that does not fit")
    said = aotc("compile", model, "--board", "arduino_uno", "-o", "c")
    expect(said.err, r"warning: firmware for board arduino_uno needs [\d,]+ bytes of RAM \(available: 2,048 bytes\) and "
                     r"about [\d,]+ bytes of flash \(available: 32,256 bytes\) \[does-not-fit\]\n  help: run 'aotc check' ")
    same((aotc.folder / "c" / "vww.c").exists(), True, "C for other memories")
