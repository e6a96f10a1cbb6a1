// SPDX-License-Identifier: Apache-2.0
// Where buffers come to lie, and what the plan makes of models whose inputs and outputs lie in the
// arena.
#include "plan/placement.h"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "graph/graph.h"
#include "ops/operator.h"
#include "plan/program.h"

namespace aotc {
namespace {

using plan::Buffer;
using plan::BufferUse;
using plan::Contract;
using plan::Placement;
using plan::StorageKind;

Buffer buffer(int64_t bytes) { return {bytes, 1, "b", false, false}; }

bool disjoint(const Placement& p, const std::vector<Buffer>& b, size_t i, size_t j) {
  return p.offsets[i] + b[i].bytes <= p.offsets[j] || p.offsets[j] + b[j].bytes <= p.offsets[i];
}

TEST(Placement, ABufferWithoutAReaderNeedsNoPlace) {
  std::vector<Buffer> buffers = {buffer(100), buffer(10)};
  BufferUse use;
  use.buffers = {1};
  Placement p = plan::place_buffers(buffers, {use}, true);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p.offsets[0], -1);
  EXPECT_EQ(p.bytes, 10);
}

// All that is tried counts, and trying ends at kMaxWork.
TEST(Placement, WorkOfEveryAttemptIsCounted) {
  std::vector<Buffer> buffers = {buffer(64), buffer(64), buffer(32), buffer(48)};
  ops::WriteOrder order;
  order.in_place = true;
  std::vector<BufferUse> calls(3);
  calls[0].buffers = {0, 1};
  calls[0].overlaps = {{0, 1, &order}};
  calls[1].buffers = {1, 2};
  calls[1].overlaps = {{1, 2, &order}};
  calls[2].buffers = {2, 3};
  const Placement apart = plan::place_buffers(buffers, calls, false);
  const Placement together = plan::place_buffers(buffers, calls, true);
  ASSERT_TRUE(apart.ok() && together.ok());
  EXPECT_GT(apart.work, 0);
  EXPECT_GT(together.work, apart.work);
  EXPECT_EQ(together.without_overlap, apart.bytes);
  EXPECT_LT(together.bytes, apart.bytes);
}

TEST(Placement, InputsAreAliveTogetherBeforeTheFirstCall) {
  std::vector<Buffer> buffers = {buffer(100), buffer(50), buffer(10), buffer(90)};
  for (size_t i : {0, 1}) buffers[i].from_start = true;
  std::vector<BufferUse> calls(2);
  calls[0].buffers = {0, 2};  // nobody reads input 1
  calls[1].buffers = {2, 3};
  Placement p = plan::place_buffers(buffers, calls, true);
  ASSERT_TRUE(p.ok());
  EXPECT_TRUE(disjoint(p, buffers, 0, 1));
  EXPECT_TRUE(disjoint(p, buffers, 0, 2));
  EXPECT_EQ(p.bytes, 150);
  EXPECT_EQ(p.live_bytes, (std::vector<int64_t>{110, 100}));
}

TEST(Placement, AnOutputOutlivesTheCallsBehindItsLastReader) {
  std::vector<Buffer> buffers = {buffer(100), buffer(80), buffer(60)};
  buffers[0].to_end = true;
  std::vector<BufferUse> calls(3);
  calls[0].buffers = {0};
  calls[1].buffers = {0, 1};
  calls[2].buffers = {1, 2};
  Placement p = plan::place_buffers(buffers, calls, true);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p.bytes, 240);
  EXPECT_TRUE(disjoint(p, buffers, 0, 2));
}

// Thousands of tensors of odd sizes, each alive for a while: too many for the exact searches, which
// end by their work and leave the best plan so far.
TEST(Placement, LargeGraphsTakeNoMoreWorkThanAllowed) {
  for (size_t count : {500, 2000}) {
    std::mt19937 random(1);
    std::vector<Buffer> buffers;
    std::vector<BufferUse> calls(count);
    for (size_t i = 0; i < count; ++i) {
      buffers.push_back(buffer(1 + static_cast<int64_t>(random() % 4000)));
      calls[i].buffers.push_back(static_cast<int>(i));
      calls[std::min(count - 1, i + 1 + random() % 100)].buffers.push_back(static_cast<int>(i));
    }
    Placement p = plan::place_buffers(buffers, calls, true);
    ASSERT_TRUE(p.ok()) << p.error;
    EXPECT_GE(p.bytes, p.lower_bound);
    EXPECT_LE(p.work, plan::kMaxWork + plan::kMaxWork / 4);
  }
}

