# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/bench itself: that the check fails when it must, and which layers are paired."""
import copy
import pathlib
import tempfile
import unittest

import baselines
import bench
import cycles
import document
import forms
import layer_coverage as coverage
import record
from measure import Failure

ROW = {"model": "m", "target": "m4", "level": "default", "instructions": 100_000,
       "arena_bytes": 2_000, "io_bytes": 10, "stack_bytes": 200, "code_bytes": 4_000,
       "constants_bytes": 6_000, "compile_ms": 5.0, "macs": 50_000,
       "layers": [{"op": "CONV_2D", "op_index": 0, "macs": 50_000, "instructions": 99_000}]}
TOOLS = {"cc": "cc 1"}


def changed(**fields):
    return {**copy.deepcopy(ROW), **fields}


def recorded(*rows):
    return record.merge({"tools": {}, "rows": []}, rows, [], TOOLS)


class Check(unittest.TestCase):
    def said(self, row, absent=()):
        """What a check of `row` says; raises Failure as the check does."""
        said = []
        record.check(recorded(ROW), [row] if row else [], list(absent), TOOLS, said.append)
        return "\n".join(said)

    def test_same_figures_pass(self):
        self.assertIn("1 runs are within 1 %", self.said(changed()))

    def test_every_figure_may_grow_by_one_percent_and_no_more(self):
        for field, limit in (("instructions", 101_000), ("arena_bytes", 2_020),
                             ("stack_bytes", 202), ("code_bytes", 4_040), ("io_bytes", 10),
                             ("constants_bytes", 6_060)):
            with self.subTest(field):
                self.said(changed(**{field: limit}))
                with self.assertRaisesRegex(Failure, "m on m4: .*\n.*record it in the same commit"):
                    self.said(changed(**{field: limit + 1}))

    def test_forms_have_their_own_columns_and_command(self):
        row = {"model": "silu", "target": "m4", "level": "default", "arena_bytes": 2048, "constants_bytes": 256,
               "estimated_cycles": 20_000, "instructions": 9_000}
        known, said = {"tools": {}, "rows": [row]}, []
        record.check(known, [dict(row)], [], {}, said.append, "--forms", figures=forms.FIGURES, same={})
        for column in forms.FIGURES.values():
            with self.assertRaisesRegex(Failure, "silu on m4: .*\n.*\n.*scripts/bench --forms --models silu"):
                record.check(known, [{**row, column: 2 * row[column]}], [], {}, print, "--forms",
                             figures=forms.FIGURES, same={})

    def test_requested_figures_of_forms(self):
        def row(model, target, cycles):
            return {"model": model, "target": target, "level": "default", "arena_bytes": 100, "constants_bytes": 1,
                    "estimated_cycles": cycles, "instructions": 1}
        rows = [row("tcn_2d", "m55", 10), row("tcn_1d", "m55", 11), row("resnet8_int4", "m4", 16_000_000)]
        self.assertEqual(forms.over(rows[1], rows), [("estimated_cycles", 11, 10)])
        self.assertEqual(forms.over(rows[2], rows), [("estimated_cycles", 16_000_000, 15_500_000)])
        self.assertIn("| 100 | 1 | 11 (over) | 1 | arena bytes 100;", forms.markdown(rows))

    def test_levels_are_apart(self):
        with self.assertRaisesRegex(Failure, "m on m4 at -O size: is not in the record"):
            self.said(changed(level="size"))
        with self.assertRaisesRegex(Failure, "m on m4 at -O size: does not fit any more"):
            record.check(recorded(ROW, changed(level="size")), [ROW], [("m", "m4", "size")], TOOLS,
                         print)

    def test_code_that_grows_is_not_made_up_for_by_constants(self):
        with self.assertRaisesRegex(Failure, "code bytes 4,000 -> 5,000"):
            self.said(changed(code_bytes=5_000, constants_bytes=5_000))

    def test_every_column_is_checked(self):
        for row in record.load()["rows"]:
            figures = {name for name, value in row.items() if isinstance(value, (int, float))}
            self.assertEqual(figures, {*record.FIGURES.values(), *record.SAME.values()})

    def test_fewer_multiply_accumulates_are_another_model(self):
        with self.assertRaisesRegex(Failure, "multiply-accumulates 50,000 -> 49,999"):
            self.said(changed(macs=49_999))

    def test_all_levels_are_those_of_the_record(self):
        rows = [ROW, changed(level="speed"), changed(level="size", target="m7"), changed(model="n", level="size")]
        self.assertEqual(bench.pairs(["m"], ["m4", "m7"], "all", rows),
                         [("m", "m4", "balanced"), ("m", "m4", "speed"), ("m", "m7", "size")])
        self.assertEqual(bench.pairs(["m"], ["m4", "m7"], "speed", rows), [("m", "m4", "speed"), ("m", "m7", "speed")])

    def test_what_got_better_is_told(self):
        self.assertIn("better than recorded: m on m4: arena bytes 2,000 -> 1,000 (-50.0%)",
                      self.said(changed(arena_bytes=1_000)))

    def test_unrecorded_runs_fail(self):
        with self.assertRaisesRegex(Failure, "m on m7: is not in the record"):
            self.said(changed(target="m7"))

    def test_models_that_fit_no_more_fail(self):
        with self.assertRaisesRegex(Failure, "m on m4: does not fit any more"):
            self.said(None, [("m", "m4", "default")])

    def test_nothing_measured_fails(self):
        with self.assertRaisesRegex(Failure, "nothing was measured"):
            self.said(None)

    def test_other_tools_are_told(self):
        said = []
        record.check(recorded(ROW), [changed()], [], {"cc": "cc 2"}, said.append)
        self.assertIn("'cc 1', here it is 'cc 2'", said[0])


