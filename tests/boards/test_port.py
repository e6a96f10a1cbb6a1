# SPDX-License-Identifier: Apache-2.0
"""aotc run and verify with --port: firmware that speaks over its UART, in machines of QEMU whose serial line
is a terminal or goes through a bridge that spoils it; and what is no such firmware.
"""
import json
import os
import pty
import random
import shutil
import signal
import socket
import subprocess
import termios
import threading
import time
import tty

import common
import numpy
import pytest
from checks import check, each_check  # noqa: F401

DIGITS = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
# The last is the firmware of a real board, on a machine that has its UART but not its clock.
MACHINES = {
    "qemu_mps2_an386": ["qemu-system-arm", "-M", "mps2-an386"],
    "qemu_riscv32": ["qemu-system-riscv32", "-M", "virt", "-bios", "none"],
    "nucleo_f446re": ["qemu-system-arm", "-M", "netduinoplus2", "-serial", "null"],
}
HANGS = 300  # seconds; each of the program's own limits is far below


def terminal():
    """A pseudo terminal: its controlling end, and the path that stands for the serial device."""
    master, slave = pty.openpty()
    tty.setraw(slave, termios.TCSANOW)
    return master, slave, os.ttyname(slave)


class Bridge:
    """A terminal before a machine's socket; `spoil` gets each piece and says what becomes of it, None: unplugged."""

    def __init__(self, machine, spoil):
        self.master, self.slave, self.path = terminal()
        self.machine, self.spoil = machine, spoil
        for reader, writer in ((self.from_host, self.to_machine), (self.from_machine, self.to_host)):
            threading.Thread(target=self.pump, args=(reader, writer), daemon=True).start()

    def from_host(self): return os.read(self.master, 4096)
    def to_host(self, data): os.write(self.master, data)
    def from_machine(self): return self.machine.recv(4096)
    def to_machine(self, data): self.machine.sendall(data)

    def pump(self, reader, writer):
        try:
            while data := reader():
                data = self.spoil(data)
                if data is None:
                    return self.unplug()
                if data:
                    writer(data)
        except OSError:
            pass

    def unplug(self):
        # The numbers stay taken: both threads may come here, and what another thread has opened since is not theirs to close.
        nothing = os.open(os.devnull, os.O_RDWR)
        for end in (self.slave, self.master):
            os.dup2(nothing, end, inheritable=False)
        os.close(nothing)


