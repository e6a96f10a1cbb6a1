# SPDX-License-Identifier: Apache-2.0
"""What a command costs. Whoever measures imports little: a child's memory is at least that of the process that starts it."""
import os
import subprocess
import time


def measured(command, said):
    """Exit code, text (kept in the file `said`), bytes of memory at most, seconds of the processor, seconds."""
    start = time.monotonic()
    with open(said, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        status, usage = os.wait4(process.pid, 0)[1:]
    process.returncode = os.waitstatus_to_exitcode(status)
    return (process.returncode, said.read_text(), usage.ru_maxrss << 10, usage.ru_utime + usage.ru_stime,
            time.monotonic() - start)
