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

bool check_rows(const OpView& op, size_t least, size_t most, Diagnostics& diags) {
  return check_rank(op, 0, least, most, diags) &&
         (op.operand(0).elements() > 0 || bad_shape(op, diags, "there are no samples"));
}

bool check_kept(const OpView& op, int64_t rows, int64_t kept, Diagnostics& diags) {
  if (kept <= kMostKept && rows <= kMostKept && rows * kept <= kMostKept) return true;
  return bad_attribute(op, diags,
                       fmt::format("{} rows of {} samples are kept; {} samples are the most", rows, kept, kMostKept));
}

bool check_state_counts(const OpView& op, size_t states, size_t results, Diagnostics& diags) {
  return check_counts(op, 1 + states, 1 + states, results + states, diags);
}

bool check_state(const OpView& op, size_t i, size_t result, const graph::TensorType& type, Diagnostics& diags) {
  if (!check_type(op, i, {type.dtype}, diags) || !check_result_type(op, result, type.dtype, diags)) return false;
  return op.operand(i).shape == type.shape ||
         bad_shape(op, diags, fmt::format("operand {} has not the shape of what is kept", i));
}

bool check_option(const OpView& op, const char* name, int64_t value, int64_t least, int64_t most, Diagnostics& diags) {
  if (value >= least && value <= most) return true;
  return bad_attribute(op, diags, fmt::format("{} {} is outside of {}..{}", name, value, least, most));
}

namespace {

// Operands: samples, those before. Results: samples, those after.
class SignalDelay final : public SignalOperatorOf<DelayAttrs>, public Stateful, public Fusable {
 public:
  std::string_view name() const override { return "signal_delay"; }
  std::string_view summary() const override { return "samples as they were delay_length earlier"; }
  std::vector<TypeSupport> types() const override { return {{DType::kI16, "keeps samples"}}; }
  Result<std::vector<OperatorState>> states(const OpView& op, Diagnostics& diags) const override {
    if (!check_samples(op, diags)) return kFailure;
    std::vector<OperatorState> out;
    if (stream(op).kept > 0) out.push_back({stream(op).kept_type(), {}, {}});
    return out;
  }
  bool is_identity(const OpView& op) const override { return stream(op).kept == 0; }

  Shapes infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_samples(op, diags) || !check_state_counts(op, state_count(op), 1, diags)) return kFailure;
    std::vector<graph::Shape> out = {op.operand(0).shape};
    if (state_count(op) > 0) out.push_back(stream(op).kept_type().shape);
    return out;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_types(op, {DType::kI16}, {DType::kI16}, diags)) return kFailure;
    if (state_count(op) > 0 && !check_state(op, 1, 1, stream(op).kept_type(), diags)) return kFailure;
    return success();
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_delay");
    const bool keeps = state_count(op) > 0;
    BufferPtr in = f.operand(0), before = keeps ? f.operand(1) : nullptr;
    BufferPtr out = f.result(0), after = keeps ? f.result(1) : nullptr;
    stream(op).emit(f, in, before, out, after);
    if (keeps) f.publish_in_place(1);
    return f.finish();
  }

 private:
  static Stream stream(const OpView& op) {
    const int64_t frame = op.operand(0).shape.back();
    return {op.operand(0).elements() / frame, op.attrs<DelayAttrs>().delay_length, 1, frame, frame};
  }
  static size_t state_count(const OpView& op) { return stream(op).kept > 0 ? 1 : 0; }

  static bool check_samples(const OpView& op, Diagnostics& diags) {
    return check_counts(op, 1, 2, op.op.results.size(), diags) && check_rows(op, 1, 8, diags) &&
           check_option(op, "delay_length", op.attrs<DelayAttrs>().delay_length, 0, kMostKept, diags) &&
           check_kept(op, stream(op).rows, stream(op).kept, diags);
  }
};

// Operands: samples, steps that are missing to the first frame (unless prefilled), samples before.
// Results: frames, are they whole, steps missing after, samples after.
class SignalFramer final : public SignalOperatorOf<FramerAttrs>, public Stateful {
 public:
  std::string_view name() const override { return "signal_framer"; }
  std::string_view summary() const override { return "frames of frame_size samples, one every frame_step"; }
  std::vector<TypeSupport> types() const override { return {{DType::kI16, "keeps samples"}}; }
  Result<std::vector<OperatorState>> states(const OpView& op, Diagnostics& diags) const override {
    if (!check_samples(op, diags)) return kFailure;
    const Stream s = stream(op);
    std::vector<OperatorState> out;
    if (counts(op)) out.push_back(OperatorState::counter(static_cast<int32_t>(s.kept / s.step)));
    if (s.kept > 0) out.push_back({s.kept_type(), {}, {}});
    return out;
  }

