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

class SignalWindow final : public SignalFunction {
 public:
  SignalWindow()
      : SignalFunction({.name = "signal_window",
                        .summary = "frames of samples times a window, shifted and saturated",
                        .operands = {{.name = "samples", .types = {DType::kI16}, .ranks = {1, 8}},
                                     {.name = "window", .types = {DType::kI16}, .ranks = {1, 1}}},
                        .results = {{.name = "y"}},
                        .attributes = make_attributes<WindowAttrs>,
                        .ranges = {within<&WindowAttrs::shift>("shift", 0, 31)}}) {}

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

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    const int64_t samples = op.operand(0).elements(), width = op.operand(1).elements();
    if (width < 1 || samples % width != 0) {
      bad_shape(op, diags, fmt::format("a window of {} does not divide {} samples", width, samples));
      return false;
    }
    return true;
  }
};

class SignalFftAutoScale final : public SignalFunction {
 public:
  SignalFftAutoScale()
      : SignalFunction(
            {.name = "signal_fft_auto_scale",
             .summary = "samples shifted to the left as far as they go, and how far",
             .operands = {{.name = "x", .types = {DType::kI16}, .ranks = {1, 1}}},
             .results = {{.name = "y"}, {.name = "shift", .types = {DType::kI32}, .shape_of = ResultSpec::kScalar}}}) {}

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

class SignalEnergy final : public SignalFunction {
 public:
  SignalEnergy()
      : SignalFunction({.name = "signal_energy",
                        .summary = "squared magnitudes of pairs (real, imaginary) from start_index to end_index, 0 "
                                   "elsewhere",
                        .operands = {{.name = "x", .types = {{DType::kI16, "result uint32"}}, .ranks = {1, 1}}},
                        .results = {{.name = "y", .types = {DType::kU32}}},
                        .shapes = Shapes::kOwn,
                        .attributes = make_attributes<EnergyAttrs>}) {}

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

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>{{op.operand(0).shape[0] / 2}};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<EnergyAttrs>();
    const int64_t bins = op.result().elements();
    if (op.operand(0).elements() % 2 != 0) {
      bad_shape(op, diags, fmt::format("{} numbers are no pairs", op.operand(0).elements()));
      return false;
    }
    if (attrs.start_index >= 0 && attrs.start_index <= attrs.end_index && attrs.end_index <= bins) return true;
    bad_attribute(op, diags, fmt::format("bins {}..{} of {}", attrs.start_index, attrs.end_index, bins));
    return false;
  }
};

}  // namespace

void add_signal_window(OperatorSet& set) { set.add(std::make_unique<SignalWindow>()); }
void add_signal_fft_auto_scale(OperatorSet& set) { set.add(std::make_unique<SignalFftAutoScale>()); }
void add_signal_energy(OperatorSet& set) { set.add(std::make_unique<SignalEnergy>()); }

}  // namespace aotc::ops
