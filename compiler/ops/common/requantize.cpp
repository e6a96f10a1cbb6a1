// SPDX-License-Identifier: Apache-2.0
#include "ops/common/requantize.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "ops/common/fixed_functions.h"

namespace aotc::ops {

using tir::Ex;
using tir::FunctionBuilder;
using tir::i64;

std::vector<double> conv_scales(const graph::TensorType& input, const graph::TensorType& weights,
                                const graph::TensorType& output, int64_t channels, RoundingRule rule,
                                bool float_products) {
  std::vector<double> out;
  const std::vector<float>& scales = weights.quantization.scale;
  for (int64_t c = 0; c < channels; ++c) {
    float scale = scales.size() == 1 ? scales[0] : scales[static_cast<size_t>(c)];
    if (rule == RoundingRule::kOnnxruntime) {
      out.push_back(static_cast<double>(input.scale() * scale / output.scale()));
      continue;
    }
    const double product = float_products && weights.dtype == DType::kU8
                               ? static_cast<double>(input.scale() * scale)
                               : static_cast<double>(input.scale()) * static_cast<double>(scale);
    out.push_back(product / static_cast<double>(output.scale()));
  }
  return out;
}

bool check_even_scales(const OpView& op, std::span<const double> scales, Diagnostics& diags) {
  constexpr double kLeast = 0x1p-100, kMost = 1 << 30;
  for (double real : scales) {
    if (real >= kLeast && real < kMost) continue;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("the scales of {} make a multiplier of {:g}, which float32 cannot round with", op.op.name(),
                           real))
        .help("re-quantise the model; a scale this far from the others is a calibration mistake");
    return false;
  }
  return true;
}

namespace {

int64_t divisor_of(double scale) { return std::llround(1.0 / scale); }

}  // namespace

ChannelReference::ChannelReference(Rounding rounding, double scale, int32_t zero_point, ClampI32 clamp)
    : rounding_(rounding), scale_(scale), zero_point_(zero_point), clamp_(clamp) {
  if (rounding == Rounding::kDouble) multiplier_ = quantize_multiplier(scale);
  if (rounding == Rounding::kDivide) divisor_ = divisor_of(scale);
}

int32_t ChannelReference::operator()(int32_t acc) const {
  int64_t scaled = 0;
  if (rounding_ == Rounding::kDouble) {
    scaled = multiply_by_quantized_multiplier(acc, multiplier_);
  } else if (rounding_ == Rounding::kDivide) {
    scaled = (acc > 0 ? acc + divisor_ / 2 : acc - divisor_ / 2) / divisor_;
  } else if (rounding_ == Rounding::kSum) {
    return acc;
  } else if (rounding_ == Rounding::kEven) {
    return even(acc);
  } else {
    double real = std::round(static_cast<double>(acc) * scale_);
    scaled = static_cast<int64_t>(std::clamp(real, -2147483648.0, 2147483647.0));
  }
  return static_cast<int32_t>(std::clamp<int64_t>(scaled + zero_point_, clamp_.min, clamp_.max));
}

int32_t ChannelReference::even(int32_t acc) const {
  // Bounds and their distance from the zero point are whole numbers of few bits.
  float real = static_cast<float>(acc) * static_cast<float>(scale_);
  real = std::clamp(real, static_cast<float>(clamp_.min - zero_point_), static_cast<float>(clamp_.max - zero_point_));
  return static_cast<int32_t>(std::nearbyint(real)) + zero_point_;
}

std::vector<ChannelReference> Requantization::references() const {
  std::vector<ChannelReference> out;
  for (size_t c = 0; c < scales.size(); ++c) out.push_back(reference(c));
  return out;
}

void Requantization::tame_constant_channels(std::vector<int32_t>& bias) {
  auto dead = [&](size_t c) { return ranges[c].low == ranges[c].high; };
  for (size_t c = 0; c < scales.size(); ++c) {
    if (!dead(c)) continue;
    int32_t value = apply(static_cast<int32_t>(ranges[c].low), c);
    Requantization tamed{{}, {}, rounding, zero_point, clamp};
    for (size_t live = 0; live < scales.size(); ++live) {
      if (dead(live) || !(scales[live] > 0)) continue;
      double acc = std::round(static_cast<double>(int64_t{value} - zero_point) / scales[live]);
      if (!(std::abs(acc) < 1 << 24)) continue;
      tamed.scales = {scales[live]};
      auto small = static_cast<int32_t>(acc);
      if (tamed.apply(small, 0) != value) continue;
      // The accumulator is the bias: nothing is added to it.
      bias[c] = small;
      ranges[c] = {small, small};
      scales[c] = scales[live];
      break;
    }
  }
}

