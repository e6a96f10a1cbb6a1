# SPDX-License-Identifier: Apache-2.0
"""Option sets of the option lane, and where the C that comes of them is compiled and run."""

import dataclasses
import json
import random

LEVELS = {"-O0": 20, "-O1": 35, "-O2": 20, "-O3": 10, "-Os": 15}
# All of `aotc cpus`.
HOST_CPUS = ("generic", "native", "cortex-m0", "cortex-m0plus", "cortex-m3", "cortex-m4f", "cortex-m7f", "cortex-m33f",
             "cortex-m33+nodsp", "cortex-m52f", "cortex-m55f", "cortex-m85f", "rv32imac", "rv32imc", "rv32imafc",
             "rv32imac_zve32x", "xtensa-lx6", "xtensa-lx7", "atmega328p", "atmega2560")
# Targets of tests/e2e/emitted_cases.py that run the assembly of a CPU's kernels. The host runs the portable half of each
# kernel.
EMULATED = {"cortex-m0": "thumb1", "cortex-m3": "thumb2", "cortex-m4f": "cortex_m4", "cortex-m7f": "cortex_m4",
            "cortex-m33f": "cortex_m4", "cortex-m33+nodsp": "thumb2", "cortex-m52f": "cortex_m55", "cortex-m55f": "cortex_m55",
            "cortex-m85f": "cortex_m55", "rv32imac": "rv32imac", "rv32imc": "rv32imac", "rv32imafc": "rv32imafc"}
# Options that change the caller's side, by weight. Most draws have one of them; a second one conflicts most of the time.
SIDES = {"none": 30, "pools": 9, "sections": 5, "convention": 7, "workspace": 5, "tvm": 8, "mlf": 7, "together": 9, "devices": 9,
         "constants": 11}
FIRST_FOUND = 9_000_000  # in the place of seeds, of draws that are told by hand
HOOKS = ("Activate", "Open", "Close", "Deactivate", "Copy")


@dataclasses.dataclass
class Option:
    """One or more words of the command that go together; `file`: the name and text of a file that they name."""

    words: list
    file: tuple | None = None


@dataclasses.dataclass
class Draw:
    """`parts`: models of one program. `target`: "gcc", "clang", "sanitized", "gcc32", or one of EMULATED's."""

    seed: int
    parts: list
    options: list
    target: str
    level: str

    def has(self, word):
        return any(word in option.words for option in self.options)

    def value(self, word):
        return next((o.words[o.words.index(word) + 1] for o in self.options if word in o.words), None)

    @property
    def packed(self):
        """Whether the program needs the C runtime."""
        return self.has("--calling-convention") or self.has("--devices") or self.value("--memory") == "workspace"


def pools(rng):
    words = [f"near:{rng.choice([64, 200, 600, 4000])}{rng.choice(['', ':fast'])}", "far:200000"]
    if rng.random() < 0.3:
        words.append("rom:200000:constants")
    rng.random() < 0.2 and words.reverse()
    return [Option([w for word in words for w in ("--pool", word)])]


def sections(rng):
    names = [".fast_tables:" + rng.choice(["64", "500", "4000"]), ".slow_tables"]
    return [Option([w for n in names[rng.randint(0, 1):] for w in ("--constants-section", n)])]


def devices(rng, seed):
    """A host and one or two devices; names are the seed's, since all programs are linked into one."""
    kinds = ["conv_2d", "depthwise_conv_2d", "fully_connected", "add", "mul", "relu", "max_pool_2d", "average_pool_2d",
             "concatenation", "pad", "maximum", "reshape", "quantize", {"op": "*", "type": "i8"}, {"op": "*"}]
    rng.shuffle(kinds)
    found = []
    for n in range(rng.choice([1, 1, 2])):
        launch = rng.choice(["none", "sync", "async"])
        hooks = [h for h in HOOKS if rng.random() < 0.6]
        found.append({"name": f"v{seed}n{n}", "type": 12 + n, "operators": kinds[n * 5:n * 5 + rng.randint(1, 4)],
                      "hooks": hooks, "launch": launch} | ({"pool": f"of{n}"} if rng.random() < 0.3 else {}))
    text = json.dumps({"devices": [{"name": "cpu"}, *found], "fallback": "cpu"})
    return [Option(["--devices", "devices.json"], ("devices.json", text))]


def constants(rng):
    out = [Option(["--constants-file", "tables.bin"])]
    if rng.random() < 0.4:
        out.append(Option(["--constants-address", "0x40000000"]))
    if rng.random() < 0.3:
        out.append(Option(["--constants-open"]))
    return out


