// SPDX-License-Identifier: Apache-2.0
#include "ops/common/wide_requantize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "ops/operator.h"

namespace aotc::ops {

using tir::Ex;
using tir::FunctionBuilder;
using tir::i64;

namespace {

constexpr int64_t kLargestInput = 32768;

// A multiplier of which 16 bits are kept, and the shift behind the product.
struct Kept {
  int32_t multiplier;
  int right;
};

Kept kept_of(double scale) {
  QuantizedMultiplier m = quantize_multiplier(scale);
  int32_t kept = m.multiplier < 0x7FFF0000 ? (m.multiplier + (1 << 15)) >> 16 : 0x7FFF;
  return {kept, 15 - m.shift};
}

int32_t scale_once(int64_t acc, Kept m) {
  int64_t sum = acc * m.multiplier + (int64_t{1} << (m.right - 1));
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum >> m.right)));
}

// Of kHigh.
int64_t high_multiplier(double scale, int shift) {
  return std::min<int64_t>(std::llround(std::ldexp(scale, 32 + shift)), INT32_MAX);
}

// Of shift 0, which sums do not hold.
int64_t high_half(int shift) { return shift > 0 ? 0 : int64_t{1} << 31; }

int64_t scale_real(int64_t acc, double scale) {
  double real = std::round(static_cast<double>(acc) * scale);
  return static_cast<int64_t>(std::clamp(real, -2147483648.0, 2147483647.0));
}

}  // namespace

int high_shift(const std::vector<double>& scales) {
  const double most = *std::max_element(scales.begin(), scales.end());
  int shift = 0;
  while (shift < 12 && std::ldexp(most, 32 + shift + 4) < 0x7FFFFFFF) shift += 4;
  return shift;
}

double high_start(double scale, int shift, int32_t zero_point) {
  const auto m = static_cast<double>(std::max<int64_t>(high_multiplier(scale, shift), 1));
  return std::ldexp(zero_point + (shift > 0 ? 0.5 : 0), 32 + shift) / m;
}

bool WideScaling::wide() const {
  return std::any_of(ranges.begin(), ranges.end(), [](const AccRange& r) { return r.magnitude() >= int64_t{1} << 31; });
}

int32_t WideScaling::apply(int64_t acc, size_t channel) const {
  int64_t scaled = 0;
  switch (rounding) {
    case WideRounding::kOnce: scaled = scale_once(acc, kept_of(scales[channel])); break;
    case WideRounding::kDouble:
      scaled = multiply_by_quantized_multiplier(static_cast<int32_t>(acc), quantize_multiplier(scales[channel]));
      break;
    case WideRounding::kReal: scaled = scale_real(acc, scales[channel]); break;
    case WideRounding::kHigh:
      scaled = (acc * high_multiplier(scales[channel], shift) + high_half(shift)) >> (32 + shift);
      break;
  }
  return static_cast<int32_t>(std::clamp<int64_t>(scaled, clamp.min, clamp.max));
}

int64_t wide_bias_at(const OpView& op, int64_t c) {
  const graph::ConstantView* bias = op.constant(2);
  if (!bias) return 0;
  return op.operand(2).dtype == DType::kI64 ? bias->get<int64_t>(c) : bias->get<int32_t>(c);
}

WideRounding convolution_rounding(const OpView& op, RoundingRule rule) {
  if (rule == RoundingRule::kOnnxruntime) return WideRounding::kHigh;
  bool narrow = op.has_operand(2) && op.operand(2).dtype == DType::kI32;
  return narrow ? WideRounding::kDouble : WideRounding::kOnce;
}

WideScaling wide_scaling(const OpView& op, int64_t channels, WideRounding rounding, Activation activation,
                         const std::function<std::vector<int32_t>(int64_t c)>& weights_of) {
  WideScaling out;
  out.scales = conv_scales(op.operand(0), op.operand(1), op.result(), channels);
  out.rounding = rounding;
  if (rounding == WideRounding::kHigh) out.shift = high_shift(out.scales);
  out.clamp = quantized_clamp(activation, op.result());
  for (int64_t c = 0; c < channels; ++c) {
    int64_t reach = 0, sum = 0;
    for (int32_t w : weights_of(c)) reach += std::abs(int64_t{w}) * kLargestInput, sum += w;
    // Far beyond what check_wide_sums lets through, and far from where int64 ends.
    constexpr int64_t kMostBias = int64_t{1} << 60;
    int64_t bias = std::clamp(wide_bias_at(op, c), -kMostBias, kMostBias);
    if (rounding == WideRounding::kHigh) {
      bias += std::llround(high_start(out.scales[static_cast<size_t>(c)], out.shift, op.result().zero_point()));
    }
    out.centred_bias.push_back(bias);
    bias -= sum * op.operand(0).zero_point();
    out.bias.push_back(bias);
    out.ranges.push_back({bias - reach, bias + reach});
  }
  return out;
}

