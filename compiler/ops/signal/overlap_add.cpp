// SPDX-License-Identifier: Apache-2.0
// signal_overlap_add: frames that overlap become one row of samples.
#include <fmt/format.h>

#include "ops/signal/attributes.h"
#include "ops/signal/frames.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// Operands: frames, sums before. Results: samples, sums after. The sums are what earlier frames add to the
// first frame_size - frame_step samples to come.
class SignalOverlapAdd final : public StatefulSignal {
 public:
  SignalOverlapAdd()
      : StatefulSignal({.name = "signal_overlap_add",
                        .summary = "frames added up, each frame_step behind the one before; int16 saturates at each",
                        .operands = {{.name = "frames",
                                      .types = {{DType::kI16, "keeps sums"}, {DType::kF32, "keeps sums"}},
                                      .ranks = {2, 8}}},
                        .results = {{.name = "samples"}},
                        .shapes = Shapes::kOwn,
                        .attributes = make_attributes<OverlapAddAttrs>}) {}

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_overlap_add");
    const Sizes s(op);
    BufferPtr in = f.operand(0), before = s.kept > 0 ? f.operand(1) : nullptr;
    BufferPtr out = f.result(0), after = s.kept > 0 ? f.result(1) : nullptr;
    f.loop("row", 0, s.rows, [&](const Ex& row) {
      Ex old = f.let("old", row * s.kept);
      // The first frame meets the sums of earlier runs, the others those that are in the result.
      emit_frame(f, s, {in, before, out, after}, row * s.frames, old);
      f.loop("frame", 1, s.frames,
             [&](const Ex& frame) { emit_frame(f, s, {in, after, out, after}, row * s.frames + frame, old); });
    });
    if (s.kept > 0) f.publish_in_place(1);
    return f.finish();
  }

 protected:
  Result<std::vector<OperatorState>> kept(const OpView& op, Diagnostics& diags) const override {
    const int32_t step = op.attrs<OverlapAddAttrs>().frame_step;
    if (!check_has_samples(op, diags) || !check_option(op, "frame_step", step, 1, op.operand(0).shape.back(), diags))
      return kFailure;
    const Sizes s(op);
    if (!check_kept_samples(op, s.rows, s.kept, diags)) return kFailure;
    std::vector<OperatorState> out;
    if (s.kept > 0) out.push_back({s.type, {}, {}});
    return out;
  }

  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    const Sizes s(op);
    graph::Shape shape = op.operand(0).shape;
    shape.pop_back();
    shape.back() = s.frames * s.step;
    return std::vector<graph::Shape>{shape};
  }

 private:
  struct Sizes {
    explicit Sizes(const OpView& op) {
      const graph::Shape& shape = op.operand(0).shape;
      step = op.attrs<OverlapAddAttrs>().frame_step;
      size = shape.back();
      frames = shape[shape.size() - 2];
      rows = op.operand(0).elements() / (size * frames);
      kept = size - step;
      type = {op.operand(0).dtype, {rows, kept}, {}};
    }
    int64_t step, size, frames, rows, kept;
    graph::TensorType type;
  };
  struct Buffers {
    BufferPtr in, before, out, after;
  };

  // The reference adds to sums that are 0 where nothing was added yet: -0 becomes 0.
  static Ex sum(const Sizes& s, const Ex& a, const Ex& b) {
    if (s.type.dtype == DType::kF32) return a + b;
    return clamp(a + b, Ex(-32768), Ex(32767));
  }

  static void emit_frame(LoweringBuilder& f, const Sizes& s, const Buffers& b, const Ex& frame, const Ex& old) {
    const Ex zero = s.type.dtype == DType::kF32 ? tir::f32(0.0f) : Ex(0);
    const int64_t added = std::min(s.kept, s.step), moved = std::max<int64_t>(s.kept - s.step, 0);
    Ex from = f.let("from", frame * s.size), to = f.let("to", frame * s.step);
    f.loop("i", 0, added,
           [&](const Ex& i) { f.store(b.out, to + i, sum(s, load(b.in, from + i), load(b.before, old + i))); });
    f.loop("i", added, s.step, [&](const Ex& i) { f.store(b.out, to + i, sum(s, load(b.in, from + i), zero)); });
    f.loop("i", 0, moved, [&](const Ex& i) {
      f.store(b.after, old + i, sum(s, load(b.in, from + i + s.step), load(b.before, old + i + s.step)));
    });
    f.loop("i", moved, s.kept,
           [&](const Ex& i) { f.store(b.after, old + i, sum(s, load(b.in, from + i + s.step), zero)); });
  }
};

}  // namespace

void add_signal_overlap_add(OperatorSet& set) { set.add(std::make_unique<SignalOverlapAdd>()); }

}  // namespace aotc::ops
