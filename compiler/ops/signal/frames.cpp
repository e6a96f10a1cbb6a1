// SPDX-License-Identifier: Apache-2.0
// signal_delay, signal_framer, signal_stacker: samples of this run behind those of earlier ones.
#include "ops/signal/frames.h"
#include "ops/signal/attributes.h"

#include <fmt/format.h>

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

graph::TensorType Stream::kept_type() const { return {DType::kI16, {rows, kept}, {}}; }

void Stream::emit(LoweringBuilder& f, const BufferPtr& in, const BufferPtr& before, const BufferPtr& out,
                  const BufferPtr& after) const {
  f.loop("row", 0, rows, [&](const Ex& row) {
    Ex from = f.let("from", row * (parts * step)), old = f.let("old", row * kept);
    f.loop("part", 0, parts, [&](const Ex& part) {
      Ex begin = f.let("begin", part * step);
      Ex to = f.let("to", (row * parts + part) * size);
      Ex split = kept == 0 ? Ex(0) : f.let("split", clamp(Ex(kept) - begin, Ex(0), Ex(size)));
      if (kept > 0) f.loop("i", 0, split, [&](const Ex& i) { f.store(out, to + i, load(before, old + begin + i)); });
      f.loop("i", split, size, [&](const Ex& i) { f.store(out, to + i, load(in, from + begin + i - kept)); });
    });
    const int64_t stay = std::max<int64_t>(kept - parts * step, 0);
    f.loop("i", 0, stay, [&](const Ex& i) { f.store(after, old + i, load(before, old + i + parts * step)); });
    f.loop("i", stay, kept, [&](const Ex& i) { f.store(after, old + i, load(in, from + i + (parts * step - kept))); });
  });
}

bool check_has_samples(const OpView& op, Diagnostics& diags) {
  return op.operand(0).elements() > 0 || bad_shape(op, diags, "there are no samples");
}

bool check_kept_samples(const OpView& op, int64_t rows, int64_t kept, Diagnostics& diags) {
  if (kept <= kMostKept && rows <= kMostKept && rows * kept <= kMostKept) return true;
  return bad_attribute(op, diags,
                       fmt::format("{} rows of {} samples are kept; {} samples are the most", rows, kept, kMostKept));
}

bool check_option(const OpView& op, const char* name, int64_t value, int64_t least, int64_t most, Diagnostics& diags) {
  if (value >= least && value <= most) return true;
  return bad_attribute(op, diags, fmt::format("{} {} is outside of {}..{}", name, value, least, most));
}

namespace {

// Operands: samples, those before. Results: samples, those after.
class SignalDelay final : public StatefulSignal, public Fusable {
 public:
  SignalDelay()
      : StatefulSignal({.name = "signal_delay",
                        .summary = "samples as they were delay_length earlier",
                        .operands = {{.name = "samples", .types = {{DType::kI16, "keeps samples"}}, .ranks = {1, 8}}},
                        .results = {{.name = "y"}},
                        .attributes = make_attributes<DelayAttrs>,
                        .ranges = {within<&DelayAttrs::delay_length>("delay_length", 0, kMostKept)}}) {}

  bool is_identity(const OpView& op) const override { return stream(op).kept == 0; }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_delay");
    const bool keeps = stream(op).kept > 0;
    BufferPtr in = f.operand(0), before = keeps ? f.operand(1) : nullptr;
    BufferPtr out = f.result(0), after = keeps ? f.result(1) : nullptr;
    stream(op).emit(f, in, before, out, after);
    if (keeps) f.publish_in_place(1);
    return f.finish();
  }

 protected:
  Result<std::vector<OperatorState>> kept(const OpView& op, Diagnostics& diags) const override {
    if (!check_has_samples(op, diags) || !check_kept_samples(op, stream(op).rows, stream(op).kept, diags))
      return kFailure;
    std::vector<OperatorState> out;
    if (stream(op).kept > 0) out.push_back({stream(op).kept_type(), {}, {}});
    return out;
  }

