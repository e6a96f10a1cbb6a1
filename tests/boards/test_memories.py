# SPDX-License-Identifier: Apache-2.0
"""Arena, pools and tables in the memories that were asked for, and the stack that a run takes.

test_placed: firmware with everything elsewhere is bit-exact under QEMU, and every symbol lies where it should.
test_stack: the bound that `create` computes is never below what a run on the emulated board takes.
test_fits: where an arena goes by default, and what is said when nothing fits.
test_linked: what is said to be needed is no less than what the linker takes, also where it just fits.
"""
import json
import re

import common
import pytest
from checks import check, each_check  # noqa: F401
from common import model_path


@pytest.fixture
def work(tmp_path):
    return tmp_path


def run(*command):
    return common.run(command, expect=None)


def aotc(*arguments):
    return run(common.AOTC, *arguments)


def symbols(board, image):
    """name -> (address, bytes)"""
    done = run(board["toolchain"]["prefix"] + "nm", "-S", image)
    found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) \w (\S+)$", done.stdout, re.M)
    return {name: (int(at, 16), int(size, 16)) for at, size, name in found}


def memory_at(board, address):
    for m in board["memories"]:
        origin = int(m["origin"], 16)
        if origin <= address < origin + m["size"]:
            return m["name"]
    return "nowhere"


def built(work, name, source, board, *options):
    project = work / name
    made = aotc("create", source, "--board", board, "--prefix", "m", "-o", project, *options)
    if not check(made.returncode == 0, f"{name}: made", made.stdout + made.stderr):
        return None
    done = aotc("build", project, "-q")
    return project if check(done.returncode == 0, f"{name}: built", done.stdout + done.stderr) else None


def verified(name, project):
    done = aotc("verify", project, "-q", "--only", "board")
    check(done.returncode == 0 and re.search(r"bit-exact in (\d+) of \1 layers.*guards intact", done.stdout),
          f"{name}: bit-exact", done.stdout + done.stderr)


def test_placed(work):
    digits = model_path("digits_int8")
    cases = [
        # name, board, options, {symbol pattern: memory}, sizes
        ("an547_tables", "qemu_mps3_an547",
         ["--constants-section", ".dtcm:4096", "--constants-section", ".sram"],
         {"region_arena": {"DTCM"}}, {"DTCM": 4096, "SRAM": 1 << 20}),
        ("an547_pools", "qemu_mps3_an547", ["--pool", "DTCM:1024:fast", "--pool", "SRAM:65536"],
         {"region_dtcm": {"DTCM"}, "region_sram": {"SRAM"}}, {}),
        ("an386_external", "qemu_mps2_an386",
         ["--constants-section", ".psram", "--project-option", "arena=PSRAM"],
         {"region_arena": {"PSRAM"}}, {}),
        ("an386_hot", "qemu_mps2_an386",
         ["--constants-section", ".ram:2048", "--constants-section", ".psram:6000"],
         {"region_arena": {"RAM"}}, {"RAM": 2048, "PSRAM": 6000}),
        ("riscv_flash", "qemu_riscv32", ["--constants-section", ".ram:4000,.flash"], {}, {"RAM": 4000}),
        ("an521_both", "qemu_mps2_an521",
         ["--constants-section", ".psram", "--pool", "ram:512:fast", "--pool", "psram:65536"],
         {"region_ram": {"RAM"}, "region_psram": {"PSRAM"}}, {}),
    ]
    for name, board_name, options, places, sizes in cases:
        project = built(work, name, digits, board_name, *options)
        if not project:
            continue
        board = common.board(board_name)
        found = symbols(board, project / "build" / "firmware.elf")
        for pattern, memories in places.items():
            hits = {s: memory_at(board, at) for s, (at, _) in found.items() if re.fullmatch(pattern, s)}
            check(hits and set(hits.values()) == memories, f"{name}: {pattern} in {sorted(memories)}", hits)
        # The tables are the constants of the emitted data file.
        text = (project / "model" / "m_data.c").read_text()
        tables = re.findall(r"^const \w+ (m_\w+)\[", text, re.M)
        macros = dict(re.findall(r"^const \w+ (m_\w+)\[[^=]*?(M_CONSTANTS\w*) = ", text, re.M))
        sections = [s.split(":")[0] for o, v in zip(options, options[1:]) if o == "--constants-section"
                    for s in v.split(",")]
        inside = {}
        for table in tables:
            if table not in found:
                continue
            where = memory_at(board, found[table][0])
            inside[where] = inside.get(where, 0) + found[table][1]
            number = re.search(r"(\d*)$", macros.get(table, "")).group(1)
            if table in macros:
                wanted = sections[int(number) - 1 if number else 0]
                check(where.lower() == wanted[1:], f"{name}: {table} in {wanted}", where)
        for memory, size in sizes.items():
            check(0 < inside.get(memory, 0) <= size, f"{name}: at most {size} bytes of tables in {memory}",
                  inside)
        if sections:
            check(macros, f"{name}: tables were placed")
        verified(name, project)
    # Once, as it was: one section for all, by one macro.
    done = aotc("compile", digits, "--constants-section", ".one", "-o", work / "one",
                "--prefix", "m")
    text = (work / "one" / "m_data.h").read_text()
    check(done.returncode == 0 and '#define M_CONSTANTS __attribute__((section(".one")))' in text and
          "M_CONSTANTS_1" not in text, "one section is one macro", done.stderr)
    for bad in ([".a", ".b"], [".a:x"], [".a:1", ".a:2"], ["a-b"], [":5"],
                [".bss..ram"], [".noinit"], [".vectors"]):
        argv = [x for s in bad for x in ("--constants-section", s)]
        done = aotc("compile", digits, *argv, "-o", work / "bad")
        check(done.returncode != 0 and "--constants-section" in done.stderr and
              not (work / "bad").exists(), f"{bad} is refused", done.stdout + done.stderr)


