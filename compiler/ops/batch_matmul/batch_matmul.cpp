// SPDX-License-Identifier: Apache-2.0
// batch_matmul: matrix products of two operands that are both computed when the model runs, over
// batch dimensions that broadcast; adj_x and adj_y take an operand's matrices transposed.
#include <algorithm>

#include <fmt/format.h>

#include "ops/batch_matmul/attributes.h"
#include "ops/common/broadcast.h"
#include "ops/common/checks.h"
#include "ops/common/conv.h"
#include "ops/common/elementwise.h"
#include "ops/common/gemm.h"
#include "ops/common/requantize.h"
#include "ops/common/wide_requantize.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

graph::Shape batch_of(const graph::Shape& shape) { return {shape.begin(), shape.end() - 2}; }

// How an operand's matrix is walked: from row to row and column to column of what is multiplied.
struct Walk {
  int64_t outer = 0, inner = 0, elements = 0;
};

struct Product {
  explicit Product(const OpView& op) {
    const auto& attrs = op.attrs<BatchMatmulAttrs>();
    const graph::Shape &x = op.operand(0).shape, &y = op.operand(1).shape;
    int64_t x_rows = x[x.size() - 2], x_columns = x.back();
    int64_t y_rows = y[y.size() - 2], y_columns = y.back();
    rows = attrs.adj_x ? x_columns : x_rows;
    depth = attrs.adj_x ? x_rows : x_columns;
    columns = attrs.adj_y ? y_rows : y_columns;
    y_depth = attrs.adj_y ? y_columns : y_rows;
    of_x = {attrs.adj_x ? 1 : x_columns, attrs.adj_x ? x_columns : 1, x_rows * x_columns};
    of_y = {attrs.adj_y ? y_columns : 1, attrs.adj_y ? 1 : y_columns, y_rows * y_columns};
  }

  int64_t rows, columns, depth, y_depth;
  Walk of_x, of_y;  // outer: a row of x, a column of y; inner: a step of the depth
};

// float32 product of the operands' scales, as the reference's.
double scaling_of(const OpView& op) {
  float product = op.operand(0).scale() * op.operand(1).scale();
  if (op.attrs<BatchMatmulAttrs>().rounding == RoundingRule::kOnnxruntime)
    return static_cast<double>(product / op.result().scale());
  return static_cast<double>(product) / static_cast<double>(op.result().scale());
}

// Stored values less a zero point have 255 steps at most.
int64_t largest_sum(int64_t depth) { return depth * 255 * 255; }

// int8 by int8.
Requantization requantization_of(const OpView& op) {
  const int64_t largest = largest_sum(Product(op).depth);
  const std::vector<AccRange> ranges = {{-largest, largest}};
  if (gives_sums(op)) return Requantization::of_sums(1, ranges);
  return {{scaling_of(op)},
          ranges,
          rounding_of(op.attrs<BatchMatmulAttrs>().rounding, Rounding::kDouble),
          op.result().zero_point(),
          {-128, 127}};
}

// int16 by int16 or int8: sums as convolutions have them.
WideScaling wide_scaling_of(const OpView& op) {
  int64_t largest = Product(op).depth * (op.operand(1).dtype == DType::kI16 ? 1 << 30 : 1 << 22);
  return {{scaling_of(op)}, {{-largest, largest}}, WideRounding::kOnce, {-32768, 32767}};
}

// visit(x index, y index, result index) for each matrix.
template <typename Visit>
void for_each_matrix(const OpView& op, const Product& p, Visit visit) {
  Broadcast batches(batch_of(op.result().shape), {batch_of(op.operand(0).shape), batch_of(op.operand(1).shape)});
  batches.for_each([&](size_t at, const std::vector<int64_t>& index) {
    visit(index[0] * p.of_x.elements, index[1] * p.of_y.elements, static_cast<int64_t>(at) * p.rows * p.columns);
  });
}