def side_options(side, rng, seed):
    make = {
        "none": lambda: [], "pools": lambda: pools(rng), "sections": lambda: sections(rng),
        "convention": lambda: [Option(["--calling-convention", rng.choice(["packed", "registry"])])],
        "workspace": lambda: [Option(["--memory", "workspace"])],
        "tvm": lambda: [Option(["--interface", "tvm"])], "mlf": lambda: [Option(["--format", "mlf"])],
        "together": lambda: [Option(["--together"])], "devices": lambda: devices(rng, seed),
        "constants": lambda: constants(rng)}
    return make[side]()


def lowering(rng, model):
    out = []

    def maybe(chance, *words):
        if rng.random() < chance:
            out.append(Option(list(words)))

    maybe(0.65, "-O", rng.choice(["speed", "balanced", "size"]))
    maybe(0.25, "--prefer", rng.choice(["cycles", "ram", "flash"]))
    maybe(0.15, "--kernels", rng.choice(["c", "intrinsics"]))
    maybe(0.1, "--keep-dead-channels")
    maybe(0.08, "--overlap", "off")
    images = model.image or model.kind == "frames"
    if rng.random() < (0.6 if images else 0.2):
        stream = "time" if model.kind == "frames" and rng.random() < 0.8 else rng.choice(["auto", "max", "max", "off"])
        words = ["--stream", stream]
        if stream == "auto" and rng.random() < 0.5:
            words += ["--stream-most", str(rng.choice([0, 20, 100]))]
        out.append(Option(words))
    if model.image and rng.random() < 0.3 and model.kind != "any":
        out.append(Option(["--input", "rows"]))
    else:
        maybe(0.35, "--input", rng.choice(["overwrite", "preserve"]))
    maybe(0.35, "--output", rng.choice(["overwrite", "preserve"]))
    maybe(0.1, "--arena", "model")
    if model.suffix == "onnx" and model.image:
        maybe(0.3, "--input-layout", "nhwc")
    if rng.random() < 0.25:
        out.append(Option(["--slice", rng.choice(["call", "call", "least", "100000"])]))
    if model.state and rng.random() < 0.8:
        out.append(Option(["--state", "=".join(model.state)]))
    if model.floats and rng.random() < 0.8:
        out.append(Option(["--strip-float-io"]))
    return out


def draw(seed, model_of):
    """The option set of a seed. `model_of(seed, kind)` draws a model, of any kind without one."""
    rng = random.Random(seed * 2)
    model = model_of(seed)
    sides = [rng.choices(list(SIDES), list(SIDES.values()))[0]]
    if rng.random() < 0.1:  # what conflicts, mostly
        sides.append(rng.choices(list(SIDES), list(SIDES.values()))[0])
    options = [o for side in dict.fromkeys(sides) for o in side_options(side, rng, seed)]
    parts = [model]
    if "together" in sides:
        parts += [model_of(seed * 10 + n, "any") for n in range(rng.choice([1, 1, 2]))]
    drawn = lowering(rng, model)
    if "together" in sides:  # what is said of one model is refused, which needs no more than a few draws
        of_one = {"--slice", "--stream", "--state", "--input-layout"}
        drawn = [o for o in drawn if not of_one.intersection(o.words) and o.words != ["--input", "rows"]
                 or rng.random() < 0.05]
    options += drawn
    cpu = rng.choice(HOST_CPUS) if rng.random() < 0.75 else None
    if cpu:
        options.append(Option(["--cpu", cpu]))
    found = Draw(seed, parts, options, "gcc", rng.choices(list(LEVELS), list(LEVELS.values()))[0])
    found.target = rng.choices(["gcc", "clang", "sanitized", "gcc32"], [44, 34, 14, 8])[0]
    if found.target == "sanitized":
        found.level = rng.choice(["-O0", "-O1"])
    if cpu in EMULATED and rng.random() < 0.3 and not found.packed and "mlf" not in sides and "constants" not in sides:
        found.target = EMULATED[cpu]
    if found.target == "gcc32" and (found.has("--constants-address") or found.packed):
        found.target = "gcc"
    return found


def found(model_of):
    """Draws that the lane found to fail once, told by hand. `model_of(name)` reads one of the repository's models."""
    digits = "digits/digits_int8"
    launched = {"name": f"v{FIRST_FOUND}n0", "type": 12, "operators": ["conv_2d"], "hooks": [], "launch": "async"}
    devices_text = json.dumps({"devices": [{"name": "cpu"}, launched], "fallback": "cpu"})
    sets = [
        # A call that a device launches was divided, though its packed arguments have no place for bounds.
        [Option(["--devices", "devices.json"], ("devices.json", devices_text)), Option(["--slice", "least"])],
        # C for AVR narrowed a long without a cast.
        [Option(["--cpu", "atmega2560"])],
    ]
    return [Draw(FIRST_FOUND + n, [model_of(digits)], options, "gcc", "-O1") for n, options in enumerate(sets)]