@pytest.mark.parametrize("board", ["qemu_mps2_an385", "qemu_mps2_an386", "qemu_mps3_an547", "qemu_riscv32", "qemu_microbit"])
@pytest.mark.models("digits_int8", "gadget_int8", "digits_f32")
def test_stack(board, model, work):
    what = f"{model} on {board}"
    project = work / f"{model}_{board}"
    made = aotc("create", model_path(model), "--board", board, "-o", project, "--json")
    if made.returncode == 3:
        print(f"note: {what}: does not fit")
        return
    if not check(made.returncode == 0, f"{what}: made", made.stderr):
        return
    figures = json.loads(made.stdout)
    bound = figures["model_stack_bytes"]
    done = aotc("build", project, "-q")
    ran = aotc("run", project, "--json")
    if not check(done.returncode == 0 and ran.returncode == 0, f"{what}: runs", done.stderr):
        return
    taken = json.loads(ran.stdout)["stack_bytes"]
    check(figures["model_stack_computed"], f"{what}: the compiler's call graph was read")
    check(0 < taken <= bound, f"{what}: takes {taken}, at most {bound}")
    # A bound that says nothing would pass the line before. Allowances are up to 384 bytes.
    check(bound <= taken + 512, f"{what}: {bound} is not far from {taken}")


def region(project):
    found = re.search(r'REGION_ALIAS\("ARENA", (\w+)\)', (project / "board.ld").read_text())
    return found and found[1]


