// SPDX-License-Identifier: Apache-2.0
// signal_rfft and signal_irfft: rows of real samples to pairs (real, imaginary) and back, by a
// transform of half as many complex numbers.
#include <numbers>

#include <fmt/format.h>

#include "ops/signal/attributes.h"
#include "ops/signal/fft_stages.h"
#include "ops/signal/signal.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int32_t kMostFftLength = 1 << 16;

constexpr std::string_view kFftFactors = "fft_length / 2 of factors 2, 3 and 5";

class SignalFft : public SignalFunction {
 public:
  SignalFft(std::string_view name, std::string_view summary)
      : SignalFunction({.name = name,
                        .summary = summary,
                        .operands = {{.name = "x",
                                      .types = {{DType::kI16, kFftFactors},
                                                {DType::kI32, kFftFactors},
                                                {DType::kF32, kFftFactors}},
                                      .ranks = {1, 8}}},
                        .results = {{.name = "y"}},
                        .shapes = Shapes::kOwn,
                        .attributes = make_attributes<FftAttrs>}) {}

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    if (!check_length(op, diags)) return kFailure;
    graph::Shape shape = op.operand(0).shape;
    shape.back() = length(op) + (inverse() ? 0 : 2);
    return std::vector<graph::Shape>{shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const int64_t row = op.operand(0).shape.back();
    if (inverse() ? row == length(op) + 2 : row >= 1 && row <= length(op)) return true;
    bad_shape(op, diags,
              fmt::format("rows of {} for an fft_length of {}; {}", row, length(op),
                          inverse() ? "they have fft_length + 2 numbers" : "they have at most that many"));
    return false;
  }

  virtual bool inverse() const = 0;
  static int64_t length(const OpView& op) { return op.attrs<FftAttrs>().fft_length; }

  static bool check_length(const OpView& op, Diagnostics& diags) {
    const int64_t n = length(op);
    if (n >= 4 && n <= kMostFftLength && n % 2 == 0 && FftStages::takes(n / 2)) return true;
    return bad_attribute(op, diags,
                         fmt::format("fft_length {}; it is even, from 4 to {}, and its half has no factors "
                                     "but 2, 3 and 5",
                                     n, kMostFftLength));
  }

  // Factors between the halves of the real transform.
  static BufferPtr halves_table(LoweringBuilder& f, DType type, int64_t points, bool inverse) {
    std::vector<double> phases;
    for (int64_t i = 0; i < points / 2; ++i) {
      const double phase = -std::numbers::pi * (static_cast<double>(i + 1) / static_cast<double>(points) + .5);
      phases.push_back(inverse ? -phase : phase);
    }
    return fft_table(f, "super_twiddles", type, phases);
  }
};

class SignalRfft final : public SignalFft {
 public:
  SignalRfft() : SignalFft("signal_rfft", "spectrum of rows of real samples") {}
  int64_t macs(const OpView& op) const override {
    return op.operand(0).elements() / op.operand(0).shape.back() * length(op) * 4;
  }

  // The transform runs in the result, which has room for one number more.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const DType type = op.operand(0).dtype;
    const int64_t points = length(op) / 2, row = op.operand(0).shape.back();
    LoweringBuilder f(op, "signal_rfft");
    BufferPtr in = f.operand(0), out = f.result();
    FftStages stages(f, type, points, false);
    BufferPtr source = f.constant("source", DType::kU16, stages.source());
    BufferPtr halves = halves_table(f, type, points, false);
    FftNumbers n(f, type);
    f.loop("row", 0, op.operand(0).elements() / row, [&](const Ex& r) {
      Ex from = f.let("from", r * row), to = f.let("to", r * (length(op) + 2));
      f.loop("i", 0, points, [&](const Ex& i) {
        Ex at = f.let("sample", load(source, i) * 2);
        auto sample = [&](const Ex& s) {
          return row == length(op) ? load(in, from + s) : select(s < Ex(row), load(in, from + s), n.zero());
        };
        f.store(out, to + i * 2, sample(at));
        f.store(out, to + i * 2 + 1, sample(at + 1));
      });
      stages.emit(out, to);
      emit_halves(f, n, out, to, halves, points);
    });
    return f.finish();
  }

 protected:
  bool inverse() const override { return false; }

 private:
  static void emit_halves(LoweringBuilder& f, const FftNumbers& n, const BufferPtr& out, const Ex& to,
                          const BufferPtr& halves, int64_t points) {
    Complex first = n.divided(n.load(out, to), 2);
    f.store(out, to, n.stored(n.add(first.r, first.i)));
    f.store(out, to + 1, n.zero());
    f.store(out, to + points * 2, n.stored(n.subtract(first.r, first.i)));
    f.store(out, to + points * 2 + 1, n.zero());
    f.loop("k", 1, points / 2 + 1, [&](const Ex& k) {
      Ex low = f.let("low", to + k * 2), high = f.let("high", to + (Ex(points) - k) * 2);
      Complex a = n.divided(n.load(out, low), 2);
      Complex b = n.load(out, high);
      b = n.divided({b.r, f.let("conjugate", n.negated(b.i))}, 2);
      Complex sum = n.add(a, b), difference = n.subtract(a, b);
      Complex t = n.product(difference, n.load(halves, k * 2 - 2));
      t = n.named("t", {n.narrow(t.r), n.narrow(t.i)});
      auto store = [&](const Ex& at, const Ex& real, const Ex& imaginary) {
        f.store(out, at, n.half(real));
        f.store(out, at + 1, n.half(imaginary));
      };
      store(low, n.add(sum.r, t.r), n.add(sum.i, t.i));
      store(high, n.subtract(sum.r, t.r), n.subtract(t.i, sum.i));
    });
  }
};

