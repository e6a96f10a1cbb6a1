# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package: one class for each exit code of the command."""
from __future__ import annotations

import re


class Error(Exception):
    """Base of all errors of this package. `str()` is the message of the command, with file, location and help."""

    #: The identifier in brackets behind the message, such as "op-unsupported"; docs/errors.md explains each.
    slug: str | None = None
    #: The whole text of a framework's converter that refused the model; `str()` has its reason.
    converter_output: str | None = None

    def __init__(self, message: str):
        super().__init__(message)
        found = re.search(r"error: .*\[([a-z0-9-]+)\]", message)
        self.slug = found.group(1) if found else None


class ModelError(Error):
    """The model is damaged, or has a part that aotc does not support."""


class OptionError(Error, ValueError):
    """The command does not have an option, or does not accept its value."""


class DoesNotFitError(Error):
    """The program needs more memory than the board has."""


class VerificationError(Error):
    """A layer differs from the reference, or results differ."""


class ToolMissingError(Error):
    """A compiler, an emulator or a Python package is not installed; the message states how to install it."""


class DeviceError(Error):
    """A device did not answer, or its answer was invalid."""


class InternalError(Error):
    """A bug in aotc."""


_OF_EXIT_CODE = {1: ModelError, 2: OptionError, 3: DoesNotFitError, 4: VerificationError, 5: ToolMissingError,
                 6: DeviceError}


def of_exit_code(code: int, message: str) -> Error:
    """The exception for an exit code and the command's standard error."""
    lines = [line for line in message.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if "error: " in line), 0)
    text = "\n".join(lines[first:]) or f"aotc ended with code {code}"
    if code == 1 and (text.startswith("--") or "[board-unknown]" in text):  # what is wrong is the value of an option
        code = 2
    return _OF_EXIT_CODE.get(code, InternalError)(text)
