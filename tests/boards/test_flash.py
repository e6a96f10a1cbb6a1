# SPDX-License-Identifier: Apache-2.0
"""aotc flash, with programs that write down what they are asked for in place of those that write to boards.
"""
import json
import os
import shlex
import shutil
import subprocess

import common
import pytest
from checks import check, each_check  # noqa: F401

DIGITS = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
FAKE = """\
#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word" >> {log}; done
echo "fake: ready"
exit {code}
"""


class Bench:
    """A folder with a firmware project, and a PATH with nothing but what is put there."""

    def __init__(self, work):
        self.work = work
        (work / "bin").mkdir()

    def aotc(self, *words, path=None):
        environment = {**os.environ, "PATH": str(path or self.work / "bin")}
        return subprocess.run([common.AOTC, *map(str, words)], capture_output=True, text=True, cwd=self.work,
                              env=environment, stdin=subprocess.DEVNULL, timeout=120)

    def create(self, board, *options, name="an app"):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        done = self.aotc("create", DIGITS, "--board", board, "-o", folder, "-q", *options, path=os.environ["PATH"])
        check(done.returncode == 0, f"create for {board}", done.stderr)
        return folder

    def image(self, folder):
        image = folder / json.loads((folder / "aotc.json").read_text())["image"]
        image.parent.mkdir(parents=True, exist_ok=True)
        image.write_bytes(b"firmware")
        return image

    def fake(self, name, code=0):
        log, program = self.work / f"{name}.log", self.work / "bin" / name
        log.unlink(missing_ok=True)
        program.write_text(FAKE.format(log=shlex.quote(str(log)), code=code))
        program.chmod(0o755)
        return log

    def refused(self, done, code, slug, says, what):
        check(done.returncode == code and f"[{slug}]" in done.stderr and says in done.stderr, what, done.stderr + done.stdout)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_bare_metal(bench):
    folder = bench.create("nucleo_f446re")
    bench.refused(bench.aotc("flash", folder), 5, "tool-missing", "openocd: apt-get install openocd", "no program is installed")
    bench.refused(bench.aotc("flash", folder, "--tool", "spoon"), 2, "programmer-unknown", "openocd, probe-rs, STM32_Programmer_CLI", "a program that is not known")
    bench.refused(bench.aotc("flash", folder, "--tool", "probe-rs"), 5, "tool-missing", "'probe-rs' is not installed", "the one that was asked for is not installed")
    log = bench.fake("openocd")
    bench.refused(bench.aotc("flash", folder), 1, "not-built", "aotc build", "not built")
    image = bench.image(folder)
    done = bench.aotc("flash", folder)
    words = ["-f", "board/st_nucleo_f4.cfg", "-c", f"program {{{image}}} verify reset exit"]
    check(done.returncode == 0 and log.read_text().splitlines() == words, "what openocd is asked for", log.read_text())
    check("fake: ready" in done.stderr and "flash: openocd" in done.stderr, "the command and what it says are shown", done.stderr)
    check(f"next: aotc verify '{folder}' --port PORT" in done.stdout.replace('"', "'") and "USART2" in done.stdout, "how to hear the firmware", done.stdout)
    quiet = bench.aotc("flash", folder, "-q")
    check(quiet.returncode == 0 and not quiet.stdout and not quiet.stderr, "quiet", quiet.stdout + quiet.stderr)
    told = json.loads(bench.aotc("flash", folder, "--json").stdout)
    check(told["command"][1:] == words and told["written"] and "attach" not in told, "as JSON", told)
    debugged = bench.create("nucleo_f446re", "--project-option", "semihosting=true", name="debugged")
    bench.image(debugged)
    done = bench.aotc("flash", debugged)
    check("prints through the debugger" in done.stdout and "arm semihosting enable" in done.stdout, "how to hear firmware with semihosting", done.stdout)
    check(json.loads(bench.aotc("flash", debugged, "--json").stdout)["attach"][0] == "openocd", "that as JSON")
    log.write_text("")
    bench.refused(bench.aotc("flash", folder, "--port", "/dev/ttyACM0"), 2, "programmer-port", "accepts no port", "a port for a program without")
    bench.fake("openocd", 3)
    bench.refused(bench.aotc("flash", folder), 6, "flash-failed", "exit code 3", "a program that fails")
    log = bench.fake("probe-rs")
    bench.fake("openocd")
    check(bench.aotc("flash", folder, "--tool", "probe-rs").returncode == 0 and log.read_text().splitlines()[-1] == str(image), "the one that was asked for")
    dry = bench.aotc("flash", folder, "--tool", "STM32_Programmer_CLI", "--dry-run")
    check(dry.returncode == 0 and shlex.split(dry.stdout.splitlines()[0])[:3] == ["STM32_Programmer_CLI", "-c", "port=SWD"], "without doing it", dry.stdout)


def test_frameworks(bench):
    folder = bench.create("arduino_mega2560", "--project", "arduino-sketch", name="digits_int8_sketch")
    bench.refused(bench.aotc("flash", folder), 5, "tool-missing", "arduino-cli", "arduino-cli is missing")
    log = bench.fake("arduino-cli")
    bench.image(folder)
    done = bench.aotc("flash", folder, "--port", "/dev/ttyACM0")
    words = log.read_text().splitlines()
    check(done.returncode == 0 and words[:3] == ["upload", "--fqbn", "arduino:avr:mega:cpu=atmega2560"] and words[-2:] == ["--port", "/dev/ttyACM0"], "arduino-cli", words)
    check("debugger" not in done.stdout, "a sketch speaks over its serial port", done.stdout)
    folder = bench.create("nucleo_f446re", "--project", "zephyr")
    log = bench.fake("west")
    bench.image(folder)
    check(bench.aotc("flash", folder).returncode == 0 and log.read_text().splitlines() == ["flash", "-d", f"{folder}/build"], "west")


def test_nothing_to_flash(bench):
    bench.refused(bench.aotc("flash", bench.create("qemu_mps2_an386")), 2, "no-programmer", "emulator", "an emulated board")
    bench.refused(bench.aotc("flash", bench.create("host")), 2, "no-programmer", "this machine", "this machine")
    bench.refused(bench.aotc("flash", bench.create("nucleo_f446re", "--project", "cmake")), 2, "no-programmer", "builds no firmware", "a library")
    bench.refused(bench.aotc("flash", bench.create("nano33ble", "--project", "bare-metal")), 2, "no-programmer", "vendor's tools", "a board whose program is not known")
    bench.refused(bench.aotc("flash", bench.work / "bin"), 1, "project-invalid", "aotc.json", "no project")
    # A manifest is somebody's file.
    folder = bench.create("nucleo_f446re", "--project", "zephyr")
    manifest = folder / "aotc.json"
    for flash in ("west", [], [1], [""], {"west": "flash"}, None):
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "flash": flash, "flash_port": flash}))
        done = bench.aotc("flash", folder, "--dry-run")
        check(done.returncode in (0, 2, 5) and "Traceback" not in done.stderr, f"flash {flash!r} in aotc.json", done.stderr)
