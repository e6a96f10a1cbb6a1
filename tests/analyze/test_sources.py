# SPDX-License-Identifier: Apache-2.0
"""`aotc analyze compile` and `aotc analyze ranges`: C by Clang in process, without a toolchain.

compile: without a compiler in PATH for each family of CPUs; constants equal what aotc says; code beside what
gcc makes where it is installed: within a factor of 2 at -O2, of 1.4 at -Os; frames, assembly and warnings of sources with known answers.
ranges: every planted mistake is found at its line, and nothing else, also in an operator of --operators; the C of models of
the repository has no findings.
"""
import json
import os
import pathlib
import shutil
import subprocess

import common
import pytest
from tflite_builder import ModelBuilder

HERE = pathlib.Path(__file__).resolve().parent
MODELS = common.ROOT / "tests" / "models"
DIGITS = MODELS / "digits" / "digits_int8.tflite"

# CPU, and gcc's command.
CPUS = {
    "cortex-m0": ["arm-none-eabi-gcc", "-mcpu=cortex-m0", "-mthumb"],
    "cortex-m4f": ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
    "cortex-m55f": ["arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"],
    "rv32imac": ["riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2", "-mcmodel=medany",
                 "--specs=picolibc.specs"],
    "atmega2560": ["avr-gcc", "-mmcu=atmega2560"],
}
KNOWN = """\
#include <math.h>
#include <string.h>
void take(char *);
int frame_of_300(int n) { char room[300]; memset(room, n, sizeof room); take(room); return room[n]; }
int outer(int n) { int unused = n; return frame_of_300(n) + 1; }
int pushes(int n) { __asm volatile("push {r4, r5}\\n pop {r4, r5}"); return n; }
float root(float x) { return sqrtf(x); }
int circle_b(int n);
__attribute__((noinline)) int circle_a(int n) { return n < 0 ? 0 : circle_b(n - 1) + 1; }
__attribute__((noinline)) int circle_b(int n) { return n < 1 ? 0 : circle_a(n - 2) * 3; }
"""
ARM = ["--flag=--target=arm-none-eabi", "--flag=-mcpu=cortex-m4", "--flag=-mthumb"]


