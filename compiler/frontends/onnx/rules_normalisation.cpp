// SPDX-License-Identifier: Apache-2.0
// Softmax and its kin, normalisations, and losses. Normalisations are put together from reductions;
// those with constant statistics become one product and one sum.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

Id softmax_of(Builder& b, Id x, int64_t axis, bool logarithm) {
  Ints order(static_cast<size_t>(b.rank(x)));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(axis)], order.back());
  Id turned = b.transpose(x, order);
  Id out = logarithm ? b.add("log_softmax", {turned}) : b.add("softmax", {turned}, {{"beta", 1.0f}});
  return b.transpose(out, order);
}

namespace {

// In a row, each sum rounded to the type: as numbers of that type are added one by one.
Id sum_step_by_step(Builder& b, Id x, int64_t axis, int32_t element) {
  const graph::Shape shape = b.shape(x);
  const int64_t n = shape[static_cast<size_t>(axis)];
  if (n > 64)
    b.stop("onnx-attribute",
           fmt::format("a softmax over {} elements of type {} is not supported", n, element_type_name(element)),
           "the limit for this type is 64 elements; cast to float32 first");
  Ints begin(shape.size(), 0), counts = shape;
  counts[static_cast<size_t>(axis)] = 1;
  Id sum = b.slice(x, begin, counts);
  for (begin[static_cast<size_t>(axis)] = 1; begin[static_cast<size_t>(axis)] < n; ++begin[static_cast<size_t>(axis)])
    sum = b.rounded(b.binary("add", sum, b.slice(x, begin, counts)), element);
  return sum;
}

}  // namespace

Id softmax_as(Builder& b, Id x, int64_t axis, int32_t element) {
  if (element != kFloat16 && element != kBfloat16) return softmax_of(b, x, axis, false);
  auto step = [&](Id v) { return b.rounded(v, element); };
  if (b.shape(x)[static_cast<size_t>(axis)] == 0) return x;
  Id above = step(b.binary("sub", x, reduce(b, "reduce_max_nan", x, {axis}, true)));
  Id parts = step(b.add("exp", {above}));
  Id sum =
      element == kBfloat16 ? sum_step_by_step(b, parts, axis, element) : step(reduce(b, "sum", parts, {axis}, true));
  return step(b.binary("div", parts, sum));
}

