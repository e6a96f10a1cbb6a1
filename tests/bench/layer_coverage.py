# SPDX-License-Identifier: Apache-2.0
"""Coverage of layers: on every core, every layer of models of many kinds is nearly as fast as the best of its family.

A family is an operator with its types: `conv_2d i8`. What a layer should take (due_of) has three parts:

  - its MACs, each as in the best layer of its family on that core;
  - its outputs, each as in the cheapest elementwise layer with integer or float results on that core: a layer of few
    MACs an output requantises and stores as well;
  - its inputs, each as in the cheapest layer with fewer results than inputs: a layer of few MACs an input reads and
    widens as well.

A layer with over 2 % of its model's instructions may take LIMIT times as much, and the estimates of the model and of
the layer must be near the count (estimates.py). coverage.json has the known exceptions and the prices:

  {"best": {core: {family: instructions a MAC, "integer output": instructions, "integer input", "float output",
                   "float input"}},
   "exceptions": [{"model", "target", "layer": family or "whole", "what": "instructions" or "estimate",
                   "factor": the worst layer's, "reason"}]}

A factor is of what the layer should take, or the estimate of the count. A reason is what the compiler says of the
layer's schedule, until somebody writes a better one: --record keeps it as long as the exception is needed.
"""
import concurrent.futures
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]
sys.path.append(str(HERE.parent / "models" / "generate"))  # last: its common.py is not that of the tests
import document  # noqa: E402
import estimated_models  # noqa: E402
import estimates  # noqa: E402
import measure  # noqa: E402
import record  # noqa: E402
import state_svdf  # noqa: E402

RECORD = HERE / "coverage.json"
LIMIT = 1.5
FEWER_PRODUCTS = ("winograd",)  # algorithms with fewer multiplications than MACs: no measure for other layers
LEAST = 64  # results of a layer that prices outputs and inputs: those of a smaller one take mostly the call
MOST = 10  # layers that a core's table lists
TARGETS = tuple(name for name, core in measure.CORES.items() if core.coverage)
STATE, SHARED = estimates.FIXTURES / "state", measure.SHARED
FILES = {
    **{name: SHARED / "models" / f"{name}.tflite" for name in ("kws", "vww", "resnet", "ad", "strww", "micro_speech")},
    **{name: estimates.FILES[name] for name in ("lstm_int8", "lstm_hybrid", "gru_int8", "gru_onnx", "transformer_int8",
                                                "transformer_onnx", "glance_int16", "residual_f32")},
    "lstm_fused_int8": STATE / "lstm_vectors_int8.tflite",
    "micro_speech_lstm": SHARED / "recurrent" / "micro_speech_lstm.tflite",
    "dtln_lstm": SHARED / "recurrent" / "dtln_noise_suppression.tflite",
    "alexa_onnx": SHARED / "audio" / "alexa_v0.1.onnx",
    "kws_qdq": estimates.SHARED["kws_qdq"],
    **{name: SHARED / "quantised" / f"{file}.onnx" for name, file in (
        ("kws_int4_onnx", "dscnn_21.w4"), ("kws_int16_onnx", "dscnn_a16w8"), ("resnet_dynamic_onnx", "resnet8_dyn"))},
}
SVDF_SIZES = ((96, 64, 8), (16, 64, 8), (16, 32, 32), (32, 32, 32))  # inputs, units, memory: of TFLM's keyword model
MADE = ("tcn_int8", "tcn_int16", "dilated_int8", "one_channel_int8", "one_channel_f32", "cnn_int16",
        *estimated_models.MORE)
MODELS = (*FILES, "svdf_int8", *MADE)
# Types of the weights of layers where they are not those of the activations.
WEIGHTS = {"lstm_hybrid": "i8", "cnn_dynamic": "i8", "resnet_dynamic_onnx": "i8", "cnn_int4": "i4",
           "kws_int4_onnx": "i4"}


def path_of(model, work):
    """The file of a model; None if it belongs to ../shared and is not there."""
    if model in FILES:
        path = FILES[model]
        return path if path.exists() or SHARED not in path.parents else None
    path = work / f"{model}.tflite"
    if model == "svdf_int8":
        layers = [state_svdf.Layer(*size, seed=i) for i, size in enumerate(SVDF_SIZES)]
        path.write_bytes(state_svdf.model(layers, state_svdf.add_int8))
    else:
        path.write_bytes(estimated_models.made(model))
    return path