// An operator that reads and writes byte by byte, in order.
ops::WriteOrder forward_order(int64_t bytes) {
  ops::WriteOrder order;
  for (int64_t b = 0; b < bytes; ++b) order.steps.push_back({b, b + 1, b, b + 1});
  return order;
}

TEST(Placement, TheFirstReaderMayWriteOverAnInputButNotOverOneThatIsAnOutput) {
  ops::WriteOrder order = forward_order(64);
  std::vector<Buffer> buffers = {buffer(64), buffer(64)};
  buffers[0].from_start = true;
  BufferUse use;
  use.buffers = {0, 1};
  use.overlaps = {{0, 1, &order}};
  Placement p = plan::place_buffers(buffers, {use}, true);
  ASSERT_TRUE(p.ok());
  EXPECT_LE(p.bytes, 65);
  EXPECT_LE(p.offsets[1] - p.offsets[0], 0);
  EXPECT_EQ(p.without_overlap, 128);
  buffers[0].to_end = true;
  EXPECT_EQ(plan::place_buffers(buffers, {use}, true).bytes, 128);
}

TEST(Placement, ASmallerResultTakesTheOperandsPlaceWhereThatLowersThePeak) {
  ops::WriteOrder order;
  order.in_place = true;
  std::vector<Buffer> buffers = {buffer(100), buffer(80), buffer(60), buffer(10)};
  std::vector<BufferUse> calls(3);
  calls[0].buffers = {0, 1};
  calls[0].overlaps = {{0, 1, &order}};
  calls[1].buffers = {1, 2};
  calls[1].overlaps = {{1, 2, &order}};
  calls[2].buffers = {2, 3};
  Placement p = plan::place_buffers(buffers, calls, true);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p.without_overlap, 180);
  EXPECT_EQ(p.bytes, 110);
  EXPECT_EQ(p.block[0], p.block[2]);
  // Where the operand's size would have to be kept beside something else, it is not.
  buffers = {buffer(100), buffer(10), buffer(95)};
  calls.resize(2);
  calls[0].buffers = {0, 1};
  calls[0].overlaps = {{0, 1, &order}};
  calls[1].buffers = {1, 2};
  calls[1].overlaps.clear();
  p = plan::place_buffers(buffers, calls, true);
  EXPECT_EQ(p.bytes, 110);
  EXPECT_NE(p.block[0], p.block[1]);
}

// A result that is written behind what is read keeps its distance, whichever way it goes.
TEST(Placement, ResultsKeepTheirDistanceFromWhatIsStillRead) {
  ops::WriteOrder order;  // 8 bytes from 16: the result begins 8 bytes below the operand
  for (int64_t b = 0; b < 64; b += 8) order.steps.push_back({b, std::min<int64_t>(b + 16, 64), b, b + 8});
  std::vector<Buffer> buffers = {buffer(64), buffer(64)};
  BufferUse use;
  use.buffers = {0, 1};
  use.overlaps = {{0, 1, &order}};
  Placement p = plan::place_buffers(buffers, {use}, true);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p.bytes, 72);
  EXPECT_EQ(p.offsets[0] - p.offsets[1], 8);
  order.steps.clear();  // every byte becomes two, from the end: the result begins a byte above
  for (int64_t b = 32; b-- > 0;) order.steps.push_back({b, b + 1, 2 * b, 2 * b + 2});
  buffers[0].bytes = 32;
  p = plan::place_buffers(buffers, {use}, true);
  EXPECT_EQ(p.bytes, 65);
  EXPECT_EQ(p.offsets[1] - p.offsets[0], 1);
}

