// SPDX-License-Identifier: Apache-2.0
#include "ops/common/quad_gemv.h"

#include <algorithm>
#include <cstdlib>

#include "ops/common/gemm.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

constexpr int64_t kMostDepth = 1 << 15, kLeastGroup = 4, kMostGroup = 16;

struct Sums {
  int64_t low = 0, high = 0;
  void add(int64_t w) {
    low += std::min(-128 * w, 127 * w);
    high += std::max(-128 * w, 127 * w);
  }
  bool fit() const { return low >= INT16_MIN && high <= INT16_MAX; }
};

// Cuts weights of one unit's group until its sums fit.
void cut_group(QuadGemv& plan, int64_t unit, int64_t begin, int64_t end) {
  int8_t* w = plan.weights.data() + unit * plan.depth;
  for (;;) {
    Sums sums;
    for (int64_t k = begin; k < end; ++k) sums.add(w[k]);
    if (sums.fit()) return;
    int64_t largest = begin;
    for (int64_t k = begin; k < end; ++k)
      if (std::abs(w[k]) > std::abs(w[largest])) largest = k;
    // -128 has no counterpart: its rest stays within int8 too.
    plan.rests.push_back({unit, largest, w[largest]});
    w[largest] = 0;
  }
}

QuadGemv cut(const std::vector<int8_t>& weights, int64_t units, int64_t depth, int64_t group) {
  QuadGemv plan;
  plan.depth = depth;
  plan.group = group;
  plan.weights = weights;
  for (int64_t u = 0; u < units; ++u)
    for (int64_t k = 0; k < depth; k += group) cut_group(plan, u, k, k + group);
  return plan;
}

// Around the products of a tile: to begin and to finish four units.
constexpr int64_t kTile = 70;

}  // namespace

std::optional<QuadGemv> plan_quads(const std::vector<int8_t>& weights, int64_t units, int64_t depth,
                                   const TargetInfo& target) {
  if (units < QuadGemv::kUnits || depth > kMostDepth) return std::nullopt;
  std::optional<QuadGemv> best;
  for (int64_t group = std::min(kMostGroup, depth); group >= kLeastGroup; --group) {
    if (depth % group != 0 || target.wish("group", group, kLeastGroup, kMostGroup) != group) continue;
    QuadGemv plan = cut(weights, units, depth, group);
    if (!best || quad_cost(plan, units, target) < quad_cost(*best, units, target)) best = std::move(plan);
  }
  return best;
}

int64_t quad_cost(const QuadGemv& plan, int64_t units, const TargetInfo& target) {
  constexpr int64_t kFlush = 14, kRest = 8, kUnit = 5, kStart = 4;
  int64_t tile = plan.depth * (4 + 2 * target.multiply_add) + plan.groups() * kFlush + kTile;
  auto rests = static_cast<int64_t>(plan.rests.size());
  return plan.depth * kStart + plan.groups() * kFlush + (rests > 0 ? rests * kRest + units * kUnit : 0) +
         (units + QuadGemv::kUnits - 1) / QuadGemv::kUnits * tile;
}

int64_t plain_row_cost(int64_t units, int64_t depth, const TargetInfo& target) {
  int64_t c = std::min(QuadGemv::kUnits, units);
  return (units + c - 1) / c * (depth * (1 + c + c * target.multiply_add) + depth * 3 / 4 + kTile);
}

int32_t quad_word(const QuadGemv& plan, int64_t unit, int64_t k) {
  uint32_t word = 0;
  for (int64_t j = 0; j < QuadGemv::kUnits; ++j) {
    const int byte = plan.weights[static_cast<size_t>((unit + j) * plan.depth + k)] + (j < 3 ? 128 : 0);
    word |= (static_cast<uint32_t>(byte) & 0xFF) << (8 * j);
  }
  return static_cast<int32_t>(word);
}

std::vector<int32_t> quad_words(const QuadGemv& plan, int64_t units) {
  std::vector<int32_t> out;
  for (int64_t u : tile_starts(units, QuadGemv::kUnits))
    for (int64_t k = 0; k < plan.depth; ++k) out.push_back(quad_word(plan, u, k));
  return out;
}

int64_t quad_scratch_words(const QuadGemv& plan) { return 2 * plan.groups(); }

namespace {

QuadRests make_quad_rests(LoweringBuilder& f, const QuadGemv& plan, int64_t units) {
  QuadRests out;
  if (plan.rests.empty()) return out;
  std::vector<uint16_t> begin(static_cast<size_t>(units + 1)), at;
  std::vector<int8_t> value;
  for (const QuadGemv::Rest& r : plan.rests) {
    at.push_back(static_cast<uint16_t>(r.k));
    value.push_back(r.weight);
    for (int64_t u = r.unit + 1; u <= units; ++u) ++begin[static_cast<size_t>(u)];
  }
  out.begin = f.constant("rest_begin", DType::kU16, begin, 2);
  out.at = f.constant("rest_at", DType::kU16, at, 2);
  out.value = f.constant("rest_value", DType::kI8, value, 1);
  return out;
}

}  // namespace

