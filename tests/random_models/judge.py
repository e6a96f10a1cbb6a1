# SPDX-License-Identifier: Apache-2.0
"""What became of a model: one of CLASSES, and why."""

import dataclasses
import pathlib
import re

import compiler
import numpy as np
from model import name_of

ERRORS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "errors.md"
EQUAL, UNDEFINED, BOTH_REFUSE, WE_REFUSE, ONLY_WE_ACCEPT, FAILED = CLASSES = (
    "equal", "equal where LiteRT is defined", "refused by both", "refused by aotc only",
    "accepted by aotc only", "failed")


def _no_quantised_tensor(model, op):
    return op and not {model.tensors[t].dtype for t in op.inputs + op.outputs if t >= 0} & {"int8", "uint8", "int16"}


def _one_scale_of_weights(model, op):
    """LiteRT names no operator, or one of a single scale and channel."""
    w = op and model.tensors[op.inputs[1]]
    return not op or w.scale is not None and len(w.scale) == w.shape[-1] == 1


# Why aotc may accept what LiteRT refuses: LiteRT's words, and what must be so of the operator that they name.
# docs/errors.md says why that is right, in a table of the same keys.
REASONS = {
    "moved-type": (r"is_supported_type was not true.*\((SPLIT|SPLIT_V)\) failed to prepare"
                   r"|Type '\w+' is not supported by (un)?pack\.", None),
    "needless-quantization": (r"->params\.(zero_point|scale) != \S+->params\.(zero_point|scale) ",
                              _no_quantised_tensor),
    "no-bias": (r"has_bias was not true.*\((DEPTHWISE_)?CONV_2D\) failed to prepare"
                r"|Tensor at index 2 was optional but was expected.*\((DEPTHWISE_)?CONV_2D\)", None),
    "operator-version": (r"Didn't find op for builtin opcode '\w+' version", None),
    "quantized-dimension": (r"quantized_dimension must be in range"
                            r"|scale->size != filter->dims->data.*\(DEPTHWISE_CONV_2D\) failed to prepare",
                            _one_scale_of_weights),
    "reshape-shape": (r"num_input_elements != num_output_elements.*\(RESHAPE\) failed to (prepare|invoke)", None),
    "unused-tensor": (r"^Unsupported data type -?\d+ in tensor$|^String variable tensor isn't supported", None),
}
_HEADING = "## Models that only aotc accepts"

# Messages that a model must never cause.
_BUGS = re.compile(r"internal|(ir|tir)-.*|plan-invalid|packing-.*")

# Float results come from the C library's functions: docs/numerics.md.
INEXACT = {"SOFTMAX", "LOGISTIC", "TANH"}
ULP = 4


@dataclasses.dataclass
class Verdict:
    """`detail`: the slug, the reason, or what is wrong; `kind`: what reducing must keep."""

    what: str
    detail: str = ""
    kind: str = ""


def documented_reasons():
    """Keys of the table in docs/errors.md."""
    section = ERRORS.read_text().split(_HEADING + "\n", 1)[-1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.M))


def documented_slugs():
    before, _, after = ERRORS.read_text().partition(_HEADING + "\n")
    after = after.partition("\n## ")[2]
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", before + after, re.M))


class Judge:
    def __init__(self):
        self._slugs = documented_slugs()

    def judge(self, model, samples, answer, outcome):
        """`answer`: LiteRT's; `outcome`: the compiler's. `model` has the operators' kinds."""
        if outcome.verdict == compiler.CRASHED:
            return Verdict(FAILED, outcome.text, "crash")
        if outcome.verdict == compiler.BROKEN:
            return Verdict(FAILED, outcome.text, _plain("broken: " + outcome.text))
        if outcome.emitted:
            return Verdict(FAILED, "emitted C: " + outcome.emitted, "emitted")
        ran = answer[0] == "ran"
        if outcome.verdict == compiler.REFUSED:
            slug = outcome.slug
            if slug not in self._slugs or _BUGS.fullmatch(slug):
                return Verdict(FAILED, f"refused with no message for users: {outcome.text}",
                               f"refusal {slug}")
            return Verdict(WE_REFUSE if ran else BOTH_REFUSE, slug)
        if not ran:
            if reason := _reason(model, answer[1]):
                return Verdict(ONLY_WE_ACCEPT, reason)
            return Verdict(FAILED, f"accepted, but LiteRT {answer[0]}: {answer[1]}",
                           _plain("accepted: " + answer[1]))
        return self._compare(model, answer[1], outcome.values, samples)

    def _compare(self, model, theirs, ours, inputs):
        undefined = False
        for sample, (want, have) in enumerate(zip(theirs, ours, strict=True)):
            doubtful = set()  # tensors that hang on what LiteRT leaves undefined
            rounded = set()   # tensors that an inexact operator made, or that come of one
            folded = set()    # tensors that aotc computed while it read the file: their readers are compared
            for op in model.ops:
                if all(t < 0 or t in folded or model.tensors[t].data is not None for t in op.inputs) and \
                        not any(name_of(t) in have for t in op.outputs):
                    folded.update(op.outputs)
                    continue
                if doubtful.intersection(op.inputs):
                    doubtful.update(op.outputs)
                    continue
                if rounded.intersection(op.inputs):
                    rounded.update(op.outputs)
                for tensor in op.outputs:
                    if tensor not in want:
                        continue
                    dtype, values = have.get(name_of(tensor), ("", b""))
                    wrong = _wrong(dtype, values, want[tensor][1], op.kind in INEXACT,
                                   bool(rounded.intersection(op.inputs)))
                    if wrong is None:
                        continue
                    if wrong.size and _undefined(model, op, have, wrong, inputs[sample]):
                        doubtful.add(tensor)
                        undefined = True
                        continue
                    return Verdict(FAILED, _difference(op, tensor, sample, dtype, values,
                                                       want[tensor][1], wrong),
                                   f"differs {op.kind} {dtype}")
                if op.kind in INEXACT and have[name_of(op.outputs[0])][0] == "f32":
                    rounded.update(op.outputs)
        return Verdict(UNDEFINED if undefined else EQUAL)


