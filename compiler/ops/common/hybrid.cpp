// SPDX-License-Identifier: Apache-2.0
#include "ops/common/hybrid.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/conv.h"
#include "ops/common/gemm.h"
#include "ops/common/requantize.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

constexpr int32_t kMagnitude = 0x7FFFFFFF, kInfinity = 0x7F800000;
// Elements that the reference rounds together, by adding a half to the magnitude. That takes the
// float just below a half up as well; elements that are left are rounded as they should be, which
// is adding that float.
constexpr int64_t kRoundedTogether = 8;
constexpr float kHalf = 0.5f, kBelowHalf = 0x1.fffffep-2f;

float largest_float() { return std::numeric_limits<float>::max(); }

// The least range whose inverse is a finite float, as bits: 127 / r, or 1 / (r / 255).
int32_t least_bits(bool asymmetric) {
  int32_t low = 0, high = std::bit_cast<int32_t>(1.0f);
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    float range = std::bit_cast<float>(middle);
    float inverse = asymmetric ? 1.0f / (range / 255.0f) : 127.0f / range;
    (inverse <= largest_float() ? high : low) = middle;
  }
  return high;
}

// Floats in order as integers, -0 below +0, NaNs at either end.
int32_t key_of(float x) {
  int32_t bits = std::bit_cast<int32_t>(x);
  return bits ^ ((bits >> 31) & kMagnitude);
}

int32_t rounded(float v, bool grouped) {
  float half = grouped ? kHalf : kBelowHalf;
  return static_cast<int32_t>(v < 0 ? v - half : v + half);
}

// The integer nearest to the zero point that takes the end of the range farther from 0 to the end
// of int8.
int32_t zero_of(float low, float high, double scale) {
  double below = static_cast<double>(low) / scale, above = static_cast<double>(high) / scale;
  double zero = 128.0 - below < 127.0 + above ? -128.0 - below : 127.0 - above;
  return static_cast<int32_t>(std::round(std::clamp(zero, -128.0, 127.0)));
}

void quantize(std::span<const float> x, std::span<int8_t> q, float inverse, int32_t zero) {
  auto grouped = x.size() / kRoundedTogether * kRoundedTogether;
  for (size_t i = 0; i < x.size(); ++i)
    q[i] = static_cast<int8_t>(std::clamp(rounded(x[i] * inverse, i < grouped) + zero, -128, 127));
}

RowScale quantize_symmetric(std::span<const float> x, std::span<int8_t> q) {
  int32_t most = 0;
  for (float v : x) most = std::max(most, std::bit_cast<int32_t>(v) & kMagnitude);
  const float range = std::bit_cast<float>(most);
  std::fill(q.begin(), q.end(), int8_t{0});
  if (most >= least_bits(false) && most < kInfinity) quantize(x, q, 127.0f / range, 0);
  return {most == 0 ? 1.0f : range / 127.0f, 0};
}

// Of onnxruntime's DynamicQuantizeLinear, whose uint8 results are 128 larger.
RowScale quantize_to_even(std::span<const float> x, std::span<int8_t> q, float low, float range) {
  float scale = range / 255.0f;
  if (scale == 0) scale = 1.0f;
  if ((std::bit_cast<int32_t>(range) & kMagnitude) >= kInfinity) return {scale, 0};
  const float zero = std::nearbyint(std::clamp((0.0f - low) / scale, 0.0f, 255.0f)) - 128.0f;
  for (size_t i = 0; i < x.size(); ++i)
    q[i] = static_cast<int8_t>(std::clamp(std::nearbyint(x[i] / scale) + zero, -128.0f, 127.0f));
  return {scale, static_cast<int32_t>(zero)};
}

RowScale quantize_asymmetric(std::span<const float> x, std::span<int8_t> q, RoundingRule rule) {
  int32_t least = 0, most = 0;
  for (float v : x) least = std::min(least, key_of(v)), most = std::max(most, key_of(v));
  const float low = std::bit_cast<float>(least ^ ((least >> 31) & kMagnitude));
  const float high = std::bit_cast<float>(most);
  const float range = high - low;
  const int32_t bits = std::bit_cast<int32_t>(range) & kMagnitude;
  std::fill(q.begin(), q.end(), int8_t{0});
  if (rule == RoundingRule::kOnnxruntime) return quantize_to_even(x, q, low, range);
  RowScale out{bits == 0 ? 1.0f : range / 255.0f, 0};
  if (bits < least_bits(true) || bits >= kInfinity) return out;
  out.zero = zero_of(low, high, static_cast<double>(range) / 255.0);
  quantize(x, q, 1.0f / out.scale, out.zero);
  return out;
}

