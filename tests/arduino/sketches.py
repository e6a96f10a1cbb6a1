# SPDX-License-Identifier: Apache-2.0
"""What the tests of Arduino and PlatformIO projects share: making them with stored inputs, LiteRT's
results for these, reading what a sketch prints, damaging a weight."""
import json
import os
import pathlib
import re
import shutil
import sys

import common
import kinds
import numpy as np

SAMPLES = 3
# Beside model, runtime and aotc.json.
MOST_FILES = 12


class Case:
    """A model with stored inputs, and what LiteRT says of them."""

    def __init__(self, model, prefix, folder, options=()):
        self.path = model if isinstance(model, pathlib.Path) else common.model_path(model)
        self.prefix, self.folder, self.options = prefix, folder, options
        name = self.path.stem
        inputs = None
        if name.startswith("digits_"):
            images = np.load(self.path.parent / f"test_inputs_{name.split('_')[1]}.npy")
            inputs = [[image[np.newaxis]] for image in images[:SAMPLES]]
        self.oracle = common.Oracle(self.path, samples=SAMPLES, inputs=inputs)
        self.files = []
        for index in range(len(self.oracle.samples[0])):
            file = folder / f"{prefix}_{index}.npy"
            np.save(file, np.concatenate([s[index] for s in self.oracle.samples]))
            self.files.append(file)
        self.details = self.oracle.layers._interpreter.get_output_details()

    def create(self, kind, project, *options):
        """The project, checked for what holds of every kind: few files, the same bytes again."""
        made = []
        for target in (project.parent / "again" / project.name, project):
            common.aotc("create", self.path, "--project", kind, "--prefix", self.prefix, "-o",
                        target, "--quiet",
                        *(x for file in self.files for x in ("--samples", file)), *self.options, *options)
            made.append({p.relative_to(target): p.read_bytes()
                         for p in target.rglob("*") if p.is_file()})
        if made[0] != made[1]:
            raise common.Failure(f"{kind}: two runs of aotc wrote different files")
        model = {f"{self.prefix}{end}" for end in (".c", ".h", "_data.c", "_data.h", ".map.json")}
        others = [p for p in made[0] if p.name not in model and p.name not in ("aotc.json", "LICENSE.txt")]
        if len(others) > MOST_FILES:
            raise common.Failure(f"{kind}: {len(others)} files beside the model")
        return project

    def real(self, output, sample):
        """LiteRT's results as real numbers."""
        values = self.oracle.outputs[sample][output].reshape(-1)
        scale, zero_point = self.details[output]["quantization"]
        if values.dtype == np.float32 or scale == 0:
            return values.astype(np.float64)
        return (values.astype(np.float64) - zero_point) * np.float64(scale)

    def check(self, text, samples=range(SAMPLES)):
        """What a sketch printed: it is bit-exact, and every element is what LiteRT gives."""
        exact = "bit-exact" in text if "_f32" not in self.path.name else "within tolerance" in text
        if not exact or not re.search(r"@aotc self_test=0 layers=[1-9]", text):
            raise common.Failure(f"the self test did not pass:\n{text[-2500:]}")
        if "@aotc done status=0" not in text:
            raise common.Failure(f"the demo did not pass:\n{text[-2500:]}")
        compared = 0
        for sample in samples:
            block = re.search(rf"^input {sample}: status 0, (\d+) microseconds\n((?:output .*\n)+)",
                              text, re.M)
            if not block:
                raise common.Failure(f"no results of input {sample}:\n{text[-2500:]}")
            lines = re.findall(r"output (\d+):((?: -?[\d.]+)+)", block[2])
            if [int(index) for index, _ in lines] != list(range(len(self.details))):
                raise common.Failure(f"not the outputs of the model: {block[2]}")
            for index, numbers in lines:
                got, want = np.array(numbers.split(), float), self.real(int(index), sample)
                # Printed with six digits; floats of 24 bits may be a last bit off on the way.
                if len(got) != len(want) or np.any(np.abs(got - want) > 2e-6 + 1e-6 * np.abs(want)):
                    raise common.Failure(f"input {sample}: printed {got}, LiteRT gives {want}")
                compared += len(got)
        return compared

    def check_demo(self, text):
        """The demo's lines for programs: the largest element of each stored input."""
        found = re.findall(r"@aotc sample=(\d+) largest=(\d+) microseconds=\d+", text)
        want = [(str(s), str(int(self.real(0, s).argmax()))) for s in range(SAMPLES)]
        if found != want:
            raise common.Failure(f"the demo says {found}, LiteRT {want}")


def fed_cases(rows_model, folder):
    """Models whose input is fed by rows, and by frames; how many results the example has of each."""
    frames = kinds.frames_model(folder)
    return [(Case(rows_model or frames, "rows", folder, ["--input", "rows"]), SAMPLES),
            (Case(frames, "frames", folder, ["--stream", "time"]), kinds.results_of_frames(SAMPLES))]


def weights_of(model_folder, prefix, call):
    """The name of the table of weights that a call is given; None if it has none."""
    layer = json.loads((model_folder / f"{prefix}.map.json").read_text())["calls"][call]
    lines = (model_folder / f"{prefix}.c").read_text().splitlines()[layer["line"] - 1:]
    statement = "\n".join(lines).split(";")[0]
    if layer["function"] not in statement:
        raise common.Failure(f"line {layer['line']} of {prefix}.c is not call {call}: {statement}")
    table = re.search(rf"\b{prefix}_\w+_weights\b", statement)
    return table and table[0]


def damage(model_folder, prefix, call):
    """Changes weights of the operator of a call. Gives back a function that mends them."""
    file = model_folder / f"{prefix}_data.c"
    text = file.read_text()
    name = weights_of(model_folder, prefix, call)
    table = re.search(rf"\b{name}\[\d+\][^;=]*= {{([^}}]*)}}", text)
    if not table:
        raise common.Failure(f"no table of weights of call {call} in {file.name}")
    # All of them: one weight may meet an input that is always zero.
    changed = re.sub(r"-?\d+", lambda m: str(int(m[0]) // 2), table[1])
    file.write_text(text[:table.start(1)] + changed + text[table.end(1):])
    return lambda: file.write_text(text)


def check_damaged(text, call):
    if not re.search(rf"FAILED: the first layer that differs is {call}, \S", text) or \
            not re.search(rf"@aotc self_test=-1 .*first_difference={call}\b", text) or \
            "@aotc done status=-1" not in text:
        raise common.Failure(f"a damaged weight of layer {call} was not named:\n{text[-1500:]}")


def optional_tool(name, why):
    """A program that not every machine has: with CI=true it must be there."""
    beside = pathlib.Path(sys.executable).parent / name
    if beside.exists():
        return beside
    found = shutil.which(name)
    if found is None and os.environ.get("CI") == "true":
        raise common.Failure(f"'{name}' is not installed: {why}")
    return found