def measure_row(aotc, model, path, target, work, say):
    board = measure.CORES[target].coverage
    found = estimates.compare(aotc, path, target, work, board)
    say(f"{model} on {target}: " + (f"{found['counted']:,} instructions" if found else "does not fit"))
    return {"model": model, "target": target, **found} if found else None


def measure_all(aotc, models, targets, jobs, say):
    """Rows of all models and targets; every failure is told before the first is raised."""
    rows, failures, missing = [], [], []
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        work, running = pathlib.Path(temporary), []
        for model in models:
            path = path_of(model, work)
            if path is None:
                missing.append(model)
                continue
            running += [pool.submit(measure_row, aotc, model, path, target, work, say) for target in targets]
        for job in running:
            try:
                if row := job.result():
                    rows.append(row)
            except (measure.Failure, subprocess.TimeoutExpired) as failure:
                failures.append(str(failure))
    if failures:
        raise measure.Failure("\n".join(failures))
    return rows, missing


def family(row, layer):
    weights = WEIGHTS.get(row["model"])
    return f"{layer['op']} {layer['dtype']}" + (f" x {weights}" if weights else "")


def products(row):
    """(layer, instructions a MAC) of the large layers that multiply."""
    return [(layer, layer["counted"] / layer["macs"]) for _, layer in estimates.large(row) if layer["macs"]]


def element(layer, part):
    return f"{'float' if layer['dtype'].startswith('f') else 'integer'} {part}"


def elements(row):
    """(name, instructions) of an output or an input of the layers without MACs. Copies convert nothing."""
    for layer in row["layers"]:
        inputs, outputs = layer.get("inputs", 0), layer.get("outputs", 0)
        if layer["macs"] or outputs < LEAST or "copy" in (layer["kind"], layer["schedule"]):
            continue
        if inputs == outputs:
            yield element(layer, "output"), layer["counted"] / outputs
        elif inputs > outputs:
            yield element(layer, "input"), layer["counted"] / inputs


def best_of(rows):
    """{target: {family: fewest instructions a MAC, "integer output": fewest of one, ...}}"""
    best = {}
    for row in rows:
        found = [(family(row, layer), each) for layer, each in products(row)
                 if not layer["schedule"].startswith(FEWER_PRODUCTS)]
        of_core = best.setdefault(row["target"], {})
        for name, each in [*found, *elements(row)]:
            of_core[name] = min(of_core.get(name, each), each)
    return {target: {name: round(each, 4) for name, each in sorted(of_core.items())}
            for target, of_core in best.items()}


def due_of(row, layer, best):
    """Instructions that the layer should take."""
    of_elements = sum(best.get(element(layer, part), 0) * layer.get(part + "s", 0) for part in ("output", "input"))
    return layer["macs"] * best.get(family(row, layer), layer["counted"] / layer["macs"]) + of_elements


def factors(row, best):
    """(layer, instructions a MAC, times what it should take) of products()."""
    return [(layer, each, layer["counted"] / due_of(row, layer, best)) for layer, each in products(row)]


def badness(what, factor):
    """1 is best: estimates are wrong in both directions."""
    return factor if what == "instructions" or factor > 1 else 1 / max(factor, 1e-9)


def exceptions_of(rows, best):
    """{(model, target, layer, what): {"factor", "of": the layer}}; the worst layer of each family of a model."""
    out = {}

    def add(row, name, what, factor, layer):
        key = row["model"], row["target"], name, what
        if key not in out or badness(what, factor) > badness(what, out[key]["factor"]):
            out[key] = {"factor": round(factor, 3), "of": layer}

    for row in rows:
        for layer, _, factor in factors(row, best[row["target"]]):
            if factor > LIMIT:
                add(row, family(row, layer), "instructions", factor, layer)
        if not measure.CORES[row["target"]].estimated:
            continue
        if abs(estimates.off(row["estimated"], row["counted"])) > estimates.WHOLE:
            farthest = max(row["layers"], key=lambda layer: abs(layer["estimated"] - layer["counted"]))
            add(row, "whole", "estimate", row["estimated"] / row["counted"], farthest)
        for _, layer in estimates.large(row):
            if abs(estimates.off(layer["estimated"], layer["counted"])) > estimates.LAYER:
                add(row, family(row, layer), "estimate", layer["estimated"] / layer["counted"], layer)
    return out