// ---- the same in TIR

Ex bits_of(const Ex& x) { return call(tir::Intrinsic::kFloatBits, DType::kI32, {x}); }
Ex float_of(const Ex& bits) { return call(tir::Intrinsic::kFloatFromBits, DType::kF32, {bits}); }

// body(i, n, position) for elements i .. i + n of [begin, end), which are stored at `position`.
void each(FunctionBuilder& f, int64_t begin, int64_t end, bool fours,
          const std::function<void(Ex, int64_t, Ex)>& body) {
  if (begin == end) return;
  // Both addresses are multiples of the variable, which compilers turn into pointers that move on.
  if (fours) return f.loop("four", begin / 4, end / 4, [&](const Ex& four) { body(four * 4, 4, four); });
  const int64_t count = end - begin;
  const int64_t unroll = count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : unroll_for(count, 4);
  f.loop("i", begin, end, [&](const Ex& i) { body(i, unroll, i); }, unroll);
}

class RowWriter {
 public:
  RowWriter(FunctionBuilder& f, const RowRequest& row) : f_(f), row_(row) {}

  RowQuantization run() { return row_.asymmetric ? asymmetric() : symmetric(); }

 private:
  Ex element(const Ex& i) { return row_.element ? row_.element(i) : load(row_.x, row_.at + i); }

  RowQuantization symmetric() {
    Ex most = f_.var("most", 0);
    each(f_, 0, row_.count, false, [&](const Ex& i, int64_t n, const Ex&) {
      for (int64_t u = 0; u < n; ++u) f_.assign(most, max(most, bits_of(element(i + u)) & kMagnitude));
    });
    Ex range = f_.let("range", float_of(most));
    f_.if_(
        most >= least_bits(false) && most < kInfinity,
        [&] { quantize(f_.let("inverse", tir::f32(127.0f) / range), 0); }, [&] { blank(); });
    return {f_.let("scale", select(most == 0, tir::f32(1.0f), range / tir::f32(127.0f))), 0};
  }

  RowQuantization asymmetric() {
    // Among floats below 0 the least has the largest bits, as a number without sign.
    Ex least = f_.var("least", tir::imm(DType::kU32, 0)), most = f_.var("most", 0);
    each(f_, 0, row_.count, false, [&](const Ex& i, int64_t n, const Ex&) {
      for (int64_t u = 0; u < n; ++u) {
        Ex bits = f_.let("bits", bits_of(element(i + u)));
        f_.assign(most, max(most, bits));
        f_.assign(least, max(least, cast_wrapping(DType::kU32, bits)));
      }
    });
    Ex below = f_.let("below", cast_wrapping(DType::kI32, least));
    Ex low = f_.let("low", select(below < 0, float_of(below), tir::f32(0.0f)));
    Ex high = f_.let("high", float_of(most));
    Ex range = f_.let("range", high - low);
    Ex bits = f_.let("range_bits", bits_of(range) & kMagnitude);
    if (row_.rule == RoundingRule::kOnnxruntime) return to_even(low, range, bits);
    Ex scale = f_.let("scale", select(bits == 0, tir::f32(1.0f), range / tir::f32(255.0f)));
    Ex zero = f_.var("zero", 0);
    f_.if_(
        bits >= least_bits(true) && bits < kInfinity,
        [&] {
          Ex inverse = f_.let("inverse", tir::f32(1.0f) / scale);
          find_zero(zero, low, high, range, inverse);
          quantize(inverse, zero);
        },
        [&] { blank(); });
    return {scale, f_.let("zero_point", zero)};
  }

  RowQuantization to_even(const Ex& low, const Ex& range, const Ex& bits) {
    Ex step = f_.let("step", range / tir::f32(255.0f));
    Ex scale = f_.let("scale", select(bits_of(step) == 0, tir::f32(1.0f), step));
    Ex zero = f_.var("zero", 0);
    f_.if_(
        bits < kInfinity,
        [&] {
          Ex place = clamp((tir::f32(0.0f) - low) / scale, tir::f32(0.0f), tir::f32(255.0f));
          Ex real = f_.let("real_zero", emit_nearest_even(f_.let("place", place)) - tir::f32(128.0f));
          f_.assign(zero, cast(DType::kI32, real));
          each(f_, 0, row_.count, row_.fours, [&](const Ex& i, int64_t n, const Ex& position) {
            std::vector<Ex> values;
            for (int64_t u = 0; u < n; ++u) {
              Ex whole = f_.let("whole", emit_nearest_even(f_.let("steps", element(i + u) / scale)));
              Ex q = cast(DType::kI32, clamp(whole + real, tir::f32(-128.0f), tir::f32(127.0f)));
              values.push_back(f_.let("q", row_.centred ? q - zero : q));
            }
            row_.store(position, values);
          });
        },
        [&] { blank(); });
    return {scale, f_.let("zero_point", zero)};
  }

