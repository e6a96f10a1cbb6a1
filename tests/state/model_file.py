# SPDX-License-Identifier: Apache-2.0
"""What a .tflite says of itself: operators of every subgraph, names of inputs and outputs."""

import collections

from ai_edge_litert import schema_py_generated as schema

_OPERATORS = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}
_TYPES = {v: k.lower() for k, v in vars(schema.TensorType).items() if isinstance(v, int)}


class Model:
    def __init__(self, data):
        self._model = schema.ModelT.InitFromPackedBuf(data, 0)
        self._graph = self._model.subgraphs[0]

    def _name(self, operator):
        code = self._model.operatorCodes[operator.opcodeIndex]
        if code.customCode:
            return code.customCode.decode()
        return _OPERATORS[max(code.builtinCode, code.deprecatedBuiltinCode)]

    def operators(self):
        """Operators of all subgraphs: a count of (name, type of what it works on)."""
        found = collections.Counter()
        for graph in self._model.subgraphs:
            for operator in graph.operators:
                found[self._name(operator), self._type(graph, operator)] += 1
        return found

    @staticmethod
    def _type(graph, operator):
        """The type of the operator's first operand that is no constant index, as a table shows it."""
        ports = [t for t in [*operator.inputs, *operator.outputs] if t >= 0]
        types = [_TYPES[graph.tensors[t].type] for t in ports]
        types = [t for t in types if t != "resource"]
        return {"float32": "f32"}.get(types[0], types[0]) if types else "-"

    def subgraphs(self):
        return len(self._model.subgraphs)

    def ports(self):
        """Tensors that are inputs, and those that are outputs."""
        return [int(t) for t in self._graph.inputs], [int(t) for t in self._graph.outputs]

    def port_names(self):
        """({tensor: name} of inputs, the same of outputs), as the first signature has them."""
        signature = (self._model.signatureDefs or [None])[0]
        maps = [(), ()] if signature is None else [signature.inputs, signature.outputs]
        names = []
        for ports, entries in zip((self._graph.inputs, self._graph.outputs), maps):
            by_tensor = {int(t): (self._graph.tensors[t].name or f"tensor_{t}".encode()).decode() for t in ports}
            by_tensor.update({e.tensorIndex: e.name.decode() for e in entries})
            names.append(by_tensor)
        return names
