// SPDX-License-Identifier: Apache-2.0
// Stored values as they are. as_stored: the same bytes under another scale and zero point, or
// none, a view. byte_table: each byte replaced by that at its place in a constant table,
// whose first is of the least byte. The one thing to know: neither looks at scales, so a frontend
// can say where a model's integers begin and end to mean real numbers.
#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lut.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

class AsStored final : public SpecifiedOperator {
 public:
  AsStored()
      : SpecifiedOperator({.name = "as_stored",
                           .summary = "the same bytes under another quantisation; costs nothing",
                           .operands = {{.name = "x", .types = {DType::kI8, DType::kU8, DType::kI16}}},
                           .results = {{.name = "y"}},
                           .traits = {.view = true, .elementwise = true}}) {}

  void evaluate(const OpView&, const EvalData& data) const override {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
  }

  // A view has no code of its own; this is the copy for who asks nevertheless.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "as_stored");
    tir::BufferPtr in = f.operand(0), out = f.result();
    f.copy(out, 0, in, 0, in->elements);
    return f.finish("copy");
  }
};

class ByteTable final : public SpecifiedOperator, public Transposable {
 public:
  ByteTable()
      : SpecifiedOperator({.name = "byte_table",
                           .summary = "each byte replaced by that at its place in a table of 256",
                           .operands = {{.name = "x", .types = {DType::kI8, DType::kU8}},
                                        {.name = "table", .types = {DType::kI8, DType::kU8}}},
                           .results = {{.name = "y", .type_of = 1}},
                           .traits = {.elementwise = true}}) {}

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    AxisFlow flow = same_axes(1, 1, op.result().shape.size());
    flow.operands.resize(op.operand_count());
    return flow;
  }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_unary_int(op, data, function(op)); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return lower_byte_function(op, "byte_table", function(op));
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    return (op.constant(1) != nullptr && op.operand(1).elements() == 256) ||
           bad_shape(op, diags, "the table must be a constant of 256 elements");
  }

 private:
  static ByteFunction function(const OpView& op) {
    return [values = widen(op.operand(1).dtype, op.constant(1)->bytes),
            least = int_range(op.operand(0).dtype).min](int64_t x) { return values[static_cast<size_t>(x - least)]; };
  }
};

}  // namespace

void add_operators_stored(OperatorSet& set) {
  set.add(std::make_unique<AsStored>());
  set.add(std::make_unique<ByteTable>());
}

}  // namespace aotc::ops
