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

// Operands: channels, noise before. Results: channels, noise after.
class SignalSubtraction final : public SignalOperatorOf<SubtractionAttrs>, public Stateful {
 public:
  std::string_view name() const override { return "signal_filter_bank_spectral_subtraction"; }
  std::string_view summary() const override { return "channels less a running estimate of their noise"; }
  std::vector<TypeSupport> types() const override { return {{DType::kU32, "keeps the estimate"}}; }
  Result<std::vector<OperatorState>> states(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 2, diags) || !check_channels(op, diags)) return kFailure;
    return std::vector<OperatorState>{{{DType::kU32, op.operand(0).shape, {}}, 1, {}}};
  }

  Shapes infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 2, 2, 2, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape, op.operand(0).shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_types(op, {DType::kU32, DType::kU32}, {DType::kU32, DType::kU32}, diags) ||
        !check_rank(op, 0, 1, 1, diags))
      return kFailure;
    const auto& a = op.attrs<SubtractionAttrs>();
    bool good = check_channels(op, diags);
    if (good && op.operand(1).shape != op.operand(0).shape)
      good = bad_shape(op, diags, "the estimate of the noise has not the channels' shape");
    // Two products of 32 and 30 bits add up in 63.
    for (int32_t x : {a.smoothing, a.one_minus_smoothing, a.alternate_smoothing, a.alternate_one_minus_smoothing,
                      a.min_signal_remaining})
      if (good && (x < 0 || x > 1 << 30))
        good = bad_attribute(op, diags, fmt::format("coefficient {} is outside of 0..{}", x, 1 << 30));
    for (int32_t x : {a.smoothing_bits, a.spectral_subtraction_bits})
      if (good && (x < 0 || x > 31)) good = bad_attribute(op, diags, fmt::format("{} bits are outside of 0..31", x));
    return good ? success() : Status(kFailure);
  }

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

 private:
  // Before there is a state of so many.
  static bool check_channels(const OpView& op, Diagnostics& diags) {
    const int64_t channels = op.attrs<SubtractionAttrs>().num_channels;
    if (op.operand(0).elements() == channels && channels <= kMostChannels) return true;
    return bad_shape(op, diags,
                     fmt::format("{} channels, the options say {}; they agree, and {} are the most",
                                 op.operand(0).elements(), channels, kMostChannels));
  }
};

class SignalPcan final : public SignalOperatorOf<PcanAttrs> {
 public:
  std::string_view name() const override { return "signal_pcan"; }
  std::string_view summary() const override { return "channels times a gain that depends on their noise, compressed"; }
  std::vector<TypeSupport> types() const override { return {{DType::kU32, "constant table of int16"}}; }

  Shapes infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 3, 3, 1, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_types(op, {DType::kU32, DType::kU32, DType::kI16}, {DType::kU32}, diags)) return kFailure;
    for (size_t i = 0; i < 3; ++i)
      if (!check_rank(op, i, 1, 1, diags)) return kFailure;
    bool good = true;
    if (op.operand(0).shape != op.operand(1).shape)
      good = bad_shape(op, diags,
                       fmt::format("{} channels and {} of noise", op.operand(0).elements(), op.operand(1).elements()));
    else if (op.operand(2).elements() < kGains)
      good = bad_shape(op, diags,
                       fmt::format("a table of {} gains; 32 bits of noise take {}", op.operand(2).elements(), kGains));
    const int32_t shift = op.attrs<PcanAttrs>().snr_shift;
    if (good && (shift < 0 || shift > 32))
      good = bad_attribute(op, diags, fmt::format("snr_shift {} is outside of 0..32", shift));
    return good ? success() : Status(kFailure);
  }

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

class SignalLog final : public SignalOperatorOf<LogAttrs> {
 public:
  std::string_view name() const override { return "signal_filter_bank_log"; }
  std::string_view summary() const override { return "natural logarithms in whole numbers of 1 / output_scale"; }
  std::vector<TypeSupport> types() const override { return {{DType::kU32, "result int16"}}; }

  Shapes infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_types(op, {DType::kU32}, {DType::kI16}, diags) || !check_rank(op, 0, 1, 1, diags)) return kFailure;
    const int32_t bits = op.attrs<LogAttrs>().input_correction_bits;
    if (bits >= 0 && bits <= 31) return success();
    bad_attribute(op, diags, fmt::format("input_correction_bits {} is outside of 0..31", bits));
    return kFailure;
  }

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
