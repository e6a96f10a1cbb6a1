# SPDX-License-Identifier: Apache-2.0
"""Writes small .tflite files for tests, straight from the format's field numbers.

Build tensors and constants, connect them with `op`, then `finish` gives the bytes. Nothing is
checked: building models that LiteRT or aotc must reject is one of its uses. The format's facts
live in the tables at the top; a number there is the position of a field in its table.
"""

import flatbuffers
import numpy as np
from flatbuffers import flexbuffers

TENSOR_TYPES = {
    "float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7,
    "int8": 9, "float64": 10, "uint64": 12, "uint32": 15, "uint16": 16,
}
INT4 = 17  # two in a byte, low half first
RESOURCE = 13  # the type of what VAR_HANDLE gives: `type_number`
PADDINGS = {"SAME": 0, "VALID": 1}
ACTIVATIONS = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3, "TANH": 4, "SIGN_BIT": 5}

# Options: (number in the union, {field name: (field number, kind, default)}).
_ACT = {"activation": (0, "activation", 0)}
_POOL = (5, {
    "padding": (0, "padding", 0), "stride_w": (1, "i32", 0), "stride_h": (2, "i32", 0),
    "filter_w": (3, "i32", 0), "filter_h": (4, "i32", 0), "activation": (5, "activation", 0),
})
_VOLUME = (106, {
    "padding": (0, "padding", 0), "stride_d": (1, "i32", 0), "stride_w": (2, "i32", 0), "stride_h": (3, "i32", 0),
    "activation": (4, "activation", 0), "dilation_d": (5, "i32", 1), "dilation_w": (6, "i32", 1),
    "dilation_h": (7, "i32", 1),
})
_NO_OPTIONS = (0, {})
OPERATORS = {  # name: (operator code, options)
    "ADD": (0, (11, {**_ACT, "pot_scale_int16": (1, "bool", 1)})),
    "AVERAGE_POOL_2D": (1, _POOL),
    "CONCATENATION": (2, (10, {"axis": (0, "i32", 0), "activation": (1, "activation", 0)})),
    "CONV_2D": (3, (1, {
        "padding": (0, "padding", 0), "stride_w": (1, "i32", 0), "stride_h": (2, "i32", 0),
        "activation": (3, "activation", 0), "dilation_w": (4, "i32", 1),
        "dilation_h": (5, "i32", 1), "quantized_bias_type": (6, "type", 0),
    })),
    "DEPTHWISE_CONV_2D": (4, (2, {
        "padding": (0, "padding", 0), "stride_w": (1, "i32", 0), "stride_h": (2, "i32", 0),
        "depth_multiplier": (3, "i32", 0), "activation": (4, "activation", 0),
        "dilation_w": (5, "i32", 1), "dilation_h": (6, "i32", 1),
    })),
    "DEQUANTIZE": (6, (38, {})),
    "FULLY_CONNECTED": (9, (8, {
        **_ACT, "weights_format": (1, "i8", 0), "keep_num_dims": (2, "bool", 0),
        "asymmetric_quantize_inputs": (3, "bool", 0), "quantized_bias_type": (4, "type", 0),
    })),
    "LOGISTIC": (14, _NO_OPTIONS),
    "MAX_POOL_2D": (17, _POOL),
    "MUL": (18, (21, _ACT)),
    "RELU": (19, _NO_OPTIONS),
    "RELU_N1_TO_1": (20, _NO_OPTIONS),
    "RELU6": (21, _NO_OPTIONS),
    "RESHAPE": (22, (17, {"new_shape": (0, "i32s", None)})),
    "SOFTMAX": (25, (9, {"beta": (0, "f32", 0.0)})),
    "TANH": (28, _NO_OPTIONS),
    "PAD": (34, (22, {})),
    "GATHER": (36, (23, {"axis": (0, "i32", 0), "batch_dims": (1, "i32", 0)})),
    "TRANSPOSE": (39, (26, {})),
    "MEAN": (40, (27, {"keep_dims": (0, "bool", 0)})),
    "SUB": (41, (28, {**_ACT, "pot_scale_int16": (1, "bool", 1)})),
    "SVDF": (27, (6, {
        "rank": (0, "i32", 0), "activation": (1, "activation", 0), "asymmetric_quantize_inputs": (2, "bool", 0),
    })),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (44, (71, {
        **_ACT, "cell_clip": (1, "f32", 0.0), "proj_clip": (2, "f32", 0.0),
        "time_major": (3, "bool", 0), "asymmetric_quantize_inputs": (4, "bool", 0),
        "diagonal_recurrent_tensors": (5, "bool", 0),
    })),
    "BIDIRECTIONAL_SEQUENCE_LSTM": (52, (69, {
        **_ACT, "cell_clip": (1, "f32", 0.0), "proj_clip": (2, "f32", 0.0), "merge_outputs": (3, "bool", 0),
        "time_major": (4, "bool", 1), "asymmetric_quantize_inputs": (5, "bool", 0),
    })),
    "RNN": (24, (7, {**_ACT, "asymmetric_quantize_inputs": (1, "bool", 0)})),
    "UNIDIRECTIONAL_SEQUENCE_RNN": (35, (31, {
        "time_major": (0, "bool", 0), "activation": (1, "activation", 0), "asymmetric_quantize_inputs": (2, "bool", 0),
    })),
    "BIDIRECTIONAL_SEQUENCE_RNN": (46, (70, {
        "time_major": (0, "bool", 0), "activation": (1, "activation", 0), "merge_outputs": (2, "bool", 0),
        "asymmetric_quantize_inputs": (3, "bool", 0),
    })),
    "SQUEEZE": (43, (30, {"squeeze_dims": (0, "i32s", None)})),
    "STRIDED_SLICE": (45, (32, {
        "begin_mask": (0, "i32", 0), "end_mask": (1, "i32", 0), "ellipsis_mask": (2, "i32", 0),
        "new_axis_mask": (3, "i32", 0), "shrink_axis_mask": (4, "i32", 0), "offset": (5, "bool", 0),
    })),
    "SPLIT": (49, (35, {"num_splits": (0, "i32", 0)})),
    "CAST": (53, (37, {"in_type": (0, "type", 0), "out_type": (1, "type", 0)})),
    "MAXIMUM": (55, (39, {})),
    "ARG_MAX": (56, (40, {"output_type": (0, "type", 0)})),
    "MINIMUM": (57, (39, {})),
    "LESS": (58, (41, {})),
    "PADV2": (60, (43, {})),
    "SLICE": (65, (48, {})),
    "EXPAND_DIMS": (70, (52, {})),
    "SUM": (74, (27, {"keep_dims": (0, "bool", 0)})),
    "SHAPE": (77, (55, {"out_type": (0, "type", 0)})),
    "ARG_MIN": (79, (57, {"output_type": (0, "type", 0)})),
    "REDUCE_PROD": (81, (27, {"keep_dims": (0, "bool", 0)})),
    "REDUCE_MAX": (82, (27, {"keep_dims": (0, "bool", 0)})),
    "PACK": (83, (59, {"values_count": (0, "i32", 0), "axis": (1, "i32", 0)})),
    "UNPACK": (88, (64, {"num": (0, "i32", 0), "axis": (1, "i32", 0)})),
    "REDUCE_MIN": (89, (27, {"keep_dims": (0, "bool", 0)})),
    "REDUCE_ANY": (91, (27, {"keep_dims": (0, "bool", 0)})),
    "ZEROS_LIKE": (93, _NO_OPTIONS),
    "FILL": (94, _NO_OPTIONS),
    "RANGE": (96, _NO_OPTIONS),
    "RESIZE_NEAREST_NEIGHBOR": (97, (74, {
        "align_corners": (0, "bool", 0), "half_pixel_centers": (1, "bool", 0),
    })),
    "LEAKY_RELU": (98, (75, {"alpha": (0, "f32", 0.0)})),
    "SPLIT_V": (102, (79, {"num_splits": (0, "i32", 0)})),
    "QUANTIZE": (114, (89, {})),
    "RANK": (110, _NO_OPTIONS),
    "HARD_SWISH": (117, (91, {})),
    "IF": (118, (92, {"then": (0, "i32", 0), "else_": (1, "i32", 0)})),
    "WHILE": (119, (93, {"cond": (0, "i32", 0), "body": (1, "i32", 0)})),
    "STABLEHLO_COMPOSITE": (206, (21, {
        "name": (0, "text", ""), "subgraph": (1, "i32", 0), "attributes": (2, "bytes", b""),
    })),
    "CALL_ONCE": (129, (103, {"init": (0, "i32", 0)})),
    "DENSIFY": (124, (99, {})),
    "BATCH_MATMUL": (126, (101, {
        "adj_x": (0, "bool", 0), "adj_y": (1, "bool", 0), "asymmetric_quantize_inputs": (2, "bool", 0),
    })),
    "BROADCAST_TO": (130, _NO_OPTIONS),
    "REDUCE_ALL": (140, (27, {"keep_dims": (0, "bool", 0)})),
    "VAR_HANDLE": (142, (111, {"container": (0, "text", ""), "shared_name": (1, "text", "")})),
    "READ_VARIABLE": (143, (112, {})),
    "ASSIGN_VARIABLE": (144, (113, {})),
    "BROADCAST_ARGS": (145, _NO_OPTIONS),
    "RESIZE_BILINEAR": (23, (15, {
        "align_corners": (2, "bool", 0), "half_pixel_centers": (3, "bool", 0),
    })),
    "TRANSPOSE_CONV": (67, (49, {
        "padding": (0, "padding", 0), "stride_w": (1, "i32", 0), "stride_h": (2, "i32", 0),
        "activation": (3, "activation", 0), "quantized_bias_type": (4, "type", 0),
    })),
    "CONV_3D": (132, _VOLUME),
    "CONV_3D_TRANSPOSE": (141, _VOLUME),
    "SEGMENT_SUM": (125, (100, {})),
    "UNSORTED_SEGMENT_PROD": (153, _NO_OPTIONS),
    "UNSORTED_SEGMENT_MAX": (154, _NO_OPTIONS),
    "UNSORTED_SEGMENT_SUM": (155, _NO_OPTIONS),
    "UNSORTED_SEGMENT_MIN": (157, _NO_OPTIONS),
    "L2_NORMALIZATION": (11, (12, {"activation": (0, "activation", 0)})),
    "L2_POOL_2D": (12, _POOL),
    "LOG_SOFTMAX": (50, (36, {})),
    "ADD_N": (106, (82, {})),
    "CUMSUM": (128, (102, {"exclusive": (0, "bool", 0), "reverse": (1, "bool", 0)})),
    "LOCAL_RESPONSE_NORMALIZATION": (13, (13, {
        "radius": (0, "i32", 0), "bias": (1, "f32", 0.0), "alpha": (2, "f32", 0.0), "beta": (3, "f32", 0.0),
    })),
    "TOPK_V2": (48, (34, {})),
    "UNIQUE": (103, (80, {"idx_out_type": (0, "type", 2)})),
    "WHERE": (109, (85, {})),
    "NON_MAX_SUPPRESSION_V4": (120, (95, {})),
    "NON_MAX_SUPPRESSION_V5": (121, (96, {})),
    "ATAN2": (156, (122, {})),
    "BITCAST": (159, (124, {})),
    "ONE_HOT": (85, (61, {"axis": (0, "i32", 0)})),
    "REVERSE_SEQUENCE": (112, (87, {"seq_dim": (0, "i32", 0), "batch_dim": (1, "i32", 0)})),
    "MATRIX_DIAG": (113, (88, {})),
    "MATRIX_SET_DIAG": (115, (90, {})),
    # Operators that move elements (compiler/ops/rearrange, compiler/ops/gather).
    "DEPTH_TO_SPACE": (5, (94, {"block_size": (0, "i32", 0)})),
    "EMBEDDING_LOOKUP": (7, _NO_OPTIONS),
    "SPACE_TO_DEPTH": (26, (19, {"block_size": (0, "i32", 0)})),
    "BATCH_TO_SPACE_ND": (37, (24, {})),
    "SPACE_TO_BATCH_ND": (38, (25, {})),
    "TILE": (69, (51, {})),
    "MIRROR_PAD": (100, (77, {"mode": (0, "i8", 0)})),
    "REVERSE_V2": (105, (81, {})),
    "GATHER_ND": (107, (83, {})),
    "SCATTER_ND": (122, (97, {})),
    "DYNAMIC_UPDATE_SLICE": (151, _NO_OPTIONS),
    # Elementwise operators of the tables in compiler/ops/elementwise.
    "FLOOR": (8, _NO_OPTIONS),
    "DIV": (42, (29, _ACT)),
    "EXP": (47, _NO_OPTIONS),
    "PRELU": (54, _NO_OPTIONS),
    "LESS": (58, _NO_OPTIONS),
    "NEG": (59, _NO_OPTIONS),
    "GREATER": (61, _NO_OPTIONS),
    "GREATER_EQUAL": (62, _NO_OPTIONS),
    "LESS_EQUAL": (63, _NO_OPTIONS),
    "SELECT": (64, _NO_OPTIONS),
    "SIN": (66, _NO_OPTIONS),
    "EQUAL": (71, _NO_OPTIONS),
    "NOT_EQUAL": (72, _NO_OPTIONS),
    "LOG": (73, _NO_OPTIONS),
    "SQRT": (75, _NO_OPTIONS),
    "RSQRT": (76, _NO_OPTIONS),
    "POW": (78, _NO_OPTIONS),
    "LOGICAL_OR": (84, _NO_OPTIONS),
    "LOGICAL_AND": (86, _NO_OPTIONS),
    "LOGICAL_NOT": (87, _NO_OPTIONS),
    "FLOOR_DIV": (90, _NO_OPTIONS),
    "SQUARE": (92, _NO_OPTIONS),
    "FLOOR_MOD": (95, _NO_OPTIONS),
    "SQUARED_DIFFERENCE": (99, _NO_OPTIONS),
    "ABS": (101, _NO_OPTIONS),
    "CEIL": (104, _NO_OPTIONS),
    "COS": (108, _NO_OPTIONS),
    "ELU": (111, _NO_OPTIONS),
    "ROUND": (116, _NO_OPTIONS),
    "SELECT_V2": (123, _NO_OPTIONS),
    "GELU": (150, (116, {"approximate": (0, "bool", 0)})),
    "RELU_0_TO_1": (152, _NO_OPTIONS),
    "SIGN": (158, _NO_OPTIONS),
    "BITWISE_XOR": (160, _NO_OPTIONS),
    "RIGHT_SHIFT": (161, _NO_OPTIONS),
}
CUSTOM = 32  # the code of all operators that go by a name of their own
OPTIONS_2 = {"STABLEHLO_COMPOSITE"}  # whose options are in the second union
FIRST_VERSIONS = {"BROADCAST_TO": 2}  # others begin with 1
_LAST_OLD_OPERATOR_CODE = 127  # Larger codes only fit the newer, wider field.


