# SPDX-License-Identifier: Apache-2.0
"""A random forest as C by aotc and by others: what scripts/compare-forests runs.

Usage: forests.py WORK_DIR [ONLY]    forms whose names hold ONLY

Each form is compiled with -O2 for a Cortex-M4 with its FPU. Bytes are those of its own objects (code and constants);
instructions are counted around 200 samples by a timer of the emulator, whose time they are; labels other than
scikit-learn's are counted.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
E2E = ROOT / "tests" / "e2e"
CC = "arm-none-eabi-gcc"
FLAGS = ["-std=gnu11", "-O2", "-w", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard",
         "-mfpu=fpv4-sp-d16"]
FEATURES, CLASSES, SAMPLES, TICK = 16, 4, 200, 40  # instructions in a tick of 25 MHz

MAIN = """#include <stdint.h>
#include <stdio.h>
#include "form.h"
static const {type} samples[{samples}][{features}] = {{{data}}};
static int labels[{samples}];
int main(void) {{
    volatile uint32_t *const timer = (volatile uint32_t *)0xE000E010u;  /* control, reload, value */
    uint64_t ticks = 0;
    int i;
    timer[1] = 0xFFFFFF;
    timer[2] = 0;
    timer[0] = 5;
    for (i = 0; i < {samples}; ++i) {{
        uint32_t before = timer[2];
        labels[i] = label_of(samples[i]);
        ticks += (before - timer[2]) & 0xFFFFFF;
    }}
    printf("%lu\\n", (unsigned long)ticks);
    for (i = 0; i < {samples}; ++i) printf("%d ", labels[i]);
    return 0;
}}
"""
LARGEST = """static inline int largest(const {type} *p) {{
    int i, best = 0;
    for (i = 1; i < {classes}; ++i) best = p[i] > p[best] ? i : best;
    return best;
}}
"""


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, timeout=300, **options).stdout


def aotc_form(model, work, level="balanced"):
    from skl2onnx import to_onnx
    onnx = to_onnx(model, np.zeros((1, FEATURES), np.float32), options={id(model): {"zipmap": False}})
    (work / "forest.onnx").write_bytes(onnx.SerializeToString())
    program = os.environ.get("AOTC", ROOT / "build" / "release" / "compiler" / "aotc")
    run(program, "compile", work / "forest.onnx", "--cpu", "cortex-m4f", "-O", level, "--prefix", "f", "-o", work / "out")
    outputs = re.findall(r"X\((\w+), (\w+), (\d+)", (work / "out" / "f.h").read_text().split("FOR_EACH_OUTPUT(X)")[1].split("\n\n")[0])
    fields = "".join(f"static {kind} out_{name}[{size}]; " for name, kind, size in outputs)
    sets = "".join(f"outputs.{name} = out_{name}; " for name, _, _ in outputs)
    (work / "form.h").write_text(f"""#include <string.h>
#include "out/f.h"
static _Alignas(16) unsigned char arena[F_ARENA_SIZE];
static int label_of(const float *x) {{
    struct f_outputs outputs;
    {fields}{sets}
    F_FOR_EACH_INPUT(COPY)
    return f_run(0, &outputs, arena) != 0 ? -1 : (int)out_{outputs[0][0]}[0];
}}
""".replace("F_FOR_EACH_INPUT(COPY)", "memcpy(f_input_x(arena), x, F_INPUT_X_BYTES);"
            if "f_input_x(" in (work / "out" / "f.h").read_text() else "memcpy(f_input_X(arena), x, F_INPUT_X_BYTES);"))
    return [work / "out" / "f.c", work / "out" / "f_data.c"], []


def m2cgen_form(model, work, kind):
    import m2cgen
    sys.setrecursionlimit(10000)
    text = m2cgen.export_to_c(model)
    if kind == "float":  # thresholds and weights of float32
        text = re.sub(r"(?<![\w.])(\d+\.\d+(e-?\d+)?)", r"\1f", text.replace("double", "float"))
    (work / "form.c").write_text(text)
    (work / "form.h").write_text(f"void score({kind} *input, {kind} *output);\n" + LARGEST.format(type=kind, classes=CLASSES) + f"""
