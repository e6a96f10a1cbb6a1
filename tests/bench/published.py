# SPDX-License-Identifier: Apache-2.0
"""Our estimated cycles of the MLPerf Tiny models beside the best results that were published for each core."""
from measure import Failure, model_path

MODELS = ("kws", "vww", "resnet", "ad")
LEVELS = ("balanced", "speed")
# By core: its name here (None: no timings of it are known here), and of MLPerf Tiny v1.0 to v1.3 the best entry of each
# model in millions of cycles, which are the board's MHz divided by inferences a second, with whose they are.
PUBLISHED = (
    ("Cortex-M0+", "cortex-m0plus", "NUCLEO-G0B1RE, 64 MHz: Bosch HALE", (30.4, 90.5, 97.4, 2.62)),
    ("Cortex-M4", "cortex-m4f", "NUCLEO-L4R5ZI, 120 MHz: ST X-CUBE-AI 9 to 10.2; ad Plumerai", (5.18, 10.67, 19.8, 0.486)),
    ("", None, "the same board: microTVM with CMSIS-NN (Krai, OctoML)", (12.0, 36.1, 46.7, 1.03)),
    ("Cortex-M33", "cortex-m33f", "NUCLEO-U575ZI-Q, 160 MHz: ST 10.2; resnet Plumerai; ad Bosch HALE", (4.64, 9.48, 16.7, 0.495)),
    ("Cortex-M7", "cortex-m7f", "NUCLEO-H7A3ZI-Q, 280 MHz: ST 9.0; ad Bosch HALE", (3.17, 6.67, 11.4, 0.303)),
    ("Cortex-M55", "cortex-m55f", None, None),
    ("Cortex-M85", None, "EK-RA8D1, 480 MHz: Renesas (TFLM with CMSIS-NN)", (1.66, 6.43, 4.07, 0.255)),
)

TEXT = """## MLPerf Tiny: estimated cycles beside published ones

The table shows millions of cycles of one inference. **It compares two kinds of numbers.**

- *Ours* are estimates: each instruction with its cycles from the core's documents, for memory without wait states, caches or
  other bus masters. Nothing was measured on silicon; [cycles](cycles.md) states the accuracy for each core. The estimates of
  Cortex-M7 and Cortex-M55 have low confidence.
- Published figures of MLPerf Tiny v1.0 to v1.3 were measured on boards. Cycles are the clock rate divided by inferences per second.

Firmware that runs from flash with wait states needs more cycles than our rows. So a smaller number does not prove that aotc is
faster on that board. `scripts/bench --published` prints this table."""


def estimates(aotc):
    """{core: {model: [cycles at each of LEVELS]}}, by compiling only."""
    out = {}
    for _, cpu, _, _ in PUBLISHED:
        for model in MODELS if cpu else ():
            path = model_path(model)
            if path is None:
                raise Failure(f"the model {model} is not there")
            found = [aotc.run("check", path, "--cpu", cpu, "-O", level).get("estimated_cycles") for level in LEVELS]
            out.setdefault(cpu, {})[model] = found
    return out


def millions(cycles):
    if cycles is None:
        return "–"
    return f"{cycles / 1e6:.3f}" if cycles < 1e6 else f"{cycles / 1e6:.2f}"


def text(estimated):
    lines = [TEXT, "", "| core | | " + " | ".join(f"`{m}`" for m in MODELS) + " |",
             "| :--- | :--- |" + " ---: |" * len(MODELS)]
    for core, cpu, entry, published in PUBLISHED:
        ours = estimated.get(cpu, {}) if cpu else {}
        rows = [(f"ours, estimated{'' if level == 'balanced' else f', `-O {level}`'}",
                 [millions(ours[m][i]) for m in MODELS]) for i, level in enumerate(LEVELS) if ours]
        if published:
            rows.append((entry, [f"{value:g}" for value in published]))
        for i, (name, values) in enumerate(rows):
            lines.append(f"| {core if i == 0 else ''} | {name} | " + " | ".join(values) + " |")
    return "\n".join(lines) + "\n"
