# SPDX-License-Identifier: Apache-2.0
"""Runs points on an executor, at least once each, and checks every result before it is used.

A limited number of points is in progress at a time; others are taken from their iterator when there is room. If a
worker dies, its points are run again. An invalid result is requested again, from another worker if the executor can
choose one. A point without any valid result is poisoned and reported. Some points run twice; if two workers differ,
`Disagreement` is raised with both results.
"""
from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import dataclasses
import os
from typing import Any, Callable, Iterable, Iterator, Mapping

from . import _errors, _points, _store, executors

ATTEMPTS = 3  # of a point, before it is poisoned
STALLED = 4 * 3 * _points.SECONDS  # seconds without any result, longer than the steps of a point may take
LOOKS = 5  # seconds between two looks at an executor whose workers may leave
_DECLINES = 16  # how often a pool may hand a second run to the first worker again


class Disagreement(_errors.Error):
    """Two different results for one point. `first` and `second` name their workers; neither result is stored."""

    def __init__(self, message: str, first: dict[str, Any], second: dict[str, Any]):
        super().__init__(message)
        self.first, self.second = first, second


@dataclasses.dataclass
class Counts:
    """Statistics of a run. They are not stored in result files."""

    cached: int = 0  #: points whose result was there
    measured: int = 0  #: points that ran
    repeated: int = 0  #: that ran once more, elsewhere
    lost: int = 0  #: times that a worker died with a point
    refused: int = 0  #: results that were none
    poisoned: dict[str, str] = dataclasses.field(default_factory=dict)  #: why, by key


@dataclasses.dataclass
class _Job:
    point: _points.Point
    key: str
    first: dict[str, Any] | None = None  # of a second run: what the first one said
    avoid: list[str] = dataclasses.field(default_factory=list)
    attempts: int = 0
    deaths: int = 0
    declined: int = 0
    why: str = ""


