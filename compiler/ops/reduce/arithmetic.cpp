// SPDX-License-Identifier: Apache-2.0
// What a reduction comes down to for one operator, what its numbers may be, and its evaluation.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/reduction.h"
#include "ops/reduce/reduce.h"

namespace aotc::ops::reduce {

namespace {

bool may_be_quantized(DType type) { return type == DType::kI8 || type == DType::kU8 || type == DType::kI16; }

Arithmetic arithmetic_of(const Rule& rule, const graph::TensorType& operand) {
  if (operand.dtype == DType::kF32) return Arithmetic::kFloat;
  if (may_be_quantized(operand.dtype)) {
    if (rule.finish == Finish::kSum || rule.finish == Finish::kMean) return Arithmetic::kScaledSum;
    if (rule.finish == Finish::kProduct && operand.quantization.present()) return Arithmetic::kScaledProduct;
  }
  return Arithmetic::kInteger;
}

// combine(so far, element index) for all elements of each result, in memory order.
template <typename T, typename Combine>
std::vector<T> combined(const Reduction& r, T start, const std::vector<T>& in, Combine combine) {
  std::vector<T> out(static_cast<size_t>(r.op.result().elements()), start);
  std::vector<bool> begun(out.size(), !r.from_first());
  for_each_element(r.dims, static_cast<int64_t>(in.size()), [&](size_t from, size_t to) {
    out[to] = begun[to] ? combine(out[to], in[from]) : in[from];
    begun[to] = true;
  });
  return out;
}

void evaluate_floats(const Reduction& r, const EvalData& data) {
  auto in = data.in<float>(0);
  auto out = combined<float>(r, r.float_start(), {in.begin(), in.end()},
                             [&](float so_far, float x) { return r.rule.combine.of_floats(so_far, x, false); });
  for (size_t i = 0; i < out.size(); ++i)
    data.out<float>()[i] = r.rule.finish == Finish::kMean ? out[i] / static_cast<float>(r.count) : out[i];
}

void evaluate_scaled_product(const Reduction& r, const EvalData& data) {
  ProductScale scale(r.multiplier());
  std::vector<int64_t> in = widen(r.type, data.operands[0]);
  for (int64_t& v : in) v -= r.op.operand(0).zero_point();
  auto out = combined<int64_t>(r, 1, in, [&](int64_t so_far, int64_t x) { return scale(so_far * x); });
  IntRange range = int_range(r.type);
  for (int64_t& v : out) {
    v = static_cast<int32_t>(int64_t{scale(v)} + r.op.result().zero_point());
    v = std::clamp(v, range.min, range.max);
  }
  narrow(r.type, out, data.results[0]);
}

Status different_quantization(const Reduction& r, Diagnostics& diags) {
  diags.error(r.op.where(), "op-quantization",
              fmt::format("the {} of {} is not requantised, but operand and result are quantised "
                          "differently",
                          r.rule.name, name_of(r.type)));
  return kFailure;
}

bool zero_points_are_zero(const Reduction& r, Diagnostics& diags) {
  if (r.type != DType::kI16 || (r.op.operand(0).zero_point() == 0 && r.op.result().zero_point() == 0)) return true;
  diags.error(r.op.where(), "op-quantization",
              fmt::format("{} of int16 has the zero points {} and {}; the reference takes 0 only", r.rule.name,
                          r.op.operand(0).zero_point(), r.op.result().zero_point()));
  return false;
}

Status verify_scaled_sum(const Reduction& r, Diagnostics& diags) {
  int64_t largest = r.largest_sum();
  if (largest > INT32_MAX) {
    bad_shape(r.op, diags, fmt::format("the sum of {} elements may leave 32 bits", r.count));
    return kFailure;
  }
  // The left shift comes first, in 32 bits; the zero point is added behind it.
  int left = std::max(r.multiplier().shift, 0);
  if ((largest << left) <= INT32_MAX - 1024) return success();
  diags
      .error(r.op.where(), "op-quantization",
             fmt::format("operand scale {} over result scale {} overflows 32 bits", r.op.operand(0).scale(),
                         r.op.result().scale()))
      .help("convert the model again with representative calibration data");
  return kFailure;
}

Status verify_scaled_product(const Reduction& r, Diagnostics& diags) {
  if (r.type == DType::kU8) {
    diags
        .error(r.op.where(), "op-quantization",
               fmt::format("{} of quantised uint8 is none that the reference computes", r.rule.name))
        .help("quantise the model to int8");
    return kFailure;
  }
  if (r.multiplier().shift <= kMostProductShift) return success();
  diags
      .error(r.op.where(), "op-quantization",
             fmt::format("the scales of {} make a multiplier of {:g} for each of {} factors; the "
                         "reference takes less than 128",
                         r.rule.name, r.scaling(), r.count))
      .help("convert the model again with representative calibration data");
  return kFailure;
}

}  // namespace

std::vector<Dim> dims_of(const graph::Shape& in, const ReduceFields& attrs) {
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

Reduction::Reduction(const Rule& of, const OpView& in)
    : rule(of),
      op(in),
      type(in.operand(0).dtype),
      arithmetic(arithmetic_of(of, in.operand(0))),
      dims(dims_of(in.operand(0).shape, in.attrs<ReduceAttrs>())),
      count(count_of(dims)) {}

bool Reduction::from_first() const {
  if (op.operand(0).elements() == 0 || rule.finish == Finish::kMean) return false;
  bool all = op.attrs<ReduceAttrs>().axes.size() == op.operand(0).shape.size();
  return arithmetic == Arithmetic::kScaledProduct || (all && arithmetic != Arithmetic::kScaledSum);
}

// From the first element on nothing is kept before there is a piece, and products are scaled at every step.
bool Reduction::in_pieces(int64_t pieces) const {
  return !dims.empty() && dims[0].reduced && dims[0].extent % pieces == 0 && !from_first() &&
         arithmetic != Arithmetic::kScaledProduct;
}

int64_t Reduction::start() const {
  if (arithmetic == Arithmetic::kScaledSum) return -static_cast<int64_t>(op.operand(0).zero_point()) * count;
  switch (rule.start) {
    case Start::kZero: return 0;
    case Start::kOne: return 1;
    case Start::kLowest:
    case Start::kBelowAll: return int_range(type).min;
    case Start::kHighest:
    case Start::kAboveAll: return int_range(type).max;
  }
  return 0;
}

float Reduction::float_start() const {
  switch (rule.start) {
    case Start::kZero: return 0.0f;
    case Start::kOne: return 1.0f;
    case Start::kLowest: return std::numeric_limits<float>::lowest();
    case Start::kHighest: return std::numeric_limits<float>::max();
    case Start::kBelowAll: return -std::numeric_limits<float>::infinity();
    case Start::kAboveAll: return std::numeric_limits<float>::infinity();
  }
  return 0.0f;
}

int64_t Reduction::largest_sum() const {
  // Less a zero point of its range; int16 has none.
  return count * (type == DType::kI16 ? 32768 : 256);
}

double Reduction::scaling() const {
  auto in = static_cast<double>(op.operand(0).scale()), out = static_cast<double>(op.result().scale());
  if (arithmetic == Arithmetic::kScaledSum) return in / out;
  return in / std::pow(out, 1.0 / static_cast<double>(count));
}

// A mean has 1 / count folded in: an integer division that truncates, after as many left shifts as
// keep the exponent in range.
QuantizedMultiplier Reduction::multiplier() const {
  QuantizedMultiplier m = quantize_multiplier(scaling());
  if (rule.finish != Finish::kMean) return m;
  int floor_log2 = 0;
  while ((count >> (floor_log2 + 1)) != 0) ++floor_log2;
  int extra = std::min({floor_log2, 32, 31 + m.shift});
  int64_t folded = (static_cast<int64_t>(m.multiplier) << extra) / count;
  return {static_cast<int32_t>(folded), m.shift - extra};
}

ProductScale::ProductScale(QuantizedMultiplier m)
    : factor(m.multiplier < 0x7FFF0000 ? (m.multiplier + (1 << 15)) >> 16 : 0x7FFF),
      half(int64_t{1} << (14 - m.shift)),
      shift(15 - m.shift) {}

Status verify_quantization(const Reduction& r, Diagnostics& diags) {
  if (r.quantized()) {
    if (!check_quantized_io(r.op, diags) || !zero_points_are_zero(r, diags)) return kFailure;
    return r.arithmetic == Arithmetic::kScaledSum ? verify_scaled_sum(r, diags) : verify_scaled_product(r, diags);
  }
  const graph::Quantization& in = r.op.operand(0).quantization;
  const graph::Quantization& out = r.op.result().quantization;
  if (r.arithmetic == Arithmetic::kFloat || r.type == DType::kBool) return success();
  if (in.scale != out.scale || in.zero_point != out.zero_point) return different_quantization(r, diags);
  if (may_be_quantized(r.type) && in.present() && !check_quantized_io(r.op, diags)) return kFailure;
  return success();
}

void evaluate(const Reduction& r, const EvalData& data) {
  if (r.arithmetic == Arithmetic::kFloat) return evaluate_floats(r, data);
  if (r.arithmetic == Arithmetic::kScaledProduct) return evaluate_scaled_product(r, data);
  auto out = combined<int64_t>(r, r.start(), widen(r.type, data.operands[0]),
                               [&](int64_t so_far, int64_t x) { return r.rule.combine.of_integers(so_far, x, true); });
  if (r.arithmetic == Arithmetic::kScaledSum) {
    QuantizedMultiplier m = r.multiplier();
    IntRange range = int_range(r.type);
    for (int64_t& v : out) {
      int64_t scaled = multiply_by_quantized_multiplier(static_cast<int32_t>(v), m);
      v = std::clamp<int64_t>(scaled + r.op.result().zero_point(), range.min, range.max);
    }
  } else if (r.rule.finish == Finish::kMean) {
    for (int64_t& v : out) v /= r.count;
  }
  narrow(r.type, out, data.results[0]);
}

}  // namespace aotc::ops::reduce