# ---------------------------------------------------------------- the record

def key(entry):
    return entry["model"], entry["target"], entry["layer"], entry["what"]


def load(path=RECORD):
    return json.loads(path.read_text()) if path.exists() else {"best": {}, "exceptions": []}


def store(known, path=RECORD):
    lists = {name: ",\n".join("  " + text for text in texts) for name, texts in (
        ("best", [f"{json.dumps(target)}: {json.dumps(best)}" for target, best in known["best"].items()]),
        ("exceptions", [json.dumps(entry) for entry in known["exceptions"]]))}
    path.write_text(f'{{\n "best": {{\n{lists["best"]}\n }},\n "exceptions": [\n{lists["exceptions"]}\n ]\n}}\n')


def best_with(known, rows, whole):
    """The best of each family: what was measured, and, if some models were not, what is recorded."""
    best = best_of(rows)
    for target, names in best.items():
        for name, each in ({} if whole else known["best"].get(target, {})).items():
            names[name] = min(names.get(name, each), each)
    return best


def compare(known, rows, whole):
    """(what got worse, what is no longer needed), as texts. `whole`: all models were measured."""
    best = best_with(known, rows, whole)
    found, entries = exceptions_of(rows, best), {key(entry): entry for entry in known["exceptions"]}
    worse = []
    for (model, target, layer, what), now in found.items():
        entry = entries.get((model, target, layer, what))
        text = f"{model} on {target}: {layer}, {what}"
        if entry is None:
            of = now["of"]
            worse.append(f"{text} {now['factor']} (call of {of['kind']}, {of['schedule'] or 'no schedule'})")
        elif badness(what, now["factor"]) > badness(what, entry["factor"]) * (1 + record.TOLERANCE):
            worse.append(f"{text} {entry['factor']} -> {now['factor']}")
    for target, names in best.items():
        for name, was in known["best"].get(target, {}).items() if whole else ():
            now = names.get(name)
            if now is None or now > was * (1 + record.TOLERANCE):
                worse.append(f"best {name} on {target}: {was} -> {now} instructions")
    measured = {(row["model"], row["target"]) for row in rows}
    gone = [f"{' '.join(k)}: {entry['factor']}" for k, entry in entries.items()
            if k not in found and (k[:2] in measured or k[0] not in MODELS)]
    return worse, gone


def check(known, rows, whole):
    """Raises Failure if anything is worse than recorded, if an exception is not needed, or if nothing was measured."""
    if not rows:
        raise measure.Failure("nothing was measured")
    worse, gone = compare(known, rows, whole)
    texts = []
    if worse:
        texts.append("over the bounds, or worse than recorded by more than 1 %:\n  " + "\n  ".join(worse))
    if gone:
        texts.append("no longer needed:\n  " + "\n  ".join(gone))
    if texts:
        raise measure.Failure("\n".join(texts) + "\nIf this is meant, record it in the same commit and say why in its "
                              "message:\n  scripts/bench --coverage --record")


def merge(known, rows, whole, reason_of):
    """The record with what was measured now. reason_of(model, target, layer) is asked for new exceptions."""
    best = best_with(known, rows, whole)
    old = {key(entry): entry for entry in known["exceptions"]}
    measured = {(row["model"], row["target"]) for row in rows}
    entries = {k: entry for k, entry in old.items() if k[:2] not in measured and k[0] in MODELS}
    for k, now in exceptions_of(rows, best).items():
        reason = old[k]["reason"] if k in old else reason_of(k[0], k[1], now["of"])
        entries[k] = {**dict(zip(("model", "target", "layer", "what"), k)), "factor": now["factor"], "reason": reason}
    order = {name: i for i, name in enumerate((*TARGETS, *MODELS))}
    cores = {**known["best"], **best}

    def place(entry):
        return order[entry["target"]], order.get(entry["model"], 0), *key(entry)[2:]
    return {"best": {target: cores[target] for target in TARGETS if target in cores},
            "exceptions": sorted(entries.values(), key=place)}


def explanations(aotc, path, target):
    """{op_index: why its schedule is chosen}, by `aotc schedules --explain`."""
    command = [aotc.program, "schedules", path, "--board", measure.CORES[target].coverage, "--explain", "--most", "1",
               "--quiet"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=aotc.timeout)
    if done.returncode != 0:
        raise measure.Failure(f"{path.name} on {target}: aotc schedules failed: {done.stderr.strip()}")
    lines = [re.split(r"  +", line.strip()) for line in done.stdout.splitlines()[1:]]
    return {int(line[0]): line[-1] for line in reversed(lines) if line[0].isdigit()}