namespace normalisation {

namespace {

// Before version 13 everything from the axis on was one row.
template <typename Apply>
void over_rows(Call& c, Apply apply) {
  Builder& b = c.b;
  int64_t rank = b.rank(c.in(0));
  if (rank == 0) {
    (void)b.axis(c.i("axis", 0), 1);
    Id row = apply(b.reshape(c.in(0), {1}), 0);
    return c.out(0, b.reshape(row, {}));
  }
  int64_t axis = b.axis(c.i("axis", c.version() < 13 ? 1 : -1), rank);
  if (c.version() >= 13) return c.out(0, apply(c.in(0), axis));
  const graph::Shape shape = c.shape(0);
  int64_t rows = std::accumulate(shape.begin(), shape.begin() + axis, int64_t{1}, std::multiplies<>());
  c.out(0, b.reshape(apply(b.reshape(c.in(0), {rows, graph::element_count(shape) / std::max<int64_t>(rows, 1)}), 1),
                     shape));
}

void softmax(Call& c) {
  over_rows(c, [&](Id x, int64_t axis) { return softmax_as(c.b, x, axis, c.b.element(c.in(0))); });
}

void log_softmax(Call& c) {
  over_rows(c, [&](Id x, int64_t axis) { return softmax_of(c.b, x, axis, true); });
}

// 1 at the first of the largest, 0 elsewhere; nowhere where what is not a number is the first.
void hardmax(Call& c) {
  Builder& b = c.b;
  over_rows(c, [&](Id x, int64_t axis) {
    graph::Shape column = b.shape(x), places(column.size(), 1);
    int64_t n = column[static_cast<size_t>(axis)];
    column[static_cast<size_t>(axis)] = 1;
    places[static_cast<size_t>(axis)] = n;
    Ints all(static_cast<size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    Id at = b.reshape(b.add("arg_max", {x}, {{"axis", axis}, {"nan_stays", true}}, DType::kI64), column);
    Id first = b.slice(x, Ints(column.size(), 0), column);
    at = select(b, b.add("equal", {first, first}, {}, DType::kBool), at, b.filled_int(DType::kI64, -1));
    Id hit = b.add("equal", {at, b.reshape(b.int_list(all), places)}, {}, DType::kBool);
    return b.cast(hit, b.dtype(x));
  });
}

// A list for the channels as a column that broadcasts over what is behind them.
Id column(Builder& b, Id list, int64_t rank) {
  graph::Shape shape(static_cast<size_t>(std::max<int64_t>(rank - 1, 1)), 1);
  shape[0] = b.type(list).elements();
  return b.reshape(list, shape);
}

void batch_normalization(Call& c) {
  Builder& b = c.b;
  if (c.i("training_mode", 0) != 0 || c.wants(1))
    c.refuse("BatchNormalization in training mode is not supported", "export the model for inference");
  if (c.version() < 9 && c.i("spatial", 1) == 0) c.refuse("spatial = 0 (statistics for each element) is not supported");
  double epsilon = c.f("epsilon", 1e-5f);
  Id root = b.add("sqrt", {b.binary("add", c.in(4), epsilon)});
  Id factor = b.binary("div", c.in(1), root);
  int64_t rank = b.rank(c.in(0));
  // With constants the two lists are constants; the order of operations is the file's.
  Id centred = b.binary("sub", c.in(0), column(b, c.in(3), rank));
  c.out(0, b.binary("add", b.binary("mul", centred, column(b, factor, rank)), column(b, c.in(2), rank)));
}

struct Moments {
  Id centred, inverse;
  Id mean;
};

// Of rows, as their products with themselves: no tensor holds the squares.
Id mean_of_squares(Builder& b, Id x) {
  graph::Shape shape = b.shape(x);
  const int64_t n = shape.back(), rows = graph::element_count(shape) / n;
  Id sum = matmul(b, b.reshape(x, {rows, 1, n}), b.reshape(x, {rows, n, 1}));
  shape.back() = 1;
  return b.reshape(b.binary("div", sum, static_cast<double>(n)), shape);
}

Moments moments_of(Builder& b, Id x, const Ints& axes, double epsilon) {
  Id mean = reduce(b, "mean", x, axes, true);
  Id centred = b.binary("sub", x, mean);
  const bool rows =
      axes.size() == 1 && axes[0] + 1 == b.rank(x) && b.dtype(x) == DType::kF32 && b.type(x).elements() > 0;
  Id variance = rows ? mean_of_squares(b, centred) : reduce(b, "mean", b.binary("mul", centred, centred), axes, true);
  Id inverse = b.binary("div", 1.0, b.add("sqrt", {b.binary("add", variance, epsilon)}));
  return {centred, inverse, mean};
}

// What stands in for the operators of `moments_of` where nobody looks at the moments: rows along all of the last
// axes, from `axis` on.
Id normalised_rows(Builder& b, Id x, int64_t axis, double epsilon, bool centred, Id scale = {}, Id bias = {}) {
  const graph::Shape shape = b.shape(x);
  graph::Shape rows(shape.begin(), shape.begin() + axis);
  rows.push_back(1);
  for (size_t i = static_cast<size_t>(axis); i < shape.size(); ++i) rows.back() *= shape[i];
  std::vector<Id> operands = {b.reshape(x, rows)};
  for (Id list : {scale, bias}) operands.push_back(list.valid() ? b.reshape(list, {rows.back()}) : list);
  while (!operands.back().valid()) operands.pop_back();
  return b.reshape(
      b.add("layer_normalization", operands, {{"epsilon", static_cast<float>(epsilon)}, {"centred", centred}}), shape);
}

// Has the list an element for each place of a row that begins at the axis?
bool is_list_of_row(Builder& b, Id list, Id x, int64_t axis) {
  const graph::Shape &shape = b.shape(x), &own = b.shape(list);
  return b.dtype(list) == DType::kF32 && own == graph::Shape(shape.begin() + axis, shape.end());
}

// Float32 rows that are not empty.
bool has_rows(Builder& b, Id x) { return b.element(x) == kFloat && b.type(x).elements() > 0 && b.rank(x) > 0; }

Ints axes_from(int64_t first, int64_t rank) {
  Ints axes(static_cast<size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// Along all of the last axes, from `axis` on.
Id normalised(Builder& b, Id x, int64_t axis, double epsilon) {
  if (has_rows(b, x)) return normalised_rows(b, x, axis, epsilon, true);
  Moments m = moments_of(b, x, axes_from(axis, b.rank(x)), epsilon);
  return b.binary("mul", m.centred, m.inverse);
}

// Rows of x, with a scale and perhaps a bias: outputs 0 to 2 are the result, the means and the inverse deviations.
void normalise_rows_of(Call& c, Id x, Id scale, Id bias, int64_t axis, double epsilon) {
  Builder& b = c.b;
  if (has_rows(b, x) && is_list_of_row(b, scale, x, axis) && (!bias.valid() || is_list_of_row(b, bias, x, axis)) &&
      !c.wants(1) && !c.wants(2))
    return c.out(0, normalised_rows(b, x, axis, epsilon, true, scale, bias));
  Moments m = moments_of(b, x, axes_from(axis, b.rank(x)), epsilon);
  Id out = b.binary("mul", b.binary("mul", m.centred, m.inverse), scale);
  c.out(0, bias.valid() ? b.binary("add", out, bias) : out);
  c.out(1, m.mean);
  c.out(2, m.inverse);
}

void layer_normalization(Call& c) {
  const int64_t axis = c.b.axis(c.i("axis", -1), c.b.rank(c.in(0)));
  normalise_rows_of(c, c.in(0), c.in(1), c.has(2) ? c.in(2) : Id{}, axis, c.f("epsilon", 1e-5f));
}

// com.microsoft's: the sum of two tensors, and perhaps of a bias, normalised; output 3 is the sum.
void skip_layer_normalization(Call& c) {
  Builder& b = c.b;
  Id sum = b.binary("add", c.in(0), c.in(1));
  if (c.has(4)) sum = b.binary("add", sum, c.in(4));
  normalise_rows_of(c, sum, c.in(2), c.has(3) ? c.in(3) : Id{}, b.rank(sum) - 1, c.f("epsilon", 1e-12f));
  c.out(3, sum);
}

// By the root mean square of the dimensions from `axis` on.
Id rms_normalised(Builder& b, Id x, Id scale, int64_t axis, double epsilon) {
  if (has_rows(b, x) && is_list_of_row(b, scale, x, axis)) return normalised_rows(b, x, axis, epsilon, false, scale);
  Id square = reduce(b, "mean", b.binary("mul", x, x), axes_from(axis, b.rank(x)), true);
  Id root = b.add("sqrt", {b.binary("add", square, epsilon)});
  return b.binary("mul", b.binary("div", x, root), scale);
}

// Also SimplifiedLayerNormalization, as onnxruntime's optimiser calls it.
void rms_normalization(Call& c) {
  const int64_t axis = c.b.axis(c.i("axis", -1), c.b.rank(c.in(0)));
  c.out(0, rms_normalised(c.b, c.in(0), c.in(1), axis, c.f("epsilon", 1e-5f)));
}

// com.microsoft's: the same of a sum, as skip_layer_normalization has it.
void skip_rms_normalization(Call& c) {
  Builder& b = c.b;
  Id sum = b.binary("add", c.in(0), c.in(1));
  if (c.has(3)) sum = b.binary("add", sum, c.in(3));
  c.out(0, rms_normalised(b, sum, c.in(2), b.rank(sum) - 1, c.f("epsilon", 1e-12f)));
  c.out(3, sum);
}

void instance_normalization(Call& c) {
  Builder& b = c.b;
  int64_t rank = b.rank(c.in(0));
  if (rank < 3) c.refuse("the operand must have at least three dimensions");
  Id out = normalised(b, c.in(0), 2, c.f("epsilon", 1e-5f));
  out = b.binary("mul", out, column(b, c.in(1), rank));
  c.out(0, b.binary("add", out, column(b, c.in(2), rank)));
}

void group_normalization(Call& c) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(0);
  int64_t groups = c.i("num_groups", 0);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0)
    c.refuse(fmt::format("the operand of shape {} does not divide into {} groups of channels", graph::to_string(shape),
                         groups));
  Id x = b.reshape(c.in(0), {shape[0], groups, graph::element_count(shape) / (shape[0] * groups)});
  Id out = b.reshape(normalised(b, x, 2, c.f("epsilon", 1e-5f)), shape);
  auto wide = [&](Id list) {
    // Before version 21 there was one number for each group.
    int64_t n = b.type(list).elements();
    if (n == shape[1]) return column(b, list, b.rank(c.in(0)));
    if (n != groups)
      c.refuse(
          fmt::format("a scale or bias has {} elements, expected {} (channels) or {} (groups)", n, shape[1], groups));
    return column(b, b.reshape(b.broadcast(b.reshape(list, {groups, 1}), {groups, shape[1] / groups}), {shape[1]}),
                  b.rank(c.in(0)));
  };
  c.out(0, b.binary("add", b.binary("mul", out, wide(c.in(1))), wide(c.in(2))));
}

void mean_variance_normalization(Call& c) {
  Builder& b = c.b;
  Ints axes;
  for (int64_t a : c.ints("axes").value_or(Ints{0, 2, 3})) axes.push_back(b.axis(a, b.rank(c.in(0))));
  std::sort(axes.begin(), axes.end());
  Id mean = reduce(b, "mean", c.in(0), axes, true);
  Id centred = b.binary("sub", c.in(0), mean);
  Id variance = reduce(b, "mean", b.binary("mul", centred, centred), axes, true);
  c.out(0, b.binary("div", centred, b.binary("add", b.add("sqrt", {variance}), 1e-9)));
}

void lp_normalization(Call& c) {
  Builder& b = c.b;
  int64_t axis = b.axis(c.i("axis", -1), b.rank(c.in(0)));
  Id x = c.in(0);
  const int64_t p = c.i("p", 2);
  if (p != 1 && p != 2) c.refuse(fmt::format("p is {}, but must be 1 or 2", p));
  Id norm = p == 1 ? reduce(b, "sum", b.add("abs", {x}), {axis}, true)
                   : b.add("sqrt", {reduce(b, "sum", b.binary("mul", x, x), {axis}, true)});
  // Of zeros alone it is 1, and they stay zeros.
  Id none = b.add("equal", {norm, b.filled(DType::kF32, 0.0)}, {}, DType::kBool);
  c.out(0, b.binary("div", x, select(b, none, b.filled(DType::kF32, 1.0), norm)));
}

void lrn(Call& c) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(0);
  int64_t size = c.i("size", 0);
  if (shape.size() < 3 || size < 1 || size > 64)
    c.refuse("the operand must have at least three dimensions, and size must be from 1 to 64");
  int64_t before = (size - 1) / 2, after = size - 1 - before;
  Ints front(shape.size(), 0), behind(shape.size(), 0);
  front[1] = before;
  behind[1] = after;
  Id square = b.binary("mul", c.in(0), c.in(0));
  b.note_slices(fmt::format("{} slices", size));
  Id padded = b.add("pad", {square, b.filled(DType::kF32, 0.0)}, {{"before", front}, {"after", behind}});
  Id sum;
  for (int64_t i = 0; i < size; ++i) {
    Ints begin(shape.size(), 0);
    begin[1] = i;
    Id part = b.slice(padded, begin, shape);
    sum = sum.valid() ? b.binary("add", sum, part) : part;
  }
  double alpha = c.f("alpha", 1e-4f) / static_cast<double>(size);
  Id base = b.binary("add", b.binary("mul", sum, alpha), c.f("bias", 1.0f));
  c.out(0, b.binary("div", c.in(0), b.binary("pow", base, c.f("beta", 0.75f))));
}

// ---------------------------------------------------------------- losses

// Minus the logarithm at the right class, weighted, over [batch, class, ...].
Id loss_of(Call& c, Id logarithms, Id labels, Id weights) {
  Builder& b = c.b;
  const graph::Shape shape = b.shape(logarithms);
  graph::Shape column_shape = shape, places(shape.size(), 1);
  if (shape.size() < 2) c.refuse("the operand must have at least two dimensions");
  column_shape[1] = 1;
  places[1] = shape[1];
  Ints all(static_cast<size_t>(shape[1]));
  std::iota(all.begin(), all.end(), 0);
  Id targets = b.reshape(b.cast(labels, DType::kI64), column_shape);
  Id hit = b.cast(b.add("equal", {targets, b.reshape(b.int_list(all), places)}, {}, DType::kBool), DType::kF32);
  if (weights.valid()) hit = b.binary("mul", hit, column(b, weights, static_cast<int64_t>(shape.size())));
  if (c.find("ignore_index")) {
    Id kept = b.add("not_equal", {targets, b.filled_int(DType::kI64, c.i("ignore_index", 0))}, {}, DType::kBool);
    hit = b.binary("mul", hit, b.cast(kept, DType::kF32));
  }
  Id loss = b.add("neg", {reduce(b, "sum", b.binary("mul", hit, logarithms), {1}, false)});
  std::string reduction = c.s("reduction", "mean");
  if (reduction == "none") return loss;
  Ints everything = axes_from(0, b.rank(loss));
  Id sum = reduce(b, "sum", loss, everything, false);
  if (reduction == "sum") return sum;
  // The mean is that of weights, of which labels that are left out have none.
  if (!weights.valid() && !c.find("ignore_index"))
    return b.binary("div", sum, static_cast<double>(b.type(loss).elements()));
  return b.binary("div", sum, reduce(b, "sum", hit, axes_from(0, b.rank(hit)), false));
}

void negative_log_likelihood(Call& c) { c.out(0, loss_of(c, c.in(0), c.in(1), c.has(2) ? c.in(2) : Id{})); }

void softmax_cross_entropy(Call& c) {
  Id logarithms = softmax_of(c.b, c.in(0), 1, true);
  c.out(0, loss_of(c, logarithms, c.in(1), c.has(2) ? c.in(2) : Id{}));
  c.out(1, logarithms);
}

constexpr Rule kRules[] = {
    {"Softmax", 1, softmax},
    {"LogSoftmax", 1, log_softmax},
    {"Hardmax", 1, hardmax},
    {"BatchNormalization", 7, batch_normalization},
    // onnxruntime's optimiser writes it into models of any operator set.
    {"LayerNormalization", 1, layer_normalization},
    {"SkipLayerNormalization", 1, skip_layer_normalization, "com.microsoft"},
    {"RMSNormalization", 23, rms_normalization},
    {"SimplifiedLayerNormalization", 1, rms_normalization},
    {"SkipSimplifiedLayerNormalization", 1, skip_rms_normalization, "com.microsoft"},
    {"InstanceNormalization", 6, instance_normalization},
    {"GroupNormalization", 18, group_normalization},
    {"MeanVarianceNormalization", 9, mean_variance_normalization},
    {"LpNormalization", 1, lp_normalization},
    {"LRN", 1, lrn},
    {"NegativeLogLikelihoodLoss", 12, negative_log_likelihood},
    {"SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy},
};

}  // namespace

}  // namespace normalisation

std::span<const Rule> normalisation_rules() { return normalisation::kRules; }

}  // namespace aotc::frontends::onnx
