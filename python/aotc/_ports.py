# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs as the framework of a model names, orders and structures them.

A structure is a tensor, or lists, tuples and dicts of structures. Its leaves are numbered in the order in which the
user wrote them. The compiled program takes the leaves in that order, whatever order a converter writes into its
file.
"""
from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Interface:
    """The framework's description of a model that aotc compiles."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    named_inputs: bool = False  #: the inputs are in a dict, so they have names and no order
    named_outputs: bool = False  #: the result is a dict
    output_keys: tuple[str, ...] = ()  #: keys in that dict, where the outputs have other names


class Results(tuple):  # type: ignore[type-arg]
    """The outputs of a model in order. `results["name"]` is the output of that name."""

    names: tuple[str, ...]

    def __new__(cls, values: Iterable[Any], names: Sequence[str]) -> Results:
        made = super().__new__(cls, values)
        made.names = tuple(names)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.names

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if self.names.count(key) != 1:
                raise KeyError(f"there is no output {key!r}: the outputs are {listed(self.names)}")
            return super().__getitem__(self.names.index(key))
        return super().__getitem__(key)


def check(interface: Interface, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """The error in the names and the order of a program's inputs and outputs; "" if there is none. A program may
    lack some: an exporter drops an input that nothing reads, and `--state` removes a pair."""
    for kind, wanted, made in (("inputs", interface.inputs, inputs), ("outputs", interface.outputs, outputs)):
        rest = iter(wanted)
        if not all(name in rest for name in made):
            return f"the {kind} of the model are {listed(wanted)}, but the converter made {listed(made)}"
    return ""


def listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"


# --- Structures ----------------------------------------------------------------------------------


def leaves(structure: Any, is_leaf: Callable[[Any], bool]) -> list[Any]:
    """The leaves in order. Objects that are neither a leaf nor a list, tuple or dict are skipped."""
    if is_leaf(structure):
        return [structure]
    if isinstance(structure, Mapping):
        structure = list(structure.values())
    return [leaf for part in structure for leaf in leaves(part, is_leaf)] if isinstance(structure, (list, tuple)) else []


def rebuilt(structure: Any, is_leaf: Callable[[Any], bool], values: Iterator[Any]) -> Any:
    """The structure with its leaves replaced."""
    if is_leaf(structure):
        return next(values)
    if isinstance(structure, Mapping):
        return {key: rebuilt(part, is_leaf, values) for key, part in structure.items()}
    if isinstance(structure, (list, tuple)):
        parts = [rebuilt(part, is_leaf, values) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    return structure


def names_of(structure: Any, is_leaf: Callable[[Any], bool], name: str, own: Callable[[Any], str] = lambda leaf: "") -> list[str]:
    """A name for each leaf: the key in a dict, the field of a named tuple, the result of `own` for the leaf, or
    `name` and a number."""
    if is_leaf(structure):
        return [own(structure) or name]
    fields = getattr(structure, "_fields", None)
    if isinstance(structure, Mapping) or fields:
        parts = list(structure.items()) if isinstance(structure, Mapping) else list(zip(fields, structure))
        return [n for key, part in parts for n in names_of(part, is_leaf, str(key))]
    if isinstance(structure, (list, tuple)):
        return [n for i, part in enumerate(structure) for n in names_of(part, is_leaf, f"{name}_{i}", own)]
    return []


def has_dict(structure: Any, is_leaf: Callable[[Any], bool]) -> bool:
    """True if there is a dict with several leaves, which have no order."""
    if is_leaf(structure) or not isinstance(structure, (Mapping, list, tuple)):
        return False
    if isinstance(structure, Mapping):
        return len(leaves(structure, is_leaf)) > 1
    return any(has_dict(part, is_leaf) for part in structure)


def unique(names: Sequence[str], other_than: Iterable[str] = ()) -> tuple[str, ...]:
    """The names; repeated ones get a number."""
    used, out = set(other_than), []
    for name in names:
        number, made = 0, name or "value"
        while made in used or (number and made in names):
            number += 1
            made = f"{name or 'value'}_{number}"
        used.add(made)
        out.append(made)
    return tuple(out)


def arguments_of(function: Callable[..., Any], given: Any) -> tuple[tuple[Any, ...], dict[str, Any], list[str]]:
    """(positional arguments, arguments by name, a name for each) of a call with example inputs. A dict whose keys
    are arguments of the function, and a tuple with a value for each argument, are spread; any other object is the
    first argument."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "training", "mask")]
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in by_place if p.default is p.empty]
    has_more = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    by_name = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    if isinstance(given, Mapping):
        if given and set(given) <= by_name and {p.name for p in required} <= set(given):
            order = [p.name for p in parameters if p.name in given]
            return (), {name: given[name] for name in order}, order
        given = (given,)
    elif not isinstance(given, tuple) or (len(given) > 1 and len(by_place) == 1 and not has_more):
        given = (given,)
    rest = next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), "")
    if len(given) < len(required) or (len(given) > len(by_place) and not has_more):
        wanted = ", ".join(p.name for p in by_place)
        raise TypeError(f"example_inputs has {len(given)} values, but the model takes ({wanted}): give a tuple with one value "
                        "for each, or a dict by name")
    return given, {}, [by_place[i].name if i < len(by_place) else f"{rest}_{i - len(by_place)}" for i in range(len(given))]


# --- What a call gives ---------------------------------------------------------------------------


def bound(what: str, names: Sequence[str], fields: Sequence[str], named_only: bool, inputs: Sequence[Any],
          by_name: Mapping[str, Any]) -> list[Any]:
    """A value for each input, in the program's order. `fields`: the inputs' names in C, which are accepted as well."""
    if len(inputs) == 1 and isinstance(inputs[0], Mapping):
        if by_name:
            raise TypeError(f"{what} takes a dict, or arguments by name, not both")
        inputs, by_name = (), inputs[0]
    if len(inputs) == 1 and len(names) > 1 and isinstance(inputs[0], (list, tuple)) and len(inputs[0]) == len(names):
        inputs = inputs[0]
    if named_only and inputs and len(names) > 1:
        raise TypeError(f"{what} has inputs with names but no order: give a dict, or arguments by name, of {listed(names)}")
    if len(inputs) > len(names) or (not by_name and len(inputs) != len(names)):
        raise TypeError(f"{what} takes {len(names)} inputs, but {len(inputs)} were given: the inputs are {listed(names)}")
    values: dict[int, Any] = dict(enumerate(inputs))
    for name, value in by_name.items():
        place = _place(what, names, fields, name)
        if place in values:
            raise TypeError(f"{what}: input {names[place]!r} is given twice")
        values[place] = value
    missing = [name for i, name in enumerate(names) if i not in values]
    if missing:
        raise TypeError(f"{what} takes {len(names)} inputs, but {len(values)} were given: {listed(missing)} is missing")
    return [values[i] for i in range(len(names))]


def _place(what: str, names: Sequence[str], fields: Sequence[str], name: str) -> int:
    for known in (names, fields):
        if list(known).count(name) == 1:
            return list(known).index(name)
    if list(names).count(name) > 1:
        raise TypeError(f"{what} has several inputs {name!r}: give all of them in their order")
    raise TypeError(f"{what} has no input {name!r}: the inputs are {listed(names)}")


# --- Samples -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Spec:
    """The shape and type of an input, against which samples are checked."""

    name: str
    shape: tuple[int | None, ...]  #: with the batch; None: any size
    dtype: str

    def fits(self, shape: Sequence[int]) -> bool:
        return all(want is None or want == size for want, size in zip(self.shape[1:], shape))


def samples(np: Any, data: Any, specs: Sequence[Spec], named_only: bool) -> list[list[Any]]:
    """Representative data as samples: each a list with an array for each input, with the batch of the input.

    `data` is a dict with an array of samples by input, a list with such an array for each input, or an iterable of
    samples. A sample is an array, a list with an array for each input, or a dict by name; each array may be a batch."""
    if callable(data):
        data = data()  # as the converters' representative_dataset
    if hasattr(data, "cardinality") and int(data.cardinality()) == -1:
        raise ValueError("representative_data has no end: give a part of it, such as data.take(200)")
    if hasattr(data, "as_numpy_iterator"):
        data = list(data.as_numpy_iterator())
    names = [spec.name for spec in specs]
    several = isinstance(data, (list, tuple)) and len(specs) > 1 and len(data) > 0 and all(hasattr(d, "shape") for d in data)
    if isinstance(data, Mapping) or several or (len(specs) == 1 and hasattr(data, "shape")):
        data = [data]
    out: list[list[Any]] = []
    for number, sample in enumerate(data):
        if isinstance(sample, (list, tuple)) and not (len(specs) == 1 and not any(hasattr(s, "shape") for s in sample)):
            if len(sample) != len(specs):
                raise ValueError(f"representative_data: sample {number} has {len(sample)} values, but the model has {len(specs)} "
                                 f"inputs: {listed(names)}" + _without_labels(sample, specs))
            values = bound("representative_data", names, names, named_only, tuple(sample), {})
        else:
            values = bound("representative_data", names, names, named_only, (sample,), {})
        rows = [_rows(np, spec, value, number) for spec, value in zip(specs, values)]
        if len({len(r) for r in rows}) != 1:
            counts = ", ".join(f"{spec.name!r} {len(r)}" for spec, r in zip(specs, rows))
            raise ValueError(f"representative_data has different numbers of samples for the inputs: {counts}")
        out += [list(row) for row in zip(*rows)]
    if not out:
        raise ValueError("representative_data has no samples: give some hundred samples that look like real inputs")
    return out


def _without_labels(sample: Sequence[Any], specs: Sequence[Spec]) -> str:
    if len(specs) == 1 and len(sample) == 2:
        return ": omit the labels, such as with data.map(lambda x, y: x)"
    return ""


def _rows(np: Any, spec: Spec, value: Any, number: int) -> list[Any]:
    """The samples of one input in an array."""
    array = np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
    size = spec.shape[0] if spec.shape else 1
    rank, batch = len(spec.shape), 1 if size is None else size
    if array.dtype.kind not in "biuf":
        raise ValueError(f"representative_data: sample {number} of input {spec.name!r} is not an array of numbers but "
                         f"{type(value).__module__}.{type(value).__name__}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"representative_data: sample {number} of input {spec.name!r} has NaN or infinite values")
    array = array.astype(spec.dtype)
    if rank and array.ndim == rank and spec.fits(array.shape[1:]) and array.shape[0] % batch == 0:
        return [array[i:i + batch] for i in range(0, len(array), batch)]
    if rank and array.ndim == rank - 1 and batch == 1 and spec.fits(array.shape):
        return [array[None]]
    if not rank and array.ndim == 0:
        return [array]
    raise ValueError(f"representative_data: a sample of input {spec.name!r} has the shape {tuple(spec.shape[1:])}, a batch of them "
                     f"{('n', *spec.shape[1:])}; sample {number} has {array.shape}".replace("'n'", "n").replace("None", "any")
                     + ": reshape it, or add or remove dimensions of 1")


def short(text: str, most: int = 300) -> str:
    """The first sentence of a converter's message, without positions in its own intermediate form."""
    found = re.findall(r"error: (.+)", text) or [line for line in text.splitlines() if line.strip()][:1]
    plain = [line for line in found if "loc(" not in line] or [re.sub(r"^.*\)+: ", "", line) for line in found]
    line = plain[0] if plain else "no reason"
    return line if len(line) <= most else line[:most] + " ..."
