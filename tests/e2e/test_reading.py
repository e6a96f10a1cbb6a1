# SPDX-License-Identifier: Apache-2.0
"""What a reader of emitted C relies on, whatever the model.

Our models and those of ../shared, without a board and for cores whose kernels are assembly:
- no function, table or place is there that nothing uses, and no parameter that an operator ignores;
- the comment of a function names every call of it, with the types that the run function names;
- lines for unwinding come in pairs, and assemble with and without -g, with gcc and clang.
"""
import collections
import re

import common
import emitted_c
import pytest

ASSEMBLED = ("kws", "gadget_int8", "digits_int8")
CALL = re.compile(r"call (\d+): ")


def unfolded(comment):
    return re.sub(r"\s*\n\s*\*?\s*", " ", comment)


def types_by_call(comment):
    """Call -> type of its result, of a function's comment; calls that it only counts are left out."""
    parts = CALL.split(unfolded(comment))
    outs = [re.search(r" out: (.*?)(?: in: | out: | schedule: | and \d+ more|\*/|$)", p) for p in parts[2::2]]
    found = [m and m[1].strip() for m in outs]
    # What all have in common stands behind the last.
    return {int(call): out or (found[-1] if found else None) for call, out in zip(parts[1::2], found)}


def wrong_comments(text, prefix):
    described = {}
    for comment, name in re.findall(r"/\*\n( \* call .*?)\*/\n\w+_OPERATOR\n\w+ (\w+)\(", text, re.S):
        described[name] = types_by_call(comment), " more" in comment
    run = text[text.index(f"int32_t {prefix}_run("):]
    for comment, call in re.findall(r"/\*( call \d+: .*?)\*/(.*?);", run, re.S):
        number = int(CALL.search(comment)[1])
        name = re.search(rf"\b({prefix}_\w+)\(", call)
        if not name or name[1] not in described:
            continue
        types, more = described[name[1]]
        if number not in types and not more:
            yield f"call {number} of {name[1]} is not in its comment"
        wanted = re.search(r"'(?: on \w+)?: (.*?)(?: on \w+)?$", unfolded(comment))
        if wanted and types.get(number) and types[number] != wanted[1].strip():
            yield f"call {number} makes {wanted[1].strip()}, the comment of {name[1]} says {types[number]}"


def unused(folder, prefix):
    source = (folder / f"{prefix}.c").read_text()
    data = (folder / f"{prefix}_data.h").read_text()
    code = re.sub(r"/\*.*?\*/", " ", source, flags=re.S)
    seen = collections.Counter(re.findall(r"\w+", code))
    state = collections.Counter(re.findall(r"\w+", (folder / f"{prefix}_data.c").read_text()))
    for table in re.findall(r"^extern const \w+ (\w+)\[", data, re.M):
        if seen[table] == 0 and state[table] < 2:
            yield f"table {table} is not used"
    for name in re.findall(rf"^\s*({prefix.upper()}_CALL\d+_\w+) = ", code, re.M):
        if seen[name] < 2:
            yield f"place {name} is not used"
    # A kernel is defined twice, under a condition and under its #else.
    names = collections.Counter(re.findall(rf"^(?:static .*|static\n\w+ |\w+ )?\b({prefix}_\w+)\([^;]*?\)\n{{",
                                           code, re.M))
    for name, times in names.items():
        if name.endswith(("_run", "_begin", "_step")):
            continue
        if seen[name] <= times:
            yield f"function {name} is not used"
    # What a kernel takes is the assembly's affair.
    operators = code[code.find("_OPERATOR\n", code.rfind("__asm__ volatile")):]
    for parameter in re.findall(r"\(void\)(\w+);", operators):
        if parameter not in ("inputs", "outputs", "arena", "pools") and f"*{parameter}" in code:
            yield f"parameter {parameter} is ignored"


def problems(folder, prefix):
    text = (folder / f"{prefix}.c").read_text()
    yield from wrong_comments(text, prefix)
    yield from unused(folder, prefix)
    if text.count(".cfi_remember_state") != text.count(".cfi_restore_state"):
        yield "what is remembered for unwinding is not restored"


def assembling(folder, prefix, cpu):
    for debug in ([], ["-g"]):
        tail = [*emitted_c.STRICT, *cpu, *debug, "-O1", "-c", folder / f"{prefix}.c", "-o", "/dev/null"]
        yield [*common.cached("arm-none-eabi-gcc"), "-mthumb", *tail]
        yield [*common.cached("clang-19"), "--target=arm-none-eabi", "-isystem", "/usr/lib/arm-none-eabi/include",
               *tail]


def cases():
    """(model, board or None)"""
    return [(path, board) for path in emitted_c.sample_models()
            for board in ([None] if path.parent.name == "ops" else [None, *emitted_c.KERNEL_CPUS])]


@pytest.mark.parametrize("path, board", cases(), ids=lambda value: getattr(value, "stem", value) or "generic")
def test_reading(path, board, tmp_path, record_property):
    common.require("arm-none-eabi-gcc", "clang-19")
    prefix = emitted_c.emit(path, tmp_path, None, *(["--board", board] if board else []))
    assert not list(problems(tmp_path, prefix))
    if board and path.stem in ASSEMBLED:
        commands = list(assembling(tmp_path, prefix, emitted_c.KERNEL_CPUS[board]))
        emitted_c.run_all(commands)
        record_property("cases", 1 + len(commands))
