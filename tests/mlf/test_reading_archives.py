# SPDX-License-Identifier: Apache-2.0
"""Archives that others wrote, and damaged ones.

Every version is read without loss; every kind of damage has a slug of its own, no matter where it
is; what is refused leaves nothing behind.
"""
import gzip
import json
import pathlib
import re
import tarfile

import common
import pytest
import validate
from archives import archive_of, expect, every_metadata, full_model, make_tar, member, operator, run

FILES = {"codegen/host/src/default_lib0.c": b"int x;\n" * 300, "parameters/default.params": b"\0" * 3000}
WORK = pathlib.Path()  # each test's own folder

@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)



def refused(path, slug, *patterns, args=("inspect",)):
    """The archive is refused with this slug and no other; gives the message."""
    done = run(common.AOTC, "mlf", args[0], path, *args[1:], code=1)
    slugs = set(re.findall(r"\[([a-z0-9-]+)\]$", done.stderr, re.M))
    expect(slugs == {slug}, f"{path}: {slugs or done.stderr} instead of {slug}")
    expect(not done.stdout, f"{path}: output beside an error: {done.stdout}")
    for p in patterns:
        expect(re.search(p, done.stderr), f"{path}: no '{p}' in {done.stderr}")
    return done.stderr


def same_json(path, metadata):
    have = json.loads(run(common.AOTC, "mlf", "inspect", path, "--json").stdout)
    # As text: the order of keys counts as well.
    expect(json.dumps(have) == json.dumps(metadata), f"{path}: metadata differs: {have}")


def test_every_version():
    for name, metadata in every_metadata().items():
        tar = make_tar(WORK / f"{name}.tar", archive_of(metadata, FILES))
        same_json(tar, metadata)
        text = run(common.AOTC, "mlf", "inspect", tar).stdout
        style = "operator" if "operator" in name else "full-model"
        expect(f"version {name[1]}, style {style}\n" in text, text)
        expect(re.search(r"default_lib0\.c +2100", text), text)
        if style == "operator":
            expect(re.search(r"^function add\n +0 +A +int32 +2 +8 bytes", text, re.M), text)
        else:
            expect(f"model default: executor {name[3:]}" in text, text)
        alone = WORK / f"{name}.json"
        alone.write_text(json.dumps(metadata))
        same_json(alone, metadata)


