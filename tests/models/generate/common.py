# SPDX-License-Identifier: Apache-2.0
"""What every generator of fixtures needs: reproducible TensorFlow, conversion, the oracle.

The oracle is the LiteRT interpreter with its reference kernels and no delegate; its outputs are the
expected outputs that are committed. Import this module before TensorFlow: it sets the environment.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # oneDNN sums in another order on each CPU
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import pathlib
import random
import tempfile

import numpy as np
import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

MODELS_DIR = pathlib.Path(__file__).resolve().parent.parent


def make_deterministic(seed):
    """Same seed, same weights: one thread, deterministic kernels, every generator seeded."""
    random.seed(seed)
    np.random.seed(seed)
    tf.keras.utils.set_random_seed(seed)


def set_up_tensorflow():
    """Once per process, before the first operation."""
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.experimental.enable_op_determinism()


def set_up_quantization(converter, samples, kind):
    """Sets a converter up for one of the integer kinds of `convert`."""
    ops = tf.lite.OpsSet
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: iter(samples)
    converter.target_spec.supported_ops = [
        ops.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        if kind == "int16"
        else ops.TFLITE_BUILTINS_INT8
    ]
    boundary = {
        "int8": tf.int8,
        "int16": tf.int16,
        "int8_uint8_io": tf.uint8,
        "int8_float_io": tf.float32,
    }[kind]
    converter.inference_input_type = boundary
    converter.inference_output_type = boundary


def convert(function, variables=(), samples=None, kind="f32"):
    """Converts `function` (a tf.function with an input signature) to a model's bytes.

    `variables` are the tf.Variables that the function uses: the converter folds to constants only
    those that the saved model owns. `kind` is f32, int8 (from inputs to outputs), int16 (int8
    weights), int8_float_io or int8_uint8_io (int8 inside, the type at inputs and outputs); all but
    f32 need `samples`: a list of dictionaries from the signature's input names to arrays. (Lists
    of arrays would be taken in the graph's order of inputs, which is not the signature's.)
    """
    owner = tf.Module()
    owner.variables_used = list(variables)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(owner, folder, signatures={"serving_default": function})
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        if kind != "f32":
            set_up_quantization(converter, samples, kind)
        return converter.convert()


def reference(model):
    """An interpreter of the model's bytes with LiteRT's reference kernels, tensors allocated."""
    interpreter = Interpreter(
        model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF
    )
    interpreter.allocate_tensors()
    return interpreter


def run(interpreter, inputs):
    """Runs one sample: arrays in the graph's order of inputs; gives arrays in its output order."""
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]).copy() for d in interpreter.get_output_details()]


def quantize(values, detail):
    """Real values to the integers of the tensor that an interpreter's `detail` describes."""
    scale, zero_point = detail["quantization"]
    info = np.iinfo(detail["dtype"])
    steps = np.round(values.astype(np.float64) / scale) + zero_point
    return np.clip(steps, info.min, info.max).astype(detail["dtype"])


def signature_names(model):
    """The signature's names of the inputs and of the outputs, each in the graph's order."""
    parsed = schema.ModelT.InitFromPackedBuf(model, 0)
    graph, signature = parsed.subgraphs[0], parsed.signatureDefs[0]

    def ordered(tensors, maps):
        names = {entry.tensorIndex: entry.name.decode() for entry in maps}
        return [names[tensor] for tensor in tensors]

    return ordered(graph.inputs, signature.inputs), ordered(graph.outputs, signature.outputs)


def operators(model):
    """The model's operators in execution order, as 'NAME/version' strings."""
    names = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}
    parsed = schema.ModelT.InitFromPackedBuf(model, 0)
    codes = parsed.operatorCodes
    result = []
    for op in parsed.subgraphs[0].operators:
        code = codes[op.opcodeIndex]
        number = max(code.builtinCode, code.deprecatedBuiltinCode)
        result.append(f"{names[number]}/{code.version}")
    return result


def write(path, model):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model)


def save_array(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, np.ascontiguousarray(array), allow_pickle=False)
