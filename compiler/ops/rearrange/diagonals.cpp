// SPDX-License-Identifier: Apache-2.0
// matrix_diag: rows become the diagonals of matrices of zeros. matrix_set_diag: matrices with another
// diagonal.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/rearrange/rearrange.h"

namespace aotc::ops {

namespace {

const std::vector<TypeSupport> kTypes = {{DType::kI8, ""},  {DType::kF32, ""}, {DType::kI16, ""},
                                         {DType::kI32, ""}, {DType::kI64, ""}, {DType::kU8, ""}};

class MatrixDiag final : public RearrangeOperator {
 public:
  std::string_view name() const override { return "matrix_diag"; }
  std::string_view summary() const override { return "rows as diagonals of matrices of zeros"; }
  std::vector<TypeSupport> types() const override { return kTypes; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }
  // Stored zeros are beside the diagonal.
  Uint8 uint8_form(const OpView&) const override { return Uint8::kOwn; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags) || !check_rank(op, 0, 1, 64, diags)) return kFailure;
    graph::Shape shape = op.operand(0).shape;
    shape.push_back(shape.back());
    return std::vector<graph::Shape>{shape};
  }

 protected:
  AffineMap map_of(const OpView& op) const override {
    int64_t n = op.operand(0).shape.back();
    AffineMap map;
    // Stored zeros, whatever the zero point is.
    if (n > 1) map.fill.assign(static_cast<size_t>(size_of(op.operand(0).dtype)), 0);
    map.add_axis(n == 0 ? 0 : op.operand(0).elements() / n, n * n, n);
    map.add_axis(n, n + 1, 1);
    return map;
  }
};

class MatrixSetDiag final : public Operator {
 public:
  std::string_view name() const override { return "matrix_set_diag"; }
  std::string_view summary() const override { return "matrices with another diagonal"; }
  std::vector<TypeSupport> types() const override { return kTypes; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 2, 2, 1, diags) || !check_rank(op, 0, 2, 64, diags)) return kFailure;
    const graph::Shape& whole = op.operand(0).shape;
    graph::Shape rows(whole.begin(), whole.end() - 2);
    rows.push_back(std::min(whole[whole.size() - 2], whole.back()));
    if (rows == op.operand(1).shape) return std::vector<graph::Shape>{whole};
    bad_shape(op, diags,
              fmt::format("a diagonal of shape {} for matrices of shape {}", graph::to_string(op.operand(1).shape),
                          graph::to_string(whole)));
    return kFailure;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    const size_t moved[] = {0, 1};
    std::vector<DType> allowed;
    for (const TypeSupport& type : kTypes) allowed.push_back(type.dtype);
    return check_type(op, 0, allowed, diags) && check_moves(op, moved, diags) ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
    run_movement(diagonal(op), data.operands[1], data.results[0], size_of(op.result().dtype));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "matrix_set_diag");
    tir::BufferPtr whole = f.operand(0), rows = f.operand(1), out = f.result();
    f.copy(out, 0, whole, 0, whole->elements);
    emit_movement(f, out, rows, diagonal(op));
    return f.finish("copy");
  }

 private:
  static Movement diagonal(const OpView& op) {
    const graph::Shape& whole = op.operand(0).shape;
    int64_t n = op.operand(1).shape.back(), columns = whole.back(), rows = whole[whole.size() - 2];
    return {{n == 0 ? 0 : op.operand(1).elements() / n, n}, {rows * columns, columns + 1}, {n, 1}, 0, 0};
  }
};

}  // namespace

void add_diagonal_operators(OperatorSet& set) {
  set.add(std::make_unique<MatrixDiag>());
  set.add(std::make_unique<MatrixSetDiag>());
}

}  // namespace aotc::ops
