# SPDX-License-Identifier: Apache-2.0
"""What tests of emitted C share: sample models, their files, and commands that look at these."""
import concurrent.futures
import json
import os
import re

import bundle
import common
import emitted_cases
import records

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
# Boards whose kernels are assembly, and the CPU's options.
KERNEL_CPUS = {"qemu_mps2_an386": ["-mcpu=cortex-m4", "-mfloat-abi=hard"],
               "qemu_mps3_an547": ["-mcpu=cortex-m55", "-mfloat-abi=hard"]}


def sample_models(every=6):
    """Whole models and a sample of single operators."""
    found = sorted((common.SHARED / "models").glob("*.tflite"))
    if not found and os.environ.get("CI") == "true":
        raise common.Failure(f"{common.SHARED}/models is missing, and CI=true")
    for folder, step in (("digits", 1), ("gadget", 1), ("ops", every)):
        found += sorted((common.ROOT / "tests" / "models" / folder).glob("*.tflite"))[::step]
    return [path for path in found if path.stem not in bundle.REFUSED]


COLUMNS = 110
# A condition that a range of one value makes of two.
ONE_VALUE = re.compile(r"\b(\w+) >= (-?\d+) && \1 <= \2\b")


def check_text(folder):
    """No line is too long, and no condition is written as a range of one value."""
    for file in folder.glob("*.[ch]"):
        for number, line in enumerate(file.read_text().split("\n"), 1):
            if len(line) > COLUMNS:
                raise common.Failure(f"{file}:{number}: {len(line)} columns\n{line}")
            if ONE_VALUE.search(line):
                raise common.Failure(f"{file}:{number}: a range of one value\n{line}")


def emit(path, folder, prefix=None, *options):
    prefix = prefix or common.prefix_of(path.stem)
    common.aotc("compile", path, "--prefix", prefix, "-o", folder, "--quiet", *options)
    check_text(folder)
    return prefix


def run_all(commands):
    def one(command):
        done = common.run(command, expect=None)
        return done.returncode, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = [text for code, text in pool.map(one, commands) if code != 0]
    if bad or not commands:
        raise common.Failure(f"{len(bad)} of {len(commands)} commands fail:\n" + "\n".join(text[:1500] for text in bad[:5]))


def run_bundle(folder, models, flags=(), sources=(), target="gcc"):
    """Builds and compares prefix -> (path, oracle, options of compile) as one program of the host."""
    common.fresh(folder)
    layers = {}
    for prefix, (path, oracle, options) in models.items():
        made = common.aotc("compile", path, "--prefix", prefix, "-o", folder / prefix, "--quiet",
                           "--json", *options)
        layers[prefix] = json.loads(made)["layers"]
        for file in (folder / prefix).glob(f"{prefix}*.[ch]"):
            file.rename(folder / file.name)
        (folder / f"{prefix}.in").write_bytes(records.pack_inputs(oracle.samples))
    units = bundle.write_sources(folder, list(models), 1)
    image = bundle.build(emitted_cases.TARGETS[target], folder, [*units, *sources],
                         ["-O2", "-Wall", *flags])
    print(common.run_program([image], [folder / f"{p}.in" for p in models], [folder / f"{p}.out" for p in models]).strip())
    for prefix, (_, oracle, _) in models.items():
        found = records.unpack_results((folder / f"{prefix}.out").read_bytes())
        compared, _ = common.compare(oracle, layers[prefix], found)
        print(f"{prefix}: {compared} results as LiteRT's")
