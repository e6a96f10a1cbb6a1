// SPDX-License-Identifier: Apache-2.0
// Samples in front of a spectrum, and its energy: signal_window, signal_fft_auto_scale,
// signal_energy.
#include <fmt/format.h>

#include "ops/signal/attributes.h"
#include "ops/signal/signal.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class SignalWindow final : public SignalOperatorOf<WindowAttrs> {
 public:
  std::string_view name() const override { return "signal_window"; }
  std::string_view summary() const override { return "frames of samples times a window, shifted and saturated"; }
  std::vector<TypeSupport> types() const override { return {{DType::kI16, ""}}; }

  Shapes infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 2, 2, 1, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_types(op, {DType::kI16, DType::kI16}, {DType::kI16}, diags)) return kFailure;
    if (!check_rank(op, 0, 1, 8, diags) || !check_rank(op, 1, 1, 1, diags)) return kFailure;
    const int64_t samples = op.operand(0).elements(), width = op.operand(1).elements();
    if (width < 1 || samples % width != 0) {
      bad_shape(op, diags, fmt::format("a window of {} does not divide {} samples", width, samples));
      return kFailure;
    }
    const int32_t shift = op.attrs<WindowAttrs>().shift;
    if (shift >= 0 && shift <= 31) return success();
    bad_attribute(op, diags, fmt::format("shift {} is outside of 0..31", shift));
    return kFailure;
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_window");
    BufferPtr in = f.operand(0), window = f.operand(1), out = f.result();
    const int64_t width = op.operand(1).elements(), frames = op.operand(0).elements() / width;
    f.publish_in_place(0);
    f.loop("frame", 0, frames, [&](const Ex& frame) {
      f.loop("i", 0, width, [&](const Ex& i) {
        Ex at = f.let("at", frame * width + i);
        Ex value = f.let("value", load(in, at) * load(window, i) >> Ex(op.attrs<WindowAttrs>().shift));
        f.store(out, at, clamp(value, Ex(-32768), Ex(32767)));
      });
    });
    return f.finish();
  }
};

class SignalFftAutoScale final : public SignalOperator {
 public:
  std::string_view name() const override { return "signal_fft_auto_scale"; }
  std::string_view summary() const override { return "samples shifted to the left as far as they go, and how far"; }
  std::vector<TypeSupport> types() const override { return {{DType::kI16, ""}}; }

  Shapes infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 2, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape, {}};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_rank(op, 0, 1, 1, diags)) return kFailure;
    return check_types(op, {DType::kI16}, {DType::kI16, DType::kI32}, diags);
  }

  // The largest magnitude is 16 bits in the reference: -32768 has itself, and is then less than all
  // that follow.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_fft_auto_scale");
    BufferPtr in = f.operand(0), out = f.result(0), bits = f.result(1);
    const int64_t count = op.operand(0).elements();
    Ex most = f.var("most", 0);
    f.loop("i", 0, count, [&](const Ex& i) {
      Ex x = f.let("x", load(in, i));
      f.if_(
          x > most, [&] { f.assign(most, x); },
          [&] {
            Ex minus = f.let("minus", Ex(0) - x);
            f.if_(minus > most, [&] { f.assign(most, cast(DType::kI32, cast_wrapping(DType::kI16, minus))); });
          });
    });
    Ex shift = f.var("shift", 0);
    f.if_(most > Ex(0), [&] {
      Ex width = emit_significant_bits(f, f.let("magnitude", cast(DType::kU32, most)));
      f.assign(shift, Ex(15) - cast(DType::kI32, width));
    });
    f.store(bits, 0, shift);
    Ex factor = f.let("factor", Ex(1) << shift);
    f.loop("i", 0, count, [&](const Ex& i) { f.store(out, i, cast_wrapping(DType::kI16, load(in, i) * factor)); });
    return f.finish();
  }
};

class SignalEnergy final : public SignalOperatorOf<EnergyAttrs> {
 public:
  std::string_view name() const override { return "signal_energy"; }
  std::string_view summary() const override {
    return "squared magnitudes of pairs (real, imaginary) from start_index to end_index, 0 "
           "elsewhere";
  }
  std::vector<TypeSupport> types() const override { return {{DType::kI16, "result uint32"}}; }

  Shapes infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags) || !check_rank(op, 0, 1, 1, diags)) return kFailure;
    return std::vector<graph::Shape>{{op.operand(0).shape[0] / 2}};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_types(op, {DType::kI16}, {DType::kU32}, diags)) return kFailure;
    const auto& attrs = op.attrs<EnergyAttrs>();
    const int64_t bins = op.result().elements();
    if (op.operand(0).elements() % 2 != 0) {
      bad_shape(op, diags, fmt::format("{} numbers are no pairs", op.operand(0).elements()));
      return kFailure;
    }
    if (attrs.start_index >= 0 && attrs.start_index <= attrs.end_index && attrs.end_index <= bins) return success();
    bad_attribute(op, diags, fmt::format("bins {}..{} of {}", attrs.start_index, attrs.end_index, bins));
    return kFailure;
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_energy");
    BufferPtr in = f.operand(0), out = f.result();
    const auto& attrs = op.attrs<EnergyAttrs>();
    auto square = [&](const Ex& x) { return cast(DType::kU32, x * x); };
    f.loop("i", 0, attrs.start_index, [&](const Ex& i) { f.store(out, i, u32(0)); });
    f.loop("i", attrs.start_index, attrs.end_index, [&](const Ex& i) {
      Ex real = f.let("real", load(in, i * 2)), imaginary = f.let("imaginary", load(in, i * 2 + 1));
      f.store(out, i, square(real) + square(imaginary));
    });
    f.loop("i", attrs.end_index, op.result().elements(), [&](const Ex& i) { f.store(out, i, u32(0)); });
    f.publish_in_place(0);
    return f.finish();
  }
};

}  // namespace

void add_signal_window(OperatorSet& set) { set.add(std::make_unique<SignalWindow>()); }
void add_signal_fft_auto_scale(OperatorSet& set) { set.add(std::make_unique<SignalFftAutoScale>()); }
void add_signal_energy(OperatorSet& set) { set.add(std::make_unique<SignalEnergy>()); }

}  // namespace aotc::ops
