#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a changed file reaches, and the entries that a run is made of.

Usage: selection_test.py [NAME]
"""
import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback
import types

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
import selection  # noqa: E402


def entry(*labels, command=(), **properties):
    return selection.Entry({"name": properties.pop("name", "one"), "command": list(command), "properties": [
        {"name": "LABELS", "value": list(labels)}, *({"name": k, "value": v} for k, v in properties.items())]}, "/build")


def reached(one, *names):
    reach = selection.Reach(one)
    return [bool(reach.reaches(name)) for name in names]


LAYERS = entry("full", "stage.driver", command=["python", "-m", "pytest", "-q", f"{ROOT}/tests/e2e/test_layers.py", "-k", "layers.kws-"])
TOOL = entry("full", "stage.driver", command=["python", f"{ROOT}/tests/e2e/run_matrix.py"])
READER = entry("full", "stage.frontends", command=["/build/tests/onnx_fuzz"])


def test_a_stage_reaches_what_stands_on_it():
    files = ("compiler/ops/softmax/softmax.cpp", "compiler/codegen/c_model.cpp", "compiler/driver/main.cpp",
             "compiler/support/text.cpp")
    assert reached(LAYERS, *files) == [True, True, True, True]
    assert reached(READER, *files) == [True, False, False, True]
    assert reached(entry("full", "stage.none", command=["/build/crt_test"]), *files) == [False] * 4


def test_the_graph_is_that_of_check_layers():
    graph = selection.stage_graph()
    assert {"codegen", "plan", "ops", "support"} <= graph["driver"] and "driver" not in graph["codegen"]
    assert graph["support"] == {"support"} and "codegen" not in graph["frontends"]


def test_documents_reach_what_reads_them():
    page = entry("full", "stage.driver", "reads.docs/cli.md",
                 command=["python", "-m", "pytest", "-q", f"{ROOT}/tests/e2e/test_docs.py", "-k", "test_commands and cli"])
    assert reached(page, "docs/cli.md", "docs/boards.md", "README.md") == [True, False, False]
    assert reached(LAYERS, "docs/cli.md", "README.md", "CHANGELOG.md") == [False] * 3
    everything = entry("quick", "stage.none", "reads.all", command=[f"{ROOT}/scripts/check-licences"])
    assert reached(everything, "docs/cli.md", "tests/zephyr/test_zephyr.py", "compiler/plan/program.cpp") == [True] * 3


def test_python_files_reach_what_imports_or_names_them():
    assert reached(LAYERS, "tests/e2e/test_layers.py", "tests/e2e/common.py", "tests/verdicts.py",
                   "tests/oracle/litert_layers.py") == [True] * 4
    assert reached(LAYERS, "tests/zephyr/test_zephyr.py", "tests/e2e/docs.py", "python/aotc/tune.py") == [False] * 3


def test_a_test_of_pytest_is_reached_by_its_file_and_by_what_pytest_reads():
    slices = entry("full", "stage.driver", command=["python", "-m", "pytest", "-q", f"{ROOT}/tests/slices/test_slices.py::test_host"])
    assert reached(slices, "tests/slices/test_slices.py", "tests/state/run_state.py", "tests/e2e/bundle.py", "tests/conftest.py",
                   "tests/pytest.ini", "tests/models/state/gru_pair_int8.tflite") == [True] * 6
    assert reached(slices, "tests/zephyr/test_zephyr.py", "tests/avr/on_avr.py") == [False] * 2
    assert reached(TOOL, "tests/conftest.py", "tests/e2e/bundle.py") == [False, True]


def test_boards_and_the_runtime_reach_what_is_written_with_them():
    names = ("boards/host/board.json", "crt/src/workspace.c", "templates/common/model.c")
    assert reached(LAYERS, *names) == [True] * 3
    checker = entry("quick", "stage.none", command=["python", f"{ROOT}/tests/verdicts_test.py"])
    assert reached(checker, *names) == [False] * 3


def test_a_file_that_no_rule_knows_reaches_all():
    names = ("compiler/new_stage/a.cpp", "new_folder/a.txt", "new_file", "tests/CMakeLists.txt", "CMakeLists.txt")
    for one in (LAYERS, READER, entry("full", "stage.none", command=["/build/crt_test"])):
        assert reached(one, *names) == [True] * len(names)


def test_a_key_is_of_what_reaches_the_entry():
    one = types.SimpleNamespace(builds=[pathlib.Path("/build")], reach=selection.Reach, installed="")
    one.digests = {name: "1" for name in selection.files()}

    def key(of, *changed):
        one.digests = {name: "2" if name in changed else "1" for name in selection.files()}
        one.read = {}
        return selection.Selection.find_key(one, of)
    for of, name, counts in ((LAYERS, "docs/cli.md", False), (LAYERS, "compiler/ops/common/conv.cpp", True),
                             (READER, "compiler/codegen/c_model.cpp", False), (READER, "tests/e2e/common.py", False),
                             (LAYERS, "tests/e2e/common.py", True), (LAYERS, "tests/e2e/cortex_m4.ld", True)):
        assert (key(of) != key(of, name)) == counts, name
    assert key(LAYERS) != key(entry("full", "stage.driver", command=[*LAYERS.command, "qemu_riscv32"]))


def test_lanes():
    all_of_them = {name: entry(lane, name=name) for name, lane in
                   [("q", "quick"), ("f", "full"), *((f"a{n}", "all") for n in range(20))]}
    rest = {name: n for n, name in enumerate(sorted(name for name, e in all_of_them.items() if e.lane == "all"))}

    def lane(name, tenth=None):
        return {n for n, e in all_of_them.items() if selection.in_lane(e, name, tenth, rest)}
    assert lane("quick") == {"q"} and lane("default") == {"q", "f"} and lane("all") == set(all_of_them)
    tenths = [lane("default", commit) - {"q", "f"} for commit in range(73, 83)]
    assert all(len(t) == 2 for t in tenths) and set().union(*tenths) == set(all_of_them) - {"q", "f"}


@contextlib.contextmanager
def project():
    """A folder with a build of three entries, a store, and a ctest of what selection.py writes."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        before = dict(os.environ)
        os.environ |= {"AOTC_VERDICTS": str(folder / "store"), "AOTC_VERDICTS_SAMPLE": "0", "AOTC_COMMIT": "1",
                       "AOTC_SHARED": str(folder / "none")}
        for name in ("AOTC_NO_VERDICTS", "AOTC_VERDICTS_LOG"):
            os.environ.pop(name, None)
        build = folder / "build"
        build.mkdir()
        (folder / "makes").write_text("echo made >> $1/log; touch $1/file; echo '7 passed, 0 failed'\n")
        (folder / "takes").write_text("echo took >> $1/log; [ -e $1/file ] && exit $(cat $1/code)\n")
        (folder / "code").write_text("0")
        (build / "CTestTestfile.cmake").write_text(
            f'add_test(makes sh {folder}/makes {folder})\n'
            'set_tests_properties(makes PROPERTIES LABELS "quick;stage.none")\n'
            f'add_test(takes sh {folder}/takes {folder} "a;b [=[ $x")\n'
            'set_tests_properties(takes PROPERTIES LABELS "full;stage.none" DEPENDS makes ENVIRONMENT "A=1;B=2")\n'
            f'add_test(skips sh -c "exit 77")\n'
            'set_tests_properties(skips PROPERTIES LABELS "quick;stage.none" SKIP_RETURN_CODE 77)\n')

        def run(*options):
            (folder / "log").write_text("")
            subprocess.run([sys.executable, HERE / "selection.py", "write", "--out", folder / "test", *options, "--", build],
                           check=True, capture_output=True)
            done = subprocess.run(["ctest", "--test-dir", folder / "test", "--output-on-failure"], capture_output=True, text=True,
                                  check=False)
            counted = subprocess.run([ROOT / "scripts" / "count-tests", folder / "test"], capture_output=True, text=True, check=True)
            return done.returncode, (folder / "log").read_text().split(), counted.stdout.splitlines()[-1], done.stdout
        try:
            yield folder, run
        finally:
            os.environ.clear()
            os.environ.update(before)