  // The zero point is -128 - 255 * low / range but for rounding, and floats show which integer that
  // is, unless it is next to a tie: they are off by less than 1e-4. Doubles are slow on most cores.
  void find_zero(const Ex& zero, const Ex& low, const Ex& high, const Ex& range, const Ex& inverse) {
    Ex steps = f_.let("steps", tir::f32(0.5f) - low * inverse);
    Ex whole = f_.let("whole", cast(DType::kI32, steps));
    Ex rest = f_.let("rest", steps - cast(DType::kF32, whole));
    f_.if_(
        rest > tir::f32(0.001f) && rest < tir::f32(0.999f), [&] { f_.assign(zero, whole - 128); },
        [&] { f_.assign(zero, exact_zero(low, high, range)); });
  }

  // Rounds as C's round(), which nothing else here would need.
  Ex exact_zero(const Ex& low, const Ex& high, const Ex& range) {
    auto wide = [](const Ex& x) { return cast(DType::kF64, x); };
    Ex step = f_.let("step", wide(range) / tir::f64(255.0));
    Ex below = f_.let("from_low", wide(low) / step), above = f_.let("from_high", wide(high) / step);
    Ex exact = f_.let("exact", select(tir::f64(128.0) - below < tir::f64(127.0) + above, tir::f64(-128.0) - below,
                                      tir::f64(127.0) - above));
    Ex cut = f_.let("cut", min(max(exact, tir::f64(-128.0)), tir::f64(127.0)));
    constexpr double kBelow = 0x1.fffffffffffffp-2;
    return cast(DType::kI32, cut + select(cut < tir::f64(0), tir::f64(-kBelow), tir::f64(kBelow)));
  }

  void quantize(const Ex& inverse, const Ex& zero) {
    const int64_t grouped = row_.count / kRoundedTogether * kRoundedTogether;
    const bool symmetric = !row_.asymmetric;
    auto part = [&](int64_t begin, int64_t end, float half) {
      each(f_, begin, end, row_.fours, [&](const Ex& i, int64_t n, const Ex& position) {
        std::vector<Ex> values;
        for (int64_t u = 0; u < n; ++u) {
          // Of the magnitude, with the sign put back: neither compares nor branches.
          Ex bits = f_.let("bits", bits_of(element(i + u)));
          Ex size = f_.let("size", cast(DType::kI32, float_of(bits & kMagnitude) * inverse + tir::f32(half)));
          Ex q = (size ^ (bits >> 31)) - (bits >> 31);
          if (!symmetric) q = clamp(q + zero, -128, 127);
          values.push_back(f_.let("q", row_.centred && !symmetric ? q - zero : q));
        }
        row_.store(position, values);
      });
    };
    part(0, grouped, kHalf);
    part(grouped, row_.count, kBelowHalf);
  }

  void blank() {
    each(f_, 0, row_.count, row_.fours, [&](const Ex&, int64_t n, const Ex& position) {
      row_.store(position, std::vector<Ex>(static_cast<size_t>(n), Ex(0)));
    });
  }

  FunctionBuilder& f_;
  const RowRequest& row_;
};

}  // namespace

bool is_hybrid(const OpView& op) {
  return op.operand_count() > 1 && op.has_operand(0) && op.has_operand(1) && op.operand(0).dtype == DType::kF32 &&
         (op.operand(1).dtype == DType::kI8 || op.operand(1).dtype == DType::kI4);
}

RowScale quantize_row(std::span<const float> x, std::span<int8_t> q, bool asymmetric, RoundingRule rule) {
  return asymmetric ? quantize_asymmetric(x, q, rule) : quantize_symmetric(x, q);
}

RowQuantization emit_quantize_row(FunctionBuilder& f, const RowRequest& row) { return RowWriter(f, row).run(); }

