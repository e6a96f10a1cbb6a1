#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The modes of `aotc compile`: each CPU, each option that changes the emitted C, and models that exercise them.

Usage: modes.py columns --work DIR

The CPUs are those of `aotc cpus`. Every option and value of `aotc compile --help-all` is in a mode or in SAME_C, so a new one
fails the tests until it has a place here.

columns   no line of emitted C is longer than 110 columns in any mode, with a prefix of 36 characters
"""
import argparse
import dataclasses
import json
import pathlib
import re
import tarfile

import bundle
import common
import emitted_c

IMAGES, DEPTHWISE = "flatten_images_int8", "depthwise_same_int8"
# `tables.bin` is only a name; files of FILES are written before the compilation.
FILES = {
    "devices.json": {"devices": [{"name": "cpu"}, {"name": "npu", "type": 12, "operators": ["conv_2d", "fully_connected"],
                                                   "hooks": ["Activate", "Open", "Close", "Deactivate", "Copy"],
                                                   "launch": "async"}], "fallback": "cpu"},
}
# Every CPU of `aotc cpus` is a mode with these options, each with its models.
CPU_OPTIONS = {"": ([], [IMAGES, DEPTHWISE]), "kernels_c": (["--kernels", "c"], [IMAGES])}
# Mode: (options, models).
OPTIONS = {
    "default": ([], ["convolutional_f32", "gadget_int8", "conv1d_int16", "transformer_int8", "while_types",
                     "lstm_everything_int8", "lstm_everything_hybrid", "svdf_kernels_int8", "front_end"]),
    "speed_dsp": (["--cpu", "cortex-m4f", "-O", "speed"], [IMAGES]),
    "speed_vectors": (["--cpu", "cortex-m55f", "-O", "speed"], [IMAGES]),
    "speed_riscv": (["--cpu", "rv32imac", "-O", "speed"], [IMAGES]),
    "kernels_intrinsics": (["--cpu", "cortex-m4f", "--kernels", "intrinsics"], [IMAGES, DEPTHWISE]),
    "kernels_mve": (["--cpu", "cortex-m55f", "--kernels", "intrinsics"], [IMAGES, DEPTHWISE]),
    "size": (["-O", "size"], [IMAGES, "convolutional_f32"]),
    "size_dsp": (["--cpu", "cortex-m4f", "-O", "size"], [IMAGES]),
    "prefer_ram": (["--cpu", "cortex-m4f", "--prefer", "ram"], [IMAGES]),
    "prefer_flash": (["--cpu", "cortex-m4f", "--prefer", "flash"], [IMAGES]),
    "schedules": (["--cpu", "cortex-m4f", "--schedules", "schedules.json"], [IMAGES, DEPTHWISE]),
    "keep_dead_channels": (["--keep-dead-channels"], [IMAGES]),
    "strip_float_io": (["--strip-float-io"], ["conv_io_int8_float_io"]),
    "stream_auto": (["--stream", "auto", "--stream-most", "100"], [IMAGES]),
    "stream_max": (["--cpu", "cortex-m4f", "--stream", "max"], [IMAGES]),
    "stream_time": (["--stream", "time"], ["strww"]),
    "rows": (["--input", "rows", "--stream", "max"], [IMAGES, "residual_images_int8"]),
    "preserve_overwrite": (["--input", "preserve", "--output", "overwrite"], [IMAGES]),
    "model_arena": (["--arena", "model"], [IMAGES]),
    "workspace": (["--memory", "workspace"], [IMAGES]),
    "overlap_off": (["--overlap", "off"], [IMAGES]),
    "pools": (["--pool", "near:1000:fast", "--pool", "far:200000", "--pool", "rom:200000:constants"], [IMAGES]),
    "sections": (["--constants-section", ".fast:400", "--constants-section", ".slow"], [IMAGES]),
    "avr_ram": (["--cpu", "atmega2560", "--constants", "ram"], [IMAGES]),
    "packed": (["--calling-convention", "packed"], [IMAGES]),
    "registry": (["--calling-convention", "registry"], [IMAGES]),
    "tvm": (["--interface", "tvm"], [IMAGES]),
    "mlf": (["--format", "mlf"], [IMAGES]),
    "operators": (["--format", "mlf", "--style", "operator"], [IMAGES]),
    "devices": (["--devices", "devices.json"], [IMAGES]),
    "slice_call": (["--slice", "call"], [IMAGES]),
    "slice_parts": (["--slice", "20000"], [IMAGES]),
    "constants_file": (["--constants-file", "tables.bin"], [IMAGES]),
    "constants_address": (["--constants-file", "tables.bin", "--constants-address", "0x40000000"], [IMAGES]),
    "constants_open": (["--cpu", "cortex-m4f", "--constants-file", "tables.bin", "--constants-open"], [IMAGES]),
    "together": (["--together"], [IMAGES, "flatten_int8"]),
}
# Options, or values of options, that write no other form of C.
SAME_C = {
    "--directory": "a place", "--force": "a place", "--date": "of archives", "--json": "figures", "--quiet": "figures",
    "--help": "a text", "--help-all": "a text", "--dump-after": "texts", "--time-passes": "figures", "--prefix": "names; columns takes a long one",
    "--name": "names", "--constants-for": "writes no C", "--op": "fewer of the same functions", "--board": "its CPU counts",
    "--signature": "which part of the model", "--shape": "other numbers", "--dim": "other numbers",
    "--value": "other numbers", "--input-layout": "other operators of the same kinds",
    "--rounding": "other operators of the same kinds", "--state": "a state as those of models that keep one",
    "--params": "numbers of a TVM graph", "--operators": "C that the user wrote", "--operator-include": "C that the user wrote",
    "--operator-workspace": "a number", "--budget": "chooses values of other options, and schedules",
    "--objective": "chooses values of other options, and schedules",
}


@dataclasses.dataclass
class Mode:
    name: str
    options: list
    models: list  # names

    @property
    def is_together(self):
        return "--together" in self.options


def cpus():
    return [one["name"] for one in json.loads(common.aotc("cpus", "--json"))]


def modes():
    found = [Mode(name, options, models) for name, (options, models) in OPTIONS.items()]
    for cpu in cpus():
        for name, (options, models) in CPU_OPTIONS.items():
            found.append(Mode("_".join(filter(None, ["cpu", cpu, name])), ["--cpu", cpu, *options], models))
    return found


def listed_options():
    """Option: its values other than the default, or [] if it takes no name out of a list; of `aotc compile --help-all`."""
    found = {}
    for text in re.split(r"\n  (?=-)", common.aotc("compile", "--help-all"))[1:]:
        option, argument = re.match(r"(?:-\w, )?(--[a-z-]+)(?: (\S+))?", text).groups()
        values = (argument or "").split("|")
        default = re.search(r"\(default:\s+(\S+)\)", text)
        is_choice = len(values) > 1 and all(re.fullmatch(r"[a-z0-9-]+", v) for v in values)
        found[option] = [v for v in values if not default or v != default[1]] if is_choice else []
    return found


def missing_modes():
    """What `aotc compile --help-all` lists, and no mode has."""
    used = set()
    for mode in modes():
        words = [{"-O": "--optimize", "-o": "--directory"}.get(word, word) for word in mode.options]
        used |= set(words) | {(option, value) for option, value in zip(words, words[1:])}
    listed = listed_options()
    for option, values in listed.items():
        if option in SAME_C:
            continue
        if option not in used:
            yield f"no mode has {option}"
        for value in values:
            if (option, value) not in used:
                yield f"no mode has {option} {value}"
    yield from (f"SAME_C has {option}, and aotc compile does not" for option in SAME_C if option not in listed)


def check_complete():
    if bad := list(missing_modes()):
        raise common.Failure("tests/e2e/modes.py: " + "; ".join(bad))


def path_of(name):
    for folder in (*common.OWN_FOLDERS, "state", "speech", "twins"):
        path = common.ROOT / "tests" / "models" / folder / f"{name}.tflite"
        if path.exists():
            return path
    return common.model_path(name)


def all_models():
    """Every model that aotc compiles, of tests/models and ../shared."""
    shared = sorted((common.SHARED / "models").glob("*.tflite"))
    if not shared:
        common.missing(f"{common.SHARED}/models is missing")
    own = sorted((common.ROOT / "tests" / "models").rglob("*.tflite")) + sorted((common.ROOT / "tests" / "models").rglob("*.onnx"))
    return [p for p in own + shared if p.stem not in bundle.REFUSED]


def last_schedules(path, options):
    """The last alternative of every operator."""
    words = [word for at, word in enumerate(options) if word == "--cpu" or options[at - 1] == "--cpu"]
    listed = json.loads(common.aotc("schedules", path, *words, "--json"))["operators"]
    return {"calls": [{"op_index": op["op_index"], "schedule": op["alternatives"][-1]["schedule"]}
                      for op in listed if op["alternatives"]]}


def emit(mode, paths, folder, prefix):
    """Writes the C of a mode; the folder that has it, or None if aotc refuses the model in this mode."""
    common.fresh(folder)
    options = list(mode.options)
    for at, word in enumerate(options):
        if word in FILES or word == "schedules.json":
            file = folder.parent / f"{folder.name}_{word}"
            file.write_text(json.dumps(FILES.get(word) or last_schedules(paths[0], options)))
            options[at] = file
    target = folder / "archive.tar" if "mlf" in options else folder
    made = common.aotc("compile", *paths, "--prefix", prefix, "-o", target, "--force", "--quiet", *options, expect=None)
    if made.returncode == 1 and re.search(r"error: .*\[[a-z0-9-]+\]$", made.stderr, re.M):
        return None
    if made.returncode:
        raise common.Failure(f"{mode.name}: aotc compile exits with {made.returncode}\n{made.stderr}")
    if target == folder:
        return folder
    with tarfile.open(target) as tar:
        common.unpack(tar, folder)
    flat = common.fresh(folder / "flat")
    for file in sorted((folder / "codegen").rglob("*.[ch]")):
        file.rename(flat / file.name)
    return flat


def jobs_of_modes():
    """(mode, paths): the models of each mode."""
    for mode in modes():
        paths = [path_of(name) for name in mode.models]
        for some in [paths] if mode.is_together else [[path] for path in paths]:
            yield mode, some


def columns(work):
    check_complete()
    bad, read = [], 0
    for mode, paths in jobs_of_modes():
        folder = work / mode.name / paths[0].stem
        place = emit(mode, paths, folder, f"{mode.name.replace('-', '_')}_{paths[0].stem}_{'x' * 36}"[:36])
        read += 1
        if place is None:
            bad.append(f"{mode.name}: {paths[0].name} is refused")
            continue
        try:
            emitted_c.check_text(place)
        except common.Failure as failure:
            bad.append(f"{mode.name}: {failure}")
    print(f"{read - len(bad)} passed, {len(bad)} failed")
    if bad:
        raise common.Failure("\n".join(bad))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["columns"])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    common.main_of(lambda: columns(common.fresh(options.work.resolve())))


if __name__ == "__main__":
    main()
