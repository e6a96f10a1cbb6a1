# SPDX-License-Identifier: Apache-2.0
"""Whole models and models of one operator as emitted C: every layer bit for bit as LiteRT's.

The models of an entry of PROGRAMS are one program (bundle.py); each is a case, whose name begins with that of the entry
of ctest. The first case runs all that were selected. --models gives other models to the entries that are selected:

  pytest tests/e2e/test_models.py -k models.file- --models A.tflite,B.tflite
"""
import dataclasses
import json

import bundle
import common
import emitted_cases
import pytest
import records

OWN = ("digits_int8", "gadget_int8", "digits_f32", "gadget_f32")
SHARED = ("kws", "vww", "resnet", "ad", "strww", "micro_speech", "hello_world_int8", "vww_f32", "resnet_f32", "ad_f32",
          "hello_world_float")
WEIGHTS = ("weights_dynamic", "weights_float16")  # of int8 or float16 under float activations
# With an open batch.
KERAS = (*(f"{name}_{kind}" for kind in ("int8", "f32") for name in ("flatten", "reshape", "conv1d", "lstm_unrolled", "gru_steps")),
         "lstm_turns_int8", "gru_turns_int8", *WEIGHTS)
INT16 = ("glance_int16", "glance_int8", "flatten_int16", "conv1d_int16")
PLANES = tuple(f"{network}_{layout}_{kind}" for network in ("plain", "residual", "flatten") for kind in ("f32", "int8")
               for layout in ("planes", "images"))
OPS = tuple(sorted(p.stem for p in (common.ROOT / "tests" / "models" / "ops").glob("*.tflite")))


@dataclasses.dataclass
class Program:
    target: str
    models: tuple = ()
    options: tuple = ()  # of aotc compile
    samples: int = 3
    optimize: str = "-O2"
    per_unit: int = 1
    aligned: bool = False  # no access may be at an address that is no multiple of its size


def of_targets(name, targets, models, **how):
    return {f"{name}.{target}": Program(target, models, **how) for target in targets.split()}


OF_OPS = {"optimize": "-O1", "per_unit": 20}
PROGRAMS = {
    **of_targets("own", "gcc clang", OWN, samples=20),
    **of_targets("shared", "gcc clang", SHARED),
    **of_targets("ops", "gcc clang", OPS, **OF_OPS),
    **of_targets("ops", "cortex_m4 rv32imac", OPS, samples=1, **OF_OPS),
    **of_targets("keras", "gcc cortex_m4", KERAS),
    **of_targets("planes", "gcc clang cortex_m4", PLANES),
    **of_targets("weights", "clang rv32imac", WEIGHTS),
    **of_targets("int16", "gcc clang cortex_m4 rv32imac", INT16),
    **of_targets("int4", "gcc cortex_m4", tuple(bundle.INT4)),
    # Cores that trap accesses at addresses that are no multiple of their size, with kernels in assembly.
    **{f"aligned.{short}": Program(f"cortex_{short}_traps", ("digits_int8", "gadget_int8", "kws", "glance_int16"), ("--cpu", cpu), 1)
       for short, cpu in (("m3", "cortex-m3"), ("m4", "cortex-m4f"), ("m7", "cortex-m7f"))},
    "aligned.m4_speed": Program("cortex_m4_traps", ("digits_int8", "gadget_int8", "vww"), ("--cpu", "cortex-m4f", "-O", "speed"), 1),
    "aligned.rv32": Program("rv32imac", ("digits_int8", "gadget_int8", "kws"), ("--cpu", "rv32imac"), 1, aligned=True),
    # The other ways of sharing memory with the caller: by default inputs lie in the arena, outputs not.
    **of_targets("own.preserve", "gcc cortex_m4", OWN, options=("--input", "preserve")),
    **of_targets("own.overwrite", "gcc cortex_m4", OWN, options=("--output", "overwrite")),
    **of_targets("ops.overwrite", "gcc", OPS[::3], options=("--output", "overwrite"), **OF_OPS),
    # Those of --models: keras_models.py, tests/public/public_models.py.
    "file": Program("gcc"),
    "public": Program("gcc", samples=1, optimize="-O1"),
}


def watch(folder):
    """Options of QEMU that load alignment_plugin.c."""
    plugin = folder / "alignment.so"
    common.run(["gcc", "-shared", "-fPIC", "-O2", "-o", plugin, common.ROOT / "tests" / "e2e" / "alignment_plugin.c"])
    return ["-plugin", f"{plugin},out={folder}/unaligned.txt"]


