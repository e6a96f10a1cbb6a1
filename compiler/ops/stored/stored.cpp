// SPDX-License-Identifier: Apache-2.0
// Stored values as they are. as_stored: the same bytes under another scale and zero point, or
// none, a view. byte_table: each byte replaced by that at its place in a constant table,
// whose first is of the least byte. The one thing to know: neither looks at scales, so a frontend
// can say where a model's integers begin and end to mean real numbers.
#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lut.h"

namespace aotc::ops {

namespace {

std::vector<TypeSupport> byte_types() { return {{DType::kI8, ""}, {DType::kU8, ""}}; }

class AsStored final : public UnaryElementwise {
 public:
  std::string_view name() const override { return "as_stored"; }
  std::string_view summary() const override { return "the same bytes under another quantisation; costs nothing"; }
  std::vector<TypeSupport> types() const override { return {{DType::kI8, ""}, {DType::kU8, ""}, {DType::kI16, ""}}; }
  Traits traits() const override { return {.view = true, .elementwise = true}; }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    bool good = check_type(op, 0, {DType::kI8, DType::kU8, DType::kI16}, diags) &&
                check_result_type(op, 0, op.operand(0).dtype, diags);
    return good ? success() : Status(kFailure);
  }

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

class ByteTable final : public Operator, public Transposable {
 public:
  std::string_view name() const override { return "byte_table"; }
  std::string_view summary() const override { return "each byte replaced by that at its place in a table of 256"; }
  std::vector<TypeSupport> types() const override { return byte_types(); }
  Traits traits() const override { return {.elementwise = true}; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 2, 2, 1, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape};
  }

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    AxisFlow flow = same_axes(1, 1, op.result().shape.size());
    flow.operands.resize(op.operand_count());
    return flow;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_type(op, 0, {DType::kI8, DType::kU8}, diags) || !check_type(op, 1, {DType::kI8, DType::kU8}, diags) ||
        !check_result_type(op, 0, op.operand(1).dtype, diags))
      return kFailure;
    if (op.constant(1) != nullptr && op.operand(1).elements() == 256) return success();
    bad_shape(op, diags, "the table must be a constant of 256 elements");
    return kFailure;
  }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_unary_int(op, data, function(op)); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return lower_byte_function(op, "byte_table", function(op));
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
