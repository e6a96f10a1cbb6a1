# SPDX-License-Identifier: Apache-2.0
"""Measures each layer of a model with each of its schedules, at one setting of the other options.

Layers are measured in whole programs in which every layer has another schedule, so one program measures as many
schedules as there are layers. Figures are stored under the name of the layer's computation (a hash of its loops, as
in archives), so an equal layer of another model is not measured again.
"""
from __future__ import annotations

import itertools
from typing import Any, Iterator, Mapping, Sequence

from . import _command, _points, _search

_TOO_SLOW = 1.5  # times the chosen schedule's estimate: not measured
_PER_NUMBER = 2  # values of a number that the second round combines


class _Operator:
    def __init__(self, listed: Mapping[str, Any], base: Mapping[str, Any]):
        self.index: int = listed["op_index"]
        self.base = base  # of the default schedule, in the program without any
        self.alternatives: list[dict[str, Any]] = list(listed["alternatives"])
        self.names = tuple(sorted(a["name"] for a in self.alternatives))

    @property
    def chosen(self) -> dict[str, Any]:
        return self.alternatives[0]

    def is_worth(self, alternative: Mapping[str, Any]) -> bool:
        estimate, of_chosen = alternative.get("estimated_instructions"), self.chosen.get("estimated_instructions")
        return not (estimate and of_chosen) or estimate <= _TOO_SLOW * of_chosen


def _numbers(alternative: Mapping[str, Any]) -> dict[str, int]:
    return {k: v for k, v in alternative["schedule"].items() if k != "algorithm"}


