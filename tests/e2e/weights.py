#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weights in a file of their own (--constants-file, --constants-for): the code of one model runs with the tables of another
as LiteRT runs that other, damaged and foreign images are refused, and weights that would make other code are.

Usage: weights.py --work DIR [--only NAME] [--optimize=-O3]     all tests
       weights.py cost --work DIR MODEL...     of a run on a Cortex-M4: instructions, tables in the code, loaded, at an address
"""
import argparse
import json
import pathlib
import re

import numpy as np

import c_program
import common
import emitted_cases

DIGITS = common.ROOT / "tests/models/digits/digits_int8.tflite"
SAMPLES = np.load(common.ROOT / "tests/models/digits/test_inputs_int8.npy")[:8]
ADDRESS = 0x20300000  # RAM of the emulated board that nothing else has

MAIN = """
#include <stdio.h>
#include <string.h>
#include "m.h"
{tables}
#ifdef M_CONSTANTS_ADDRESS
#define PLACE ((uint8_t *)(uintptr_t)M_CONSTANTS_ADDRESS)
#else
static uint8_t place[M_CONSTANTS_SIZE + 16] __attribute__((aligned(16)));
#define PLACE place
#endif
static uint8_t arena[M_ARENA_SIZE] __attribute__((aligned(16)));
static int failed = 0;
static void want(int32_t is, int32_t wanted, const char *what, long number)
{{
    if (is != wanted) {{ printf("%s %ld: %ld, not %ld\\n", what, number, (long)is, (long)wanted); ++failed; }}
}}
static int32_t run(const int8_t *in, int8_t *out)
{{
    const struct m_outputs outputs = {{ out }};
    memcpy(m_input_image(arena), in, {inputs});
    return m_run(NULL, &outputs, arena);
}}
static int32_t load(const uint8_t *image) {{ memcpy(PLACE, image, M_CONSTANTS_SIZE); return m_load(PLACE, M_CONSTANTS_SIZE); }}
static void all(const int8_t (*expected)[{outputs}], const char *what)
{{
    for (int i = 0; i < {samples}; ++i) {{
        int8_t out[{outputs}];
        want(run(in[i], out), 0, what, i);
        want(memcmp(out, expected[i], sizeof out), 0, what, i);
    }}
}}
int main(void)
{{
    int8_t out[{outputs}];
    want(run(in[0], out), M_ERROR_CONSTANTS, "run before a load", 0);
    want(load(old_image), 0, "load", 0);
    all(old_out, "old tables");
    want(load(new_image), 0, "load", 1);
    all(new_out, "new tables");
    want(m_load(NULL, M_CONSTANTS_SIZE), M_ERROR_ARGUMENT, "no image", 0);
    want(run(in[0], out), M_ERROR_CONSTANTS, "run without an image", 0);
    memmove(PLACE + 1, PLACE, M_CONSTANTS_SIZE);
    want(m_load(PLACE + 1, M_CONSTANTS_SIZE), M_ERROR_ARGUMENT, "misaligned", 1);
    want(load(new_image), 0, "load", 2);
    want(m_load(PLACE, M_CONSTANTS_SIZE - 1u), M_LOAD_SIZE, "cut off", 1);
    want(m_load(PLACE, 0), M_LOAD_SIZE, "cut off", 2);
    want(run(in[0], out), M_ERROR_CONSTANTS, "run after a refusal", 0);
    for (uint32_t i = 0; i < M_CONSTANTS_SIZE; i += i < 64u ? 1u : {stride}u) {{
        memcpy(PLACE, new_image, M_CONSTANTS_SIZE);
        PLACE[i] ^= 0x10u;
        want(m_load(PLACE, M_CONSTANTS_SIZE), i < 8u ? M_LOAD_FORMAT : i < 20u ? M_LOAD_LAYOUT : M_LOAD_CHECKSUM, "damaged at", (long)i);
    }}
    want(load(foreign_image), M_LOAD_LAYOUT, "of other code", 0);
    want(run(in[0], out), M_ERROR_CONSTANTS, "run after a refusal", 1);
    want(load(old_image), 0, "load", 3);
    all(old_out, "old tables again");
    printf("%d failed\\n", failed);
    return failed != 0;
}}
"""


def replaced(path, tensor, change, target, scales=False):
    """The model with the weights (or the weights' scales) of a tensor changed, as a new file."""
    found = [t for t in common.litert_layers.Layers(path)._interpreter.get_tensor_details() if tensor(t)]
    if len(found) != 1:
        raise common.Failure(f"{len(found)} such tensors in {path}")
    if scales:
        old = found[0]["quantization_parameters"]["scales"]
    else:
        old = common.litert_layers.Layers(path)._interpreter.get_tensor(found[0]["index"])
    data, now = path.read_bytes(), np.array(change(old.copy()), old.dtype)
    if data.count(old.tobytes()) != 1 or now.shape != old.shape:
        raise common.Failure(f"{found[0]['name']} is not in {path} once")
    target.write_bytes(data.replace(old.tobytes(), now.tobytes()))
    return target


def with_shape(*shape):
    return lambda t: tuple(t["shape"]) == shape and t["dtype"] == np.int8


FIRST = with_shape(16, 3, 3, 1)  # the weights of the first convolution


def litert(path):
    interpreter = common.litert_layers.Layers(path)._interpreter
    out = []
    for sample in SAMPLES:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample[None])
        interpreter.invoke()
        out.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0].copy())
    return np.array(out)


