# SPDX-License-Identifier: Apache-2.0
"""Figures of other runtimes (../shared/baselines.json) and which of their layers is which of ours.

Their layers are numbered as the operators of the model file. Ours say which operator they come from;
operators that aotc fused or removed have no layer of ours.
"""
import json

from measure import SHARED

BASELINES = SHARED / "baselines.json"
KERNELS = {"cmsis": "CMSIS-NN", "ref": "reference"}


class Baselines:
    def __init__(self, data):
        self.what = data["what"]
        self.rows = data["runs"]

    def _best(self, model, target, kernels):
        found = [r for r in self.rows if r["model"] == model and r["target"] == target
                 and r["kernels"] in kernels]
        return min(found, key=lambda r: r["instructions"], default=None)

    def strongest(self, model, target):
        """The row with the fewest instructions of all kernels and flags, or None."""
        return self._best(model, target, KERNELS)

    def reference(self, model, target):
        return self._best(model, target, ("ref",))


def load():
    return Baselines(json.loads(BASELINES.read_text())) if BASELINES.exists() else None


def kind_of(name):
    """Their 'CONV_3x3' and 'DW_3x3' are the file's CONV_2D and DEPTHWISE_CONV_2D."""
    head, _, tail = name.rpartition("_")
    if "x" in tail and tail.replace("x", "").isdigit():
        return {"CONV": "CONV_2D", "DW": "DEPTHWISE_CONV_2D"}.get(head, head)
    return name


def pair(ours, theirs):
    """[(their layer or None, instructions of ours or None)], in their order, rest of ours last.

    By operator index where all kinds agree; otherwise each of ours takes the next of its kind.
    """
    kinds = [kind_of(layer["kind"]) for layer in theirs]
    known = [layer for layer in ours if layer["op_index"] is not None]
    by_index = all(layer["op_index"] < len(kinds) and kinds[layer["op_index"]] == layer["op"]
                   for layer in known)
    taken, rest, start = {}, [], 0
    for layer in ours:
        place = layer["op_index"]
        if place is not None and not by_index:
            place = next((i for i in range(start, len(kinds)) if kinds[i] == layer["op"]), None)
            start = start if place is None else place + 1
        if place is None:
            rest.append(layer)
        else:
            taken.setdefault(place, []).append(layer)
    pairs = [(layer, sum(o["instructions"] for o in taken[i]) if i in taken else None)
             for i, layer in enumerate(theirs)]
    return pairs + [({"kind": layer["op"] or "copy", "macs": layer["macs"], "insns": None},
                     layer["instructions"]) for layer in rest]
