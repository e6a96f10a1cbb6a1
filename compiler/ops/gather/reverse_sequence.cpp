// SPDX-License-Identifier: Apache-2.0
// reverse_sequence: of every batch, as many elements along an axis as a list says, backwards. The run
// ends at a length beyond the axis; one below 1 reverses nothing.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/common/movement.h"
#include "ops/gather/attributes.h"
#include "ops/gather/indices.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class ReverseSequence final : public SpecifiedOperator {
 public:
  ReverseSequence()
      : SpecifiedOperator({.name = "reverse_sequence",
                           .summary = "the begin of each sequence backwards, by its length",
                           .operands = {{.name = "x",
                                         .types = {DType::kF32, DType::kI16, DType::kI32, DType::kI64, DType::kU8},
                                         .moved = true},
                                        {.name = "lengths", .types = {DType::kI32, DType::kI64}, .ranks = {1, 1}}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .traits = {.may_fail = true},
                           .attributes = make_attributes<ReverseSequenceAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const graph::Shape& in_shape = op.operand(0).shape;
    const auto& attrs = op.attrs<ReverseSequenceAttrs>();
    auto seq = static_cast<size_t>(attrs.seq_dim), batch = static_cast<size_t>(attrs.batch_dim);
    std::vector<int64_t> strides = strides_of(in_shape);
    AxisView low = view_at(in_shape, std::min(seq, batch)), high = view_at(in_shape, std::max(seq, batch));
    int64_t between = low.inner / (high.axis * high.inner);
    LoweringBuilder f(op, "reverse_sequence");
    BufferPtr in = f.operand(0), lengths = f.operand(1), out = f.result();
    f.loop("b", 0, in_shape[batch], [&](Ex b) {
      Ex given = f.let("given", load(lengths, b));
      auto number = [&](int64_t n) { return tir::imm(given.type(), n); };
      f.if_(given > number(in_shape[seq]), [&] { f.fail(); });
      Ex length = max(given, number(0));
      length = f.let("length", length.type() == DType::kI32 ? length : cast(DType::kI32, length));
      f.loop("o", 0, low.outer, [&](Ex o) {
        f.loop("m", 0, between, [&](Ex m) {
          Ex first = f.let("first", o * (low.axis * low.inner) + m * (high.axis * high.inner) + b * strides[batch]);
          f.loop("i", 0, in_shape[seq], [&](Ex i) {
            Ex from = f.let("from", select(i < length, length - 1 - i, i));
            emit_run(f, out, first + i * strides[seq], in, first + from * strides[seq], high.inner);
          });
        });
      });
    });
    return f.finish("copy");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& in = op.operand(0).shape;
    const auto& a = op.attrs<ReverseSequenceAttrs>();
    auto rank = static_cast<int64_t>(in.size());
    bool good = a.seq_dim >= 0 && a.seq_dim < rank && a.batch_dim >= 0 && a.batch_dim < rank &&
                a.seq_dim != a.batch_dim && op.operand(1).shape[0] == in[static_cast<size_t>(a.batch_dim)];
    if (good) return std::vector<graph::Shape>{in};
    bad_attribute(op, diags,
                  fmt::format("sequences along dimension {}, {} batches along dimension {} of shape {}", a.seq_dim,
                              op.operand(1).shape[0], a.batch_dim, graph::to_string(in)));
    return kFailure;
  }
};

}  // namespace

void add_reverse_sequence(OperatorSet& set) { set.add(std::make_unique<ReverseSequence>()); }

}  // namespace aotc::ops