class Engine:
    """`executor`: an Executor, or a function that creates one; the function is called again if a worker's death
    broke the executor."""

    def __init__(self, executor: Any, store: _store.Store, models: Mapping[str, bytes], *, repeat: float = 0.05,
                 window: int | None = None, report: Callable[[str], None] | None = None):
        self._make = executor if not hasattr(executor, "submit") else None
        self._executor = executor() if self._make else executor
        self.store, self.counts = store, Counts()
        self._models, self._repeat, self._report = models, repeat, report
        self._window = window or 2 * (getattr(self._executor, "_max_workers", None) or 2 * (os.cpu_count() or 1))

    def close(self) -> None:
        if self._make:
            self._executor.shutdown(cancel_futures=True)

    # --- What is asked ---------------------------------------------------------------------------

    def results(self, points: Iterable[_points.Point]) -> Iterator[tuple[_points.Point, dict[str, Any]]]:
        """Each point with its value, in order of completion; poisoned points have {"state": "poisoned", "message":
        ...}."""
        def jobs() -> Iterator[_Job]:
            seen = set()
            for point in points:
                key = _points.key_of(point)
                if key in seen:
                    continue
                seen.add(key)
                yield _Job(point, key)
        yield from self._run(jobs())

    def values(self, points: Iterable[_points.Point]) -> dict[str, dict[str, Any]]:
        """All values, by key."""
        return {_points.key_of(point): value for point, value in self.results(points)}

    def confirm(self, points: Iterable[_points.Point]) -> dict[str, dict[str, Any]]:
        """Values of points for which two workers agreed, by key."""
        points = list(points)
        values = self.values(points)
        again = []
        for point in points:
            key = _points.key_of(point)
            result = self.store.result(point)
            if result is not None and not self.store.confirmed(key):
                again.append(_Job(point, key, result, [result["worker"]]))
        collections.deque(self._run(iter(again)), maxlen=0)
        return values

    # --- How it runs -----------------------------------------------------------------------------

    def _run(self, jobs: Iterator[_Job]) -> Iterator[tuple[_points.Point, dict[str, Any]]]:
        under_way: dict[concurrent.futures.Future[Any], _Job] = {}
        again: collections.deque[_Job] = collections.deque()
        suspects: collections.deque[_Job] = collections.deque()  # were under way when a worker died
        more = True
        try:
            while True:
                while more and not suspects and len(under_way) < self._window:
                    job = again.popleft() if again else next(jobs, None)
                    if job is None:
                        break
                    known = self._known(job)
                    if known is not None:
                        yield job.point, known
                    else:
                        self._start(job, under_way, again, suspects)
                if suspects and not under_way:  # one at a time: who dies alone is to blame
                    self._start(suspects.popleft(), under_way, again, suspects)
                if not under_way:
                    if again or suspects:
                        continue
                    return
                done = self._wait(under_way)
                if not done:
                    raise _errors.DeviceError(f"no worker has answered for {STALLED} seconds; finished results are stored: run "
                                              "the same command to continue")
                for future in done:
                    job = under_way.pop(future)
                    value = self._finish(job, future, again, suspects)
                    if value is not None:
                        yield job.point, value
        finally:
            for future in under_way:
                with contextlib.suppress(Exception):
                    future.cancel()

    def _wait(self, under_way: Mapping[concurrent.futures.Future[Any], _Job]) -> set[concurrent.futures.Future[Any]]:
        look = getattr(self._executor, "look", lambda: None)
        for _ in range(STALLED // LOOKS):
            done, _ = concurrent.futures.wait(under_way, LOOKS, concurrent.futures.FIRST_COMPLETED)
            if done:
                return done
            look()
        return set()

    def _known(self, job: _Job) -> dict[str, Any] | None:
        if job.first is not None or job.attempts or job.deaths:
            return self._poison(job) if job.attempts >= ATTEMPTS or job.deaths > ATTEMPTS else None
        result = self.store.result(job.point)
        if result is None:
            return None
        self.counts.cached += 1
        return dict(result["value"])

    def _poison(self, job: _Job) -> dict[str, Any]:
        why = job.why or "a worker died while it measured the point"
        self.counts.poisoned[job.key] = why
        self._say(f"poisoned: {job.key[:12]}: {why}")
        return {"state": "poisoned", "message": why}

    def _start(self, job: _Job, under_way: dict[Any, _Job], again: collections.deque[_Job],
               suspects: collections.deque[_Job]) -> None:
        model = self._models[job.point["model"]]
        requires = _points.requirements(job.point["board"])
        try:
            where = getattr(self._executor, "submit_where", None)
            if where is not None:
                future = where(requires, job.avoid, _points.measure, job.point, model, ())
            else:
                lacking = _points.lacking(requires)
                if lacking:
                    raise executors.Unavailable(f"{job.point['board']}: this machine has no {', '.join(lacking)}")
                future = self._executor.submit(_points.measure, job.point, model, tuple(job.avoid))
        except executors.Unavailable as error:
            job.attempts, job.why = ATTEMPTS, str(error)
            again.append(job)
            return
        except (concurrent.futures.BrokenExecutor, RuntimeError):
            self._renew()
            again.append(job)
            return
        under_way[future] = job

    def _renew(self) -> None:
        if self._make is None:
            raise _errors.DeviceError("the executor is broken: one of its workers died. Finished results are stored: run the "
                                      "command again, or pass a function that creates executors "
                                      "(executor=aotc.executors.processes) instead of an executor")
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._make()

    def _finish(self, job: _Job, future: Any, again: collections.deque[_Job],
                suspects: collections.deque[_Job]) -> dict[str, Any] | None:
        try:
            result = future.result()
        except (concurrent.futures.BrokenExecutor, concurrent.futures.CancelledError):
            self.counts.lost += 1
            job.deaths += 1
            job.why = "a worker died while it measured the point"
            (again if job.deaths > ATTEMPTS else suspects).append(job)
            return None
        except Exception as error:  # noqa: BLE001  whatever a worker raises
            return self._refuse(job, f"{type(error).__name__}: {error}"[:500], "", again)
        where = ""
        if isinstance(result, executors.Placed):
            if result.error:
                return self._refuse(job, result.error, result.worker, again)
            where, result = result.worker, result.result
        problem = _points.problem_of(job.point, result)
        if problem:
            return self._refuse(job, f"a worker returned an invalid result: {problem}", where, again)
        if where:  # what the executor says, not what the worker says
            result = _points.sealed(result["key"], result["value"], where)
        if result["value"]["state"] == "declined" or (job.first is not None and where and where in job.avoid):
            if where:
                job.declined = _DECLINES  # the executor knows that there is nobody else
            return self._declined(job, again)
        return self._take(job, result, again)

    def _refuse(self, job: _Job, why: str, worker: str, again: collections.deque[_Job]) -> None:
        self.counts.refused += 1
        job.attempts += 1
        job.why = why
        if worker:
            job.avoid.insert(0, worker)  # rather the one that made the first result than this one
        self._say(f"again: {job.key[:12]}: {why}")
        again.append(job)

    def _declined(self, job: _Job, again: collections.deque[_Job]) -> dict[str, Any] | None:
        job.declined += 1
        if job.declined < _DECLINES:
            again.append(job)
            return None
        # The executor has one worker: the client itself is the other.
        return self._take(job, _points.measure(job.point, self._models[job.point["model"]]), again)

    def _take(self, job: _Job, result: dict[str, Any], again: collections.deque[_Job]) -> dict[str, Any] | None:
        if not _points.is_fact(result):
            return self._refuse(job, result["value"].get("message", ""), result["worker"], again)
        if job.first is None:
            self.counts.measured += 1
            if not self._is_drawn(job.key):
                self.store.keep(result)
                return dict(result["value"])
            second = _Job(job.point, job.key, result, [*job.avoid, result["worker"]])
            again.append(second)
            return None
        self.counts.repeated += 1
        if result["value"] != job.first["value"]:
            path = self.store.quarantine(job.key, job.first, result)
            raise Disagreement(f"two workers disagree about the point {job.key[:12]} (board {job.point['board']}): "
                               f"{job.first['worker']} and {result['worker']}; both results are in {path}", job.first, result)
        self.store.keep(job.first)
        self.store.confirm(job.key, [job.first["worker"], result["worker"]])
        return dict(result["value"])

    def _is_drawn(self, key: str) -> bool:
        """True for the same points in every run."""
        return int(key[:8], 16) < self._repeat * (1 << 32)

    def _say(self, text: str) -> None:
        if self._report:
            self._report(text)
