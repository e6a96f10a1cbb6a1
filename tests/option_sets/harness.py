# SPDX-License-Identifier: Apache-2.0
"""The C that runs a compiled model in every way that its header offers: NAME_run, slices, rows, and TVM's entry point.

Each way is a pass over the same runs, begun with a state of its own. A pass appends the outputs of every run to
PREFIX.out; the inputs of every run are in PREFIX.in. Arenas, pools and states lie between guards and hold garbage before.
"""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "state"))
from header import Field, Header, Unreadable  # noqa: E402

COMMON = """\
#ifndef OPTION_SETS_H
#define OPTION_SETS_H
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define GUARD 32u
/* Ends the model's test with a message. */
#define REQUIRE(what) do { if (!(what)) { printf("%s: %s\\n", name, #what); return 1; } } while (0)
void spoil(uint8_t *bytes, uint32_t size);
int guarded(const uint8_t *bytes, uint32_t size);
/* Files without a heap, which the program on an emulated board may not have. */
int open_file(const char *path, int to_write);
int read_file(int file, void *to, uint32_t bytes);
int write_file(int file, const void *from, uint32_t bytes);
int close_file(int file);
#endif
"""

MAIN = """\
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "option_sets.h"

int open_file(const char *path, int to_write)
{{
    return open(path, to_write ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0644);
}}

int read_file(int file, void *to, uint32_t bytes)
{{
    return (uint32_t)read(file, to, bytes) == bytes;
}}

int write_file(int file, const void *from, uint32_t bytes)
{{
    return (uint32_t)write(file, from, bytes) == bytes;
}}

int close_file(int file)
{{
    return close(file) == 0;
}}

void spoil(uint8_t *bytes, uint32_t size)
{{
    uint32_t i;
    for (i = 0; i < size + 2u * GUARD; ++i) bytes[i] = (uint8_t)(0xA5u ^ (i * 29u));
}}

int guarded(const uint8_t *bytes, uint32_t size)
{{
    uint32_t i;
    for (i = 0; i < 2u * GUARD; ++i) {{
        const uint32_t at = i < GUARD ? i : size + i;
        if (bytes[at] != (uint8_t)(0xA5u ^ (at * 29u))) return 0;
    }}
    return 1;
}}

{prototypes}
int main(void)
{{
    static int (*const tests[])(void) = {{ {tests} }};
    static char todo[4096];
    char *at = todo, *end;
    const int file = open_file("todo", 0);
    if (file < 0 || read(file, todo, sizeof todo - 1u) < 1) return 2;
    for (;;) {{
        const int number = (int)strtol(at, &end, 10);
        int failed;
        if (end == at) break;
        at = end;
        printf("begin %d\\n", number);
        fflush(stdout);
        failed = tests[number]();
        printf("end %d %d\\n", number, failed);
        fflush(stdout);
    }}
    return 0;
}}
"""


class Part:
    """One model of a program: its header and what is wanted of it."""

    def __init__(self, prefix, text):
        self.prefix, self.upper, self.text = prefix, prefix.upper(), text
        header = Header(text, prefix)
        self.inputs, self.outputs = header.inputs, header.outputs
        self.state_size, self.arena_size = header.state_size, header.arena_size
        self.number = header.number
        self._in_arena = header.in_arena
        self.prototypes = {name: parameters for name, parameters in
                           re.findall(rf"^int32_t {prefix}_(\w+)\(([^)]*)\);", text, re.M)}
        self.fed = self.number("ROWS") is not None
        self.sliced = f"{self.upper}_SLICE_COUNT" in text
        self.pools = re.findall(r"X\((\w+), (\d+)u\)", self._macro("POOL"))
        self.constant_pool = next(iter(re.findall(rf"^#define {self.upper}_CONSTANT_POOL (\w+)", text, re.M)), None)
        self.devices = re.findall(r"X\((\w+)\)", self._macro("DEVICE"))
        self.own_arena = f"#define {self.upper}_OWN_ARENA" in text

    def _macro(self, what):
        found = re.search(rf"^#define {self.upper}_FOR_EACH_{what}\(X\)((?:.*\\\n)*.*)", self.text, re.M)
        return found[1] if found else ""

    def in_arena(self, kind):
        return self._in_arena(kind)

    @property
    def step(self):
        """Frames between two results; None if rows are no frames."""
        return self.number("STEP")

    def call(self, function):
        """A call with the argument that each parameter's name asks for; NULL for what `without` names."""
        arguments = {"inputs": "&input_pointers", "outputs": "&output_pointers", "arena": "arena", "pools": "&pools",
                     "state": "state_memory + GUARD",
                     "devices": "&devices", "context": "&context"}
        names = [p.split()[-1].lstrip("*") for p in self.prototypes[function].split(",") if p.strip() != "void"]
        return f"{self.prefix}_{function}({', '.join(arguments[n] for n in names)})"

    def place(self, kind, field):
        """The pointer to an input or output."""
        if not self.in_arena(kind):
            return f"{kind}_{field.name}.at"
        found = re.search(rf"\b{self.prefix}_{kind[:-1]}_{field.name}\((.*?)\)", self.text)
        return f"{self.prefix}_{kind[:-1]}_{field.name}({'&pools' if 'pools' in found[1] else 'arena'})"

    def bytes(self, field):
        return f"(uint32_t)({field.elements} * sizeof({field.c_type}))"


