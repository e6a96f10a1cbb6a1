# SPDX-License-Identifier: Apache-2.0
"""Emitted C of models with state, run after run: every output as LiteRT's, to the byte.

Each model is compiled, built for each target (emitted_cases.py: gcc and clang on this
machine, cortex_m4 and rv32imafc in QEMU) and run four times over a sequence of inputs:
  kept      the state goes from run to run
  reset     as before, but the state is reset in the middle
  first,    two instances in turn, each with a state and a sequence of its own; they share the arena,
  second    whose content is destroyed before every run, as it is in the other passes
The state is reset from memory that holds anything, and nothing may be written around it or the arena.

Results of float models that hold an exp or tanh, which come from the C library, may differ by some ulp of the
largest one of the run; where LiteRT makes sums in vectors (SVDF), of the output's largest one of all runs. All
others are equal to the byte. Twelve models are one program; if that fails, each is run by itself.

What layers of float activations with int8 weights (`*_hybrid`) remember is rounded to 8 bits at each step, and a
last bit decides now and then: one result in twenty may differ by up to a hundredth of the largest one.
"""
import bundle
import common
import emitted_cases
import header
import numpy as np
import oracle
import program
import pytest
import records

FOLDER = common.ROOT / "tests" / "models" / "state"
FLIPS, FLIP = 0.05, 0.01  # of results, and how far apart
SEEDS = {"first": 1, "second": 2}
EXPECTED = {"kept": ("first", "outputs"), "reset": ("first", "outputs_reset"),
            "first": ("first", "outputs"), "second": ("second", "outputs")}


def field_of(name):
    """A tensor's name as a field of C, near enough to find it again."""
    return "".join(c if c.isalnum() else "_" for c in name).strip("_").lower()


def in_header_order(ports, fields, what):
    """For each field of the header, the place of the oracle's port."""
    if len(ports) != len(fields):
        raise common.Failure(f"{len(fields)} {what} in the header, {len(ports)} in the model: "
                             f"{[f.name for f in fields]}, {[p['name'] for p in ports]}")
    names = [field_of(p["name"]) for p in ports]
    places = [names.index(f.name) if f.name in names else at for at, f in enumerate(fields)]
    if sorted(places) != list(range(len(ports))):
        raise common.Failure(f"{what} cannot be told apart: {names}")
    return places


def inputs_file(folder, about, fields):
    """inputs.bin with the inputs in the header's order."""
    sizes = [p["bytes"] for p in about["inputs"]]
    runs = records.unpack_inputs((folder / "inputs.bin").read_bytes(), sizes)
    places = in_header_order(about["inputs"], fields, "inputs")
    head = (folder / "inputs.bin").read_bytes()[:8]
    return head + b"".join(run[at] for run in runs for at in places)


def is_exact(about):
    """Whether nothing comes from the C library, and no float sum is LiteRT's own order."""
    floats = any(p["dtype"] == "float32" for p in about["outputs"])
    return not (floats and (common.LIBRARY_OPERATORS | common.VECTOR_OPERATORS) & set(about["operators"]))


def difference(data, want, exact, largest=0.0):
    """(distance in ulp of the largest number in `want`, at least `largest`; None or a text that says what differs)."""
    if exact or want.dtype != np.float32:
        return 0, common.difference(data, want, 0)[1]
    got = np.frombuffer(data, np.float32)
    if got.shape != want.shape or not (np.isfinite(got) & np.isfinite(want)).all():
        return 0, f"{got} is not {want}"
    apart = np.abs(got.astype(np.float64) - want).max() / np.spacing(np.float32(max(np.abs(want).max(), largest)))
    return apart, None if apart <= common.LIBRARY_ULP else f"{apart:.1f} ulp: {got} is not {want}"


