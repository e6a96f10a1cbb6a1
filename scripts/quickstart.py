#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/quickstart needs besides aotc: a few images of the test set, and the last table.

Usage: quickstart.py images DIGITS_DIR OUT_DIR
       quickstart.py summary AOTC PROJECT OUT_DIR

Python's standard library only: quickstart runs before anything is installed from elsewhere.
"""
import ast
import json
import pathlib
import re
import subprocess
import sys

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
IMAGES = 5


def read_npy(path):
    """(header, bytes of the elements) of a version 1 .npy file."""
    data = path.read_bytes()
    start = 10 + int.from_bytes(data[8:10], "little")
    return ast.literal_eval(data[10:start].decode()), data[start:]


def write_npy(path, dtype, shape, data):
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)


def images(source, out):
    """The first image of each of five digits, stacked; what they are goes to truth.json."""
    header, pixels = read_npy(source / "test_inputs_int8.npy")
    _, labels = read_npy(source / "test_labels.npy")
    shape = header["shape"]
    size = len(pixels) // shape[0]
    chosen = [labels.index(digit) for digit in (3, 1, 4, 9, 7)][:IMAGES]
    write_npy(out / "images.npy", header["descr"], (len(chosen), *shape[1:]),
              b"".join(pixels[i * size:(i + 1) * size] for i in chosen))
    (out / "labels.txt").write_text("".join(f"{n}\n" for n in NAMES))
    (out / "truth.json").write_text(json.dumps([labels[i] for i in chosen]))


def picture(pixels):
    """An int8 image as text: the darker, the higher the value."""
    return ["".join(" .:*#"[min(4, (v + 128) * 5 // 256)] for v in pixels[r * 8:r * 8 + 8])
            for r in range(8)]


def run_json(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"quickstart: {' '.join(command)} failed\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def summary(aotc, project, out):
    truth = json.loads((out / "truth.json").read_text())
    ran = run_json(aotc, "run", project, "--json")
    verified = run_json(aotc, "verify", project, "--json", "--input", str(out / "images.npy"))
    built = run_json(aotc, "build", project, "--json")
    report = run_json(aotc, "report", project, "--json")
    lines = re.findall(r"^@aotc sample=(\d+) output=\S+ largest=(\d+) value=(\S+)", ran["output"],
                       re.M)
    _, pixels = read_npy(out / "images.npy")
    pixels = [b - 256 if b > 127 else b for b in pixels]
    shown = [picture(pixels[i * 64:i * 64 + 64]) for i in range(len(truth))]
    print("\n".join("   ".join(rows) for rows in zip(*shown)))
    right = 0
    for sample, largest, value in lines:
        is_right = int(largest) == truth[int(sample)]
        right += is_right
        print(f"image {sample}: written {NAMES[truth[int(sample)]]}, the firmware reads "
              f"{NAMES[int(largest)]} ({float(value):.1%}){'' if is_right else '  WRONG'}")
    place = verified["places"][-1]
    print(f"\nbit-exact in {place['bit_exact_layers']} of {place['layers']} layers\n")
    figures = [("arena", f"{report['arena_bytes']:,} bytes"),
               ("stack used", f"{place['stack_bytes']:,} bytes"),
               ("constants", f"{built['constants_bytes']:,} bytes"),
               ("code", f"{built['code_bytes']:,} bytes"),
               ("instructions per inference", f"{place['length']:,}")]
    for name, value in figures:
        print(f"{name:28}{value:>14}")
    if len(lines) != len(truth) or place["bit_exact_layers"] != place["layers"]:
        sys.exit("quickstart: this is not what the sample should give")


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
    elif len(sys.argv) == 4 and sys.argv[1] == "images":
        images(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    elif len(sys.argv) == 5 and sys.argv[1] == "summary":
        summary(sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]))
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
