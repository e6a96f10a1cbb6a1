// SPDX-License-Identifier: Apache-2.0
// Reductions along axes, and the positions of extremes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "frontends/onnx/qdq.h"
#include "frontends/onnx/quantized.h"
#include "ops/reduce/dequantized_mean.h"

namespace aotc::frontends::onnx {

Id reduce(Builder& b, std::string_view op, Id x, const Ints& axes, bool keep) {
  if (axes.empty()) return x;
  const bool largest = op.starts_with("reduce_max"), real = b.dtype(x) == DType::kF32;
  if (b.type(x).elements() == 0 && (largest || op.starts_with("reduce_min"))) {
    graph::Shape to = b.shape(x);
    for (size_t i = axes.size(); i-- > 0;) {
      to[static_cast<size_t>(axes[i])] = 1;
      if (!keep) to.erase(to.begin() + axes[i]);
    }
    const double bound = std::numeric_limits<double>::infinity();
    if (real) return b.filled(DType::kF32, largest ? -bound : bound, to);
    const IntRange range = b.dtype(x) == DType::kBool ? IntRange{0, 1} : int_range(b.dtype(x));
    return b.filled_int(b.dtype(x), largest ? range.min : range.max, to);
  }
  return b.widened(op, {x}, false, {{"axes", axes}, {"keep_dims", keep}});
}

namespace reductions {

namespace {

struct Axes {
  Ints list;
  bool keep;
  bool noop;  // nothing is reduced; what is done to elements is done all the same
};

// The axes are the list `given`.
Axes axes_of(Call& c, const std::optional<Ints>& given) {
  Axes out;
  out.keep = c.i("keepdims", 1) != 0;
  const bool may_be_noop = c.i("noop_with_empty_axes", 0) != 0;
  int64_t rank = c.b.rank(c.in(0));
  out.noop = (!given || given->empty()) && may_be_noop;
  if (out.noop) return out;
  if (!given || given->empty()) {
    out.list.resize(static_cast<size_t>(rank));
    std::iota(out.list.begin(), out.list.end(), 0);
    return out;
  }
  for (int64_t a : *given) out.list.push_back(c.b.axis(a, rank));
  std::sort(out.list.begin(), out.list.end());
  out.list.erase(std::unique(out.list.begin(), out.list.end()), out.list.end());
  return out;
}

// An attribute before the version in which the operator's axes became an input.
Axes axes_of(Call& c, int64_t input_since) {
  return axes_of(c, c.version() >= input_since ? c.optional_ints(1, "its axes") : c.ints("axes"));
}

template <const char* op, int64_t since>
void plain(Call& c) {
  Axes axes = axes_of(c, since);
  c.out(0, axes.noop ? c.in(0) : reduce(c.b, op, c.in(0), axes.list, axes.keep));
}

template <const char* op>
void extreme(Call& c) {
  Axes axes = axes_of(c, 18);
  const std::string name = std::string(op) + (c.b.dtype(c.in(0)) == DType::kF32 ? "_nan" : "");
  c.out(0, axes.noop ? c.in(0) : reduce(c.b, name, c.in(0), axes.list, axes.keep));
}
constexpr char kSum[] = "sum", kMean[] = "mean", kMax[] = "reduce_max", kMin[] = "reduce_min", kProd[] = "reduce_prod";

Id magnitude(Builder& b, Id x) {
  if (b.dtype(x) == DType::kF32) return b.add("abs", {x});
  return b.widened("maximum", {x, b.widened("neg", {x})});
}

enum class Form { kL1, kL2, kLogSum, kLogSumExp, kSumSquare };

// The logarithm of a sum of exponentials, from the largest element on.
Id log_sum_exp(Builder& b, Id x, const Axes& axes) {
  if (axes.noop || axes.list.empty()) return b.add("log", {b.add("exp", {x})});
  Id largest = reduce(b, "reduce_max_nan", x, axes.list, true);
  // Infinite ones are not taken away.
  Id infinite = b.add("equal", {b.add("abs", {largest}), b.filled(DType::kF32, INFINITY)}, {}, DType::kBool);
  largest = select(b, infinite, b.filled(DType::kF32, 0.0), largest);
  Id sum = reduce(b, "sum", b.add("exp", {b.binary("sub", x, largest)}), axes.list, axes.keep);
  Id shift = axes.keep ? largest : b.reshape(largest, b.shape(sum));
  return b.binary("add", b.add("log", {sum}), shift);
}

template <Form form>
void function(Call& c) {
  Builder& b = c.b;
  Axes axes = axes_of(c, 18);
  Id x = c.in(0);
  auto sum = [&](Id v) { return axes.noop ? v : reduce(b, "sum", v, axes.list, axes.keep); };
  switch (form) {
    case Form::kL1: return c.out(0, sum(magnitude(b, x)));
    case Form::kL2: {
      Id real = b.cast(x, DType::kF32);
      return c.out(0, b.cast(b.add("sqrt", {sum(b.binary("mul", real, real))}), b.dtype(x)));
    }
    case Form::kLogSum: return c.out(0, b.add("log", {sum(x)}));
    case Form::kLogSumExp: return c.out(0, log_sum_exp(b, x, axes));
    case Form::kSumSquare: return c.out(0, sum(b.widened("mul", {x, x})));
  }
}

template <const char* op>
void position(Call& c) {
  Builder& b = c.b;
  int64_t axis = b.axis(c.i("axis", 0), b.rank(c.in(0)));
  Id x = c.in(0);
  DType type = b.dtype(x);
  if (type == DType::kI8 || type == DType::kI16 || type == DType::kU16 || type == DType::kI32)
    x = b.cast(x, DType::kI32);
  bool last = c.i("select_last_index", 0) != 0;
  Id at = b.add(op, {x}, {{"axis", axis}, {"last", last}, {"nan_stays", type == DType::kF32}}, DType::kI64);
  if (c.i("keepdims", 1) != 0) {
    graph::Shape shape = b.shape(x);
    shape[static_cast<size_t>(axis)] = 1;
    at = b.reshape(at, shape);
  }
  c.out(0, at);
}
constexpr char kArgMax[] = "arg_max", kArgMin[] = "arg_min";

// ---------------------------------------------------------------- means of quantised values

// The order in which onnxruntime's ReduceMean adds floats. It joins neighbours of which both or none are reduced, and
// then has special forms for few dimensions. nullopt if aotc does not compute this order: packets of several runs.
std::optional<ops::SumOrder> order_of_sums(const graph::Shape& shape, const Ints& axes) {
  std::vector<std::pair<bool, int64_t>> dims;  // reduced?, size
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (!dims.empty() && dims.back().first == reduced) dims.back().second *= shape[i];
    else dims.emplace_back(reduced, shape[i]);
  }
  const bool ends_reduced = dims.back().first;
  if (dims.size() < 3) return ends_reduced ? ops::SumOrder::kLanes : ops::SumOrder::kInOrder;
  // Forms of three dimensions are for at least as many results as threads, which are one or two here.
  if (dims.size() > 3 || dims[ends_reduced ? 1 : 0].second < 2) return ops::SumOrder::kInOrder;
  return ends_reduced ? std::nullopt : std::optional(ops::SumOrder::kFours);
}

// ReduceMean between DequantizeLinear and QuantizeLinear. Operands: x and the result's quantisation, as in
// QLinearGlobalAveragePool, and the axes.
void quantized_mean(Call& c) {
  Builder& b = c.b;
  const Affine x = operand_affine(c, 0), y = known_affine(c, 3, 4);
  const Axes axes = axes_of(c, c.has(5) ? std::optional(c.known_ints(5, "its axes")) : c.ints("axes"));
  const graph::Shape shape = c.shape(0);
  const graph::Quantization from = x.int8(), to = y.int8();
  ops::MeanScales scales{from.scale[0], to.scale[0], static_cast<int32_t>(from.zero_point[0]),
                         static_cast<int32_t>(to.zero_point[0])};
  for (int64_t axis : axes.list) scales.count *= shape[static_cast<size_t>(axis)];
  const auto order = axes.list.empty() || scales.count < 1 ? std::nullopt : order_of_sums(shape, axes.list);
  if (order) scales.order = *order;
  if (!order || !ops::integer_mean(scales)) {
    const Id real = dequantized(b, c.in(0), x);
    const Id mean = quantized(b, axes.noop ? real : reduce(b, kMean, real, axes.list, axes.keep), y);
    return c.out(0, stored_of(b, mean, y.stored));
  }
  const std::string_view name = ops::enum_names(*order)[static_cast<size_t>(*order)];
  const Id mean = b.add_typed("dequantized_mean", {int8_of(b, c.in(0), x)},
                              {{"axes", axes.list}, {"keep_dims", axes.keep}, {"order", name}}, DType::kI8, to);
  if (b.is_new(mean)) b.name(mean, b.where().tensor + " (int8)");
  c.out(0, stored_of(b, mean, y.stored));
}

constexpr Rule kRules[] = {
    {"QLinearReduceMean", 1, quantized_mean, kGroups},
    {"ReduceSum", 1, plain<kSum, 13>},
    {"ReduceMean", 1, plain<kMean, 18>},
    {"ReduceMax", 1, extreme<kMax>},
    {"ReduceMin", 1, extreme<kMin>},
    {"ReduceProd", 1, plain<kProd, 18>},
    {"ReduceL1", 1, function<Form::kL1>},
    {"ReduceL2", 1, function<Form::kL2>},
    {"ReduceLogSum", 1, function<Form::kLogSum>},
    {"ReduceLogSumExp", 1, function<Form::kLogSumExp>},
    {"ReduceSumSquare", 1, function<Form::kSumSquare>},
    {"ArgMax", 1, position<kArgMax>},
    {"ArgMin", 1, position<kArgMin>},
};

}  // namespace

}  // namespace reductions

std::span<const Rule> reduction_rules() { return reductions::kRules; }

}  // namespace aotc::frontends::onnx