def hooks_text(drawn_devices):
    """The hooks of devices, which do at once what they are to do."""
    out = ["#include <tvm/runtime/c_backend_api.h>", "#include <tvm/runtime/c_runtime_api.h>"]
    for device in drawn_devices:
        name = device["name"].capitalize()
        base = f"TVMDevice{name}"
        out.append(f"extern int32_t status_{name};\nint32_t status_{name};")  # a device without hooks has no use for it
        declared = []
        for hook in ("Activate", "Open", "Close", "Deactivate"):
            if hook in device["hooks"]:
                declared.append((f"int32_t {base}{hook}(void *context)", f"return context == &status_{name} ? 0 : 91;"))
        if "Copy" in device["hooks"]:
            declared.append((f"int32_t {base}Copy(void *context, void *to, const void *from, uint32_t bytes, int32_t to_device)",
                             "(void)to_device; memcpy(to, from, bytes); "
                             f"return context == &status_{name} ? 0 : 92;"))
        if device["launch"] != "none":
            declared.append((f"int32_t {base}Launch(void *context, TVMBackendPackedCFunc function, TVMValue *args, "
                             "int *type_codes, int num_args)",
                             f"TVMValue value; int code = 0; status_{name} = (int32_t)function(args, type_codes, num_args, "
                             f"&value, &code, context); return context == &status_{name} ? 0 : 93;"))
            declared.append((f"int32_t {base}Sync(void *context)",
                             f"return context == &status_{name} ? status_{name} : 94;"))
        for signature, body in declared:
            out.append(f"{signature};\n{signature}\n{{\n    {body}\n}}")
    return "\n".join(out) + "\n"


def fields_text(part, kind):
    if part.in_arena(kind):
        return ""
    return "".join(f"static union {{ {f.c_type} at[{f.elements}]; uint64_t align; }} {kind}_{f.name};\n"
                   for f in getattr(part, kind))


def pools_text(part):
    out = []
    members = []
    for name, size in part.pools:
        out.append(f"static uint8_t pool_{name}[{size}u + 2u * GUARD] __attribute__((aligned(16)));")
        members.append(f".{name} = pool_{name} + GUARD")
    if part.constant_pool:
        name = part.constant_pool
        size = f"{part.upper}_POOL_{name.upper()}_SIZE"
        out.append(f"static const uint8_t pool_{name}[{size} > 0u ? {size} : 1u] __attribute__((aligned(16))) = "
                   f"{{ {part.upper}_CONSTANT_POOL_DATA }};")
        members.append(f".{name} = pool_{name}")
    if members:
        out.append(f"static const struct {part.prefix}_pools pools = {{ {', '.join(members)} }};")
    return "\n".join(out) + "\n"


def struct_text(part, kind):
    fields = [] if part.in_arena(kind) else getattr(part, kind)
    members = ", ".join(f".{f.name} = {kind}_{f.name}.at" for f in fields)
    return f"static const struct {part.prefix}_{kind} {kind[:-1]}_pointers = {{ {members or '0'} }};\n"


def load_text(part, file, address):
    """Statements that give the model its file of tables."""
    if "load" not in part.prototypes:
        return "", ""
    place = f"static uint8_t tables[{file.stat().st_size}] __attribute__((aligned(16)));\n"
    map_it = ""
    if address:
        place = "#include <sys/mman.h>\nstatic uint8_t *tables;\n"
        map_it = (f"    tables = mmap((void *){address}u, {file.stat().st_size}, PROT_READ | PROT_WRITE, "
                  "MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);\n"
                  f"    REQUIRE(tables == (void *){address}u);\n")
    return place, (
        f"    REQUIRE({part.call('run')} != 0);\n{map_it}"
        f'    {{\n        const int image = open_file("{file}", 0);\n        REQUIRE(image >= 0);\n'
        f"        REQUIRE(read_file(image, tables, {file.stat().st_size}u) && close_file(image));\n"
        f"    }}\n    REQUIRE({part.prefix}_load(tables, {file.stat().st_size}u) == 0);\n")


