# SPDX-License-Identifier: Apache-2.0
"""What a test needs of the C interface that aotc writes, read from the header as text."""

import dataclasses
import re


class Unreadable(Exception):
    """The header does not look like one of aotc's."""


@dataclasses.dataclass
class Field:
    name: str
    c_type: str
    elements: int


class Header:
    """`prefix`'s header. Orders and names of parameters are taken as they come."""

    def __init__(self, text, prefix):
        self._text, self.prefix, self.upper = text, prefix, prefix.upper()
        self.inputs, self.outputs = self._fields("INPUT"), self._fields("OUTPUT")
        self.state_size = self._number("STATE_SIZE", 0)
        self.arena_size = self._number("ARENA_SIZE", 0)
        self._prototypes = {
            name: (result, parameters) for result, name, parameters in re.findall(
                rf"^(int32_t|void)\s+{re.escape(prefix)}_(\w+)\(([^)]*)\);", text, re.M)}
        if "run" not in self._prototypes:
            raise Unreadable(f"no prototype of {prefix}_run")

    def _number(self, name, default):
        found = re.search(rf"^#define {self.upper}_{name} \(?(\d+)u?\)?$", self._text, re.M)
        return int(found[1]) if found else default

    def _fields(self, what):
        macro = re.search(rf"^#define {self.upper}_FOR_EACH_{what}\(X\)((?:.*\\\n)*.*)", self._text, re.M)
        if macro is None:
            raise Unreadable(f"no {self.upper}_FOR_EACH_{what}")
        return [Field(name, c_type, int(elements)) for name, c_type, elements in
                re.findall(r"X\((\w+), ([\w ]+), (\d+)", macro[1])]

    def _call(self, function, arguments):
        """A call of the function, with the argument that each parameter's text asks for."""
        texts = []
        for parameter in self._prototypes[function][1].split(","):
            kind = next((k for k in ("context", "inputs", "outputs", "state", "arena") if k in parameter), None)
            if kind is None and parameter.strip() not in ("void", ""):
                raise Unreadable(f"{self.prefix}_{function} has a parameter '{parameter.strip()}'")
            texts += [arguments[kind]] if kind else []
        return f"{self.prefix}_{function}({', '.join(texts)})"

    def in_arena(self, kind):
        """Whether `kind`, "inputs" or "outputs", lies in the arena."""
        return self._number(f"{kind.upper()[:-1]}_IN_ARENA", 0) == 1

    def number(self, name):
        """The value of a macro; None if there is none."""
        return self._number(name, None)

    def begin(self, **arguments):
        return self._call("begin", arguments)

    def run(self, **arguments):
        return self._call("run", arguments)

    def reset(self, first, **arguments):
        """The statement that gives a state its first value; `first`: of memory that holds anything."""
        names = ("init", "reset") if first else ("reset", "init")
        name = next((n for n in names if n in self._prototypes), None)
        if name is None:
            if self.state_size:
                raise Unreadable(f"a state of {self.state_size} bytes, and no {self.prefix}_reset")
            return "0"
        call = self._call(name, arguments)
        return call if self._prototypes[name][0] != "void" else f"({call}, 0)"
