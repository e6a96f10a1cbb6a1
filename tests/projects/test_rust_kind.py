# SPDX-License-Identifier: Apache-2.0
"""--project rust: every constant of src/lib.rs is what the header says, for models of all sorts; where cargo
is installed the crate is built and tested, and a program without the standard library's help that uses
it gives LiteRT's outputs.

cargo and the crate cc: apt-get install cargo librust-cc-dev (some 40 MB), or rustup and a cargo that has
fetched the crate before. Nothing is fetched here.
"""
import os
import pathlib
import re
import shutil

from kinds import common
import kinds
import pytest

os.environ.setdefault(common.MORE_MODELS, str(common.ROOT / "tests" / "models" / "state"))
DEBIAN_CRATES = pathlib.Path("/usr/share/cargo/registry")
# A model with state, several inputs and outputs, names that are words of Rust, a caller's buffers.
MODELS = (("digits_int8", []), ("gadget_f32", ["--input", "preserve"]), ("gadget_int8", ["--output", "overwrite"]),
          ("gru_pair_int8", []), ("accumulator_int8", []))
PROGRAM = """use digits_sys::*;
use std::io::{Read, Write};

fn main() {
    let mut arena = digits_arena([0; DIGITS_ARENA_SIZE]);
    let mut input = [0u8; DIGITS_INPUT_IMAGE_BYTES];
    let mut output = [0i8; DIGITS_OUTPUT_PROBABILITIES_ELEMENTS];
    while std::io::stdin().read_exact(&mut input).is_ok() {
        arena.0[DIGITS_INPUT_IMAGE_OFFSET..][..input.len()].copy_from_slice(&input);
        let outputs = digits_outputs { probabilities: output.as_mut_ptr() };
        let status = unsafe { digits_run(std::ptr::null(), &outputs, arena.0.as_mut_ptr() as *mut _) };
        assert_eq!(status, 0);
        assert!(DIGITS_INPUT_IN_ARENA && !DIGITS_OUTPUT_IN_ARENA);
        let bytes: Vec<u8> = output.iter().map(|&value| value as u8).collect();
        std::io::stdout().write_all(&bytes).unwrap();
    }
    let null = unsafe { digits_run(std::ptr::null(), std::ptr::null(), std::ptr::null_mut()) };
    assert_eq!(null, DIGITS_ERROR_ARGUMENT);
}
"""


def value_in_c(value):
    """A value of Rust in C: of a list its elements, with braces."""
    value = {"true": "1", "false": "0"}.get(value, value)
    return value.replace("[", "{").replace("]", "}")


@pytest.mark.parametrize("model, options", MODELS)
def test_constants(model, options, tmp_path, record_property):
    """Every constant, compared by a program of C with the header's of the same name."""
    work, project = tmp_path, tmp_path / "project"
    common.aotc("create", common.model_path(model), "--project", "rust", "--prefix", "net", "-o", project, "--quiet", *options)
    text = (project / "src" / "lib.rs").read_text()
    found = re.findall(r"^pub const (NET_\w+): ([^=]+) = (.*);$", text, re.M)
    header = (project / "model" / "net.h").read_text()
    defined = set(re.findall(r"^#define (NET_\w+) ", header, re.M))
    expected = {n for n in defined if re.search(r"_(SIZE|ALIGN|ELEMENTS|BYTES|DIMS|SCALE|ZERO_POINT|OFFSET|CALL_COUNT|IN_ARENA|ERROR_ARGUMENT)$", n)}
    if {name for name, _, _ in found} != expected:
        raise common.Failure(f"{model}: constants {expected ^ {n for n, _, _ in found}}")
    lines = []
    for name, kind, value in found:
        if kind.startswith("["):
            # Of a scalar the header has none.
            lines.append(f"{{ const long a[] = {name}, b[] = {value_in_c(value)}; unsigned i;\n"
                         f"  if (sizeof a != sizeof b) return __LINE__;\n"
                         f"  for (i = 0; i < sizeof a / sizeof *a; ++i) if (a[i] != b[i]) return __LINE__; }}")
        elif kind == "f32":
            lines.append(f"if ({name} != {value}f) return __LINE__;")
        else:
            lines.append(f"if ((long){name} != (long){value_in_c(value)}) return __LINE__;")
    for name in re.findall(r"pub fn (net_\w+)", text.split("pub mod app")[0]):
        lines.append(f"if ({name} == 0) return __LINE__;")
    source = work / f"{model}.c"
    source.write_text('#include "net.h"\nint main(void)\n{\n' + "\n".join(lines) + "\nreturn 0;\n}\n")
    common.run(["gcc", "-std=c99", "-Wno-address", "-I", project / "model", source, project / "model" / "net.c",
                project / "model" / "net_data.c", "-lm", "-o", work / f"{model}_constants"])
    common.run([work / f"{model}_constants"])
    record_property("cases", len(found))


def cargo(folder, *arguments, **options):
    """cargo without the network, its results in the test's folder; None where the crate cc cannot be had."""
    environment = {**os.environ, "CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": str(folder.parent / "target")}
    if any(DEBIAN_CRATES.glob("cc-*")):
        config = folder.parent / ".cargo"
        config.mkdir(exist_ok=True)
        (config / "config.toml").write_text(
            f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{DEBIAN_CRATES}"\n')
    return common.run(["cargo", *arguments], cwd=folder, env=environment, expect=None, **options)


def test_crate(tmp_path):
    work = tmp_path
    if shutil.which("cargo") is None:
        common.skip("cargo is not installed (apt-get install cargo librust-cc-dev)")
    library = kinds.create("rust", work / "crate", "--license", "MIT")
    made = cargo(library, "build")
    if made.returncode != 0 and ("no matching package" in made.stderr or "offline" in made.stderr):
        common.skip(f"cargo has no crate cc here (librust-cc-dev): {made.stderr[-400:]}")
    for command in (["build"], ["test", "--features", "app", "--", "--nocapture"]):
        made = cargo(library, *command)
        if made.returncode != 0 or "warning:" in made.stderr:
            raise common.Failure(f"cargo {' '.join(command)}:\n{made.stdout[-2000:]}{made.stderr[-2000:]}")
    kinds.check_demo(made.stdout)
    program = work / "program"
    (program / "src").mkdir(parents=True)
    (program / "Cargo.toml").write_text('[package]\nname = "program"\nversion = "0.1.0"\nedition = "2018"\n'
                                        '[dependencies]\ndigits-sys = { path = "../crate" }\n')
    (program / "src" / "main.rs").write_text(PROGRAM)
    made = cargo(program, "build")
    if made.returncode != 0 or "warning:" in made.stderr:
        raise common.Failure(made.stderr[-3000:])
    kinds.check_consumer(work / "target" / "debug" / "program")
    # A damaged weight is found.
    data = library / "model" / "digits_data.c"
    text = data.read_text()
    place = re.search(r"_(?:weights|stream)\[\d+\][^{;]*\{\s*(-?\d+)", text)
    data.write_text(text[:place.start(1)] + str(-int(place[1]) - 1) + text[place.end(1):])
    if cargo(library, "test", "--features", "app").returncode == 0:
        raise common.Failure("the crate's test passes with a damaged weight")