def table(name, rows, kind="int8_t"):
    rows = np.asarray(rows)
    text = ",\n".join(("{" + ",".join(map(str, row)) + "}") if rows.ndim > 1 else str(row) for row in rows)
    dims = "".join(f"[{n}]" for n in rows.shape)
    return f"static const {kind} {name}{dims} = {{\n{text}\n}};\n"


def compiled(model, folder, *options):
    common.aotc("compile", model, "--prefix", "m", "--constants-file", "weights.bin", "-o", folder, "-q", *options)
    return folder / "weights.bin"


def bytes_of(path):
    return np.frombuffer(path.read_bytes(), np.uint8)


def program(work, new, options, foreign):
    """The code of digits with main.c; its images."""
    old_image = compiled(DIGITS, work / "old", *options)
    common.aotc("compile", new, "--constants-for", work / "old" / "aotc.json", "-o", work / "new.bin", "-q")
    size = old_image.stat().st_size
    other = compiled(common.ROOT / "tests/models/gadget/gadget_int8.tflite", work / "other", *options)
    strange = np.resize(bytes_of(other), size)
    inputs = SAMPLES.reshape(len(SAMPLES), -1)
    old, now = litert(DIGITS), litert(new)
    if (old == now).all() or (bytes_of(old_image) == bytes_of(work / "new.bin")).all():
        raise common.Failure("the new model is the old one")
    recorded = np.load(common.ROOT / "tests/models/digits/test_outputs_int8.npy")[:len(SAMPLES)]
    if not (recorded == old).all():
        raise common.Failure("LiteRT does not give what is recorded of digits")
    (work / "main.c").write_text(MAIN.format(
        tables=table("in", inputs) + table("old_out", old) + table("new_out", now)
        + table("old_image", bytes_of(old_image), "uint8_t") + table("new_image", bytes_of(work / "new.bin"), "uint8_t")
        + table("foreign_image", strange, "uint8_t"),
        inputs=inputs.shape[1], outputs=old.shape[1], samples=len(SAMPLES), stride=foreign))


def nudged(work):
    """Weights of which some are others, none larger: what is known of the old holds."""
    def change(w):
        flat = w.reshape(-1)
        flat[::7] = -flat[::7] // 2
        return w
    return replaced(DIGITS, FIRST, change, work / "nudged.tflite")


def swap_on_host(work):
    folder = common.fresh(work / "host")
    program(folder, nudged(folder), [], 97)
    for compiler in ("gcc", "clang-19"):
        c_program.check([c_program.build(folder, [folder / "old"], compiler, c_program.SANITIZED)])


def swap_on_m4(work):
    for case, options in (("loaded", []), ("fixed", ["--constants-address", f"0x{ADDRESS:08x}"])):
        folder = common.fresh(work / f"m4_{case}")
        program(folder, nudged(folder), ["--cpu", "cortex-m4f", *options], 997)
        c_program.check(c_program.command_on_m4(folder, [folder / "old"]))