class ModelBuilder:
    """Collects one subgraph. Tensors are referred to by the index that `tensor` returns.

    `model_of` makes a model of several: subgraphs are referred to by their place in its list.
    """

    def __init__(self, name="main"):
        self._name = name
        self._tensors = []
        self._operators = []
        self._intermediates = {}  # by operator

    def tensor(self, name, dtype, shape, scale=None, zero_point=0, axis=0, data=None,
               shape_signature=None, is_variable=False, type_number=None, sparsity=None):
        """Adds a tensor. `scale`/`zero_point`: a number, or one number per slice of `axis`; a list
        of zero points of another length is written as it is. `type_number` overrides `dtype`.
        `sparsity`: (order of dimensions and blocks, dimensions of blocks, levels), where a level is the
        length of a dense one, or (segments, indices) of a sparse one, as numpy arrays."""
        if scale is not None:
            scale = [float(s) for s in np.atleast_1d(scale)]
            shared = np.ndim(zero_point) == 0 or len(zero_point) == 1
            zero_point = [int(z) for z in np.atleast_1d(zero_point)]
            if shared:
                zero_point = zero_point * len(scale)
        self._tensors.append({
            "name": name,
            "type": TENSOR_TYPES[np.dtype(dtype).name] if type_number is None else type_number,
            "shape": [int(d) for d in shape], "scale": scale, "zero_point": zero_point,
            "axis": axis, "data": None if data is None else bytes(data),
            "signature": shape_signature, "variable": is_variable, "sparsity": sparsity,
        })
        return len(self._tensors) - 1

    def const(self, name, array, scale=None, zero_point=0, axis=0):
        array = np.array(array)
        return self.tensor(name, array.dtype, array.shape, scale, zero_point, axis, array.tobytes())

    def int4(self, name, array, scale, zero_point=0, axis=0):
        """A constant of type INT4; `array` holds -8..7."""
        return self.tensor(name, np.int8, np.shape(array), scale, zero_point, axis, pack_int4(array),
                           type_number=INT4)

    def op(self, kind, inputs, outputs, version=None, omit_options=False, intermediates=(), **options):
        """Adds an operator; an input of -1 is an absent optional one. `omit_options` leaves the
        whole table of options out. `intermediates`: tensors that stand for values inside of it."""
        version = version or FIRST_VERSIONS.get(kind, 1)
        unknown = set(options) - set(OPERATORS[kind][1][1])
        if unknown:
            raise ValueError(f"{kind} has no option {sorted(unknown)}")
        given = None if omit_options else options
        self._operators.append((kind, list(inputs), list(outputs), version, given))
        if intermediates:
            self._intermediates[len(self._operators) - 1] = list(intermediates)
        return len(self._operators) - 1

    def custom(self, name, inputs, outputs, options=None):
        """Adds a custom operator; `options`: a dict that becomes a FlexBuffer map, or bytes as they are."""
        packed = options if isinstance(options, (bytes, type(None))) else bytes(flexbuffers.Dumps(options))
        self._operators.append((f"custom:{name}", list(inputs), list(outputs), 1, packed))
        return len(self._operators) - 1

    def finish(self, inputs, outputs, signature=None):
        """The bytes of a model of this subgraph alone; deterministic. `signature`: two dicts, of inputs and outputs, from
        name to tensor."""
        return model_of([(self, inputs, outputs)], signature)

    def _subgraph(self, b, codes, payloads, inputs, outputs):
        tensors = []
        for t in self._tensors:
            index = 0
            if t["data"] is not None:
                payloads.append(t["data"])
                index = len(payloads) - 1
            tensors.append(_tensor(b, t, index))
        operators = [_operator(b, codes.index((o[0], o[3])), o, self._intermediates.get(i))
                     for i, o in enumerate(self._operators)]
        tensors = _offsets(b, tensors)
        operators = _offsets(b, operators)
        graph_inputs, graph_outputs = _ints(b, inputs), _ints(b, outputs)
        graph_name = b.CreateString(self._name)
        b.StartObject(5)
        for slot, offset in enumerate(
            [tensors, graph_inputs, graph_outputs, operators, graph_name]):
            b.PrependUOffsetTRelativeSlot(slot, offset, 0)
        return b.EndObject()


