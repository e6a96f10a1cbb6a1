# SPDX-License-Identifier: Apache-2.0
"""--project cmsis, without CMSIS-Toolbox: its YAML has the fields and values that the schemas of the
format allow, names every file, and what it builds runs on an emulated Cortex-M4."""
import copy
import re
import xml.etree.ElementTree as ElementTree
import zipfile

from kinds import common
import kinds
import pytest
import yaml

# The part of the format that our files use: a type, a pattern, [of each], or {field: of it}, where
# a field with ! must be there.
TYPE = r"[a-zA-Z0-9_-]{1,32}"
COMPILER = r"(GCC|CLANG|AC6|IAR)"
PACK = r"[\w .-]+::[\w .*-]+(@(>=|\^|~)?\d+\.\d+\.\d+)?"
LEVEL = r"(size|speed|balanced|none|debug)"
FILES = [{"file!": str}]
GROUPS = [{"group!": str, "files!": FILES}]
MISC = [{"for-compiler": COMPILER, "C": [str]}]
FORMATS = {
    "clayer": {"layer!": {"type": str, "description": str, "language-C": r"c99", "add-path": [str],
                          "misc": MISC, "groups": GROUPS, "define": [dict]}},
    "cproject": {"project!": {"description": str, "groups": GROUPS,
                              "layers": [{"layer!": str}],
                              "components": [{"component!": str}],
                              "output": {"type": [r"(elf|hex|bin|lib|cmse-lib|map)"]}}},
    "csolution": {"solution!": {
        "created-by": r".*@\d+\.\d+\.\d+", "description": str, "compiler": COMPILER,
        "language-C": r"c99", "packs": [{"pack!": PACK}],
        "target-types!": [{"type!": TYPE, "device": r"([ -9;-~]+::)?[ -9;-~]+"}],
        "build-types": [{"type!": TYPE, "optimize": LEVEL, "debug": r"(on|off)"}],
        "projects!": [{"project!": r"([^.+]+)\.cproject\.yml"}]}},
}


def wrong(value, form, where=""):
    """The first place where a value is not of a form, or None."""
    if isinstance(form, list):
        if not isinstance(value, list) or not value:
            return f"{where} is no list with something in it"
        return next(filter(None, (wrong(v, form[0], f"{where}[{i}]") for i, v in enumerate(value))), None)
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return f"{where} is no object"
        fields = {name.rstrip("!"): of for name, of in form.items()}
        for name in value:
            if name not in fields:
                return f"{where}.{name} is unknown"
        for name in form:
            if name.endswith("!") and name[:-1] not in value:
                return f"{where}.{name[:-1]} is missing"
        return next(filter(None, (wrong(v, fields[n], f"{where}.{n}") for n, v in value.items())), None)
    if isinstance(form, type):
        return None if isinstance(value, form) else f"{where} is {value!r}"
    return None if isinstance(value, str) and re.fullmatch(form, value) else f"{where} is {value!r}"


class Words(yaml.SafeLoader):
    """YAML 1.2, as the tools read it: only true and false are booleans, 'on' and 'off' are words."""


Words.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def checked(path):
    data = yaml.load(path.read_text(), Words)
    kind = path.name.split(".")[1]
    problem = wrong(data, FORMATS[kind], kind)
    if problem:
        raise common.Failure(f"{path.name}: {problem}")
    # The check sees a misspelt field and a missing one.
    top = next(iter(data))
    damaged = copy.deepcopy(data)
    damaged[top]["descriptoin"] = "x"
    if not wrong(damaged, FORMATS[kind]) or not wrong({}, FORMATS[kind]):
        raise common.Failure("the check of fields finds nothing")
    return data[top]


def files_named(groups):
    return [f["file"] for g in groups for f in g["files"]]


def layer_of(project):
    layer = checked(project / "digits.clayer.yml")
    named = files_named(layer["groups"])
    there = [p.relative_to(project).as_posix() for p in project.rglob("*.[ch]")]
    if sorted(named) != sorted(p for p in there if not p.startswith("demo/")):
        raise common.Failure(f"the layer names {named}")
    for folder in layer["add-path"]:
        if not (project / folder).is_dir():
            raise common.Failure(f"the layer adds {folder}, which is not there")
    return layer


def test_layer(tmp_path):
    """Without a board: a layer, no solution."""
    work = tmp_path
    project = kinds.create("cmsis", work / "layer")
    layer = layer_of(project)
    if list(project.glob("*.csolution.yml")):
        raise common.Failure("a solution without a device")
    program = work / "consumer"
    sources = [project / f for f in files_named(layer["groups"]) if f.endswith(".c")]
    common.run(["gcc", *kinds.WARNINGS, "-O2", *gcc_options(layer), kinds.HERE / "consumer.c", *sources,
                *(f"-I{project / p}" for p in layer["add-path"]), "-lm", "-o", program])
    kinds.check_consumer(program)


