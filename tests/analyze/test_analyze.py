# SPDX-License-Identifier: Apache-2.0
"""aotc-analyze from the outside."""
import codecs
import json
import os
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess
import tarfile

import common
from common import Failure
import pytest
from update_cases import CASES, GROUPS

SHARED = common.SHARED
CRT = common.ROOT / "crt" / "include"
SOURCES = [source for sources in GROUPS.values() for source in sources]


@pytest.fixture(scope="session")
def analyze(build_folder):
    return build_folder / "compiler" / "aotc-analyze"


@pytest.fixture
def work(tmp_path):
    return tmp_path


class Run:
    def __init__(self, program, *args, cwd=None, code=0, env=None, timeout=600):
        done = subprocess.run([program, *map(str, args)], cwd=cwd, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=timeout,
                              env={**os.environ, **(env or {})})
        self.code = done.returncode
        self.out = done.stdout.decode(errors="replace")
        self.err = done.stderr.decode(errors="replace")
        if code is not None and self.code != code:
            raise Failure(f"exit code {self.code}, not {code}: {' '.join(map(str, args))}\n"
                          f"{self.out[-1500:]}{self.err[-1500:]}")

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            raise Failure(f"standard output is no JSON: {self.out[:300]!r}")


def equal(what, got, wanted):
    if got != wanted:
        raise Failure(f"{what}:\n  got    {got!r}\n  wanted {wanted!r}")


# --- Expected JSON -------------------------------------------------------------------------------


def signatures(analyze, sources, cwd):
    run = Run(analyze, "signatures", "--json", *sources, cwd=cwd)
    equal("standard error", run.err, "")
    return run.json()


@pytest.mark.parametrize("name", GROUPS)
def test_cases(name, analyze):
    """The JSON of the sources in cases/ is the file beside them."""
    found, wanted = signatures(analyze, GROUPS[name], CASES), json.loads((CASES / f"{name}.json").read_text())
    for key in ("functions", "diagnostics"):
        equal(f"number of {key}", len(found[key]), len(wanted[key]))
        for a, b in zip(found[key], wanted[key]):
            equal(b.get("name", key), a, b)


# --- gcc's opinion -------------------------------------------------------------------------------


def gcc_symbols(source, work, flags):
    """{name: kind} of what gcc defines; kinds as nm prints them."""
    compiler = "gcc" if source.suffix == ".c" else "g++"
    standard = "-std=gnu11" if source.suffix == ".c" else "-std=gnu++17"
    target = work / (source.name + ".o")
    Run(compiler, standard, "-O0", "-w", "-c", source, "-o", target, *flags)
    table = Run("nm", "--defined-only", target).out
    return {line.split()[2]: line.split()[1] for line in table.splitlines()
            if line.split()[1] in "TtWw"}


def check_symbols(source, functions, symbols):
    defined = {f["name"]: f for f in functions if f["definition"] and f["linkage"] != "c++"}
    for name, kind in symbols.items():
        if name.startswith("_Z"):
            continue
        if name not in defined:
            raise Failure(f"{source.name}: gcc defines '{name}', aotc-analyze does not")
        f = defined[name]
        equal(f"{source.name}: {name}: linkage", f["linkage"],
              "static" if kind == "t" else "external")
        equal(f"{source.name}: {name}: weak", f["weak"], kind in "Ww")
    for name, f in defined.items():
        if name not in symbols and "::" not in name:
            raise Failure(f"{source.name}: gcc defines no '{name}', aotc-analyze does")


def check_types(source, functions, work, flags):
    """gcc has the types that are printed: the source with an assertion for each function."""
    text = source.read_text()
    for f in functions:
        if f["name"] == "its_symbol":
            continue  # C knows it by another name
        types = ", ".join(p["type"] for p in f["parameters"])
        # A prototype is told apart from none by what is printed, not by compatibility.
        types = types or ("" if "prototype" in f.get("why", "") else "void")
        if "variable" in f.get("why", ""):
            types += ", ..."
        text += (f"\n_Static_assert(__builtin_types_compatible_p(__typeof__(&{f['name']}), "
                 f"{f['returns']} (*)({types})), \"{f['name']}\");")
        for i, p in enumerate(f["parameters"]):
            if p["element"] and p["element"] != "void":
                text += (f"\n_Static_assert(__builtin_types_compatible_p({p['pointee']}, "
                         f"{p['element'].replace('bool', '_Bool')}), \"{f['name']} {i}\");")
    copy = work / source.name
    copy.write_text("#include <stdint.h>\n" + text + "\n")
    Run("gcc", "-std=gnu11", "-w", "-fsyntax-only", "-I", source.parent, copy, *flags)
    return text.count("_Static_assert")