class SignalIrfft final : public SignalFft {
 public:
  SignalIrfft() : SignalFft("signal_irfft", "rows of real samples of spectra") {}
  int64_t macs(const OpView& op) const override { return op.result().elements() * 4; }

  // Numbers go right where the transform in the result begins with them.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const DType type = op.operand(0).dtype;
    const int64_t points = length(op) / 2;
    LoweringBuilder f(op, "signal_irfft");
    BufferPtr in = f.operand(0), out = f.result();
    FftStages stages(f, type, points, true);
    std::vector<uint16_t> source = stages.source(), places(source.size());
    for (size_t i = 0; i < source.size(); ++i) places[source[i]] = static_cast<uint16_t>(i);
    BufferPtr place = f.constant("place", DType::kU16, places);
    BufferPtr halves = halves_table(f, type, points, true);
    FftNumbers n(f, type);
    f.loop("row", 0, op.result().elements() / length(op), [&](const Ex& r) {
      Ex from = f.let("from", r * (length(op) + 2)), to = f.let("to", r * length(op));
      emit_halves(f, n, {in, from}, {out, to}, place, halves, points);
      stages.emit(out, to);
      if (type != DType::kF32) return;
      f.loop("i", 0, length(op),
             [&](const Ex& i) { f.store(out, to + i, load(out, to + i) / tir::f32(static_cast<float>(length(op)))); });
    });
    return f.finish();
  }

 protected:
  bool inverse() const override { return true; }

 private:
  struct Row {
    BufferPtr buffer;
    Ex first;
  };

  static void emit_halves(LoweringBuilder& f, const FftNumbers& n, const Row& in, const Row& out,
                          const BufferPtr& place, const BufferPtr& halves, int64_t points) {
    Ex first = f.let("first", load(in.buffer, in.first)), last = f.let("last", load(in.buffer, in.first + points * 2));
    n.store(out.buffer, out.first, n.divided({n.narrow(n.add(first, last)), n.narrow(n.subtract(first, last))}, 2));
    f.loop("k", 1, points / 2 + 1, [&](const Ex& k) {
      Complex a = n.divided(n.load(in.buffer, in.first + k * 2), 2);
      Complex b = n.load(in.buffer, in.first + (Ex(points) - k) * 2);
      b = n.divided({b.r, f.let("conjugate", n.negated(b.i))}, 2);
      Complex sum = n.add(a, b), difference = n.subtract(a, b);
      Complex t = n.product(difference, n.load(halves, k * 2 - 2));
      t = n.named("t", {n.narrow(t.r), n.narrow(t.i)});
      n.store(out.buffer, out.first + load(place, k) * 2, n.add(sum, t));
      Complex other = n.subtract(sum, t);
      Ex minus = n.type() == DType::kF32 ? other.i * tir::f32(-1.0f) : n.minus(n.narrow(other.i));
      n.store(out.buffer, out.first + load(place, Ex(points) - k) * 2, {other.r, minus});
    });
  }
};

}  // namespace

void add_signal_fft(OperatorSet& set) {
  set.add(std::make_unique<SignalRfft>());
  set.add(std::make_unique<SignalIrfft>());
}

}  // namespace aotc::ops
