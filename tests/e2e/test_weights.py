# SPDX-License-Identifier: Apache-2.0
"""Weights in a file of their own (--constants-file, --constants-for): the code of one model runs with the tables of another
as LiteRT runs that other, damaged and foreign images are refused, and weights that would make other code are."""
import re

import c_program
import common
import emitted_cases
import numpy as np
import pytest
from weights import ADDRESS, bytes_of, print_costs, table

DIGITS = common.ROOT / "tests/models/digits/digits_int8.tflite"
SAMPLES = np.load(common.ROOT / "tests/models/digits/test_inputs_int8.npy")[:8]

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


def compiled(model, folder, *options):
    common.aotc("compile", model, "--prefix", "m", "--constants-file", "weights.bin", "-o", folder, "-q", *options)
    return folder / "weights.bin"


def program(work, new, options, foreign):
    """The code of digits with main.c; its images."""
    old_image = compiled(DIGITS, work / "old", *options)
    common.aotc("compile", new, "--constants-for", work / "old" / "aotc.json", "-o", work / "new.bin", "-q")
    size = old_image.stat().st_size
    other = compiled(common.ROOT / "tests/models/gadget/gadget_int8.tflite", work / "other", *options)
    strange = np.resize(bytes_of(other), size)
    inputs = SAMPLES.reshape(len(SAMPLES), -1)
    old, now = litert(DIGITS), litert(new)
    assert (old != now).any() and (bytes_of(old_image) != bytes_of(work / "new.bin")).any(), "the new model is the old one"
    recorded = np.load(common.ROOT / "tests/models/digits/test_outputs_int8.npy")[:len(SAMPLES)]
    assert (recorded == old).all(), "LiteRT does not give what is recorded of digits"
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


@pytest.mark.parametrize("compiler", ("gcc", "clang-19"))
def test_swap_on_host(compiler, tmp_path):
    program(tmp_path, nudged(tmp_path), [], 97)
    runs_on_host(tmp_path, compiler)


def runs_on_host(folder, compiler):
    c_program.check([c_program.build(folder, [folder / "old"], compiler, c_program.SANITIZED)])


@pytest.mark.parametrize("options", ([], ["--constants-address", f"0x{ADDRESS:08x}"]), ids=("loaded", "fixed"))
def test_swap_on_m4(options, tmp_path):
    program(tmp_path, nudged(tmp_path), ["--cpu", "cortex-m4f", *options], 997)
    c_program.check(c_program.command_on_m4(tmp_path, [tmp_path / "old"]))


def test_same_image(tmp_path):
    """The old model's own tables come out again; they may be asked for without a name."""
    old = compiled(DIGITS, tmp_path / "old", "--cpu", "cortex-m4f", "-O", "size")
    common.aotc("compile", DIGITS, "--constants-for", tmp_path / "old" / "aotc.json", "-q", cwd=tmp_path)
    assert (tmp_path / "weights.bin").read_bytes() == old.read_bytes()


def is_refused(new, code, expected=""):
    out = code.parent / "refused.bin"
    done = common.aotc("compile", new, "--constants-for", code / "aotc.json", "-o", out, expect=None)
    assert done.returncode == 1 and "[constants-differ]" in done.stderr and re.search(expected, done.stderr) and not out.exists(), done


CONV = with_shape(24, 3, 3, 16)


def zeroed(work):
    return replaced(DIGITS, with_shape(24, 128), lambda w: np.where(np.arange(24).reshape(24, 1) == 3, 0, w), work / "zeroed.tflite")


def steep(work):
    return replaced(DIGITS, CONV, lambda s: s / 16, work / "steep.tflite", scales=True)


def large(work):
    return replaced(steep(work), CONV, lambda w: np.where(w >= 0, 127, -127), work / "large.tflite")


def scaled(work):
    return replaced(DIGITS, CONV, lambda s: np.where(np.arange(24) == 5, s * 1000, s), work / "scaled.tflite", scales=True)


def as_it_is(_):
    return DIGITS


@pytest.mark.parametrize("old, new, expected", (
    (zeroed, as_it_is, r"leaves out 0 channels that are constant .* the old code leaves out 1\n.*tensor '.*': channel 3 is used now, but was constant"),
    (steep, large, r"op 4 CONV_2D: .* need schedule '.*shift 19' instead of '.*shift 14'"),
    (as_it_is, scaled, r"op 4 CONV_2D: .* need schedule '.*two roundings' instead of '.*shift 12'.*channel 5 has the largest scale \(\d+ times the median\)")),
    ids=("dead_channel", "range", "requantisation"))
def test_other_code(old, new, expected, tmp_path):
    """Weights that break what the code was made for: each is refused, and the message names what it is."""
    compiled(old(tmp_path), tmp_path / "code", "--cpu", "cortex-m4f")
    is_refused(new(tmp_path), tmp_path / "code", expected)


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


