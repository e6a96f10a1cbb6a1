# SPDX-License-Identifier: Apache-2.0
"""The table of all models on all boards, and the limits that the project promises.

Reads what test_layers.py kept, and writes figures.json into the build folder. Limits: flash beyond the raw weights on
the Cortex-M4, and instructions against the reference kernels of TFLM (../shared/baselines.json).
"""
import json
import os

import common

FLASH_LIMIT = 24 * 1024
# Winograd's algorithm for two layers takes 15 KB for a fifth of the instructions (docs/performance.md).
FLASH_LIMITS = {"resnet": 28 * 1024}
FLASH_BOARD = "qemu_mps2_an386"
RATIO_LIMIT = 0.40
RATIO_MODELS = ("kws", "vww", "resnet", "ad", "strww")
RATIO_TARGETS = {"m3": "qemu_mps2_an385", "rv32imac": "qemu_riscv32"}
INT8_MODELS = (*RATIO_MODELS, "micro_speech", "hello_world_int8")


def reference_instructions():
    path = common.SHARED / "baselines.json"
    if not path.exists():
        return {}
    rows = json.loads(path.read_text())["runs"]
    return {(r["model"], RATIO_TARGETS[r["target"]]): r["instructions"] for r in rows
            if r["kernels"] == "ref" and r["flags"] == "default" and r["target"] in RATIO_TARGETS}


def table(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [c.ljust(w) if i < 2 else c.rjust(w)
                 for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def broken(runs, reference):
    """The promises that are not kept."""
    for model in INT8_MODELS:
        run = runs.get((model, FLASH_BOARD))
        extra = run["extra_flash_bytes"] if run else -1
        limit = FLASH_LIMITS.get(model, FLASH_LIMIT)
        if not 0 <= extra <= limit:
            yield f"{model}: flash beyond raw weights {extra} <= {limit}"
    for model in RATIO_MODELS:
        for board in RATIO_TARGETS.values():
            run = runs.get((model, board))
            ratio = run.get("ratio", 9.0) if run and (model, board) in reference else 9.0
            if ratio > RATIO_LIMIT:
                yield f"{model} on {board}: {ratio:.3f} of TFLM's instructions <= {RATIO_LIMIT}"


def test_figures(build_folder):
    if not (common.SHARED / "models").is_dir() and os.environ.get("CI") != "true":
        common.skip(f"{common.SHARED} is missing: no models to measure, no baselines")
    reference = reference_instructions()
    runs = {}
    for path in sorted((build_folder / "e2e" / "boards" / "figures").glob("*.json")):
        run = json.loads(path.read_text())
        if not run["fits"]:
            continue
        run["extra_flash_bytes"] = (run["code_bytes"] + run["constants_bytes"]
                                    - run["raw_constants_bytes"])
        key = run["model"], run["board"]
        if key in reference:
            run["ratio"] = run["instructions"] / reference[key]
        runs[key] = run
    rows = [["model", "board", "results", "ulp", "arena", "stack", "code", "constants",
             "beyond weights", "instructions", "of TFLM"]]
    for (model, board), run in runs.items():
        rows.append([model, board, str(run["compared"]), str(run["worst_ulp"]),
                     f"{run['arena_bytes']:,}", f"{run['stack_bytes']:,}", f"{run['code_bytes']:,}",
                     f"{run['constants_bytes']:,}", f"{run['extra_flash_bytes']:,}",
                     f"{run['instructions']:,}", f"{run['ratio']:.3f}" if "ratio" in run else ""])
    table(rows)
    (build_folder / "figures.json").write_text(json.dumps(list(runs.values()), indent=1) + "\n")
    assert list(broken(runs, reference)) == []
