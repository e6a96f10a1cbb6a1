#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs emitted C as gcc and clang build it at every level, and compares every layer with LiteRT.

Usage: run_matrix.py --full --work DIR [--only TEXT] [--jobs N]

A build is a compiler (gcc, clang), a level (-O0 -O1 -O2 -O3 -Os), a mode and a width: `plain`, `lto`
(-flto) and `san` (address and undefined-behaviour sanitizers) for 64 bits, `plain` and `san` for 32.
NAME.c and NAME_data.c are compiled apart, as users do. On 32 bits only models that compute with floats
get -msse2 -mfpmath=sse. --full makes every build with every model in it (and adds -flto for 32 bits), which takes half an
hour of CPU. In test_run_matrix.py each model goes into a few builds, at least one of each compiler, and one in five of the
operator models is taken.

--only keeps the builds whose name has TEXT in it, as in `clang-O2` or `san32`.

Some models are lowered for cores with kernels in assembly as well: this machine runs the portable
halves, and every family of kernels that there is has to be among them.
"""
import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import sys

import bundle
import common
import records

COMPILERS = {"gcc": "gcc", "clang": "clang-19"}
LEVELS = ("O0", "O1", "O2", "O3", "Os")
MODES = ("plain64", "lto64", "san64", "plain32", "san32")
MORE_MODES = ("lto32",)
BASE = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1"]
FLOAT_32 = ["-msse2", "-mfpmath=sse"]

OWN = ("digits_int8", "digits_f32", "gadget_int8", "gadget_f32", "gru_steps_int8", "gru_steps_f32")
SHARED = ("hello_world_int8", "hello_world_float", "kws", "micro_speech", "strww", "ad", "resnet",
          "vww", "ad_f32", "resnet_f32", "vww_f32")
# Lowered for other cores: prefix -> (model, options of compile).
FOR_CORES = {
    "digits_m4": ("digits_int8", ["--board", "qemu_mps2_an386"]),
    "digits_m4_speed": ("digits_int8", ["--board", "qemu_mps2_an386", "-O", "speed"]),
    "digits_m4_c": ("digits_int8", ["--board", "qemu_mps2_an386", "--kernels", "c"]),
    "digits_m4_intrinsics": ("digits_int8", ["--board", "qemu_mps2_an386", "--kernels", "intrinsics"]),
    "gadget_m4": ("gadget_int8", ["--board", "qemu_mps2_an386"]),
    "digits_m55": ("digits_int8", ["--board", "qemu_mps3_an547"]),
    "digits_f32_m55": ("digits_f32", ["--board", "qemu_mps3_an547"]),
    "weights_m4": ("weights_dynamic", ["--board", "qemu_mps2_an386"]),
    "glance_int16_m4": ("glance_int16", ["--board", "qemu_mps2_an386"]),
    "glance_int16_m55": ("glance_int16", ["--board", "qemu_mps3_an547"]),
    "vectors_wide_uint8_m55": ("vectors_wide_uint8", ["--board", "qemu_mps3_an547"]),
    "vectors_row_int16_m55": ("vectors_row_int16", ["--board", "qemu_mps3_an547"]),
    "digits_int4_m4": ("digits_int4", ["--board", "qemu_mps2_an386"]),
    "gru_steps_m4": ("gru_steps_int8", ["--board", "qemu_mps2_an386"]),
    "gadget_m55": ("gadget_int8", ["--board", "qemu_mps3_an547"]),
    "kws_m4": ("kws", ["--board", "qemu_mps2_an386"]),
    "kws_m4_acle": ("kws", ["--board", "qemu_mps2_an386", "--kernels", "intrinsics"]),
    "resnet_m4": ("resnet", ["--board", "qemu_mps2_an386", "-O", "speed"]),
    "strww_m55": ("strww", ["--board", "qemu_mps3_an547"]),
    "resnet_m55": ("resnet", ["--board", "qemu_mps3_an547"]),
    "strww_m4": ("strww", ["--board", "qemu_mps2_an386"]),
    "ad_m4": ("ad", ["--board", "qemu_mps2_an386"]),
    "vww_m4": ("vww", ["--board", "qemu_mps2_an386"]),
    "kws_rvv": ("kws", ["--board", "qemu_riscv32_v"]),
    "vww_m55": ("vww", ["--board", "qemu_mps3_an547"]),
    "vww_m55_mve": ("vww", ["--board", "qemu_mps3_an547", "--kernels", "intrinsics"]),
    "kws_m55_mve": ("kws", ["--board", "qemu_mps3_an547", "--kernels", "intrinsics"]),
    "gadget_m55_mve": ("gadget_int8", ["--board", "qemu_mps3_an547", "--kernels", "intrinsics"]),
    "strww_m55_mve": ("strww", ["--board", "qemu_mps3_an547", "--kernels", "intrinsics"]),
    "vectors_wide_uint8_m55_mve": ("vectors_wide_uint8", ["--board", "qemu_mps3_an547", "--kernels", "intrinsics"]),
    "vectors_row_int16_m55_mve": ("vectors_row_int16", ["--board", "qemu_mps3_an547", "--kernels", "intrinsics"]),
}
EVERY_OPERATOR_MODEL = 5
# Compiled with headers that stand in for the intrinsics, as a compiler for Arm would have them: by the end of the prefix.
STAND_INS = {
    "_acle": ["-D__ARM_ACLE=1", "-D__ARM_FEATURE_SIMD32=1", "-D__ARM_FEATURE_UNALIGNED=1", "-I", str(common.ROOT / "tests/e2e/acle")],
    "_mve": ["-D__ARM_FEATURE_MVE=3", "-I", str(common.ROOT / "tests/e2e/mve")],
}
# Builds that a compiler's defect once made wrong.
ALWAYS_IN = {"digits_int4_m4": {"gcc-O3-plain64", "gcc-O2-lto64", "gcc-O3-lto64"}}
# Kernels of operators with a state: tests/state runs those. Of trees, which .tflite has none of, of words, which no
# model here takes, of rows, which come with segments only, and of clamps behind a quantisation, which .tflite has none of:
# tests/kernels runs their portable halves under both compilers.
ELSEWHERE = {"svdf_time", "tree_sums", "gemv_words", "dw_row", "dsp_pack", "mve_clamp"}
# Of LSTM layers, which have a state, too.
ELSEWHERE |= {f"{core}_{part}" for core in ("dsp", "mve")
              for part in ("gates", "lstm_sigmoid", "lstm_tanh", "lstm_cell", "lstm_hidden")}


@dataclasses.dataclass
class Model:
    prefix: str
    floating: bool  # its code computes with floats
    layers: list
    oracle: common.Oracle
    small: bool
    families: set
    right: set = dataclasses.field(default_factory=set)  # digests of results that were compared


@dataclasses.dataclass(frozen=True)
class Build:
    compiler: str
    level: str
    mode: str

    @property
    def name(self):
        return f"{self.compiler}-{self.level}-{self.mode}"

    @property
    def bits(self):
        return self.mode[-2:]

    def mode_flags(self):
        flags = ["-m32"] if self.bits == "32" else []
        if self.mode.startswith("san"):
            flags += SANITIZE
        if self.mode.startswith("lto"):
            flags.append("-flto")
        return flags

    def link_flags(self):
        linker = ["-fuse-ld=lld-19"] if self.compiler == "clang" and "lto" in self.mode else []
        return [*self.mode_flags(), f"-{self.level}", *linker]


def all_builds(full):
    modes = MODES + (MORE_MODES if full else ())
    return [Build(c, l, m) for l in LEVELS for m in modes for c in COMPILERS]


# --- Models ---------------------------------------------------------------------------------------


def emit(folder, prefix, name, options, samples):
    """One model's files in the folder; None if it is refused as it should be."""
    path = bundle.model_file(folder, name)
    made = common.aotc("compile", path, "--prefix", prefix, "-o", folder / prefix, "--quiet", "--json",
                       *options, expect=None)
    if name in bundle.REFUSED and made.returncode == 1 and bundle.REFUSED[name] in made.stderr:
        return None
    if made.returncode:
        raise common.Failure(f"{name}: exit code {made.returncode} {made.stderr}")
    for file in (folder / prefix).glob(f"{prefix}*.[ch]"):
        file.rename(folder / file.name)
    oracle = common.Oracle(path, samples)
    (folder / f"{prefix}.in").write_bytes(records.pack_inputs(oracle.samples))
    (folder / f"unit_{prefix}.c").write_text(bundle.unit_text(prefix, ("{}.h",)))
    text = (folder / f"{prefix}.c").read_text()
    return Model(prefix, "FLT_EVAL_METHOD" in (folder / f"{prefix}_data.h").read_text(),
                 json.loads(made.stdout)["layers"], oracle, path.parent.name == "ops",
                 set(re.findall(r"/\* kernel (\w+)", text)))


