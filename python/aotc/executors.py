# SPDX-License-Identifier: Apache-2.0
"""Where points run: any `concurrent.futures.Executor`, and Dask.

>>> import aotc.executors
>>> aotc.executors.processes(4)      # a pool of processes of this machine
>>> aotc.executors.Serial()          # one after the other, in this process
>>> aotc.executors.dask(client)      # the workers of a Dask cluster
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import threading
import time
from typing import Any, Callable, Sequence

from . import _convert, _errors

__all__ = ["Serial", "Unavailable", "dask", "processes"]


class Unavailable(_errors.Error):
    """No worker has what a point requires."""


class Serial(concurrent.futures.Executor):
    """Runs each submitted call at once, in the calling thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  as other executors do
            future.set_exception(error)
        return future


def processes(count: int | None = None) -> concurrent.futures.ProcessPoolExecutor:
    """A pool of `count` processes of this machine, by default one a processor."""
    # Forked: nothing is imported again, and scripts need no `if __name__ == "__main__"`.
    context = multiprocessing.get_context("fork")
    return concurrent.futures.ProcessPoolExecutor(count or os.cpu_count() or 1, mp_context=context, initializer=_end_with,
                                                  initargs=(os.getpid(),))


def _end_with(parent: int) -> None:
    """Ends this process soon after its parent: the workers of a pool whose parent was killed would wait for ever."""
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)
    threading.Thread(target=watch, daemon=True).start()


def dask(client: Any) -> "Dask":
    """The workers of a Dask cluster, as what `tune` and `conformance` take for `executor`.

    `client` is a `distributed.Client`, or the address of a scheduler. What a point requires is asked for as Dask's
    resources, one of each, so a worker says what it has, and how many of it at a time:

        dask worker tcp://host:8786 --resources "toolchain:arm-none-eabi-gcc=4 emulator:qemu-system-arm=4"

    Workers have the package aotc, of the same version."""
    distributed = _convert.module("distributed", "running on Dask")
    return Dask(distributed.Client(client) if isinstance(client, str) else client)


class Dask(concurrent.futures.Executor):
    """See `dask`."""

    def __init__(self, client: Any):
        self.client = client
        self._bound: list[tuple[_Future, frozenset[str]]] = []  # what may run on these workers only

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return self.submit_where((), (), fn, *args, **kwargs)

    def workers(self, requires: Sequence[str] = ()) -> list[str]:
        """Addresses of the workers that have all of these labels."""
        known = self.client.scheduler_info(n_workers=-1)["workers"]
        return sorted(address for address, about in known.items()
                      if all(about.get("resources", {}).get(label, 0) >= 1 for label in requires))

    def submit_where(self, requires: Sequence[str], avoid: Sequence[str], fn: Callable[..., Any], /, *args: Any,
                     **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Submits to a worker that has these labels and is not in `avoid`. If none is left, the last entries of
        `avoid` are allowed until one is."""
        able = self.workers(requires)
        if not able:
            raise Unavailable(f"no worker has {', '.join(requires)}: start one with --resources "
                              f"\"{' '.join(f'{label}=1' for label in requires)}\"")
        avoided = len(avoid)
        while not (others := [a for a in able if a not in avoid[:avoided]]):
            avoided -= 1
        # Without `where` Dask takes any worker, also one without the labels once those that have them are gone.
        where = {"workers": others, "allow_other_workers": False} if avoided else {}
        resources = {label: 1 for label in requires}
        # pure=False: a second run of the same point is to run.
        future = _Future(self.client.submit(_on_worker, fn, args, kwargs, pure=False, resources=resources or None, **where))
        if where:
            self._bound.append((future, frozenset(others)))
        return future

    def look(self) -> None:
        """Fails the futures whose only possible workers are gone: Dask would wait until they come back."""
        here = set(self.workers())
        self._bound = [(future, allowed) for future, allowed in self._bound if not future.done()]
        for future, allowed in self._bound:
            if not allowed & here:
                future.fail("the workers that may run it are gone")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves the cluster running: the creator of the client closes it."""


class _Future(concurrent.futures.Future):  # type: ignore[type-arg]
    """A future of Dask as one of concurrent.futures."""

    def __init__(self, inner: Any):
        super().__init__()
        self._inner = inner
        inner.add_done_callback(self._take)

    def _take(self, inner: Any) -> None:
        error = None if inner.cancelled() else inner.exception()
        with contextlib.suppress(concurrent.futures.InvalidStateError):  # it failed, or was cancelled, before
            if inner.cancelled():
                self.set_exception(concurrent.futures.BrokenExecutor("Dask cancelled the task"))
            elif error is not None:
                self.set_exception(error)
            else:
                self.set_result(inner.result())

    def fail(self, why: str) -> None:
        with contextlib.suppress(concurrent.futures.InvalidStateError):
            self.set_exception(concurrent.futures.BrokenExecutor(why))
        self._inner.cancel()

    def cancel(self) -> bool:
        self._inner.cancel()
        return super().cancel()


def _on_worker(fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The result with the address of the worker: a result's own claims are not trusted."""
    from distributed import get_worker  # type: ignore[import-not-found,import-untyped,unused-ignore]
    try:
        return Placed(get_worker().address, fn(*args, **kwargs))
    except Exception as error:  # noqa: BLE001  as text: not every exception survives the way to the client
        return Placed(get_worker().address, None, f"{type(error).__name__}: {error}"[:500])


class Placed:
    """A result, and the worker that Dask reports for it."""

    def __init__(self, worker: str, result: Any, error: str = ""):
        self.worker, self.result, self.error = worker, result, error