namespace {

// Bound of |doubling high multiply| for accumulators up to `largest` shifted left by `left`.
int64_t scaled_bound(int64_t largest, QuantizedMultiplier m) {
  int left = std::max(m.shift, 0);
  int64_t shifted = std::min<int64_t>(largest << std::min(left, 31), int64_t{1} << 31);
  return ((shifted * m.multiplier) >> 31) + 1;
}

// May half of the divisor, which code has as 1 << right >> 1, be added before the shift?
bool rounding_sum_fits(int64_t largest, QuantizedMultiplier m) {
  int right = std::max(-m.shift, 0);
  if (right > 30) return false;
  int64_t half = right > 0 ? int64_t{1} << (right - 1) : 0;
  return scaled_bound(largest, m) + half + 1 < (int64_t{1} << 31);
}

// Rounding shift right by `s` (0..31) that cannot overflow, whatever the value.
Ex emit_rounding_shift_any(FunctionBuilder& f, const Ex& t, const Ex& s) {
  Ex mask = f.let("mask", cast(DType::kI32, (i64(1) << cast(DType::kI64, s)) - i64(1)));
  Ex remainder = t & mask;
  Ex threshold = (mask >> 1) + (t < 0);
  return (t >> s) + (remainder > threshold);
}

// The reference as steps, unless a left shift can wrap: then it is not monotone. Ranges and steps are
// of accumulators less `origin` (of each channel, or none).
std::optional<std::vector<Steps>> steps_of(const Requantization& what, bool per_channel,
                                           const std::vector<int64_t>& origin = {}) {
  std::vector<StepTarget> targets;
  if (what.open || what.rounding == Rounding::kSum) return std::nullopt;
  size_t count = per_channel ? what.scales.size() : 1;
  for (size_t c = 0; c < count; ++c) {
    AccRange range = what.ranges[c];
    if (!per_channel)
      for (const AccRange& r : what.ranges) range = {std::min(range.low, r.low), std::max(range.high, r.high)};
    double sooner = 0;
    if (what.rounding == Rounding::kDouble) {
      const QuantizedMultiplier m = quantize_multiplier(what.scales[c]);
      int left = std::max(m.shift, 0);
      sooner = std::ldexp(0.5, 31 - left) / std::max(m.multiplier, 1);
      if (left > 30 || (range.magnitude() << left) >= int64_t{1} << 31) return std::nullopt;
    }
    int64_t moved = origin.empty() ? 0 : origin[c];
    auto reference = [of_channel = what.reference(c), moved](int32_t acc) -> int64_t {
      return of_channel(static_cast<int32_t>(acc + moved));
    };
    targets.push_back({reference, what.scales[c], {range.low - moved, range.high - moved}, -moved, sooner});
  }
  return find_steps(targets, what.zero_point, what.clamp);
}

}  // namespace

namespace {

bool has_scales(const Requantization& what) {
  return std::any_of(what.scales.begin(), what.scales.end(), [&](double scale) { return scale != what.scales[0]; });
}

// Accumulators of each channel that lie too far from zero to be shifted are counted from there.
std::vector<int64_t> origins(const Requantization& what, int left) {
  std::vector<int64_t> out(what.ranges.size(), 0);
  if (!has_scales(what)) return out;
  for (size_t c = 0; c < out.size(); ++c) {
    const AccRange& r = what.ranges[c];
    if ((r.magnitude() << left) >= int64_t{1} << 31) out[c] = r.low + (r.high - r.low) / 2;
  }
  return out;
}

}  // namespace

std::optional<LineFit> fit_common_line(const Requantization& what, int left, std::vector<int32_t>& bias) {
  const bool per_channel = has_scales(what);
  const std::vector<int64_t> origin = origins(what, left);
  auto steps = steps_of(what, per_channel, origin);
  auto fit = steps ? fit_moved_lines(*steps, what.clamp, left, what.rounding == Rounding::kEven) : std::nullopt;
  for (size_t c = 0; fit && c < origin.size(); ++c)
    bias[c] = static_cast<int32_t>(bias[c] - origin[c] + fit->channels[per_channel ? c : 0].moved);
  return fit;
}