TEST(Placement, BytesAreSharedOnlyWhereThatSavesSome) {
  ops::WriteOrder order = forward_order(64);
  order.in_place = true;
  std::vector<Buffer> buffers = {buffer(64), buffer(64), buffer(200)};
  std::vector<BufferUse> calls(2);
  calls[0].buffers = {0, 1};
  calls[0].overlaps = {{0, 1, &order}};
  calls[1].buffers = {2};
  Placement p = plan::place_buffers(buffers, calls, true);
  EXPECT_EQ(p.bytes, 200);
  EXPECT_NE(p.block[0], p.block[1]);
  EXPECT_TRUE(disjoint(p, buffers, 0, 1));
}

// More items than the packer looks for cliques in: the bound is that of the bytes alive.
// Of two that may share bytes the smaller one's may be saved, whatever else is alive: so many that no
// set of them is packed exactly.
TEST(Placement, WhatMayBeSharedLowersTheBoundByTheSmallerOne) {
  ops::WriteOrder order = forward_order(40);
  std::vector<Buffer> buffers = {buffer(100), buffer(40)};
  std::vector<BufferUse> calls(3);
  calls[1].buffers = {0, 1};
  calls[1].overlaps = {{0, 1, &order}};
  calls[0].buffers = {0};
  calls[2].buffers = {1};
  for (int i = 2; i < 20; ++i) {
    buffers.push_back(buffer(64));
    for (size_t c : {0, 2}) calls[c].buffers.push_back(i);
  }
  Placement p = plan::place_buffers(buffers, calls, true);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p.bytes, 100 + 18 * 64);
  EXPECT_EQ(p.lower_bound, p.bytes);
  EXPECT_TRUE(p.proven_optimal);
}

TEST(Placement, LongChainsAreProvenOptimal) {
  constexpr size_t kCount = 2100;
  for (bool inputs : {false, true}) {
    std::vector<Buffer> buffers(kCount, buffer(16));
    std::vector<BufferUse> calls(kCount - 1);
    for (size_t c = 0; c + 1 < kCount; ++c) calls[c].buffers = {static_cast<int>(c), static_cast<int>(c) + 1};
    if (inputs) {  // the second is overwritten by the first call, unread
      buffers[0].from_start = buffers[1].from_start = true;
      buffers.push_back(buffer(40));
      buffers.back().from_start = true;
    }
    Placement p = plan::place_buffers(buffers, calls, false);
    EXPECT_EQ(p.bytes, inputs ? 72 : 32);
    EXPECT_EQ(p.lower_bound, p.bytes);
    EXPECT_TRUE(p.proven_optimal);
  }
}

// The second operand must survive what is written in the place of the first.
TEST(Placement, InPlaceOfOneInputKeepsTheOther) {
  ops::WriteOrder first = forward_order(64), second = forward_order(64);
  first.in_place = second.in_place = true;
  std::vector<Buffer> buffers = {buffer(64), buffer(64), buffer(64)};
  buffers[0].from_start = buffers[1].from_start = true;
  BufferUse use;
  use.buffers = {0, 1, 2};
  use.overlaps = {{0, 2, &first}, {1, 2, &second}};
  Placement p = plan::place_buffers(buffers, {use}, true);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p.bytes, 128);
  EXPECT_TRUE(disjoint(p, buffers, 0, 1));
}

TEST(Placement, InPlaceIsOneBlock) {
  ops::WriteOrder order;
  order.in_place = true;
  std::vector<Buffer> buffers = {buffer(64), buffer(64), buffer(32)};
  buffers[0].from_start = true;
  buffers[1].to_end = true;
  buffers[1].alignment = 8;
  BufferUse use;
  use.buffers = {0, 1};
  use.scratch_bytes = 32;
  use.overlaps = {{0, 1, &order}};
  Placement p = plan::place_buffers(buffers, {use}, true);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p.block[0], p.block[1]);
  EXPECT_EQ(p.offsets[0], p.offsets[1]);
  EXPECT_EQ(p.offsets[0] % 8, 0);
  EXPECT_EQ(p.bytes, 96);
  EXPECT_TRUE(p.scratch_offsets[0] >= p.offsets[0] + 64 || p.scratch_offsets[0] + 32 <= p.offsets[0]);
}

