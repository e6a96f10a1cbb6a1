#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the corpus of small archives that the fuzzer starts from: make_corpus.py FOLDER."""
import argparse
import json
import pathlib
import tarfile

from archives import archive_of, every_metadata, full_model, make_tar, member

FILES = {"codegen/host/src/default_lib0.c": b"int x;\n", "parameters/default.params": b"\0" * 600}


def cut(path):
    """Without what Python fills up with."""
    with tarfile.open(path) as tar:
        end = max(m.offset_data + (m.size + 511) // 512 * 512 for m in tar)
    path.write_bytes(path.read_bytes()[:end + 1024])


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, metadata in every_metadata().items():
        (folder / f"{name}.json").write_text(json.dumps(metadata))
    metadata = archive_of(full_model(7))
    link, _ = member("./copy", type=tarfile.LNKTYPE, linkname="./metadata.json")
    symbolic, _ = member("./up", type=tarfile.SYMTYPE, linkname="..")
    tars = {"model": archive_of(full_model(7), FILES),
            "link": metadata + [(link, b"")],
            "symbolic": metadata + [(symbolic, b"")],
            "escape": metadata + [member("./a/../../b", b"1")],
            "none": [member("./x", b"1")]}
    for name, members in tars.items():
        cut(make_tar(folder / f"{name}.tar", members))
    long = archive_of(full_model(7), {"d" * 90 + "/" + "f" * 120: b"1"})
    for name, form in (("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)):
        cut(make_tar(folder / f"long_{name}.tar", long, form=form))
    data = (folder / "model.tar").read_bytes()
    (folder / "cut.tar").write_bytes(data[:len(data) // 2])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    main(parser.parse_args().folder)