std::optional<LineFit> fit_most_lines(const Requantization& what, int left, std::vector<int32_t>& bias,
                                      std::vector<bool>& others) {
  const std::vector<int64_t> origin = origins(what, left);
  auto steps = has_scales(what) ? steps_of(what, true, origin) : std::nullopt;
  auto fit = steps ? fit_most_lines(*steps, what.clamp, left, others) : std::nullopt;
  for (size_t c = 0; fit && c < origin.size(); ++c)
    if (!others[c]) bias[c] = static_cast<int32_t>(bias[c] - origin[c] + fit->channels[c].moved);
  return fit;
}

Requantizer::Requantizer(LoweringBuilder& f, const Requantization& what)
    : zero_point_(what.zero_point), clamp_(what.clamp) {
  if (what.rounding == Rounding::kSum) {
    form_ = Form::kSum;
    return;
  }
  per_channel_ = what.open ? what.scales.size() > 1 : has_scales(what);
  // Steps of int16 would be too many to work out, and too fine for one word.
  bool narrow = int64_t{clamp_.max} - clamp_.min < 256;
  auto steps = narrow ? steps_of(what, per_channel_) : std::nullopt;
  // A word is the smaller, which counts where there are many; a line is the faster by a little.
  if (steps && per_channel_ && what.rounding != Rounding::kDivide) {
    bool two = what.rounding == Rounding::kDouble;
    if (auto fit = fit_words(*steps, what.zero_point, what.clamp, two)) {
      make_word_tables(f, *fit);
      return;
    }
  }
  auto fit = steps ? fit_lines(*steps, what.clamp) : std::nullopt;
  if (fit) {
    make_line_tables(f, *fit);
  } else {
    make_exact_tables(f, what);
  }
}

// Forms that follow the reference's own steps.
void Requantizer::make_exact_tables(LoweringBuilder& f, const Requantization& what) {
  if (what.rounding == Rounding::kDouble) {
    form_ = Form::kTwice;
    make_twice_tables(f, what);
  } else if (what.rounding == Rounding::kDivide) {
    form_ = Form::kDivide;
    std::vector<int32_t> divisors;
    for (size_t c = 0; c < (per_channel_ ? what.scales.size() : 1); ++c)
      divisors.push_back(static_cast<int32_t>(divisor_of(what.scales[c])));
    table_ = f.constant("count", DType::kI32, divisors);
  } else if (what.rounding == Rounding::kEven) {
    form_ = Form::kEven;
    std::vector<float> scales(what.scales.begin(), what.scales.end());
    if (!per_channel_) scales.resize(1);
    table_ = f.constant("scale", DType::kF32, scales);
  } else {
    form_ = Form::kFloat;
    std::vector<double> scales = what.scales;
    if (!per_channel_) scales.resize(1);
    table_ = f.constant("scale", DType::kF64, scales, 8);
  }
}

void Requantizer::make_word_tables(LoweringBuilder& f, const WordFit& fit) {
  form_ = Form::kWord;
  left_ = fit.left;
  low_bits_ = fit.low_bits;
  first_ = fit.first;
  sign_ = fit.sign != 0;
  sign_term_ = fit.sign;
  table_ = f.constant("scale", DType::kI32, fit.words);
  shift_table_ = f.constant<int16_t>("shift", DType::kI16,
                                     {static_cast<int16_t>(fit.base), static_cast<int16_t>(fit.zero_point)}, 2);
}

void Requantizer::make_line_tables(LoweringBuilder& f, const LineFit& fit) {
  same_left_ = fit.same_left;
  left_ = fit.channels[0].left;
  sign_ = fit.with_sign;
  stride_ = 2 + (same_left_ ? 0 : 1) + (sign_ ? 1 : 0);
  std::vector<int32_t> table;
  for (const LineFit::Channel& c : fit.channels) {
    table.push_back(c.multiplier);
    table.push_back(c.offset);
    if (!same_left_) table.push_back(c.left);
    if (sign_) table.push_back(c.sign);
  }
  table_ = f.constant("scale", DType::kI32, table);
  shift_table_ = f.constant<int8_t>("shift", DType::kI8, {static_cast<int8_t>(fit.shift)}, 1);
}