TEST(Placement, OneOperandTwiceIsNotOverwritten) {
  ops::WriteOrder order = forward_order(64);
  std::vector<Buffer> buffers = {buffer(64), buffer(64)};
  BufferUse use;
  use.buffers = {0, 0, 1};
  use.overlaps = {{0, 1, &order}};
  EXPECT_EQ(plan::place_buffers(buffers, {use}, true).bytes, 128);
}

// ------------------------------------------------------------------------------------ the plan

graph::Graph read(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse(text, "test.air", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph.ok()) << diags.str();
  EXPECT_TRUE(ops::verify_graph(*graph, diags)) << diags.str();
  return std::move(*graph);
}

plan::Program planned(const std::string& text, Contract inputs, Contract outputs) {
  Diagnostics diags;
  plan::PlanOptions options;
  options.inputs = inputs;
  options.outputs = outputs;
  auto program = plan::plan_program(read(text), options, diags);
  EXPECT_TRUE(program.ok()) << diags.str();
  return std::move(*program);
}

std::vector<uint8_t> outputs_of(const plan::Program& p, const std::vector<uint8_t>& in) {
  Diagnostics diags;
  auto out = plan::run_program(p, {in}, diags);
  EXPECT_TRUE(out.ok()) << diags.str();
  std::vector<uint8_t> all;
  for (const auto& o : *out) all.insert(all.end(), o.begin(), o.end());
  return all;
}

std::vector<uint8_t> floats(std::initializer_list<float> values) {
  std::vector<uint8_t> out(values.size() * 4);
  std::memcpy(out.data(), std::data(values), out.size());
  return out;
}

// The same results for every contract; `expected` are all outputs, one behind the other.
void expect_outputs(const std::string& text, const std::vector<uint8_t>& in, const std::vector<uint8_t>& expected) {
  for (Contract i : {Contract::kPreserve, Contract::kOverwrite})
    for (Contract o : {Contract::kPreserve, Contract::kOverwrite})
      EXPECT_EQ(outputs_of(planned(text, i, o), in), expected) << text << static_cast<int>(i) << static_cast<int>(o);
}

const char* const kRelu = R"(graph "g" {
  input %0 "x" f32[1x4]
  %1 "y" f32[1x4] = relu(%0)
  output %1
})";

TEST(Contract, WhereInputsAndOutputsLie) {
  plan::Program p = planned(kRelu, Contract::kPreserve, Contract::kPreserve);
  EXPECT_EQ(p.arena_bytes, 0);
  EXPECT_EQ(p.inputs[0].kind, StorageKind::kInput);
  EXPECT_EQ(p.outputs[0].kind, StorageKind::kOutput);
  p = planned(kRelu, Contract::kOverwrite, Contract::kPreserve);
  EXPECT_EQ(p.arena_bytes, 16);
  EXPECT_EQ(p.inputs[0].kind, StorageKind::kArena);
  EXPECT_EQ(p.outputs[0].kind, StorageKind::kOutput);
  p = planned(kRelu, Contract::kOverwrite, Contract::kOverwrite);
  EXPECT_EQ(p.arena_bytes, 16);  // in place
  EXPECT_EQ(p.inputs[0], p.outputs[0]);
  expect_outputs(kRelu, floats({1, -2, 3, -4}), floats({1, 0, 3, 0}));
}

TEST(Contract, AnOutputThatIsAnInputIsCopied) {
  const char* text = R"(graph "g" {
  input %0 "x" f32[1x4]
  output %0
})";
  plan::Program p = planned(text, Contract::kOverwrite, Contract::kOverwrite);
  EXPECT_EQ(p.calls.size(), 1u);
  EXPECT_EQ(p.arena_bytes, 32);
  expect_outputs(text, floats({1, 2, 3, 4}), floats({1, 2, 3, 4}));
}

TEST(Contract, AViewOfAnInput) {
  const char* text = R"(graph "g" {
  input %0 "x" f32[1x4]
  %1 "v" f32[2x2] = reshape(%0) {shape = [2, 2]}
  %2 "y" f32[2x2] = relu(%1)
  output %1
  output %2
})";
  expect_outputs(text, floats({1, -2, 3, -4}), floats({1, -2, 3, -4, 1, 0, 3, 0}));
}

