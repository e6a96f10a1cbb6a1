// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 fully_connected whose weights several operators read, as in unrolled networks,
// for cores with the DSP extension: the other kernels have biases and multipliers among the
// weights, so that each operator has its own. Here the row is widened, less its zero point, and the
// kernel of halves (cores/arm/dsp/gemm16.h) makes sums for eight units at a time; the table of
// weights is the same for all.
#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/dsp/gemm16.h"
#include "cores/arm/dsp/lowerings.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int kLeastReaders = 3;

// Biases for sums over inputs less their zero point.
std::vector<int32_t> biases_of_differences(const OpView& op, const std::vector<int8_t>& weights, int64_t depth,
                                           const std::vector<int32_t>& folded) {
  std::vector<int32_t> out;
  for (size_t u = 0; u < folded.size(); ++u) {
    int64_t sum = 0;
    for (int64_t i = 0; i < depth; ++i) sum += weights[u * static_cast<size_t>(depth) + static_cast<size_t>(i)];
    out.push_back(static_cast<int32_t>(folded[u] + op.operand(0).zero_point() * sum));
  }
  return out;
}

}  // namespace

bool shares_weights(const OpView& op) {
  const uint8_t* weights = op.constant(1)->bytes.data();
  return std::count_if(op.graph.ops.begin(), op.graph.ops.end(), [&](const graph::Op& other) {
           return other.definition == op.op.definition && op.graph.is_constant(other.operands[1]) &&
                  op.graph[other.operands[1]].constant->bytes.data() == weights;
         }) >= kLeastReaders;
}

std::optional<Lowered> lower_fully_connected_shared(const OpView& op, const TargetInfo& target) {
  constexpr int64_t kGroup = HalvesGemm::kGemvChannels;
  const int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  const int64_t rows = op.operand(0).elements() / depth, steps = depth / 2;
  if (units < kGroup || depth % 2 != 0 || op.operand(1).zero_point() != 0) return std::nullopt;
  const std::vector<int8_t> w = op.constant(1)->to_vector<int8_t>();
  auto [folded, scaling] = folded_scaling(op, w);
  const std::vector<int64_t> groups = tile_starts(units, kGroup);
  const std::vector<int32_t> words =
      halves_vector_stream(w, depth, groups, std::vector<int32_t>(static_cast<size_t>(units), 0));

  LoweringBuilder f(op, "fully_connected");
  BufferPtr in = f.operand(0);
  BufferPtr stream = f.constant("stream", DType::kI32, words);
  BufferPtr shape = f.constant("shape", DType::kI32, halves_vector_shape(steps, 1));
  BufferPtr bias = f.constant("bias", DType::kI32, biases_of_differences(op, w, depth, folded.bias));
  Requantizer requantizer(f, scaling);
  // From a table, so that operators with scales of their own are one function.
  const auto zero_point = static_cast<int16_t>(op.operand(0).zero_point());
  BufferPtr zero_table = f.constant<int16_t>("zero", DType::kI16, {zero_point}, 2);
  BufferPtr panel = f.scratch("panel", DType::kI16, depth, 4);
  BufferPtr out = f.result(0);
  BufferPtr sums = f.local("sums", DType::kI32, kGroup);
  requantizer.begin(f);
  Ex zero = f.let("zero", load(zero_table, Ex(0)));
  const auto group_words = static_cast<int64_t>(words.size() / groups.size());
  f.loop("r", 0, rows, [&](Ex r) {
    f.loop("i", 0, depth, [&](Ex i) { f.store(panel, i, load(in, r * depth + i) - zero); });
    f.loop("g", 0, static_cast<int64_t>(groups.size()), [&](Ex g) {
      // Units that are left are made again with the ones before them.
      Ex first = f.let("first", units % kGroup == 0 ? g * kGroup : min(g * kGroup, Ex(units - kGroup)));
      f.run(gemv_halves_kernel(),
            {address(stream, g * group_words), address(panel, 0), address(sums, 0), address(shape, 0)});
      f.loop("u", 0, kGroup, [&](Ex u) {
        Ex unit = f.let("unit", first + u);
        Ex sum = f.let("sum", add_wrapping(load(sums, u), load(bias, unit)));
        f.store(out, r * units + unit, requantizer.emit(f, sum, unit));
      });
    });
  });
  publish_batches(f, op, rows);
  const Work scale{.load = 4, .store = 1, .alu = 10, .high = 1, .branch = 1};
  const Work widen{.load = 1, .store = 1, .alu = 2, .branch = 1};
  const Work work = (halves_vector_work(steps, static_cast<int64_t>(groups.size())) +
                     scale * static_cast<double>(units) + widen * static_cast<double>(depth)) *
                    static_cast<double>(rows);
  f.algorithm("halves");
  f.estimate(work, target);
  return f.finish(fmt::format("{} steps, {}", steps, requantizer.form()));
}

}  // namespace aotc::cores::arm