def _reason(model, said):
    node = re.search(r"Node number (\d+) ", said)
    for key, (words, condition) in REASONS.items():
        op = model.ops[int(node[1])] if node else None
        if re.search(words, said) and (not condition or condition(model, op)):
            return key
    return None


def _plain(text):
    """What stays when a model is made smaller."""
    text = re.sub(r"Node number.*", "", text)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?|'[^']*'", "#", text)[:200]


_TYPES = {"f32": "f4", "i8": "i1", "u8": "u1", "i16": "i2", "i32": "i4", "i64": "i8", "bool": "?"}


def _wrong(dtype, have, want, inexact, inherited):
    """Indices of elements that are not as they must be; None if there are none."""
    if have == want:
        return None
    if len(have) != len(want) or dtype not in _TYPES:
        return np.zeros(0, int)
    a, b = np.frombuffer(have, _TYPES[dtype]), np.frombuffer(want, _TYPES[dtype])
    if dtype != "f32":
        return np.flatnonzero(a != b)
    bits = a.view(np.uint32) != b.view(np.uint32)
    bits &= ~(np.isnan(a) & np.isnan(b))
    if inexact or inherited:
        finite = b[np.isfinite(b)]
        with np.errstate(invalid="ignore", over="ignore"):
            unit = np.spacing(np.abs(finite).max(initial=0))
            bits &= ~(np.abs(a.astype(np.float64) - b) <= ULP * unit)
    return np.flatnonzero(bits) if bits.any() else None


def _undefined(model, op, have, wrong, inputs):
    """Are all wrong elements such as LiteRT has no rule for? docs/numerics.md has the list."""
    source = model.operand_values(op.inputs[0], have, inputs)
    if source is None:
        return False
    if op.kind == "ARG_MAX":
        # Vector instructions of the machine decide about NaN in rows of four and more, behind which is nothing but
        # dimensions of 1.
        longer = [n for n in model.tensors[op.inputs[0]].shape if n != 1]
        length = longer[-1] if longer else 1
        rows = source.reshape(-1, length)
        return length >= 4 and len(rows) * length == source.size \
            and wrong.max() < len(rows) and bool(np.isnan(rows[wrong]).any(axis=1).all())
    if op.kind != "QUANTIZE" or model.tensors[op.outputs[0]].scale is None:
        return False
    # Conversions of floats that no int32 holds.
    scale = np.asarray(model.tensors[op.outputs[0]].scale, np.float32)
    with np.errstate(all="ignore"):
        quotient = np.abs(np.float32(source[wrong]) / np.float32(scale[0]))
    return bool(np.all(~(quotient < 2.0**31 - 256)))


def _difference(op, tensor, sample, dtype, have, want, wrong):
    if not wrong.size:
        return f"{op.kind} '{name_of(tensor)}' of sample {sample}: {len(have)} bytes of " \
               f"{dtype or 'nothing'}, LiteRT gives {len(want)}"
    a, b = np.frombuffer(have, _TYPES[dtype]), np.frombuffer(want, _TYPES[dtype])
    i = wrong[0]
    return (f"{op.kind} '{name_of(tensor)}' ({dtype}) of sample {sample}: element {i} is {a[i]}, "
            f"LiteRT gives {b[i]}; {wrong.size} of {a.size} differ")