def test_gcc(analyze, work, record_property):
    """Symbols of gcc are those of the JSON, and the signatures printed are compatible with gcc's types."""
    flags = ["-I", CRT]
    count = types = 0
    for name in SOURCES:
        source = CASES / name
        functions = signatures(analyze, [source], work)["functions"]
        # Two definitions of a symbol never meet here: a source at a time.
        check_symbols(source, functions, gcc_symbols(source, work, flags))
        if source.suffix == ".c":
            types += check_types(source, functions, work, flags)
        count += len(functions)
    assert count >= 50 and types >= 80
    record_property("cases", len(SOURCES))


# --- TVM's archives ------------------------------------------------------------------------------


def registry_names(text):
    """The names of the registry blob: a count of two bytes, then names that each end in a zero."""
    literal = re.search(r'_tvm_func_registry = \{\s*"((?:[^"\\]|\\.)*)"', text).group(1)
    blob = codecs.escape_decode(literal.encode())[0]
    names = blob[2:].rstrip(b"\0").split(b"\0")
    equal("count in the registry blob", struct.unpack("<H", blob[:2])[0], len(names))
    return sorted(name.decode() for name in names)


@pytest.mark.parametrize("name", ["kws_graph", "resnet_graph", "op_add_c", "op_add_crt_syslib"])
def test_tvm(name, analyze, work):
    """The archives of ../shared/tvm: packed functions only, and those that the registry names."""
    if not (SHARED / "tvm").is_dir():
        common.missing(f"{SHARED / 'tvm'} is missing")
    with tarfile.open(SHARED / "tvm" / f"{name}.tar") as tar:
        common.unpack(tar, work)
    sources = sorted((work / "codegen" / "host" / "src").glob("*.c"))
    registries = [s for s in sources if "_tvm_func_registry" in s.read_text()]
    functions = [f for f in signatures(analyze, sources, work)["functions"] if f["name"] != "TVMSystemLibEntryPoint"]
    assert all(f["convention"] == "packed" and f["definition"] for f in functions)
    equal("functions", sorted(f["name"] for f in functions),
          registry_names(registries[0].read_text()) if registries else ["__tvm_main__", "add"])


# --- Hostile sources -----------------------------------------------------------------------------


def hostile_sources():
    rng = random.Random(5)
    good = {name: (CASES / name).read_bytes()
            for name in ("packed.c", "plain.c", "other.c", "language.cpp")}
    yield "empty.c", b""
    yield "zeros.c", bytes(5000)
    yield "parentheses.c", b"int x = " + b"(" * 100000
    yield "brackets.c", b"int x" + b"[" * 100000
    yield "stars.c", b"int " + b"*" * 100000 + b"x;"
    yield "operators.c", b"int f(void) { return " + b"-~" * 200000 + b"1; }"
    yield "device.c", b'#include "/dev/zero"\n'
    yield "itself.c", b'#include "itself.c"\n'
    yield "names.c", b"int " + b"x" * 1000000 + b"(void);"
    yield "line.c", b'#line 2147483647 "\\x1b[31mevil\\n"\nint f(int *a) { return b; }\n'
    yield "section.c", b"__attribute__((__section__(\"\\0\"))) int f(const float *a, short *b);"
    yield "many.c", b"".join(b"int f%d(const float *a, float *b);\n" % i for i in range(20000))
    for i in range(40):
        yield f"random{i}.c", rng.randbytes(rng.randrange(1, 4000))
    for i in range(40):
        name, text = rng.choice(list(good.items()))
        yield f"cut{i}_{name}", text[:rng.randrange(len(text))]
    for i in range(100):
        name, text = rng.choice(list(good.items()))
        changed = bytearray(text)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(len(changed))] = rng.choice(b'(){}[]<>;,*"\'#\\/%&0a \n\0\xff')
        yield f"changed{i}_{name}", bytes(changed)
    # Other words where words are: most of these compile.
    words = [b"int8_t", b"float", b"int32_t", b"const ", b"void", b"", b"volatile ", b"int",
             b"*restrict ", b"_Bool", b"uint64_t", b"[2]", b"static ", b"inline "]
    for i in range(100):
        text = good["other.c"]
        for _ in range(rng.randrange(1, 4)):
            found = rng.choice(list(re.finditer(rb"int8_t|int32_t|const |char|void|long", text)))
            text = text[:found.start()] + rng.choice(words) + text[found.end():]
        yield f"words{i}.c", text