class TestSources:
    """Each check is a subtest."""

    @pytest.fixture(autouse=True)
    def set_up(self, build_folder, tmp_path, subtests):
        self.analyze, self.work, self.subtests = build_folder / "compiler" / "aotc-analyze", tmp_path, subtests
        self.bare = {**os.environ, "PATH": "/nonexistent", "AOTC_ANALYZE": str(self.analyze)}

    def check(self, good, what):
        with self.subtests.test():
            assert good, what

    def run(self, *command, code=0):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=self.bare)
        self.check(done.returncode == code, f"exit code {done.returncode}, not {code}: {' '.join(map(str, command))}\n{done.stderr[-800:]}")
        return done

    def json(self, *command, code=0):
        return json.loads(self.run(*command, "--json", code=code).stdout)

    def gcc_code(self, level, command, folder):
        """Bytes of code by gcc; nothing without it."""
        if not shutil.which(command[0]):
            return None
        target = folder / "gcc.o"
        subprocess.run([*command, level, "-ffunction-sections", "-ffp-contract=off", "-std=gnu11", "-c",
                        str(folder / "digits_int8.c"), "-o", str(target)], check=True, capture_output=True)
        size = command[0].replace("gcc", "size")
        sections = subprocess.run([size, "-A", str(target)], check=True, capture_output=True, text=True).stdout
        return sum(int(line.split()[1]) for line in sections.splitlines() if line.startswith(".text"))

    @pytest.mark.parametrize("cpu", CPUS)
    def test_code_of_models(self, cpu):
        command = CPUS[cpu]
        found = self.json(common.AOTC, "analyze", "compile", DIGITS, "--cpu", cpu)
        folder = self.work / cpu
        summary = self.json(common.AOTC, "compile", DIGITS, "--cpu", cpu, "-o", folder, "-q")
        self.check(found["constants"] == summary["constants_bytes"],
                   f"{cpu}: constants {found['constants']}, aotc says {summary['constants_bytes']}")
        self.check(found["messages"] == [], f"{cpu}: warnings {found['messages']}")
        self.check(found["code"] == sum(f["bytes"] for f in found["functions"]), f"{cpu}: functions add up to the code")
        layers = {layer for f in found["functions"] for layer in f.get("layers", [])}
        self.check(len(layers) == 11, f"{cpu}: {len(layers)} layers have code, not 11")
        has_stack = cpu != "atmega2560"
        self.check(("stack" in found) == has_stack, f"{cpu}: stack")
        small = self.json(common.AOTC, "analyze", "compile", DIGITS, "--cpu", cpu, "--flag=-Os")
        for level, code, most in (("-O2", found["code"], 2), ("-Os", small["code"], 1.4)):
            gcc = self.gcc_code(level, command, folder)
            if gcc is None:
                with self.subtests.test():
                    pytest.skip(f"{command[0]} is not installed")
                continue
            print(f"{cpu} {level}: Clang {code:,} bytes, gcc {gcc:,}, ratio {code / gcc:.2f}")
            self.check(1 / most < code / gcc < most, f"{cpu}: {code} bytes by Clang, {gcc} by gcc at {level}")

    def test_cpus_that_clang_lacks(self):
        refused = self.run(common.AOTC, "analyze", "compile", DIGITS, "--cpu", "xtensa-lx6", code=1)
        self.check("[clang-cpu]" in refused.stderr, refused.stderr)
        refused = self.run(common.AOTC, "analyze", "compile", DIGITS, code=1)
        self.check("[clang-cpu]" in refused.stderr, refused.stderr)
        text = self.run(common.AOTC, "analyze", "compile", DIGITS, "--board", "qemu_microbit", "--flag=-Os").stdout
        self.check("for thumbv6m-unknown-none-eabi:" in text and "warnings: 0" in text, text[:300])

    def test_known_answers(self):
        source = self.work / "known.c"
        source.write_text(KNOWN)
        found = self.json(self.analyze, "compile", source, *ARM, "--root", "outer")
        functions = {f["name"]: f for f in found["functions"]}
        frame = functions["frame_of_300"]["stack"]
        self.check(frame is not None and 300 <= frame <= 332, f"frame_of_300 takes {frame}")
        self.check(functions["pushes"]["assembly"] and functions["pushes"]["stack"] is None, "a frame of assembly is not known")
        self.check(functions["root"]["stack"] == 0 or functions["root"]["stack"] == 8, "a leaf, or a call of sqrtf")
        stack = found["stack"]
        self.check(stack["bytes"] >= frame and "take" in stack["elsewhere"], f"chain {stack}")
        warnings = [(m["slug"], m["line"]) for m in found["messages"]]
        self.check(warnings == [("-Wunused-variable", 5)], f"warnings {warnings}")
        self.run(self.analyze, "compile", source, *ARM, "--strict", code=3)
        circle = self.json(self.analyze, "compile", source, *ARM, "--root", "circle_a", "--flag=-fno-inline",
                           "--flag=-fno-optimize-sibling-calls")
        self.check(circle["stack"]["recursion"], f"a circle is seen: {circle['stack']}")
        source.write_text("int f(void) { return undeclared; }\n")
        bad = self.run(self.analyze, "compile", source, *ARM, code=1)
        self.check("known.c:1:22: error: use of undeclared identifier 'undeclared'" in bad.stderr, bad.stderr)
        self.run(self.analyze, "compile", self.work / "none.c", *ARM, code=1)
        bad = self.run(self.analyze, "compile", source, "--flag=--target=nonsense", code=1)
        self.check("error:" in bad.stderr, bad.stderr)

    def test_planted(self):
        source = HERE / "ranges" / "planted.c"
        wanted = [n for n, line in enumerate(source.read_text().splitlines(), 1) if "planted:" in line]
        found = self.json(common.AOTC, "analyze", "ranges", source, code=3)
        lines = {m["line"] for m in found["messages"] if m["severity"] == "warning"}
        for line in wanted:
            self.check(line in lines, f"planted.c:{line} is not found")
        # Where the compiler itself sees a value that is never written, it says the line of the condition.
        self.check(lines - set(wanted) <= {36}, f"planted.c: lines {lines - set(wanted)} are found, too")
        for cpu in ([], ["--cpu", "cortex-m0"], ["--cpu", "rv32imac"]):
            sound = self.json(common.AOTC, "analyze", "ranges", HERE / "ranges" / "sound.c", *cpu)
            self.check(sound["findings"] == 0 and not sound["messages"], f"sound.c {cpu}: {sound}")

    def test_operators(self):
        b = ModelBuilder()
        x = b.tensor("x", "int8", (1, 6), 0.5, 0)
        half = b.tensor("half", "int8", (1, 6), 0.5, 0)
        b.custom("Halve", [x], [half], {"by": 2})
        model = self.work / "halve.tflite"
        model.write_bytes(b.finish([x], [half]))
        for name in ("halve.c", "halve.json"):
            shutil.copy(HERE / "ranges" / name, self.work / name)
        source = self.work / "halve.c"
        found = self.json(common.AOTC, "analyze", "ranges", model, "--operators", source, code=3)
        places = [(m["file"], m["line"], m["slug"]) for m in found["messages"] if m["severity"] == "warning"]
        self.check(places == [(str(source), 8, "core.DivideZero")], f"an operator's mistake: {places}")
        compiled = self.json(common.AOTC, "analyze", "compile", model, "--operators", source, "--cpu", "cortex-m0")
        self.check("halve" in {f["name"] for f in compiled["functions"]}, "the operator's code is counted")

    @pytest.mark.parametrize("model", ["digits/digits_int8.tflite", "digits/digits_f32.tflite", "gadget/gadget_f32.tflite",
                                       "sklearn/svc.onnx", "torch/lstm_script.onnx"])
    def test_ranges_of_models(self, model):
        found = self.json(common.AOTC, "analyze", "ranges", MODELS / model, "--cpu", "cortex-m0", code=0)
        self.check(found["findings"] == 0, found["messages"])