def test_what_passed_is_not_run_again_and_counts():
    with project() as (_, run):
        assert run()[1:3] == (["made", "took"], "8 passed, 0 failed, 1 skipped")
        assert run()[:3] == (0, [], "8 passed, 0 failed, 1 skipped")
        assert run("--lane", "quick")[2] == "7 passed, 0 failed, 1 skipped"
        os.environ["AOTC_NO_VERDICTS"] = "1"
        assert run()[1] == ["made", "took"]


def test_coverage_runs_only_if_all_runs_that_it_counts():
    coverage = ('add_test(dev.coverage sh -c "echo counted >> {folder}/log")\n'
                'set_tests_properties(dev.coverage PROPERTIES LABELS "full;stage.none" DEPENDS "makes;takes;of_another_build")\n')
    with project() as (folder, run):
        with open(folder / "build" / "CTestTestfile.cmake", "a") as file:
            file.write(coverage.format(folder=folder))
        assert run()[1] == ["made", "took", "counted"]
        code, log, counts, _ = run()
        assert code == 0 and log == [] and counts == "8 passed, 0 failed, 1 skipped", (log, counts)
        os.environ["AOTC_NO_VERDICTS"] = "1"
        assert run()[1] == ["made", "took", "counted"]


def test_what_failed_runs_again_with_what_it_needs():
    with project() as (folder, run):
        (folder / "code").write_text("1")
        for _ in range(2):
            (folder / "file").unlink(missing_ok=True)
            code, log, counts, _ = run()
            assert code != 0 and log == ["made", "took"] and counts.startswith("7 passed, 1 failed"), (log, counts)


def test_the_sample_finds_an_entry_that_passes_no_more():
    with project() as (folder, run):
        run()
        (folder / "code").write_text("1")
        assert run()[0] == 0
        os.environ["AOTC_VERDICTS_SAMPLE"] = "100"
        code, log, _, text = run()
        assert code != 0 and "took" in log and "it is deleted" in text, text
        os.environ["AOTC_VERDICTS_SAMPLE"] = "0"
        assert run()[0] != 0


def test_a_damaged_verdict_of_an_entry_runs():
    with project() as (folder, run):
        run()
        for path in (folder / "store").glob("??/*"):
            path.write_bytes(path.read_bytes()[:-2])
        assert run()[1] == ["made", "took"]


def test_words_are_quoted_for_cmake():
    for word in ("plain", "a;b", "]", "]]", "]=]", "$x ${y}", 'q"q', "[=[", ""):
        text = selection.quoted(word)
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "s.cmake"
            script.write_text(f"file(WRITE {folder}/out {text})\n")
            subprocess.run(["cmake", "-P", script], check=True, capture_output=True)
            assert (pathlib.Path(folder) / "out").read_text() == word, word


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
