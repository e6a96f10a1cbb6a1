# SPDX-License-Identifier: Apache-2.0
"""Models that `aotc check` takes or refuses: `cases` yields (name, model, what the message has to say or None)."""
import argparse
import pathlib

import common


def main(cases, text):
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work)
    passed, failed = 0, []
    for name, model, wanted in cases():
        path = work / f"{name}.tflite"
        path.write_bytes(model)
        done = common.aotc("check", path, expect=None)
        text = done.stdout + done.stderr
        good = done.returncode == 0 if wanted is None else done.returncode == 1 and wanted in text
        passed += good
        if not good:
            failed.append(name)
            print(f"{name}: exit code {done.returncode}, wanted {wanted!r}: {text[:400]}")
    print(f"{passed} passed, {len(failed)} failed")
    if failed:
        raise common.Failure(", ".join(failed))

