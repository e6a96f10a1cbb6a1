#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that scikit-learn trained (tests/models/sklearn, made by scripts/make-sklearn-models), as C beside onnxruntime.

Usage: classical.py --work DIR [--only TEXT] [--target host|cortex_m4]

Each model runs on 1,000 samples (100 on the emulated board). Labels must be equal; scores may differ by 1e-5 of
themselves, or by 1e-6 of the largest of the model. Half of the samples of trees lie on thresholds, or on the floats
beside them; some features of theirs are not a number, or infinite. Linear support vectors are one product in the C, and
sums of large numbers in onnxruntime: where its own scores are farther than that from the model's in float64, these count.
Without onnxruntime it is skipped; with CI=true it
fails.
"""
import argparse
import os
import pathlib
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import onnx_programs  # noqa: E402
import verdicts  # noqa: E402

MODELS = HERE.parent / "models" / "sklearn"
SAMPLES = {"host": 1000, "cortex_m4": 100}

# What is read is one sample after the other, what is written its status and outputs.
MODEL = """
#include "{p}/{p}.h"
#define {U}_IN(field, type, elements, scale, zero) \\
    if (!take({p}_input_##field(arena), (elements) * sizeof(type))) return 0;
#define {U}_OUT(field, type, elements, scale, zero) static type {p}_##field[elements]; outputs.field = {p}_##field;
#define {U}_PUT(field, type, elements, scale, zero) put({p}_##field, (elements) * sizeof(type));
static int run_{p}(void) {{
    static _Alignas(16) unsigned char arena[{U}_ARENA_SIZE];
    struct {p}_outputs outputs;
    int32_t status;
    memset(arena, 0xA5, sizeof arena);
    {U}_FOR_EACH_INPUT({U}_IN)
    {U}_FOR_EACH_OUTPUT({U}_OUT)
    status = {p}_run(0, &outputs, arena);
    put(&status, sizeof status);
    {U}_FOR_EACH_OUTPUT({U}_PUT)
    return 1;
}}
"""

PROGRAM = """#include <stdint.h>
#include <stdio.h>
#include <string.h>
static const unsigned char samples[] = {{{samples}}};
static size_t taken;
static int take(void *to, size_t bytes) {{
    if ({embedded} == 0) return fread(to, 1, bytes, stdin) == bytes;
    if (taken + bytes > {embedded}) return 0;
    memcpy(to, samples + taken, bytes);
    taken += bytes;
    return 1;
}}
static void put(const void *data, size_t bytes) {{ fwrite(data, 1, bytes, stdout); }}
{models}
static int (*const runs[])(void) = {{{runs}}};
int main(int argc, char **argv) {{
    size_t which = 0;
    if (argc > 1) sscanf(argv[1], "%zu", &which);
    while (runs[which]()) {{}}
    fflush(stdout);
    return 0;
}}
"""


def thresholds_of(model, features):
    """By feature; nothing for what is no tree."""
    from onnx import helper
    out = [[] for _ in range(features)]
    for node in model.graph.node:
        if node.op_type.startswith("TreeEnsemble"):
            of = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            for feature, value, mode in zip(of["nodes_featureids"], of["nodes_values"], of["nodes_modes"]):
                if mode != b"LEAF":
                    out[feature].append(value)
    return out


def samples_of(name, model, count):
    rng = np.random.default_rng(11)
    features = model.graph.input[0].type.tensor_type.shape.dim[1].dim_value
    if name.startswith("one_hot"):
        return rng.integers(0, 5, (count, features)).astype(np.float32)
    x = (rng.standard_normal((count, features)) * 1.7).astype(np.float32)
    for feature, values in enumerate(thresholds_of(model, features)):
        if not values:
            continue
        chosen = rng.choice(np.array(values, np.float32), count // 2)
        x[::2, feature] = np.nextafter(chosen, chosen + rng.choice([-1, 0, 1], len(chosen)).astype(np.float32))
        for i, odd in enumerate((np.nan, np.inf, -np.inf, -0.0)):
            x[2 * feature + 20 * i + 1, feature] = odd
    return x


def expected(path, x):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    # One by one, as the C does.
    name = session.get_inputs()[0].name
    rows = [session.run(None, {name: x[i:i + 1]}) for i in range(len(x))]
    return [np.concatenate([as_table(row[o]) for row in rows]) for o in range(len(rows[0]))]


def as_table(result):
    """A row; ZipMap gives a list of dictionaries, whose order is that of the classes."""
    if isinstance(result, list) and isinstance(result[0], dict):
        result = np.array([list(scores.values()) for scores in result], np.float32)
    return np.asarray(result).reshape(1, -1)


def without_its_rounding(model, x, want):
    """Scores of linear support vectors of two classes as float64 has them, where onnxruntime's are far from these."""
    from onnx import helper
    node = next((n for n in model.graph.node if n.op_type == "SVMClassifier"), None)
    of = {a.name: helper.get_attribute_value(a) for a in node.attribute} if node is not None else {}
    if of.get("kernel_type") != b"LINEAR" or len(of["rho"]) != 1:
        return want
    weights = np.array(of["coefficients"]) @ np.array(of["support_vectors"]).reshape(-1, x.shape[1])
    score = x.astype(np.float64) @ weights + of["rho"][0]
    exact = np.stack([-score, score], 1).astype(np.float32)
    near = np.isclose(want[1], exact, rtol=1e-5, atol=1e-6 * np.abs(exact).max())
    return [want[0], np.where(near, want[1], exact)]


def build(names, work, target, samples):
    for name in names:
        common.aotc("compile", MODELS / f"{name}.onnx", "--prefix", name, "-o", work / name, "--force",
                    *(() if target == "host" else ("--cpu", "cortex-m4f")))
    text = PROGRAM.format(samples=",".join(map(str, samples)) or "0", embedded=len(samples),
                          models="".join(MODEL.format(p=n, U=n.upper()) for n in names),
                          runs=", ".join(f"run_{n}" for n in names))
    (work / "program.c").write_text(text)
    (work / "models.c").write_text("".join(f'#include "{n}/{f}.c"\n' for n in names for f in (n, f"{n}_data")
                                           if (work / n / f"{f}.c").exists()))
    sources, program = [work / "program.c", work / "models.c"], work / "program"
    flags = ["-std=c11", "-O1", "-w", "-ffp-contract=off", f"-I{work}", *sources, "-o", program]
    if target == "host":
        onnx_programs.compile_program(["gcc", *flags, "-lm"])
        return [program]
    e2e = ROOT / "tests" / "e2e"
    onnx_programs.compile_program(
        ["arm-none-eabi-gcc", *flags, e2e / "cortex_m4_start.c", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard",
         "-mfpu=fpv4-sp-d16", "--specs=rdimon.specs", "-T", e2e / "cortex_m4.ld", "-lm"])
    return ["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor", "none", "-serial", "none",
            "-semihosting-config", "enable=on,target=native,chardev=out", "-chardev", "stdio,id=out", "-kernel", program]


def printed_by(command, data, file):
    """What a program prints that exits with 0."""
    def work():
        done = subprocess.run([str(word) for word in command], input=data, capture_output=True, timeout=300, check=False)
        if done.returncode != 0:
            raise common.Failure(f"exit code {done.returncode}: {done.stderr[-2000:]!r}")
        file.write_bytes(done.stdout)
        return ""
    verdicts.run_program(command, work, writes=[file], more=[data])
    return file.read_bytes()


def difference(raw, want):
    """What is wrong, or ''."""
    size = 4 + sum(w[0].nbytes for w in want)
    if len(raw) != size * len(want[0]):
        return f"{len(raw)} bytes came, not {size * len(want[0])}"
    rows = np.frombuffer(raw, np.uint8).reshape(len(want[0]), size)
    if rows[:, :4].any():
        return "a status that is not 0"
    at = 4
    for number, w in enumerate(want):
        got = np.ascontiguousarray(rows[:, at:at + w[0].nbytes]).view(w.dtype)
        at += w[0].nbytes
        if w.dtype.kind != "f":
            if (got != w).any():
                return f"output {number}: {(got != w).any(axis=1).sum()} of {len(w)} samples have another label"
            continue
        most = 1e-6 * np.abs(w[np.isfinite(w)]).max(initial=0)
        far = ~np.isclose(got, w, rtol=1e-5, atol=most, equal_nan=True)
        if far.any():
            i = np.argwhere(far)[0]
            return f"output {number}: {far.any(axis=1).sum()} samples differ, the first {i}: {got[tuple(i)]!r} not {w[tuple(i)]!r}"
    return ""


def labels_as_places(want):
    """Labels that are strings are places in the sorted list of names."""
    return [np.searchsorted(np.unique(w), w).astype(np.int64) if w.dtype.kind in "OU" else w for w in want]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--target", choices=tuple(SAMPLES), default="host")
    arguments = parser.parse_args()
    onnx, _ = common.need_modules("onnx", "onnxruntime")
    names = sorted(p.stem for p in MODELS.glob("*.onnx") if arguments.only in p.stem)
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    models = {n: onnx.load(MODELS / f"{n}.onnx") for n in names}
    given = {n: samples_of(n, model, SAMPLES[arguments.target]) for n, model in models.items()}
    host = arguments.target == "host"
    if host:
        command = build(names, work, "host", b"")
    failed = 0
    for index, name in enumerate(names):
        data = given[name].tobytes()
        if not host:
            (work / name).mkdir(exist_ok=True)
            command = build([name], work / name, arguments.target, data)
        printed = printed_by([*command, str(index)] if host else command, data if host else b"", work / f"{name}.printed")
        want = expected(MODELS / f"{name}.onnx", given[name])
        want = without_its_rounding(models[name], given[name], want)
        wrong = difference(printed, labels_as_places(want))
        failed += wrong != ""
        print(f"{name}: {wrong or 'passed'}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed, {SAMPLES[arguments.target]} samples each")
    sys.exit(1 if failed or not names else 0)


if __name__ == "__main__":
    common.main_of(main)
