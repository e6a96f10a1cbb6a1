#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators of TVM's own archives on emulated boards, through the aotc command.

Usage: boards.py BOARD --aotc PATH --work DIR

Makes firmware of op_add, calls it through the function registry of the device and compares with
NumPy's sum; then talks to the same firmware with a client of the protocol written here from
docs/rpc.md: damaged frames, a restart, a tensor that is too large.
"""
import argparse
import binascii
import json
import os
import pathlib
import random
import shutil
import socket
import struct
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("AOTC_SHARED", ROOT.parent / "shared"))
SKIPPED = 77
HELLO, LIST, ALLOCATE, WRITE, READ, CALL, TIME, FREE, RESET = range(1, 10)
WORKING, ERROR = 0xF0, 0xFF


class Failed(Exception):
    pass


def check(condition, what, shown=""):
    if not condition:
        raise Failed(f"{what}\n{shown}")
    print(f"ok: {what}")


def run(command, seconds=600, expect=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                          timeout=seconds)
    if done.returncode != expect:
        raise Failed(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


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
        board = json.loads((ROOT / "boards" / manifest["board"] / "board.json").read_text())
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
                raise Failed("the emulator ended")
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
        raise Failed(f"call: type {kind}, {payload}")
    kind, payload = device.ask(READ, struct.pack("<BIH", 2, 0, len(a)))
    return list(struct.unpack(f"<{len(a)}b", payload))


def test_protocol(project, fuzzed):
    device = Device(project)
    try:
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
        test_fuzz(device, fuzzed)
        if info[7] & 4:
            test_restart(device)
    finally:
        device.close()


def test_fuzz(device, count):
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
                raise Failed(f"no answer after {number} fuzzed frames: {answer}")
    check(call_add(device, [1, 2], 3) == [4, 5], f"works after {count} fuzzed frames")


def test_restart(device):
    kind, _ = device.ask(RESET, b"\1")
    check(kind == RESET | 0x80, "takes the request to restart")
    answer = device.ask(READ, struct.pack("<BIH", 2, 0, 1))
    check(answer is not None and answer[0] == ERROR and answer[1][0] == 2,
          "after a restart the old session is refused", answer)
    device.ask(HELLO)
    check(call_add(device, [1, 2], 3) == [4, 5], "works after a restart")


# --- Through the command -------------------------------------------------------------------------

def test_command(aotc, project, work):
    functions = json.loads(run([aotc, "rpc", "list", project, "--json"]).stdout)["functions"]
    check("add" in functions, "lists the functions")
    source = np.random.default_rng(3)
    for _ in range(3):
        a = source.integers(-128, 128, 2).astype(np.int8)
        b = source.integers(-128, 128, 1).astype(np.int8)
        np.save(work / "a.npy", a)
        np.save(work / "b.npy", b)
        done = run([aotc, "rpc", "call", project, "add", "--input", work / "a.npy", "--input",
                    work / "b.npy", "--json"])
        result = json.loads(done.stdout)["results"][0]["values"]
        check(result == (a + b).tolist(), f"op_add({a}, {b}) is NumPy's sum", done.stdout)
    timing = json.loads(run([aotc, "rpc", "time", project, "add", "--repeats", "5", "--json"]).stdout)
    if timing["unit"] == "instructions":
        check(timing["least"] == timing["most"] and 0 < timing["least"] < 400,
              f"op_add takes {timing['least']} instructions, every time", timing)
    failed = run([aotc, "rpc", "call", project, "subtract"], expect=1)
    check("[rpc-function]" in failed.stderr, "an unknown function is reported", failed.stderr)


def test_session_dies(aotc, project):
    """Nothing that listens, and a line that is closed in the middle of a conversation."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    port = f"tcp:127.0.0.1:{server.getsockname()[1]}"
    failed = run([aotc, "rpc", "list", project, "--port", port], expect=6)
    check("[rpc-silent]" in failed.stderr, "a device that says nothing is reported", failed.stderr)
    client = subprocess.Popen([aotc, "rpc", "list", project, "--port", port],
                              stderr=subprocess.PIPE, text=True)
    server.accept()[0].close()  # of the client before
    line = server.accept()[0]
    line.recv(10)
    line.close()
    _, said = client.communicate(timeout=600)
    check(client.returncode == 6 and "[rpc-closed]" in said, "a line that closes is reported", said)
    failed = run([aotc, "rpc", "list", project, "--port", "unix:/nonexistent"], expect=6)
    check("[rpc-port]" in failed.stderr, "a port that is not there is reported", failed.stderr)


def missing_tools(board):
    data = json.loads((ROOT / "boards" / board / "board.json").read_text())
    wanted = [data["toolchain"]["compiler"], "cmake"]
    if data["emulator"]["program"] != "{image}":
        wanted.append(data["emulator"]["program"])
    return [p for p in wanted if shutil.which(p) is None]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("board")
    parser.add_argument("--aotc", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--fuzzed", type=int, default=500)
    options = parser.parse_args()
    archive = SHARED / "tvm" / "op_add_crt_syslib.tar"
    missing = missing_tools(options.board) or ([] if archive.exists() else [str(archive)])
    if missing:
        print(f"skipped: {', '.join(missing)} not there", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    work = pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    project = work / "project"
    run([options.aotc, "create", archive, "--project", "host-driven", "--board", options.board,
         "-o", project])
    run([options.aotc, "build", "-q", project], seconds=600)
    test_command(options.aotc, project, work)
    test_protocol(project, options.fuzzed)
    if options.board == "host":
        test_session_dies(options.aotc, project)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        sys.exit(1)
