#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the MLPerf Tiny benchmark's own runner, unmodified, on a terminal that is no USB device.

Usage: official.py RUNNER_DIR PORT [VID:PID] [PROGRAM] -- ARGUMENTS OF PROGRAM (main.py)

The benchmark's runner takes the serial port whose USB ids its list of devices has. A
pseudo-terminal (QEMU's, or the host firmware's) has none, so this gives pyserial's list of ports
one more entry: PORT, with the ids of the board that the list calls the device under test (0483:374b
unless others are given), and leaves the USB bus out. Everything else is the benchmark's, but packages
that are not installed: what only other runs than this one use of them fails there.
"""
import importlib.util
import os
import runpy
import sys
import types
import wave

import numpy
import serial.tools.list_ports_common


def absent(*_, **__):
    raise ImportError("this needs a package that is not installed: scikit-learn, matplotlib")


def read_wave(path):
    """As SciPy reads a file of 16 bits, but in more: stream_wav_uart.py's shifts overflow with NumPy 2."""
    with wave.open(path) as file:
        samples = numpy.frombuffer(file.readframes(file.getnframes()), "<i2").astype(int)
        channels = file.getnchannels()
        return file.getframerate(), samples.reshape(-1, channels) if channels > 1 else samples


def stand_in(module, always=False, **content):
    """A module, and those around it, if the package is not installed."""
    names = module.split(".")
    if not always and importlib.util.find_spec(names[0]) is not None:
        return
    for end in range(1, len(names) + 1):
        sys.modules[".".join(names[:end])] = made = types.ModuleType(".".join(names[:end]))
        if end > 1:
            setattr(sys.modules[".".join(names[:end - 1])], names[end - 1], made)
    vars(made).update(content)


def main():
    stand_in("sklearn.metrics", roc_auc_score=absent)
    stand_in("matplotlib.pyplot", clf=absent)
    stand_in("scipy.io.wavfile", always=True, read=read_wave)
    stand_in("usb.core")
    import serial.tools.list_ports
    import usb.core
    ours, theirs = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
    folder, path = os.path.abspath(ours[0]), ours[1]
    ids = next((word for word in ours[2:] if ":" in word), "0483:374b")
    program = next((word for word in ours[2:] if ":" not in word), "main.py")
    vendor, product = (int(x, 16) for x in ids.split(":"))

    def ports(include_links=False):
        port = serial.tools.list_ports_common.ListPortInfo(path)
        port.vid, port.pid, port.description = vendor, product, "pseudo-terminal"
        return [port]

    serial.tools.list_ports.comports = ports
    usb.core.find = lambda **_: iter(())
    sys.path.insert(0, folder)
    sys.argv = [program, *theirs]
    runpy.run_path(os.path.join(folder, program), run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit(0)
    if "--" not in sys.argv or sys.argv.index("--") < 3 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main()
