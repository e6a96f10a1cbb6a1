// SPDX-License-Identifier: Apache-2.0
// mean: the mean over any axes. int8 sums stored values, takes the zero points off and folds
// 1 / count into the multiplier, as LiteRT's reference kernel does.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/common/reduction.h"
#include "ops/common/requantize.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// A dimension of the operand, after neighbours that fare alike are merged.
struct Dim {
  int64_t extent = 1;
  bool reduced = false;
  int64_t in_stride = 1, out_stride = 0;
};

std::vector<Dim> dims_of(const OpView& op) {
  const graph::Shape& in = op.operand(0).shape;
  const auto& attrs = op.attrs<ReduceAttrs>();
  std::vector<Dim> dims;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == 1) continue;
    bool reduced = attrs.reduces(i);
    if (!dims.empty() && dims.back().reduced == reduced) {
      dims.back().extent *= in[i];
    } else {
      dims.push_back({in[i], reduced, 1, 0});
    }
  }
  int64_t in_stride = 1, out_stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    dims[d].in_stride = in_stride;
    in_stride *= dims[d].extent;
    if (dims[d].reduced) continue;
    dims[d].out_stride = out_stride;
    out_stride *= dims[d].extent;
  }
  return dims;
}

int64_t count_of(const std::vector<Dim>& dims) {
  int64_t count = 1;
  for (const Dim& d : dims)
    if (d.reduced) count *= d.extent;
  return count;
}

// The multiplier with 1 / count folded in: an integer division that truncates, after as many left
// shifts as keep the exponent in range.
QuantizedMultiplier multiplier_of(const OpView& op, int64_t count) {
  QuantizedMultiplier m = quantize_multiplier(static_cast<double>(op.operand(0).scale()) /
                                              static_cast<double>(op.result().scale()));
  int floor_log2 = 0;
  while ((count >> (floor_log2 + 1)) != 0) ++floor_log2;
  int extra = std::min({floor_log2, 32, 31 + m.shift});
  int64_t folded = (static_cast<int64_t>(m.multiplier) << extra) / count;
  return {static_cast<int32_t>(folded), m.shift - extra};
}

// Calls visit(input index, output index) for every element, in memory order.
template <typename Visit>
void for_each_element(const std::vector<Dim>& dims, int64_t elements, Visit visit) {
  std::vector<int64_t> at(dims.size(), 0);
  int64_t out = 0;
  for (int64_t in = 0; in < elements; ++in) {
    visit(static_cast<size_t>(in), static_cast<size_t>(out));
    for (size_t d = dims.size(); d-- > 0;) {
      out += dims[d].out_stride;
      if (++at[d] < dims[d].extent) break;
      out -= dims[d].out_stride * dims[d].extent;
      at[d] = 0;
    }
  }
}

class MeanLowering {
 public:
  explicit MeanLowering(const OpView& op)
      : op_(op), f_(op, "mean"), dims_(dims_of(op)), count_(count_of(dims_)) {}

  Lowered run() {
    in_ = f_.operand(0);
    out_ = f_.result();
    kept(0, 0, 0, [&](const Ex& from, const Ex& to) {
      Ex sum = f_.var("sum", start());
      reduced(0, from, sum);
      f_.store(out_, to, finish(sum));
    });
    return f_.finish("one sum per result");
  }

 private:
  Ex start() const {
    switch (in_->dtype) {
      case DType::kF32:
        return tir::f32(0.0f);
      case DType::kI32:
        return tir::i64(0);
      default:
        return Ex(-static_cast<int64_t>(op_.operand(0).zero_point()) * count_);
    }
  }

  Ex finish(const Ex& sum) {
    switch (in_->dtype) {
      case DType::kF32:
        return sum / tir::f32(static_cast<float>(count_));
      case DType::kI32:
        return cast(DType::kI32, sum / tir::i64(count_));
      default:
        break;
    }
    Ex scaled = emit_multiply(f_, sum, multiplier_of(op_, count_), count_ * 256);
    return clamp(scaled + op_.result().zero_point(), -128, 127);
  }

  void kept(size_t d, const Ex& from, const Ex& to,
            const std::function<void(const Ex&, const Ex&)>& body) {
    while (d < dims_.size() && dims_[d].reduced) ++d;
    if (d == dims_.size()) return body(from, to);
    f_.loop(fmt::format("i{}", d), 0, dims_[d].extent, [&](Ex i) {
      Ex inner = f_.let("from", from + i * dims_[d].in_stride);
      kept(d + 1, inner, f_.let("to", to + i * dims_[d].out_stride), body);
    });
  }