RowQuantization emit_quantize_row(FunctionBuilder& f, RowRequest row, const BufferPtr& q, const Ex& to) {
  row.store = [&f, q, to](const Ex& i, const std::vector<Ex>& values) {
    for (size_t u = 0; u < values.size(); ++u) f.store(q, to + (i + static_cast<int64_t>(u)), values[u]);
  };
  return emit_quantize_row(f, row);
}

void publish_batches(LoweringBuilder& f, const OpView& op, int64_t batches) {
  if (batches * 2 > WriteOrder::kMostSteps) return;
  const int64_t in = op.operand(0).bytes() / batches, out = op.result().bytes() / batches;
  WriteOrder order;
  for (int64_t n = 0; n < batches; ++n) {
    order.steps.push_back({n * in, (n + 1) * in, 0, 0});
    order.steps.push_back({0, 0, n * out, (n + 1) * out});
  }
  f.publish(std::move(order));
}

float weight_scale(const OpView& op, int64_t c) {
  const std::vector<float>& scales = op.operand(1).quantization.scale;
  return scales[scales.size() == 1 ? 0 : static_cast<size_t>(c)];
}

std::vector<int32_t> weight_sums(const OpView& op, int64_t channels, int64_t first, int64_t stride) {
  const int64_t terms = op.operand(1).elements() / channels;
  std::vector<int32_t> out;
  for (int64_t c = 0; c < channels; ++c) {
    int32_t sum = 0;
    for (int64_t k = 0; k < terms; ++k) sum += op.constant(1)->get<int8_t>(c * first + k * stride);
    out.push_back(sum);
  }
  return out;
}

bool has_negative_zero(const OpView& op, int64_t channels) {
  for (int64_t c = 0; c < channels; ++c)
    if (float bias = float_bias_at(op, c); bias == 0 && std::signbit(bias)) return true;
  return false;
}

bool verify_hybrid(const OpView& op, int64_t channels, int channel_axis, Diagnostics& diags) {
  if (!check_counts(op, 2, 3, 1, diags) || !check_result_type(op, 0, DType::kF32, diags)) return false;
  if (!op.constant(1)) return bad_shape(op, diags, "weights must be a constant");
  if (!verify_bias(op, channels, std::array{DType::kF32}, diags) ||
      !verify_weights_quantization(op, channels, channel_axis, false, diags))
    return false;
  // An element less its zero point has 9 bits, a weight 8.
  constexpr int64_t kMostTerms = (int64_t{1} << 31) / (256 * 128) - 1;
  int64_t terms = channels > 0 ? op.operand(1).elements() / channels : 0;
  if (terms <= kMostTerms) return true;
  diags.error(op.where(), "op-quantization", fmt::format("a sum of {} products can overflow 32 bits", terms))
      .help("the reference result is undefined for such a layer; split it");
  return false;
}

bool has_integer_weights(const OpView& op, const std::vector<size_t>& matrices) {
  for (size_t i : matrices)
    if (op.has_operand(i)) return op.operand(i).dtype == DType::kI8;
  return false;
}

bool check_float_weights(const OpView& op, const std::vector<size_t>& weights, Diagnostics& diags) {
  // An element less its zero point has 9 bits, a weight 8.
  constexpr int64_t kMostTerms = (int64_t{1} << 31) / (256 * 128) - 1;
  const bool hybrid = has_integer_weights(op, weights);
  for (size_t i : weights) {
    if (!op.has_operand(i)) continue;
    if (!check_type(op, i, {hybrid ? DType::kI8 : DType::kF32}, diags)) return false;
    if (!hybrid) continue;
    if (op.constant(i) == nullptr) {
      diags.error(op.where(), "op-operands", fmt::format("operand {} is not constant", i))
          .help("int8 weights are part of the model");
      return false;
    }
    if (!check_per_tensor(op, op.operand_tensor(i), diags)) return false;
    if (op.operand(i).zero_point() != 0) {
      diags.error(op.where(), "op-quantization",
                  fmt::format("operand {} has zero point {}; weights have 0", i, op.operand(i).zero_point()));
      return false;
    }
    if (op.operand(i).shape.size() == 2 && op.operand(i).shape[1] > kMostTerms) {
      diags
          .error(op.where(), "op-quantization",
                 fmt::format("a sum of {} products can overflow 32 bits", op.operand(i).shape[1]))
          .help("the reference result is undefined for such a layer; split it");
      return false;
    }
  }
  return true;
}

}  // namespace aotc::ops