def prepare_run(part):
    """Statements in front of a run: garbage everywhere, and the inputs of the file."""
    out = []
    if part.arena_size and not part.pools and not part.own_arena:
        out.append(f"spoil(memory, {part.upper}_ARENA_SIZE);")
    out += [f"spoil(pool_{name}, {size}u);" for name, size in part.pools]
    out += [f"REQUIRE(read_file(from, {part.place('inputs', f)}, {part.bytes(f)}));" for f in part.inputs]
    return out


def finish_run(part):
    out = []
    if part.arena_size and not part.pools and not part.own_arena:
        out.append(f"REQUIRE(guarded(memory, {part.upper}_ARENA_SIZE));")
    out += [f"REQUIRE(guarded(pool_{name}, {size}u));" for name, size in part.pools]
    if part.state_size:
        out.append(f"REQUIRE(guarded(state_memory, {part.state_size}u));")
    out += [f"REQUIRE(write_file(to, {part.place('outputs', f)}, {part.bytes(f)}));" for f in part.outputs]
    return out


def step_text(part):
    more = f"{part.upper}_MORE"
    return f"do {{ status = {part.prefix}_step(&context); }} while (status == {more});"


def pass_texts(part, tvm):
    """A pair for each way to run: statements before the first run, statements of a run."""
    ready = []
    if part.state_size:
        ready = [f"spoil(state_memory, {part.state_size}u);", f"REQUIRE({part.call('init')} == 0);"]
    ways = [(ready, [f"REQUIRE({part.call('run')} == 0);"])]
    if part.fed:
        rows, size = f"{part.upper}_ROWS", f"{part.upper}_ROW_BYTES"
        # Frames between two windows that do not meet may be anything.
        source = f"((const uint8_t *){part.place('inputs', part.inputs[0])} + (size_t)(uint32_t)(row < 0 ? 0 : row) * {size})"
        feed = [f"REQUIRE({part.prefix}_row(&context) != NULL);",
                f"memcpy({part.prefix}_row(&context), {source}, {size});", f"status = {part.prefix}_feed(&context);"]
        if part.sliced:
            feed.append(f"if (status == {part.upper}_MORE) {step_text(part)}")
        first = "0"
        if part.step:
            first = f"run == 0 ? 0 : {rows} - {part.upper}_STEP"
        begin = [f"REQUIRE({part.call('begin')} == 0);"]
        ways.append((ready + begin if part.step else ready,
                     ([] if part.step else begin)
                     + [f"for (row = {first}; row < {rows}; ++row) {{", *feed,
                        f"REQUIRE(status == (row == {rows} - 1 ? {part.upper}_DONE : {part.upper}_NEXT_ROW));", "}"]))
    elif part.sliced:
        ways.append((ready, [f"REQUIRE({part.call('begin')} == 0);", step_text(part),
                             f"REQUIRE(status == {part.upper}_DONE);"]))
    if tvm:
        ways.append((["tvmgen_%s_reset();" % tvm] if part.state_size else [], [tvm_call(part, tvm)]))
    return ways


def tvm_call(part, name):
    return f"REQUIRE(run_tvm_{name}() == 0);"


def tvm_text(part, name, header):
    """A function that runs the model by TVM's entry point."""
    fields = {kind: re.findall(r"void \*(\w+);", re.search(
        rf"struct tvmgen_{name}_{kind} \{{(.*?)\}};", header, re.S)[1]) if f"struct tvmgen_{name}_{kind} {{" in header else []
        for kind in ("inputs", "outputs", "workspace_pools", "devices")}
    out = [f"static int32_t run_tvm_{name}(void)\n{{"]
    arguments = []
    for kind in ("inputs", "outputs"):
        out.append(f"    struct tvmgen_{name}_{kind} tvm_{kind} = {{ 0 }};")
        for theirs, ours in zip(fields[kind], getattr(part, kind)):
            out.append(f"    tvm_{kind}.{theirs} = {kind}_{ours.name}.at;")
        arguments.append(f"&tvm_{kind}")
    if fields["workspace_pools"]:
        out.append(f"    struct tvmgen_{name}_workspace_pools tvm_pools = {{ 0 }};")
        for pool in fields["workspace_pools"]:
            value = f"(void *)(uintptr_t)pool_{pool}" if pool == part.constant_pool else f"pool_{pool} + GUARD"
            out.append(f"    tvm_pools.{pool} = {value};")
        arguments.append("&tvm_pools")
    if fields["devices"]:
        out.append(f"    struct tvmgen_{name}_devices tvm_devices = {{ 0 }};")
        out += [f"    tvm_devices.{d} = &status_{d.capitalize()};" for d in fields["devices"]]
        arguments.append("&tvm_devices")
    # Declarations are in front of statements.
    declared = [line for line in out[1:] if "struct " in line]
    set_up = [line for line in out[1:] if "struct " not in line]
    return "\n".join([out[0], *declared, *set_up, f"    return tvmgen_{name}_run({', '.join(arguments)});", "}"]) + "\n"