def pack_int4(array):
    """The bytes of an INT4 tensor: all elements in a row, low half first."""
    halves = np.asarray(array).reshape(-1).astype(np.uint8) & 15
    halves = np.append(halves, np.zeros(halves.size % 2, np.uint8))
    return (halves[::2] | halves[1::2] << 4).astype(np.uint8).tobytes()


def model_of(graphs, signature=None):
    """The bytes of a model of (ModelBuilder, inputs, outputs): the first is run, and enters others. `signature` as in
    ModelBuilder.finish."""
    b = flatbuffers.Builder(4096)
    codes = []
    for graph, _, _ in graphs:
        for kind, _, _, version, _ in graph._operators:
            if (kind, version) not in codes:
                codes.append((kind, version))
    # Buffer 0 is by convention the empty buffer of tensors without data.
    payloads = [b""]
    subgraphs = [g._subgraph(b, codes, payloads, inputs, outputs) for g, inputs, outputs in graphs]
    subgraphs = _offsets(b, subgraphs)
    code_table = _offsets(b, [_code(b, *c) for c in codes])
    buffers = _offsets(b, [_buffer(b, p) for p in payloads])
    description = b.CreateString("test model")
    signatures = _offsets(b, [_signature(b, *signature)]) if signature else 0
    b.StartObject(8 if signature else 5)
    b.PrependUint32Slot(0, 3, 0)
    for slot, offset in enumerate([code_table, subgraphs, description, buffers], start=1):
        b.PrependUOffsetTRelativeSlot(slot, offset, 0)
    if signature:
        b.PrependUOffsetTRelativeSlot(7, signatures, 0)
    b.Finish(b.EndObject(), file_identifier=b"TFL3")
    return bytes(b.Output())


