# SPDX-License-Identifier: Apache-2.0
"""The Python package: its wheel is built, checked, installed into an empty virtual environment, and used.

What the emitted C computes on this computer is compared with LiteRT's reference kernels, bit for bit.
"""
import contextlib
import html
import io
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import types
import warnings
import zipfile

import common
import numpy as np
import pytest
from errors import raises
from package import MODELS, ROOT, TAG, build_wheel, digits, reference, run
from tflite_builder import ModelBuilder


@pytest.fixture(scope="module")
def use(tmp_path_factory):
    """The wheel, the environment that it is installed in, its program and its module."""
    common.need_modules("scikit_build_core", "wheel", "packaging", "twine")
    work = tmp_path_factory.mktemp("package")
    wheel, environment = build_wheel(work), work / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    run(sys.executable, "-m", "pip", "--python", environment / "bin/python", "install", "--quiet", "--no-index", wheel)
    [packages] = environment.glob("lib/python*/site-packages")
    program = packages / "aotc/bin/aotc"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AOTC", raising=False)
        patch.syspath_prepend(packages)
        for name in [n for n in sys.modules if n.split(".")[0] == "aotc"]:  # of another test, from python/
            patch.delitem(sys.modules, name)
        import aotc
        assert aotc.program() == str(program)
        yield types.SimpleNamespace(work=work, wheel=wheel, environment=environment, program=program, aotc=aotc)
        for name in [n for n in sys.modules if n.split(".")[0] == "aotc"]:
            del sys.modules[name]


# --- The wheel -----------------------------------------------------------------------------------


def test_the_wheel_has_what_it_should(use):
    assert use.wheel.name.endswith(TAG + ".whl"), use.wheel.name
    with zipfile.ZipFile(use.wheel) as archive:
        names = archive.namelist()
        metadata = next(n for n in names if n.endswith(".dist-info/METADATA"))
        licences = [n for n in names if "/licenses/" in n]
        assert any(n.endswith("NOTICES") for n in licences) and any(n.endswith("LICENSE") for n in licences), licences
        assert {"aotc/py.typed", "aotc/bin/aotc", "aotc/__init__.py"} <= set(names), names
        assert not [n for n in names if "pyc" in n or n.startswith("tests")], names
        from packaging.metadata import Metadata
        parsed = Metadata.from_email(archive.read(metadata), validate=True)
        assert parsed.name == "aotc" and not [r for r in parsed.requires_dist or [] if "extra" not in str(r)]
        assert str(parsed.version) == run(use.program, "--version").split()[-1]
        notices = archive.read(next(n for n in licences if n.endswith("NOTICES"))).decode()
    # What is linked: the libraries that the build looks for, and those of the compiler.
    found = re.findall(r"find_package\((\w+) REQUIRED\)", (ROOT / "CMakeLists.txt").read_text())
    named = {"fmt": "{fmt}", "nlohmann_json": "JSON for Modern C++", "LibArchive": "libarchive", "GTest": None}
    missing = [n for n in [*found, "GNU C Library", "libstdc++"] if named.get(n, n) and named.get(n, n) not in notices]
    assert len(found) > 4 and not missing, (found, missing)


def test_an_index_would_take_it(use):
    """Wheel and source archive, with the page that is made of python/README.md; and not one without that page."""
    check = [sys.executable, "-m", "twine", "check", "--strict"]
    built = sorted((use.work / "built").glob("aotc-*"))
    assert len(built) == 2 and run(*check, *built).count("PASSED") == 2
    silent = use.work / use.wheel.name
    with zipfile.ZipFile(use.wheel) as whole, zipfile.ZipFile(silent, "w") as left:
        for name in whole.namelist():
            if name.endswith("METADATA"):
                left.writestr(name, whole.read(name).split(b"\n\n", 1)[0] + b"\n\n")
            elif ".dist-info/" in name:
                left.writestr(name, whole.read(name))
    done = subprocess.run([*check, silent], capture_output=True, text=True)
    assert done.returncode == 1 and "long_description" in done.stdout + done.stderr, done


def test_pip_takes_the_wheel_for_musl(use):
    """As it does for glibc of 2014 and later, and not for another processor."""
    for platform, works in (("musllinux_1_1_x86_64", True), ("manylinux2014_x86_64", True), ("musllinux_1_1_aarch64", False)):
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-index", "--no-deps",
                               "--only-binary", ":all:", "--platform", platform, "--target", use.work / "nowhere", use.wheel],
                              capture_output=True, text=True)
        assert (done.returncode == 0) == works, (platform, done.stderr)