bool check_wide_sums(const OpView& op, const WideScaling& scaling, Diagnostics& diags) {
  auto fail = [&](const std::string& why) {
    diags.error(op.where(), "op-quantization", why)
        .help("the reference result is undefined for such a layer; re-quantise the model");
    return false;
  };
  const bool high = scaling.rounding == WideRounding::kHigh;
  const bool narrow = high || (op.has_operand(2) && op.operand(2).dtype == DType::kI32);
  int64_t limit = int64_t{1} << (narrow ? 31 : 47);
  for (size_t c = 0; c < scaling.scales.size(); ++c) {
    double real = scaling.scales[c];
    auto largest = scaling.ranges[c].magnitude();
    if (largest >= limit)
      return fail(
          fmt::format("the sums of output {} reach {}, beyond the reference's {} bits", c, largest, narrow ? 32 : 48));
    bool defined = true;
    if (scaling.rounding == WideRounding::kOnce) defined = real < 128.0;
    if (scaling.rounding == WideRounding::kDouble) defined = real < (1 << 30) - 1;
    if (high) defined = real < 0.5;
    if (scaling.rounding == WideRounding::kReal) defined = static_cast<double>(largest) * real < 2147483648.0 - 256;
    if (!defined)
      return fail(
          fmt::format("the scales of {} make a multiplier of {:g}, with which the sums of "
                      "output {} leave the reference's arithmetic",
                      op.op.name(), real, c));
  }
  return true;
}

tir::BufferPtr wide_bias(LoweringBuilder& f, const WideScaling& scaling) {
  const std::vector<int64_t>& bias = scaling.bias;
  if (scaling.wide()) return f.constant("bias", DType::kI64, bias, 8);
  return f.constant("bias", DType::kI32, std::vector<int32_t>(bias.begin(), bias.end()));
}

WideRequantizer::WideRequantizer(LoweringBuilder& f, const WideScaling& what) : clamp_(what.clamp), wide_(what.wide()) {
  for (double scale : what.scales) per_channel_ = per_channel_ || scale != what.scales[0];
  switch (what.rounding) {
    case WideRounding::kOnce:
      if (!make_high(f, what)) make_shift(f, what);
      return;
    case WideRounding::kHigh: make_high(f, what); return;
    case WideRounding::kReal:
      if (!make_pieces(f, what)) make_float(f, what);
      return;
    case WideRounding::kDouble: break;
  }
  form_ = Form::kTwice;
  stride_ = 2;
  std::vector<int32_t> table;
  for (size_t c = 0; c < (per_channel_ ? what.scales.size() : 1); ++c) {
    QuantizedMultiplier m = quantize_multiplier(what.scales[c]);
    table.push_back(m.multiplier);
    table.push_back(m.shift);
  }
  table_ = f.constant("scale", DType::kI32, table);
}

// The shift behind the product as one by 32, which takes no instruction: the rest of it goes into the
// multiplier.
std::optional<std::vector<int32_t>> high_multipliers(const WideScaling& scaling) {
  const bool high = scaling.rounding == WideRounding::kHigh;
  if ((scaling.rounding != WideRounding::kOnce && !high) || scaling.wide()) return std::nullopt;
  std::vector<int32_t> out;
  for (double scale : scaling.scales) {
    if (high) {
      out.push_back(static_cast<int32_t>(high_multiplier(scale, scaling.shift)));
      continue;
    }
    Kept m = kept_of(scale);
    if (m.multiplier == 0) m.right = 32;
    if (m.right < 16 || m.right > 32) return std::nullopt;
    out.push_back(static_cast<int32_t>(int64_t{m.multiplier} << (32 - m.right)));
  }
  return out;
}