def same_image(work):
    """The old model's own tables come out again; they may be asked for without a name."""
    folder = common.fresh(work / "same")
    old = compiled(DIGITS, folder / "old", "--cpu", "cortex-m4f", "-O", "size")
    common.aotc("compile", DIGITS, "--constants-for", folder / "old" / "aotc.json", "-q", cwd=folder)
    if (folder / "weights.bin").read_bytes() != old.read_bytes():
        raise common.Failure("the tables of the same model are others")


def other_code(work):
    """Weights that break what the code was made for: each is refused, and the message names what it is."""
    folder = common.fresh(work / "other")
    zeroed = replaced(DIGITS, with_shape(24, 128), lambda w: np.where(np.arange(24).reshape(24, 1) == 3, 0, w), folder / "zeroed.tflite")
    conv = with_shape(24, 3, 3, 16)
    steep = replaced(DIGITS, conv, lambda s: s / 16, folder / "steep.tflite", scales=True)
    large = replaced(steep, conv, lambda w: np.where(w >= 0, 127, -127), folder / "large.tflite")
    scaled = replaced(DIGITS, conv, lambda s: np.where(np.arange(24) == 5, s * 1000, s), folder / "scaled.tflite", scales=True)
    for name, old, new, expected in (
            ("dead channel", zeroed, DIGITS, r"0 channels are constant .* 1 before\n.*tensor '.*': channel 3 lives, and was constant"),
            ("range", steep, large, r"op 4 CONV_2D: computed as '.*shift 19', was '.*shift 14'"),
            ("requantisation", DIGITS, scaled, r"op 4 CONV_2D: computed as '.*two roundings', was '.*shift 12'.*channel 5 has the largest scale \(\d+ times the middle one\)")):
        code = folder / name.replace(" ", "_")
        compiled(old, code, "--cpu", "cortex-m4f")
        done = common.aotc("compile", new, "--constants-for", code / "aotc.json", "-o", folder / "refused.bin", expect=None)
        if done.returncode != 1 or "[constants-differ]" not in done.stderr or not re.search(expected, done.stderr) or \
                (folder / "refused.bin").exists():
            raise common.Failure(f"{name}: {done.returncode}\n{done.stdout}{done.stderr}")
        print(f"{name}: {re.search(expected, done.stderr)[0]}")


def drawn(target, seed, extreme=False, most=64):
    """digits with other weights, biases and scales of weights, all of them: drawn, or all as large as they can be."""
    rng = np.random.default_rng(seed)
    path = DIGITS
    for shape in ((16, 3, 3, 1), (1, 3, 3, 16), (16, 1, 1, 16), (24, 3, 3, 16), (32, 3, 3, 24), (24, 128), (10, 24)):
        wanted = with_shape(*shape)
        path = replaced(path, wanted, lambda s: s * (most if extreme else 2 ** rng.uniform(-5, 1, s.shape)), target, scales=True)
        path = replaced(path, wanted, lambda w: np.where(w >= 0, 127, -127) if extreme else rng.integers(-127, 128, w.shape), target)
    for name in ("valid", "wide", "hidden", "logits"):
        path = replaced(path, lambda t: t["name"].startswith(f"digits_1/{name}") and t["dtype"] == np.int32,
                        lambda b: rng.integers(-3000, 3000, b.shape), target)
    return path