class Reasons:
    """Asks the compiler once for each model and core."""

    def __init__(self, aotc):
        self.aotc, self.known = aotc, {}

    def __call__(self, model, target, layer):
        if (model, target) not in self.known:
            with tempfile.TemporaryDirectory() as temporary:
                self.known[model, target] = explanations(self.aotc, path_of(model, pathlib.Path(temporary)), target)
        why = self.known[model, target].get(layer["op_index"], "")
        return ": ".join(text for text in (f"{layer['kind']} {layer['schedule']}".strip(), why) if text)


# ---------------------------------------------------------------- tables

WORST = ["model", "layer", "MACs", "a MAC", "of due", "share", "schedule", "reason"]


def core_text(target, rows, best, known):
    rows = [row for row in rows if row["target"] == target]
    layers = [(row, *found) for row in rows for found in factors(row, best)]
    lines = []
    for name in sorted(best):
        of = [(each, factor) for row, layer, each, factor in layers if family(row, layer) == name]
        if of:
            lines.append([name, str(len(of)), f"{best[name]:.2f}", f"{max(of)[0]:.2f}",
                          str(sum(factor > LIMIT for _, factor in of))])
    reasons = {key(entry): entry["reason"] for entry in known["exceptions"]}
    worst = []
    for row, layer, each, factor in sorted(layers, key=lambda x: -x[3])[:MOST]:
        if factor > LIMIT:
            worst.append([f"`{row['model']}`", layer["kind"], f"{layer['macs']:,}", f"{each:.2f}", f"{factor:.1f}",
                          f"{100 * layer['counted'] / row['counted']:.0f} %", layer["schedule"],
                          reasons.get((row["model"], target, family(row, layer), "instructions"), "")])
    far = sum(k[3] == "estimate" for k in exceptions_of(rows, {target: best}))
    board = measure.CORES[target].coverage
    return (f"## {target}: {len(rows)} models, {len(layers)} layers with MACs and over 2 % of their model, "
            f"{sum(x[3] > LIMIT for x in layers)} over {LIMIT} times what they should take\n\n"
            + document.table(["family", "layers", "best a MAC", "worst", f"over {LIMIT}"], lines)
            + ("\n" + document.table(WORST, worst) if worst else "")
            + (f"\nestimates over the bounds: {far}\n" if measure.CORES[target].estimated
               else f"\nestimates: not modelled for this core ({board if isinstance(board, str) else board.name})\n"))


def text(rows, known, whole):
    best = best_with(known, rows, whole)
    return "\n".join(core_text(target, rows, best[target], known) for target in TARGETS if target in best)


# ---------------------------------------------------------------- scripts/bench --coverage

def rows_of(options, say):
    if options.source:
        rows = json.loads(options.source.read_text())
        return [row for row in rows if row["target"] in options.targets
                and (not options.models or row["model"] in options.models)], []
    unknown = sorted(set(options.models or ()) - set(MODELS))
    if unknown:
        raise measure.Failure(f"no model {unknown[0]}; there are {' '.join(MODELS)}")
    return measure_all(measure.Aotc(options.aotc, options.timeout), options.models or MODELS,
                       [target for target in TARGETS if target in options.targets], options.jobs, say)


def main(options, say):
    rows, missing = rows_of(options, say)
    if missing:
        message = f"{SHARED} is missing (set AOTC_SHARED): {', '.join(missing)}"
        say(f"SKIPPED: {message}")
        if options.record:
            raise measure.Failure("a record needs all models")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    whole = set(MODELS) <= {row["model"] for row in rows}
    known = load()
    if options.record:
        known = merge(known, rows, whole, Reasons(measure.Aotc(options.aotc, options.timeout)))
        store(known)
        say(f"wrote {RECORD.relative_to(measure.ROOT)}")
    sys.stdout.write(text(rows, known, whole))
    check(known, rows, whole)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    models, cores = ({row[name] for row in rows} for name in ("model", "target"))
    print(f"{len(models)} models on {len(cores)} cores are within the bounds or as recorded: "
          f"{len(known['exceptions'])} exceptions; {used.ru_utime + used.ru_stime:.0f} CPU s")
