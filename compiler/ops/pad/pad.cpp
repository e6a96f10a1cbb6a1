// SPDX-License-Identifier: Apache-2.0
// pad: the operand within a frame of equal elements. Operands: input, optional fill (a constant of
// one element, PADV2's); without it the fill is real zero: the result's zero point, or 0 where
// nothing is quantised.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/pad/attributes.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostPadding = int64_t{1} << 30;

std::vector<uint8_t> fill_of(const OpView& op) {
  auto bytes = static_cast<size_t>(size_of(op.operand(0).dtype));
  if (const graph::ConstantView* c = op.constant(1)) return {c->bytes.begin(), c->bytes.end()};
  // Floats have zero point 0, and 0.0 is all bytes 0.
  int64_t zero = op.result().zero_point();
  std::vector<uint8_t> fill;
  for (size_t i = 0; i < bytes; ++i) fill.push_back(static_cast<uint8_t>(static_cast<uint64_t>(zero) >> (8 * i)));
  return fill;
}

// The dimensions with those that are not padded merged into the one before.
struct Frame {
  std::vector<int64_t> in, before, after;

  int64_t out(size_t d) const { return before[d] + in[d] + after[d]; }
};

Frame frame_of(const OpView& op) {
  const auto& attrs = op.attrs<PadAttrs>();
  Frame frame;
  for (size_t i = 0; i < attrs.before.size(); ++i) {
    int64_t n = op.operand(0).shape[i], before = attrs.before[i], after = attrs.after[i];
    if (!frame.in.empty() && before == 0 && after == 0) {
      frame.in.back() *= n;
      frame.before.back() *= n;
      frame.after.back() *= n;
      continue;
    }
    frame.in.push_back(n);
    frame.before.push_back(before);
    frame.after.push_back(after);
  }
  return frame;
}

class PadLowering {
 public:
  explicit PadLowering(const OpView& op) : f_(op, "pad"), frame_(frame_of(op)), fill_(fill_of(op)) {
    in_ = f_.operand(0);
    out_ = f_.result();
    size_t rank = frame_.in.size();
    in_inner_.assign(rank + 1, 1);
    out_inner_.assign(rank + 1, 1);
    for (size_t d = rank; d-- > 0;) {
      in_inner_[d] = in_inner_[d + 1] * frame_.in[d];
      out_inner_[d] = out_inner_[d + 1] * frame_.out(d);
    }
  }

  Lowered run() {
    level(0, 0, 0);
    return f_.finish("copy");
  }

 private:
  // Writes dimension d and those inside it, from element `to` on.
  void level(size_t d, const Ex& to, const Ex& from) {
    if (d == frame_.in.size()) return emit_run(f_, out_, to, in_, from, 1);
    int64_t step = out_inner_[d + 1], before = frame_.before[d] * step;
    emit_fill(f_, out_, to, fill_, before);
    if (d + 1 == frame_.in.size()) {
      emit_run(f_, out_, to + before, in_, from, frame_.in[d]);
    } else {
      f_.loop(fmt::format("i{}", d), 0, frame_.in[d], [&](Ex i) {
        Ex inner_to = f_.let("to", to + before + i * step);
        level(d + 1, inner_to, f_.let("from", from + i * in_inner_[d + 1]));
      });
    }
    emit_fill(f_, out_, to + before + frame_.in[d] * step, fill_, frame_.after[d] * step);
  }

  LoweringBuilder f_;
  Frame frame_;
  std::vector<uint8_t> fill_;
  std::vector<int64_t> in_inner_, out_inner_;
  BufferPtr in_, out_;
};

class Pad final : public SpecifiedOperator, public Fusable, public Transposable {
 public:
  Pad()
      : SpecifiedOperator({.name = "pad",
                           .summary = "constant padding (PAD, PADV2)",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true},
                                        {.name = "fill", .same_type_as = 0, .optional = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<PadAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    std::vector<uint8_t> fill = fill_of(op);
    std::span<uint8_t> out = data.results[0];
    for (size_t i = 0; i < out.size(); ++i) out[i] = fill[i % fill.size()];
    Movement move;
    move.extents = op.operand(0).shape;
    move.from_strides = strides_of(move.extents);
    move.to_strides = strides_of(op.result().shape);
    for (size_t i = 0; i < move.extents.size(); ++i)
      move.to_offset += op.attrs<PadAttrs>().before[i] * move.to_strides[i];
    run_movement(move, data.operands[0], out, size_of(op.operand(0).dtype));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return PadLowering(op).run(); }

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    AxisFlow flow = same_axes(1, 1, op.result().shape.size());
    flow.operands.resize(op.operand_count());
    return flow;
  }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    auto attributes = std::make_shared<PadAttrs>(op.attrs<PadAttrs>());
    attributes->before = ordered_shape(attributes->before, axes);
    attributes->after = ordered_shape(attributes->after, axes);
    return attributes;
  }

  bool is_identity(const OpView& op) const override {
    const auto& attrs = op.attrs<PadAttrs>();
    auto zero = [](int64_t v) { return v == 0; };
    return std::all_of(attrs.before.begin(), attrs.before.end(), zero) &&
           std::all_of(attrs.after.begin(), attrs.after.end(), zero);
  }

  std::optional<Padding> as_padding(const OpView& op) const override {
    return Padding{op.attrs<PadAttrs>().before, op.attrs<PadAttrs>().after, fill_of(op)};
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<PadAttrs>();
    graph::Shape shape = op.operand(0).shape;
    if (!check_amounts(op, attrs.before, attrs.after, diags)) return kFailure;
    for (size_t i = 0; i < shape.size(); ++i) {
      for (int64_t amount : {attrs.before[i], attrs.after[i]}) {
        if (amount >= 0 && amount <= kMostPadding) continue;
        bad_attribute(op, diags, fmt::format("dimension {} is padded by {}", i, amount));
        return kFailure;
      }
      shape[i] += attrs.before[i] + attrs.after[i];
    }
    return std::vector<graph::Shape>{shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    if (!op.has_operand(1)) return true;
    if (op.constant(1) == nullptr) return bad_attribute(op, diags, "the fill of pad (operand 1) must be constant");
    if (op.operand(1).elements() != 1)
      return bad_shape(op, diags, fmt::format("the fill has {} elements, expected 1", op.operand(1).elements()));
    if (op.operand(1).zero_point() == op.result().zero_point()) return true;
    diags.error(op.where(), "op-quantization", "pad copies its fill, but fill and result have different zero points");
    return false;
  }
};

}  // namespace

void add_operators_pad(OperatorSet& set) { set.add(std::make_unique<Pad>()); }

}  // namespace aotc::ops
