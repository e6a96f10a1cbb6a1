# SPDX-License-Identifier: Apache-2.0
"""Cycles of a firmware's instructions beside those that were estimated when the model was compiled (docs/cycles.md)."""

WITHIN = 0.10  # what an estimate is to be of the measurement


def off(estimated, measured):
    return (estimated - measured) / measured


def layer_line(number, layer):
    measured, estimated = layer["cycles"], layer["estimated"]
    name = f"{number:>4} {layer['op'] or 'copy'}"
    if measured is None or estimated is None:
        return f"{name:<28} {measured or '-':>13} {estimated or '-':>13}"
    part = off(estimated, measured)
    return f"{name:<28} {measured:>13,} {estimated:>13,} {part:>+8.1%}{'' if abs(part) <= WITHIN else '  <'}"


def row_text(row):
    """A model's layers, one a line; those that are farther off than WITHIN are marked."""
    lines = [f"{row['model']} on {row['target']}, {row['level']}: {row['counted_instructions']:,} instructions",
             f"{'layer':<28} {'cycles':>13} {'estimated':>13} {'off':>8}"]
    lines += [layer_line(i, layer) for i, layer in enumerate(row["cycle_layers"])]
    if row["estimated_cycles"] is not None:
        lines.append(f"{'whole':<28} {row['cycles']:>13,} {row['estimated_cycles']:>13,} "
                     f"{off(row['estimated_cycles'], row['cycles']):>+8.1%}")
    return "\n".join(lines) + "\n"


def far(rows):
    """Layers with more than a hundredth of a model's cycles whose estimates are farther off than WITHIN."""
    return [(row["model"], row["target"], row["level"], i) for row in rows
            for i, layer in enumerate(row["cycle_layers"])
            if layer["cycles"] and layer["estimated"] and layer["cycles"] > 0.01 * row["cycles"]
            and abs(off(layer["estimated"], layer["cycles"])) > WITHIN]


def text(rows):
    rows = [row for row in rows if "cycles" in row]
    layers = sum(1 for row in rows for layer in row["cycle_layers"] if layer["cycles"] and layer["cycles"] > 0.01 * row["cycles"])
    return ("\n".join(row_text(row) for row in rows)
            + f"\n{len(far(rows))} of {layers} layers with more than 1 % of a model's cycles are estimated more than "
              f"{WITHIN:.0%} off\n")