class Record(unittest.TestCase):
    def test_rows_are_replaced_kept_and_dropped(self):
        base = recorded(ROW, changed(model="n"), changed(target="m0"))
        new = record.merge(base, [changed(instructions=7)], [("m", "m0", "default")], TOOLS)
        self.assertEqual([(r["model"], r["target"], r["instructions"]) for r in new["rows"]],
                         [("m", "m4", 7), ("n", "m4", 100_000)])
        self.assertNotIn("compile_ms", new["rows"][0])

    def test_store_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "record.json"
            base = recorded(ROW, changed(model="n_f32"))
            record.store(base, path)
            self.assertEqual(record.load(path), base)
            base = {**base, "published": {"cortex-m4f": {"m": [3, 2]}}}
            record.store(base, path)
            self.assertEqual(record.load(path), base)
            self.assertEqual(record.merge(base, [], [], TOOLS)["published"], base["published"])


def layer(op, op_index, instructions):
    return {"op": op, "op_index": op_index, "macs": 0, "instructions": instructions}


class Pairs(unittest.TestCase):
    THEIRS = [{"kind": kind, "macs": 0, "insns": 10}
              for kind in ("CONV_3x3", "DW_10x8", "ADD", "RESHAPE", "CONV_1x1")]

    def pairs(self, *ours):
        return [(theirs["kind"], count) for theirs, count in baselines.pair(ours, self.THEIRS)]

    def test_by_operator_index(self):
        self.assertEqual(
            self.pairs(layer("CONV_2D", 0, 1), layer("ADD", 2, 2), layer("CONV_2D", 4, 3),
                       layer("CONV_2D", 4, 4)),
            [("CONV_3x3", 1), ("DW_10x8", None), ("ADD", 2), ("RESHAPE", None), ("CONV_1x1", 7)])

    def test_by_kind_where_numbers_differ(self):
        self.assertEqual(
            self.pairs(layer("DEPTHWISE_CONV_2D", 0, 1), layer("CONV_2D", 1, 2)),
            [("CONV_3x3", None), ("DW_10x8", 1), ("ADD", None), ("RESHAPE", None),
             ("CONV_1x1", 2)])

    def test_copies_come_last(self):
        self.assertEqual(self.pairs(layer(None, None, 5))[-1], ("copy", 5))


class Document(unittest.TestCase):
    BASE = baselines.Baselines({"what": "TFLM.", "runs": [
        {"model": "m", "target": "m4", "kernels": kernels, "flags": flags, "instructions": count,
         "macs": 60_000, "arena_bytes": 4_020, "stack_bytes": 400, "code_bytes": 10_000, "model_bytes": 10_000,
         "layers": [{"kind": "CONV_3x3", "macs": 50_000, "insns": 198_000}]}
        for kernels, flags, count in (("cmsis", "default", 300_000), ("cmsis", "o3", 200_000),
                                      ("ref", "default", 1_000_000), ("ref", "o3", 1_100_000))]})

    def test_ratios(self):
        text = document.markdown([ROW], TOOLS, self.BASE)
        self.assertIn("| `m` | 100,000 | 2.00 | 200,000 | CMSIS-NN o3 | 0.500 | 1,000,000 | 0.100 |",
                      text)
        self.assertIn("| `m` | 2,000 | 2,010 | 4,020 | 0.500 | 200 | 400 | 4,000 | 6,000 "
                      "| 20,000 | 0.500 |", text)
        self.assertIn("| CONV_3x3 | 50,000 | 99,000 | 198,000 | 0.500 |\n"
                      "| whole | 60,000 | 100,000 | 200,000 | 0.500 |", text)

    def test_levels_have_rows_of_their_own(self):
        text = document.markdown([changed(level="speed", instructions=70_000), ROW], TOOLS,
                                 self.BASE)
        self.assertIn("| `m` `-O speed` | 70,000 | 1.40 | 200,000 | CMSIS-NN o3 | 0.350 |", text)
        self.assertIn("| `m` | 0.500 |", text)
        self.assertEqual(text.count("### `m` on m4"), 1)

    def test_without_other_figures(self):
        text = document.markdown([ROW], TOOLS, None)
        self.assertIn("| `m` | 100,000 | 2.00 | – | – | – | – | – |", text)
        self.assertNotIn("Per layer", text)