bool WideRequantizer::make_high(LoweringBuilder& f, const WideScaling& what) {
  auto table = high_multipliers(what);
  if (!table) return false;
  if (!per_channel_) table->resize(1);
  form_ = Form::kHigh;
  shift_ = what.shift;
  table_ = f.constant("scale", DType::kI32, *table);
  return true;
}

void WideRequantizer::make_shift(LoweringBuilder& f, const WideScaling& what) {
  form_ = Form::kShift;
  stride_ = 2;
  std::vector<int32_t> table;
  for (size_t c = 0; c < what.scales.size(); ++c) {
    Kept m = kept_of(what.scales[c]);
    int64_t most = ((what.ranges[c].magnitude() * m.multiplier) >> m.right) + 1;
    wraps_ = wraps_ || most >= int64_t{1} << 31;
    if (c > 0 && !per_channel_) continue;
    table.push_back(m.multiplier);
    table.push_back(m.right);
  }
  table_ = f.constant("scale", DType::kI32, table);
}

namespace {

// floor((floor(acc * m / 2^31) + half) / 2^shift) with m = first * 2^31 + second.
struct Pieces {
  int32_t first, second;
  int shift;

  int64_t operator()(int64_t acc) const {
    int64_t t = acc * first + ((acc * second) >> 31);
    return (t + (int64_t{1} << (shift - 1))) >> shift;
  }
};

// Where the reference's product is a tie, or is rounded to one, it goes away from zero: so does that of a
// multiplier that is larger by next to nothing.
Pieces pieces_of(double scale, int shift, bool larger) {
  auto m = static_cast<int64_t>(std::llround(std::ldexp(scale, 31 + shift)));
  if (larger) m += std::max<int64_t>(m >> 51, 1);
  return {static_cast<int32_t>(m >> 31), static_cast<int32_t>(m & 0x7FFFFFFF), shift};
}

// Do the pieces give the reference's value for all sums? Both are steps, so only sums beside a tie can
// differ; the distance of each tie to the nearest sum says which those are.
class PiecesProof {
 public:
  PiecesProof(double scale, AccRange range, Pieces pieces)
      : scale_(scale), largest_(range.magnitude()), pieces_(pieces) {}

  bool holds() const {
    // The product of the pieces is off by less than 2^-26, and so is a tie that is worked out here. A
    // step of the sum is four times as much at least.
    constexpr double kNear = 0x1p-24;
    for (int k = 0; k <= 32768; ++k) {
      double sum = (k + 0.5) / scale_;
      if (sum > static_cast<double>(largest_) + 1) return true;
      double nearest = std::floor(sum + 0.5);
      if (std::abs(sum - nearest) * scale_ > kNear) continue;
      auto acc = static_cast<int64_t>(nearest);
      for (int64_t a : {acc - 1, acc, acc + 1, -acc - 1, -acc, -acc + 1})
        if (std::abs(a) <= largest_ && pieces_(a) != scale_real(a, scale_)) return false;
    }
    return true;
  }

 private:
  double scale_;
  int64_t largest_;
  Pieces pieces_;
};

}  // namespace

bool WideRequantizer::make_pieces(LoweringBuilder& f, const WideScaling& what) {
  double most = *std::max_element(what.scales.begin(), what.scales.end());
  double least = *std::min_element(what.scales.begin(), what.scales.end());
  int exponent = 0;
  std::frexp(most, &exponent);
  int shift = std::min(32, 31 - exponent);  // the multiplier keeps 62 bits
  // Fewer bits would be off by more than the proof takes for granted.
  if (wide_ || shift < 1 || std::ldexp(least, 31 + shift) < 0x1p41) return false;
  auto pieces = [&](size_t c, bool larger) { return pieces_of(what.scales[c], shift, larger); };
  // Of channels with the same scale the one with the largest sums proves it for all.
  std::map<double, size_t> largest;
  for (size_t c = 0; c < what.scales.size(); ++c) {
    auto [of, fresh] = largest.emplace(what.scales[c], c);
    if (!fresh && what.ranges[c].magnitude() > what.ranges[of->second].magnitude()) of->second = c;
  }
  auto holds = [&](bool larger) {
    return std::all_of(largest.begin(), largest.end(), [&](const auto& of) {
      return PiecesProof(of.first, what.ranges[of.second], pieces(of.second, larger)).holds();
    });
  };
  bool larger = holds(true);
  if (!larger && !holds(false)) return false;
  std::vector<int32_t> table;
  for (size_t c = 0; c < (per_channel_ ? what.scales.size() : 1); ++c) {
    Pieces m = pieces(c, larger);
    table.push_back(m.first);
    table.push_back(m.second);
  }
  form_ = Form::kPieces;
  pieces_shift_ = shift;
  stride_ = 2;
  table_ = f.constant("scale", DType::kI32, table);
  return true;
}