def test_a_root_with_nothing_else_is_enough(use):
    """No libc of any kind, no /etc/nsswitch.conf, no NSS plug-ins: a model is compiled, a name of /etc/hosts is resolved."""
    root = common.fresh(use.work / "root")
    shutil.copy(use.program, root / "aotc")
    shutil.copy(MODELS / "digits/digits_int8.tflite", root)
    (root / "etc").mkdir()
    (root / "etc/hosts").write_text("127.0.0.1 the-board\n")
    if os.geteuid() != 0:
        return  # only root may
    inside = ["chroot", root, "/aotc"]
    run(*inside, "compile", "/digits_int8.tflite", "--cpu", "cortex-m4f", "-o", "/out", "--quiet")
    run(use.program, "compile", MODELS / "digits/digits_int8.tflite", "--cpu", "cortex-m4f", "-o", use.work / "outside", "--quiet")
    for name in ("digits_int8.c", "digits_int8_data.c"):
        assert (root / "out" / name).read_bytes() == (use.work / "outside" / name).read_bytes(), name
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        asked = subprocess.Popen([str(c) for c in (*inside, "rpc", "list", f"tcp:the-board:{server.getsockname()[1]}")],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            server.accept()[0].close()
        finally:
            asked.kill()
            asked.communicate()
    done = subprocess.run([str(c) for c in (*inside, "rpc", "list", "tcp:nobody.invalid:1")], capture_output=True, text=True)
    assert done.returncode == 6 and "nobody.invalid" in done.stderr, done


def test_the_program_is_static(use):
    headers = run("readelf", "-lW", use.program)
    assert "INTERP" not in headers and "DYNAMIC" not in headers, headers
    size = use.program.stat().st_size
    print(f"program: {size:,} bytes")
    assert size < 10_000_000, size
    # Names are resolved by what is linked, whatever the machine's configuration asks for.
    done = subprocess.run([use.program, "rpc", "list", "tcp:localhost:1"], capture_output=True, text=True)
    assert done.returncode == 6 and "refused" in done.stderr, done


def test_an_empty_environment_is_enough(use):
    """No numpy, no compiler's name in PATH."""
    code = """
import aotc
m = aotc.compile(%r, cpu="cortex-m4f")
assert m.arena > 0 and m.constants > 0 and m.macs > 0 and m.name == "digits_int8"
assert m.inputs[0].dtype == "int8" and m.layers[0]["op"] and "digits_int8.c" in m.files
try:
    m([0])
except aotc.ToolMissingError as error:
    assert "pip install numpy" in str(error), error
else:
    raise SystemExit("ran without numpy")
print(m.arena)
""" % str(MODELS / "digits/digits_int8.tflite")
    bare = {"PATH": str(use.environment / "bin"), "HOME": str(use.work)}
    arena = int(run(use.environment / "bin/python", "-c", code, env=bare, cwd=use.work))
    text = run(use.environment / "bin/aotc", "compile", MODELS / "digits/digits_int8.tflite", "--cpu", "cortex-m4f",
               "-o", use.work / "by-command", "--json", env=bare)
    assert f'"arena_bytes": {arena},' in text


# --- Running -------------------------------------------------------------------------------------


def test_results_are_those_of_the_reference(use):
    path, x, y = digits("int8")
    for options in ({}, {"cpu": "cortex-m4f"}, {"cpu": "cortex-m55", "input": "preserve"}, {"output": "overwrite"}):
        m = use.aotc.compile(path, **options)
        want = reference(path, x)[0]
        assert np.array_equal(m(x, raw=True), want), options
        one = m(x[0], raw=True)
        assert np.array_equal(one.reshape(want[0].shape), want[0]), (one.shape, want.shape)
    assert m.accuracy(x, y) == (want.argmax(axis=1) == y).mean() > 0.9
    assert m.accuracy(x, np.eye(10)[y]) == m.accuracy(x, y)
    port = m.inputs[0]
    assert m.accuracy((x.astype(np.float32) - port.zero_point) * np.float32(port.scale), y) == m.accuracy(x, y)
    assert m.compare(lambda a: use.aotc.compile(path)(a), x) == {"largest_difference": 0, "mean_difference": 0, "agreement": 1}


def test_real_numbers_are_quantised(use):
    path, x, _ = digits("int8")
    m = use.aotc.compile(path)
    port, out = m.inputs[0], m.outputs[0]
    real = (x.astype(np.float64) - port.zero_point) * port.scale
    want = (m(x, raw=True).astype(np.float64) - out.zero_point) * out.scale
    assert np.array_equal(m(real), want.astype(np.float32)) and m(real).dtype == np.float32
    assert np.array_equal(m(np.full_like(real, 1e9)), m(np.full_like(x, 127)))
    raises(ValueError, lambda: m(np.full_like(real, np.nan)), "NaN")


def test_real_numbers_are_rounded_as_the_reference_does(use):
    """Halves among them, of both signs."""
    scale, zero, count = 0.25, 3, 400
    builder = ModelBuilder()
    given = builder.tensor("x", "float32", (1, count))
    made = builder.tensor("q", "int8", (1, count), scale, zero)
    builder.op("QUANTIZE", [given], [made])
    quantize = use.work / "quantize.tflite"
    quantize.write_bytes(builder.finish([given], [made]))
    builder = ModelBuilder()
    same = builder.tensor("q", "int8", (1, count), scale, zero)
    out = builder.tensor("y", "int8", (1, count), scale, zero)
    builder.op("MAXIMUM", [same, same], [out])
    x = np.concatenate([(np.arange(count // 2) - 100) * 0.125, np.random.default_rng(3).normal(0, 20, count // 2)])
    x = x.astype(np.float32)[None]
    want = reference(quantize, x)[0]
    m = use.aotc.compile(bytes(builder.finish([same], [out])))
    assert np.array_equal(m(x), ((want.astype(np.float64) - zero) * scale).astype(np.float32))


def test_several_inputs_and_outputs(use):
    folder = MODELS / "gadget"
    for kind in ("int8", "f32"):
        path = folder / f"gadget_{kind}.tflite"
        m = use.aotc.compile(path)
        arrays = [np.load(folder / f"inputs_{kind}_{port.name.split(':')[0].split('_')[-1]}.npy") for port in m.inputs]
        got = m(*arrays, raw=True)
        want = reference(path, *arrays)
        assert len(got) == len(want) == 2
        for a, b in zip(got, want):
            assert np.array_equal(a, b.reshape(a.shape)), kind
        raises(TypeError, lambda: m(arrays[0]), "takes 2 inputs, but 1 were given")  # noqa: B023
        raises(ValueError, lambda: m(arrays[0], arrays[1][:3]), "different numbers")  # noqa: B023


def test_state_is_kept_and_reset(use):
    path = MODELS / "state/accumulator_f32.tflite"
    m = use.aotc.compile(path)
    assert m.state > 0
    x = np.random.default_rng(1).standard_normal((6, *m.inputs[0].shape[1:]), np.float32)
    want = reference(path, x)[0]
    assert np.array_equal(m(x), want)
    assert not np.array_equal(m(x), want)
    m.reset()
    assert np.array_equal(np.concatenate([m(x[:2]), m(x[2:])]), want)


def test_onnx_and_bytes(use):
    path, x, _ = digits("int8")
    assert np.array_equal(use.aotc.compile(path.read_bytes())(x), use.aotc.compile(path)(x))
    onnx, onnxruntime = common.need_modules("onnx", "onnxruntime")
    tree = MODELS / "sklearn/decision_tree_regressor.onnx"
    m = use.aotc.compile(tree)
    samples = np.random.default_rng(2).standard_normal((50, *m.inputs[0].shape[1:]), np.float32)
    session = onnxruntime.InferenceSession(str(tree))
    want = np.concatenate([session.run(None, {session.get_inputs()[0].name: s[None]})[0] for s in samples])
    assert np.array_equal(m(samples), want.reshape(m(samples).shape))
    assert use.aotc.compile(onnx.load(str(tree))).macs == m.macs


def test_calls_of_several_threads_do_not_mix(use):
    path, x, _ = digits("int8")
    m = use.aotc.compile(path)
    want, wrong = m(x, raw=True), []
    threads = [threading.Thread(target=lambda k=k: wrong.append(k) if not np.array_equal(m(x[k::4], raw=True), want[k::4])
                                else None) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_wrong_input_is_said(use):
    path, x, _ = digits("int8")
    m = use.aotc.compile(path)
    raises(ValueError, lambda: m(x.reshape(-1)), "has the shape", str(m.inputs[0].shape))
    raises(ValueError, lambda: m(x.astype(np.int32) + 1000, raw=True), "exceed int8")
    raises(TypeError, lambda: m(x.astype(np.float32), raw=True), "is int8, but float32 was given")
    raises(TypeError, lambda: use.aotc.compile(42), "int")
    assert raises(use.aotc.ModelError, lambda: use.aotc.compile(b"nonsense"), "error: ").slug == "model-format"
    assert raises(use.aotc.ModelError, lambda: use.aotc.compile("/nowhere.tflite")).slug == "file-read"
    raises(use.aotc.OptionError, lambda: use.aotc.compile(path, nonsense=1), "--nonsense")
    raises(use.aotc.OptionError, lambda: use.aotc.compile(path, cpu="z80"), "z80")
    raises(use.aotc.OptionError, lambda: use.aotc.compile(path, board="nope"), "nope", "aotc boards")
    raises(use.aotc.DoesNotFitError, lambda: m.project("platformio", "arduino_uno", use.work / "uno"), "RAM", "arduino_uno")
    assert issubclass(use.aotc.OptionError, ValueError)


def without_a_compiler(use, action):
    """What `action` returns where PATH has no C compiler."""
    before = dict(os.environ)
    try:
        os.environ.update(PATH="/nowhere", AOTC=str(use.program))
        os.environ.pop("CC", None)
        return action()
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_without_a_compiler_results_are_the_same(use):
    """Evaluated by aotc: quantised, float, several inputs and outputs, batches, and state that is kept and reset."""
    import aotc._host
    aotc._host._told = False  # by whatever ran before
    path, x, _ = digits("int8")
    folder = MODELS / "gadget"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        m = use.aotc.compile(path, output="overwrite")
        assert np.array_equal(without_a_compiler(use, lambda: m(x[:40], raw=True)), reference(path, x[:40])[0])
        for kind in ("int8", "f32"):
            path = folder / f"gadget_{kind}.tflite"
            m = use.aotc.compile(path, input="preserve")
            arrays = [np.load(folder / f"inputs_{kind}_{port.name.split(':')[0].split('_')[-1]}.npy") for port in m.inputs]
            for a, b in zip(without_a_compiler(use, lambda: m(*arrays, raw=True)), reference(path, *arrays)):  # noqa: B023
                assert np.array_equal(a, b.reshape(a.shape)), kind
        path = MODELS / "state/accumulator_f32.tflite"
        x = np.random.default_rng(1).standard_normal((6, *use.aotc.compile(path).inputs[0].shape[1:]), np.float32)
        want = reference(path, x)[0]
        m = use.aotc.compile(path)
        assert np.array_equal(without_a_compiler(use, lambda: m(x)), want) and not np.array_equal(m(x), want)
        m.reset()
        assert np.array_equal(np.concatenate([m(x[:2]), m(x[2:])]), want)
    assert sum("no C compiler" in str(w.message) for w in told) == 1, [str(w.message) for w in told]
    m._runner._process.kill()
    raises(use.aotc.InternalError, lambda: m(x), "ended")
    raises(use.aotc.InternalError, lambda: m(x), "reset()")
    m.reset()
    assert np.array_equal(m(x), want)


def test_an_interrupted_call_gives_no_answer_to_the_next(use):
    """Of the process that evaluates: interrupted between request and answer, forked, of a file that is another by now."""
    path, x, _ = digits("int8")
    want = reference(path, x[:2])[0]
    copy = use.work / "copy.tflite"
    copy.write_bytes(path.read_bytes())
    m, late = use.aotc.compile(copy), use.aotc.compile(copy)
    assert np.array_equal(without_a_compiler(use, lambda: m(x[0], raw=True)).reshape(want[0].shape), want[0])

    class Interrupt(BaseException):
        pass

    def interrupt(*_):
        raise Interrupt
    before = signal.signal(signal.SIGALRM, interrupt)
    os.kill(m._runner._process.pid, signal.SIGSTOP)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        m(x[0], raw=True)
        raise AssertionError("the stopped process answered")
    except Interrupt:
        pass
    finally:
        signal.signal(signal.SIGALRM, before)
    assert np.array_equal(without_a_compiler(use, lambda: m(x[1], raw=True)).reshape(want[1].shape), want[1])
    child = os.fork()
    if child == 0:
        good = np.array_equal(without_a_compiler(use, lambda: m(x[0], raw=True)).reshape(want[0].shape), want[0])
        os._exit(0 if good else 1)
    assert np.array_equal(m(x[1], raw=True).reshape(want[1].shape), want[1])
    assert os.waitpid(child, 0)[1] == 0
    copy.write_bytes((MODELS / "gadget/gadget_f32.tflite").read_bytes())
    raises(use.aotc.ModelError, lambda: without_a_compiler(use, lambda: late(x[0], raw=True)), "compile it again")


# --- Files and proof -----------------------------------------------------------------------------


def test_files_are_written(use):
    path, _, _ = digits("int8")
    m = use.aotc.compile(path, cpu="cortex-m4f", name="net")
    folder = m.write(use.work / "written")
    assert {p.name for p in folder.iterdir()} == set(m.files) and "net.c" in m.files
    assert {p.name: p.read_text() for p in folder.iterdir() if p.name != "aotc.json"} \
        == {n: t for n, t in m.files.items() if n != "aotc.json"}
    (folder / "net.c").write_text("/* mine */")
    raises(use.aotc.Error, lambda: m.write(folder), "net.c")
    m.write(folder, force=True)
    assert m.to_zip() == use.aotc.compile(path, cpu="cortex-m4f", name="net").to_zip()
    made = m.project("bare_metal", "qemu_mps2_an386", use.work / "project")
    assert (made / "aotc.json").exists()
    # Kinds that need no board, for the CPU that the model was compiled for; others use the model's board.
    library = m.project("arduino-library", directory=use.work / "library")
    assert (library / "library.properties").exists() and (library / "src/net.c").read_text() == m.files["net.c"]
    with contextlib.chdir(use.work):
        assert m.project("cmake") == pathlib.Path("net_app") and (use.work / "net_app/CMakeLists.txt").exists()
    raises(use.aotc.OptionError, lambda: m.project("bare-metal", directory=use.work / "none"), "--board")
    assert not (use.work / "none").exists()
    of_board = use.aotc.compile(path, board="qemu_mps2_an386", name="net")
    assert (of_board.project("bare-metal", directory=use.work / "of-board") / "aotc.json").exists()
    assert "net" in repr(m) and "<table>" in m._repr_html_()


def test_reports_are_pages(use):
    path, _, _ = digits("int8")
    m = use.aotc.compile(path, cpu="cortex-m4f")
    report = m.report()
    assert report.data["arena_bytes"] == m.arena and report.data["next"] and len(report.data["layers"]) == len(m.layers)
    assert report.write(use.work / "report.html").read_text() == report.html and "<!doctype html>" in report.html.lower()
    shown = report._repr_html_()
    assert html.unescape(shown.split('srcdoc="')[1].split('"')[0]) == report.html and "digits_int8" in repr(report)


def test_what_takes_long_is_said_on_a_terminal(use):
    """And is gone afterwards; elsewhere nothing is said, nor where it is turned off."""
    import aotc._progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True
    for stream, environment, shown in ((Terminal(), "", True), (io.StringIO(), "", False), (Terminal(), "off", False)):
        before = sys.stderr, aotc._progress.QUIET
        sys.stderr, aotc._progress.QUIET, os.environ["AOTC_PROGRESS"] = stream, 0.001, environment
        try:
            with aotc._progress.Doing("verifying net") as doing:
                for _ in range(2000 if shown else 20):
                    if stream.getvalue():
                        break
                    doing._done.wait(0.005)
        finally:
            (sys.stderr, aotc._progress.QUIET), _ = before, os.environ.pop("AOTC_PROGRESS")
        said = stream.getvalue()
        assert ("aotc: verifying net ... 0 s" in said and said.endswith("\r\x1b[K")) if shown else not said, said


def test_missing_tools_are_one_exception(use):
    path, _, _ = digits("int8")
    m = use.aotc.compile(path, cpu="cortex-m4f")
    for action, package in ((lambda: m.verify("qemu_mps2_an386"), "gcc-arm-none-eabi"), (m.verify, "gcc"),
                            (lambda: m.instructions("qemu_riscv32"), "gcc-riscv64-unknown-elf")):
        raises(use.aotc.ToolMissingError, lambda: without_a_compiler(use, action), "apt-get install", package)  # noqa: B023


def test_layers_are_verified(use):
    path, _, _ = digits("int8")
    m = use.aotc.compile(path, cpu="cortex-m4f")
    assert m.verify()["passed"]
    common.require(common.board("qemu_mps2_an386")["emulator"]["program"])
    report = m.verify("qemu_mps2_an386")
    assert report["passed"] and len(report["places"]) == 2
    assert m.instructions("qemu_mps2_an386") == m.instructions("qemu_mps2_an386") > 10_000