TEST(Contract, OutputsThatAreConstantOrListedTwice) {
  const char* text = R"(graph "g" {
  input %0 "x" f32[1x2]
  const %1 "c" f32[2] = [5, 6]
  %2 "y" f32[1x2] = relu(%0)
  %3 "z" f32[1x2] = relu(%2)
  output %1
  output %2
  output %2
  output %3
})";
  plan::Program p = planned(text, Contract::kOverwrite, Contract::kOverwrite);
  EXPECT_EQ(p.outputs[1], p.outputs[2]);
  EXPECT_NE(p.outputs[2], p.outputs[3]);
  expect_outputs(text, floats({-7, 8}), floats({5, 6, 0, 8, 0, 8, 0, 8}));
}

// Kernels read scratch by words, whatever lies before it.
TEST(Contract, ScratchIsAligned) {
  int scratch = 0;
  for (int width : {3, 5, 6}) {
    const std::string w = std::to_string(width);
    plan::Program p = planned(
        "graph \"g\" {\n  input %0 \"x\" i8[1x" + w + "x" + w + R"(x1] quant(0.5, 0)
  const %1 "w" i8[1x3x3x1] quant(0.25, 0) = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  %2 "a" i8[1x)" +
            w + "x" + w +
            "x1] quant(1, 0) = depthwise_conv_2d(%0, %1) {pad_top = 1, pad_bottom = 1, pad_left = 1, pad_right = 1}\n" +
            "  output %2\n}\n",
        Contract::kOverwrite, Contract::kOverwrite);
    for (const plan::ProgramCall& call : p.calls) {
      if (call.scratch_bytes == 0) continue;
      ++scratch;
      EXPECT_EQ(call.scratch_offset % 4, 0) << width;
    }
  }
  EXPECT_GT(scratch, 0);
}

// A schedule is asked for an operator of the graph itself; those of regions are counted anew.
TEST(Contract, SchedulesAreOfOutermostOperators) {
  graph::Graph g = read(R"(graph "g" {
  input %0 "x" i8[1x4x4x2] quant(0.5, 0)
  input %1 "c" bool[1]
  const %2 "w" i8[2x1x1x2] quant(0.25, 0) = [1, 2, 3, 4]
  %3 "y" i8[1x4x4x2] quant(1, 0) = conv_2d(%0, %2)
  %4 "r" i8[1x4x4x2] quant(1, 0) = if(%1, %3) region "then" {
    input %0 "x" i8[1x4x4x2] quant(1, 0)
    %1 "t" i8[1x4x4x2] quant(1, 0) = relu(%0)
    output %1
  } region "else" {
    input %0 "x" i8[1x4x4x2] quant(1, 0)
    output %0
  }
  output %4
})");
  g.ops[0].location.op_index = g.ops[1].regions[0].ops[0].location.op_index = 3;
  Diagnostics diags;
  auto plan = plan::plan_program(g, {}, diags);
  ASSERT_TRUE(plan) << diags.str();
  plan::PlanOptions options;
  options.schedules[3] = plan->calls[0].schedule;
  ASSERT_FALSE(options.schedules[3].algorithm.empty());
  EXPECT_TRUE(plan::plan_program(g, options, diags)) << diags.str();
}

// Two functions that are given in C are two, also where they take the same.
TEST(Contract, FunctionsOfOtherNamesAreOthers) {
  plan::Program p = planned(R"(graph "g" {
  input %0 "x" f32[4]
  %1 "a" f32[4] = external(%0) {symbol = "f", convention = plain}
  %2 "b" f32[4] = external(%1) {symbol = "g", convention = plain}
  %3 "c" f32[4] = external(%2) {symbol = "f", convention = plain}
  output %3
})",
                            Contract::kPreserve, Contract::kPreserve);
  ASSERT_EQ(p.calls.size(), 3u);
  EXPECT_NE(p.calls[0].function, p.calls[1].function);
  EXPECT_EQ(p.calls[0].function, p.calls[2].function);
}

}  // namespace
}  // namespace aotc
