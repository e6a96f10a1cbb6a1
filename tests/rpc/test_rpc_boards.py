# SPDX-License-Identifier: Apache-2.0
"""Operators of TVM's own archives on emulated boards, through the aotc command.

Makes firmware of op_add, calls it through the function registry of the device and compares with
NumPy's sum; then talks to the same firmware with a client of the protocol written here from
docs/rpc.md: damaged frames, a restart, a tensor that is too large.
"""
import binascii
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import time

import common
import numpy as np
import pytest

BOARDS = ["host", "qemu_mps2_an385", "qemu_mps2_an386", "qemu_mps2_an500", "qemu_mps2_an505", "qemu_mps3_an547", "qemu_riscv32"]
ARCHIVE = common.SHARED / "tvm" / "op_add_crt_syslib.tar"
HELLO, LIST, ALLOCATE, WRITE, READ, CALL, TIME, FREE, RESET = range(1, 10)
WORKING, ERROR = 0xF0, 0xFF


def check(condition, what, shown=""):
    assert condition, f"{what}\n{shown}"


def need_tools(board):
    data = common.board(board)
    wanted = [data["toolchain"]["compiler"], "cmake"]
    if data["emulator"]["program"] != "{image}":
        wanted.append(data["emulator"]["program"])
    missing = [p for p in wanted if shutil.which(p) is None]
    if missing:
        common.missing(f"{', '.join(missing)} not there")


def need_archive():
    if not ARCHIVE.exists():
        common.missing(f"{ARCHIVE} not there")


every_board = pytest.mark.parametrize("project", BOARDS, indirect=True)


@pytest.fixture(scope="module")
def project(request, tmp_path_factory):
    """A firmware of op_add for a board."""
    need_tools(request.param)
    need_archive()
    folder = tmp_path_factory.mktemp(request.param) / "project"
    common.aotc("create", ARCHIVE, "--project", "host-driven", "--board", request.param, "-o", folder)
    common.aotc("build", "-q", folder)
    return folder


# --- The protocol, from its description ----------------------------------------------------------

def cobs(data):
    return b"".join(_cobs_block(part, last) for part, last in _split(data))


def _split(data):
    parts = data.split(b"\0")
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        while len(part) >= 254:
            full, part = part[:254], part[254:]
            yield full, last and not part
            if last and not part:
                return
        yield part, last


def _cobs_block(part, _):
    return bytes([len(part) + 1]) + part


def uncobs(data):
    out = b""
    while data:
        block, data = data[:data[0]], data[data[0]:]
        out += block[1:] + (b"\0" if data and block[0] < 255 else b"")
    return out


def frame(kind, sequence, session, payload=b"", version=1):
    packet = struct.pack("<BBHIH", version, kind, sequence, session, len(payload)) + payload
    return b"\0" + cobs(packet + struct.pack("<I", binascii.crc32(packet))) + b"\0"


def packets(stream):
    """(version, type, sequence, session, payload) of every good packet in the bytes."""
    for piece in stream.split(b"\0"):
        try:
            data = uncobs(piece)
        except IndexError:
            continue
        if len(data) >= 14 and struct.unpack("<I", data[-4:])[0] == binascii.crc32(data[:-4]):
            version, kind, sequence, session, length = struct.unpack("<BBHIH", data[:10])
            if length == len(data) - 14:
                yield version, kind, sequence, session, data[10:-4]


class Device:
    """Firmware in its emulator, with the line on a socket."""

    def __init__(self, project):
        manifest = json.loads((project / "aotc.json").read_text())
        board = common.board(manifest["board"])
        image = project / manifest["image"]
        self.line, theirs = socket.socketpair()
        command = [a.replace("{image}", str(image)).replace("{arguments}", "")
                   for a in board["emulator"]["argv"] if a != "{arguments}"]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs,
                                        stderr=subprocess.DEVNULL)
        theirs.close()
        self.sequence, self.session, self.heard = 0, 4711, b""

    def close(self):
        self.process.kill()
        self.process.wait()
        self.line.close()

    def listen(self, seconds, done=lambda _: False):
        self.heard = b""
        until = time.monotonic() + seconds
        while not done(self.heard) and (left := until - time.monotonic()) > 0:
            self.line.settimeout(left)
            try:
                piece = self.line.recv(65536)
            except TimeoutError:
                break
            if not piece:
                raise common.Failure("the emulator ended")
            self.heard += piece
        return self.heard

    def ask(self, kind, payload=b"", seconds=200):
        """The answer's type and payload; None if there is none."""
        self.sequence = (self.sequence + 1) & 0xFFFF

        def answers(heard):
            return [p for p in packets(heard) if p[2] == self.sequence and p[1] != WORKING]
        for _ in range(3):
            self.line.sendall(frame(kind, self.sequence, self.session, payload))
            found = answers(self.listen(seconds, answers))
            if found:
                return found[0][1], found[0][4]
        return None


def allocate(slot, *shape, code=0, bits=8):
    return struct.pack("<BBBHB", slot, code, bits, 1, len(shape)) + b"".join(
        struct.pack("<I", d) for d in shape)


def call_add(device, a, b):
    for slot, n in ((0, len(a)), (1, 1), (2, len(a))):
        device.ask(ALLOCATE, allocate(slot, n))
    device.ask(WRITE, struct.pack("<BI", 0, 0) + bytes(x & 255 for x in a))
    device.ask(WRITE, struct.pack("<BI", 1, 0) + bytes([b & 255]))
    kind, payload = device.ask(CALL, b"\xff\xffadd\0" + bytes([3, 7, 0, 7, 1, 7, 2]))
    if kind != CALL | 0x80 or struct.unpack_from("<i", payload)[0] != 0:
        raise common.Failure(f"call: type {kind}, {payload}")
    kind, payload = device.ask(READ, struct.pack("<BIH", 2, 0, len(a)))
    return list(struct.unpack(f"<{len(a)}b", payload))