def test_hostile(analyze, work):
    """Damaged, endless and deeply nested sources end in a message."""
    codes = {0: 0, 1: 0}
    for i, (name, content) in enumerate(hostile_sources()):
        (work / name).write_bytes(content)
        run = Run(analyze, "signatures", "--json", name, cwd=work, code=None, timeout=600)
        if run.code not in codes:
            raise Failure(f"{name}: exit code {run.code}\n{run.err[-500:]}")
        codes[run.code] += 1
        messages = run.json()["diagnostics"]
        if (run.code == 1) != any(m["severity"] == "error" for m in messages):
            raise Failure(f"{name}: exit code {run.code} with {messages}")
        if i > 30 and i % 4 != 0:
            continue
        shown = Run(analyze, "signatures", name, cwd=work, code=run.code, timeout=600)
        if re.search(r"[^\n\x20-\U0010ffff]", shown.out + shown.err):
            raise Failure(f"{name}: control characters are shown")
    print(f"{codes[0]} sources were read, {codes[1]} refused")
    if min(codes.values()) < 20:
        raise Failure("too few of one kind")
    if "abort_on_error" in os.environ.get("ASAN_OPTIONS", ""):
        return  # a sanitizer's address space cannot be limited
    (work / "bomb.c").write_text("#define A0 1+1+1+1+1+1+1+1\n" + "".join(
        f"#define A{i + 1} {'+'.join([f'A{i}'] * 10)}\n" for i in range(8)) + "int x = A8;\n")
    run = Run(analyze, "signatures", "bomb.c", cwd=work, code=1)
    if not re.fullmatch(r"bomb\.c: error: Clang (ran out of (memory|time)|crashed) on this source "
                        r"\[operator-source\]\n", run.err):
        raise Failure(f"bomb.c: {run.err}")
    equal("functions of bomb.c", run.out, "")


# --- Messages ------------------------------------------------------------------------------------

MESSAGES = [
    ("int32_t f(const int *a, int *b);\n",
     "a.c:1:1: error: unknown type name 'int32_t' [operator-source]\n"),
    ('\n#include "nowhere.h"\n',
     "a.c:2:10: error: 'nowhere.h' file not found [operator-source]\n"
     "  help: name the directory of the header with -I ('aotc analyze ranges': --operator-include)\n"),
    ("int f(void) { return 1; }\nint f(void) { return 2; }\n",
     "a.c:2:5: error: redefinition of 'f' [operator-source]\n"
     "  note: a.c:1:5: previous definition is here\n"),
    ('#include "bad.h"\n',
     "./bad.h:1:9: error: expected expression [operator-source]\n"
     "  note: a.c:1:10: included here\n"),
]


def test_messages(analyze, work):
    """The text of every error, to the letter."""
    (work / "bad.h").write_text("int x = ;\n")
    for source, wanted in MESSAGES:
        (work / "a.c").write_text(source)
        run = Run(analyze, "signatures", "a.c", cwd=work, code=1)
        equal(f"messages of {source!r}", run.err, wanted)
        equal(f"functions of {source!r}", run.out, "")
    (work / "folder.c").mkdir()
    (work / "a.s").write_text("nop\n")
    for name, wanted in {
            "none.c": "none.c: error: cannot open: No such file or directory [file-read]\n",
            "folder.c": "folder.c: error: the source is not a regular file [file-read]\n",
            "a.s": "a.s: error: the file is neither a C source (.c) nor a C++ source (.cpp, .cc, .cxx) "
                   "[operator-source]\n"}.items():
        equal(name, Run(analyze, "signatures", name, cwd=work, code=1).err, wanted)
    # One refused source does not hide the functions of another.
    (work / "b.c").write_text("int g(const float *a, float *b) { b[0] = a[0]; return 0; }\n")
    run = Run(analyze, "signatures", "none.c", "b.c", cwd=work, code=1)
    equal("b.c", run.out, "b.c:1: g: plain, int g(const float *a, float *b)\n")
    (work / "c.c").write_text("int g(const short *a, float *b);\n")
    run = Run(analyze, "signatures", "c.c", "b.c", cwd=work)
    equal("contradiction", run.err,
          "c.c:1:5: warning: the function is declared as 'int g(const short *a, float *b)' here, but defined as "
          "'int g(const float *a, float *b)' elsewhere [operator-declaration]\n"
          "  note: b.c:1:5: 'g' is defined here\n")
    # -D and -I reach Clang, in each spelling; the user's headers come before the C runtime's.
    (work / "include").mkdir()
    (work / "include" / "mine.h").write_text("typedef short element;\n")
    (work / "d.c").write_text("#include <mine.h>\nint NAME(const element *a, TYPE *b);\n")
    for flags in (["-I", "include", "-D", "NAME=h", "-D", "TYPE=float"],
                  ["-Iinclude", "-DNAME=h", "-DTYPE=float"]):
        run = Run(analyze, "signatures", *flags, "d.c", cwd=work)
        equal("d.c", run.out,
              "d.c:2: h: plain (only declared), int h(const element *a, float *b)\n")
    equal("usage", Run(analyze, "signatures", cwd=work, code=2).out, "")
    run = Run(analyze, "signatures", "b.c", "-o", "no/where", cwd=work, code=1)
    equal("unwritable", run.out, "")
    run = Run("/bin/sh", "-c", '"$0" signatures b.c > /dev/full', analyze, cwd=work, code=1)
    equal("full disk", run.err,
          "standard output: error: cannot write: No space left on device [file-write]\n")