def largest_of(want, about):
    """By output: the largest number of all runs, where sums may cancel out in one; LiteRT makes them in vectors."""
    peaks = {}
    if not common.VECTOR_OPERATORS & set(about["operators"]):
        return peaks
    for (_, at), data in want.items():
        if about["outputs"][at]["dtype"] == "float32":
            peaks[at] = max(peaks.get(at, 0.0), float(np.abs(np.frombuffer(data, np.float32)).max()))
    return peaks


def is_flip(distance):
    """Whether ulps are few enough for one value that was rounded the other way."""
    return common.LIBRARY_ULP < distance <= FLIP * 2**24


def compare(found, expected, about, fields, flips=False):
    """(results compared, worst distance in ulp); raises at the first run that differs."""
    places = in_header_order(about["outputs"], fields, "outputs")
    want = {(run, at): data for run, _, at, data in records.unpack_results(expected.read_bytes())}
    got = records.unpack_results(found.read_bytes()) if found.exists() else []
    if len(got) != len(want) or len(want) != about["runs"] * len(places):
        raise common.Failure(f"{found.name}: {len(got)} results, LiteRT has {len(want)}")
    worst, flipped = 0, 0
    peaks = largest_of(want, about)
    for run, _, field, data in got:
        if (run + 1) % about["every"] != 0:
            continue
        port = about["outputs"][places[field]]
        array = np.frombuffer(want[run, places[field]], port["dtype"])
        distance, text = difference(data, array, is_exact(about), peaks.get(places[field], 0.0))
        if text and flips and is_flip(distance):
            flipped += 1
            if flipped <= FLIPS * len(got):
                continue
        worst = max(worst, distance)
        if text:
            raise common.Failure(f"{found.name}: run {run}, output '{port['name']}': {text}")
    return len(got), worst