def open_code(work):
    """Code that assumes nothing takes weights that break whatever could be assumed, and computes as LiteRT does."""
    options = ["--constants-open", "--cpu", "cortex-m4f"]
    for case, new in (("drawn", lambda f: drawn(f / "new.tflite", 3)), ("extreme", lambda f: drawn(f / "new.tflite", 4, True))):
        folder = common.fresh(work / f"open_{case}")
        program(folder, new(folder), options, 9973)
        c_program.check(c_program.command_on_m4(folder, [folder / "old"]))
    # Other cores have kernels of their own for it.
    # Kernels of MVE shift to the right: scales of a half and more are for other code, and refused (below).
    for target, cpu, most in (("cortex_m55", "cortex-m55", 8), ("rv32imac", "rv32imac", 64)):
        for seed, extreme in ((5, False), (6, True)):
            folder = common.fresh(work / f"open_{target}_{seed}")
            program(folder, drawn(folder / "new.tflite", seed, extreme, most), ["--constants-open", "--cpu", cpu], 9973)
            c_program.check(c_program.command_on(emitted_cases.TARGETS[target], folder, [folder / "old"]))
            print(f"--constants-open on {target}: other weights as LiteRT{', as large as they can be' if extreme else ''}")
    large = drawn(work / "open_cortex_m55_6" / "large.tflite", 6, True)
    done = common.aotc("compile", large, "--constants-for", work / "open_cortex_m55_6" / "old" / "aotc.json", "-o", work / "refused.bin", expect=None)
    if done.returncode != 1 or "[constants-differ]" not in done.stderr or (work / "refused.bin").exists():
        raise common.Failure(f"scales of a half on MVE: {done.returncode} {done.stderr}")
    # One whose channels are dead, which other code would leave out.
    folder = common.fresh(work / "open_dead")
    dead = replaced(DIGITS, with_shape(24, 128), lambda w: w * 0, folder / "new.tflite")
    program(folder, dead, ["--constants-open"], 9973)
    for compiler in ("gcc", "clang-19"):
        c_program.check([c_program.build(folder, [folder / "old"], compiler, c_program.SANITIZED)])
    # What it costs is said.
    said = common.aotc("compile", DIGITS, "--cpu", "cortex-m4f", "--constants-file", "w.bin", "--constants-open", "-o", folder / "price")
    if not re.search(r"--constants-open: \d\.\d times the cycles of code for these weights \([\d,]+ estimated, [\d,]+ without\)", said):
        raise common.Failure(f"no price: {said}")
    # Sizes and options are still those of the old.
    done = common.aotc("compile", common.ROOT / "tests/models/gadget/gadget_int8.tflite", "--constants-for",
                       folder / "old" / "aotc.json", "-o", folder / "refused.bin", expect=None)
    if done.returncode != 1 or "[constants-differ]" not in done.stderr:
        raise common.Failure(done.stderr)


def refused(work):
    folder = common.fresh(work / "refused")
    compiled(DIGITS, folder / "old")
    manifest = folder / "old" / "aotc.json"
    common.aotc("compile", DIGITS, "--prefix", "p", "-o", folder / "plain", "-q")
    (folder / "broken.json").write_text("{")
    (folder / "changed").mkdir()
    for file in (folder / "old").iterdir():
        (folder / "changed" / file.name).write_bytes(file.read_bytes().replace(b"return 0;", b"return 7;"))
    out = folder / "out"
    for arguments, slug in (
            (["--constants-file", "../w.bin"], "option-conflict"), (["--constants-file", "m.c"], "option-conflict"),
            (["--constants-address", "0x1000"], "option-conflict"), (["--constants-open"], "option-conflict"),
            (["--constants-file", "w.bin", "--constants-address", "0x1001"], "option-conflict"),
            (["--constants-file", "w.bin", "--constants-address", "4096"], "option-conflict"),
            (["--constants-file", "w.bin", "--pool", "a:10000"], "option-conflict"),
            (["--constants-file", "w.bin", "--slice", "call"], "option-conflict"),
            (["--constants-file", "w.bin", "--memory", "workspace"], "option-conflict"),
            (["--constants-file", "w.bin", "--calling-convention", "packed"], "option-conflict"),
            (["--constants-file", "w.bin", "--board", "arduino_uno"], "option-conflict"),
            (["--constants-file", "w.bin", "--format", "mlf"], "usage"),
            (["--constants-for", manifest, "-O", "size"], "option-conflict"),
            (["--constants-for", manifest, "--prefix", "q"], "option-conflict"),
            (["--constants-for", folder / "none.json"], "file-read"),
            (["--constants-for", folder / "broken.json"], "constants-for"),
            (["--constants-for", folder / "plain" / "aotc.json"], "constants-for"),
            (["--constants-for", folder / "changed" / "aotc.json"], "constants-for")):
        done = common.aotc("compile", DIGITS, *arguments, "-o", out, expect=None)
        if done.returncode not in (1, 2) or f"[{slug}]" not in done.stderr or out.exists():
            raise common.Failure(f"{arguments}: {done.returncode} {done.stderr}")
    state = common.ROOT / "tests/models/state/stream_conv_int8.tflite"
    if "[option-conflict]" not in common.aotc("compile", state, "--constants-file", "w.bin", "-o", out, expect=None).stderr:
        raise common.Failure("a model with state is taken")


