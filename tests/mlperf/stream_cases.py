#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Firmware of the streaming benchmark, sww01: NumPy's FFT is the second opinion on what it hears, LiteRT's
reference kernels on what the network makes of it.

Usage: stream_cases.py CASE --aotc PATH --work DIR
  features   frame by frame, on the host under sanitizers and on the emulated Cortex-M4; noise on the line
  board      a simulated interface board plays, the emulated Cortex-M4 pulses its pins
  official   the benchmark's own runner and its stream_wav_uart.py against these: where they are, the folder
             benchmark/runner of a clone, says MLPERF_TINY_RUNNER; without it the case is skipped
  script     scripts whose loops are as long as the benchmark wants
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys

import numpy as np

import cases
import common
import interface_board
import litert_layers
import runner
import sww
from cases import M4, Started, answer_to, make
from common import Failure

SANITIZED = "-Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all"
THRESHOLD = 115  # of the int8 score


class Reference:
    def __init__(self):
        self.layers = litert_layers.Layers(common.model_path("strww"))
        self.samples, self.windows = sww.audio()
        self.frames = sww.quantised(sww.features(self.samples), *self.layers.inputs[0]["quantization"])
        self.scores = sww.scores(self.layers, self.frames)
        self.heard = np.flatnonzero(self.scores[:, 0] > THRESHOLD)
        self.check_itself()

    def check_itself(self):
        """Both words are heard and nothing else, or the tests below could not fail."""
        times = (self.heard + 1) * sww.FRAME / sww.RATE
        inside = [[t for t in times if begin <= t <= end + 1] for begin, end in self.windows]
        if len(self.windows) != 2 or not all(inside) or sum(map(len, inside)) != len(times):
            raise Failure(f"LiteRT hears words at {times}, they are at {self.windows}")

    def frame(self, i):
        return self.samples[i * sww.FRAME:(i + 1) * sww.FRAME].tobytes()


def numbers(lines, name):
    for line in lines:
        if line.startswith(f"m-{name}-[") and line.endswith("]"):
            return [int(x) for x in line[len(name) + 4:-1].split(",")]
    raise Failure(f"no {name} in {lines}")


def load_frame(device, data):
    for said, wanted in ((device.command(f"db load {len(data)}"), f"m-[Expecting {len(data)} bytes]"),
                         (device.command(f"db {data[:512].hex()}"), "512 bytes received"),
                         (device.command(f"db {data[512:].hex()}"), "m-load-done")):
        if wanted not in said:
            raise Failure(f"{said[1:]} where '{wanted}' is due")


def hear(device, reference, frames):
    """(features, scores) of the first frames, compared."""
    features, scores = [], []
    for i in range(frames):
        load_frame(device, reference.frame(i))
        said = device.command("extract_uart_stream")
        features.append(numbers(said, "features"))
        scores.append(numbers(said, "activations"))
    features, scores = np.array(features), np.array(scores)
    off = np.abs(features - reference.frames[:frames])
    if off.max() > 1 or (off > 0).mean() > 0.001:
        raise Failure(f"features are up to {off.max()} steps off, {(off > 0).sum()} of {off.size} differ")
    if (scores != sww.scores(reference.layers, features.astype(np.int8))).any():
        raise Failure("the scores are not LiteRT's for these features")
    return features, int((off > 0).sum())


# What is sent and the lines that come before m-ready, behind "Received command: ".
WRONG = [
    (b"frame%", "e-[The buffer holds no frame: 'db load 1024' comes first]"),
    (b"extract_uart_stream%", "e-[The buffer holds no frame: 'db load 1024' comes first]"),
    (b"infer 1 0%", "e-[The buffer holds 0 bytes, expected 1024]"),
    (b"stop%", "Detection does not run: nothing to stop"),
    (b"db load 1025%", "e-[Supplied buffer size 1025 exceeds maximum of 1024]"),
    (b"db setptr 1%", "e-[Command 'db setptr' takes a number up to 0]"),
    (b"db load 4%", "m-[Expecting 4 bytes]"),
    (b"db 0102%", "2 bytes received"),
    (b"db getptr%", "m-buff-ptr-2"),
    (b"db setptr 5%", "e-[Command 'db setptr' takes a number up to 4]"),
    (b"db setptr x%", "e-[Command 'db setptr' takes a number up to 4]"),
    (b"db setptr 1%", None),
    (b"db 030405%", "m-load-done"),
    (b"db print%", "m-buffer-01-03-04-05"),
    (b"frame%", "e-[The buffer holds no frame: 'db load 1024' comes first]"),
    (b"start%", "Listening for audio"),
    (b"start%", "e-[Detection runs: 'stop' comes first]"),
    (b"infer 1 0%", "e-[Detection runs: 'stop' comes first]"),
    (b"\x01start%", "e-[Unknown command: ?start]"),
]