class Case:
    """One model: LiteRT's answers, its emitted C, and the program around it."""

    more = ()  # options of every compilation

    def __init__(self, path, work, runs, emitted=None):
        self.path, self._work = path, common.fresh(work)
        self.prefix = common.prefix_of(path.stem)
        self._about = {name: oracle.ask(work / name, path, runs, seed, runs // 2)
                       for name, seed in SEEDS.items()}
        self.emitted = emitted or work / "emitted"

    def compile(self, expect=0):
        pairs = [f"{a}={b}" for a, b in self._about["first"]["state"].items()]
        options = [o for p in pairs for o in ("--state", p)]
        return common.aotc("compile", self.path, "--prefix", self.prefix, "-o", self.emitted,
                           "--quiet", *options, *self.more, expect=expect)

    def prepare(self):
        """Writes the program and what it reads."""
        file = self.emitted / f"{self.prefix}.h"
        self._header = header.Header(file.read_text(), self.prefix)
        for name, about in self._about.items():
            (self._work / f"{name}.in").write_bytes(
                inputs_file(self._work / name, about, self._header.inputs))
        self.main.write_text(program.main_text(self._header, self._work, self._about["first"]["reset_after"]))

    @property
    def main(self):
        return self._work / f"main_{self.prefix}.c"

    def reads(self):
        """The files that the program reads."""
        return [self._work / f"{name}.in" for name in self._about]

    def writes(self):
        """Those that it writes."""
        return [self._work / f"{name}.out" for name in EXPECTED]

    def run(self, target, flags):
        """Builds for a target and runs there; (results compared, worst ulp)."""
        run_together([self], target, flags, self._work / "alone")
        return self.compare()

    def compare(self):
        """(results compared, worst ulp) of what was run last."""
        compared, worst = 0, 0
        for name, (instance, file) in EXPECTED.items():
            count, distance = compare(self._work / f"{name}.out", self._work / instance / f"{file}.bin",
                                      self._about[instance], self._header.outputs,
                                      self.path.stem.endswith("_hybrid"))
            compared, worst = compared + count, max(worst, distance)
        if self._header.state_size == 0 and self._about["first"]["reset_shows"]:
            raise common.Failure("LiteRT keeps a state, and the header has no size of one")
        return compared, worst


def run_together(cases, target, flags, work):
    """Builds the programs of all cases as one for a target, and runs it there."""
    chosen = emitted_cases.TARGETS[target]
    folder = common.fresh(work)
    files = [f for c in cases for f in sorted(c.emitted.glob(f"{c.prefix}*.c"))]
    units = []
    for name, data in (("models", False), ("data", True)):
        units.append(folder / f"{name}.c")
        units[-1].write_text("".join(f'#include "{f}"\n' for f in files if f.stem.endswith("_data") == data))
    (folder / "main.c").write_text(
        "".join(f"int main_{c.prefix}(void);\n" for c in cases) + "int main(void)\n{\n    int bad = 0;\n"
        + "".join(f"    bad |= main_{c.prefix}();\n" for c in cases) + "    return bad;\n}\n")
    includes = [o for c in cases for o in ("-I", c.emitted)]
    image = bundle.build(chosen, folder, [*units, *(c.main for c in cases)],
                         ["-Wall", "-Wextra", "-Werror", *includes, *flags])
    common.run_program([c.format(image=image) for c in chosen.command], [f for c in cases for f in c.reads()],
                       [f for c in cases for f in c.writes()])


class Models:
    """Runs models, some in one program, and says of each what came of it."""

    TOGETHER = 12
    FAILURES = (common.Failure, header.Unreadable, oracle.Failure, OSError)

    def __init__(self, targets, flags, work):
        self._targets, self._flags, self._work = targets, flags, work
        self._ready, self._groups = [], 0
        self.verdicts = {}  # a text, or what was raised

    def add(self, path, made):
        """`made` gives a case that is prepared, or a text or exception if there is nothing to run."""
        try:
            case = made(path)
        except self.FAILURES as failure:
            case = failure
        if not isinstance(case, Case):
            self.verdicts[path.stem] = case
            return
        self._ready.append(case)
        if len(self._ready) == self.TOGETHER:
            self.run()

    def run(self):
        """Runs those that wait."""
        if not self._ready:
            return
        texts = {case: [] for case in self._ready}
        for target in self._targets:
            together = self._on(target, texts)
            for case in list(texts):
                try:
                    compared, worst = case.compare() if together else case.run(target, self._flags)
                except self.FAILURES as failure:
                    del texts[case]
                    self.verdicts[case.path.stem] = common.Failure(f"{target}: {failure}")
                    continue
                texts[case].append(f"{target} {compared} results" + (f", worst {worst:.1f} ulp" if worst else ""))
        for case, said in texts.items():
            self.verdicts[case.path.stem] = "; ".join(said)
        self._ready = []

    def _on(self, target, cases):
        """Whether all of them ran as one program; if not, each by itself shows which it is."""
        self._groups += 1
        try:
            run_together(list(cases), target, self._flags, self._work / f"together_{self._groups}")
        except common.Failure:
            return False
        return True


def test_of(names, find, made, targets, needs=lambda: None):
    """A test of pytest with a case for each of `names`. The first one runs all that were selected, several in a program.

    `find(work)` gives the model files by name, `made(path, work)` a case (Models.add), `needs()` skips or fails.
    """
    verdicts = {}

    @pytest.mark.parametrize("name", names)
    def test(name, request, tmp_path_factory):
        if not verdicts:
            needs()
            bundle.require(*targets)
            work = tmp_path_factory.mktemp("runs")
            paths, models = find(work), Models(targets, ["-O2"], work)
            for item in request.session.items:
                if item.function is test:
                    models.add(paths[item.callspec.params["name"]], lambda path: made(path, work / path.stem))
            models.run()
            verdicts.update(models.verdicts)
        if isinstance(verdicts[name], Exception):
            raise verdicts[name]
        print(verdicts[name])

    return test


def prepared(path, work, runs, kind=Case):
    """A case that is ready to run."""
    case = kind(path, work, runs)
    case.compile()
    case.prepare()
    return case
