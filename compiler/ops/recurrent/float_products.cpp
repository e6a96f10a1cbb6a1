// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/float_products.h"

#include <array>

#include "ops/common/activation.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

std::span<const std::string_view> enum_names(Nonlinearity) {
  static constexpr std::string_view kNames[] = {"none", "relu", "relu6", "relu_n1_to_1", "tanh"};
  return kNames;
}

Ex emit_nonlinearity(Nonlinearity which, const Ex& v) {
  switch (which) {
    case Nonlinearity::kNone: return v;
    case Nonlinearity::kRelu: return max(tir::f32(0.0f), v);
    case Nonlinearity::kRelu6: return min(tir::f32(6.0f), max(tir::f32(0.0f), v));
    case Nonlinearity::kReluN1To1: return min(tir::f32(1.0f), max(tir::f32(-1.0f), v));
    case Nonlinearity::kTanh: return call(tir::Intrinsic::kTanh, DType::kF32, {v});
  }
  return v;
}

Ex emit_logistic(const Ex& v) {
  return tir::f32(1.0f) / (tir::f32(1.0f) + call(tir::Intrinsic::kExp, DType::kF32, {-v}));
}

FloatProducts::FloatProducts(const OpView& op, LoweringBuilder& f, bool asymmetric, const std::vector<size_t>& matrices,
                             const std::vector<size_t>& scaled, int64_t floats, int64_t quantised)
    : op_(op), f_(f), hybrid_(has_integer_weights(op, matrices)), asymmetric_(asymmetric), floats_(floats) {
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (op.has_operand(i)) operands_[i] = f_.operand(i);
  std::vector<float> scales;
  std::vector<int32_t> sums;
  for (const std::vector<size_t>* list : {&matrices, &scaled})
    for (size_t i : *list) {
      if (!hybrid_ || !op.has_operand(i)) continue;
      scale_at_[i] = static_cast<int64_t>(scales.size());
      scales.push_back(op.operand(i).scale());
      if (!asymmetric_ || list == &scaled) continue;
      sums_at_[i] = static_cast<int64_t>(sums.size());
      const std::vector<int8_t> w = op.constant(i)->to_vector<int8_t>();
      const int64_t rows = op.operand(i).shape[0], depth = op.operand(i).shape[1];
      for (int64_t r = 0; r < rows; ++r) {
        int32_t sum = 0;
        for (int64_t k = 0; k < depth; ++k) sum += w[static_cast<size_t>(r * depth + k)];
        sums.push_back(sum);
      }
    }
  if (hybrid_) scales_ = f_.constant("scales", DType::kF32, scales);
  if (!sums.empty()) sums_ = f_.constant("weight_sums", DType::kI32, sums);
  for (size_t i = 0; i < op.op.results.size(); ++i) results_.push_back(f_.result(i));
  if (!hybrid_) quantised = 0;
  if (floats + quantised == 0) return;
  // Floats and integers beside each other are words.
  const DType type = quantised == 0 ? DType::kF32 : floats == 0 ? DType::kI8 : DType::kI32;
  scratch_ = f_.scratch("scratch", type, floats + quantised, 4);
}

Ex FloatProducts::load_float(const Ex& i) const {
  Ex value = load(scratch_, i);
  if (scratch_->dtype == DType::kF32) return value;
  return call(tir::Intrinsic::kFloatFromBits, DType::kF32, {value});
}

void FloatProducts::store_float(const Ex& i, const Ex& value) {
  f_.store(scratch_, i,
           scratch_->dtype == DType::kF32 ? value : call(tir::Intrinsic::kFloatBits, DType::kI32, {value}));
}

FloatProducts::Vector FloatProducts::quantised(std::function<Ex(const Ex&)> element, int64_t count,
                                               const std::vector<size_t>& matrices, int64_t to) {
  if (!hybrid_) return {std::move(element), count, {}, {}};
  RowRequest row;
  row.count = count;
  row.asymmetric = asymmetric_;
  row.element = std::move(element);
  const int64_t begin = floats_ + to;
  const RowQuantization q = emit_quantize_row(f_, row, scratch_, Ex(begin));
  Vector out{[this, begin](const Ex& i) { return load(scratch_, i + begin); }, count, q.zero, {}};
  for (size_t i : matrices)
    if (op_.has_operand(i)) out.steps[i] = f_.let("step", load(scales_, scale_at_.at(i)) * q.scale);
  return out;
}

FloatProducts::Vector FloatProducts::vector(const BufferPtr& x, const Ex& at, int64_t count,
                                            const std::vector<size_t>& matrices, int64_t to) {
  return quantised([x, at](const Ex& i) { return load(x, at + i); }, count, matrices, to);
}

FloatProducts::Vector FloatProducts::vector_of_floats(int64_t at, int64_t count, const std::vector<size_t>& matrices,
                                                      int64_t to) {
  return quantised([this, at](const Ex& i) { return load_float(i + at); }, count, matrices, to);
}

void FloatProducts::add(const std::vector<Ex>& sums, const std::vector<Row>& rows, const Vector& vector) {
  std::vector<Ex> begin, totals;
  for (size_t i = 0; i < rows.size(); ++i) {
    begin.push_back(f_.let("w", rows[i].row * vector.count));
    totals.push_back(hybrid_ ? f_.var("total", 0) : sums[i]);
  }
  const int64_t unroll = unroll_for(vector.count, 4);
  f_.loop(
      "k", 0, vector.count,
      [&](const Ex& k) {
        for (int64_t u = 0; u < unroll; ++u) {
          Ex x = f_.let("x", vector.element(k + u));
          for (size_t i = 0; i < rows.size(); ++i)
            f_.assign(totals[i], totals[i] + load(operand(rows[i].operand), begin[i] + (k + u)) * x);
        }
      },
      unroll);
  if (!hybrid_) return;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t matrix = rows[i].operand;
    Ex exact = sums_ ? totals[i] - vector.zero * load(sums_, rows[i].row + sums_at_.at(matrix)) : totals[i];
    f_.assign(sums[i], sums[i] + cast(DType::kF32, exact) * vector.steps.at(matrix));
  }
}

Ex FloatProducts::weight(size_t operand_index, const Ex& i) {
  Ex value = load(operand(operand_index), i);
  return hybrid_ ? cast(DType::kF32, value) * load(scales_, scale_at_.at(operand_index)) : value;
}

}  // namespace aotc::ops