COST = """
#include <stdio.h>
#include "m.h"
#ifdef M_CONSTANTS_SIZE
{image}
#endif
#define REGISTER(at) (*(volatile uint32_t *)(at))
static uint8_t arena[M_ARENA_SIZE] __attribute__((aligned(16)));
#define X(field, type, elements, scale, zero) static type out_##field[elements];
M_FOR_EACH_OUTPUT(X)
#undef X
int main(void)
{{
    struct m_outputs outputs;
    int32_t status = 0;
#define X(field, type, elements, scale, zero) outputs.field = out_##field;
    M_FOR_EACH_OUTPUT(X)
#undef X
    REGISTER(0xE000E014) = 0xFFFFFF; /* SysTick counts 25 MHz: 40 instructions with -icount shift=0 */
    REGISTER(0xE000E018) = 0;
    REGISTER(0xE000E010) = 5;
    uint32_t loading = REGISTER(0xE000E018);
#ifdef M_CONSTANTS_ADDRESS
    __builtin_memcpy((void *)M_CONSTANTS_ADDRESS, image, sizeof image);
    loading = REGISTER(0xE000E018);
    status |= m_load((const void *)M_CONSTANTS_ADDRESS, sizeof image);
#elif defined(M_CONSTANTS_SIZE)
    status |= m_load(image, sizeof image);
#endif
    const uint32_t from = REGISTER(0xE000E018);
    for (int i = 0; i < 5; ++i) {{ status |= m_run(NULL, &outputs, arena); }}
    const uint32_t to = REGISTER(0xE000E018);
    printf("status %ld run %lu load %lu\\n", (long)status, (unsigned long)((from - to) & 0xFFFFFFu) * 8u, (unsigned long)((loading - from) & 0xFFFFFFu) * 40u);
    return status != 0;
}}
"""


def cost_of(model, folder, options):
    """Instructions of a run, to 8, and of a load, to 40."""
    common.aotc("compile", model, "--prefix", "m", "--cpu", "cortex-m4f", "-o", folder / "old", "-q", *options)
    weights = folder / "old" / "weights.bin"
    image = ("__attribute__((aligned(16)))\n" + table("image", bytes_of(weights), "uint8_t")) if weights.exists() else ""
    (folder / "main.c").write_text(COST.format(image=image))
    said = common.run_program([*c_program.command_on_m4(folder, [folder / "old"]), "-icount", "shift=0"])
    status, run, load = map(int, re.search(r"status (\S+) run (\d+) load (\d+)", said).groups())
    if status != 0:
        raise common.Failure(said)
    return run, load


def print_costs(models, work):
    print(f"{'instructions':16}{'in the code':>14}{'loaded':>14}{'at an address':>16}{'a load':>12}{'for any weights':>18}")
    for name in models:
        plain, loaded, fixed, open_for_any = (cost_of(common.model_path(name), common.fresh(work / f"{name}_{i}"), options) for i, options in enumerate((
            [], ["--constants-file", "weights.bin"], ["--constants-file", "weights.bin", "--constants-address", f"0x{ADDRESS:08x}"], ["--constants-file", "weights.bin", "--constants-open"])))
        print(f"{name:16}{plain[0]:14,}{loaded[0]:14,}{fixed[0]:16,}{loaded[1]:12,}{open_for_any[0]:18,}")
        for run in (loaded[0], fixed[0]):
            if run > plain[0] * 1.001 + 500:
                raise common.Failure(f"{name}: {run} instructions, {plain[0]} with the tables in the code")


def cost(work):
    """A run costs nothing more, but for a look whether there are tables and their address."""
    print_costs(["digits_int8"], work)


def test():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["cost"])
    parser.add_argument("models", nargs="*", default=[])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    c_program.add_options(parser)
    options = parser.parse_intermixed_args()
    work = common.fresh(options.work.resolve())
    c_program.SANITIZED.append(options.optimize)
    if options.what:
        return print_costs(options.models, work)
    return common.run_tests([swap_on_host, swap_on_m4, same_image, other_code, open_code, refused, cost], options.only, work)


if __name__ == "__main__":
    common.main_of(test)
