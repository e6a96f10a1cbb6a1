// SPDX-License-Identifier: Apache-2.0
// Averages of quantised windows. onnxruntime computes them in float; the integer average is used if it is proven to
// give the same bytes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "frontends/onnx/quantized.h"
#include "ops/common/word_average.h"

namespace aotc::frontends::onnx {

namespace {

// Sums that a proof looks at.
constexpr int64_t kMostSums = int64_t{1} << 22;

// The largest sum of magnitudes of `count` integers from low to high whose sum is `sum`.
double largest_magnitude(double sum, double count, double low, double high) {
  if (low >= 0 || high <= 0) return std::fabs(sum);
  const double most = (sum - count * low) / (high - low);  // so many at `high`, the others at `low`
  return most * high - (count - most) * low;
}

// True if averages of 16 bits may be computed in integers: at most a thousandth of the sums is close to a tie.
bool averages_wide(const Affine& x, const Affine& y, int64_t count) {
  constexpr int kSums = 16384;
  constexpr double kBeside = 1e-4;  // of a step: the error of float sums
  const double real = static_cast<double>(x.scale[0]) / (static_cast<double>(y.scale[0]) * static_cast<double>(count));
  if (!ops::averages_by_word(real, count)) return false;
  int beside = 0;
  for (int sum = 1; sum <= kSums; ++sum) {
    const double place = sum * real;
    beside += std::fabs(place - std::floor(place) - 0.5) < kBeside ? 1 : 0;
  }
  return beside <= kSums / 1000;
}

}  // namespace

bool averages_in_integers(const Affine& x, const Affine& y, int64_t count, int64_t up) {
  if (!x.per_tensor() || !y.per_tensor() || count < 1 || x.wide() != y.wide()) return false;
  if (x.wide()) return averages_wide(x, y, count);
  if (count > kMostSums / 255) return false;
  const double sx = x.scale[0], so = y.scale[0], n = static_cast<double>(count);
  const double zero = static_cast<double>(y.int8().zero_point[0]);
  const double low = static_cast<double>(-128 - x.int8().zero_point[0]), high = low + 255;
  const float real = x.scale[0] / (y.scale[0] * static_cast<float>(count));
  // Rounding errors of dequantised values and of their sum in any order, then of mean, quotient and place.
  constexpr double kUnit = std::numeric_limits<float>::epsilon() / 2;
  const double of_sum = (n + 4) * kUnit / (1 - (n + 4) * kUnit);
  const double shift = zero + static_cast<double>(up);
  auto byte = [&](double place) {
    return std::clamp(std::nearbyint(place), -128.0 + static_cast<double>(up), 127.0 + static_cast<double>(up));
  };
  for (double sum = low * n; sum <= high * n; ++sum) {
    const double place = sum * sx / (n * so), magnitude = largest_magnitude(sum, n, low, high) * sx / (n * so);
    const double error =
        magnitude * of_sum + std::fabs(place) * 4 * kUnit + (std::fabs(place) + std::fabs(shift)) * 2 * kUnit;
    const double least = byte(place + shift - error), most = byte(place + shift + error);
    const double whole = std::nearbyint(static_cast<float>(sum) * real) + zero;
    if (least != most || least - static_cast<double>(up) != std::clamp(whole, -128.0, 127.0)) return false;
  }
  return true;
}

}  // namespace aotc::frontends::onnx