void Requantizer::make_twice_tables(LoweringBuilder& f, const Requantization& what) {
  stride_ = 2;
  std::vector<int32_t> table;
  size_t count = per_channel_ ? what.scales.size() : 1;
  for (size_t c = 0; c < what.scales.size(); ++c) {
    QuantizedMultiplier m = quantize_multiplier(what.scales[c]);
    any_left_ = any_left_ || m.shift > 0;
    any_right_ = any_right_ || m.shift < 0;
    right_at_least_one_ = right_at_least_one_ && m.shift < 0;
    sum_fits_ = sum_fits_ && rounding_sum_fits(what.ranges[c].magnitude(), m);
    if (c >= count) continue;
    table.push_back(m.multiplier);
    table.push_back(-m.shift);  // right shifts count positive
  }
  if (what.open) {
    any_left_ = any_right_ = true;
    right_at_least_one_ = sum_fits_ = false;
  }
  table_ = f.constant("scale", DType::kI32, table);
}

std::string_view Requantizer::form() const {
  switch (form_) {
    case Form::kWord: return sign_ ? "one word and sign" : "one word";
    case Form::kLine: return sign_ ? "one multiply and sign" : "one multiply";
    case Form::kTwice: return "two roundings";
    case Form::kFloat: return "double";
    case Form::kEven: return "float, ties to even";
    case Form::kDivide: return "division";
    case Form::kSum: return "sums";
  }
  return "";
}

void Requantizer::begin(FunctionBuilder& f) {
  if (form_ == Form::kWord || form_ == Form::kLine) shift_ = f.let("shift", load(shift_table_, Ex(0)));
  if (form_ == Form::kWord) half_zero_ = f.let("z", shl_wrapping(load(shift_table_, Ex(1)) * 2 + 1, shift_ - 1));
  if (!per_channel_ && form_ != Form::kSum) shared_ = load_channel(f, Ex(0));
}

Requantizer::Channel Requantizer::load_channel(FunctionBuilder& f, const Ex& index) const {
  Channel out;
  Ex at = per_channel_ ? index * stride_ : Ex(0);
  out.multiplier = f.let("m", load(table_, at));
  if (form_ == Form::kLine) out.offset = f.let("r", load(table_, at + 1));
  if (form_ == Form::kLine && !same_left_) out.shift = f.let("l", load(table_, at + 2));
  if (form_ == Form::kLine && sign_) out.sign = f.let("n", load(table_, at + (stride_ - 1)));
  if (form_ == Form::kTwice && (any_left_ || any_right_)) out.shift = f.let("s", load(table_, at + 1));
  return out;
}

Requantizer::Channel Requantizer::load_word(FunctionBuilder& f, const Ex& index) const {
  Channel out;
  out.multiplier = f.let("m", load(table_, index));
  Ex s = f.let("s", out.multiplier & ((1 << low_bits_) - 1));
  out.offset = f.let("r", shl_wrapping(half_zero_, s) + first_);
  out.shift = f.let("s", shift_ + s);
  return out;
}

Requantizer::Channel Requantizer::prepare(FunctionBuilder& f, const Ex& channel) const {
  if (form_ == Form::kWord) return load_word(f, channel);
  return per_channel_ ? load_channel(f, channel) : shared_;
}

Ex Requantizer::emit(FunctionBuilder& f, const Ex& acc, const Channel& channel) const {
  switch (form_) {
    // The shift wraps in channels that are constant only; their multiplier is next to 0.
    case Form::kWord: return emit_word(f, shl_wrapping(acc, left_), acc, channel);
    case Form::kLine:
      if (same_left_ && left_ == 0) return emit_line(f, acc, acc, channel);
      return emit_line(f, shl_wrapping(acc, same_left_ ? left_ : channel.shift), acc, channel);
    case Form::kTwice: return emit_twice(f, acc, channel);
    case Form::kFloat: return emit_float(f, acc, channel);
    case Form::kEven: return emit_even(f, acc, channel);
    case Form::kDivide: return emit_divide(f, acc, channel);
    case Form::kSum: return acc;
  }
  return acc;
}

int Requantizer::common_left() const {
  return form_ == Form::kWord || (form_ == Form::kLine && same_left_) ? left_ : 0;
}

Ex Requantizer::emit_scaled(FunctionBuilder& f, const Ex& acc, const Channel& channel) const {
  if (form_ == Form::kWord) return emit_word(f, acc, acc, channel);
  if (form_ == Form::kLine && same_left_) return emit_line(f, acc, acc, channel);
  return emit(f, acc, channel);
}