  void reduced(size_t d, const Ex& from, const Ex& sum) {
    while (d < dims_.size() && !dims_[d].reduced) ++d;
    if (d == dims_.size()) {
      Ex value = load(in_, from);
      return f_.assign(sum, sum + (in_->dtype == DType::kI32 ? cast(DType::kI64, value) : value));
    }
    f_.loop(fmt::format("r{}", d), 0, dims_[d].extent,
            [&](Ex i) { reduced(d + 1, from + i * dims_[d].in_stride, sum); });
  }

  const OpView& op_;
  LoweringBuilder f_;
  std::vector<Dim> dims_;
  int64_t count_;
  BufferPtr in_, out_;
};

class Mean final : public Operator {
 public:
  std::string_view name() const override { return "mean"; }
  std::string_view summary() const override { return "mean over axes"; }
  std::vector<TypeSupport> types() const override {
    return {{DType::kI8, ""}, {DType::kF32, ""}, {DType::kI32, "not quantised"}};
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<ReduceAttrs>();
  }
  std::vector<int> tflite_builtins() const override { return {40}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    return infer_reduction(op, diags);
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_type(op, 0, {DType::kI8, DType::kF32, DType::kI32}, diags) ||
        !check_result_type(op, 0, op.operand(0).dtype, diags))
      return kFailure;
    int64_t count = count_of(dims_of(op));
    if (count < 1) {
      bad_shape(op, diags, "mean of no elements");
      return kFailure;
    }
    if (op.operand(0).dtype == DType::kI32) return verify_int32(op, diags);
    if (op.operand(0).dtype != DType::kI8) return success();
    if (!check_quantized_io(op, diags)) return kFailure;
    if (count * 256 > INT32_MAX) {
      bad_shape(op, diags, fmt::format("the sum of {} elements may leave 32 bits", count));
      return kFailure;
    }
    // The left shift comes first, in 32 bits; the zero point is added behind it.
    int left = std::max(multiplier_of(op, count).shift, 0);
    if (((count * 256) << left) > INT32_MAX - 1024) {
      diags
          .error(op.where(), "op-quantization",
                 fmt::format("operand scale {} over result scale {} overflows 32 bits",
                             op.operand(0).scale(), op.result().scale()))
          .help("convert the model again with representative calibration data");
      return kFailure;
    }
    return success();
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    std::vector<Dim> dims = dims_of(op);
    int64_t count = count_of(dims);
    switch (op.operand(0).dtype) {
      case DType::kF32: {
        auto sums = sum_up<float, float>(op, dims, data);
        for (size_t i = 0; i < sums.size(); ++i)
          data.out<float>()[i] = sums[i] / static_cast<float>(count);
        return;
      }
      case DType::kI32: {
        auto sums = sum_up<int32_t, int64_t>(op, dims, data);
        for (size_t i = 0; i < sums.size(); ++i)
          data.out<int32_t>()[i] = static_cast<int32_t>(sums[i] / count);
        return;
      }
      default:
        break;
    }
    QuantizedMultiplier m = multiplier_of(op, count);
    auto sums = sum_up<int8_t, int64_t>(op, dims, data);
    for (size_t i = 0; i < sums.size(); ++i) {
      auto sum = static_cast<int32_t>(sums[i] - op.operand(0).zero_point() * count);
      int64_t v = int64_t{multiply_by_quantized_multiplier(sum, m)} + op.result().zero_point();
      data.out<int8_t>()[i] = static_cast<int8_t>(std::clamp<int64_t>(v, -128, 127));
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return MeanLowering(op).run();
  }

  Status import_tflite(const TfliteOp& from, graph::Op& op, Diagnostics& diags) const override {
    return import_reduction(from, op, diags);
  }

 private:
  static Status verify_int32(const OpView& op, Diagnostics& diags) {
    const graph::Quantization& in = op.operand(0).quantization;
    const graph::Quantization& out = op.result().quantization;
    if (in.scale == out.scale && in.zero_point == out.zero_point) return success();
    diags.error(op.where(), "op-quantization",
                "the mean of int32 is not requantised, but operand and result are quantised "
                "differently");
    return kFailure;
  }

  template <typename T, typename Sum>
  static std::vector<Sum> sum_up(const OpView& op, const std::vector<Dim>& dims,
                                 const EvalData& data) {
    std::vector<Sum> sums(static_cast<size_t>(op.result().elements()), Sum{0});
    auto in = data.in<T>(0);
    for_each_element(dims, op.operand(0).elements(),
                     [&](size_t from, size_t to) { sums[to] += static_cast<Sum>(in[from]); });
    return sums;
  }
};

}  // namespace

void add_operators_mean(OperatorSet& set) { set.add(std::make_unique<Mean>()); }

}  // namespace aotc::ops