def check_wrong(device):
    for sent, wanted in WRONG:
        device.line.write(sent)
        said = answer_to(sent, device.line)
        if said[0] != "Received command: " + re.sub(r"[^ -~]", "?", sent.decode()[:-1]) or said[1:-1] != (
                [wanted] if wanted is not None else []):
            raise Failure(f"{sent!r} is answered by {said}, not {wanted}")
    device.line.write(b"x" * 1029 + b"%")
    if answer_to(b"", device.line) != ["e-[A command has at most 1028 characters]", "m-ready"]:
        raise Failure("an overlong command is taken")
    said = device.command("stop")
    if said[1:] != ["Streaming stopped.", "target activations:", "[]", "m-ready"]:
        raise Failure(f"stop after no frame: {said}")


def check_noise(device, reference, rounds):
    rng = random.Random(3)

    def some():
        return rng.choice(["start%", "stop%", "frame%", "extract_uart_stream%", "infer 1 1%", "db getptr%",
                           f"db load {rng.choice([2, 512, 1024])}%", "%", "results%", "db print%",
                           f"db setptr {rng.randrange(1200)}%", "db " + "7f" * rng.randrange(513) + "%"])

    for _ in range(rounds):
        sent = "".join(some() for _ in range(rng.randrange(1, 8)))
        device.line.write(sent.encode())
        for _ in range(sent.count("%")):
            answer_to(sent.encode(), device.line)
    device.command("stop")
    device.command("start")
    device.command("stop")
    hear(device, reference, 3)


def test_features(work):
    reference = Reference()
    rates = []
    in_time = ("--stream", "time")
    for board, options, flags, frames in (("host", (), SANITIZED, 125), ("host", in_time, SANITIZED, 125),
                                          ("host", (*in_time, "--slice", "60000"), SANITIZED, 30),
                                          (M4, in_time, "-Werror", 30)):
        app = make(work, "strww", board, *options, flags=flags)
        with runner.start(app) as line:
            device = runner.Device(line).identify()
            if device.model != "sww01":
                raise Failure(f"it is taken for {device.model}")
            check_wrong(device)
            _, off = hear(device, reference, frames)
            if board == "host":
                check_noise(device, reference, 300)
            rates.append(device.infer(100, 2)[1] / 100)
        print(f"{board} {' '.join(options)}: {frames} frames, {off} of {frames * sww.BANDS} features a step "
              "off, every score equal to LiteRT's")
    print(f"{rates[-1] * 1000:.0f} instructions a frame on {M4}, features and network")


# --- The interface board -------------------------------------------------------------------------


def card_of(work, reference):
    """A folder as the SD card, and one with the list of what is on it."""
    card = common.fresh(work / "card")
    sww.write_wave(card / "words.wav", reference.samples)
    (card / "broken.wav").write_bytes(b"RIFF")
    truth = common.fresh(work / "data" / "sww01") / "words.json"
    truth.write_text(json.dumps([{"wav_file": "words.wav", "sample_rate": sww.RATE,
                                  "length_sec": float(sww.SECONDS), "detection_windows": reference.windows}]))
    return card, truth


def listed(lines):
    return [int(x) for line in lines for x in line.split(",") if x.strip()]


