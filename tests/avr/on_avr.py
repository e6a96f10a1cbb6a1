# SPDX-License-Identifier: Apache-2.0
"""Firmware that runs a model on an AVR in simavr."""
import json
import pathlib
import re

import common
import verdicts

HERE = pathlib.Path(__file__).resolve().parent

FLAGS = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fdata-sections",
         "-Wl,--gc-sections"]
LEAST_STACK = 64  # that the firmware needs beside the model's


def samples_header(oracle):
    data = [b"".join(a.tobytes() for a in sample) for sample in oracle.samples]
    numbers = ",".join(str(b) for b in b"".join(data))
    return (f"#define SAMPLES {len(data)}u\n#define SAMPLE_BYTES {len(data[0])}u\n"
            f"static const uint8_t samples[] PROGMEM = {{{numbers or 0}}};\n")


def sections(board, image, *options):
    """Bytes of .text, .data and .bss."""
    text = common.run_program([board["toolchain"]["prefix"] + "size", *options, image])
    return [int(n) for n in text.splitlines()[1].split()[:3]]


def build(board, folder, optimise, *flags):
    """The firmware, or None if it does not fit."""
    image = folder / "firmware.elf"
    try:
        common.run([board["toolchain"]["compiler"], *board["toolchain"]["cflags"], *FLAGS, *optimise, *flags, "-I", folder,
                    HERE / "firmware.c", folder / "m_data.c", "-o", image, "-lm"])
    except common.Failure as failure:
        if re.search(r"not within region|will not fit in region", str(failure)):
            return None
        raise
    text, data, bss = sections(board, image)
    memory = {m["kind"]: m["size"] for m in board["memories"]}
    fits = text + data <= memory["flash"] and data + bss + LEAST_STACK <= memory["ram"]
    return image if fits else None


def run(board, image, timeout):
    argv = [word.format(image=image) for word in board["emulator"]["argv"]]

    def work():
        done = common.run(argv, expect=None, timeout=timeout)
        lines = re.findall(r"@([a-z]+)((?: [0-9a-f]+)*)", done.stdout + done.stderr)
        if ("done", "") not in lines:
            raise common.Failure(f"the firmware did not end: {(done.stdout + done.stderr)[-400:]}")
        return [[word, rest.split()] for word, rest in lines]
    return verdicts.run_program(argv, work)


def records_of(lines):
    found, values = [], {}
    for word, rest in lines:
        if word == "r":
            sample, op, result, count = (int(n, 16) for n in rest)
            found.append([sample, op, result, b"", count])
        elif word == "d":
            found[-1][3] += bytes.fromhex(rest[0])
        elif rest:
            values.setdefault(word, []).append(int(rest[0], 16))
    for sample, op, result, data, count in found:
        if len(data) != count:
            raise common.Failure(f"sample {sample}, call {op}: {len(data)} bytes of {count}")
    return [tuple(r[:4]) for r in found], values


def check_values(values, samples):
    if "overrun" in values:
        raise common.Failure("wrote outside of its arena")
    if values.get("status") != [0] * samples:
        raise common.Failure(f"status {values.get('status')}")
    if min(values["untouched"]) == 0:
        raise common.Failure("the stack ran into the variables")


def compare(path, board_name, folder, samples=2, flags="-Os", options=()):
    """(output of `aotc compile --json`, results compared); None in place of the latter if the model does not fit."""
    made = json.loads(common.aotc("compile", path, "--prefix", "m", "--board", board_name, "-o", folder, "--quiet",
                                  "--json", *options))
    oracle, board = common.Oracle(path, samples), common.board(board_name)
    (folder / "samples.h").write_text(samples_header(oracle))
    image = build(board, folder, flags.split())
    if image is None:
        return made, None
    found, values = records_of(run(board, image, 120))
    check_values(values, samples)
    return made, common.compare(oracle, made["layers"], found)[0]


def require(board_name):
    board = common.board(board_name)
    common.require(board["toolchain"]["compiler"], board["emulator"]["program"])