def unaligned(folder, image):
    """What the plugin saw, by function."""
    *lines, end = (folder / "unaligned.txt").read_text().splitlines()
    if end != "end":
        raise common.Failure("the plugin did not end")
    places = [line.split() for line in lines]
    names = common.run(["addr2line", "-f", "-e", image, *(at for at, _ in places)]).splitlines()[::2] if places else []
    return [f"{name}: {count} accesses at {at} are not aligned" for name, (at, count) in zip(names, places)]


class Case:
    """A model: LiteRT's results, and its emitted C in the folder."""

    def __init__(self, name, program, folder):
        path, self.prefix = bundle.model_file(folder, name), common.prefix_of(name.rsplit("/")[-1].removesuffix(".tflite"))
        made = common.aotc("compile", path, "--prefix", self.prefix, "-o", folder / self.prefix, "--quiet", "--json",
                           *program.options)
        self._layers = json.loads(made)["layers"]
        for file in (folder / self.prefix).glob(f"{self.prefix}*.[ch]"):
            file.rename(folder / file.name)
        self._oracle = common.Oracle(path, program.samples)
        self.given, self.results = (folder / f"{self.prefix}.{end}" for end in ("in", "out"))
        self.given.write_bytes(records.pack_inputs(self._oracle.samples))

    def compare(self):
        compared, worst = common.compare(self._oracle, self._layers, records.unpack_results(self.results.read_bytes()))
        if compared == 0:
            raise common.Failure("nothing was compared")
        return f"{compared} results as LiteRT's, worst {worst} ulp"


REASONS = (common.Failure, common.Skipped, common.litert_layers.Rejected, OSError)  # for a case to fail, or to be skipped


def run(program, names, folder):
    """Runs models as one program; name -> a text or what was raised."""
    bundle.require(program.target)
    target, verdicts, cases = emitted_cases.TARGETS[program.target], {}, {}
    for name in names:
        try:
            cases[name] = Case(name, program, folder)
        except REASONS as reason:
            verdicts[name] = reason
    if not cases:
        return verdicts
    ran = ""
    try:
        units = bundle.write_sources(folder, [case.prefix for case in cases.values()], program.per_unit)
        image = bundle.build(target, folder, units, program.optimize.split())
        command = [c.format(image=image) for c in target.command]
        if program.aligned:
            common.run([*command, *watch(folder)])
            ran = "\n".join(unaligned(folder, image))
        else:
            common.run_program(command, [case.given for case in cases.values()], [case.results for case in cases.values()])
    except common.Failure as failure:
        ran = f"program: {failure}"
    for name, case in cases.items():
        try:
            verdicts[name] = case.compare()
        except REASONS as reason:
            verdicts[name] = common.Failure(f"{reason}\n{ran}")
        else:
            verdicts[name] = common.Failure(ran) if ran else verdicts[name]
    return verdicts


def pytest_generate_tests(metafunc):
    if "program" in metafunc.fixturenames:
        given = metafunc.config.getoption("models")
        cases = [(program, name) for program in PROGRAMS for name in given or PROGRAMS[program].models]
        metafunc.parametrize("program, name", cases, ids=[f"models.{p}-{n.rsplit('/')[-1]}" for p, n in cases])


VERDICTS = {}  # by program


def test_models(program, name, request, tmp_path_factory):
    if program not in VERDICTS:
        chosen = [item.callspec.params for item in request.session.items if item.function is test_models]
        VERDICTS[program] = run(PROGRAMS[program], [c["name"] for c in chosen if c["program"] == program],
                                tmp_path_factory.mktemp(program))
    verdict = VERDICTS[program][name]
    if isinstance(verdict, BaseException):
        raise verdict
    print(verdict)


# The most of the bytes of constants with 8 bits.
@pytest.mark.parametrize("name, most", (("digits_int4", 1), ("glance_int4", 1), ("kws_int4", 0.60), ("ad_int4", 0.60)))
def test_int4_constants(name, most, tmp_path):
    """Bytes of constants for a Cortex-M4, all channels kept."""
    before, now = (common.report(path, "--board", "nucleo_f446re", "--keep-dead-channels")["constants_bytes"]
                   for path in (common.model_path(bundle.INT4[name]), bundle.model_file(tmp_path, name)))
    print(f"{now:,} of {before:,} bytes of constants, {now / before:.3f}")
    assert now <= most * before
