# SPDX-License-Identifier: Apache-2.0
"""Operator-style archives that aotc writes.

Each passes the validator; its text prints back as it is; its C compiles with every warning, for the
host and for Cortex-M, and gives the model's results when called by name.
"""
import json
import pathlib
import re
import shutil
import subprocess

from ai_edge_litert import interpreter as litert
import common
import numpy as np
import pytest
import validate
from archives import expect, run
from test_writing_archives import FLAGS, gcc, in_own_folder, model_path, unpack  # noqa: F401

RUNTIME = common.ROOT / "crt" / "include"
BOARDS = ("host", "qemu_mps2_an386", "qemu_mps3_an547")
WORK = pathlib.Path()  # each test's own folder

CPU = {"qemu_mps2_an386": ["-mcpu=cortex-m4"],
       "qemu_mps3_an547": ["-mcpu=cortex-m55", "-mfloat-abi=hard"]}


def export(model, tar, *options, code=0):
    done = run(common.AOTC, "compile", model, "--style", "operator", "-o", tar, *options, code=code)
    if code == 0:
        expect(not validate.validate(tar), f"{tar}: {validate.validate(tar)}")
        expect("style operator" in run(common.AOTC, "mlf", "inspect", tar).stdout, "inspect")
    return done


def sections(text):
    parts = re.split(r"^# operator (\S+)\n", text, flags=re.M)
    expect(parts[0] == "", f"text before the first operator: {parts[0][:100]}")
    return dict(zip(parts[1::2], parts[2::2]))


def reads_back(opt, folder):
    """aotc-opt reads each function and prints it as it is in the archive."""
    for name, text in sections((folder / "src/tir-1.txt").read_text()).items():
        file = folder / "one.tir"
        file.write_text(text)
        have = run(opt, "--tir", file).stdout
        expect(have.strip() == text.strip(), f"{name} prints back otherwise")


def compiles(folder, board):
    src = folder / "codegen/host/src"
    for source in sorted(src.glob("*.c")):
        gcc(*FLAGS, "-Wmissing-prototypes", "-fPIC", "-I", RUNTIME, "-c", source, "-o",
            source.with_suffix(".o"))
        if board == "host" or not shutil.which("arm-none-eabi-gcc"):
            continue
        done = subprocess.run(["arm-none-eabi-gcc", *CPU[board], "-mthumb", *FLAGS, "-I", RUNTIME,
                               "-c", source, "-o", folder / "arm.o"], capture_output=True,
                              text=True, timeout=600)
        expect(done.returncode == 0, done.stderr[:3000])
    library = folder / "operators.so"
    gcc("-shared", *src.glob("*.o"), "-lm", "-o", library)
    return library


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.models("digits_int8", "gadget_int8", "digits_f32", "gadget_f32", "kws", "resnet")
def test_model(model, board, build_folder):
    path = model_path(model)
    tar = WORK / "operators.tar"
    export(path, tar, "--board", board)
    folder = unpack(tar, WORK / "operators")
    reads_back(build_folder / "compiler" / "aotc-opt", folder)
    library = compiles(folder, board).absolute()
    print(run(build_folder / "tests" / "call_operators", path, board, tar, library).stdout.strip())


def test_selection():
    model = model_path("digits_int8")
    whole = WORK / "all.tar"
    export(model, whole, "--prefix", "digits")
    with_all = sections((unpack(whole, WORK / "all") / "src/tir-1.txt").read_text())
    expect(len(with_all) > 5, f"only {len(with_all)} operators")
    for wanted, pattern in (("conv_2d", "^conv_2d_"), ("CONV_2D", "^conv_2d_"),
                            ("0", "^conv_2d_"), (list(with_all)[1], re.escape(list(with_all)[1]))):
        export(model, WORK / "some.tar", "--prefix", "digits", "--op", wanted)
        some = sections((unpack(WORK / "some.tar", WORK / "some") / "src/tir-1.txt").read_text())
        expect(some and len(some) < len(with_all), f"{wanted}: {list(some)}")
        expect(all(re.match(pattern, n) for n in some), f"{wanted}: {list(some)}")
        # An entry does not depend on what else is in the archive.
        expect(all(with_all[n] == t for n, t in some.items()), f"{wanted}: another text")
    export(model, WORK / "two.tar", "--op", "softmax", "--op", "3")
    for wanted in ("999", "gru", ""):
        done = export(model, WORK / "none.tar", "--op", wanted, code=1)
        expect("[op-unknown]" in done.stderr and not (WORK / "none.tar").exists(), done.stderr)
    run(common.AOTC, "compile", model, "--format", "mlf", "--op", "3", code=2)
    run(common.AOTC, "compile", model, "--style", "operators", code=2)


def test_devices():
    """A text for each type of device; the host's functions come first, names tell the devices apart."""
    model = model_path("digits_int8")
    file = WORK / "devices.json"
    file.write_text(json.dumps({"devices": [
        {"name": "cpu", "type": 1},
        {"name": "acc", "type": 12, "operators": [{"op": "conv_2d"}], "launch": "sync"}]}))
    export(model, WORK / "devices.tar", "--devices", file)
    folder = unpack(WORK / "devices.tar", WORK / "devices")
    host, acc = (sections((folder / f"src/tir-{n}.txt").read_text()) for n in (1, 12))
    expect(acc and all(re.fullmatch(r"conv_2d_[0-9a-f]{16}_acc", n) for n in acc), list(acc))
    expect(host and not any(n.startswith("conv_2d") for n in host), list(host))
    metadata = json.loads((folder / "metadata.json").read_text())
    expect(list(metadata["memory"]) == [*host, *acc], "order of the functions")