class Lines:
    """Projects, and machines of QEMU that run them."""

    def __init__(self, work):
        self.work, self.processes = work, []

    def aotc(self, *words):
        return subprocess.run([common.AOTC, *map(str, words)], capture_output=True, text=True, timeout=HANGS, stdin=subprocess.DEVNULL)

    def project(self, board, *options, name=None):
        folder = self.work / (name or board)
        if folder.exists():
            return folder
        made = self.aotc("create", DIGITS, "--board", board, "-o", folder, "-q", *options)
        built = self.aotc("build", folder, "-q")
        check(made.returncode == 0 and built.returncode == 0, f"{folder.name}: built", made.stderr + built.stderr)
        return folder

    def at_port(self, board):
        """Firmware that speaks over the board's UART."""
        return self.project(board, "--project-option", "semihosting=false")

    def start(self, board, folder, serial):
        words = [*MACHINES[board], "-icount", "shift=0", "-display", "none", "-monitor", "none", "-serial", serial,
                 "-kernel", folder / "build" / "firmware.elf"]
        process = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.processes.append(process)
        return process

    def machine(self, board, folder):
        """The path of a terminal that is the machine's line."""
        process = self.start(board, folder, "pty")
        line = process.stdout.readline()
        return next(word for word in line.split() if word.startswith("/dev/")), process

    def bridge(self, board, folder, spoil):
        """As `machine`, with everything that goes over the line seen by `spoil`."""
        path = self.work / f"{len(self.processes)}.line"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(1)
        process = self.start(board, folder, f"unix:{path}")
        return Bridge(listener.accept()[0], spoil), process

    def end(self, processes=None):
        """A machine that nobody asks waits at full speed: it ends with the check that it is for."""
        for process in processes or self.processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    missing = [p for p in ("qemu-system-arm", "qemu-system-riscv32", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc")
               if not shutil.which(p)]
    if missing:
        common.skip(f"{' '.join(missing)} not installed")
    some = Lines(tmp_path_factory.mktemp("lines"))
    yield some
    some.end()


@pytest.mark.parametrize("board", MACHINES)
def test_works(board, lines):
    """Text, figures and results are those that semihosting gives."""
    data, folder = lines.work / "data.npy", lines.at_port(board)
    numpy.save(data, numpy.random.default_rng(1).integers(-128, 128, (10, 1, 8, 8, 1), dtype=numpy.int8))
    path, machine = lines.machine(board, folder)
    emulated = lines.project(board, "--project-option", "semihosting=true", name=board + "_semihosting")
    expected = json.loads(lines.aotc("run", emulated, "--json").stdout)
    run = lines.aotc("run", folder, "--port", path, "--json")
    check(run.returncode == 0, f"{board}: runs", run.stdout + run.stderr)
    values = json.loads(run.stdout or "{}")
    check(values.get("self_test_exact") == 11 and values.get("guard_ok") == 1, f"{board}: self test", run.stdout)
    # Where another core stands in, only the emulator is known to count instructions; at a port the board has a clock.
    times = () if "stand_in" in expected else ("instructions", "nanoseconds", "op_ticks")
    for key in ("arena_bytes", "stack_bytes", *times):
        check(values.get(key) == expected.get(key), f"{board}: {key} as with semihosting", (values.get(key), expected.get(key)))
    check("stand_in" not in values, f"{board}: a board is no stand-in")
    for words in (("--seed", 5), ("--samples", 1), ("--data", data)):
        done = lines.aotc("verify", folder, "--port", path, "--only", "board", *words)
        check(done.returncode == 0 and (f"{board}: bit-exact in 11 of 11 layers" in done.stdout or "--data" in words), f"{board}: verify {words}",
              done.stdout + done.stderr)
    text = lines.aotc("run", folder, "--port", path).stdout
    check(("clock: 16000000 Hz, NOT full speed: waited in vain for HSIRDY" in text) == (board == "nucleo_f446re"),
          f"{board}: says what its clock is", text)
    # A host that went away in the middle leaves the line to the next.
    for delay in (0.05, 0.15, 0.3):
        started = subprocess.Popen([common.AOTC, "verify", str(folder), "--port", path, "--only", "board", "--samples", "20"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        started.send_signal(signal.SIGKILL)
        started.wait()
        done = lines.aotc("verify", folder, "--port", path, "--only", "board")
        check(done.returncode == 0, f"{board}: after a host that was killed", done.stdout + done.stderr)
    lines.end([machine])


@pytest.mark.parametrize("board", ["qemu_mps2_an386", "qemu_riscv32"])
def test_spoilt(board, lines):
    """One byte in 400 is changed, lost or doubled, in both directions."""
    chance = random.Random(7)

    def spoil(data):
        out = bytearray()
        for byte in data:
            kind = chance.randrange(1200)
            out += bytes([byte ^ 0x10]) if kind == 0 else b"" if kind == 1 else bytes([byte, byte]) if kind == 2 else bytes([byte])
        return bytes(out)

    folder = lines.at_port(board)
    bridge, machine = lines.bridge(board, folder, spoil)
    done = lines.aotc("verify", folder, "--port", bridge.path, "--only", "board", "--samples", 1)
    check(done.returncode == 0 and "bit-exact in 11 of 11" in done.stdout, f"{board}: a line that spoils bytes", done.stdout + done.stderr)
    lines.end([machine])


def refused(lines, what, slug, words, code=6):
    is_refused(what, slug, lines.aotc(*words), code)


def is_refused(what, slug, done, code=6):
    """`slug`: one, or several of which the time decides."""
    slugs = (slug,) if isinstance(slug, str) else slug
    check(done.returncode == code and any(f"[{s}]" in done.stderr for s in slugs), f"{what}: {slug}", f"{done.returncode} {done.stdout}{done.stderr}")


def test_hostile(lines):
    """Each ends with a located error."""
    board = "qemu_mps2_an386"
    folder, other = lines.at_port(board), lines.at_port("qemu_riscv32")
    lines.project(board, "--project-option", "semihosting=true", name=board + "_semihosting")
    jobs, ended = [], []

    def job(what, slug, words, machine=None):
        def run():
            ended.append((what, slug, lines.aotc(*words)))
            if machine:
                lines.end([machine])

        jobs.append(threading.Thread(target=run))
        jobs[-1].start()

    _, _, silent = terminal()
    job("a silent line", "rpc-silent", ("run", folder, "--port", silent))
    job("a silent line", "rpc-silent", ("verify", folder, "--port", silent, "--only", "board"))

    flood_master, _, flooded = terminal()

    def flood():
        noise = random.Random(3)
        try:
            while True:
                os.write(flood_master, noise.randbytes(1000))
        except OSError:
            pass

    threading.Thread(target=flood, daemon=True).start()
    job("a line that floods", "rpc-corrupted", ("run", folder, "--port", flooded))

    wrong, machine = lines.bridge(board, folder, lambda data: bytes(b ^ 0xA5 | 1 for b in data[::2]))
    job("a wrong baud rate", "rpc-corrupted", ("run", folder, "--port", wrong.path), machine=machine)
    talks_master, _, talks = terminal()

    def talk():
        try:
            while True:
                os.write(talks_master, b"\x1f\xfe\x80~ noise as of another rate \xff\x00\x13")
                time.sleep(0.05)
        except OSError:
            pass

    threading.Thread(target=talk, daemon=True).start()
    job("a device of another rate", "rpc-corrupted", ("run", folder, "--port", talks))

    for limit in (2000, 5000):  # behind what it says when it starts
        seen = [0]

        def cut(data, seen=seen, limit=limit):
            seen[0] += len(data)
            return None if seen[0] > limit else data

        bridge, machine = lines.bridge(board, folder, cut)
        job(f"unplugged after {limit} bytes", "rpc-closed", ("verify", folder, "--port", bridge.path, "--only", "board"), machine=machine)
    seen = [0]

    def stop(data, seen=seen):
        seen[0] += len(data)
        return b"" if seen[0] > 2000 else data

    bridge, machine = lines.bridge(board, folder, stop)
    # In the middle of an answer, too: of that, what came is damaged.
    job("dead in the middle", ("rpc-silent", "rpc-timeout", "device-timeout", "rpc-corrupted"), ("verify", folder, "--port", bridge.path, "--only", "board", "--timeout", 3),
        machine=machine)
    path, machine = lines.machine(board, folder)
    refused(lines, "firmware of another project", "firmware-other", ("run", other, "--port", path))
    refused(lines, "not in time", "device-timeout", ("verify", folder, "--port", path, "--only", "board", "--samples", 3000, "--timeout", 1))
    refused(lines, "no such port", "rpc-port", ("run", folder, "--port", lines.work / "none"))
    refused(lines, "no such rate", "rpc-port", ("run", folder, "--port", path, "--baud", 12345))
    refused(lines, "firmware with semihosting", "project-not-run", ("run", lines.work / "qemu_mps2_an386_semihosting", "--port", path))
    refused(lines, "a model at a port", "port-unused", ("verify", DIGITS, "--port", path), code=2)
    refused(lines, "the host at a port", "port-unused", ("verify", folder, "--port", path, "--only", "host"), code=2)
    lines.end([machine])
    for thread in jobs:
        thread.join()
    assert len(ended) == len(jobs)
    for what, slug, done in ended:
        is_refused(what, slug, done)


def test_frameworks(lines):
    """Firmware on a framework prints its demo when it starts: what comes until then is shown."""
    sketch = lines.work / "sketch"
    made = lines.aotc("create", DIGITS, "--project", "arduino-sketch", "-o", sketch, "-q")
    check(made.returncode == 0, "a sketch", made.stderr)
    for text, code, slug in ((b"hello\r\n@aotc done status=0\r\n", 0, ""), (b"@aotc done status=-1\r\n", 6, "device-failed")):
        master, _, path = terminal()
        threading.Timer(1, os.write, (master, text)).start()
        done = lines.aotc("run", sketch, "--port", path)
        check(done.returncode == code and slug in done.stderr, f"a sketch that says {text}", done.stdout + done.stderr)
    master, _, path = terminal()
    threading.Timer(0.5, os.write, (master, b"hello\r\n")).start()
    refused(lines, "a demo without an end", "device-timeout", ("run", sketch, "--port", path, "--timeout", 2))
    _, _, path = terminal()
    refused(lines, "a board that says nothing", "rpc-silent", ("run", sketch, "--port", path))
    benchmark = lines.work / "benchmark"
    lines.aotc("create", DIGITS, "--project", "mlperf-tiny", "--board", "qemu_mps2_an386", "-o", benchmark, "-q")
    refused(lines, "the benchmark's firmware", "project-not-run", ("run", benchmark, "--port", path))