  Shapes infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_samples(op, diags) || !check_state_counts(op, state_count(op), 2, diags)) return kFailure;
    const Stream s = stream(op);
    graph::Shape shape = op.operand(0).shape;
    shape.back() = s.parts;
    shape.push_back(s.size);
    std::vector<graph::Shape> out = {shape, {}};
    if (counts(op)) out.emplace_back();
    if (s.kept > 0) out.push_back(s.kept_type().shape);
    return out;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_types(op, {DType::kI16}, {DType::kI16, DType::kBool}, diags)) return kFailure;
    if (counts(op) && !check_state(op, 1, 2, {DType::kI32, {}, {}}, diags)) return kFailure;
    const size_t last = state_count(op);
    if (stream(op).kept > 0 && !check_state(op, last, last + 1, stream(op).kept_type(), diags)) return kFailure;
    return success();
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_framer");
    const Stream s = stream(op);
    const size_t last = state_count(op);
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

 private:
  // The reference's buffer holds whole steps, unless it was filled with zeros first.
  static Stream stream(const OpView& op) {
    const auto& a = op.attrs<FramerAttrs>();
    const int64_t row = op.operand(0).shape.back(), step = a.frame_step, size = a.frame_size;
    const int64_t held = a.prefill ? size : (size + step - 1) / step * step;
    return {op.operand(0).elements() / row, held - step, row / step, step, size};
  }
  static bool counts(const OpView& op) { return stream(op).kept > 0 && !op.attrs<FramerAttrs>().prefill; }
  static size_t state_count(const OpView& op) { return (counts(op) ? 1u : 0u) + (stream(op).kept > 0 ? 1u : 0u); }

  static bool check_samples(const OpView& op, Diagnostics& diags) {
    const auto& a = op.attrs<FramerAttrs>();
    if (!check_counts(op, 1, 3, op.op.results.size(), diags) || !check_rows(op, 1, 7, diags) ||
        !check_option(op, "frame_size", a.frame_size, a.prefill ? a.frame_step : 1, kMostKept, diags) ||
        !check_option(op, "frame_step", a.frame_step, 1, kMostKept, diags))
      return false;
    const int64_t row = op.operand(0).shape.back();
    if (row % a.frame_step != 0)
      return bad_shape(op, diags, fmt::format("steps of {} do not divide rows of {}", a.frame_step, row));
    return check_kept(op, stream(op).rows, stream(op).kept, diags);
  }
};

// Operands: channels, runs to the next stack (-1: there was no run yet), channels before. Results: the
// stack, is it one, runs after, channels after.
class SignalStacker final : public SignalOperatorOf<StackerAttrs>, public Stateful {
 public:
  std::string_view name() const override { return "signal_stacker"; }
  std::string_view summary() const override { return "the channels of several runs, once every stacker_step runs"; }
  std::vector<TypeSupport> types() const override { return {{DType::kI16, "keeps channels"}}; }
  Result<std::vector<OperatorState>> states(const OpView& op, Diagnostics& diags) const override {
    if (!check_channels(op, diags)) return kFailure;
    std::vector<OperatorState> out;
    if (state_count(op) > 0) out = {OperatorState::counter(-1), {stream(op).kept_type(), {}, {}}};
    return out;
  }

  Shapes infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_channels(op, diags) || !check_state_counts(op, state_count(op), 2, diags)) return kFailure;
    std::vector<graph::Shape> out = {{stream(op).size}, {}};
    if (state_count(op) == 0) return out;
    out.emplace_back();
    out.push_back(stream(op).kept_type().shape);
    return out;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_types(op, {DType::kI16}, {DType::kI16, DType::kBool}, diags)) return kFailure;
    const bool good = state_count(op) == 0 || (check_state(op, 1, 2, {DType::kI32, {}, {}}, diags) &&
                                               check_state(op, 2, 3, stream(op).kept_type(), diags));
    return good ? success() : Status(kFailure);
  }

  // Of the first run the reference makes as many frames as go before it. Those further back are never
  // part of a stack, so all may be copies.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_stacker");
    const Stream s = stream(op);
    const auto& a = op.attrs<StackerAttrs>();
    const bool keeps = state_count(op) > 0;
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

 private:
  static Stream stream(const OpView& op) {
    const auto& a = op.attrs<StackerAttrs>();
    const int64_t width = a.num_channels, others = int64_t{a.stacker_left_context} + a.stacker_right_context;
    return {1, others * width, 1, width, (others + 1) * width};
  }
  static size_t state_count(const OpView& op) { return stream(op).kept > 0 ? 2 : 0; }

  static bool check_channels(const OpView& op, Diagnostics& diags) {
    const auto& a = op.attrs<StackerAttrs>();
    if (!check_counts(op, 1, 3, op.op.results.size(), diags) || !check_rows(op, 1, 1, diags)) return false;
    const int64_t channels = op.operand(0).elements();
    if (channels != a.num_channels)
      return bad_shape(op, diags, fmt::format("{} channels, the options say {}", channels, a.num_channels));
    for (auto [name, value] : {std::pair("stacker_left_context", a.stacker_left_context),
                               std::pair("stacker_right_context", a.stacker_right_context)})
      if (!check_option(op, name, value, 0, kMostKept, diags)) return false;
    const int64_t frames = int64_t{a.stacker_left_context} + a.stacker_right_context + 1;
    return check_kept(op, frames - 1, channels, diags) &&
           check_option(op, "stacker_step", a.stacker_step, 1, frames, diags);
  }
};

}  // namespace

void add_signal_frames(OperatorSet& set) {
  set.add(std::make_unique<SignalDelay>());
  set.add(std::make_unique<SignalFramer>());
  set.add(std::make_unique<SignalStacker>());
}

}  // namespace aotc::ops