namespace {

Ex emit_hi32(const Ex& x, const Ex& multiplier) {
  return cast(DType::kI32, (cast(DType::kI64, x) * cast(DType::kI64, multiplier)) >> i64(32));
}

}  // namespace

Ex Requantizer::emit_word(FunctionBuilder& f, const Ex& x, const Ex& acc, const Channel& channel) const {
  Ex sum = emit_hi32(x, channel.multiplier) + channel.offset;
  if (sign_) sum = sum + (acc >> 31) * sign_term_;
  return clamp(f.let("q", sum >> channel.shift), clamp_.min, clamp_.max);
}

Ex Requantizer::emit_line(FunctionBuilder& f, const Ex& x, const Ex& acc, const Channel& channel) const {
  Ex sum = emit_hi32(x, channel.multiplier) + channel.offset;
  if (sign_) sum = sum - ((acc >> 31) & channel.sign);
  return clamp(f.let("q", sum >> shift_), clamp_.min, clamp_.max);
}

Ex Requantizer::emit_twice(FunctionBuilder& f, const Ex& acc, const Channel& channel) const {
  Ex x = acc;
  if (any_left_) x = f.let("x", shl_wrapping(acc, max(-channel.shift, 0)));
  Ex t = f.let("t", emit_high_mul(x, channel.multiplier));
  if (any_right_) {
    Ex s = any_left_ ? f.let("s", max(channel.shift, 0)) : channel.shift;
    if (right_at_least_one_ && sum_fits_) {
      t = f.let("q", (t + ((Ex(1) << s) >> 1) - (t < 0)) >> s);
    } else {
      t = f.let("q", emit_rounding_shift_any(f, t, s));
    }
  }
  return emit_zero_point(f, t);
}

Ex Requantizer::emit_float(FunctionBuilder& f, const Ex& acc, const Channel& channel) const {
  Ex t = call(tir::Intrinsic::kRound, DType::kF64, {cast(DType::kF64, acc) * channel.multiplier});
  t = f.let("t", t + tir::f64(zero_point_));
  return cast(DType::kI32, clamp(t, tir::f64(clamp_.min), tir::f64(clamp_.max)));
}

Ex Requantizer::emit_even(FunctionBuilder& f, const Ex& acc, const Channel& channel) const {
  Ex real = f.let("t", cast(DType::kF32, acc) * channel.multiplier);
  real = clamp(real, tir::f32(static_cast<float>(clamp_.min - zero_point_)),
               tir::f32(static_cast<float>(clamp_.max - zero_point_)));
  return cast(DType::kI32, f.let("q", emit_nearest_even(real))) + zero_point_;
}

Ex Requantizer::emit_divide(FunctionBuilder& f, const Ex& acc, const Channel& channel) const {
  const Ex& n = channel.multiplier;
  Ex t = f.let("t", select(acc > 0, acc + (n >> 1), acc - (n >> 1)) / n);
  return emit_zero_point(f, t);
}

// t + zero point, clamped; the sum could leave int32, so t is clamped against shifted bounds.
Ex Requantizer::emit_zero_point(FunctionBuilder& f, const Ex& t) const {
  Ex q = f.let("q", clamp(t, clamp_.min - zero_point_, clamp_.max - zero_point_));
  return q + zero_point_;
}

Ex line_sum(const Ex& acc, const tir::BufferPtr& table, const Ex& at, bool sign) {
  Ex product = cast(DType::kI64, acc) * cast(DType::kI64, load(table, at));
  Ex sum = cast(DType::kI32, product >> tir::i64(32)) + load(table, at + 1);
  return sign ? sum - ((acc >> 31) & load(table, at + 2)) : sum;
}

Ex emit_nearest_even(const Ex& x) {
  constexpr float kWhole = 12582912.0f;  // 1.5 * 2^23
  return (x + tir::f32(kWhole)) - tir::f32(kWhole);
}

Ex emit_multiply(FunctionBuilder& f, const Ex& value, QuantizedMultiplier m, int64_t largest) {
  Ex x = value;
  if (m.shift > 0) x = f.let("x", shl_wrapping(x, m.shift));
  Ex t = f.let("t", emit_high_mul(x, Ex(m.multiplier)));
  if (m.shift >= 0) return t;
  int s = -m.shift;
  if (rounding_sum_fits(largest, m)) return f.let("q", (t + (int64_t{1} << (s - 1)) - (t < 0)) >> s);
  return f.let("q", emit_rounding_shift_any(f, t, Ex(s)));
}

}  // namespace aotc::ops
