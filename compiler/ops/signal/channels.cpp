// SPDX-License-Identifier: Apache-2.0
// What is done to the channels of a filter bank: signal_filter_bank_spectral_subtraction,
// signal_pcan, signal_filter_bank_log.
#include <cmath>

#include <fmt/format.h>

#include "ops/signal/attributes.h"
#include "ops/signal/signal.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostChannels = 32766;

// Two products of 32 and 30 bits add up in 63.
template <auto Member>
AttributeRule coefficient(std::string_view name) {
  return within<Member>(name, 0, 1 << 30);
}

// Operands: channels, noise before. Results: channels, noise after.
class SignalSubtraction final : public StatefulSignal {
 public:
  SignalSubtraction()
      : StatefulSignal(
            {.name = "signal_filter_bank_spectral_subtraction",
             .summary = "channels less a running estimate of their noise",
             .operands = {{.name = "channels", .types = {{DType::kU32, "keeps the estimate"}}, .ranks = {1, 1}}},
             .results = {{.name = "y"}, {.name = "noise"}},
             .attributes = make_attributes<SubtractionAttrs>,
             .ranges = {coefficient<&SubtractionAttrs::smoothing>("smoothing"),
                        coefficient<&SubtractionAttrs::one_minus_smoothing>("one_minus_smoothing"),
                        coefficient<&SubtractionAttrs::alternate_smoothing>("alternate_smoothing"),
                        coefficient<&SubtractionAttrs::alternate_one_minus_smoothing>("alternate_one_minus_smoothing"),
                        coefficient<&SubtractionAttrs::min_signal_remaining>("min_signal_remaining"),
                        within<&SubtractionAttrs::smoothing_bits>("smoothing_bits", 0, 31),
                        within<&SubtractionAttrs::spectral_subtraction_bits>("spectral_subtraction_bits", 0, 31)}}) {}

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_spectral_subtraction");
    BufferPtr in = f.operand(0), before = f.operand(1), out = f.result(0), after = f.result(1);
    const auto& a = op.attrs<SubtractionAttrs>();
    auto wide = [](const Ex& x) { return cast(DType::kI64, x); };
    auto narrow = [](const Ex& x) { return cast_wrapping(DType::kU32, x); };
    const Ex bits = tir::i64(a.spectral_subtraction_bits), up = u32(a.smoothing_bits);
    const bool same = a.smoothing == a.alternate_smoothing && a.one_minus_smoothing == a.alternate_one_minus_smoothing;
    f.loop("i", 0, op.operand(0).elements(), [&](const Ex& i) {
      auto coefficient = [&](int64_t even, int64_t odd) {
        return same ? tir::i64(even) : select((i & Ex(1)) == Ex(0), tir::i64(even), tir::i64(odd));
      };
      Ex x = f.let("x", load(in, i));
      Ex signal = f.let("signal", shl_wrapping(x, up));
      Ex sum = wide(signal) * coefficient(a.smoothing, a.alternate_smoothing) +
               wide(load(before, i)) * coefficient(a.one_minus_smoothing, a.alternate_one_minus_smoothing);
      Ex noise = f.let("noise", narrow(sum >> bits));
      Ex estimate = f.let("estimate", min(noise, signal));
      Ex floor = f.let("floor", narrow(wide(x) * tir::i64(a.min_signal_remaining) >> bits));
      f.store(after, i, a.clamping ? estimate : noise);
      f.store(out, i, max((signal - estimate) >> up, floor));
    });
    f.publish_in_place(1);
    return f.finish();
  }

 protected:
  Result<std::vector<OperatorState>> kept(const OpView& op, Diagnostics& diags) const override {
    const int64_t channels = op.attrs<SubtractionAttrs>().num_channels;
    if (op.operand(0).elements() == channels && channels <= kMostChannels)
      return std::vector<OperatorState>{{{DType::kU32, op.operand(0).shape, {}}, 1, {}}};
    bad_shape(op, diags,
              fmt::format("{} channels, the options say {}; they agree, and {} are the most", op.operand(0).elements(),
                          channels, kMostChannels));
    return kFailure;
  }
};