def test_start(analyze, work):
    """A source takes less than three times what it takes Clang."""
    source = CASES / "packed.c"
    # Processor time, against that of Clang itself over the same source in the same run: how fast or
    # busy the machine is says nothing.
    commands = {"aotc-analyze": (analyze, "signatures", source),
                "clang": ("clang-19", "-fsyntax-only", "-I", CRT, source)}
    least = {}
    for _ in range(10):
        for name, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            Run(*command, cwd=work)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            least[name] = min(took, least.get(name, took))
    ratio = least["aotc-analyze"] / least["clang"]
    print(f"a source takes {ratio:.2f} times what clang takes to check its syntax")
    if ratio > 3:
        raise Failure("more than 3 times")


# --- aotc analyze --------------------------------------------------------------------------------


def test_command(analyze, work):
    """`aotc analyze` finds the program, passes arguments, streams and exit codes."""
    aotc = common.AOTC
    source = CASES / "packed.c"
    direct = Run(analyze, "signatures", "--json", source, "-DX=1")
    through = Run(aotc, "analyze", "signatures", "--json", source, "-DX=1")
    equal("standard output", through.out, direct.out)
    equal("exit code of a bad source", Run(aotc, "analyze", "signatures", "none.c", code=1).err,
          "none.c: error: cannot open: No such file or directory [file-read]\n")
    Run(aotc, "analyze", "nonsense", code=2)
    equal("help", Run(aotc, "analyze", "signatures", "--help").out, Run(analyze, "signatures", "--help").out)
    # A lone aotc: not beside it, then in PATH, then by the environment.
    lone = work / "lone"
    lone.mkdir()
    shutil.copy(aotc, lone / "aotc")
    bare = {"PATH": "/usr/bin:/bin", "AOTC_ANALYZE": ""}
    run = Run(lone / "aotc", "analyze", "signatures", source, code=5, env=bare)
    equal("missing", run.err,
          "aotc-analyze: error: aotc-analyze is not installed, but aotc needs it to read C sources [tool-missing]\n"
          "  help: build aotc-analyze with 'ninja aotc-analyze' (needs clang-19, llvm-19-dev, libclang-19-dev and "
          "libclang-cpp19-dev); put it beside aotc or in PATH, or set AOTC_ANALYZE to its path\n")
    path = {**bare, "PATH": f"{pathlib.Path(analyze).parent}:/usr/bin:/bin"}
    equal("in PATH", Run(lone / "aotc", "analyze", "signatures", "--json", source, "-DX=1",
                         env=path).out, direct.out)
    equal("by name", Run(lone / "aotc", "analyze", "signatures", "--json", source, "-DX=1",
                         env={**bare, "AOTC_ANALYZE": str(analyze)}).out, direct.out)
    run = Run(aotc, "analyze", "signatures", source, code=5, env={"AOTC_ANALYZE": "/no/such"})
    equal("wrong name", run.err,
          "/no/such: error: the environment variable AOTC_ANALYZE names this file, which is not an executable "
          "program [tool-missing]\n"
          "  help: set AOTC_ANALYZE to the path of aotc-analyze, or unset it\n")
    libraries = Run("ldd", aotc).out
    if re.search(r"LLVM|clang", libraries):
        raise Failure(f"aotc links LLVM:\n{libraries}")