def test_deterministic():
    model = model_path("digits_int8")
    shutil.copy(model, WORK / "other_name.tflite")
    export(model, WORK / "a.tar", "--prefix", "digits")
    export(WORK / "other_name.tflite", WORK / "b.tar", "--prefix", "digits")
    expect((WORK / "a.tar").read_bytes() == (WORK / "b.tar").read_bytes(), "two archives of a model")
    # Another name changes the metadata's model_name and nothing else.
    export(WORK / "other_name.tflite", WORK / "c.tar")
    text = run(common.AOTC, "mlf", "diff", WORK / "a.tar", WORK / "c.tar", code=1).stdout
    expect(text.splitlines() == ['metadata model_name: \\"digits\\" -> \\"other_name\\"'] or
           (text.startswith("metadata model_name") and text.count("\n") == 1), text)


def reweighted(name, path, change):
    """The model with `change` applied to each constant tensor of weights, a row per output channel."""
    data = bytearray(model_path(name).read_bytes())
    reader = litert.Interpreter(model_content=bytes(data),
                                experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    count = 0
    for d in reader.get_tensor_details():
        if d["dtype"] != np.int8 or len(d["shape"]) < 2:
            continue
        try:
            old = reader.get_tensor(d["index"])
        except ValueError:
            continue  # not a constant
        at = data.find(old.tobytes())
        if old.size < 16 or at < 0:
            continue
        axis = d["quantization_parameters"]["quantized_dimension"]
        rows = np.moveaxis(old, axis, 0).reshape(old.shape[axis], -1)
        new = np.moveaxis(change(rows).reshape(np.moveaxis(old, axis, 0).shape), 0, axis)
        data[at:at + old.size] = np.ascontiguousarray(new.astype(np.int8)).tobytes()
        count += 1
    expect(count > 2, f"{name}: only {count} tensors of weights")
    path.write_bytes(data)
    return path


def entries(model, *options):
    done = run(common.AOTC, "compile", model, "--style", "operator", "-o", WORK / "entries.tar",
               "--prefix", "m", "--json", *options)
    folder = unpack(WORK / "entries.tar", WORK / "entries")
    texts = sections((folder / "src/tir-1.txt").read_text())
    names = [o["name"] for o in json.loads(done.stdout)["operators"]]
    expect(names == list(texts), "names of the JSON and of the text")
    return texts


def table_text(model):
    run(common.AOTC, "compile", model, "--prefix", "m", "-o", WORK / "tables", "--force")
    return (WORK / "tables/m_data.c").read_text()


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.models("digits_int8", "gadget_int8", "kws", "resnet")
def test_other_weights(model, board):
    """Another model of equal operators has equal entries, as far as docs/mlf.md says so."""
    rng = np.random.default_rng(1)
    whole = entries(model_path(model), "--board", board)
    # What an accumulator can reach is as before: everything is.
    same = entries(reweighted(model, WORK / "shuffled.tflite", lambda r: rng.permuted(r, axis=1)),
                   "--board", board)
    expect(same == whole, f"{model} {board}: weights in another order give "
           f"{sorted(set(same) ^ set(whole))}")
    tables = [table_text(m) for m in (model_path(model), WORK / "shuffled.tflite")]
    expect(tables[0] != tables[1], f"{model}: the weights are as they were")
    new = entries(reweighted(model, WORK / "random.tflite",
                             lambda r: rng.integers(-127, 128, r.shape)), "--board", board)
    kept = set(whole) & set(new)
    expect(all(whole[n] == new[n] for n in kept), "one name, two texts")
    print(f"{model} {board}: {len(kept)} of {len(whole)} entries with random weights")


def rescaled(name, path, rng):
    """The model with the scale of every channel of weights times something between 1/3 and 3."""
    data = bytearray(model_path(name).read_bytes())
    reader = litert.Interpreter(model_content=bytes(data),
                                experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    details = {d["index"]: d for d in reader.get_tensor_details()}
    for op in reader._get_ops_details():
        if op["op_name"] not in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            continue
        # Weights and bias: the product of scales must stay the bias's.
        scales = [np.asarray(details[t]["quantization_parameters"]["scales"], np.float32)
                  for t in op["inputs"][1:3]]
        if len(scales) < 2 or any(len(s) != len(scales[0]) for s in scales):
            continue
        factors = np.exp(rng.uniform(-np.log(3), np.log(3), len(scales[0]))).astype(np.float32)
        for s in scales:
            at = data.find(s.tobytes())
            if at >= 0:
                data[at:at + 4 * len(s)] = (s * factors).astype(np.float32).tobytes()
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.models("digits_int8", "gadget_int8", "kws", "resnet")
def test_other_scales(model, board):
    """The form of a requantisation depends on its scales: how often, docs/mlf.md says."""
    rng = np.random.default_rng(1)
    whole = entries(model_path(model), "--board", board)
    kept = 0
    for _ in range(3):
        new = entries(rescaled(model, WORK / "rescaled.tflite", rng), "--board", board)
        kept += len(set(whole) & set(new))
        expect(all(whole[n] == new[n] for n in set(whole) & set(new)), "one name, two texts")
    print(f"{model} {board}: {kept} of {3 * len(whole)} entries with other scales")
