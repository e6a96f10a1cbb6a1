# SPDX-License-Identifier: Apache-2.0
"""Models with state and control flow: tests/models/state. scripts/make-state-models says how."""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import os
import sys
import tempfile
import traceback

import state_control as control
import state_direct
import state_lstm
import state_rnn
import state_svdf
import state_variables as variables
import tensorflow as tf

FOLDER = common.MODELS_DIR / "state"
FLOAT, BOTH, MIXED = ("f32",), ("f32", "int8"), ("mixed",)
MODELS = {
    variables.counter: FLOAT,
    variables.counter_int32: MIXED,
    variables.latch: FLOAT,
    variables.accumulator: BOTH,
    variables.delay: FLOAT,
    variables.two_variables: FLOAT,
    variables.swap_variables: FLOAT,
    variables.read_after_assign: FLOAT,
    variables.init_nonzero: FLOAT,
    variables.sometimes: FLOAT,
    variables.in_while: FLOAT,
    variables.stream_conv: BOTH,
    variables.stream_hop: BOTH,
    variables.stream_pair: BOTH,
    variables.gru_pair: BOTH,
    variables.gru_scales: ("int8",),
    control.if_then_else: FLOAT,
    control.if_on_sum: BOTH,
    control.if_captured: BOTH,
    control.if_two_results: FLOAT,
    control.if_in_if: FLOAT,
    control.while_count: FLOAT,
    control.while_until: FLOAT,
    control.while_zero_trips: FLOAT,
    control.while_bool: FLOAT,
    control.while_exchange: FLOAT,
    control.while_shift: FLOAT,
    control.while_constants: FLOAT,
    control.while_conv: FLOAT,
    control.while_in_while: FLOAT,
    control.if_in_while: FLOAT,
    control.collatz: FLOAT,
    control.while_in_if: FLOAT,
    control.everything: FLOAT,
}


def convert(build, kind):
    """The model's bytes. In a process of its own, so that names do not depend on models before."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            with os.fdopen(write, "wb") as stream:
                stream.write(converted(build, kind))
        except Exception:  # what it is, is said here; that there is no model, by the caller
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        model = stream.read()
    os.waitpid(child, 0)
    return model


def converted(build, kind):
    common.make_deterministic(variables.SEED)
    function, owned, samples = build()
    owner = tf.Module()
    owner.variables_used = owned
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(owner, folder, signatures={"serving_default": function})
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        converter.experimental_enable_resource_variables = True
        if kind == "int8":
            common.set_up_quantization(converter, samples, kind)
            converter._experimental_variable_quantization = True
        return converter.convert()


def file_name(build, kind):
    return f"{build.__name__}{'' if kind == 'mixed' else '_' + kind}.tflite"


def models():
    """(file name, bytes) of every model."""
    for build, kinds in MODELS.items():
        for kind in kinds:
            model = convert(build, kind)
            if not model:
                raise RuntimeError(f"{file_name(build, kind)}: the converter failed")
            yield file_name(build, kind), model
    for name, build in [*state_direct.BUILDERS.items(), *state_lstm.builders(), *state_rnn.builders(),
                        *state_svdf.builders()]:
        yield f"{name}.tflite", build()


def generate():
    """Writes all models; says what each became."""
    for name, model in models():
        common.write(FOLDER / name, model)
        yield f"{name}: {len(model)} bytes"


def check():
    """Makes all models again; says which differ from those that are there."""
    made = dict(models())
    there = {path.name: path.read_bytes() for path in FOLDER.glob("*.tflite")}
    different = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
    for name in different:
        print(f"{name}: differs, or is not on both sides")
    print(f"{len(made)} models, {len(different)} differ")
    return 1 if different else 0


def main():
    common.set_up_tensorflow()
    if "--check" in sys.argv:
        sys.exit(check())
    for line in generate():
        print(line, flush=True)


if __name__ == "__main__":
    main()