def test_pack(tmp_path):
    """The software pack: its description has the fields that the format wants, and names what is in the archive."""
    project = kinds.create("cmsis", tmp_path / "pack", "--project-option", "vendor=Someone", "--project-option", "version=1.2.3")
    description = project / "Someone.digits.pdsc"
    root = ElementTree.parse(description).getroot()
    texts = {name: root.findtext(name) for name in ("vendor", "name", "description", "url", "license")}
    if root.tag != "package" or texts["vendor"] != "Someone" or texts["name"] != "digits" or not all(texts.values()) or len(texts["description"]) > 256:
        raise common.Failure(f"{root.tag} {texts}")
    if not texts["url"].startswith("https://") or not texts["url"].endswith("/"):
        raise common.Failure(texts["url"])
    version = root.find("releases/release").get("version")
    components = root.findall("components/component")
    if version != "1.2.3" or len(components) != 2 or any(c.get("Cversion") != version or not c.findtext("description") for c in components):
        raise common.Failure(f"version {version}, {len(components)} components")
    archive = project / f"{description.stem}.{version}.pack"
    common.run(["cmake", "-E", "tar", "cf", archive, "--format=zip", "--", description.name, "LICENSE.txt", "model", "src"], cwd=project)
    inside = set(zipfile.ZipFile(archive).namelist())
    named = [texts["license"], *(f.get("name") for c in components for f in c.findall("files/file"))]
    categories = {f.get("category") for c in components for f in c.findall("files/file")}
    if description.name not in inside or [n for n in named if n not in inside] or categories != {"include", "header", "source"}:
        raise common.Failure(f"{named} in {sorted(inside)}, {categories}")
    sources = {n for n in inside if n.endswith(".c")}
    if sources != {n for n in named if n.endswith(".c")}:
        raise common.Failure("a source that no component has")


def gcc_options(layer):
    return [o for m in layer["misc"] if m["for-compiler"] == "GCC" for o in m["C"]]


def solution(board, work):
    project = kinds.create("cmsis", work / board, "--board", board)
    layer = layer_of(project)
    device = common.board(board)["frameworks"]["cmsis"]
    found = checked(project / "digits_demo.csolution.yml")
    targets = [{"type": board, "device": device["device"]}]
    packs = [device["pack"]]
    if "avh" in device:
        targets.append({"type": "AVH", "device": device["avh"]["device"]})
        packs.append(device["avh"]["pack"])
    if device["pack"].startswith("Keil::STM32") and "@^" not in device["pack"]:
        raise common.Failure(f"{board}: the device pack is not pinned; later ones want CubeMX")
    if found["target-types"] != targets:
        raise common.Failure(f"target types {found['target-types']}")
    if [p for p in packs if {"pack": p} not in found["packs"]]:
        raise common.Failure(f"packs {found['packs']}")
    demo = checked(project / found["projects"][0]["project"])
    if demo["layers"] != [{"layer": "digits.clayer.yml"}]:
        raise common.Failure(f"layers {demo['layers']}")
    return project, files_named(layer["groups"]) + files_named(demo["groups"]), layer


def on_emulator(project, files, layer, work):
    """What the solution builds, on a Cortex-M4 with the vectors of a device pack."""
    common.require("arm-none-eabi-gcc", "qemu-system-arm")
    image = work / "demo.elf"
    e2e = common.ROOT / "tests" / "e2e"
    common.run(["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard",
                "-mfpu=fpv4-sp-d16", "-O2", *kinds.WARNINGS, *gcc_options(layer),
                *(project / f for f in files if f.endswith(".c")),
                *(f"-I{project / p}" for p in layer["add-path"]), kinds.HERE / "cmsis" / "start.c",
                "-T", e2e / "cortex_m4.ld", "--specs=rdimon.specs", "-lm", "-o", image])
    text = common.run(["qemu-system-arm", "-M", "mps2-an386", "-icount", "shift=0", "-display", "none",
                       "-monitor", "none", "-serial", "null", "-semihosting-config",
                       "enable=on,target=native", "-kernel", image], timeout=600)
    kinds.check_demo(text)
    # SysTick is 25 MHz and an instruction takes 1 ns there: a layer takes some cycles, none 2^24.
    cycles = [int(c) for c in re.findall(r"^@aotc sample=.* cycles=(\d+)", text, re.M)]
    if not cycles or not all(100 < c < 1 << 24 for c in cycles):
        raise common.Failure(f"cycles {cycles}")


BOARDS = [p.parent.name for p in sorted((common.ROOT / "boards").glob("*/board.json"))
          if "cmsis" in common.board(p.parent.name).get("frameworks", {})]


@pytest.mark.parametrize("board", BOARDS)
def test_solution(board, tmp_path):
    project, files, layer = solution(board, tmp_path)
    if board == "nucleo_f446re":
        on_emulator(project, files, layer, tmp_path)