def check_board(board, reference):
    """What the benchmark's runner asks for, in its order."""
    asked = interface_board.Terminal(board)
    try:
        with runner.open_port(asked.path) as line:
            host = runner.Device(line)

            def dut(command):
                return [host.command(f"dut {command}"), answer_to(b"", line)][1]

            if "[dut]: m-model-[sww01]" not in dut("profile"):
                raise Failure("the device is not reached")
            if "Error playing file" not in host.command("play broken.wav")[1]:
                raise Failure("a file that is none is played")
            dut("stop")
            dut("start")
            host.command("record_detections")
            host.command("play words.wav")
            stopped = "".join(x.removeprefix("[dut]: ") for x in dut("stop"))
            found = listed(host.command("print_detections")[1:-1])
            cycle = host.command("print_dutycycle")
    finally:
        asked.close()
    if not found:
        raise Failure("not even the first frame is told")
    activations = listed([re.search(r"target activations:\[(.*)\]m-ready", stopped).group(1)])
    return activations, np.array(found) - found[0], cycle


def test_board(work):
    reference = Reference()
    card, _ = card_of(work, reference)
    app = make(work, "strww", M4, "--stream", "time")
    with runner.start(app) as line:
        activations, times, cycle = check_board(interface_board.Board(line, card), reference)
    frames = len(reference.frames)
    off = np.abs(np.array(activations) - reference.scores[:, 0])
    # One feature in a thousand may be a step off, and then these are.
    if len(activations) != frames or (off > 0).sum() > frames // 10:
        raise Failure(f"{len(activations)} activations of {frames} frames, {(off > 0).sum()} not LiteRT's")
    # The first frame is always told.
    heard = np.unique(np.append(np.flatnonzero(np.array(activations) > THRESHOLD), 0)) * 32
    if len(times) != len(heard) or np.abs(times - heard).max() > 1 or len(times) < len(reference.heard) - 1:
        raise Failure(f"the word is told at {times}, its scores are above at {heard}")
    middle = cycle.index("Duty cycle stop times (s)")
    starts, stops = listed(cycle[1:middle]), listed(cycle[middle + 1:-1])
    took = np.array(stops) - np.array(starts)
    if len(starts) != frames or (np.diff(starts) != 3200).any() or took.min() < 1 or took.max() > 3200:
        raise Failure(f"{len(starts)} frames, processed in {took.min()} to {took.max()} times 10 us")
    print(f"{frames} frames played, {(off == 0).sum()} scores as LiteRT's from NumPy's features; the word is "
          f"told {len(times) - 1} times; a frame takes {took.mean() / 100:.2f} ms at 1 ns an instruction")


# --- The benchmark's own programs ----------------------------------------------------------------


def programs():
    folder = os.environ.get("MLPERF_TINY_RUNNER", "")
    if not folder:
        common.skip("MLPERF_TINY_RUNNER does not say where the benchmark's runner is")
    if not (pathlib.Path(folder) / "stream_wav_uart.py").is_file():
        raise Failure(f"MLPERF_TINY_RUNNER: {folder} holds no stream_wav_uart.py")
    return pathlib.Path(folder).resolve()