 private:
  static Stream stream(const OpView& op) {
    const int64_t frame = op.operand(0).shape.back();
    return {op.operand(0).elements() / frame, op.attrs<DelayAttrs>().delay_length, 1, frame, frame};
  }
};

// Operands: samples, steps that are missing to the first frame (unless prefilled), samples before.
// Results: frames, are they whole, steps missing after, samples after.
class SignalFramer final : public StatefulSignal {
 public:
  SignalFramer()
      : StatefulSignal({.name = "signal_framer",
                        .summary = "frames of frame_size samples, one every frame_step",
                        .operands = {{.name = "samples", .types = {{DType::kI16, "keeps samples"}}, .ranks = {1, 7}}},
                        .results = {{.name = "frames"}, {.name = "whole", .types = {DType::kBool}}},
                        .shapes = Shapes::kOwn,
                        .attributes = make_attributes<FramerAttrs>,
                        .ranges = {within<&FramerAttrs::frame_size>("frame_size", 1, kMostKept),
                                   within<&FramerAttrs::frame_step>("frame_step", 1, kMostKept)}}) {}

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_framer");
    const Stream s = stream(op);
    const size_t last = counts(op) ? 2 : 1;
    BufferPtr in = f.operand(0), steps = counts(op) ? f.operand(1) : nullptr,
              before = s.kept > 0 ? f.operand(last) : nullptr;
    BufferPtr out = f.result(0), whole = f.result(1), left = counts(op) ? f.result(2) : nullptr,
              after = s.kept > 0 ? f.result(last + 1) : nullptr;
    if (counts(op)) {
      Ex missing = f.let("missing", max(load(steps, 0), Ex(0)));
      f.store(whole, 0, select(missing > Ex(0), Ex(0), Ex(1)));
      f.store(left, 0, max(missing - s.parts, Ex(0)));
    } else {
      f.store(whole, 0, 1);
    }
    s.emit(f, in, before, out, after);
    if (s.kept > 0) f.publish_in_place(static_cast<int>(last));
    return f.finish();
  }

 protected:
  Result<std::vector<OperatorState>> kept(const OpView& op, Diagnostics& diags) const override {
    const auto& a = op.attrs<FramerAttrs>();
    if (!check_has_samples(op, diags) ||
        (a.prefill && !check_option(op, "frame_size", a.frame_size, a.frame_step, kMostKept, diags)))
      return kFailure;
    const int64_t row = op.operand(0).shape.back();
    if (row % a.frame_step != 0) {
      bad_shape(op, diags, fmt::format("steps of {} do not divide rows of {}", a.frame_step, row));
      return kFailure;
    }
    const Stream s = stream(op);
    if (!check_kept_samples(op, s.rows, s.kept, diags)) return kFailure;
    std::vector<OperatorState> out;
    if (counts(op)) out.push_back(OperatorState::counter(static_cast<int32_t>(s.kept / s.step)));
    if (s.kept > 0) out.push_back({s.kept_type(), {}, {}});
    return out;
  }

  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    graph::Shape shape = op.operand(0).shape;
    shape.back() = stream(op).parts;
    shape.push_back(stream(op).size);
    return std::vector<graph::Shape>{shape, {}};
  }

 private:
  // The reference's buffer holds whole steps, unless it was filled with zeros first.
  static Stream stream(const OpView& op) {
    const auto& a = op.attrs<FramerAttrs>();
    const int64_t row = op.operand(0).shape.back(), step = a.frame_step, size = a.frame_size;
    const int64_t held = a.prefill ? size : (size + step - 1) / step * step;
    return {op.operand(0).elements() / row, held - step, row / step, step, size};
  }
  static bool counts(const OpView& op) { return stream(op).kept > 0 && !op.attrs<FramerAttrs>().prefill; }
};