def test_fits(work):
    digits = model_path("digits_int8")

    def made(name, *options):
        done = aotc("create", digits, "-o", work / name, *options)
        check(done.returncode == 0, f"{name}: made", done.stderr)
        return region(work / name)

    check(made("an547", "--board", "qemu_mps3_an547") == "DTCM", "a small arena goes into fast memory")
    check(made("asked", "--board", "qemu_mps3_an547", "--project-option", "arena=SRAM") == "SRAM",
          "unless the user names another")
    check(made("h743", "--board", "nucleo_h743zi") == "DTCM", "also on a real board")
    check(made("f446", "--board", "nucleo_f446re") == "RAM", "with one RAM it is that")
    # The tables take DTCM away, but for what the arena needs.
    check(made("full", "--board", "stm32f746g_disco", "--constants-section", ".dtcm:60000",
               "--pool", "DTCM:50000:fast", "--pool", "rest:0") is not None, "pools beside tables fit")
    done = aotc("check", common.ROOT / "tests/models/digits/digits_f32.tflite", "--board", "arduino_uno")
    check(done.returncode == 3 and "[does-not-fit]" in done.stderr, "float digits do not fit an Uno",
          done.stderr)
    check("boards that the model fits:" in done.stderr and "nucleo_f446re" in done.stderr,
          "boards that fit are named", done.stderr)
    check("nor with all of them: -O size" in done.stderr or "the model fits with" in done.stderr,
          "remedies were tried", done.stderr)
    done = aotc("boards", "--fits", digits, "--json", "-q")
    boards = {b["name"]: b for b in json.loads(done.stdout)}
    one = json.loads(aotc("boards", "qemu_microbit", "--fits", digits, "--json", "-q").stdout)
    check(one == [boards["qemu_microbit"]], "one board is asked by name", one)
    done = aotc("boards", "host", "--fits", digits, "-q")
    check(done.returncode == 0 and "yes" in done.stdout, "one without memories has no limit", done.stdout)
    check(aotc("boards", "host", "--emulated").returncode == 2, "filters are for lists")
    # Flash holds no arena, whoever asks for it.
    for extra in (["--project-option", "arena=FLASH"], ["--project-option", "arena=QSPI"]):
        done = aotc("create", digits, "--board", "stm32f746g_disco", "-o", work / "flash", *extra)
        check(done.returncode == 1 and "[template-option]" in done.stderr and not (work / "flash").exists(),
              f"{extra[1]} is refused", done.stderr)
    done = aotc("create", digits, "--board", "nucleo_f446re", "-o", work / "small",
                "--project-option", "stack_size=16")
    check(done.returncode == 0 and "[stack-small]" in done.stderr, "a stack too small is said", done.stderr)
    # Teensy's core copies tables to DTCM, but those of a section: what does not fit there fits flash.
    large = model_path("vww_f32")
    teensy = ["create", large, "--board", "teensy41", "-o", work / "teensy", "--project"]
    done = aotc(*teensy, "arduino-sketch")
    check(done.returncode == 3 and "the model fits with --constants-section .progmem" in done.stderr,
          "tables that the framework copies count in RAM", done.stderr)
    for kind in (["zephyr"], ["arduino-sketch", "--constants-section", ".progmem"]):
        done = aotc(*teensy, *kind)
        check(done.returncode == 0, f"teensy41, {' '.join(kind)}: made", done.stderr)
    limit = str(2**63 - 1)
    done = aotc("create", digits, "--board", "nucleo_f446re", "-o", work / "huge", "--project-option",
                f"stack_size={limit}")
    check(done.returncode == 3 and "needs -" not in done.stderr, "a stack of exabytes does not fit",
          done.stderr)
    check(boards["nucleo_f446re"]["fits"] and not boards["arduino_uno"]["fits"], "boards --fits agrees",
          boards.get("arduino_uno"))
    single = json.loads(aotc("check", digits, "--board", "nucleo_f446re", "--json").stdout)
    check(boards["nucleo_f446re"]["arena_bytes"] == single["arena_bytes"] and
          boards["nucleo_f446re"]["constants_bytes"] == single["constants_bytes"],
          "with the figures of check")


def taken(board, image):
    """Bytes of each memory that an image takes; initial values of RAM lie in flash as well."""
    done = run(board["toolchain"]["prefix"] + "size", "-A", image)
    out = {m["name"]: 0 for m in board["memories"]}
    for name, size, address in re.findall(r"^(\.\S+) +(\d+) +(\d+)$", done.stdout, re.M):
        memory = memory_at(board, int(address)) if int(address) or name == ".vectors" else None
        if memory:
            out[memory] += int(size)
        if name == ".data":
            out[board["placement"]["code"]] += int(size)
    return out