def official(work, folder, path, *words):
    program = pathlib.Path(__file__).parent / "official.py"
    done = subprocess.run([sys.executable, program, folder, path, *words], cwd=work, capture_output=True,
                          text=True, timeout=300)
    if done.returncode != 0:
        raise Failure(f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def run_main(work, folder, app, card, script, real_time):
    """main.py in performance mode, with the interface board as the only device it sees."""
    with runner.start(app) as line:
        terminal = interface_board.Terminal(interface_board.Board(line, card, real_time))
        try:
            return official(work, folder, terminal.path, "0483:374e", "--", "--mode=p",
                            f"--dataset_path={work / 'data'}", f"--test_script={script}",
                            f"--device_list={folder / 'devices_sww.yaml'}")
        finally:
            terminal.close()


def check_main(work, folder, reference):
    """In QEMU with the benchmark's script; on the host in real time with one of ours, and with its file."""
    card, truth = card_of(work, reference)
    lists, scripts = truth.parent, folder / "tests_performance.yaml"
    own = work / "script.yaml"
    own.write_text(runner.script_of("sww01", truth.name, ["stream 0"], runner.plays_of(truth, 10)))
    (lists / "sww_long_test.json").write_text(truth.read_text())
    plays = [("played in QEMU", (M4, card, scripts, False), [(2, 0, 0)]),
             ("played for ten seconds", ("host", card, own, True), [(2, 0, 0)] * 3)]
    for what, (board, *how), wanted in plays:
        expect(what, run_main(work, folder, make(work, "strww", board, "--stream", "time"), *how), wanted)
    if (folder / "sd_card" / "short_wav_easy10s.wav").is_file():
        short = folder / "sww_data_dir" / "sww_short_test.json"
        (lists / "sww_long_test.json").write_text(short.read_text())
        said = run_main(work, folder, make(work, "strww", "host"), folder / "sd_card", scripts, False)
        expect("its own file of ten seconds", said, [(2, 1, 0)])  # what its README.md says of the model


def expect(what, said, wanted):
    found = re.findall(r"Accuracy: (\d+) True positives, (\d+) False negatives, (\d+) False positives", said)
    if [tuple(map(int, one)) for one in found] != wanted or "ERROR" in said or "Warning" in said:
        raise Failure(f"{what}: {said[-3000:]}")
    print(f"main.py, {what}:", *re.findall("(Accuracy.*|Estimated.*)", said), sep="\n  ")


def check_stream_wav_uart(work, folder, app, reference, frames=30):
    audio, spectrogram = work / "short.wav", work / "spectrogram.npz"
    sww.write_wave(audio, reference.samples[:frames * sww.FRAME])
    with Started(app, M4, "pty") as started:
        started.connect().__exit__()
        said = official(work, folder, started.path, "stream_wav_uart.py", "--", f"--wav_file={audio}",
                        f"--specfile={spectrogram}")
    if "Caught 0 errors" not in said:
        raise Failure(f"stream_wav_uart.py: {said[-2000:]}")
    found = np.load(spectrogram)
    off = np.abs(found["specgram"] - reference.frames[:frames])
    wanted = sww.scores(reference.layers, found["specgram"].astype(np.int8))
    if off.max() > 1 or (off > 0).mean() > 0.001 or (found["activations"] != wanted).any():
        raise Failure(f"stream_wav_uart.py: features are {off.max()} steps off, or scores not LiteRT's")
    print(f"stream_wav_uart.py: {frames} frames, features and scores right")


def test_official(work):
    folder, reference = programs(), Reference()
    check_stream_wav_uart(work, folder, make(work, "strww", M4, "--stream", "time"), reference)
    check_main(work, folder, reference)


def test_script(work):
    app = make(work, "kws", M4)
    dataset = work / "data"
    common.fresh(dataset)
    rng = np.random.default_rng(4)
    (dataset / "one.bin").write_bytes(rng.integers(0, 256, 490, dtype=np.uint8).tobytes())
    (dataset / "y_labels.csv").write_text("one.bin, 12, 3\n")
    with runner.start(app) as line:
        device = runner.Device(line).identify()
        count = runner.inferences_of(device, runner.DataSet(dataset), 0.2)
        took = device.infer(count, 10)[1] / 1e6
        if not 0.2 <= took < 0.23:
            raise Failure(f"{count} inferences for 0.2 s take {took} s")
        print(f"{count} inferences take {took:.3f} s, where 0.2 s are asked for")
    text = runner.script_of("kws01", "y_labels.csv", ["download", f"infer {count} 10"], runner.LOOPS)
    if f"    - loop 5:\n      - download\n      - infer {count} 10\n" not in text:
        raise Failure(text)
    _, truth = card_of(work, Reference())
    if [runner.plays_of(truth, seconds) for seconds in (1, 4, 4.5, 10, 12)] != [1, 1, 2, 3, 3]:
        raise Failure("files of four seconds are not played often enough")
    raw = make(work, "digits_int8", "host")
    with runner.start(raw) as line:
        try:
            runner.write_script(runner.Device(line).identify(), dataset, "", work / "none.yaml")
        except runner.RunnerFailed as refused:
            print(refused)
        else:
            raise Failure("a model of no benchmark gets a script")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    parser.add_argument("case", choices=sorted(tests))
    cases.run_case(parser, tests)


if __name__ == "__main__":
    main()
