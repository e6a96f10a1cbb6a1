// SPDX-License-Identifier: Apache-2.0
// Classical models (ai.onnx.ml) that are products and sums: linear ones, support vectors, and what
// prepares features for them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "frontends/onnx/rules_ml.h"

namespace aotc::frontends::onnx {

namespace classical {

Id features(Call& c) {
  Builder& b = c.b;
  Id x = b.as_element(c.in(0), kFloat);
  if (b.rank(x) == 1) x = b.reshape(x, {1, b.shape(x)[0]});
  if (b.rank(x) != 2) c.refuse("the operand must have one or two dimensions");
  return x;
}

Id transformed(Call& c, Id scores) {
  std::string how = c.s("post_transform", "NONE");
  if (how == "NONE") return scores;
  if (how == "LOGISTIC") return c.b.add("logistic", {scores});
  if (how == "SOFTMAX") return softmax_of(c.b, scores, 1, false);
  c.refuse(fmt::format("post_transform '{}' is not supported", escape_for_display(how)));
}

Ints labels_of(Call& c, std::string_view ints) {
  Ints labels = c.ints(ints).value_or(Ints{});
  if (!labels.empty()) return labels;
  const Attribute* strings = c.find("classlabels_strings");
  if (strings == nullptr || strings->strings.empty() || strings->strings.size() > kMostTargets)
    c.refuse(fmt::format("the operator has no class labels, or more than {}", kMostTargets));
  std::vector<std::string> names(strings->strings.begin(), strings->strings.end());
  for (size_t i = 0; i < names.size(); ++i) labels.push_back(static_cast<int64_t>(i));
  c.b.tell_labels(std::move(names));
  return labels;
}

Id label_at(Call& c, Id places, const Ints& labels) {
  return c.b.add("gather", {c.b.int_list(labels), places}, {{"axis", 0}});
}

Id label_of(Call& c, Id scores, const Ints& labels) {
  Builder& b = c.b;
  Id best = b.add("arg_max", {scores}, {{"axis", 1}}, DType::kI32);
  return label_at(c, b.reshape(best, {b.shape(scores)[0]}), labels);
}

namespace {

constexpr int64_t kMostWeights = 1 << 24;

// One number for all features, or one for each.
Id by_feature(Call& c, std::string_view name, int64_t count, float otherwise) {
  std::vector<float> values = c.reals(name);
  if (values.empty()) values = {otherwise};
  auto size = static_cast<int64_t>(values.size());
  if (size != 1 && size != count) c.refuse(fmt::format("{} has {} elements, expected 1 or {}", name, size, count));
  return c.b.floats_of(values, {size});
}

void scaler(Call& c) {
  Builder& b = c.b;
  Id x = b.as_element(c.in(0), kFloat);
  int64_t count = b.rank(x) == 0 ? 1 : b.shape(x).back();
  Id moved = b.binary("sub", x, by_feature(c, "offset", count, 0.0f));
  c.out(0, b.binary("mul", moved, by_feature(c, "scale", count, 1.0f)));
}

void binarizer(Call& c) {
  Builder& b = c.b;
  Id above = b.add("greater", {c.in(0), b.filled(b.dtype(c.in(0)), c.f("threshold", 0))}, {}, DType::kBool);
  c.out(0, b.cast(above, b.dtype(c.in(0))));
}

// A row without anything stays as it is.
void normalizer(Call& c) {
  Builder& b = c.b;
  const graph::Shape given = c.shape(0);
  Id x = features(c);
  std::string norm = c.s("norm", "MAX");
  Id size;
  if (norm == "MAX") size = reduce(b, "reduce_max", x, {1}, true);
  else if (norm == "L1") size = reduce(b, "sum", b.add("abs", {x}), {1}, true);
  else if (norm == "L2") size = b.add("sqrt", {reduce(b, "sum", b.binary("mul", x, x), {1}, true)});
  else c.refuse(fmt::format("norm '{}' is not supported", escape_for_display(norm)));
  Id none = b.add("equal", {size, b.filled(DType::kF32, 0)}, {}, DType::kBool);
  c.out(0, b.reshape(b.binary("div", x, select(b, none, b.filled(DType::kF32, 1), size)), given));
}

// Features times coefficients, so many rows of them, and what is added.
Id linear(Call& c, Id x, int64_t rows) {
  Builder& b = c.b;
  std::vector<float> weights = c.reals("coefficients"), added = c.reals("intercepts");
  int64_t inputs = b.shape(x)[1];
  if (rows < 1 || static_cast<int64_t>(weights.size()) != rows * inputs ||
      (!added.empty() && static_cast<int64_t>(added.size()) != rows))
    c.refuse(fmt::format("{} coefficients and {} intercepts do not match {} features and {} results", weights.size(),
                         added.size(), inputs, rows));
  std::vector<Id> operands = {x, b.floats_of(weights, {rows, inputs})};
  if (!added.empty()) operands.push_back(b.floats_of(added, {rows}));
  return b.add("fully_connected", operands, {{"keep_num_dims", true}});
}

void linear_regressor(Call& c) { c.out(0, transformed(c, linear(c, features(c), c.i("targets", 1)))); }

void linear_classifier(Call& c) {
  Builder& b = c.b;
  Ints labels = labels_of(c, "classlabels_ints");
  Id x = features(c);
  auto rows = static_cast<int64_t>(c.reals("coefficients").size()) / std::max<int64_t>(b.shape(x)[1], 1);
  if (rows != static_cast<int64_t>(labels.size()) || rows < 2)
    c.refuse(fmt::format("the coefficients have {} rows, expected one for each of {} labels (2 or more)", rows,
                         labels.size()));
  Id scores = linear(c, x, rows);
  if (c.wants(0)) c.out(0, label_of(c, scores, labels));
  if (c.wants(1)) c.out(1, transformed(c, scores));
}

// Of every row the similarity to every support vector.
Id kernel_of(Call& c, Id x, Id vectors) {
  Builder& b = c.b;
  std::vector<float> p = c.reals("kernel_params");
  p.resize(3, 0.0f);  // gamma, coef0, degree
  std::string kernel = c.s("kernel_type", "LINEAR");
  if (kernel == "RBF") {
    int64_t rows = b.shape(x)[0], inputs = b.shape(x)[1], count = b.shape(vectors)[0];
    Id way = b.binary("sub", b.reshape(x, {rows, 1, inputs}), b.reshape(vectors, {1, count, inputs}));
    Id square = reduce(b, "sum", b.binary("mul", way, way), {2}, false);
    return b.add("exp", {b.binary("mul", square, -p[0])});
  }
  Id product = b.add("fully_connected", {x, vectors}, {{"keep_num_dims", true}});
  if (kernel == "LINEAR") return product;
  Id line = b.binary("add", b.binary("mul", product, p[0]), p[1]);
  if (kernel == "SIGMOID") return b.add("tanh", {line});
  if (kernel == "POLY") return b.binary("pow", line, p[2]);
  c.refuse(fmt::format("kernel_type '{}' is not supported", escape_for_display(kernel)));
}

void svm_regressor(Call& c) {
  Builder& b = c.b;
  Id x = features(c);
  std::vector<float> coefficients = c.reals("coefficients"), vectors = c.reals("support_vectors"), rho = c.reals("rho");
  int64_t inputs = b.shape(x)[1], count = c.i("n_supports", 0);
  if (rho.size() != 1 || c.i("one_class", 0) != 0) c.refuse("rho must have one element, and one_class must be 0");
  Id similar = x;
  c.pass_over({"kernel_type", "kernel_params", "support_vectors"});  // of linear ones
  if (count > 0) {
    if (static_cast<int64_t>(vectors.size()) != count * inputs)
      c.refuse(fmt::format("support_vectors has {} elements, expected {}", vectors.size(), count * inputs));
    similar = kernel_of(c, x, b.floats_of(vectors, {count, inputs}));
  }
  auto size = static_cast<int64_t>(coefficients.size());
  if (size != b.shape(similar)[1])
    c.refuse(fmt::format("coefficients has {} elements, expected {}", size, b.shape(similar)[1]));
  Id out = b.add("fully_connected", {similar, b.floats_of(coefficients, {1, size}), b.floats_of(rho, {1})},
                 {{"keep_num_dims", true}});
  c.out(0, transformed(c, out));
}

// Of all pairs of classes in the order of the file, which support vectors speak for which side.
struct Pairs {
  std::vector<float> weights;  // [pairs, vectors]
  std::vector<float> votes,
      by_default;  // [classes, pairs] of pairs won by their first class, and those without
};

Pairs pairs_of(Call& c, const Ints& counts, int64_t vectors) {
  const std::vector<float> coefficients = c.reals("coefficients");
  const auto classes = static_cast<int64_t>(counts.size());
  if (static_cast<int64_t>(coefficients.size()) != (classes - 1) * vectors)
    c.refuse(fmt::format("coefficients has {} elements, expected {}", coefficients.size(), (classes - 1) * vectors));
  const int64_t pairs = classes * (classes - 1) / 2;
  Pairs out;
  out.votes.resize(static_cast<size_t>(classes * pairs));
  out.by_default.resize(static_cast<size_t>(classes));
  int64_t pair = 0;
  for (int64_t i = 0, begin_i = 0; i < classes; begin_i += counts[static_cast<size_t>(i++)])
    for (int64_t j = i + 1, begin_j = begin_i + counts[static_cast<size_t>(i)]; j < classes;
         begin_j += counts[static_cast<size_t>(j++)], ++pair) {
      std::vector<float> row(static_cast<size_t>(vectors), 0.0f);
      for (auto [side, other, begin] : {std::tuple(i, j - 1, begin_i), std::tuple(j, i, begin_j)})
        for (int64_t v = begin; v < begin + counts[static_cast<size_t>(side)]; ++v)
          row[static_cast<size_t>(v)] = coefficients[static_cast<size_t>(other * vectors + v)];
      out.weights.insert(out.weights.end(), row.begin(), row.end());
      out.votes[static_cast<size_t>(i * pairs + pair)] = 1.0f;
      out.votes[static_cast<size_t>(j * pairs + pair)] = -1.0f;
      out.by_default[static_cast<size_t>(j)] += 1.0f;
    }
  return out;
}

// [pairs, vectors] times [vectors, inputs].
std::vector<float> product(const std::vector<float>& weights, const std::vector<float>& vectors, int64_t pairs,
                           int64_t inputs) {
  const size_t count = weights.size() / static_cast<size_t>(pairs), width = static_cast<size_t>(inputs);
  std::vector<float> out;
  for (size_t p = 0; p < static_cast<size_t>(pairs); ++p)
    for (size_t k = 0; k < width; ++k) {
      double sum = 0;
      for (size_t v = 0; v < count; ++v) sum += double{weights[p * count + v]} * double{vectors[v * width + k]};
      out.push_back(static_cast<float>(sum));
    }
  return out;
}

// Vectors of all classes by turns: those of one class pull to one side, and one behind the other
// their sum would be far larger than the score that is left, with its digits lost.
std::vector<size_t> mixed(const Ints& counts) {
  std::vector<std::pair<double, size_t>> places;
  for (int64_t n : counts)
    for (int64_t i = 0; i < n; ++i)
      places.emplace_back((static_cast<double>(i) + 0.5) / static_cast<double>(n), places.size());
  std::sort(places.begin(), places.end());
  std::vector<size_t> out;
  for (auto [place, vector] : places) out.push_back(vector);
  return out;
}

// In that order, of each of so many rows, columns of `width` numbers.
std::vector<float> columns(const std::vector<float>& from, int64_t rows, int64_t width,
                           const std::vector<size_t>& order) {
  std::vector<float> out;
  const auto w = static_cast<size_t>(width);
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row)
    for (size_t column : order)
      for (size_t k = 0; k < w; ++k) out.push_back(from[(row * order.size() + column) * w + k]);
  return out;
}

// How probable the first class of each pair is, and from that how probable each class is.
Id probabilities_of(Call& c, Id scores, int64_t pairs) {
  Builder& b = c.b;
  const std::vector<float> slope = c.reals("prob_a"), added = c.reals("prob_b");
  if (static_cast<int64_t>(slope.size()) != pairs || slope.size() != added.size())
    c.refuse(fmt::format("prob_a has {} elements and prob_b has {}, expected {} (one for each pair of classes)",
                         slope.size(), added.size(), pairs));
  Id line = b.binary("add", b.binary("mul", scores, b.floats_of(slope, {pairs})), b.floats_of(added, {pairs}));
  Id first = clamp(b, b.binary("sub", 1.0, b.add("logistic", {line})), 1e-7, 1.0 - 1e-7);
  return b.add("coupled_probabilities", {first});
}

// One against one: each pair of classes has a score, and a vote for one of them.
void svm_classifier(Call& c) {
  Builder& b = c.b;
  const Ints labels = labels_of(c, "classlabels_ints"), counts = c.ints("vectors_per_class").value_or(Ints{});
  const std::vector<float> vectors = c.reals("support_vectors"), rho = c.reals("rho");
  const auto classes = static_cast<int64_t>(labels.size());
  if (c.s("post_transform", "NONE") != "NONE") c.refuse("post_transform is not supported");
  Id x = features(c);
  const int64_t inputs = b.shape(x)[1];
  int64_t count = 0;
  for (int64_t n : counts) {
    if (n < 0 || n > static_cast<int64_t>(vectors.size()))
      c.refuse(fmt::format("an element of vectors_per_class is {}, but must be from 0 to {}", n, vectors.size()));
    count += n;
  }
  const int64_t pairs = classes * (classes - 1) / 2;
  if (classes < 2 || classes > 256 || counts.size() != labels.size() || count < 1 ||
      static_cast<int64_t>(vectors.size()) != count * inputs || static_cast<int64_t>(rho.size()) != pairs)
    c.refuse(fmt::format(
        "sizes do not match: {} labels (2 to 256), {} elements of vectors_per_class, {} of support_vectors, {} of rho",
        labels.size(), counts.size(), vectors.size(), rho.size()));
  if (pairs > kMostWeights / count)
    c.refuse(
        fmt::format("{} pairs of classes times {} support vectors exceed the limit of {}", pairs, count, kMostWeights));
  Pairs of = pairs_of(c, counts, count);
  const std::vector<Setting> keep = {{"keep_num_dims", true}};
  Id scores;
  if (c.s("kernel_type", "LINEAR") == "LINEAR") {
    // The vectors of a pair are one then.
    c.pass_over({"kernel_params"});
    const std::vector<float> sums = product(of.weights, vectors, pairs, inputs);
    scores = b.add("fully_connected", {x, b.floats_of(sums, {pairs, inputs}), b.floats_of(rho, {pairs})}, keep);
  } else {
    const std::vector<size_t> order = mixed(counts);
    Id similar = kernel_of(c, x, b.floats_of(columns(vectors, 1, inputs, order), {count, inputs}));
    of.weights = columns(of.weights, pairs, 1, order);
    scores =
        b.add("fully_connected", {similar, b.floats_of(of.weights, {pairs, count}), b.floats_of(rho, {pairs})}, keep);
  }
  if (c.wants(0)) {
    Id won = b.cast(b.add("greater", {scores, b.filled(DType::kF32, 0)}, {}, DType::kBool), DType::kF32);
    Id votes = b.add("fully_connected",
                     {won, b.floats_of(of.votes, {classes, pairs}), b.floats_of(of.by_default, {classes})}, keep);
    c.out(0, label_of(c, votes, labels));
  }
  if (c.find("prob_a") != nullptr) scores = probabilities_of(c, scores, pairs);
  else if (classes == 2) scores = b.add("concatenation", {b.add("neg", {scores}), scores}, {{"axis", 1}});
  c.out(1, scores);
}

void array_feature_extractor(Call& c) {
  Builder& b = c.b;
  int64_t rank = b.rank(c.in(0));
  if (rank < 1) c.refuse("the operand must not be a scalar");
  Id places = b.reshape(c.in(1), {b.type(c.in(1)).elements()});
  Id out = b.add("gather", {c.in(0), b.cast(places, DType::kI32)}, {{"axis", rank - 1}});
  // A list becomes one row.
  c.out(0, rank == 1 ? b.reshape(out, {1, b.shape(out)[0]}) : out);
}

void imputer(Call& c) {
  Builder& b = c.b;
  const bool whole = b.dtype(c.in(0)) == DType::kI64;
  // Those of the other type.
  c.pass_over({"imputed_value_floats", "replaced_value_float", "imputed_value_int64s", "replaced_value_int64"});
  Id x = whole ? c.in(0) : b.as_element(c.in(0), kFloat);
  const int64_t features = b.shape(x).empty() ? 1 : b.shape(x).back();
  if (whole) {
    const Ints values = c.ints("imputed_value_int64s").value_or(Ints{});
    const auto size = static_cast<int64_t>(values.size());
    if (size != 1 && size != features)
      c.refuse(fmt::format("imputed_value_int64s has {} elements, expected 1 or {}", size, features));
    Id gone = b.add("equal", {x, b.filled_int(DType::kI64, c.i("replaced_value_int64", 0))}, {}, DType::kBool);
    return c.out(0, select(b, gone, b.int_list(values), x));
  }
  float missing = c.f("replaced_value_float", 0.0f);
  Id gone = std::isnan(missing) ? b.add("not_equal", {x, x}, {}, DType::kBool)
                                : b.add("equal", {x, b.filled(DType::kF32, missing)}, {}, DType::kBool);
  c.out(0, b.as_element(select(b, gone, by_feature(c, "imputed_value_floats", features, 0.0f), x), b.element(c.in(0))));
}

void one_hot_encoder(Call& c) {
  Builder& b = c.b;
  Ints known = c.ints("cats_int64s").value_or(Ints{});
  if (known.empty())
    b.stop("onnx-type", "categories must be numbers, not strings", "map the strings to numbers before this operator");
  graph::Shape shape = c.shape(0);
  shape.push_back(1);
  Id x = b.reshape(b.cast(c.in(0), DType::kI64), shape);
  Id hot = b.cast(b.add("equal", {x, b.int_list(known)}, {}, DType::kBool), DType::kF32);
  if (c.i("zeros", 1) != 0) return c.out(0, hot);
  // A category that is not known is an error: it takes the second of one number, and the run fails.
  Id missing = b.binary("sub", 1.0, reduce(b, "reduce_max", hot, {b.rank(hot) - 1}, true));
  Id zero = b.add("gather", {b.floats_of({0.0f}, {1}), b.cast(missing, DType::kI32)}, {{"axis", 0}});
  c.out(0, b.add("add", {hot, zero}));
}

constexpr Rule kRules[] = {
    {"Scaler", 1, scaler, kDomain},
    {"Binarizer", 1, binarizer, kDomain},
    {"Normalizer", 1, normalizer, kDomain},
    {"LinearRegressor", 1, linear_regressor, kDomain},
    {"LinearClassifier", 1, linear_classifier, kDomain},
    {"SVMRegressor", 1, svm_regressor, kDomain},
    {"SVMClassifier", 1, svm_classifier, kDomain},
    {"ArrayFeatureExtractor", 1, array_feature_extractor, kDomain},
    {"Imputer", 1, imputer, kDomain},
    {"OneHotEncoder", 1, one_hot_encoder, kDomain},
};

}  // namespace

}  // namespace classical

std::span<const Rule> classical_rules() { return classical::kRules; }

}  // namespace aotc::frontends::onnx