void WideRequantizer::make_float(LoweringBuilder& f, const WideScaling& what) {
  form_ = Form::kFloat;
  std::vector<double> scales = what.scales;
  if (!per_channel_) scales.resize(1);
  table_ = f.constant("scale", DType::kF64, scales, 8);
}

std::string_view WideRequantizer::form() const {
  switch (form_) {
    case Form::kHigh: return "high word";
    case Form::kShift: return wide_ ? "64 bits" : "one rounding";
    case Form::kTwice: return "two roundings";
    case Form::kPieces: return "two words";
    case Form::kFloat: return "double";
  }
  return "";
}

void WideRequantizer::begin(FunctionBuilder& f) {
  if (!per_channel_) shared_ = load_channel(f, Ex(0));
}

WideRequantizer::Channel WideRequantizer::load_channel(FunctionBuilder& f, const Ex& index) const {
  Channel out;
  Ex at = per_channel_ ? index * stride_ : Ex(0);
  out.multiplier = f.let("m", load(table_, at));
  if (stride_ == 2) out.second = f.let(form_ == Form::kPieces ? "l" : "s", load(table_, at + 1));
  return out;
}

WideRequantizer::Channel WideRequantizer::prepare(FunctionBuilder& f, const Ex& channel) const {
  return per_channel_ ? load_channel(f, channel) : shared_;
}

namespace {

Ex wide(const Ex& x) { return x.type() == DType::kI64 ? x : cast(DType::kI64, x); }

}  // namespace

Ex WideRequantizer::emit(FunctionBuilder& f, const Ex& acc, const Channel& channel) const {
  Ex q;
  switch (form_) {
    case Form::kHigh:
      q = (wide(acc) * wide(channel.multiplier) + i64(high_half(shift_))) >> i64(32);
      q = cast(DType::kI32, q);
      if (shift_ > 0) q = q >> shift_;
      break;
    case Form::kShift: {
      Ex right = f.let("right", wide(channel.second));
      Ex sum = wide(acc) * wide(channel.multiplier) + (i64(1) << (right - i64(1)));
      q = wraps_ ? cast_wrapping(DType::kI32, sum >> right) : cast(DType::kI32, sum >> right);
      break;
    }
    case Form::kTwice: q = emit_twice(f, acc, channel); break;
    case Form::kPieces: q = emit_pieces(f, acc, channel); break;
    case Form::kFloat: {
      Ex real = cast(DType::kF64, acc) * channel.multiplier;
      real = f.let("t", call(tir::Intrinsic::kRound, DType::kF64, {real}));
      return cast(DType::kI32, clamp(real, tir::f64(clamp_.min), tir::f64(clamp_.max)));
    }
  }
  return clamp(f.let("q", q), clamp_.min, clamp_.max);
}

Ex WideRequantizer::emit_pieces(FunctionBuilder& f, const Ex& acc, const Channel& channel) const {
  Ex low = f.let("low", (wide(acc) * wide(channel.second)) >> i64(31));
  Ex sum = low + wide(acc) * wide(channel.multiplier) + i64(int64_t{1} << (pieces_shift_ - 1));
  return cast(DType::kI32, sum >> i64(pieces_shift_));
}

// The reference's own steps: a left shift that wraps, a high multiply, a rounding right shift.
Ex WideRequantizer::emit_twice(FunctionBuilder& f, const Ex& acc, const Channel& channel) const {
  Ex x = f.let("x", shl_wrapping(acc, max(channel.second, 0)));
  Ex t = f.let("t", cast(DType::kI32, (wide(x) * wide(channel.multiplier) + i64(1 << 30)) >> i64(31)));
  Ex s = f.let("right", max(-channel.second, 0));
  Ex mask = f.let("mask", cast(DType::kI32, (i64(1) << wide(s)) - i64(1)));
  return (t >> s) + ((t & mask) > (mask >> 1) + (t < 0));
}

}  // namespace aotc::ops
