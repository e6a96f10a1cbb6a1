#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the MLPerf Tiny benchmark's own runner, unmodified, on a terminal that is no USB device.

Usage: official.py RUNNER_DIR PORT [VID:PID] -- ARGUMENTS OF main.py

The benchmark's runner takes the serial port whose USB ids its list of devices has. A
pseudo-terminal (QEMU's, or the host firmware's) has none, so this gives pyserial's list of ports
one more entry: PORT, with the ids of the board that the list calls the device under test (0483:374b
unless others are given), and leaves the USB bus out. Everything else is the benchmark's.
"""
import os
import runpy
import sys

import serial.tools.list_ports_common


def main():
    import serial.tools.list_ports  # the packages of the benchmark's runner
    import usb.core
    ours, theirs = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
    folder, path = os.path.abspath(ours[0]), ours[1]
    vendor, product = (int(x, 16) for x in (ours[2] if len(ours) > 2 else "0483:374b").split(":"))

    def ports(include_links=False):
        port = serial.tools.list_ports_common.ListPortInfo(path)
        port.vid, port.pid, port.description = vendor, product, "pseudo-terminal"
        return [port]

    serial.tools.list_ports.comports = ports
    usb.core.find = lambda **_: iter(())
    sys.path.insert(0, folder)
    sys.argv = ["main.py", *theirs]
    runpy.run_path(os.path.join(folder, "main.py"), run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit(0)
    if "--" not in sys.argv or sys.argv.index("--") < 3 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main()
