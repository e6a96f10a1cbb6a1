// SPDX-License-Identifier: Apache-2.0
// Several products from one multiply: the emitted code, run by the interpreter, against plain sums,
// for weights and inputs that fill the lanes to their ends.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "ops/common/gemm.h"
#include "ops/common/quad_gemv.h"
#include "ops/common/triple_gemm.h"
#include "ops/operator.h"

namespace aotc::ops {
namespace {

using tir::BufferPtr;
using tir::Ex;

template <typename T>
tir::Memory memory_of(std::vector<T>& v) {
  return {reinterpret_cast<uint8_t*>(v.data()), static_cast<int64_t>(v.size() * sizeof(T))};
}

int64_t dot(const std::vector<int8_t>& x, int64_t x_at, const std::vector<int8_t>& w, int64_t w_at, int64_t begin,
            int64_t end) {
  int64_t sum = 0;
  for (int64_t i = begin; i < end; ++i)
    sum += int64_t{x[static_cast<size_t>(x_at + i)]} * w[static_cast<size_t>(w_at + i)];
  return sum;
}

// Inputs that make a sum with `w` as small or as large as it can be, or anything.
std::vector<std::vector<int8_t>> inputs_for(const std::vector<int8_t>& w, std::mt19937& random) {
  std::vector<std::vector<int8_t>> out(3);
  for (int8_t v : w) {
    out[0].push_back(v > 0 ? -128 : 127);
    out[1].push_back(v > 0 ? 127 : -128);
    out[2].push_back(static_cast<int8_t>(random()));
  }
  return out;
}

TargetInfo packing_target(int channels, int unroll, bool fences) {
  TargetInfo target;
  target.triple_channels = channels;
  target.triple_unroll = unroll;
  target.fence_steps = fences;
  target.quad_units = true;
  target.multiply_add = 2;
  return target;
}

// The sums of one tile of channels over three pixels, segment by segment: [segment][c][pixel].
std::vector<int32_t> run_triples(const TripleGemm& plan, std::vector<int8_t> weights, std::vector<int8_t> x) {
  tir::FunctionBuilder f("triples");
  BufferPtr in = f.input("x", DType::kI8, 3 * plan.k);
  BufferPtr packed = f.constant("w", DType::kI8, plan.channels * plan.padded_k);
  BufferPtr panel = f.scratch("panel", DType::kI32, plan.panel_words());
  int64_t per_segment = 3 * plan.channels;
  BufferPtr out = f.output("out", DType::kI32, plan.segments() * per_segment);
  emit_triple_padding(f, plan, panel);
  f.loop("k", 0, plan.k,
         [&](Ex k) { emit_triple(f, panel, k * 2, {load(in, k), load(in, k + plan.k), load(in, k + 2 * plan.k)}); });
  for (int64_t s = 0; s < plan.segments(); ++s) {
    TripleSums sums = emit_triple_sums(f, plan, panel, packed, 0, s * plan.segment);
    for (int64_t c = 0; c < plan.channels; ++c) {
      std::array<Ex, 3> split = emit_split(f, sums[static_cast<size_t>(c)]);
      for (int64_t p = 0; p < 3; ++p) f.store(out, s * per_segment + c * 3 + p, split[static_cast<size_t>(p)]);
    }
  }
  tir::FunctionPtr made = f.finish();
  std::vector<int8_t> w = pack_triple_weights(plan, weights, plan.channels);
  std::vector<int32_t> scratch(static_cast<size_t>(plan.panel_words()));
  std::vector<int32_t> result(static_cast<size_t>(plan.segments() * per_segment));
  Diagnostics diags;
  EXPECT_TRUE(tir::verify(*made, diags)) << diags.str();
  EXPECT_TRUE(tir::interpret(*made, {memory_of(x), memory_of(w), memory_of(scratch), memory_of(result)}, diags))
      << diags.str();
  return result;
}

void check_triples(const std::vector<int8_t>& weights, int64_t channels, int64_t k, const TargetInfo& target,
                   std::mt19937& random) {
  auto plan = plan_triples(weights, channels, k, target);
  ASSERT_TRUE(plan);
  // Pixels that drive channel 0's sums to their ends, in every order.
  auto ends = inputs_for({weights.begin(), weights.begin() + k}, random);
  std::vector<size_t> order{0, 1, 2};
  do {
    std::vector<int8_t> x;
    for (size_t p : order) x.insert(x.end(), ends[p].begin(), ends[p].end());
    std::vector<int32_t> got = run_triples(*plan, weights, x);
    size_t at = 0;
    for (int64_t s = 0; s < plan->segments(); ++s)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t p = 0; p < 3; ++p)
          ASSERT_EQ(got[at++], dot(x, p * k, weights, c * k, s * plan->segment, std::min(k, (s + 1) * plan->segment)))
              << "segment " << s << " channel " << c << " pixel " << p;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Triples, SumsAreExactUpToTheEndsOfTheirLanes) {
  std::mt19937 random(1);
  for (int64_t k : {1, 3, 8, 27, 64, 130, 300}) {
    int64_t channels = std::min<int64_t>(4, k);
    std::vector<int8_t> any(static_cast<size_t>(channels * k));
    for (int8_t& v : any) v = static_cast<int8_t>(random() % 255 - 127);
    check_triples(any, channels, k, packing_target(4, 4, false), random);
    check_triples(any, channels, k, packing_target(4, 2, true), random);
    check_triples(std::vector<int8_t>(any.size(), 127), channels, k, packing_target(4, 4, false), random);
    check_triples(std::vector<int8_t>(any.size(), -128), channels, k, packing_target(4, 1, true), random);
  }
}

TEST(Triples, SegmentsAreAsLongAsTheWeightsAllow) {
  auto segments = [](int8_t weight, int64_t k) {
    auto plan = plan_triples(std::vector<int8_t>(static_cast<size_t>(k), weight), 1, k, packing_target(1, 1, false));
    return plan ? plan->segments() : 0;
  };
  // 128 * 127 * 64 < 2^20 <= 128 * 127 * 65; sums may reach -2^20 but not 2^20.
  EXPECT_EQ(segments(127, 64), 1);
  EXPECT_EQ(segments(127, 65), 2);
  EXPECT_EQ(segments(-128, 63), 1);
  EXPECT_EQ(segments(-128, 64), 2);
  EXPECT_EQ(segments(1, 8192), 1);
  EXPECT_EQ(segments(1, 8193), 2);
}

TEST(Triples, NothingForTargetsThatDoWithout) {
  EXPECT_FALSE(plan_triples(std::vector<int8_t>(8, 1), 1, 8, packing_target(0, 4, false)));
}

// An operator with one int8 row in and int32 results out, for what needs one.
struct Row {
  graph::Graph graph;
  Row(int64_t depth, int64_t units) {
    graph::Op op;
    op.definition = operators().find("cast");
    op.operands = {add(DType::kI8, depth)};
    op.results = {add(DType::kI32, units)};
    graph.ops.push_back(op);
  }
  graph::TensorId add(DType type, int64_t n) {
    graph::Tensor tensor;
    tensor.name = "t";
    tensor.type = {type, {1, n}, {}};
    return graph.add_tensor(std::move(tensor));
  }
};

std::vector<int32_t> run_quads(const QuadGemv& plan, int64_t units, const std::vector<int32_t>& bias,
                               std::vector<int8_t> x) {
  Row row(plan.depth, units);
  OpView view{row.graph, row.graph.ops[0]};
  LoweringBuilder f(view, "quads");
  BufferPtr in = f.operand(0);
  QuadBuffers buffers = make_quad_buffers(f, plan, units, bias);
  BufferPtr out = f.result();
  emit_quad_starts(f, plan, buffers.starts, in, 0);
  std::vector<int64_t> starts = tile_starts(units, 4);
  for (size_t tile = 0; tile < starts.size(); ++tile) {
    std::vector<Ex> acc =
        emit_quad_tile(f, plan, buffers, in, 0, Ex(static_cast<int64_t>(tile) * plan.depth), Ex(starts[tile]));
    for (int64_t c = 0; c < 4; ++c) f.store(out, starts[tile] + c, acc[static_cast<size_t>(c)]);
  }
  Lowered lowered = f.finish();
  std::vector<int32_t> result(static_cast<size_t>(units));
  std::vector<uint8_t> scratch(static_cast<size_t>(lowered.scratch_bytes));
  std::vector<tir::Memory> memory;
  for (const Arg& arg : lowered.args) {
    auto& bytes = arg.kind == ArgKind::kConstant ? lowered.constants[static_cast<size_t>(arg.index)].bytes : scratch;
    memory.push_back(arg.kind == ArgKind::kOperand  ? memory_of(x)
                     : arg.kind == ArgKind::kResult ? memory_of(result)
                                                    : memory_of(bytes));
  }
  Diagnostics diags;
  EXPECT_TRUE(tir::verify(*lowered.function, diags)) << diags.str();
  EXPECT_TRUE(tir::interpret(*lowered.function, memory, diags)) << diags.str();
  return result;
}

void check_quads(const std::vector<int8_t>& weights, int64_t units, int64_t depth, std::mt19937& random) {
  auto plan = plan_quads(weights, units, depth, packing_target(4, 4, false));
  ASSERT_TRUE(plan);
  std::vector<int32_t> bias;
  for (int64_t u = 0; u < units; ++u) bias.push_back(static_cast<int32_t>(random() % 2000000) - 1000000);
  for (int64_t driven = 0; driven < std::min<int64_t>(units, 5); ++driven) {
    auto begin = weights.begin() + driven * depth;
    for (const std::vector<int8_t>& x : inputs_for({begin, begin + depth}, random)) {
      std::vector<int32_t> got = run_quads(*plan, units, bias, x);
      for (int64_t u = 0; u < units; ++u)
        ASSERT_EQ(got[static_cast<size_t>(u)], bias[static_cast<size_t>(u)] + dot(x, 0, weights, u * depth, 0, depth))
            << "unit " << u << " of " << units << ", depth " << depth << ", group " << plan->group;
    }
  }
}

TEST(Quads, SumsAreExactWithAndWithoutCutWeights) {
  std::mt19937 random(2);
  for (int64_t units : {4, 5, 8, 11})
    for (int64_t depth : {4, 8, 40, 128}) {
      std::vector<int8_t> small(static_cast<size_t>(units * depth)), any(small.size());
      for (int8_t& v : small) v = static_cast<int8_t>(random() % 15 - 7);
      for (int8_t& v : any) v = static_cast<int8_t>(random() % 255 - 127);
      check_quads(small, units, depth, random);
      check_quads(any, units, depth, random);
      check_quads(std::vector<int8_t>(any.size(), 127), units, depth, random);
      check_quads(std::vector<int8_t>(any.size(), -128), units, depth, random);
    }
}

TEST(Quads, CutsOnlyWhatDoesNotFit) {
  TargetInfo target = packing_target(4, 4, false);
  Schedule schedule{"quads", {{"group", 8}}, ""};
  target.asked = &schedule;
  // 8 * 32 * 128 is the least that 16 bits hold; 33 in the place of one 32 is too much.
  EXPECT_TRUE(plan_quads(std::vector<int8_t>(4 * 8, 32), 4, 8, target)->rests.empty());
  std::vector<int8_t> large(4 * 8, 32);
  large[8 + 5] = 33;
  auto plan = plan_quads(large, 4, 8, target);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->group, 8);
  ASSERT_EQ(plan->rests.size(), 1u);
  EXPECT_EQ(plan->rests[0].unit, 1);
  EXPECT_EQ(plan->rests[0].k, 5);
  EXPECT_EQ(plan->rests[0].weight, 33);
}

TEST(Quads, NothingForFewUnitsOrDepthsWithoutAGroup) {
  TargetInfo target = packing_target(4, 4, false);
  EXPECT_FALSE(plan_quads(std::vector<int8_t>(3 * 8, 1), 3, 8, target));
  EXPECT_FALSE(plan_quads(std::vector<int8_t>(4 * 37, 1), 4, 37, target));
}

TEST(Order, KeepAndFenceGiveTheirOperand) {
  tir::FunctionBuilder f("order");
  BufferPtr in = f.input("x", DType::kI32, 1), out = f.output("y", DType::kI32, 2);
  f.store(out, 0, call(tir::Intrinsic::kKeep, DType::kI32, {load(in, 0)}));
  f.store(out, 1, call(tir::Intrinsic::kFence, DType::kI32, {load(in, 0)}));
  tir::FunctionPtr made = f.finish();
  for (int32_t v : {INT32_MIN, -1, 0, 7, INT32_MAX}) {
    std::vector<int32_t> x{v}, y(2);
    Diagnostics diags;
    ASSERT_TRUE(tir::interpret(*made, {memory_of(x), memory_of(y)}, diags)) << diags.str();
    EXPECT_EQ(y, (std::vector<int32_t>{v, v}));
  }
}

}  // namespace
}  // namespace aotc::ops