template <typename T, typename Sum, typename Y = T, typename Out = T, typename Finish>
void multiply(const OpView& op, const EvalData& data, Sum x_zero, Sum y_zero, Finish finish) {
  Product p(op);
  auto x = data.in<T>(0);
  auto y = data.in<Y>(1);
  auto out = data.out<Out>();
  for_each_matrix(op, p, [&](int64_t from_x, int64_t from_y, int64_t to) {
    for (int64_t r = 0; r < p.rows; ++r)
      for (int64_t c = 0; c < p.columns; ++c, ++to) {
        Sum sum = 0;
        for (int64_t k = 0; k < p.depth; ++k)
          sum += (static_cast<Sum>(x[static_cast<size_t>(from_x + r * p.of_x.outer + k * p.of_x.inner)]) - x_zero) *
                 (static_cast<Sum>(y[static_cast<size_t>(from_y + c * p.of_y.outer + k * p.of_y.inner)]) - y_zero);
        out[static_cast<size_t>(to)] = finish(sum);
      }
  });
}

class MatmulLowering {
 public:
  explicit MatmulLowering(const OpView& op)
      : op_(op),
        f_(op, "batch_matmul"),
        p_(op),
        batches_(batch_of(op.result().shape), {batch_of(op.operand(0).shape), batch_of(op.operand(1).shape)}),
        is_float_(op.operand(0).dtype == DType::kF32) {}

  Lowered run() {
    x_ = f_.operand(0);
    y_ = f_.operand(1);
    WideScaling wide_scaling;
    if (op_.operand(0).dtype == DType::kI16) {
      wide_scaling = wide_scaling_of(op_);
      wide_.emplace(f_, wide_scaling);
      if (wide_scaling.wide()) start_ = tir::i64(0);
    } else if (!is_float_) {
      requantizer_.emplace(f_, requantization_of(op_));
    }
    out_ = f_.result();
    if (requantizer_) requantizer_->begin(f_);
    if (wide_) wide_->begin(f_);
    matrices(0, 0, 0, 0);
    if (wide_) return f_.finish(std::string(wide_->form()));
    return f_.finish(requantizer_ ? std::string(requantizer_->form()) : std::string());
  }

 private:
  void matrices(size_t d, const Ex& x, const Ex& y, const Ex& to) {
    if (d == batches_.loops().size()) return matrix(x, y, to);
    const Broadcast::Loop& loop = batches_.loops()[d];
    int64_t inside = p_.rows * p_.columns;
    for (size_t i = d + 1; i < batches_.loops().size(); ++i) inside *= batches_.loops()[i].size;
    f_.loop(fmt::format("b{}", d), 0, loop.size, [&](Ex i) {
      matrices(d + 1, f_.let("xb", x + i * (loop.strides[0] * p_.of_x.elements)),
               f_.let("yb", y + i * (loop.strides[1] * p_.of_y.elements)), f_.let("ob", to + i * inside));
    });
  }

  void matrix(const Ex& x, const Ex& y, const Ex& to) {
    f_.loop("r", 0, p_.rows, [&](Ex r) {
      Ex row = f_.let("row", x + r * p_.of_x.outer);
      Ex results = f_.let("to", to + r * p_.columns);
      f_.loop("c", 0, p_.columns, [&](Ex c) {
        Ex column = f_.let("column", y + c * p_.of_y.outer);
        Ex sum = f_.var("sum", is_float_ ? tir::f32(0.0f) : start_);
        f_.loop("k", 0, p_.depth, [&](Ex k) {
          f_.assign(sum, sum + product_for(sum, value(x_, row + k * p_.of_x.inner, 0),
                                           value(y_, column + k * p_.of_y.inner, 1)));
        });
        f_.store(out_, results + c, finished(sum));
      });
    });
  }

  Ex finished(const Ex& sum) {
    if (wide_) return wide_->emit(f_, sum, wide_->prepare(f_, Ex(0)));
    return requantizer_ ? requantizer_->emit(f_, sum, Ex(0)) : sum;
  }

  Ex value(const BufferPtr& from, const Ex& at, size_t operand) const {
    Ex v = load(from, at);
    return is_float_ ? v : v - op_.operand(operand).zero_point();
  }

  const OpView& op_;
  LoweringBuilder f_;
  Product p_;
  Broadcast batches_;
  bool is_float_;
  std::optional<Requantizer> requantizer_;
  std::optional<WideRequantizer> wide_;  // int16
  Ex start_ = Ex(0);                     // of integer sums, in their type
  BufferPtr x_, y_, out_;
};

