#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The store of verdicts: what misses, what is found, what is refused.

Usage: verdicts_test.py [NAME]

A compiler that counts its calls stands in for gcc: it joins its inputs to the file of -o. An emulator that counts, too,
prints that file.
"""
import argparse
import contextlib
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import verdicts  # noqa: E402

COMPILER = """#!/bin/sh
# version 1
echo "$@" >> "$CALLS"
case "$1" in -print*) exit 0;; esac
case "$*" in *-DFAILS*) echo refused >&2; exit 1;; esac
out=; for word in "$@"; do [ "$last" = -o ] && out=$word; last=$word; done
for word in "$@"; do case "$word" in *.c|*.o) [ "$word" = "$out" ] || cat "$word";; esac; done > "$out.new"
mv "$out.new" "$out"
"""
EMULATOR = """#!/bin/sh
# version 1
echo "$@" >> "$CALLS"
cat "$2"
[ -z "$3" ] || cat "$3" > "$4"
exit ${EMULATOR_FAILS:-0}
"""


class Bench:
    """A folder with tools that count their calls, a source with a header, and a store."""

    def __init__(self, folder):
        self.folder = folder
        self.calls = folder / "calls"
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.tool("arm-test-gcc", COMPILER)
        self.tool("qemu-test", EMULATOR)
        (folder / "include").mkdir()
        (folder / "model.c").write_text('#include <kernel.h>\nint run;\n')
        (folder / "include" / "kernel.h").write_text('#include "inner.h"\n')
        (folder / "include" / "inner.h").write_text("SMLAD\n")
        (folder / "in.bin").write_bytes(b"input")

    def tool(self, name, text):
        path = self.bin / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def called(self):
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0

    def step(self, *flags, source="model.c", target="model.o"):
        command = ["arm-test-gcc", *flags, "-I", "include", "-c", source, "-o", target]
        return verdicts.run_step(verdicts.step_of(command, {"cwd": str(self.folder)}))

    def link(self, *objects, target="image.elf"):
        command = ["arm-test-gcc", *(objects or ("model.o",)), "-o", target]
        return verdicts.run_step(verdicts.step_of(command, {"cwd": str(self.folder)}))

    def run(self, **options):
        command = ["qemu-test", "-kernel", str(self.folder / "image.elf"), "in.bin", "out.bin"]

        def work():
            done = subprocess.run(["qemu-test", "-kernel", *command[2:]], cwd=self.folder, capture_output=True, text=True,
                                  check=False)
            if done.returncode:
                raise verdicts.Failure(f"exit code {done.returncode}")
            return done.stdout
        return verdicts.run_program(command, work, [self.folder / "in.bin"], [self.folder / "out.bin"],
                                    folder=str(self.folder), **options)

    def all(self, *flags):
        """The text of the program, and how often tools were called for it; as a process that has just begun."""
        verdicts.pending.clear()
        verdicts._tool_at.cache_clear()
        (self.folder / "out.bin").unlink(missing_ok=True)
        before = self.called()
        self.step(*flags)
        self.link()
        text = self.run()
        return text, self.called() - before


@contextlib.contextmanager
def bench(**environment):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        before = dict(os.environ)
        os.environ |= {"AOTC_VERDICTS": str(folder / "store"), "AOTC_VERDICTS_SAMPLE": "0", "AOTC_COMMIT": "1",
                       "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "CALLS": str(folder / "calls"), **environment}
        os.environ.pop("AOTC_NO_VERDICTS", None)
        verdicts.store.cache_clear()
        verdicts.pending.clear()
        try:
            yield Bench(folder)
        finally:
            os.environ.clear()
            os.environ.update(before)
            verdicts.store.cache_clear()
            verdicts.pending.clear()


ASKED_OF_A_COMPILER = 7  # by _tool_at
WHOLE = 3  # compile, link, run


def cost(calls):
    """Calls without those that ask a compiler for its parts."""
    return calls - ASKED_OF_A_COMPILER


def raises(kind, function, *words):
    try:
        function()
    except kind as error:
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError(f"no {kind.__name__}")


def test_the_second_time_nothing_runs():
    with bench() as b:
        text, calls = b.all()
        assert "int run" in text and cost(calls) == WHOLE, (text, calls)
        for name in ("model.o", "image.elf"):
            (b.folder / name).unlink()
        again, calls = b.all()
        assert again == text and cost(calls) == 0, calls
        assert (b.folder / "out.bin").read_bytes() == b"input"
        assert not (b.folder / "image.elf").exists()


def test_what_counts_misses():
    def write(name, text):
        return lambda b: (b.folder / name).write_text(text)
    changes = {
        "kernel": (write("include/inner.h", "MLA\n"), (), WHOLE),
        "model": (write("model.c", "#include <kernel.h>\nint other;\n"), (), WHOLE),
        # The compiler looks beside the including file first.
        "header in front": (write("include/kernel.h", '#include "inner.h"\nint more;\n'), (), WHOLE),
        "flag": (lambda b: None, ("-O2",), WHOLE),
        "input": (write("in.bin", "another"), (), 1 + 2),  # the run, for which the program is built
        "compiler": (lambda b: b.tool("arm-test-gcc", COMPILER.replace("version 1", "version 2")), (), WHOLE),
        "emulator": (lambda b: b.tool("qemu-test", EMULATOR.replace("version 1", "version 2")), (), 1 + 2),
    }
    for name, (change, flags, calls) in changes.items():
        with bench() as b:
            b.all()
            change(b)
            found = cost(b.all(*flags)[1])
            assert found == calls, f"{name}: {found} calls, not {calls}"
            assert cost(b.all(*flags)[1]) == 0, name


def test_a_new_header_in_front_of_another_misses():
    with bench() as b:
        b.all()
        (b.folder / "front").mkdir()
        command = ["arm-test-gcc", "-I", "front", "-I", "include", "-c", "model.c", "-o", "model.o"]
        options = {"cwd": str(b.folder)}
        before = verdicts.step_of(command, options).key
        (b.folder / "front" / "kernel.h").write_text("int another;\n")
        assert verdicts.step_of(command, options).key != before


def test_bytes_that_an_assembler_includes_count():
    with bench() as b:
        (b.folder / "data.S").write_text('    .incbin "cases.bin"\n')
        (b.folder / "cases.bin").write_bytes(b"one")
        command = ["arm-test-gcc", "-c", "data.S", "-o", "data.o"]
        before = verdicts.step_of(command, {"cwd": str(b.folder)}).key
        (b.folder / "cases.bin").write_bytes(b"two")
        assert verdicts.step_of(command, {"cwd": str(b.folder)}).key != before


def test_files_that_a_program_names_are_told():
    def again(b, reads, writes, more=()):
        command = ["qemu-test", "-kernel", str(b.folder / "image.elf"), *more]
        return lambda: verdicts.run_program(command, lambda: "said", reads, writes, folder=str(b.folder))
    with bench() as b:
        (b.folder / "model.c").write_text('#include <kernel.h>\nconst char* opened = "cases.out";\n')
        b.all()
        (b.folder / "cases.out").write_text("3")
        raises(verdicts.Failure, again(b, [], []), "cases.out", "not told")
        raises(verdicts.Failure, again(b, [], [b.folder / "cases.out"], ["in.bin"]), "in.bin", "not told")
        # A file that lies there and that the program does not name is no matter.
        (b.folder / "other.out").write_text("3")
        assert again(b, [b.folder / "in.bin"], [b.folder / "cases.out"], ["in.bin"])() == "said"


def test_the_folder_of_the_clone_is_not_stored():
    """A program that prints its path: the verdict of one clone is used in another, and a sample agrees."""
    def of_clone(b, root, sampled):
        verdicts.ROOT, was = pathlib.Path(root), (verdicts.ROOT, verdicts.is_sampled)
        verdicts.is_sampled = lambda key: sampled
        try:
            command = ["qemu-test", "-kernel", str(b.folder / "image.elf")]
            return verdicts.run_program(command, lambda: f"{root}/app: 8 bytes", folder=str(b.folder))
        finally:
            verdicts.ROOT, verdicts.is_sampled = was
    with bench() as b:
        b.all()
        assert of_clone(b, "/one", False) == "/one/app: 8 bytes"
        assert of_clone(b, "/two", False) == "/two/app: 8 bytes"
        assert of_clone(b, "/two", True) == "/two/app: 8 bytes"


def test_the_folders_of_a_value_are_not_stored():
    """What 'aotc build --json' says names files of the project: hits and samples hold in another clone and folder."""
    def of_clone(root, sampled):
        folder = pathlib.Path(root) / "build" / "tests" / "one"
        said = {"image": f"{folder}/firmware.elf", "places": [{"file": f"{root}/runtime/crt.c", "bytes": 8}], folder.name: 1}
        verdicts.ROOT, was = pathlib.Path(root), (verdicts.ROOT, verdicts.is_sampled)
        verdicts.is_sampled = lambda key: sampled
        try:
            assert verdicts.remember("a build", "ab" * 32, lambda: said, folder=folder) == said
        finally:
            verdicts.ROOT, verdicts.is_sampled = was
    with bench() as b:
        # A clone's folder may be a part of another's.
        for root, sampled in (("/work/main", False), ("/check/work/main", False), ("/check/work/main", True), ("/w", True)):
            of_clone(root, sampled)
        assert len([path for path in (b.folder / "store").rglob("*") if path.is_file()]) == 1


def test_a_macro_that_says_what_to_include_makes_all_count():
    with bench() as b:
        (b.folder / "model.c").write_text("#include CONFIG\n")
        command = ["arm-test-gcc", "-I", "include", "-c", "model.c", "-o", "model.o"]
        before = verdicts.step_of(command, {"cwd": str(b.folder)}).key
        (b.folder / "include" / "never_named.h").write_text("int x;\n")
        assert verdicts.step_of(command, {"cwd": str(b.folder)}).key != before


def test_a_linker_script_counts():
    with bench() as b:
        (b.folder / "m.ld").write_text("one")
        keys = set()
        for text in ("one", "two"):
            (b.folder / "m.ld").write_text(text)
            for words in (["-T", "m.ld"], ["-Wl,-T,./m.ld"]):
                keys.add(verdicts.step_of(["arm-test-gcc", "model.o", *words, "-o", "i.elf"], {"cwd": str(b.folder)}).key)
        assert len(keys) == 4, keys


def test_the_place_of_the_work_folder_does_not_count():
    keys = set()
    for _ in range(2):
        with bench() as b:
            keys.add(verdicts.step_of(["arm-test-gcc", "-I", str(b.folder / "include"), "-c", str(b.folder / "model.c"), "-o",
                                       str(b.folder / "model.o")], {"cwd": str(b.folder)}).key)
    assert len(keys) == 1, keys


def test_a_poisoned_entry_is_found_by_the_sample():
    with bench() as b:
        b.all()
        poisoned = None
        store = verdicts.store()
        for path in store.folder.glob("??/*"):
            key = path.parent.name + path.name
            entry = store.get(key)
            if isinstance(entry["value"], dict):
                entry["value"]["text"] = "1 passed, 0 failed"
                store.put(key, entry)
                poisoned = path
        assert b.all()[0] == "1 passed, 0 failed"
        os.environ["AOTC_VERDICTS_SAMPLE"] = "100"
        raises(verdicts.Disagreement, b.all, str(poisoned), "deleted")
        assert not poisoned.exists()
        assert "int run" in b.all()[0]


def test_the_sample_is_chosen_by_commit():
    keys = [verdicts.digest_of(n) for n in range(4000)]
    with bench(AOTC_VERDICTS_SAMPLE="3"):
        chosen = []
        for commit in ("1", "2"):
            os.environ["AOTC_COMMIT"] = commit
            verdicts.commit.cache_clear()
            chosen.append({key for key in keys if verdicts.is_sampled(key)})
    verdicts.commit.cache_clear()
    assert all(80 <= len(c) <= 160 for c in chosen) and len(chosen[0] & chosen[1]) < 20, [len(c) for c in chosen]


def test_a_failure_is_not_stored():
    with bench() as b:
        for _ in range(2):
            before = b.called()
            raises(verdicts.Failure, lambda: b.step("-DFAILS"), "refused")
            assert b.called() > before
        b.step()
        b.link()
        os.environ["EMULATOR_FAILS"] = "3"
        raises(verdicts.Failure, b.run, "exit code 3")
        os.environ["EMULATOR_FAILS"] = "0"
        before = b.called()
        assert "int run" in b.run() and b.called() == before + 1


def test_a_missing_tool_fails_before_the_look_up():
    for name in ("arm-test-gcc", "qemu-test"):
        with bench() as b:
            b.all()
            (b.bin / name).unlink()
            raises(verdicts.Failure, b.all, name, "not installed")


def test_a_damaged_entry_is_a_miss():
    for damage in (lambda data: data[:-3], lambda data: b"", lambda data: data.replace(b"int run", b"int sun"),
                   lambda data: b"\n" + data):
        with bench() as b:
            text, _ = b.all()
            for path in verdicts.store().folder.glob("??/*"):
                path.write_bytes(damage(path.read_bytes()))
            again, calls = b.all()
            assert again == text and cost(calls) >= 1, calls


def test_an_entry_of_another_key_is_a_miss():
    with bench():
        store = verdicts.store()
        store.put("a" * 64, {"value": 1})
        (store.folder / "bb").mkdir()
        store.path("a" * 64).rename(store.path("b" * 64))
        assert store.get("b" * 64) is None


def test_all_runs_without_verdicts():
    with bench() as b:
        b.all()
        os.environ["AOTC_NO_VERDICTS"] = "1"
        assert cost(b.all()[1]) == WHOLE


def test_a_file_is_written_when_it_is_needed():
    with bench() as b:
        b.all()
        (b.folder / "model.o").unlink()
        (b.folder / "image.elf").unlink()
        b.all()
        verdicts.make([str(b.folder / "image.elf")])
        assert "int run" in (b.folder / "image.elf").read_text()


def test_a_relative_name_needs_its_file():
    with bench() as b:
        b.all()
        (b.folder / "image.elf").unlink()
        b.all()
        before = os.getcwd()
        os.chdir(b.folder)
        try:
            verdicts.make(["objdump", "-h", "image.elf"])
        finally:
            os.chdir(before)
        assert (b.folder / "image.elf").exists()


def test_python_that_opens_or_starts_a_late_file_gets_it():
    with bench() as b:
        for use in (lambda: (b.folder / "image.elf").read_text(),
                    lambda: subprocess.run(["cat", str(b.folder / "image.elf")], capture_output=True, text=True, check=True).stdout,
                    lambda: subprocess.run(["cat", "image.elf"], cwd=b.folder, capture_output=True, text=True, check=True).stdout):
            b.all()
            for name in ("model.o", "image.elf"):
                (b.folder / name).unlink(missing_ok=True)
            b.all()
            assert not (b.folder / "image.elf").exists()
            assert "int run" in use()


def test_what_a_late_file_is_made_of_must_not_change():
    with bench() as b:
        b.all()
        b.all()
        (b.folder / "model.c").write_text("int changed;\n")
        raises(verdicts.Failure, lambda: verdicts.make([str(b.folder / "image.elf")]), "has changed")


def test_a_function_that_builds_may_name_the_folder():
    with bench() as b:
        made = []
        image = b.folder / "app" / "build" / "firmware.elf"
        image.parent.mkdir(parents=True)

        def build():
            verdicts.make(["aotc", "build", str(b.folder / "app")])
            made.append(1)
        verdicts.pending[str(image)] = verdicts.Built("key", build)
        for _ in range(2):
            verdicts.make(["aotc", "verify", str(b.folder / "app")])
        assert made == [1]


def test_two_processes_share_a_store():
    with bench() as b:
        program = ("import sys; sys.path.insert(0, sys.argv[1]); import verdicts; s = verdicts.store()\n"
                   "for n in range(300):\n"
                   "    key = verdicts.digest_of(n % 7)\n"
                   "    value = s.get(key)\n"
                   "    assert value is None or value == {'value': 'x' * 10000}, value\n"
                   "    s.put(key, {'value': 'x' * 10000})\n")
        running = [subprocess.Popen([sys.executable, "-c", program, str(HERE)]) for _ in range(4)]
        assert [p.wait() for p in running] == [0] * 4
        assert not [p for p in verdicts.store().folder.glob("??/.*")]
        assert b.called() == 0


def test_the_store_is_bounded():
    with bench():
        store = verdicts.Store(verdicts.default_folder(), limit=40 * 4096)
        for n in range(100):
            store.put(verdicts.digest_of(n), {"value": "y" * 100})
            os.utime(store.path(verdicts.digest_of(n)), (n, n))
        store.prune()
        left = [n for n in range(100) if store.get(verdicts.digest_of(n))]
        assert left == list(range(100 - len(left), 100)) and 20 < len(left) <= 40, left


def test_a_folder_without_rights_loses_only_the_verdict():
    with bench() as b:
        verdicts.store().folder.parent.mkdir(exist_ok=True)
        verdicts.store().folder.write_text("a file where the folder should be")
        assert "int run" in b.all()[0]


def test_the_environment_names_the_folder():
    with bench() as b:
        assert verdicts.default_folder() == b.folder / "store"
        del os.environ["AOTC_VERDICTS"]
        os.environ["XDG_CACHE_HOME"] = "/cache"
        assert verdicts.default_folder() == pathlib.Path("/cache/aotc/verdicts")
        del os.environ["XDG_CACHE_HOME"]
        assert verdicts.default_folder() == pathlib.Path.home() / ".cache/aotc/verdicts"


def test_gcc_compiles_links_and_runs():
    with bench() as b:
        (b.folder / "real.c").write_text('#include <stdio.h>\n#include "value.h"\nint main(void) { printf("%d\\n", VALUE); return 0; }\n')
        for value in (3, 4, 3):
            verdicts.pending.clear()
            (b.folder / "value.h").write_text(f"#define VALUE {value}\n")
            options = {"cwd": str(b.folder)}
            verdicts.run_step(verdicts.step_of(["gcc", "-c", "real.c", "-o", "real.o"], options))
            verdicts.run_step(verdicts.step_of(["gcc", "real.o", "-o", "real"], options))
            command = [str(b.folder / "real")]
            text = verdicts.run_program(command, lambda: subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            assert text == f"{value}\n", text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="", help="tests whose names have this text")
    only = parser.parse_args().name
    tests = {name: f for name, f in globals().items() if name.startswith("test_") and only in name}
    failed = 0
    for name, one in tests.items():
        try:
            one()
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}")
    print(f"{len(tests) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