class SignalPcan final : public SignalFunction {
 public:
  SignalPcan()
      : SignalFunction(
            {.name = "signal_pcan",
             .summary = "channels times a gain that depends on their noise, compressed",
             .operands = {{.name = "channels", .types = {{DType::kU32, "constant table of int16"}}, .ranks = {1, 1}},
                          {.name = "noise", .types = {DType::kU32}, .ranks = {1, 1}},
                          {.name = "gains", .types = {DType::kI16}, .ranks = {1, 1}}},
             .results = {{.name = "y"}},
             .attributes = make_attributes<PcanAttrs>,
             .ranges = {within<&PcanAttrs::snr_shift>("snr_shift", 0, 32)}}) {}

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_pcan");
    BufferPtr in = f.operand(0), noise = f.operand(1), gains = f.operand(2), out = f.result();
    f.loop("i", 0, op.operand(0).elements(), [&](const Ex& i) {
      Ex gain = emit_gain(f, gains, f.let("level", load(noise, i)));
      Ex product = mul_wrapping(cast(DType::kI64, load(in, i)), cast(DType::kI64, gain));
      Ex ratio = f.let("ratio", cast_wrapping(DType::kU32, product >> tir::i64(op.attrs<PcanAttrs>().snr_shift)));
      // 12 bits of fraction become 6: a square up to 2, a line behind it.
      f.store(out, i,
              select(ratio < u32(2 << 12), (mul_wrapping(ratio, ratio)) >> u32(20), (ratio >> u32(6)) - u32(64)));
    });
    f.publish_in_place(0);
    return f.finish();
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    const int64_t channels = op.operand(0).elements(), gains = op.operand(2).elements();
    if (op.operand(0).shape != op.operand(1).shape)
      return bad_shape(op, diags, fmt::format("{} channels and {} of noise", channels, op.operand(1).elements()));
    return gains >= kGains ||
           bad_shape(op, diags, fmt::format("a table of {} gains; 32 bits of noise take {}", gains, kGains));
  }

 private:
  static constexpr int64_t kGains = 125;

  // A parabola for each power of two: three numbers in every four of the table. As u32, sign and
  // all.
  static Ex emit_gain(LoweringBuilder& f, const BufferPtr& gains, const Ex& level) {
    Ex gain = f.var("gain", 0);
    f.if_(
        level <= u32(2), [&] { f.assign(gain, load(gains, cast(DType::kI32, level))); },
        [&] {
          Ex bits = emit_significant_bits(f, level);
          Ex shifted = select(bits < u32(11), shl_wrapping(level, u32(11) - bits), level >> (bits - u32(11)));
          Ex fraction = f.let("fraction", cast(DType::kI32, shifted & u32(1023)));
          Ex at = f.let("at", cast(DType::kI32, bits) * 4 - 6);
          Ex slope = f.let("slope", (load(gains, at + 2) * fraction >> Ex(5)) + load(gains, at + 1) * 32);
          Ex value = add_wrapping(mul_wrapping(slope, fraction), Ex(1 << 14)) >> Ex(15);
          f.assign(gain, cast(DType::kI32, cast_wrapping(DType::kI16, value + load(gains, at))));
        });
    return cast_wrapping(DType::kU32, gain);
  }
};

// What log2(1 + x) is above x, in 16 bits of fraction, at each 128th of 0..1; the last is read
// beside it.
std::vector<uint16_t> log_table() {
  std::vector<uint16_t> table;
  for (int i = 0; i <= 128; ++i)
    table.push_back(static_cast<uint16_t>(std::lround(65536.0 * (std::log2(1.0 + i / 128.0) - i / 128.0))));
  return table;
}

class SignalLog final : public SignalFunction {
 public:
  SignalLog()
      : SignalFunction({.name = "signal_filter_bank_log",
                        .summary = "natural logarithms in whole numbers of 1 / output_scale",
                        .operands = {{.name = "x", .types = {{DType::kU32, "result int16"}}, .ranks = {1, 1}}},
                        .results = {{.name = "y", .types = {DType::kI16}}},
                        .attributes = make_attributes<LogAttrs>,
                        .ranges = {within<&LogAttrs::input_correction_bits>("input_correction_bits", 0, 31)}}) {}

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_log");
    const auto& attrs = op.attrs<LogAttrs>();
    BufferPtr in = f.operand(0), table = f.constant("log_table", DType::kU16, log_table()), out = f.result();
    f.loop("i", 0, op.operand(0).elements(), [&](const Ex& i) {
      Ex x = f.let("x", shl_wrapping(load(in, i), u32(attrs.input_correction_bits)));
      Ex value = f.var("value", u32(0));
      f.if_(x > u32(1), [&] {
        Ex whole = f.let("whole", emit_significant_bits(f, x) - u32(1));
        Ex above = f.let("above", x - shl_wrapping(u32(1), whole));
        Ex fraction = f.let("fraction", cast(DType::kI32, select(whole < u32(16), shl_wrapping(above, u32(16) - whole),
                                                                 above >> (whole - u32(16)))));
        Ex segment = f.let("segment", fraction >> Ex(9)), low = f.let("low", load(table, segment));
        Ex more = (load(table, segment + 1) - low) * (fraction & Ex(511)) >> Ex(16);
        Ex log2 = f.let("log2", (cast(DType::kI32, whole) << Ex(16)) + fraction + low + more);
        Ex natural = (tir::i64(45426) * cast(DType::kI64, log2) + tir::i64(32768)) >> tir::i64(16);
        Ex scale = u32(static_cast<uint32_t>(attrs.output_scale));
        f.assign(value, add_wrapping(mul_wrapping(scale, cast(DType::kU32, natural)), u32(32768)) >> u32(16));
      });
      f.store(out, i, cast(DType::kI32, min(value, u32(32767))));
    });
    f.publish_in_place(0);
    return f.finish();
  }
};

}  // namespace

void add_signal_spectral_subtraction(OperatorSet& set) { set.add(std::make_unique<SignalSubtraction>()); }
void add_signal_pcan(OperatorSet& set) { set.add(std::make_unique<SignalPcan>()); }
void add_signal_log(OperatorSet& set) { set.add(std::make_unique<SignalLog>()); }

}  // namespace aotc::ops