static int label_of(const {kind} *x) {{
    static {kind} out[{CLASSES}];
    score(({kind} *)x, out);
    return largest(out);
}}
""")
    return [work / "form.c"], []


def emlearn_form(model, work, kind, method):
    import emlearn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if (kind, method) == ("float", "loadable"):  # which it refuses: its header has int16_t
            text = emlearn.convert(model, dtype=kind, method="inline").save(name="f", format="c", inference=[method])
            header = (pathlib.Path(emlearn.__file__).parent / "eml_trees.h").read_text()
            (work / "eml_trees.h").write_text(re.sub(r"int16_t (value|point|\*features)", r"float \1", header))
        else:
            text = emlearn.convert(model, dtype=kind, method=method).save(name="f", format="c")
    (work / "form.c").write_text("#include <string.h>\n" + text)
    (work / "form.h").write_text(f"#include <stdint.h>\nint32_t f_predict(const {kind} *features, int32_t count);\n"
                                 f"static int label_of(const {kind} *x) {{ return f_predict(x, {FEATURES}); }}\n")
    return [work / "form.c"], [f"-I{work}", f"-I{pathlib.Path(emlearn.__file__).parent}"]


def measure(name, sources, flags, work, samples, want):
    kind = {"float32": "float", "float64": "double", "int16": "int16_t"}[samples.dtype.name]
    number = (lambda v: str(int(v))) if kind == "int16_t" else (lambda v: repr(float(v)))  # noqa: E731
    data = ",".join("{" + ",".join(map(number, row)) + "}" for row in samples)
    (work / "main.c").write_text(MAIN.format(type=kind, samples=SAMPLES, features=FEATURES, data=data))
    objects = []
    for source in sources:
        objects.append(source.with_suffix(".o"))
        run(CC, *FLAGS, *flags, "-c", source, "-o", objects[-1])
    linked = work / "program"
    run(CC, *FLAGS, work / "main.c", E2E / "cortex_m4_start.c", *objects, "--specs=rdimon.specs",
        "-T", E2E / "cortex_m4.ld", "-o", linked, "-lm", f"-I{work}")
    size = sum(int(line.split()[0]) + int(line.split()[1]) for line in run("arm-none-eabi-size", *objects).splitlines()[1:])
    out = run("qemu-system-arm", "-M", "mps2-an386", "-icount", "shift=0", "-display", "none", "-monitor", "none", "-serial",
              "none", "-semihosting-config", "enable=on,target=native,chardev=out", "-chardev", "stdio,id=out", "-kernel", linked)
    ticks, labels = out.split("\n", 1)
    wrong = int(np.count_nonzero(np.array(labels.split(), int) != want))
    print(f"| {name} | {size:,} | {int(ticks) * TICK // SAMPLES:,} | {wrong} of {SAMPLES} |", flush=True)


def main():
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    if not 2 <= len(sys.argv) <= 3 or sys.argv[1].startswith("-"):
        help_asked = sys.argv[1:] in (["-h"], ["--help"])
        print(__doc__, file=sys.stdout if help_asked else sys.stderr)
        sys.exit(0 if help_asked else 2)
    from sklearn import datasets, ensemble
    work = pathlib.Path(sys.argv[1]).resolve()
    x, y = datasets.make_classification(2000 + SAMPLES, FEATURES, n_informative=10, n_classes=CLASSES, random_state=3)
    x = x.astype(np.float32)
    train, test = (x[:2000], y[:2000]), x[2000:]

    def forest(scale):
        return ensemble.RandomForestClassifier(100, max_depth=8, random_state=1).fit(train[0] * scale, train[1])

    model, scale = forest(1), np.float32(32767 / np.abs(x).max())
    scaled, whole = forest(scale), np.rint(test * scale).astype(np.int16)
    want = model.predict(test)
    print(f"{sum(t.tree_.node_count for t in model.estimators_):,} nodes")
    print("| form | bytes | instructions | other labels |\n|-|-:|-:|-:|")
    for name, make, samples in (
            ("aotc", lambda folder: aotc_form(model, folder), test),
            ("aotc, `-O size`", lambda folder: aotc_form(model, folder, "size"), test),
            ("aotc, `-O speed`", lambda folder: aotc_form(model, folder, "speed"), test),
            ("m2cgen, `double`", lambda folder: m2cgen_form(model, folder, "double"), test.astype(np.float64)),
            ("m2cgen, `float` put for `double`", lambda folder: m2cgen_form(model, folder, "float"), test),
            ("emlearn, float32 (code)", lambda folder: emlearn_form(model, folder, "float", "inline"), test),
            ("emlearn, `float` put for `int16_t` (table)", lambda folder: emlearn_form(model, folder, "float", "loadable"), test),
            ("emlearn, int16 (table)", lambda folder: emlearn_form(scaled, folder, "int16_t", "loadable"), whole),
            ("emlearn, int16 (code)", lambda folder: emlearn_form(scaled, folder, "int16_t", "inline"), whole)):
        if only not in name:
            continue
        folder = work / re.sub(r"\W+", "_", name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        sources, flags = make(folder)
        measure(name, sources, flags, folder, samples, want)


if __name__ == "__main__":
    main()
