// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/constant_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/common/wide_requantize.h"

namespace aotc::frontends::onnx {

int64_t ScaledWeights::stride(int64_t at) const {
  int64_t out = 1;
  for (size_t d = static_cast<size_t>(at) + 1; d < shape.size(); ++d) out *= shape[d];
  return out;
}

Ints ScaledWeights::scale_of_elements() const {
  if (scales.size() == 1) return Ints(integers.size(), 0);
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) return {};
  const auto d = static_cast<size_t>(axis);
  const int64_t inner = stride(axis), length = shape[d];
  graph::Shape of = {length};
  if (block > 0) of = shape, of[d] = (length - 1) / block + 1;
  if (scale_shape != of) return {};
  Ints out;
  for (int64_t i = 0; i < static_cast<int64_t>(integers.size()); ++i) {
    const int64_t at = i / inner % length;
    out.push_back(block > 0 ? (i / inner / length * of[d] + at / block) * inner + i % inner : at);
  }
  return out;
}

bool ScaledWeights::fit_int8() const {
  const Ints scale_of = scale_of_elements();
  if (scale_of.size() != integers.size()) return false;
  for (size_t i = 0; i < integers.size(); ++i) {
    const int64_t v = integers[i] - zeros[zeros.size() == 1 ? 0 : static_cast<size_t>(scale_of[i])];
    if (v < -128 || v > 127) return false;
  }
  return true;
}

std::optional<StoredMatrix> ScaledWeights::matrix(const Ints& offsets, const graph::Shape& to, bool rows) const {
  // Scales of shorter blocks cost more than floats.
  constexpr int64_t kLeastBlock = 8;
  const Ints scale_of = scale_of_elements();
  if (scale_of.size() != integers.size() || to.size() != 2) return std::nullopt;
  StoredMatrix out{to[rows ? 0 : 1], to[rows ? 1 : 0], 1, 8, {}, {}, {}};
  auto place = [&](int64_t u, int64_t k) {
    return static_cast<size_t>(offsets[static_cast<size_t>(rows ? u * out.depth + k : k * out.units + u)]);
  };
  int64_t length = out.depth;
  for (int64_t u = 0; u < out.units; ++u)
    for (int64_t k = 0; k < out.depth; ++k) {
      out.values.push_back(integers[place(u, k)]);
      if (k > 0 && scale_of[place(u, k)] != scale_of[place(u, k - 1)]) length = std::gcd(length, k);
    }
  if (length < std::min(kLeastBlock, out.depth)) return std::nullopt;
  out.blocks = out.depth / length;
  for (int64_t u = 0; u < out.units; ++u)
    for (int64_t k = 0; k < out.depth; k += length) {
      const auto scale = static_cast<size_t>(scale_of[place(u, k)]);
      if (!std::isfinite(scales[scale])) return std::nullopt;
      out.scales.push_back(scales[scale]);
      out.zeros.push_back(zeros[zeros.size() == 1 ? 0 : scale]);
    }
  return out;
}

bool ScaledWeights::fit_wide_sums(int64_t channel, const Layer& layer) const {
  if (channel >= static_cast<int64_t>(shape.size()) || !(layer.y_scale > 0)) return false;
  if (std::any_of(zeros.begin(), zeros.end(), [](int64_t zero) { return zero != 0; })) return false;
  const auto channels = static_cast<size_t>(shape[static_cast<size_t>(channel)]);
  const int64_t inner = stride(channel);
  std::vector<double> sums(channels, 0), magnitudes(channels, 0);
  for (size_t i = 0; i < integers.size(); ++i) {
    if (integers[i] > 127) return false;
    const size_t c = static_cast<size_t>(static_cast<int64_t>(i) / inner) % channels;
    sums[c] += static_cast<double>(integers[i]);
    magnitudes[c] += std::fabs(static_cast<double>(integers[i]));
  }
  if ((!layer.bias.empty() && layer.bias.size() != channels) || (scales.size() != 1 && scales.size() != channels))
    return false;
  std::vector<double> reals;
  for (size_t c = 0; c < channels; ++c)
    reals.push_back(static_cast<double>(layer.x_scale) * static_cast<double>(scales[scales.size() == 1 ? 0 : c]) /
                    static_cast<double>(layer.y_scale));
  if (!std::all_of(reals.begin(), reals.end(), [](double real) { return real > 0 && real < 0.5; })) return false;
  const int shift = ops::high_shift(reals);
  for (size_t c = 0; c < channels; ++c) {
    const double bias = layer.bias.empty() ? 0 : static_cast<double>(layer.bias[c]);
    const double zero = std::fabs(ops::high_start(reals[c], shift, static_cast<int32_t>(layer.y_zero)));
    const double begin = std::fabs(bias - static_cast<double>(layer.x_zero) * sums[c]) + zero + 1;
    if (!(begin + magnitudes[c] * 32768 < 2147483647.0)) return false;
  }
  return true;
}

}  // namespace aotc::frontends::onnx
