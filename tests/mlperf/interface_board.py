#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The interface board of MLPerf Tiny's streaming benchmark as a program.

It is between the benchmark's runner, to which it is a terminal, and the device, whose line it has.

It passes commands on (`dut COMMAND%`), plays wave files from a folder in place of the SD card, and notes
when the device's pins change. In place of I2S a frame of audio goes over the device's line, `db` and then
`frame%`, and the changes of the pins come back as lines `m-pin-...`. Its clock is that of the audio: a frame
is there 32 ms after the one before, and what the device does then takes as long as its own clock says.

Usage: interface_board.py (--project DIR | --port PATH) --card FOLDER [--real-time]
prints the terminal for the runner, and goes on until it is ended.
"""
import argparse
import os
import pathlib
import pty
import re
import sys
import threading
import time
import tty

import runner
import sww

FRAME_MS = 1000.0 * sww.FRAME / sww.RATE
PIN = re.compile(r"m-pin-(processing|detected)-([01])-ns-(\d+)")
MOST_DIGITS = 1024  # of a command: the device takes 1028 characters


class Board:
    """Answers commands as the benchmark's own interface board does, from its menu."""

    def __init__(self, line, card, real_time=False):
        self.real_time = real_time
        self.device, self.card = line, pathlib.Path(card)
        self.clock = 0.0  # ms since recording began
        self.detections, self.starts, self.stops = [], [], []
        self.late = 0

    def answer(self, command):
        """The lines of an answer as they come; those of the device come last and end it themselves."""
        word, _, rest = command.partition(" ")
        if word == "dut":
            yield from (f"m-dut-passthrough({rest})", "m-ready")
            yield from (f"[dut]: {said}" if said != "m-ready" else said for said in self.ask(rest))
            return
        yield from {"name": self.name, "ls": self.list, "play": self.play, "setbaud": self.set_baud,
                    "record_detections": self.record, "print_detections": self.print_detections,
                    "print_dutycycle": self.print_dutycycle}.get(word, self.unknown)(rest)
        yield "m-ready"

    def ask(self, *commands):
        """What the device says to commands that are sent at once, without what its pins do."""
        self.device.write("".join(f"{c}%" for c in commands).encode())
        lines, left = [], len(commands)
        while left:
            said = self.device.read_line(runner.PATIENCE)
            if said is None:
                raise runner.RunnerFailed(f"no answer to {commands[0][:40]} but {lines}")
            left -= said == "m-ready"
            lines.append(said)
        return lines

    def name(self, _):
        return ["simulated interface board"]

    def unknown(self, rest):
        return [f"e-[Unknown command: {rest}]"]

    def list(self, _):
        return sorted(p.name for p in self.card.iterdir())

    def set_baud(self, rest):
        return [f"set baud to: {rest}"]

    def record(self, _):
        self.clock, self.late = 0.0, 0
        self.detections, self.starts, self.stops = [], [], []
        return ["Now recording detections"]

    def play(self, name):
        yield f"Attempting to play {name}"
        try:
            samples = sww.read_wave(self.card / name)
        except (OSError, ValueError, EOFError, sww.wave.Error) as problem:
            yield f"Error playing file: {problem}"
            return
        began = time.monotonic()
        for at in range(0, len(samples) - sww.FRAME + 1, sww.FRAME):
            self.clock += FRAME_MS
            if self.real_time:
                time.sleep(max(0.0, began + (at + sww.FRAME) / sww.RATE - time.monotonic()))
            self.send(samples[at:at + sww.FRAME].tobytes())
            if at % sww.RATE < sww.FRAME:  # whoever waits sees that it goes on
                yield f"played {at // sww.RATE} s"
        if self.late:
            yield f"{self.late} frames took longer than the audio"
        yield "succeeded."

    def send(self, frame):
        digits = frame.hex()
        pieces = [f"db {digits[at:at + MOST_DIGITS]}" for at in range(0, len(digits), MOST_DIGITS)]
        lines = self.ask(f"db load {len(frame)}", *pieces, "frame")
        changes = [(m.group(1), int(m.group(2)), int(m.group(3)))
                   for m in map(PIN.fullmatch, lines) if m]
        if "m-load-done" not in lines or not changes:
            raise runner.RunnerFailed(f"the device does not process a frame: {lines[-4:]}")
        begin = changes[0][2]
        for pin, level, nanoseconds in changes:
            now = self.clock + (nanoseconds - begin) / 1e6
            if pin == "processing":
                (self.starts if level else self.stops).append(round(now * 100))
            elif level == 0:
                self.detections.append(int(now))
        self.late += changes[-1][2] - begin > FRAME_MS * 1e6

    def print_detections(self, _):
        return ["Detection Timestamps (ms)", *(f"{at}," for at in self.detections)]

    def print_dutycycle(self, _):
        def eights(times):
            return ["".join(f"{t}, " for t in times[at:at + 8]) for at in range(0, len(times), 8)]

        return ["Duty cycle start times (s)", *eights(self.starts),
                "Duty cycle stop times (s)", *eights(self.stops)]


class Terminal:
    """The board at a terminal, whose path is `path`; a thread of its own answers until it is closed."""

    def __init__(self, board):
        self.board, self.failed = board, None
        self._own, self._theirs = pty.openpty()
        tty.setraw(self._theirs)
        self.path = os.ttyname(self._theirs)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        text = b""
        try:
            while True:
                text += os.read(self._own, 4096)
                while b"%" in text:
                    command, text = text.split(b"%", 1)
                    for line in self.board.answer(command.decode("ascii", "replace").strip("\r\n\0")):
                        self._write(f"{line}\r\n".encode())
        except OSError:
            return  # closed
        except runner.RunnerFailed as failure:
            self.failed = failure
            print(f"error: {failure}", file=sys.stderr)

    def _write(self, data):
        while data:
            data = data[os.write(self._own, data):]

    def wait(self):
        self._thread.join()

    def close(self):
        os.close(self._own)
        os.close(self._theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--project", help="a built project: its firmware is started")
    where.add_argument("--port", help="terminal or serial port of a device that runs")
    parser.add_argument("--card", required=True, help="folder with the wave files")
    parser.add_argument("--real-time", action="store_true", help="play as fast as the audio is")
    args = parser.parse_args()
    with runner.start(args.project) if args.project else runner.open_port(args.port) as line:
        terminal = Terminal(Board(line, args.card, args.real_time))
        print(f"interface board at {terminal.path}", flush=True)
        terminal.wait()
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(0)
    except runner.RunnerFailed as failure:
        sys.exit(f"error: {failure}")