class Page(unittest.TestCase):
    def test_docs_show_the_record(self):
        base = baselines.load()
        if base is None:
            self.skipTest(f"{baselines.BASELINES} is missing")
        now = record.load()
        self.assertTrue(now["rows"])
        self.assertEqual(document.DOCUMENT.read_text(),
                         document.markdown(now["rows"], now["tools"], base, now["published"]),
                         "docs/performance.md is not of tests/bench/record.json: "
                         "scripts/bench --record writes both")


class Cycles(unittest.TestCase):
    ROW = {**ROW, "counted_instructions": 100_000, "cycles": 200_000, "estimated_cycles": 210_000,
           "cycle_layers": [{"op": "CONV_2D", "op_index": 0, "cycles": 150_000, "estimated": 152_000},
                            {"op": "ADD", "op_index": 1, "cycles": 48_000, "estimated": 56_000},
                            {"op": "SOFTMAX", "op_index": 2, "cycles": 1_000, "estimated": 2_000},
                            {"op": "RESHAPE", "op_index": 3, "cycles": None, "estimated": 0}]}

    def test_layers_that_are_far_off_are_marked(self):
        text = cycles.text([self.ROW])
        self.assertEqual(cycles.far([self.ROW]), [("m", "m4", "default", 1)])
        self.assertRegex(text, r"1 ADD +48,000 +56,000 +\+16.7%  <")
        self.assertRegex(text, r"0 CONV_2D +150,000 +152,000 +\+1.3%\n")
        self.assertRegex(text, r"whole +200,000 +210,000 +\+5.0%")
        self.assertIn("1 of 2 layers", text)

    def test_cycles_are_not_recorded(self):
        self.assertNotIn("cycles", record.slim(self.ROW))


