// SPDX-License-Identifier: Apache-2.0
#include "ops/common/triple_gemm.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/gemm.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

int64_t round_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

// Whether the sums of every segment stay within their lanes, whatever the pixels.
bool lanes_hold(const std::vector<int8_t>& weights, int64_t channels, int64_t k, int64_t segment) {
  constexpr int64_t kLimit = int64_t{1} << (TripleGemm::kLane - 1);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t begin = 0; begin < k; begin += segment) {
      int64_t low = 0, high = 0;
      for (int64_t i = begin; i < std::min(k, begin + segment); ++i) {
        int64_t w = weights[static_cast<size_t>(c * k + i)];
        low += std::min(-128 * w, 127 * w);
        high += std::max(-128 * w, 127 * w);
      }
      if (low < -kLimit || high >= kLimit) return false;
    }
  return true;
}

// Instructions around a product: to requantise and store, to begin a tile, to close a loop.
constexpr int64_t kFinish = 12, kTileWork = 20, kLoop = 3;

}  // namespace

std::optional<TripleGemm> plan_triples(const std::vector<int8_t>& weights, int64_t channels, int64_t k,
                                       const TargetInfo& target) {
  if (target.triple_channels == 0) return std::nullopt;
  TripleGemm plan;
  plan.channels = std::min<int64_t>(target.triple_channels, channels);
  plan.channels = target.wish("channels", plan.channels, 1, std::min<int64_t>(8, channels));
  plan.unroll = std::min<int64_t>(target.triple_unroll, k);
  plan.unroll = target.wish("unroll", plan.unroll, 1, std::min<int64_t>(16, k));
  plan.fences = target.fence_steps;
  plan.k = k;
  for (int64_t n = 1;; ++n) {
    plan.segment = round_up((k + n - 1) / n, plan.unroll);
    plan.padded_k = round_up(k, plan.segment);
    if (lanes_hold(weights, channels, k, plan.segment)) return plan;
    if (plan.segment == plan.unroll) return std::nullopt;
  }
}

int64_t triple_cost(const TripleGemm& plan, int64_t pixels, int64_t channels, bool gathered, const TargetInfo& target) {
  int64_t c = plan.channels;
  int64_t step = TripleGemm::kWords + c + TripleGemm::kWords * c * target.multiply_add;
  int64_t split = plan.segments() == 1 ? 3 : 8 * plan.segments();
  int64_t tile = plan.padded_k * step + plan.padded_k / plan.unroll * kLoop + kTileWork +
                 TripleGemm::kPixels * c * (kFinish + split);
  int64_t fill = plan.k * (gathered ? 12 : 8);
  int64_t tiles = (pixels + TripleGemm::kPixels - 1) / TripleGemm::kPixels;
  return tiles * (fill + (channels + c - 1) / c * tile);
}

int64_t plain_cost(int64_t pixels, int64_t channels, int64_t k, bool gathered, const TargetInfo& target) {
  int64_t c = std::min<int64_t>(target.gemm_channels, channels);
  int64_t p = choose_pixels(pixels, target.gemm_pixels, c);
  int64_t tile =
      k * (p + c + p * c * target.multiply_add) + k / target.gemm_unroll * kLoop + kTileWork + p * c * kFinish;
  int64_t fill = gathered ? k * p * 3 / 2 : 0;
  return (pixels + p - 1) / p * (fill + (channels + c - 1) / c * tile);
}

std::vector<int8_t> pack_triple_weights(const TripleGemm& plan, const std::vector<int8_t>& weights, int64_t channels) {
  std::vector<int8_t> padded;
  padded.reserve(static_cast<size_t>(channels * plan.padded_k));
  for (int64_t c = 0; c < channels; ++c) {
    padded.insert(padded.end(), weights.begin() + c * plan.k, weights.begin() + (c + 1) * plan.k);
    padded.resize(static_cast<size_t>((c + 1) * plan.padded_k), 0);
  }
  return pack_weights(padded, channels, plan.padded_k, plan.channels);
}

void emit_triple(FunctionBuilder& f, const BufferPtr& panel, const Ex& to, const std::array<Ex, 3>& x) {
  Ex middle = f.let("x1", x[1]);
  f.store(panel, to, x[0] + middle * (1 << TripleGemm::kLane));
  f.store(panel, to + 1, x[2] + middle * (1 << (TripleGemm::kLane - TripleGemm::kRest)));
}

void emit_triple_padding(FunctionBuilder& f, const TripleGemm& plan, const BufferPtr& panel) {
  f.loop("i", plan.k * TripleGemm::kWords, plan.panel_words(), [&](Ex i) { f.store(panel, i, 0); });
}

TripleSums emit_triple_sums(FunctionBuilder& f, const TripleGemm& plan, const BufferPtr& panel,
                            const BufferPtr& weights, const Ex& weights_base, const Ex& begin) {
  TripleSums sums;
  for (int64_t c = 0; c < plan.channels; ++c)
    sums.push_back({f.var(fmt::format("a{}", c), 0), f.var(fmt::format("b{}", c), 0)});
  auto body = [&](Ex k) {
    for (int64_t u = 0; u < plan.unroll; ++u) {
      std::vector<Ex> w;
      for (int64_t c = 0; c < plan.channels; ++c)
        w.push_back(
            f.let(fmt::format("w{}", c), load(weights, weights_base + k * plan.channels + (u * plan.channels + c))));
      for (size_t word = 0; word < 2; ++word) {
        Ex x = f.let(word == 0 ? "xa" : "xb",
                     load(panel, k * TripleGemm::kWords + (u * TripleGemm::kWords + static_cast<int64_t>(word))));
        for (size_t c = 0; c < sums.size(); ++c) {
          Ex sum = add_wrapping(sums[c][word], mul_wrapping(x, w[c]));
          // Compilers else add the products of several steps first, which takes more registers.
          bool end_of_step = word == 1 && c + 1 == sums.size();
          auto order = plan.fences && end_of_step ? tir::Intrinsic::kFence : tir::Intrinsic::kKeep;
          bool last = u + 1 == plan.unroll;
          f.assign(sums[c][word], last ? sum : call(order, DType::kI32, {sum}));
        }
      }
    }
  };
  f.loop("k", begin, begin + plan.segment, body, plan.unroll);
  return sums;
}

std::array<Ex, 3> emit_split(FunctionBuilder& f, const std::array<Ex, 2>& sums) {
  constexpr int kLane = TripleGemm::kLane, kRest = TripleGemm::kRest;
  Ex s0 = f.let("s0", shl_wrapping(sums[0], kRest) >> kRest);
  Ex low = f.let("low", sub_wrapping(sums[0], s0));
  Ex b = f.let("b", sub_wrapping(sums[1], low >> kRest));
  Ex s2 = f.let("s2", shl_wrapping(b, kRest) >> kRest);
  Ex high = sub_wrapping(b, s2);
  Ex s1 = f.let("s1", (low >> kLane) + (high >> (kLane - kRest)));
  return {s0, s1, s2};
}

}  // namespace aotc::ops
