#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models on an AVR in simavr: every layer's result bit for bit as LiteRT's reference kernels.

Usage: on_avr.py BOARD --work DIR [--models A,B | --ops int8|f32 [--every N]] [--samples N]
                 [--flags "-Os"] [--compile "OPTIONS"]

Each model is a firmware of its own (firmware.c), built with -Wall -Wextra -Werror. A model that does
not fit the board's memories is said to be skipped; none of those named with --models may be. Float
results are equal to the bit but at and behind exp and tanh of another C library (common.LIBRARY_ULP).
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import bundle  # noqa: E402
import common  # noqa: E402
import verdicts  # noqa: E402

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


def one(name, board_name, options):
    """Figures of a model, or None if it does not fit."""
    board, folder = common.board(board_name), options.work / name
    path = common.model_path(name)
    made = common.aotc("compile", path, "--prefix", "m", "--board", board_name, "-o", folder,
                       "--quiet", "--json", *options.compile, expect=None)
    if name in bundle.REFUSED:
        if made.returncode != 1 or bundle.REFUSED[name] not in made.stderr:
            raise common.Failure(f"is not refused: {made.stderr}")
        return None
    if made.returncode != 0:
        raise common.Failure(f"exit code {made.returncode} {made.stderr.strip()}")
    layers = json.loads(made.stdout)["layers"]
    oracle = common.Oracle(path, options.samples)
    (folder / "samples.h").write_text(samples_header(oracle))
    image = build(board, folder, options.flags)
    if image is None:
        return None
    found, values = records_of(run(board, image, options.timeout))
    check_values(values, options.samples)
    compared, worst = common.compare(oracle, layers, found)
    return {"compared": compared, "worst": worst}


def model_names(options):
    if not options.ops:
        return options.models.split(",")
    folder = common.ROOT / "tests" / "models" / "ops"
    return sorted(p.stem for p in folder.glob("*.tflite")
                  if common.is_float(p.stem) == (options.ops == "f32"))[::options.every]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("board")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", default="")
    parser.add_argument("--ops", choices=("int8", "f32"))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--flags", default="-Os", type=lambda text: text.split())
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--compile", default="", type=lambda text: text.split(),
                        help="options of 'aotc compile'")
    options = parser.parse_args()
    board = common.board(options.board)
    common.require(board["toolchain"]["compiler"], board["emulator"]["program"])
    options.work = common.fresh(options.work.resolve())
    names, failures, skipped, compared, worst = model_names(options), [], [], 0, 0

    def attempt(name):
        try:
            return name, one(name, options.board, options), None
        except common.Failure as failure:
            return name, None, str(failure)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, figures, failure in pool.map(attempt, names):
            if failure:
                failures.append(f"{name}: {failure}")
            elif figures is None:
                skipped.append(name)
            else:
                compared, worst = compared + figures["compared"], max(worst, figures["worst"])
    if skipped:
        print(f"do not fit {options.board}, or are refused: {' '.join(skipped)}")
        if not options.ops:
            failures.append("a model that was named does not fit")
    print(f"{options.board}: {len(names) - len(skipped) - len(failures)} models, {compared} results as "
          f"LiteRT's, worst {worst} ulp, {len(failures)} failures")
    print(f"{len(names) - len(skipped) - len(failures)} passed, {len(failures)} failed, "
          f"{len(skipped)} skipped")
    if failures or compared == 0:
        raise common.Failure("\n".join(failures))


if __name__ == "__main__":
    common.main_of(main)
