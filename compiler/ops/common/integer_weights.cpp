// SPDX-License-Identifier: Apache-2.0
#include "ops/common/integer_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "ops/common/price.h"
#include "ops/operator.h"

namespace aotc::ops {

namespace {

bool is_product(float weight, float scale, float whole) {
  return std::bit_cast<uint32_t>(whole * scale) == std::bit_cast<uint32_t>(weight);
}

// Appends the integers of one channel with this scale. False if a weight has none.
bool append_with_scale(std::span<const float> weights, float scale, std::vector<int8_t>& out) {
  const size_t before = out.size();
  for (float w : weights) {
    // The sum with 0 makes 0 of -0, whose product would have a sign.
    const float whole = std::nearbyint(w / scale) + 0.0f;
    if (!(whole >= -128 && whole <= 127) || !is_product(w, scale, whole)) {
      out.resize(before);
      return false;
    }
    out.push_back(static_cast<int8_t>(whole));
  }
  return true;
}

// The scale with which the integers are smallest; nullopt if there is none.
std::optional<float> append_channel(std::span<const float> weights, std::vector<int8_t>& out) {
  constexpr float kMost = 1e30f;  // NaN fails below, because it is no product
  float most = 0;
  for (float w : weights) most = std::max(most, std::fabs(w));
  if (most > kMost) return std::nullopt;
  if (most == 0) return append_with_scale(weights, 1.0f, out) ? std::optional(1.0f) : std::nullopt;
  for (int whole = 1; whole <= 128; ++whole) {
    const float quotient = most / static_cast<float>(whole);
    // The product is rounded, so several scales may give it.
    for (float scale = std::nextafter(quotient, 0.0f); scale <= quotient * (1 + 0x1p-22f);
         scale = std::nextafter(scale, std::numeric_limits<float>::max())) {
      if (scale >= std::numeric_limits<float>::min() && is_product(most, scale, static_cast<float>(whole)) &&
          append_with_scale(weights, scale, out))
        return scale;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<IntegerWeights> integer_weights(const std::vector<float>& weights, int64_t channels) {
  IntegerWeights out;
  const size_t k = weights.size() / static_cast<size_t>(channels);
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const auto scale = append_channel(std::span(weights).subspan(c * k, k), out.values);
    if (!scale) return std::nullopt;
    out.scales.push_back(*scale);
  }
  out.nibbles = std::all_of(out.values.begin(), out.values.end(), [](int8_t v) { return v >= -8 && v <= 7; });
  return out;
}

std::optional<IntegerWeights> stored_as_integers(const OpView& op, const std::vector<float>& weights, int64_t channels,
                                                 int64_t reads, const TargetInfo& target) {
  constexpr size_t kLeast = 64;  // fewer are not worth the code
  if (weights.size() < kLeast || op.graph.open_constants) return std::nullopt;
  // A conversion and a product, which are functions without an FPU.
  const double each = target.fpu ? 3 : 80, count = static_cast<double>(weights.size());
  if (target.level != Level::kSize && is_worth_flash(target, each * static_cast<double>(reads) * count, 3 * count))
    return std::nullopt;
  return integer_weights(weights, channels);
}

}  // namespace aotc::ops