def emit_all(folder, full):
    wanted = {common.prefix_of(n): (n, []) for n in (*OWN, *SHARED)}
    wanted |= FOR_CORES
    ops = sorted(p.stem for p in (common.ROOT / "tests" / "models" / "ops").glob("*.tflite"))
    wanted |= {common.prefix_of(n): (n, []) for n in ops[::1 if full else EVERY_OPERATOR_MODEL]}
    there = common.SHARED / "models"
    if not there.exists() and os.environ.get("CI") != "true":
        print(f"{there} is missing: only the repository's own models")
        wanted = {p: (n, o) for p, (n, o) in wanted.items() if n not in SHARED}
    samples = 2 if full else 1
    models = [emit(folder, p, n, o, samples) for p, (n, o) in wanted.items()]
    models = [m for m in models if m]
    seen = set().union(*(m.families for m in models))
    tables = [p.read_text() for p in (common.ROOT / "compiler" / "cores").rglob("lowerings.cpp")]
    families = {name for table in tables for name in re.findall(r'\{"(\w+)", \w+\}', table)}
    missing = families - seen - ELSEWHERE
    if len(families) < 20 or there.exists() and (missing or not seen):
        raise common.Failure(f"no model here has kernels of the families {sorted(missing)}")
    print(f"{len(models)} models, {len(seen)} families of kernels")
    return models


