// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/window_sums.h"

#include <array>

#include <fmt/format.h>

#include "ops/common/conv.h"

namespace aotc::cores::arm {

using tir::Ex;

namespace {

constexpr int64_t kSummedSteps = 128;  // 256 values of -128 and more are a halfword

}  // namespace

PairOrder window_steps(int64_t rows, int64_t row_elements, int64_t lanes) {
  PairOrder order;
  const int64_t words = row_elements / lanes;
  std::vector<int> rest;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < words; ++i) {
      const int at = static_cast<int>(row * row_elements + lanes * i);
      order.push_back({at, at + static_cast<int>(lanes) / 2});
      if (lanes == 4) order.push_back({at + 1, at + 3});
    }
    for (int64_t i = words * lanes; i < row_elements; ++i) rest.push_back(static_cast<int>(row * row_elements + i));
  }
  if (rest.size() % 2 == 1) rest.push_back(-1);
  for (size_t i = 0; i < rest.size(); i += 2) order.push_back({rest[i], rest[i + 1]});
  return order;
}

std::optional<SummedWeights> weights_with_sums(const ops::OpView& op, int64_t channels, int64_t k, PairOrder& order) {
  ops::StoredWeights stored(op);
  if (stored.correction == 0) return SummedWeights{std::move(stored.values), k};
  if (stored.correction > 127) return std::nullopt;
  const int64_t parts = (static_cast<int64_t>(order.size()) + kSummedSteps - 1) / kSummedSteps;
  SummedWeights out{{}, k + parts};
  for (int64_t c = 0; c < channels; ++c) {
    auto first = stored.values.begin() + c * k;
    out.weights.insert(out.weights.end(), first, first + k);
    out.weights.insert(out.weights.end(), static_cast<size_t>(parts), static_cast<int8_t>(stored.correction));
  }
  for (int64_t at = k; at < out.k; at += 2, ++out.steps)
    order.push_back({static_cast<int>(at), at + 1 < out.k ? static_cast<int>(at + 1) : -1});
  return out;
}

void emit_window_sums(tir::FunctionBuilder& f, const WindowPanel& window) {
  if (window.sum_steps == 0) return;
  f.loop("e", 0, window.sum_steps, [&](Ex e) {
    std::array<std::vector<Ex>, 2> halves;
    for (int64_t half = 0; half < 2; ++half) {
      Ex begin = f.let("begin", min((e * 2 + half) * kSummedSteps, Ex(window.steps)));
      Ex end = f.let("end", min(begin + kSummedSteps, Ex(window.steps)));
      std::vector<Ex>& sums = halves[static_cast<size_t>(half)];
      for (int64_t p = 0; p < window.pixels; ++p) sums.push_back(f.var(fmt::format("sum{}", p), 0));
      f.loop("s", begin, end, [&](Ex s) {
        for (int64_t p = 0; p < window.pixels; ++p) {
          const Ex& sum = sums[static_cast<size_t>(p)];
          Ex x = f.let("x", load(window.panel, s * window.pixels + p));
          f.assign(sum, dot_words(sum, x, Ex(0x10001)));
        }
      });
    }
    for (int64_t p = 0; p < window.pixels; ++p) {
      auto at = static_cast<size_t>(p);
      f.store(window.panel, (e + window.steps) * window.pixels + p, pair_word(halves[0][at], halves[1][at]));
    }
  });
}

}  // namespace aotc::cores::arm