@pytest.fixture
def device(project):
    one = Device(project)
    yield one
    one.close()


@every_board
def test_protocol(device):
    kind, info = device.ask(HELLO)
    check(kind == HELLO | 0x80 and len(info) > 24, "the device greets a client of our own")
    check(call_add(device, [1, -5], 7) == [8, 2], "op_add is right through our own client")
    pool = struct.unpack_from("<I", info, 8)[0]
    kind, payload = device.ask(ALLOCATE, allocate(3, pool + 1))
    check(kind == ERROR and struct.unpack("<HI", payload) == (7, pool + 1),
          "a tensor larger than the pool is refused")
    kind, payload = device.ask(READ, struct.pack("<BIH", 2, 0, 60000))
    check(kind == ERROR and payload[0] == 8, "reading beyond a tensor is refused")
    # Half a frame, then noise: the next frame is read whatever was before.
    device.line.sendall(frame(CALL, 9, 4711, b"\xff\xffadd\0")[:9] + os.urandom(40))
    check(call_add(device, [3, 4], 1) == [4, 5], "resynchronises after garbage")
    fuzz(device, 500)
    if info[7] & 4:
        restart(device)


def fuzz(device, count):
    """Frames of every kind of damage; in between the device must still answer."""
    source = random.Random(1)
    good = [frame(kind, 1, session, bytes(source.randrange(256) for _ in range(size)))
            for kind in (LIST, ALLOCATE, WRITE, READ, FREE, 0x55) for size in (0, 1, 7, 40)
            for session in (4711, 1)]
    good.append(frame(LIST, 1, 4711, b"\0\0\xff\xff"))
    good.append(frame(WRITE, 1, 4711, bytes(1800)))
    sent = b""
    for number in range(1, count + 1):
        data = bytearray(source.choice(good))
        for _ in range(source.randrange(4)):
            data[source.randrange(len(data))] = source.randrange(256)
        sent += bytes(data[:source.randrange(len(data) + 1)] if number % 3 == 0 else data)
        if len(sent) > 3000 or number == count:
            device.line.sendall(sent)
            sent = b""
            answer = device.ask(HELLO)
            if answer is None or answer[0] != HELLO | 0x80:
                raise common.Failure(f"no answer after {number} fuzzed frames: {answer}")
    check(call_add(device, [1, 2], 3) == [4, 5], f"works after {count} fuzzed frames")


def restart(device):
    kind, _ = device.ask(RESET, b"\1")
    check(kind == RESET | 0x80, "takes the request to restart")
    answer = device.ask(READ, struct.pack("<BIH", 2, 0, 1))
    check(answer is not None and answer[0] == ERROR and answer[1][0] == 2,
          "after a restart the old session is refused", answer)
    device.ask(HELLO)
    check(call_add(device, [1, 2], 3) == [4, 5], "works after a restart")


@pytest.mark.parametrize("project", ["qemu_mps2_an386"], indirect=True)
def test_damaged_frames(device):
    """No lock-up: the device answers after ten thousand damaged frames."""
    # Without a session the device answers each frame that is whole with an error, which is no answer to HELLO.
    kind, _ = device.ask(HELLO)
    check(kind == HELLO | 0x80, "the device greets a client of our own")
    fuzz(device, 10000)


# --- Through the command -------------------------------------------------------------------------


@every_board
def test_command(project, tmp_path):
    functions = json.loads(common.aotc("rpc", "list", project, "--json"))["functions"]
    check("add" in functions, "lists the functions")
    source = np.random.default_rng(3)
    for _ in range(3):
        a = source.integers(-128, 128, 2).astype(np.int8)
        b = source.integers(-128, 128, 1).astype(np.int8)
        np.save(tmp_path / "a.npy", a)
        np.save(tmp_path / "b.npy", b)
        said = common.aotc("rpc", "call", project, "add", "--input", tmp_path / "a.npy", "--input", tmp_path / "b.npy", "--json")
        check(json.loads(said)["results"][0]["values"] == (a + b).tolist(), f"op_add({a}, {b}) is NumPy's sum", said)
    timing = json.loads(common.aotc("rpc", "time", project, "add", "--repeats", "5", "--json"))
    if timing["unit"] == "instructions":
        check(timing["least"] == timing["most"] and 0 < timing["least"] < 400,
              f"op_add takes {timing['least']} instructions, every time", timing)
    failed = common.aotc("rpc", "call", project, "subtract", expect=None)
    check(failed.returncode == 1 and "[rpc-function]" in failed.stderr, "an unknown function is reported", failed.stderr)


@pytest.mark.parametrize("project", ["host"], indirect=True)
def test_session_dies(project):
    """Nothing that listens, and a line that is closed in the middle of a conversation."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    port = f"tcp:127.0.0.1:{server.getsockname()[1]}"
    failed = common.aotc("rpc", "list", project, "--port", port, expect=None)
    check(failed.returncode == 6 and "[rpc-silent]" in failed.stderr, "a device that says nothing is reported", failed.stderr)
    client = subprocess.Popen([common.AOTC, "rpc", "list", project, "--port", port],
                              stderr=subprocess.PIPE, text=True)
    server.accept()[0].close()  # of the client before
    line = server.accept()[0]
    line.recv(10)
    line.close()
    _, said = client.communicate(timeout=600)
    check(client.returncode == 6 and "[rpc-closed]" in said, "a line that closes is reported", said)
    failed = common.aotc("rpc", "list", project, "--port", "unix:/nonexistent", expect=None)
    check(failed.returncode == 6 and "[rpc-port]" in failed.stderr, "a port that is not there is reported", failed.stderr)
