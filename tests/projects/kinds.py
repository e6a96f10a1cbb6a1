# SPDX-License-Identifier: Apache-2.0
"""What the tests of single kinds of projects share: making a project of the digits model, running
programs that were built of it, comparing with LiteRT's stored outputs, compiling for boards.

The outputs that count are those that LiteRT gave when the model's files were made
(tests/models/digits), not those of aotc's own evaluation, which the self test compares with.
"""
import pathlib
import re
import shutil
import subprocess

import common
import frames_models
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MODELS = common.ROOT / "tests" / "models" / "digits"
WARNINGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]


def create(kind, folder, *options, model="digits_int8"):
    """A project of a digits model whose stored inputs are the first of its test set, or of any file."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    stored = []
    if isinstance(model, str):
        samples = folder.parent / f"{folder.name}_samples.npy"
        np.save(samples, np.load(MODELS / f"test_inputs_{model.split('_')[1]}.npy")[:3])
        model, stored = MODELS / f"{model}.tflite", ["--samples", samples]
    common.aotc("create", model, "--project", kind, "--prefix", "digits", *stored,
                "-o", folder, "--quiet", *options)
    return folder


def check_demo(text, model="digits_int8"):
    """What the demo of templates/common printed is right: layers to the bit, LiteRT's predictions."""
    exact = "bit-exact" if model.endswith("int8") else "floats within tolerance"
    for wanted in (f"self test: {exact}", "@aotc done status=0"):
        if wanted not in text:
            raise common.Failure(f"the demo did not print '{wanted}':\n{text[-2000:]}")
    outputs = np.load(MODELS / f"test_outputs_{model.split('_')[1]}.npy")[:3]
    found = [int(n) for n in re.findall(r"^@aotc sample=\d+ largest=(\d+)", text, re.M)]
    wanted = [int(o.argmax()) for o in outputs]
    if found != wanted:
        raise common.Failure(f"the demo predicts {found}, LiteRT {wanted}:\n{text[-2000:]}")


def check_consumer(program, model="digits_int8", count=100):
    """Runs a program made of consumer.c over the test set; its outputs are LiteRT's."""
    kind = model.split("_")[1]
    inputs = np.load(MODELS / f"test_inputs_{kind}.npy")[:count]
    wanted = np.load(MODELS / f"test_outputs_{kind}.npy")[:count]
    done = subprocess.run([str(program)], input=inputs.tobytes(), capture_output=True, timeout=600)
    if done.returncode != 0:
        raise common.Failure(f"{program} exits with {done.returncode}: {done.stderr.decode()}")
    found = np.frombuffer(done.stdout, wanted.dtype)
    if found.size != wanted.size:
        raise common.Failure(f"{program} wrote {found.size} elements, not {wanted.size}")
    found = found.reshape(wanted.shape)
    ulp = 0 if kind == "int8" else common.LIBRARY_ULP
    distance, text = common.difference(found.tobytes(), wanted, ulp)
    if text:
        raise common.Failure(f"{program}: {text}")
    return f"{count} outputs as LiteRT's, at most {distance} ulp off"


def check_not_run(project):
    """aotc says that a library is not a program."""
    done = common.aotc("run", project, expect=None)
    if done.returncode != 6 or "[project-not-run]" not in done.stderr:
        raise common.Failure(f"aotc run of a library exits with {done.returncode}: {done.stderr}")


def files_of(folder):
    """{path: bytes} of everything in a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes()
            for p in sorted(folder.rglob("*")) if p.is_file()}


# --- Inputs that are fed: the examples camera.c and microphone.c ----------------------------------

FRAMES = 12  # of the window of the model below


def frames_model(folder):
    """Causal convolutions over frames, which can be compiled with --stream time."""
    path = folder / "frames_int8.tflite"
    path.write_bytes(frames_models.causal())
    return path


def results_of_frames(samples):
    """Windows of the stored inputs, one behind the other."""
    return FRAMES * (samples - 1) + 1


def check_fed(text, results):
    """The example that feeds rows or frames gave as many results, all of them those of the run function."""
    for wanted in (f"fed row by row: {results} results, the same as those of ",
                   f"@aotc fed=0 results={results}\n"):
        if wanted not in text:
            raise common.Failure(f"the demo did not print '{wanted}':\n{text[-2000:]}")


def feed_wrongly(project):
    """Makes the example of a project send each two rows the wrong way round."""
    examples = [p for p in project.rglob("*.c") if p.stem.endswith(("camera", "microphone"))]
    if len(examples) != 1:
        raise common.Failure(f"{project.name} has the examples {examples}")
    text = examples[0].read_text()
    wrong = re.sub(r"\b(number|frames_sent) \* ", r"(\1 ^ 1u) * ", text, count=1)
    if wrong == text:
        raise common.Failure(f"{examples[0]} sends no rows")
    examples[0].write_text(wrong)


def check_fed_wrongly(text):
    """That is seen, and the demo failed."""
    for wanted in ("self test: bit-exact", "fed row by row: FAILED", "@aotc fed=-1 ", "@aotc done status=-1"):
        if wanted not in text:
            raise common.Failure(f"rows the wrong way round, and no '{wanted}':\n{text[-2000:]}")
