# SPDX-License-Identifier: Apache-2.0
"""Compiles trained networks to C for microcontrollers, and proves the result.

>>> import aotc
>>> m = aotc.compile("kws.tflite", cpu="cortex-m4f")
>>> m.arena          # bytes of RAM
>>> m(x)             # the emitted C on this computer, bit for bit what the device computes
>>> m.write("kws")   # the C files
"""
from ._command import program, version
from ._errors import (DeviceError, DoesNotFitError, Error, InternalError, ModelError, OptionError, ToolMissingError,
                      VerificationError)
from ._model import Layers, Model, Report, Tensor, compile

__all__ = ["DeviceError", "DoesNotFitError", "Error", "InternalError", "Layers", "Model", "ModelError", "OptionError",
           "Report", "Tensor", "ToolMissingError", "VerificationError", "compile", "program", "version"]