def _signature(b, inputs, outputs):
    maps = []
    for names in (inputs, outputs):
        entries = []
        for name, tensor in names.items():
            text = b.CreateString(name)
            b.StartObject(2)
            b.PrependUOffsetTRelativeSlot(0, text, 0)
            b.PrependUint32Slot(1, tensor, 0)
            entries.append(b.EndObject())
        maps.append(_offsets(b, entries))
    key = b.CreateString("serving_default")
    b.StartObject(5)
    for slot, offset in enumerate([*maps, key]):
        b.PrependUOffsetTRelativeSlot(slot, offset, 0)
    return b.EndObject()


def _offsets(b, offsets):
    b.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        b.PrependUOffsetTRelative(offset)
    return b.EndVector()


def _ints(b, values):
    return b.CreateNumpyVector(np.array(values, dtype=np.int32))


def _quantization(b, t):
    if t["scale"] is None:
        return 0
    scale = b.CreateNumpyVector(np.array(t["scale"], dtype=np.float32))
    zero_point = b.CreateNumpyVector(np.array(t["zero_point"], dtype=np.int64))
    b.StartObject(7)
    b.PrependUOffsetTRelativeSlot(2, scale, 0)
    b.PrependUOffsetTRelativeSlot(3, zero_point, 0)
    b.PrependInt32Slot(6, t["axis"], 0)
    return b.EndObject()


