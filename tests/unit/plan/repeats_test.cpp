// SPDX-License-Identifier: Apache-2.0
// Calls that come again and again: what becomes a repeat, and how a call finds what differs.
#include "plan/repeats.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cores/cpu.h"
#include "ops/operator.h"

namespace aotc::plan {
namespace {

Program planned_steps(const std::string& text, const PlanOptions& options = {}) {
  Diagnostics diags;
  auto graph = graph::parse(text, "test.air", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph.ok() && ops::verify_graph(*graph, diags)) << diags.str();
  auto program = plan_program(std::move(*graph), options, diags);
  EXPECT_TRUE(program.ok()) << diags.str();
  return program.ok() ? std::move(*program) : Program{};
}

// h = tanh(relu(w * h) + b), `steps` times, each with a table of its own for b; step `odd` has a
// maximum for its sum.
std::string unrolled(int steps, int odd = -1) {
  std::string text = "graph \"g\" {\n  input %0 \"h\" f32[1x2]\n  const %1 \"w\" f32[2x2] = [0.5, -1, 0.25, 2]\n";
  int last = 0;
  for (int i = 0; i < steps; ++i) {
    const int at = 10 + 10 * i;
    text += fmt::format("  const %{} \"b{}\" f32[1x2] = [{}, {}]\n", at, i, i + 1, -i);
    text += fmt::format("  %{} \"sum{}\" f32[1x2] = fully_connected(%{}, %1)\n", at + 1, i, last);
    text += fmt::format("  %{} \"relu{}\" f32[1x2] = relu(%{})\n", at + 2, i, at + 1);
    text +=
        fmt::format("  %{} \"add{}\" f32[1x2] = {}(%{}, %{})\n", at + 3, i, i == odd ? "maximum" : "add", at + 2, at);
    text += fmt::format("  %{} \"tanh{}\" f32[1x2] = tanh(%{})\n", at + 4, i, at + 3);
    last = at + 4;
  }
  return text + fmt::format("  output %{}\n}}\n", last);
}

// "c" for a call, "PERIODxTURNS" for a repeat.
std::string body_of(const Program& p) {
  std::string out;
  for (const ProgramStep& step : p.body) {
    if (!out.empty()) out += " ";
    out +=
        step.kind == ProgramStep::Kind::kRepeat ? fmt::format("{}x{}", step.blocks[0].size(), step.blocks.size()) : "c";
  }
  return out;
}

void expect_output_evaluated(const Program& p) {
  std::vector<float> h = {0.25f, -0.5f};
  std::vector<uint8_t> input(8);
  std::memcpy(input.data(), h.data(), 8);
  Diagnostics diags;
  auto out = run_program(p, {input}, diags);
  ASSERT_TRUE(out.ok()) << diags.str();
  auto values = ops::evaluate_graph(p.graph, {input});
  EXPECT_EQ((*out)[0], values[static_cast<size_t>(p.graph.outputs[0].tensor.value)]);
}

TEST(PlanRepeats, UnrolledStepsBecomeOneRepeat) {
  Program p = planned_steps(unrolled(12));
  // The first call reads the input and the last writes the output: they are the caller's.
  EXPECT_EQ(body_of(p), "c 4x11 c c c");
  EXPECT_LT(printed_calls(p), 12);
  EXPECT_EQ(p.calls.size(), 48u);
  expect_output_evaluated(p);
}

TEST(PlanRepeats, FewTurnsAndAnotherWishStayCalls) {
  EXPECT_EQ(body_of(planned_steps(unrolled(2))), "c c c c c c c c");
  PlanOptions options;
  options.repeats = false;
  Program p = planned_steps(unrolled(12), options);
  EXPECT_EQ(body_of(p).find("x"), std::string::npos);
  EXPECT_EQ(printed_calls(p), 48);
  EXPECT_EQ(repeat_table_bytes(p), 0);
}

TEST(PlanRepeats, AnotherOperatorEndsARepeat) {
  Program p = planned_steps(unrolled(24, 12));
  EXPECT_NE(body_of(p).find("4x12"), std::string::npos) << body_of(p);
  expect_output_evaluated(p);
}

TEST(PlanRepeats, TheLayoutLeadsEveryTurnToItsArguments) {
  Program p = planned_steps(unrolled(12));
  for (const ProgramStep& step : p.body) {
    if (step.kind != ProgramStep::Kind::kRepeat) continue;
    const RepeatLayout layout = lay_out_repeat(p, step);
    EXPECT_EQ(layout.table_bytes(), repeat_table_bytes(p));
    for (size_t turn = 0; turn < layout.turns; ++turn)
      for (size_t j = 0; j < layout.period; ++j) {
        const ProgramCall& call = p.calls[static_cast<size_t>(step.blocks[turn][j].call)];
        const ProgramCall& first = p.calls[static_cast<size_t>(step.blocks[0][j].call)];
        for (size_t a = 0; a < call.arguments.size(); ++a) {
          const RepeatLayout::Value& v = layout.arguments[j][a];
          Storage s = first.arguments[a].storage;
          if (v.kind == RepeatLayout::Value::kStride) s.offset += v.stride * static_cast<int64_t>(turn);
          if (v.kind == RepeatLayout::Value::kPlace) s.offset = layout.places[v.column][turn];
          if (v.kind == RepeatLayout::Value::kTable) s.index = layout.tables[v.column][turn];
          if (v.kind == RepeatLayout::Value::kRow) s.index = layout.packed[v.column].constants[turn];
          EXPECT_EQ(s.kind, call.arguments[a].storage.kind);
          EXPECT_EQ(s.offset, call.arguments[a].storage.offset);
          EXPECT_TRUE(s.kind != StorageKind::kConstant || s.index == call.arguments[a].storage.index);
        }
      }
  }
}

// h = (h + b) * h in int8, `steps` times, with scales of its own in each.
std::string scaled_steps(int steps) {
  std::string text =
      "graph \"g\" {\n  input %0 \"h\" i8[1x4] quant(0.02, 3)\n"
      "  const %1 \"b\" i8[1x4] quant(0.01, 0) = [1, -7, 9, 40]\n";
  int last = 0;
  for (int i = 0; i < steps; ++i) {
    const int at = 10 + 10 * i;
    text +=
        fmt::format("  %{} \"sum{}\" i8[1x4] quant({}, {}) = add(%{}, %1)\n", at, i, 0.03 + 0.0017 * i, i - 5, last);
    text += fmt::format("  %{} \"h{}\" i8[1x4] quant({}, {}) = mul(%{}, %{})\n", at + 1, i, 0.02 + 0.0003 * i, 3 * i,
                        at, last);
    last = at + 1;
  }
  return text + fmt::format("  output %{}\n}}\n", last);
}

int64_t from_row(const RepeatLayout::Packed::Entry& entry, const std::vector<uint8_t>& row) {
  uint32_t bits = 0;
  for (int b = 0; b < entry.bytes; ++b) bits |= uint32_t{row[entry.at + static_cast<size_t>(b)]} << (8 * b);
  const int64_t value = entry.bytes == 4 ? static_cast<int32_t>(bits) : int64_t{bits};
  return entry.base + (value << entry.shift);
}

TEST(PlanRepeats, RowsHoldWhatScalesMakeOfTheSteps) {
  Program p = planned_steps(scaled_steps(16));
  ASSERT_NE(body_of(p).find("x"), std::string::npos) << body_of(p);
  size_t tables = 0;
  for (const ProgramStep& step : p.body) {
    if (step.kind != ProgramStep::Kind::kRepeat) continue;
    const RepeatLayout layout = lay_out_repeat(p, step);
    ASSERT_EQ(layout.rows.size(), layout.turns);
    EXPECT_LT(layout.rows[0].size(), 32u);
    for (const RepeatLayout::Packed& packed : layout.packed)
      for (size_t turn = 0; turn < layout.turns; ++turn, ++tables) {
        const ops::Constant& c = p.constants[static_cast<size_t>(packed.constants[turn])].data;
        ASSERT_EQ(c.dtype, DType::kI32);
        std::vector<int32_t> values;
        for (const auto& entry : packed.entries)
          values.push_back(static_cast<int32_t>(from_row(entry, layout.rows[turn])));
        ASSERT_EQ(values.size() * 4, c.bytes.size());
        EXPECT_EQ(std::memcmp(values.data(), c.bytes.data(), c.bytes.size()), 0);
      }
  }
  const std::vector<bool> in_rows = constants_in_rows(p);
  EXPECT_GT(std::count(in_rows.begin(), in_rows.end(), true), 20);
  EXPECT_GE(tables, static_cast<size_t>(std::count(in_rows.begin(), in_rows.end(), true)));
  // What a call outside of the loop reads stays a table.
  for (const ProgramStep& step : p.body) {
    if (step.kind != ProgramStep::Kind::kCall) continue;
    for (const CallArgument& a : p.calls[static_cast<size_t>(step.call)].arguments)
      EXPECT_FALSE(a.storage.kind == StorageKind::kConstant && in_rows[static_cast<size_t>(a.storage.index)]);
  }
}

// The emitted sum of a base and a shifted number is one of int32.
TEST(PlanRepeats, NumbersFurtherApartThanInt32AreKeptWhole) {
  Program p = planned_steps(scaled_steps(16));
  int wide = 0;
  for (const ProgramStep& step : p.body) {
    if (step.kind != ProgramStep::Kind::kRepeat) continue;
    const RepeatLayout before = lay_out_repeat(p, step);
    for (const RepeatLayout::Packed& packed : before.packed)
      for (size_t turn = 0; turn < before.turns; ++turn) {
        const int32_t value = turn == 0 ? -2000000000 : 2000000000;  // multiples of 256
        auto& bytes = p.constants[static_cast<size_t>(packed.constants[turn])].data.bytes;
        for (size_t at = 0; at + 4 <= bytes.size(); at += 4) std::memcpy(bytes.data() + at, &value, 4);
      }
    const RepeatLayout layout = lay_out_repeat(p, step);
    for (const RepeatLayout::Packed& packed : layout.packed)
      for (const auto& entry : packed.entries)
        for (size_t turn = 0; turn < layout.turns; ++turn, ++wide) {
          EXPECT_LE(from_row(entry, layout.rows[turn]) - entry.base, INT32_MAX);
          EXPECT_EQ(std::abs(from_row(entry, layout.rows[turn])), 2000000000);
        }
  }
  EXPECT_GT(wide, 0);
}

// h = a + b, a and b being the halves of w * h.
std::string halved_steps(int steps) {
  std::string text = "graph \"g\" {\n  input %0 \"h\" f32[1x4]\n  const %1 \"w\" f32[8x4] = [0.5";
  for (int i = 1; i < 32; ++i) text += fmt::format(", {}", i % 5 * 0.25);
  text += "]\n";
  int last = 0;
  for (int i = 0; i < steps; ++i) {
    const int at = 10 + 10 * i;
    text += fmt::format("  %{} \"both{}\" f32[1x8] = fully_connected(%{}, %1)\n", at, i, last);
    text += fmt::format("  %{} \"a{}\" f32[1x4], %{} \"b{}\" f32[1x4] = split(%{}) {{axis = 1, sizes = [4, 4]}}\n",
                        at + 1, i, at + 2, i, at);
    text += fmt::format("  %{} \"h{}\" f32[1x4] = add(%{}, %{})\n", at + 3, i, at + 1, at + 2);
    last = at + 3;
  }
  return text + fmt::format("  output %{}\n}}\n", last);
}

TEST(PlanRepeats, PiecesOfWhatAStepComputesAreNotCopied) {
  for (int steps : {2, 3, 4}) {
    Program p = planned_steps(halved_steps(steps));
    // Two steps are no unrolled network.
    EXPECT_EQ(p.calls.size(), static_cast<size_t>(steps == 2 ? 6 : 2 * steps));
    const std::vector<float> h = {0.25f, -0.5f, 1, 3};
    std::vector<uint8_t> input(16);
    std::memcpy(input.data(), h.data(), 16);
    Diagnostics diags;
    auto out = run_program(p, {input}, diags);
    ASSERT_TRUE(out.ok()) << diags.str();
    auto values = ops::evaluate_graph(p.graph, {input});
    EXPECT_EQ((*out)[0], values[static_cast<size_t>(p.graph.outputs[0].tensor.value)]);
    if (steps == 2) continue;
    for (const graph::Op& op : p.graph.ops) {
      if (op.name() != "split") continue;
      const Storage& whole = p.tensors[static_cast<size_t>(op.operands[0].value)];
      for (size_t r = 0; r < 2; ++r) {
        const Storage& piece = p.tensors[static_cast<size_t>(op.results[r].value)];
        EXPECT_EQ(piece.index, whole.index);
        EXPECT_EQ(piece.offset, whole.offset + static_cast<int64_t>(16 * r));
      }
    }
  }
}

// Three products of the same int8 weights, with biases and scales of their own.
std::string products() {
  std::string text =
      "graph \"g\" {\n  input %0 \"x\" i8[1x4] quant(0.1, 3)\n  const %1 \"w\" i8[9x4] quant(0.01, "
      "0) = [1";
  for (int i = 1; i < 36; ++i) text += fmt::format(", {}", i * 37 % 251 - 125);
  text += "]\n";
  for (int i = 0; i < 3; ++i) {
    text += fmt::format("  const %{} \"b{}\" i32[9] = [{}, 1, 2, 3, 4, 5, 6, 7, 8]\n", 10 + i, i, i);
    text += fmt::format("  %{} \"y{}\" i8[1x9] quant(0.{}, {}) = fully_connected(%0, %1, %{})\n", 20 + i, i, i + 1, i,
                        10 + i);
  }
  return text + "  output %20\n  output %21\n  output %22\n}\n";
}

int64_t tables_called(const Program& p, const std::string& name) {
  return std::count_if(p.constants.begin(), p.constants.end(),
                       [&](const ProgramConstant& c) { return c.name == name; });
}

TEST(PlanRepeats, WeightsOfSeveralOperatorsAreOneTableForTheDspExtensionToo) {
  PlanOptions options;
  cores::extend(options.target, "arm", [](std::string_view feature) { return feature == "dsp"; });
  Program p = planned_steps(products(), options);
  EXPECT_EQ(tables_called(p, "stream"), 1);
  EXPECT_EQ(tables_called(p, "bias"), 3);
  const std::vector<uint8_t> input = {1, 250, 127, 128};
  Diagnostics diags;
  auto out = run_program(p, {input}, diags);
  ASSERT_TRUE(out.ok()) << diags.str();
  auto values = ops::evaluate_graph(p.graph, {input});
  for (size_t o = 0; o < 3; ++o) EXPECT_EQ((*out)[o], values[static_cast<size_t>(p.graph.outputs[o].tensor.value)]);
  options.target.level = ops::Level::kSpeed;
  EXPECT_EQ(tables_called(planned_steps(products(), options), "stream"), 3);
}

}  // namespace
}  // namespace aotc::plan
