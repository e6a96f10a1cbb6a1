# SPDX-License-Identifier: Apache-2.0
"""Whole models and models of one operator as emitted C: every layer bit for bit as LiteRT's.

The models of an entry of PROGRAMS are one program (bundle.py); each is a case, whose name begins with that of the entry
of ctest. The first case runs all that were selected. --models gives other models to the entries that are selected:

  pytest tests/e2e/test_models.py -k models.file- --models A.tflite,B.tflite
"""
import bundle
import common
import pytest
import vector_layers
from bundle import Program

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
    # Float layers that gather their windows: 5 CPU seconds.
    "vectors.ram.cortex_m55": Program("cortex_m55_files", vector_layers.FLOATS, ("--cpu", "cortex-m55", "--prefer", "ram"), 2, per_unit=4),
    # 36 CPU seconds.
    "vectors.cortex_m55": Program("cortex_m55_files", vector_layers.NAMES + INT16, ("--cpu", "cortex-m55"), 2, per_unit=4),
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


def pytest_generate_tests(metafunc):
    if "program" in metafunc.fixturenames:
        given = metafunc.config.getoption("models")
        cases = [(program, name) for program in PROGRAMS for name in given or PROGRAMS[program].models]
        metafunc.parametrize("program, name", cases, ids=[f"models.{p}-{n.rsplit('/')[-1]}" for p, n in cases])


VERDICTS = {}  # by program


def test_models(program, name, request, tmp_path_factory):
    if program not in VERDICTS:
        chosen = [item.callspec.params for item in request.session.items if item.function is test_models]
        VERDICTS[program] = bundle.run(PROGRAMS[program], [c["name"] for c in chosen if c["program"] == program],
                                tmp_path_factory.mktemp(program))
    bundle.tell(VERDICTS[program][name])


# The most of the bytes of constants with 8 bits.
@pytest.mark.parametrize("name, most", (("digits_int4", 1), ("glance_int4", 1), ("kws_int4", 0.60), ("ad_int4", 0.60)))
def test_int4_constants(name, most, tmp_path):
    """Bytes of constants for a Cortex-M4, all channels kept."""
    before, now = (common.report(path, "--board", "nucleo_f446re", "--keep-dead-channels")["constants_bytes"]
                   for path in (common.model_path(bundle.INT4[name]), bundle.model_file(tmp_path, name)))
    print(f"{now:,} of {before:,} bytes of constants, {now / before:.3f}")
    assert now <= most * before