_INDEX_VECTORS = {np.dtype(np.int32): 1, np.dtype(np.uint16): 2, np.dtype(np.uint8): 3}


def _indices(b, values):
    vector = b.CreateNumpyVector(values)
    b.StartObject(1)
    b.PrependUOffsetTRelativeSlot(0, vector, 0)
    return b.EndObject()


def _sparsity(b, sparsity):
    if sparsity is None:
        return 0
    order, blocks, levels = sparsity
    metadata = []
    for level in levels:
        lists = level if isinstance(level, tuple) else ()
        offsets = [_indices(b, values) for values in lists]
        b.StartObject(6)
        b.PrependInt8Slot(0, 1 if lists else 0, 0)
        b.PrependInt32Slot(1, 0 if lists else level, 0)
        for slot, values, offset in zip((2, 4), lists, offsets):
            b.PrependUint8Slot(slot, _INDEX_VECTORS[values.dtype], 0)
            b.PrependUOffsetTRelativeSlot(slot + 1, offset, 0)
        metadata.append(b.EndObject())
    order, blocks, metadata = _ints(b, order), _ints(b, blocks), _offsets(b, metadata)
    b.StartObject(3)
    for slot, offset in enumerate((order, blocks, metadata)):
        b.PrependUOffsetTRelativeSlot(slot, offset, 0)
    return b.EndObject()