@pytest.mark.parametrize("board_name", ["qemu_microbit", "nucleo_f446re", "qemu_riscv32"])
@pytest.mark.models("digits_int8", "gadget_int8")
def test_linked(board_name, model, work):
    board = common.board(board_name)
    memory = {m["name"]: m["size"] for m in board["memories"]}
    source, title = model_path(model), f"{board_name}, {model}"
    listed = json.loads(aotc("boards", "--fits", source, "--json", "-q").stdout)
    said = next(b for b in listed if b["name"] == board_name)
    if not check(said["fits"], f"{title}: fits", said):
        return
    # All of the RAM that is left for the stack: it still has to link.
    stack = (board["stack_bytes"] + said["ram"] - said["ram_needed"]) // 16 * 16
    fill = ["--project-option", f"stack_size={stack}"] if board_name != "qemu_riscv32" else []
    project = built(work, f"{board_name}_{model}", source, board_name, *fill)
    if not project:
        return
    used = taken(board, project / "build" / "firmware.elf")
    flash = board["placement"]["constants"]
    ram = memory[said["arena_memory"]] if fill else said["ram_needed"]
    samples = re.search(r"sample_bytes\[\] = \{(.*?)\};", (project / "src/samples.c").read_text(), re.S)
    stored = len(samples[1].replace("\n", " ").split(","))
    check(used[said["arena_memory"]] <= ram, f"{title}: RAM", (used, said))
    check(used[flash] <= said["flash_needed"] + stored <= used[flash] + 40 * 1024,
          f"{title}: flash", (used, said, stored))
    over = aotc("create", source, "--board", board_name, "-o", work / "over",
                "--project-option", f"stack_size={stack + 16}")
    check(over.returncode == 3 and not (work / "over").exists(),
          f"{title}: a larger stack does not fit, and nothing is written", over.stderr)


def test_commands(work):
    every = json.loads(aotc("boards", "--json").stdout)
    text = aotc("boards").stdout
    check(max(map(len, text.splitlines())) <= 100, "the list has lines of at most 100 characters",
          max(text.splitlines(), key=len))
    check(len(text.splitlines()) == len(every) + 1, "a line for each")

    def names(*filters):
        done = aotc("boards", "--json", *filters)
        check(done.returncode == 0, f"boards {' '.join(filters)}", done.stderr)
        return {b["name"] for b in json.loads(done.stdout)}

    def wanted(predicate):
        return {b["name"] for b in every if predicate(b)}

    check(names("--framework", "zephyr") == wanted(lambda b: "zephyr" in b.get("frameworks", {})),
          "--framework zephyr")
    check(names("--framework", "esp-idf") == {"esp32", "esp32c3", "esp32s3"}, "--framework esp-idf")
    check("qemu_riscv32" in names("--framework", "bare-metal") and
          "esp32" not in names("--framework", "bare-metal"), "--framework bare-metal")
    check(names("--cpu", "cortex-m4") == wanted(lambda b: b["cpu"] == "cortex-m4"), "--cpu")
    check(names("--feature", "fpu", "--feature", "mve") == {"qemu_mps3_an547"}, "--feature twice")
    check("nucleo_l4r5zi" in names("--ram", "600K") and "nucleo_f446re" not in names("--ram", "600K"),
          "--ram")
    check(names("--flash", "2097152") == names("--flash", "2M") == names("--flash", "2048KiB"),
          "--flash in three spellings")
    check(names("--emulated") == wanted(lambda b: b.get("emulator", {}).get("argv") and
                                        not b["emulator"].get("stand_in")), "--emulated")
    check(names("--ram", "100000M") == set(), "a filter that nothing passes")
    for argv, hint in ((["--framework", "zephir"], "'zephyr'"), (["--cpu", "cortex-m44"], "'cortex-m4'"),
                       (["--feature", "fpuu"], "'fpu'"), (["--ram", "lots"], "256K")):
        done = aotc("boards", *argv)
        check(done.returncode == 2 and "[board-filter]" in done.stderr and hint in done.stderr,
              f"{argv} is refused", done.stderr)
    done = aotc("boards", "nucleo_f446r")
    check(done.returncode == 1 and "'nucleo_f446re'" in done.stderr, "a board's name misspelt", done.stderr)
    for board in every:
        done = aotc("boards", board["name"])
        lines = done.stdout.splitlines()
        check(done.returncode == 0 and lines[0].startswith(board["name"] + ": "), f"shows {board['name']}",
              done.stderr)
        check(all(m["name"] in done.stdout for m in board["memories"]) and
              all(f in done.stdout for f in board.get("frameworks", {})),
              f"{board['name']}: memories and frameworks", done.stdout)