def test_tar_formats():
    metadata = full_model(7)
    long = {"runtime/" + "d" * 90 + "/" + "f" * 150 + ".h": b"x", **FILES}
    for name, form in (("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT),
                       ("pax", tarfile.PAX_FORMAT)):
        files = FILES if name == "ustar" else long
        tar = make_tar(WORK / f"{name}.tar", archive_of(metadata, files), form=form)
        same_json(tar, metadata)
        run(common.AOTC, "mlf", "extract", tar, "-o", WORK / name)
        for path, data in files.items():
            expect((WORK / name / path).read_bytes() == data, f"{name}: {path} differs")
    # Python's tarfile writes the second name of a file as a link to the first.
    link, _ = member("./src/copy.c", type=tarfile.LNKTYPE, linkname="./" + list(FILES)[0])
    tar = make_tar(WORK / "link.tar", archive_of(metadata, FILES) + [(link, b"")])
    run(common.AOTC, "mlf", "extract", tar, "-o", WORK / "link")
    expect((WORK / "link/src/copy.c").read_bytes() == list(FILES.values())[0], "link differs")


def test_styles():
    tar = make_tar(WORK / "style.tar", archive_of({**operator(7), "style": "operators"}))
    refused(tar, "mlf-style", "'style' is 'operators'")
    bad = full_model(7)
    bad["modules"]["default"]["style"] = "operator"
    refused(make_tar(WORK / "style2.tar", archive_of(bad)), "mlf-style", "modules.default.style")
    # A style that is not wanted, whatever else is wrong, and the other way round.
    model, op = WORK / "m.tar", WORK / "o.tar"
    make_tar(model, archive_of({"version": 99, "style": "full-model"}))
    make_tar(op, archive_of(operator(7)))
    refused(model, "mlf-style", "this command needs 'operator'", args=("inspect", "--style", "operator"))
    refused(op, "mlf-style", "this command needs 'full-model'", args=("inspect", "--style", "full-model"))
    refused(op, "mlf-style", args=("extract", "-o", WORK / "never", "--style", "full-model"))
    refused(make_tar(WORK / "v2.tar", archive_of(full_model(2))), "mlf-style", "before version 4",
            args=("inspect", "--style", "operator"))
    run(common.AOTC, "mlf", "inspect", op, "--style", "operator")


def test_versions():
    for version in (0, 8, -1, 1 << 40, (1 << 64) - 1):
        tar = make_tar(WORK / "version.tar", archive_of({**operator(7), "version": version}))
        refused(tar, "mlf-version", str(version))
    refused(make_tar(WORK / "version.tar", archive_of({**operator(7), "version": "7"})), "mlf-key",
            "'version' must be a number, not string")


OPTIONAL = {"sids", "inputs", "outputs", "input_binding", "constants_size_bytes", "io_size_bytes"}


def without(value, path=()):
    """(path, value without one key) for every key in it."""
    if isinstance(value, dict):
        for key in value:
            yield (*path, key), {k: v for k, v in value.items() if k != key}
            for p, changed in without(value[key], (*path, key)):
                yield p, {**value, key: changed}
    elif isinstance(value, list):
        for i, v in enumerate(value):
            for p, changed in without(v, (*path, f"[{i}]")):
                yield p, [*value[:i], changed, *value[i + 1:]]


def is_name(path):
    """Keys that are names: of modules, functions, tensors, targets."""
    parent = path[-2] if len(path) > 1 else ""
    return parent in ("modules", "inputs", "outputs", "target") or path[:-1] == ("memory",)


def test_missing_keys():
    count = 0
    for name, metadata in every_metadata().items():
        for path, changed in without(metadata):
            op = "operator" in name
            names = is_name(path) and not (path[:1] == ("memory",) and not op)
            if names or (path[-1] in OPTIONAL and not (op and path[-1] == "input_binding")):
                continue
            alone = WORK / "missing.json"
            alone.write_text(json.dumps(changed))
            # Without modules nothing tells what it is: then the style is missing at the top.
            key = "style" if path == ("modules",) else path[-1]
            refused(alone, "mlf-missing-key", f"'{key}' is missing")
            count += 1
    expect(count > 150, f"only {count} keys")
    # All at once, and where.
    bad = full_model(7)
    del bad["modules"]["default"]["target"], bad["modules"]["default"]["memory"]["functions"]["main"]
    text = refused(make_tar(WORK / "two.tar", archive_of(bad)), "mlf-missing-key",
                   "two.tar:metadata.json: error: key 'target' is missing in 'modules.default'",
                   "key 'main' is missing in 'modules.default.memory.functions'")
    expect(text.count("error:") == 2, text)


def replaced(value, path=()):
    """(path, value with one part replaced by something of another type)."""
    if path:
        yield path, [] if isinstance(value, dict) else {} if not isinstance(value, int) else "7"
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, v in items:
        for p, new in replaced(v, (*path, key)):
            copy = value.copy()
            copy[key] = new
            yield p, copy


def test_wrong_kinds():
    count = 0
    for name, metadata in every_metadata().items():
        for path, changed in replaced(metadata):
            if path[-1] == "input_binding" and "operator" not in name:
                continue  # informative
            alone = WORK / "kind.json"
            alone.write_text(json.dumps(changed))
            done = run(common.AOTC, "mlf", "inspect", alone, code=1)
            expect("must be" in done.stderr and "[mlf-key]" in done.stderr, f"{path}: {done.stderr}")
            count += 1
    expect(count > 200, f"only {count} values")


def test_bad_metadata():
    for name, text in (("empty", b""), ("text", b"hello"), ("cut", b'{"version": 7'),
                       ("list", b"[1]"), ("latin", b'{"version": 7, "x": "\xe4"}'),
                       ("nul", b'{"version": 7}\0')):
        refused(make_tar(WORK / f"{name}.tar", archive_of(text)), "mlf-metadata")
    deep = b'{"a":' + b"[" * 100000 + b"]" * 100000 + b"}"
    refused(make_tar(WORK / "deep.tar", archive_of(deep)), "mlf-limit", "nested")
    keys = b"{" + b",".join(b'"%d":0' % i for i in range(200000)) + b"}"
    refused(make_tar(WORK / "keys.tar", archive_of(keys)), "mlf-limit", "keys")
    none = make_tar(WORK / "none.tar", [member("./x/metadata.json", b"{}")])
    refused(none, "mlf-no-metadata", "'x/metadata.json'")
    refused(make_tar(WORK / "no.tar", [member("a", b"b")]), "mlf-no-metadata")


def test_not_tars():
    for name, data in (("empty", b""), ("short", b"x"), ("text", b"no archive\n" * 100),
                       ("zeros", b"\0" * 10240), ("elf", b"\x7fELF" + bytes(range(256)) * 8)):
        path = WORK / f"not_{name}"
        path.write_bytes(data)
        refused(path, "mlf-not-tar" if name != "zeros" else "mlf-no-metadata")
    tar = make_tar(WORK / "plain.tar", archive_of(full_model(7), FILES))
    (WORK / "gz.tar").write_bytes(gzip.compress(tar.read_bytes()))
    refused(WORK / "gz.tar", "mlf-compressed", "gzip")
    for mode, name in (("w:bz2", "bzip2"), ("w:xz", "xz")):
        refused(make_tar(WORK / "z.tar", archive_of(full_model(7)), mode), "mlf-compressed", name)
    refused(WORK / "absent.tar", "file-read")
    refused(WORK, "file-read", "directory")


def test_truncations():
    tar = make_tar(WORK / "whole.tar", archive_of(full_model(7), FILES))
    data = tar.read_bytes()
    # Two blocks of zeros end a tar; what Python writes behind them is filling.
    with tarfile.open(tar) as t:
        end = max(m.offset_data + (m.size + 511) // 512 * 512 for m in t) + 1024
    expect(end <= len(data), "where does the archive end?")
    for size in sorted({*range(0, end, 512), *range(37, end, 97), end - 1, end - 511}):
        (WORK / "cut.tar").write_bytes(data[:size])
        # Less than the mark of a tar cannot be told from any other file.
        refused(WORK / "cut.tar", "mlf-truncated" if size > 262 else "mlf-not-tar",
                args=("extract", "-o", WORK / "cut"))
        expect(not (WORK / "cut").exists(), f"something was unpacked of {size} bytes")
    for size in (end, end + 512, len(data)):
        (WORK / "cut.tar").write_bytes(data[:size])
        run(common.AOTC, "mlf", "inspect", WORK / "cut.tar")


def test_escapes():
    metadata = archive_of(full_model(7))
    outside = (WORK / "outside").absolute()
    for i, name in enumerate(("../outside", "./../outside", "a/../../outside", str(outside),
                              "codegen/../../outside", "..", "a\\..\\..\\outside", "C:/outside",
                              "a\nb", "x/\x1b[31m")):
        tar = make_tar(WORK / "escape.tar", metadata + [member(name, b"evil")])
        refused(tar, "mlf-path", args=("extract", "-o", WORK / "in" / "escape"))
    link, _ = member("./link", type=tarfile.SYMTYPE, linkname="..")
    refused(make_tar(WORK / "escape.tar", metadata + [(link, b""), member("./link/outside", b"e")]),
            "mlf-member", args=("extract", "-o", WORK / "in" / "escape"))
    for kind in (tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE):
        refused(make_tar(WORK / "escape.tar", metadata + [member("./x", type=kind)]), "mlf-member")
    link, _ = member("./link", type=tarfile.LNKTYPE, linkname="../outside")
    refused(make_tar(WORK / "escape.tar", metadata + [(link, b"")]), "mlf-member")
    expect(not outside.exists() and not (WORK / "in").exists(), "something was written outside")
    for extra in ([member("./a", b"1"), member("./a", b"2")], [member("./a", b"1"), member("./a/b")]):
        refused(make_tar(WORK / "twice.tar", metadata + extra), "mlf-member")


def test_limits():
    info, _ = member("./big")
    info.size = 1 << 40
    header = info.tobuf(tarfile.GNU_FORMAT)
    data = make_tar(WORK / "big.tar", archive_of(full_model(7))).read_bytes()
    (WORK / "big.tar").write_bytes(header + data)
    refused(WORK / "big.tar", "mlf-limit")


def test_extraction():
    tar = make_tar(WORK / "x.tar", archive_of(full_model(7), FILES))
    out = WORK / "x"
    run(common.AOTC, "mlf", "extract", tar, "-o", out)
    expect({p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()} ==
           {*FILES, "metadata.json"}, "other files were unpacked")
    (out / "mine").write_text("mine")
    refused(tar, "output-exists", args=("extract", "-o", out))
    expect((out / "mine").exists(), "the directory was replaced")
    run(common.AOTC, "mlf", "extract", tar, "-o", out, "--force")
    expect((out / "mine").read_text() == "mine", "--force deleted what it did not write")
    (out / "mine").unlink()
    run(common.AOTC, "mlf", "extract", tar, "-o", out)  # what is there is the same
    (out / "metadata.json").write_text("{}")
    refused(tar, "output-exists", args=("extract", "-o", out))


def test_differences():
    a = make_tar(WORK / "a.tar", archive_of(full_model(7), {**FILES, "src/a": b"1"}))
    run(common.AOTC, "mlf", "diff", a, a)
    metadata = full_model(7)
    metadata["modules"]["default"]["memory"]["functions"]["main"][0]["device"] = 2
    metadata["modules"]["default"]["extra"] = [1]
    changed = {**FILES, "parameters/default.params": b"\0" * 100 + b"\1", "src/b": b"1"}
    b = make_tar(WORK / "b.tar", archive_of(metadata, changed))
    text = run(common.AOTC, "mlf", "diff", a, b, code=1).stdout
    for line in ("metadata modules.default.memory.functions.main[0].device: 1 -> 2",
                 "metadata modules.default.extra: only in the second: [1]",
                 "file src/a: only in the first", "file src/b: only in the second",
                 "file parameters/default.params: the first difference is at byte 100 (3,000 bytes and 101 bytes)"):
        expect(line + "\n" in text, f"no '{line}' in {text}")
    expect(len(text.splitlines()) == 5, text)
    j = json.loads(run(common.AOTC, "mlf", "diff", a, b, "--json", code=1).stdout)
    expect(not j["equal"] and j["files"]["added"] == ["src/b"], j)
    # Order of keys and spelling do not count.
    shuffled = json.dumps(dict(reversed(full_model(7).items())), indent=4).encode()
    c = make_tar(WORK / "c.tar", archive_of(shuffled, {**FILES, "src/a": b"1"}))
    run(common.AOTC, "mlf", "diff", a, c)
    run(common.AOTC, "mlf", "diff", a, WORK / "absent", code=2)


def test_shared_archives(record_property):
    """What TVM wrote is read without loss, unpacks to the same bytes, and passes the validator."""
    folder = common.SHARED / "tvm"
    if not folder.is_dir():
        common.missing(f"{folder} is missing (set AOTC_SHARED)")
    found = sorted([*folder.glob("*.tar"), *folder.glob("*metadata.json")])
    expect(len(found) >= 6, f"only {len(found)} archives in {folder}")
    for path in found:
        expect(not validate.validate(path), f"{path}: {validate.validate(path)}")
        if path.suffix == ".json":
            same_json(path, json.loads(path.read_text()))
            continue
        with tarfile.open(path, "r:") as tar:
            same_json(path, json.load(tar.extractfile("./metadata.json")))
            out = WORK / path.stem
            run(common.AOTC, "mlf", "extract", path, "-o", out)
            files = {m.name[2:]: tar.extractfile(m).read() for m in tar if m.isfile()}
        have = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
        expect(have == files, f"{path} unpacks to other files")
        run(common.AOTC, "mlf", "diff", path, path)
        run(common.AOTC, "mlf", "diff", found[0], path, code=0 if path == found[0] else 1)
        print(f"{path.name}: {len(files)} files, metadata equal")
    record_property("cases", len(found))