def _tensor(b, t, buffer_index):
    name = b.CreateString(t["name"])
    shape = _ints(b, t["shape"])
    signature = 0 if t["signature"] is None else _ints(b, t["signature"])
    quantization = _quantization(b, t)
    sparsity = _sparsity(b, t["sparsity"])
    b.StartObject(9)
    b.PrependUOffsetTRelativeSlot(0, shape, 0)
    b.PrependInt8Slot(1, t["type"], 0)
    b.PrependUint32Slot(2, buffer_index, 0)
    b.PrependUOffsetTRelativeSlot(3, name, 0)
    b.PrependUOffsetTRelativeSlot(4, quantization, 0)
    b.PrependBoolSlot(5, t["variable"], False)
    b.PrependUOffsetTRelativeSlot(6, sparsity, 0)
    b.PrependUOffsetTRelativeSlot(7, signature, 0)
    b.PrependBoolSlot(8, True, False)
    return b.EndObject()


def _options(b, kind, given):
    number, fields = OPERATORS[kind][1]
    write = {"i32s": _ints, "text": lambda b, text: b.CreateString(text),
             "bytes": lambda b, data: b.CreateByteVector(data)}
    vectors = {
        name: write[what](b, given[name])
        for name, (_, what, _) in fields.items() if what in write and given.get(name) is not None
    }
    b.StartObject(max([slot + 1 for slot, _, _ in fields.values()], default=0))
    for name, (slot, what, default) in fields.items():
        if what in write:
            b.PrependUOffsetTRelativeSlot(slot, vectors.get(name, 0), 0)
            continue
        value = given.get(name, default)
        if what == "padding" and isinstance(value, str):
            value = PADDINGS[value]
        elif what == "activation" and isinstance(value, str):
            value = ACTIVATIONS[value]
        elif what == "type" and not isinstance(value, int):
            value = TENSOR_TYPES[np.dtype(value).name]
        if what == "i32":
            b.PrependInt32Slot(slot, value, default)
        elif what == "f32":
            b.PrependFloat32Slot(slot, value, default)
        else:
            b.PrependInt8Slot(slot, int(value), default)
    return number, b.EndObject()