# Kernels of MVE shift to the right: scales of a half and more are for other code, and refused.
@pytest.mark.parametrize("target, cpu, seed, extreme, most", (
    ("cortex_m4", "cortex-m4f", 3, False, 64), ("cortex_m4", "cortex-m4f", 4, True, 64),
    ("cortex_m55", "cortex-m55", 5, False, 8), ("cortex_m55", "cortex-m55", 6, True, 8),
    ("rv32imac", "rv32imac", 5, False, 64), ("rv32imac", "rv32imac", 6, True, 64)),
    ids=("m4_drawn", "m4_extreme", "m55_drawn", "m55_extreme", "rv32_drawn", "rv32_extreme"))
def test_open_code(target, cpu, seed, extreme, most, tmp_path):
    """Code that assumes nothing takes weights that break whatever could be assumed, and computes as LiteRT does. Cores have
    kernels of their own for it."""
    program(tmp_path, drawn(tmp_path / "new.tflite", seed, extreme, most), ["--constants-open", "--cpu", cpu], 9973)
    c_program.check(c_program.command_on(emitted_cases.TARGETS[target], tmp_path, [tmp_path / "old"]))
    if target == "cortex_m55" and extreme:
        is_refused(drawn(tmp_path / "large.tflite", seed, True), tmp_path / "old")


def test_open_code_of_dead_channels(tmp_path):
    """Other code would leave them out. Sizes and options are still those of the old."""
    dead = replaced(DIGITS, with_shape(24, 128), lambda w: w * 0, tmp_path / "new.tflite")
    program(tmp_path, dead, ["--constants-open"], 9973)
    for compiler in ("gcc", "clang-19"):
        runs_on_host(tmp_path, compiler)
    is_refused(common.model_path("gadget_int8"), tmp_path / "old")


def test_open_code_of_vectors_takes_every_byte(tmp_path):
    """Pairs of products of -128 do not fit 16 bits: code for any weights has no such pairs, whatever the old weights are."""
    compiled(DIGITS, tmp_path / "code", "--cpu", "rv32imac_zve32x", "--constants-open")
    least = replaced(DIGITS, with_shape(1, 3, 3, 16), lambda w: np.where(w == w.min(), -128, w), tmp_path / "least.tflite")
    common.aotc("compile", least, "--constants-for", tmp_path / "code" / "aotc.json", "-o", tmp_path / "new.bin")
    assert (tmp_path / "new.bin").exists()


def test_open_code_has_a_price(tmp_path):
    said = common.aotc("compile", DIGITS, "--cpu", "cortex-m4f", "--constants-file", "w.bin", "--constants-open", "-o", tmp_path / "c")
    assert re.search(r"--constants-open: \d\.\d times the cycles of code for these weights \([\d,]+ estimated, [\d,]+ without\)", said)


@pytest.fixture(scope="module")
def old_files(tmp_path_factory):
    """A folder with what --constants-for may name: the old model's folder, and wrong ones."""
    folder = tmp_path_factory.mktemp("refused")
    compiled(DIGITS, folder / "old")
    common.aotc("compile", DIGITS, "--prefix", "p", "-o", folder / "plain", "-q")
    (folder / "broken.json").write_text("{")
    (folder / "changed").mkdir()
    for file in (folder / "old").iterdir():
        (folder / "changed" / file.name).write_bytes(file.read_bytes().replace(b"return 0;", b"return 7;"))
    return folder


@pytest.mark.parametrize("options, slug", (
    *((options, "option-conflict") for options in (
        "--constants-file ../w.bin", "--constants-file m.c", "--constants-address 0x1000", "--constants-open",
        "--constants-file w.bin --constants-address 0x1001", "--constants-file w.bin --constants-address 4096",
        "--constants-file w.bin --pool a:10000", "--constants-file w.bin --slice call",
        "--constants-file w.bin --memory workspace", "--constants-file w.bin --calling-convention packed",
        "--constants-file w.bin --board arduino_uno", "--constants-for old/aotc.json -O size",
        "--constants-for old/aotc.json --prefix q")),
    ("--constants-file w.bin --format mlf", "usage"), ("--constants-for none.json", "file-read"),
    *((f"--constants-for {file}", "constants-for") for file in ("broken.json", "plain/aotc.json", "changed/aotc.json"))))
def test_refused(options, slug, old_files):
    done = common.aotc("compile", DIGITS, *options.split(), "-o", "out", expect=None, cwd=old_files)
    assert done.returncode in (1, 2) and f"[{slug}]" in done.stderr and not (old_files / "out").exists(), done


def test_refused_with_state(tmp_path):
    state = common.ROOT / "tests/models/state/stream_conv_int8.tflite"
    done = common.aotc("compile", state, "--constants-file", "w.bin", "-o", tmp_path / "out", expect=None)
    assert "[option-conflict]" in done.stderr


def test_cost(tmp_path):
    """A run costs nothing more, but for a look whether there are tables and their address."""
    print_costs(["digits_int8"], tmp_path)
