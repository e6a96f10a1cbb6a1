# SPDX-License-Identifier: Apache-2.0
"""Shows a line while a slow step runs, and removes it at the end; only on a terminal and in notebooks, so logs do
not contain it. AOTC_PROGRESS=off disables it."""
from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import Any, Callable

QUIET = 1.0  # seconds before anything is said
BETWEEN = 0.5  # seconds


def _terminal() -> Callable[[str], None] | None:
    stream = sys.stderr
    if stream is None or not stream.isatty():
        return None

    def show(text: str) -> None:
        stream.write(f"\r\x1b[K{text}")
        stream.flush()
    return show


def _notebook() -> Callable[[str], None] | None:
    """None outside of a Jupyter kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    display: Any = sys.modules["IPython"].display
    handle: list[Any] = []

    def show(text: str) -> None:
        page = display.HTML(f"<pre>{text}</pre>" if text else "")
        if handle:
            handle[0].update(page)
        else:
            handle.append(display.display(page, display_id=True))
    return show


class Doing:
    """`with Doing("verifying kws"): ...` shows the text with the seconds that it has taken."""

    def __init__(self, text: str):
        self._text, self._done = text, threading.Event()
        self._show = None if os.environ.get("AOTC_PROGRESS") == "off" else _notebook() or _terminal()
        self._thread: threading.Thread | None = None

    def _run(self, began: float) -> None:
        assert self._show is not None
        wait, shown = QUIET, False
        while not self._done.wait(wait):
            self._show(f"aotc: {self._text} ... {time.monotonic() - began:.0f} s")
            wait, shown = BETWEEN, True
        if shown:
            self._show("")

    def __enter__(self) -> Doing:
        if self._show is not None:
            self._thread = threading.Thread(target=self._run, args=(time.monotonic(),), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