def _operator(b, code_index, operator, intermediates=None):
    kind, inputs, outputs, _, given = operator
    ins, outs = _ints(b, inputs), _ints(b, outputs)
    inside = _ints(b, intermediates) if intermediates else 0
    number, options, custom = (0, 0, 0)
    if kind.startswith("custom:"):
        custom = b.CreateByteVector(given) if given else 0
    elif OPERATORS[kind][1][0] and given is not None:
        number, options = _options(b, kind, given)
    second = kind in OPTIONS_2
    b.StartObject(13 if second else 9 if intermediates else 7 if custom else 5)
    b.PrependUint32Slot(0, code_index, 0)
    b.PrependUOffsetTRelativeSlot(1, ins, 0)
    b.PrependUOffsetTRelativeSlot(2, outs, 0)
    b.PrependUint8Slot(11 if second else 3, number, 0)
    b.PrependUOffsetTRelativeSlot(12 if second else 4, options, 0)
    if custom:
        b.PrependUOffsetTRelativeSlot(5, custom, 0)
    if intermediates:
        b.PrependUOffsetTRelativeSlot(8, inside, 0)
    return b.EndObject()


def _code(b, kind, version):
    _, custom, name = kind.partition("custom:")
    code = CUSTOM if custom else OPERATORS[kind][0]
    text = b.CreateString(name) if custom else 0
    b.StartObject(4)
    b.PrependInt8Slot(0, min(code, _LAST_OLD_OPERATOR_CODE), 0)
    b.PrependUOffsetTRelativeSlot(1, text, 0)
    b.PrependInt32Slot(2, version, 1)
    b.PrependInt32Slot(3, code, 0)
    return b.EndObject()


def _buffer(b, payload):
    data = 0
    if payload:
        b.StartVector(1, len(payload), 16)
        b.head = b.head - len(payload)
        b.Bytes[b.head : b.head + len(payload)] = payload
        data = b.EndVector()
    b.StartObject(1)
    b.PrependUOffsetTRelativeSlot(0, data, 0)
    return b.EndObject()