class Coverage(unittest.TestCase):
    """Layers whose instructions a MAC are 1 (the best), 1.4 and 2; the last is estimated 20 % too low."""

    def row(self, *counted, model="kws", target="m4"):
        layers = [{"kind": "CONV_2D", "op": "conv_2d", "op_index": i, "dtype": "i8", "schedule": "pairs", "macs": 1000,
                   "estimated": n - (n == 2000) * 400, "counted": n} for i, n in enumerate(counted)]
        total = sum(counted)
        return {"model": model, "target": target, "estimated": total, "counted": total, "layers": layers}

    def recorded(self, *rows):
        return coverage.merge({"best": {}, "exceptions": []}, rows, True, lambda *k: "why")

    def test_only_layers_over_the_bounds_are_exceptions(self):
        known = self.recorded(self.row(1000, 1400, 2000))
        self.assertEqual(known["best"], {"m4": {"conv_2d i8": 1.0}})
        self.assertEqual([(coverage.key(e)[2:], e["factor"], e["reason"]) for e in known["exceptions"]],
                         [(("conv_2d i8", "estimate"), 0.8, "why"), (("conv_2d i8", "instructions"), 2.0, "why")])
        coverage.check(known, [self.row(1000, 1400, 2000)], True)

    def test_small_layers_and_layers_without_products_do_not_count(self):
        row = self.row(1000, 100_000)
        row["layers"][1]["macs"] = 0
        self.assertEqual(self.recorded(row)["best"], {"m4": {}})

    def priced(self, counted, outputs, inputs):
        """A row whose convolutions have so many outputs and inputs, with layers that price an output by 4 and an input
        by 2."""
        row = self.row(1000, counted)
        row["layers"][1].update(outputs=outputs, inputs=inputs)
        for kind, inputs, outputs, each in (("TANH", 100, 100, 4), ("ADD", 200, 100, 2), ("QUANTIZE", 10, 10, 1)):
            row["layers"].append({"kind": kind, "op": kind.lower(), "op_index": 9, "dtype": "i8", "macs": 0,
                                  "schedule": "flat loop", "inputs": inputs, "outputs": outputs,
                                  "estimated": each * inputs,
                                  "counted": each * inputs})
        row["layers"].append({**row["layers"][-1], "kind": "copy", "schedule": "copy", "inputs": 100, "outputs": 100})
        return row

    def test_elementwise_layers_price_outputs_and_inputs(self):
        known = self.recorded(self.priced(2000, 100, 300))
        self.assertEqual(known["best"], {"m4": {"conv_2d i8": 1.0, "integer input": 2.0, "integer output": 4.0}})
        row = self.priced(2000, 100, 300)
        self.assertEqual(coverage.due_of(row, row["layers"][1], known["best"]["m4"]), 1000 + 400 + 600)

    def test_a_slow_product_of_many_outputs_is_an_exception(self):
        self.assertEqual(self.recorded(self.priced(2100, 100, 0))["exceptions"], [])
        slow = self.recorded(self.priced(2200, 100, 0))["exceptions"]
        self.assertEqual([(e["what"], e["factor"]) for e in slow], [("instructions", 1.571)])

    def test_elements_of_floats_have_their_own_prices(self):
        row = self.priced(2200, 100, 0)
        row["layers"][1]["dtype"] = "f32"
        self.assertEqual(self.recorded(row)["best"]["m4"]["conv_2d f32"], 2.2)
        self.assertEqual(coverage.due_of(row, row["layers"][1], {"integer output": 4.0, "conv_2d f32": 2.0}), 2000)

    def test_fewer_products_than_macs_are_no_measure(self):
        row = self.row(1000, 1400)
        row["layers"][0]["schedule"] = "winograd; 8 steps"
        self.assertEqual(self.recorded(row)["best"], {"m4": {"conv_2d i8": 1.4}})
        row["layers"][1]["schedule"] = "winograd"
        self.assertEqual(self.recorded(row), {"best": {"m4": {}}, "exceptions": []})

    def test_types_of_weights_are_families(self):
        known = self.recorded(self.row(1000), self.row(2000, model="cnn_int4"))
        self.assertEqual(known["best"]["m4"], {"conv_2d i8": 1.0, "conv_2d i8 x i4": 2.0})

    def test_cores_without_a_model_of_their_code_have_no_estimates(self):
        known = self.recorded(self.row(1000, 2000, target="m0"))
        self.assertEqual([e["what"] for e in known["exceptions"]], ["instructions"])

    def test_a_factor_may_grow_by_one_percent_and_no_more(self):
        known = self.recorded(self.row(1000, 2100))
        coverage.check(known, [self.row(1000, 2120)], True)
        with self.assertRaisesRegex(Failure, r"kws on m4: conv_2d i8, instructions 2.1 -> 2.13"):
            coverage.check(known, [self.row(1000, 2130)], True)

    def test_new_exceptions_fail(self):
        with self.assertRaisesRegex(Failure, r"conv_2d i8, instructions 1.6 \(call of CONV_2D, pairs\)"):
            coverage.check(self.recorded(self.row(1000, 1400)), [self.row(1000, 1600)], True)

    def test_exceptions_that_are_not_needed_fail(self):
        known = self.recorded(self.row(1000, 1600))
        with self.assertRaisesRegex(Failure, "no longer needed:\n  kws m4 conv_2d i8 instructions: 1.6"):
            coverage.check(known, [self.row(1000, 1500)], True)

    def test_the_best_may_not_get_worse(self):
        known = self.recorded(self.row(1000, 1400), self.row(1200, model="ad"))
        with self.assertRaisesRegex(Failure, r"best conv_2d i8 on m4: 1.0 -> 1.1"):
            coverage.check(known, [self.row(1100, 1400), self.row(1200, model="ad")], True)

    def test_some_models_are_compared_with_the_best_of_all(self):
        known = self.recorded(self.row(1000), self.row(1600, model="ad"))
        coverage.check(known, [self.row(1600, model="ad")], False)
        coverage.check(known, [self.row(1000)], False)

    def test_reasons_are_kept_and_exceptions_of_models_that_are_gone_dropped(self):
        known = self.recorded(self.row(1000, 1600), self.row(2000, 1000, model="no_such"))
        for entry in known["exceptions"]:
            entry["reason"] = "no tile"
        new = coverage.merge(known, [self.row(1000, 1700)], False, lambda *k: "why")
        self.assertEqual([(e["model"], e["factor"], e["reason"]) for e in new["exceptions"]], [("kws", 1.7, "no tile")])

    def test_store_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "coverage.json"
            known = self.recorded(self.row(1000, 1600), self.row(1000, 3000, target="m0"))
            coverage.store(known, path)
            self.assertEqual(coverage.load(path), known)

    def test_tables(self):
        rows = [self.row(1000, 1400, 2000)]
        text = coverage.text(rows, self.recorded(*rows), True)
        self.assertIn("| conv_2d i8 | 3 | 1.00 | 2.00 | 1 |", text)
        self.assertIn("| `kws` | CONV_2D | 1,000 | 2.00 | 2.0 | 45 % | pairs | why |", text)