class BatchMatmul final : public SpecifiedOperator {
 public:
  BatchMatmul()
      : SpecifiedOperator({.name = "batch_matmul",
                           .summary = "matrix products of two computed operands, batches broadcast",
                           .operands = {{.name = "x",
                                         .types = {{DType::kI8, "one scale and zero point for each operand; also sums"},
                                                   {DType::kI16, "by int16 or int8, zero points 0"},
                                                   DType::kF32},
                                         .ranks = {2, 5}},
                                        {.name = "y", .ranks = {2, 5}}},
                           .results = {{.name = "product", .type_of = ResultSpec::kOwn}},
                           .shapes = Shapes::kOwn,
                           .attributes = make_attributes<BatchMatmulAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype == DType::kF32)
      return multiply<float, float>(op, data, 0.0f, 0.0f, [](float sum) { return sum; });
    if (op.operand(0).dtype == DType::kI16) {
      WideScaling scaling = wide_scaling_of(op);
      auto finish = [&](int64_t sum) { return static_cast<int16_t>(scaling.apply(sum, 0)); };
      if (op.operand(1).dtype == DType::kI16) return multiply<int16_t, int64_t>(op, data, 0, 0, finish);
      return multiply<int16_t, int64_t, int8_t>(op, data, 0, 0, finish);
    }
    const ChannelReference scale = requantization_of(op).reference(0);
    const int32_t x_zero = op.operand(0).zero_point(), y_zero = op.operand(1).zero_point();
    if (gives_sums(op)) return multiply<int8_t, int32_t, int8_t, int32_t>(op, data, x_zero, y_zero, scale);
    multiply<int8_t, int32_t>(op, data, x_zero, y_zero, [&](int32_t sum) { return static_cast<int8_t>(scale(sum)); });
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return MatmulLowering(op).run(); }

  int64_t macs(const OpView& op) const override { return op.result().elements() * Product(op).depth; }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape &x = op.operand(0).shape, &y = op.operand(1).shape;
    Product p(op);
    graph::Shape out;
    if (p.depth != p.y_depth || !broadcast_shapes(batch_of(x), batch_of(y), out)) {
      bad_shape(op, diags,
                fmt::format("the operands' shapes {} and {} do not fit a matrix product", graph::to_string(x),
                            graph::to_string(y)));
      return kFailure;
    }
    out.push_back(p.rows);
    out.push_back(p.columns);
    return std::vector<graph::Shape>{out};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    DType type = op.operand(0).dtype;
    std::vector<DType> others = {type};
    if (type == DType::kI16) others.push_back(DType::kI8);
    const bool sums = gives_sums(op);
    if (!check_result_type(op, 0, sums ? DType::kI32 : type, diags)) return false;
    if (!check_type(op, 1, others, diags) || !check_rounding_rule(op, op.attrs<BatchMatmulAttrs>().rounding, diags))
      return false;
    if (op.result().elements() < 1 || op.operand(0).elements() < 1) {
      bad_shape(op, diags, "batch_matmul of no elements");
      return false;
    }
    if (type == DType::kF32) return true;
    for (size_t i = 0; sums && i < 2; ++i)
      if (!check_per_tensor(op, op.operand_tensor(i), diags)) return false;
    if (!sums && !check_quantized_io(op, diags)) return false;
    if (type == DType::kI16) return check_int16(op, diags);
    int64_t depth = Product(op).depth;
    if (largest_sum(depth) > INT32_MAX) {
      bad_shape(op, diags, fmt::format("the sum of {} products may leave 32 bits", depth));
      return false;
    }
    if (sums) return true;
    const double real = scaling_of(op);
    if (op.attrs<BatchMatmulAttrs>().rounding == RoundingRule::kOnnxruntime &&
        !check_even_scales(op, std::span(&real, 1), diags))
      return false;
    return check_multiplier(op, real, largest_sum(depth), diags);
  }

 private:
  static bool check_int16(const OpView& op, Diagnostics& diags) {
    bool good = check_symmetric_io(op, diags);
    if (good && op.operand(1).zero_point() != 0) {
      diags.error(
          op.where(), "op-quantization",
          fmt::format("operand 1 has zero point {}; a product with int16 takes 0 only", op.operand(1).zero_point()));
      return false;
    }
    return good && check_wide_sums(op, wide_scaling_of(op), diags);
  }
};

}  // namespace

void add_operators_batch_matmul(OperatorSet& set) { set.add(std::make_unique<BatchMatmul>()); }

}  // namespace aotc::ops
