# SPDX-License-Identifier: Apache-2.0
"""The exact search: chooses one option for each group of layers with the least sum of costs whose bytes are within
a limit."""
from __future__ import annotations

import bisect
import dataclasses
from typing import Any, Sequence


@dataclasses.dataclass(frozen=True)
class Option:
    cost: float  #: beside what the default costs
    flash: int  #: bytes, beside the default's
    choice: Any  #: whose it is


@dataclasses.dataclass(frozen=True)
class _State:
    cost: float
    flash: int
    before: "_State | None"
    option: Option | None

    def choices(self) -> list[Any]:
        out, at = [], self
        while at.option is not None:
            out.append(at.option.choice)
            assert at.before is not None
            at = at.before
        return out[::-1]


def best(groups: Sequence[Sequence[Option]], limit: int, count: int) -> list[tuple[float, int, list[Any]]]:
    """The `count` cheapest choices of one option of each group with at most `limit` bytes: cost, bytes, choices in
    the order of the groups. Exact: a partial choice is dropped only if `count` others have no higher cost and no
    more bytes."""
    if not count or any(not group for group in groups):
        return []
    # What the groups behind take at least.
    rest = [0]
    for group in reversed(groups):
        rest.append(rest[-1] + min(o.flash for o in group))
    rest.reverse()
    states = [_State(0.0, 0, None, None)]
    for i, group in enumerate(groups):
        room = limit - rest[i + 1]
        grown = [_State(s.cost + o.cost, s.flash + o.flash, s, o) for s in states for o in group if s.flash + o.flash <= room]
        states = _undominated(grown, count)
    return [(s.cost, s.flash, s.choices()) for s in sorted(states, key=lambda s: (s.cost, s.flash))[:count]]


def _undominated(states: list[_State], count: int) -> list[_State]:
    """Drops entries that are dominated by `count` others in cost and in bytes."""
    kept: list[_State] = []
    bytes_of: list[int] = []  # the least `count` of those kept, in order: more are never looked at
    for state in sorted(states, key=lambda s: (s.cost, s.flash)):
        if len(bytes_of) == count and bytes_of[-1] <= state.flash:
            continue
        kept.append(state)
        bisect.insort(bytes_of, state.flash)
        del bytes_of[count:]
    return kept


def undominated(rows: Sequence[Any], figures: Sequence[Sequence[int]]) -> list[Any]:
    """The Pareto-optimal rows: no other row is as good in all figures and better in one; the first of equal rows."""
    out = []
    for i, (row, mine) in enumerate(zip(rows, figures)):
        beaten = any(all(a <= b for a, b in zip(other, mine)) and (tuple(other) != tuple(mine) or k < i)
                     for k, other in enumerate(figures) if k != i)
        if not beaten:
            out.append(row)
    return out
