# SPDX-License-Identifier: Apache-2.0
"""An emulated Cortex-M that is stopped and looked at through QEMU's gdb stub: memory is painted and read, instructions
are stepped. The protocol is gdb's remote one; no gdb is needed."""
import os
import socket
import subprocess
import tempfile
import time

SP, PC, XPSR = 13, 15, 25
PATIENCE = 120


class Machine:
    """A firmware in QEMU, stopped before its first instruction. What it writes on its line comes from `process.stdout`."""

    def __init__(self, argv):
        self._folder = tempfile.TemporaryDirectory(prefix="aotc_gdb_")
        path = os.path.join(self._folder.name, "s")
        self.process = subprocess.Popen([*argv, "-S", "-gdb", f"unix:{path},server=on,wait=off"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self._socket.connect(path)
                break
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.05)
        self._left = b""
        self.ask("qXfer:features:read:target.xml:0,ff")  # without it single registers are not read
        self.ask("?")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self._folder.cleanup()

    def _byte(self):
        if not self._left:
            self._left = self._socket.recv(65536)
            if not self._left:
                raise EOFError("the emulator ended")
        byte, self._left = self._left[:1], self._left[1:]
        return byte

    def _answer(self):
        while self._byte() != b"$":
            pass
        text = b""
        while (byte := self._byte()) != b"#":
            text += byte
        self._byte()
        self._byte()
        self._socket.sendall(b"+")
        return text.decode("latin-1")

    def _send(self, text):
        data = text.encode()
        self._socket.sendall(b"$" + data + b"#%02x" % (sum(data) % 256))

    def ask(self, text):
        self._send(text)
        return self._answer()

    def register(self, number):
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}")), "little")

    def read(self, address, size):
        """Bytes, or None for those that cannot be read."""
        out = []
        for at in range(address, address + size, 32):
            answer = self.ask(f"m{at:x},{min(32, address + size - at):x}")
            count = min(32, address + size - at)
            out += [None] * count if answer.startswith("E") else bytes.fromhex(answer)
        return out

    def write(self, address, data):
        for at in range(0, len(data), 512):
            piece = data[at:at + 512]
            if self.ask(f"M{address + at:x},{len(piece):x}:{piece.hex()}") != "OK":
                raise OSError(f"{address + at:#x} cannot be written")

    def stop_at(self, address, on=True):
        answer = self.ask(f"{'Z' if on else 'z'}0,{address:x},2")
        if answer != "OK":
            raise OSError(f"no place to stop at: {address:#x}: {answer}")

    def step(self):
        self.ask("s")

    def go(self):
        """Runs; whoever reads the line may go on. stopped() waits for a place to stop at, interrupt() stops at once."""
        self._send("c")

    def stopped(self, seconds):
        """The address at which it stopped, or None if it is still running after that time."""
        self._socket.settimeout(seconds)
        try:
            self._answer()
        except TimeoutError:
            return None
        finally:
            self._socket.settimeout(PATIENCE)
        return self.register(PC)

    def interrupt(self):
        self._socket.sendall(b"\x03")
        self._answer()