def assign(models, builds, full):
    """build -> its models. Each model meets both compilers, large ones no more often than that."""
    if full:
        return {b: models for b in builds}
    plan = {b: [] for b in builds}
    large = [m for m in models if not m.small]
    small = [m for m in models if m.small]
    for compiler in COMPILERS:
        mine = [b for b in builds if b.compiler == compiler]
        # 7 has no factor in common with the number of builds, so that all get their share.
        for i, model in enumerate(large):
            plan[mine[i * 7 % len(mine)]].append(model)
        for i, model in enumerate(small):
            plan[mine[i % len(mine)]].append(model)
    # The smallest model with tables goes everywhere.
    for build in builds:
        plan[build] += [m for m in models if m not in plan[build] and (m.prefix in ("hello_world_int8", "hello_world_float")
                                                                       or build.name in ALWAYS_IN.get(m.prefix, ()))]
    return plan


# --- Building -------------------------------------------------------------------------------------


class Builder:
    """Compiles once what builds share: what runs a model, and tables, whose bytes no level changes."""

    def __init__(self, folder):
        self.folder = folder
        self.made = {}

    def object(self, key, source, command):
        made = self.folder / f"{'.'.join(key)}.o"
        if key not in self.made:
            common.run([*command, *common.LISTED, "-I", self.folder, "-c", source, "-o", made], cwd=self.folder)
            self.made[key] = made
        return made

    def objects(self, build, models):
        compiler = common.cached(COMPILERS[build.compiler])
        width = ["-m32"] if build.bits == "32" else []
        at, folder = build.name, self.folder
        out = []
        for model in models:
            p = model.prefix
            floats = FLOAT_32 if model.floating and build.bits == "32" else []
            out.append(self.object((build.compiler, build.bits, "unit", p), folder / f"unit_{p}.c",
                                   [*compiler, "-std=c99", "-O1", *width]))
            mode = build.mode_flags()
            out.append(self.object((build.compiler, build.mode, "data", p), folder / f"{p}_data.c",
                                   [*compiler, *BASE, "-O1", *mode, *floats]))
            out.append(self.object((at, p), folder / f"{p}.c",
                                   [*compiler, *BASE, f"-{build.level}", f"-D{p.upper()}_TRACE", *mode,
                                    *floats, *STAND_INS.get(p[p.rfind("_"):], [])]))
        main = folder / f"main_{at}.c"
        main.write_text(bundle.main_text([m.prefix for m in models], "."))
        out.append(self.object((at, "main"), main, [*compiler, "-std=c99", "-O1", *width]))
        return out

    def program(self, build, models):
        image = self.folder / f"{build.name}.elf"
        common.run([COMPILERS[build.compiler], *build.link_flags(), *self.objects(build, models), "-o", image,
                    "-lm"])
        return image


def prepare(folder, full):
    """build -> its models, whose files are in the folder."""
    common.require(*COMPILERS.values(), "ld.lld-19")
    (folder / "bundle.h").write_text(bundle.HEADER)
    return assign(emit_all(folder, full), all_builds(full), full)


def run_build(builder, build, models):
    """Number of results compared, and what is wrong of each model."""
    image = builder.program(build, models)
    folder = common.fresh(builder.folder / f"run_{build.name}")
    for model in models:
        (folder / f"{model.prefix}.in").symlink_to(builder.folder / f"{model.prefix}.in")
    common.run_program([image], [folder / f"{model.prefix}.in" for model in models],
                       [folder / f"{model.prefix}.out" for model in models], cwd=folder)
    compared, wrong = 0, []
    for model in models:
        data = (folder / f"{model.prefix}.out").read_bytes()
        digest = hashlib.sha256(data).digest()
        found = records.unpack_results(data)
        if digest not in model.right:
            try:
                common.compare(model.oracle, model.layers, found)
            except common.Failure as failure:
                wrong.append(f"{model.prefix}: {failure}")
                continue
            model.right.add(digest)
        compared += len(found)
    image.unlink(missing_ok=True)
    return compared, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--full", action="store_true", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    folder = common.fresh(options.work.resolve())
    plan = {b: m for b, m in prepare(folder, options.full).items() if options.only in b.name}
    failures, compared = [], 0
    # Those of one compiler and width share objects.
    queues = {}
    for build in plan:
        queues.setdefault((build.compiler, build.bits), []).append(build)

    def work(builds):
        builder, results = Builder(folder), []
        for build in builds:
            try:
                results.append((build, *run_build(builder, build, plan[build])))
            except common.Failure as failure:
                results.append((build, 0, [str(failure)]))
        return results

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(work, queues.values()):
            for build, count, wrong in results:
                compared += count
                failures += [f"{build.name}: {text[:2000]}" for text in wrong]
    runs = sum(len(m) for m in plan.values())
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{len(plan)} builds, {runs} runs of {max(map(len, plan.values()))} models, {compared} results as LiteRT's, "
          f"{len(failures)} failures")
    if failures or compared == 0:
        sys.exit(1)


if __name__ == "__main__":
    common.main_of(main)