def program_text(number, parts, folder, sources, runs, drawn_devices, tvm=None, tables=None, address=None):
    """A C file with `int test_NUMBER(void)`. `sources`: files that it includes, such as NAME_data.c; `tvm`: the module's
    name and its header; `tables`: the file of constants."""
    out = ['#include "option_sets.h"\n']
    if address:
        out.insert(0, "#define _DEFAULT_SOURCE\n")
    if drawn_devices:
        out.append(hooks_text(drawn_devices))
    out += [f'#include "{p.prefix}.h"\n' for p in parts]
    if parts[0].constant_pool:
        out.append(f'#include "{parts[0].prefix}_constants.h"\n')
    if tvm:
        out.append(f'#include "tvmgen_{tvm[0]}.h"\n')
    out += [f'#include "{s}"\n' for s in sources]
    tests = []
    for at, part in enumerate(parts):
        tests.append(f"test_{number}_{at}")
        inner = "".join([fields_text(part, "inputs"), fields_text(part, "outputs"), pools_text(part), struct_text(part, "inputs"),
                         struct_text(part, "outputs")])
        if part.devices:
            members = ", ".join(f".{d} = &status_{d.capitalize()}" for d in part.devices)
            inner += f"static const struct {part.prefix}_devices devices = {{ {members} }};\n"
        if part.fed or part.sliced:
            inner += f"static struct {part.prefix}_context context;\n"
        if part.state_size:
            inner += f"static uint8_t state_memory[{part.state_size}u + 2u * GUARD] __attribute__((aligned(16)));\n"
        if not part.pools:
            if part.own_arena or not part.arena_size:
                inner += "#define arena NULL\n"
            else:
                inner += (f"static uint8_t memory[{part.upper}_ARENA_SIZE + 2u * GUARD] __attribute__((aligned(16)));\n"
                          "#define arena (memory + GUARD)\n")
        place, load = load_text(part, tables, address) if tables else ("", "")
        if tvm:
            inner += tvm_text(part, *tvm)
        body = [f'    static const char name[] = "{part.prefix}";', "    int from, to;", "    int32_t status = 0, row = 0;", "    int run;",
                f'    to = open_file("{folder}/{part.prefix}.out", 1);', "    REQUIRE(to >= 0);"]
        if load:
            body.append(load.rstrip())
        for ready, one in pass_texts(part, tvm[0] if tvm else None):
            body += [f'    from = open_file("{folder}/{part.prefix}.in", 0);', "    REQUIRE(from >= 0);"]
            before = prepare_run(part)
            if part.step and any("_feed(" in line for line in one):
                # Frames go on in the arena from run to run.
                ready = [line for line in before if line.startswith("spoil")] + ready
                before = [line for line in before if not line.startswith("spoil")]
            body += [f"    {line}" for line in ready]
            body.append(f"    for (run = 0; run < {runs}; ++run) {{")
            body += [f"        {line}" for line in [*before, *one, *finish_run(part)]]
            body += ["    }", "    REQUIRE(close_file(from));"]
        body += ["    (void)status;", "    (void)row;", "    REQUIRE(close_file(to));", "    return 0;"]
        out.append(place + inner + f"static int test_{number}_{at}(void)\n{{\n" + "\n".join(body) + "\n}\n")
        undo = [f"inputs_{f.name}" for f in part.inputs] + [f"outputs_{f.name}" for f in part.outputs]
        if len(parts) > 1:  # names of one file: each model's are others
            own = [*undo, "input_pointers", "output_pointers", "memory", "state_memory"]
            text = out.pop()
            text = "".join(f"#define {n} {n}_{at}\n" for n in own) + text + "".join(f"#undef {n}\n" for n in own)
            out.append(text + "#undef arena\n")
    out.append(f"int test_{number}(void);\nint test_{number}(void)\n{{\n    return " + " | ".join(f"{t}()" for t in tests)
               + ";\n}\n")
    return "".join(out)


__all__ = ["COMMON", "MAIN", "Field", "Part", "Unreadable", "program_text"]