class Layers:
    """`run`: the search that uses the figures; `base`: the value of the program with these options and no
    schedules."""

    def __init__(self, run: Any, options: Mapping[str, Any], base: Mapping[str, Any], most: int):
        self.run, self.options, self.base, self.most = run, dict(options), base, most
        of_base = {layer["op_index"]: layer for layer in base["layers"]}
        self.operators = [_Operator(o, of_base[o["op_index"]]) for o in self._listing() if o["op_index"] in of_base]
        self._where = _points.sha256(_points.canonical([run.board, run.versions, run.given, run.seed, sorted(self.options.items())]))
        self._figures: dict[str, dict[str, int]] = run.engine.store.layers(self._where)

    def _listing(self) -> list[dict[str, Any]]:
        options = {**self.run.given, **self.options}
        return list(_command.run_json("schedules", self.run.path, "--board", self.run.board, "--most", "1000",
                                      *_command.flags(options))["operators"])

    # --- Measuring -------------------------------------------------------------------------------

    def measure(self) -> None:
        """First measures schedules that set at most one parameter, then combinations of the best of these."""
        self._measure({o.index: self._singles(o) for o in self.operators})
        self._measure({o.index: self._combined(o) for o in self.operators})

    def _singles(self, operator: _Operator) -> list[dict[str, Any]]:
        """Alternates between the algorithms and their parameters, so that none of them is left out."""
        kinds: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for a in operator.alternatives[1:]:
            if len(_numbers(a)) <= 1 and operator.is_worth(a):
                kinds.setdefault((a["schedule"].get("algorithm", ""), *_numbers(a)), []).append(a)
        turns = itertools.zip_longest(*kinds.values())
        return [a for turn in turns for a in turn if a is not None][:self.most]

    def _combined(self, operator: _Operator) -> list[dict[str, Any]]:
        good: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for a in [operator.chosen, *self._singles(operator)]:
            figures, numbers = self._of(operator, a), _numbers(a)
            if figures is not None and len(numbers) == 1:
                [(name, value)] = numbers.items()
                good.setdefault((a["schedule"].get("algorithm", ""), name), []).append((figures["ticks"], value))
        best = {k: {value for _, value in sorted(v)[:_PER_NUMBER]} for k, v in good.items()}
        out = []
        for a in operator.alternatives[1:]:
            algorithm, numbers = a["schedule"].get("algorithm", ""), _numbers(a)
            if len(numbers) > 1 and operator.is_worth(a) and all(v in best.get((algorithm, n), ()) for n, v in numbers.items()):
                out.append(a)
        return out[:self.most]

    def _measure(self, wanted: Mapping[int, Sequence[dict[str, Any]]]) -> None:
        """Skips layers that are known; of equal layers one is measured."""
        columns: list[dict[int, dict[str, Any]]] = []
        asked: set[str] = set()
        for operator in self.operators:
            missing = [a for a in wanted[operator.index] if a["name"] not in self._figures and a["name"] not in asked]
            asked.update(a["name"] for a in missing)
            for i, a in enumerate(missing):
                if i == len(columns):
                    columns.append({})
                columns[i][operator.index] = a
        new: dict[str, dict[str, int]] = {}
        while columns:
            points = [self.run.point(self.options, self._calls(c)) for c in columns]
            values = self.run.engine.values(points)
            again: list[dict[int, dict[str, Any]]] = []
            for column, point in zip(columns, points):
                value = values[_points.key_of(point)]
                if value["state"] == "verified":
                    new.update(self._read(column, value))
                elif len(column) > 1:  # one of them is not possible beside the others, or at all
                    items = list(column.items())
                    again += [dict(items[:len(items) // 2]), dict(items[len(items) // 2:])]
            columns = again
        self.run.engine.store.keep_layers(self._where, new)
        self._figures = {**new, **self._figures}

    @staticmethod
    def _read(column: Mapping[int, Mapping[str, Any]], value: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, int]]]:
        for layer in value["layers"]:
            alternative = column.get(layer["op_index"])
            if alternative is not None:
                yield alternative["name"], {k: layer[k] for k in ("ticks", "code", "constants", "scratch")}

    @staticmethod
    def _calls(column: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{"op_index": index, "schedule": a["schedule"]} for index, a in column.items()]

    def _of(self, operator: _Operator, alternative: Mapping[str, Any]) -> Mapping[str, int] | None:
        if alternative is operator.chosen:
            return operator.base
        return self._figures.get(alternative["name"])

    # --- Choosing --------------------------------------------------------------------------------

    def best(self, objective: Mapping[str, float], default: Mapping[str, Any], limits: Mapping[str, int], correction: int,
             count: int) -> list[tuple[float, int, list[dict[str, Any]]]]:
        """The best combinations: score, flash, calls. `correction`: bytes by which programs exceeded their
        estimate."""
        groups: dict[tuple[str, ...], list[_Operator]] = {}
        for operator in self.operators:
            groups.setdefault(operator.names, []).append(operator)
        options = [self._options(group, objective, default, limits) for group in groups.values()]
        found = _search.best(options, limits["flash"] - self.base["flash"] - correction, count)
        weights = sum(objective.values())
        start = sum(w * self.base[name] / max(default[name], 1) for name, w in objective.items()) / weights
        out = []
        for cost, flash, choices in found:
            calls = [{"op_index": o.index, "schedule": a["schedule"]} for group, a in zip(groups.values(), choices)
                     for o in group if a is not group[0].chosen]
            out.append((start + cost, self.base["flash"] + flash, calls))
        return out

    def _options(self, group: Sequence[_Operator], objective: Mapping[str, float], default: Mapping[str, Any],
                 limits: Mapping[str, int]) -> list[_search.Option]:
        """Layers that differ only in the contents of their tables share their code, so they have one common choice."""
        first, weights = group[0], sum(objective.values())
        out = []
        for a in first.alternatives:
            figures = self._of(first, a)
            if figures is None or not self._has_room(group, figures, limits):
                continue
            base = first.base
            code = (figures["code"] - base["code"]) * len(group) if figures["code"] and base["code"] else 0
            change = {"instructions": sum(figures["ticks"] - o.base["ticks"] if a is not first.chosen else 0 for o in group),
                      "flash": (figures["constants"] - base["constants"]) * len(group) + code, "ram": 0,
                      "cycles": (a.get("estimated_cycles", 0) - first.chosen.get("estimated_cycles", 0)) * len(group)}
            cost = sum(w * change[name] / max(default[name], 1) for name, w in objective.items()) / weights
            out.append(_search.Option(cost, change["flash"], a))
        return out

    def _has_room(self, group: Sequence[_Operator], figures: Mapping[str, int], limits: Mapping[str, int]) -> bool:
        """True if more scratch memory than the default's fits beside the live tensors."""
        return all(figures["scratch"] <= o.base["scratch"] or o.base["live"] - o.base["scratch"] + figures["scratch"] <= limits["ram"]
                   for o in group)
