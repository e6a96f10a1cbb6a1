#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Projects of ONNX models whose constants lie in a file beside them: the project has that file too, and can be verified
when the model is gone; options that belong to ONNX models are kept.

Usage: projects.py --work DIR

Ends with 'N passed, N failed'.
"""
import argparse
import pathlib
import shutil
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import networks  # noqa: E402


def model_with_data(folder, location):
    import onnx
    folder.mkdir(parents=True)
    (folder / location).parent.mkdir(parents=True, exist_ok=True)
    onnx.save_model(networks.images(), str(folder / "net.onnx"), save_as_external_data=True, location=location,
                    size_threshold=256)
    return folder / "net.onnx"


def check_kept(work, location):
    """The project has the file where the model says, and needs nothing else."""
    model = model_with_data(work / "from", location)
    data = (model.parent / location).read_bytes()
    app = work / "app"
    common.aotc("create", model, "--board", "host", "-o", app, "--input-layout", "nhwc", "--quiet")
    shutil.rmtree(work / "from")
    found = [p for p in app.rglob(pathlib.Path(location).name)]
    if len(found) != 1 or found[0].read_bytes() != data or not str(found[0]).endswith(location):
        raise common.Failure(f"the project has {found} of {location}")
    header = next(app.rglob("net.h")).read_text()
    if "1x32x32x3" not in header:
        raise common.Failure("the input is not in the order that was asked for")
    common.aotc("verify", app)


def check_taken(work):
    """A name of the project's own."""
    model = model_with_data(work / "from", "net.c")
    text = common.run([common.AOTC, "create", model, "--board", "host", "-o", work / "app"], expect=None).stderr
    if "[onnx-external]" not in text or (work / "app").exists():
        raise common.Failure(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = parser.parse_args().work.resolve()
    common.need_modules("onnx")
    failed = 0
    checks = [("beside", lambda at: check_kept(at, "net.data")), ("below", lambda at: check_kept(at, "data/weights.bin")),
              ("taken", check_taken)]
    for name, check in checks:
        shutil.rmtree(work / name, ignore_errors=True)
        try:
            check(work / name)
        except common.Failure as failure:
            failed += 1
            print(f"FAILED {name}: {failure}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    common.main_of(main)