// Operands: channels, runs to the next stack (-1: there was no run yet), channels before. Results: the
// stack, is it one, runs after, channels after.
class SignalStacker final : public StatefulSignal {
 public:
  SignalStacker()
      : StatefulSignal(
            {.name = "signal_stacker",
             .summary = "the channels of several runs, once every stacker_step runs",
             .operands = {{.name = "channels", .types = {{DType::kI16, "keeps channels"}}, .ranks = {1, 1}}},
             .results = {{.name = "stack"}, {.name = "whole", .types = {DType::kBool}}},
             .shapes = Shapes::kOwn,
             .attributes = make_attributes<StackerAttrs>,
             .ranges = {within<&StackerAttrs::stacker_left_context>("stacker_left_context", 0, kMostKept),
                        within<&StackerAttrs::stacker_right_context>("stacker_right_context", 0, kMostKept)}}) {}

  // Of the first run the reference makes as many frames as go before it. Those further back are never
  // part of a stack, so all may be copies.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_stacker");
    const Stream s = stream(op);
    const auto& a = op.attrs<StackerAttrs>();
    const bool keeps = s.kept > 0;
    BufferPtr in = f.operand(0), runs = keeps ? f.operand(1) : nullptr, before = keeps ? f.operand(2) : nullptr;
    BufferPtr out = f.result(0), whole = f.result(1), left = keeps ? f.result(2) : nullptr,
              after = keeps ? f.result(3) : nullptr;
    if (!keeps) {
      f.store(whole, 0, 1);
      s.emit(f, in, before, out, after);
      return f.finish();
    }
    Ex state = f.let("state", load(runs, 0));
    Ex wait = f.let("wait", select(state < Ex(0), Ex(a.stacker_right_context), state));
    f.store(whole, 0, select(wait > Ex(0), Ex(0), Ex(1)));
    f.store(left, 0, select(wait > Ex(0), wait, Ex(a.stacker_step)) - Ex(1));
    auto copies = [&](const BufferPtr& to, int64_t count) {
      f.loop("frame", 0, count / s.step, [&](const Ex& frame) {
        f.loop("i", 0, s.step, [&](const Ex& i) { f.store(to, frame * s.step + i, load(in, i)); });
      });
    };
    f.if_(
        state < Ex(0),
        [&] {
          copies(out, s.size);
          copies(after, s.kept);
        },
        [&] { s.emit(f, in, before, out, after); });
    f.publish_in_place(2);
    return f.finish();
  }

 protected:
  Result<std::vector<OperatorState>> kept(const OpView& op, Diagnostics& diags) const override {
    const auto& a = op.attrs<StackerAttrs>();
    if (!check_has_samples(op, diags)) return kFailure;
    const int64_t channels = op.operand(0).elements();
    if (channels != a.num_channels) {
      bad_shape(op, diags, fmt::format("{} channels, the options say {}", channels, a.num_channels));
      return kFailure;
    }
    const int64_t frames = int64_t{a.stacker_left_context} + a.stacker_right_context + 1;
    if (!check_kept_samples(op, frames - 1, channels, diags) ||
        !check_option(op, "stacker_step", a.stacker_step, 1, frames, diags))
      return kFailure;
    std::vector<OperatorState> out;
    if (stream(op).kept > 0) out = {OperatorState::counter(-1), {stream(op).kept_type(), {}, {}}};
    return out;
  }

  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>{{stream(op).size}, {}};
  }

 private:
  static Stream stream(const OpView& op) {
    const auto& a = op.attrs<StackerAttrs>();
    const int64_t width = a.num_channels, others = int64_t{a.stacker_left_context} + a.stacker_right_context;
    return {1, others * width, 1, width, (others + 1) * width};
  }
};

}  // namespace

void add_signal_frames(OperatorSet& set) {
  set.add(std::make_unique<SignalDelay>());
  set.add(std::make_unique<SignalFramer>());
  set.add(std::make_unique<SignalStacker>());
}

}  // namespace aotc::ops
