# SPDX-License-Identifier: Apache-2.0
"""examples/speech from samples to label: every row of features and every score as TensorFlow Lite Micro's.

Two models are compiled and built with the example into one program: a front end with state (tests/models/speech,
which AOTC_WRITE_SPEECH=1 writes) and the classifier micro_speech. The reference runs the same two models in the
package tflite-micro, on each frame and on the last 49 rows of features. Recordings come from formulas.

Where AOTC_MORE_MODELS has TensorFlow Lite Micro's audio_preprocessor_int8.tflite, that one is the front end as
well, and recordings beside it (yes_1000ms.wav, ...) have to be labelled as they are called.
"""
import os
import pathlib
import wave

import bundle
import common
import emitted_cases
import make_models
import numpy as np
import pytest

EXAMPLE = common.ROOT / "examples" / "speech"
STORED = common.ROOT / "tests" / "models" / "speech" / "front_end.tflite"
RATE, FRAME, STEP, ROWS, CHANNELS = 16000, 480, 320, 49, 40
LABELS = ("silence", "unknown", "yes", "no")
CPUS = {"cortex_m4": ("--cpu", "cortex-m4f")}


def made_front_end():
    return make_models.preprocessor(np.random.default_rng([3])).finish()


def recordings():
    """Name to samples: tones that move, bursts of noise over silence, full scale, nothing."""
    rng, time = np.random.default_rng(5), np.arange(int(1.3 * RATE)) / RATE
    sweep = 9000 * np.sin(2 * np.pi * (200 * time + 900 * time**2)) + 3000 * np.sin(2 * np.pi * 1700 * time)
    bursts = rng.normal(0, 1, time.size) * np.where((time * 4).astype(int) % 2, 6000, 20)
    loud = np.where(rng.random(time.size) < 0.5, -32768, 32767)
    yield "sweep", sweep
    yield "bursts", bursts
    yield "loud", loud
    yield "nothing", np.zeros(int(1.1 * RATE))
    yield "short", sweep[:FRAME + 3 * STEP + 7]


class Reference:
    """Both models in TensorFlow Lite Micro's interpreter."""

    def __init__(self, front_end, classifier):
        from tflite_micro.python.tflite_micro import runtime
        self._front_end, self._classifier = (
            runtime.Interpreter.from_bytes(path.read_bytes(), arena_size=1 << 20) for path in (front_end, classifier))

    def run(self, samples):
        """What the example writes, and the labels as they change: (milliseconds, label)."""
        rows, out, labels = [], b"", []
        for at in range(0, len(samples) - FRAME + 1, STEP):
            self._front_end.set_input(samples[at:at + FRAME].reshape(1, FRAME), 0)
            self._front_end.invoke()
            rows.append(self._front_end.get_output(0).reshape(-1).copy())
            out += rows[-1].tobytes()
            if len(rows) < ROWS:
                continue
            self._classifier.set_input(np.concatenate(rows[-ROWS:]).reshape(1, -1), 0)
            self._classifier.invoke()
            scores = self._classifier.get_output(0).reshape(-1)
            out += scores.tobytes()
            label = LABELS[int(np.argmax(scores))]
            if not labels or labels[-1][1] != label:
                labels.append(((at + FRAME) * 1000 // RATE, label))
        return out, labels


def build(target, work, front_end, classifier, name):
    """The image; it reads and writes files of `work`."""
    chosen, emitted = emitted_cases.TARGETS[target], work / "emitted"
    for model, prefix in ((front_end, "front_end"), (classifier, "classifier")):
        common.aotc("compile", model, "--prefix", prefix, "-o", emitted / prefix, "--quiet", *CPUS.get(target, ()))
    sources = sorted(emitted.glob("*/*.c")) + [EXAMPLE / "speech.c"]
    (work / "main.c").write_text(f'#define SAMPLES "{work}/samples.raw"\n#define RESULTS "{work}/results.bin"\n'
                                 f'#define main example\n#include "{EXAMPLE}/main.c"\n#undef main\n#include <string.h>\n'
                                 'int main(void)\n{\n    memset(&speech, 0xA5, sizeof speech);\n    return example();\n}\n')
    return bundle.build(chosen, work, sources,
                        ["-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic", "-I", EXAMPLE,
                         *(a for p in ("front_end", "classifier") for a in ("-I", emitted / p))])


def check(target, work, image, samples, wanted, labels):
    given, results = work / "samples.raw", work / "results.bin"
    given.write_bytes(samples.astype("<i2").tobytes())
    said = common.run_program([c.format(image=image) for c in emitted_cases.TARGETS[target].command], [given], [results])
    got = results.read_bytes()
    if got != wanted:
        at = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b), min(len(got), len(wanted)))
        raise common.Failure(f"{target}: byte {at} of {len(got)} differs, the reference has {len(wanted)}")
    said = [line for line in said.splitlines() if " ms: " in line]
    if said != [f"{ms} ms: {label}" for ms, label in labels]:
        raise common.Failure(f"{target}: says {said}, the reference {labels}")


def samples_of(file):
    with wave.open(str(file)) as sound:
        return np.frombuffer(sound.readframes(sound.getnframes()), "<i2")


def front_ends():
    """(name, model, recordings with the label that they must have or None)"""
    own = [(name, np.round(x).clip(-32768, 32767).astype(np.int16), None) for name, x in recordings()]
    yield "own", STORED, own
    folder = pathlib.Path(os.environ.get(common.MORE_MODELS, "/nonexistent"))
    micro = folder / "audio_preprocessor_int8.tflite"
    if micro.exists():
        files = [f for f in sorted(folder.glob("*_1000ms.wav")) if f.stem.split("_")[0] in (*LABELS, "noise")]
        spoken = [(f.stem, samples_of(f), f.stem.split("_")[0].replace("noise", "silence")) for f in files]
        yield "micro", micro, own + spoken


def test_stored_front_end():
    """It is what make_models.py writes."""
    if "AOTC_WRITE_SPEECH" in os.environ:
        STORED.write_bytes(made_front_end())
    assert STORED.read_bytes() == made_front_end()


@pytest.fixture(scope="module")
def answers():
    """(name, front end, [(samples, what the reference writes and says, label)])"""
    common.need_modules("tflite_micro")
    classifier = common.model_path("micro_speech")
    # A frame of another recording would be in the front end's estimate of the noise: an interpreter for each.
    return [(name, front_end, [(samples, Reference(front_end, classifier).run(samples), label) for _, samples, label in sounds])
            for name, front_end, sounds in front_ends()]


@pytest.mark.parametrize("target", ["gcc", "clang", "cortex_m4", "rv32imac"])
def test_labels(target, answers, tmp_path, record_property):
    bundle.require(target)
    for name, front_end, sounds in answers:
        work = tmp_path / name
        work.mkdir()
        image = build(target, work, front_end, common.model_path("micro_speech"), name)
        for samples, (wanted, labels), label in sounds:
            check(target, work, image, samples, wanted, labels)
            assert label is None or [said for _, said in labels] == [label]
    record_property("cases", sum(len(sounds) for _, _, sounds in answers))