QuadBuffers make_quad_buffers(LoweringBuilder& f, const QuadGemv& plan, int64_t units,
                              const std::vector<int32_t>& bias) {
  QuadBuffers out;
  out.words = f.constant("weights", DType::kI32, quad_words(plan, units));
  out.bias = f.constant("bias", DType::kI32, bias);
  out.starts = f.scratch("starts", DType::kI32, quad_scratch_words(plan), 4);
  out.rests = make_quad_rests(f, plan, units);
  return out;
}

void emit_quad_starts(FunctionBuilder& f, const QuadGemv& plan, const BufferPtr& starts, const BufferPtr& x,
                      const Ex& row) {
  f.loop("g", 0, plan.groups(), [&](Ex g) {
    Ex begin = f.let("begin", row + g * plan.group);
    Ex sum = load(x, begin);
    for (int64_t k = 1; k < plan.group; ++k) sum = sum + load(x, begin + k);
    Ex less = f.let("less", sum * 128);
    f.store(starts, g * 2, sub_wrapping(QuadGemv::kHalfWord, mul_wrapping(less, 0x10001)));
    f.store(starts, g * 2 + 1, sub_wrapping(QuadGemv::kHalfWord, mul_wrapping(less, 0x101)));
  });
}

namespace {

// The products of the group that begins at step `begin`, into sums 0 and 2 and sums 1, 2 and 3.
void emit_group(FunctionBuilder& f, const QuadGemv& plan, const QuadBuffers& buffers, const BufferPtr& x, const Ex& row,
                const Ex& base, const Ex& begin, const Ex& even, const Ex& odd) {
  for (int64_t k = 0; k < plan.group; ++k) {
    Ex w = f.let("w", load(buffers.words, base + begin + k));
    Ex v = f.let("x", load(x, row + begin + k));
    auto add = [&](const Ex& sum, const Ex& weights, tir::Intrinsic order) {
      f.assign(sum, call(order, DType::kI32, {add_wrapping(sum, mul_wrapping(v, weights))}));
    };
    add(even, w & 0x00FF00FF, tir::Intrinsic::kKeep);
    add(odd, w >> 8, tir::Intrinsic::kFence);
  }
}

void emit_quad_rests(FunctionBuilder& f, const QuadRests& rests, const BufferPtr& x, const Ex& row, const Ex& unit,
                     const Ex& acc) {
  f.loop("rest", load(rests.begin, unit), f.let("end", load(rests.begin, unit + 1)), [&](Ex i) {
    Ex at = load(rests.at, i);
    f.assign(acc, acc + load(x, row + at) * load(rests.value, i));
  });
}

}  // namespace

std::vector<Ex> emit_quad_tile(FunctionBuilder& f, const QuadGemv& plan, const QuadBuffers& buffers, const BufferPtr& x,
                               const Ex& row, const Ex& base, const Ex& unit) {
  auto bias = [&](int64_t c) { return load(buffers.bias, unit + c); };
  Ex halves(plan.groups() * QuadGemv::kHalfWord);  // what the groups' starts add to sums 0 and 1
  std::vector<Ex> total{f.var("total0", sub_wrapping(bias(0), halves)), f.var("total1", sub_wrapping(bias(1), halves)),
                        f.var("total2", 0), f.var("total3", 0)};
  f.loop("g", 0, plan.groups(), [&](Ex g) {
    Ex even = f.var("even", load(buffers.starts, g * 2));
    Ex odd = f.var("odd", load(buffers.starts, g * 2 + 1));
    emit_group(f, plan, buffers, x, row, base, f.let("begin", g * plan.group), even, odd);
    Ex sum2 = f.let("sum2", even >> 16);
    Ex odds = f.let("odds", sub_wrapping(odd, shl_wrapping(sum2, 8)));
    f.assign(total[0], add_wrapping(total[0], even));
    f.assign(total[1], add_wrapping(total[1], odds));
    f.assign(total[2], total[2] + sum2);
    f.assign(total[3], total[3] + (odds >> 16));
  });
  // The halves above are still in sums 0 and 1.
  std::vector<Ex> acc{f.var("acc0", sub_wrapping(total[0], shl_wrapping(total[2], 16))),
                      f.var("acc1", sub_wrapping(total[1], shl_wrapping(total[3], 16))),
                      f.var("acc2", total[2] + bias(2)), f.var("acc3", total[3] + bias(3))};
  if (buffers.rests.begin)
    for (int64_t c = 0; c < QuadGemv::kUnits; ++c)
      emit_quad_rests(f, buffers.rests, x, row, unit + c, acc[static_cast<size_t>(c)]);
  return acc;
}

}  // namespace aotc::ops
