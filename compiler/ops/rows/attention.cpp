// SPDX-License-Identifier: Apache-2.0
// attention: queries (operand 0) by keys, times a scale, softly bounded if that is asked for, and plus a mask (operand
// 3, if there is one), softmax of each row, by values. Rows of queries are computed one after the other, so that
// products are there of one row only. The one thing to know: operands and the result lie as the steps of the attributes
// say, which spares transpositions.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/rows/attributes.h"
#include "ops/rows/rows.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

std::span<const std::string_view> enum_names(ZeroWeights) {
  static constexpr std::string_view kNames[] = {"none", "not_numbers", "hidden"};
  return kNames;
}

namespace {

using AttentionSteps = std::vector<int64_t>;

constexpr size_t kQueriesAt = 0, kKeysAt = 1, kValuesAt = 2, kMaskAt = 3;
constexpr int64_t kMostAttended = int64_t{1} << 30;

std::vector<std::pair<int64_t, int64_t>> sizes_and_steps(const AttentionAttrs& a, const AttentionSteps& steps,
                                                         int64_t rows, int64_t elements) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (size_t i = 0; i < a.batch.size(); ++i) out.emplace_back(a.batch[i], steps[i]);
  out.emplace_back(rows, steps[a.batch.size()]);
  out.emplace_back(elements, steps[a.batch.size() + 1]);
  return out;
}

bool has_attention_steps(const AttentionAttrs& a, const AttentionSteps& steps) {
  return steps.size() == a.batch.size() + 2 &&
         std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s >= 0 && s <= kMostAttended; });
}

// Is the last element that steps lead to inside?
bool reaches(const AttentionAttrs& a, const AttentionSteps& steps, int64_t rows, int64_t elements, int64_t held) {
  if (!has_attention_steps(a, steps)) return false;
  int64_t last = 0;
  for (auto [size, step] : sizes_and_steps(a, steps, rows, elements)) {
    if (step != 0 && size - 1 > (held - 1 - last) / step) return false;
    last += (size - 1) * step;
  }
  return last < held;
}

// Is each element of the result one that steps lead to, once?
bool covers(const AttentionAttrs& a, int64_t held) {
  if (!has_attention_steps(a, a.result_steps)) return false;
  auto all = sizes_and_steps(a, a.result_steps, a.queries, a.values);
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  int64_t so_far = 1;
  for (auto [size, step] : all) {
    if (size == 1) continue;
    if (step != so_far || size > held / so_far) return false;
    so_far *= size;
  }
  return so_far == held;
}

bool sizes_are_good(const AttentionAttrs& a) {
  int64_t most = kMostAttended;
  for (int64_t size : a.batch) {
    if (size < 1 || size > most) return false;
    most /= size;
  }
  for (int64_t size : {a.queries, a.keys, a.depth, a.values})
    if (size < 1 || size > kMostAttended) return false;
  const double products =
      static_cast<double>(kMostAttended / most) * static_cast<double>(a.queries) * static_cast<double>(a.keys);
  return a.batch.size() <= 8 && products * static_cast<double>(a.depth + a.values) < 1e15;
}

// What a tensor is a view of, if an operator of this graph computes it.
graph::TensorId root_of(const OpView& op, graph::TensorId id) {
  for (;;) {
    const auto found = std::find_if(op.graph.ops.begin(), op.graph.ops.end(), [&](const graph::Op& o) {
      return std::find(o.results.begin(), o.results.end(), id) != o.results.end();
    });
    if (found == op.graph.ops.end()) return {};
    if (!definition_of(*found).traits().view) return id;
    id = found->operands[0];
  }
}

// Are queries as large as the result, and in memory that no other operand shows?
bool has_queries_alone(const OpView& op) {
  const graph::TensorId root = root_of(op, op.op.operands[kQueriesAt]);
  bool alone = root.valid() && op.graph[root].type.bytes() == op.result().bytes();
  for (size_t i = 1; i < op.operand_count(); ++i)
    alone = alone && !(op.has_operand(i) && root_of(op, op.op.operands[i]) == root);
  return alone;
}

// Calls visit(begins), where matrices of queries, keys, values, mask and result begin, for each.
template <typename Visit>
void for_each_matrix(const AttentionAttrs& a, bool masked, Visit visit) {
  const std::array<const AttentionSteps*, 5> steps = {&a.query_steps, &a.key_steps, &a.value_steps,
                                                      masked ? &a.mask_steps : nullptr, &a.result_steps};
  int64_t count = 1;
  for (int64_t size : a.batch) count *= size;
  for (int64_t n = 0; n < count; ++n) {
    std::array<int64_t, 5> begins{};
    int64_t rest = n;
    for (size_t d = a.batch.size(); d-- > 0; rest /= a.batch[d])
      for (size_t i = 0; i < steps.size(); ++i)
        if (steps[i] != nullptr) begins[i] += rest % a.batch[d] * (*steps[i])[d];
    visit(begins);
  }
}

// One row of the result; each list is from its row's first element on, or from the first of the matrix.
struct EvaluatedRow {
  const AttentionAttrs& a;
  const float *query, *keys, *values;
  const float* mask;      // at most one of both; in a matrix, from its row on
  const uint8_t* truths;  // a mask of truth values
  float* result;

  float with_mask(float x, int64_t key, bool& shown) const {
    if (mask == nullptr && truths == nullptr) return x;
    const int64_t at = key * a.mask_steps.back();
    const bool hides = truths != nullptr && (truths[at] != 0) == a.hides;
    if (a.replaces) return hides ? a.hidden : x;
    const float added = mask != nullptr ? mask[at] : hides ? a.hidden : 0.0f;
    shown = shown || added != -INFINITY;
    return x + added;
  }

  static int64_t across(const AttentionSteps& steps) { return steps[steps.size() - 2]; }

  void run(std::vector<float>& row) const {
    const auto& [qs, ks, vs, rs] = std::tie(a.query_steps, a.key_steps, a.value_steps, a.result_steps);
    float largest = -INFINITY, total = 0.0f;
    bool shown = false;
    for (int64_t c = 0; c < a.keys; ++c) {
      float x = 0.0f;
      for (int64_t k = 0; k < a.depth; ++k) x += query[k * qs.back()] * keys[c * across(ks) + k * ks.back()];
      if (a.scale != 1.0f) x *= a.scale;
      if (a.softcap != 0.0f) x = std::tanh(x / a.softcap) * a.softcap;
      x = with_mask(x, c, shown);
      row[static_cast<size_t>(c)] = x;
      largest = largest > x ? largest : x;
    }
    for (float& x : row) {
      x = std::exp(x - largest);
      total += x;
    }
    const bool zero = a.zero == ZeroWeights::kHidden ? !shown : a.zero == ZeroWeights::kNotNumbers && std::isnan(total);
    for (float& x : row) x = zero ? 0.0f : x / total;
    for (int64_t v = 0; v < a.values; ++v) {
      float sum = 0.0f;
      for (int64_t c = 0; c < a.keys; ++c) sum += row[static_cast<size_t>(c)] * values[c * across(vs) + v * vs.back()];
      result[v * rs.back()] = sum;
    }
  }
};

class AttentionLowering {
 public:
  explicit AttentionLowering(const OpView& op)
      : a_(op.attrs<AttentionAttrs>()), masked_(op.has_operand(kMaskAt)), f_(op, "attention") {
    queries_ = f_.operand(kQueriesAt);
    keys_ = f_.operand(kKeysAt);
    values_ = f_.operand(kValuesAt);
    if (masked_) mask_ = f_.operand(kMaskAt);
    out_ = f_.result();
    row_ = f_.scratch("row", DType::kF32, a_.keys);
    // A query is read for the last time before its row of the result is written.
    if (a_.query_steps == a_.result_steps && a_.depth == a_.values && has_queries_alone(op))
      f_.publish_in_place(kQueriesAt);
  }

  Lowered run() {
    matrices(0, {Ex(0), Ex(0), Ex(0), Ex(0), Ex(0)});
    return f_.finish("float, row by row");
  }

 private:
  struct Places {
    Ex query, key, value, mask, result;
  };

  void matrices(size_t d, const Places& at) {
    if (d == a_.batch.size()) return matrix(at);
    if (a_.batch[d] == 1) return matrices(d + 1, at);
    f_.loop(fmt::format("b{}", d), 0, a_.batch[d], [&](Ex i) {
      auto moved = [&](const char* name, const Ex& place, const AttentionSteps& steps) {
        return steps[d] == 0 ? place : f_.let(name, place + i * steps[d]);
      };
      matrices(d + 1, {moved("qb", at.query, a_.query_steps), moved("kb", at.key, a_.key_steps),
                       moved("vb", at.value, a_.value_steps), masked_ ? moved("mb", at.mask, a_.mask_steps) : at.mask,
                       moved("ob", at.result, a_.result_steps)});
    });
  }

  int64_t row_step(const AttentionSteps& steps) const { return steps[a_.batch.size()]; }
  int64_t step(const AttentionSteps& steps) const { return steps[a_.batch.size() + 1]; }

  void matrix(const Places& at) {
    f_.loop("r", 0, a_.queries, [&](Ex r) {
      Ex query = f_.let("query", at.query + r * row_step(a_.query_steps));
      Ex mask = masked_ ? f_.let("mask_row", at.mask + r * row_step(a_.mask_steps)) : Ex(0);
      Ex result = f_.let("to", at.result + r * row_step(a_.result_steps));
      Ex largest = f_.var("largest", tir::f32(-INFINITY)), shown;
      if (a_.zero == ZeroWeights::kHidden) shown = f_.var("shown", 0);
      f_.loop("c", 0, a_.keys, [&](Ex c) {
        Ex key = f_.let("key", at.key + c * row_step(a_.key_steps));
        Ex sum = sum_of(a_.depth, [&](const Ex& k) {
          return load(queries_, query + k * step(a_.query_steps)) * load(keys_, key + k * step(a_.key_steps));
        });
        Ex x = a_.scale == 1.0f ? sum : sum * tir::f32(a_.scale);
        if (a_.softcap != 0.0f)
          x = call(tir::Intrinsic::kTanh, DType::kF32, {x / tir::f32(a_.softcap)}) * tir::f32(a_.softcap);
        if (masked_) x = with_mask(x, load(mask_, mask + c * step(a_.mask_steps)), shown);
        x = f_.let("x", x);
        f_.store(row_, c, x);
        f_.assign(largest, max(largest, x));
      });
      Ex total = f_.var("total", tir::f32(0.0f));
      f_.loop("c", 0, a_.keys, [&](Ex c) {
        Ex e = f_.let("e", call(tir::Intrinsic::kExp, DType::kF32, {load(row_, c) - largest}));
        f_.store(row_, c, e);
        f_.assign(total, total + e);
      });
      auto weights = [&] { f_.loop("c", 0, a_.keys, [&](Ex c) { f_.store(row_, c, load(row_, c) / total); }); };
      auto zeros = [&] { f_.fill_bytes(row_, 0, 0, a_.keys); };
      if (a_.zero == ZeroWeights::kNone) weights();
      if (a_.zero == ZeroWeights::kNotNumbers) f_.if_(total == total, weights, zeros);
      if (a_.zero == ZeroWeights::kHidden) f_.if_(shown != 0, weights, zeros);
      f_.loop("v", 0, a_.values, [&](Ex v) {
        Ex value = f_.let("value", at.value + v * step(a_.value_steps));
        Ex sum = sum_of(
            a_.keys, [&](const Ex& c) { return load(row_, c) * load(values_, value + c * row_step(a_.value_steps)); });
        f_.store(out_, result + v * step(a_.result_steps), sum);
      });
    });
  }

  // A product with its mask; whether that shows the key is noted where it is asked for.
  Ex with_mask(const Ex& x, const Ex& mask, const Ex& shown) {
    const bool truths = mask_->dtype == DType::kBool;
    const Ex hides = !truths ? Ex() : a_.hides ? mask != 0 : mask == 0;
    if (a_.replaces) return select(hides, tir::f32(a_.hidden), x);
    const Ex added = f_.let("added", truths ? select(hides, tir::f32(a_.hidden), tir::f32(0.0f)) : mask);
    if (shown.ptr()) f_.assign(shown, select(added != tir::f32(-INFINITY), 1, shown));
    return x + added;
  }

  // In the order of a product of matrices.
  template <typename Element>
  Ex sum_of(int64_t count, Element element) {
    Ex sum = f_.var("sum", tir::f32(0.0f));
    const int64_t unroll = count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
    f_.loop(
        "k", 0, count,
        [&](Ex k) {
          for (int64_t u = 0; u < unroll; ++u) f_.assign(sum, sum + element(k + u));
        },
        unroll);
    return sum;
  }

  const AttentionAttrs& a_;
  bool masked_;
  LoweringBuilder f_;
  BufferPtr queries_, keys_, values_, mask_, row_, out_;
};

class Attention final : public SpecifiedOperator {
 public:
  Attention()
      : SpecifiedOperator(
            {.name = "attention",
             .summary = "softmax of queries by keys, row by row, times values",
             .operands = {{.name = "queries", .types = {DType::kF32}},
                          {.name = "keys", .types = {DType::kF32}},
                          {.name = "values", .types = {DType::kF32}},
                          {.name = "mask", .types = {DType::kF32, DType::kBool}, .optional = true}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .traits = {.uses_libm = true},
             .attributes = make_attributes<AttentionAttrs>,
             .ranges = {finite<&AttentionAttrs::scale>("scale"), finite<&AttentionAttrs::softcap>("softcap", 0)}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    const auto& a = op.attrs<AttentionAttrs>();
    const bool masked = op.has_operand(kMaskAt), truths = masked && op.operand(kMaskAt).dtype == DType::kBool;
    std::vector<float> row(static_cast<size_t>(a.keys));
    for_each_matrix(a, masked, [&](const std::array<int64_t, 5>& at) {
      for (int64_t r = 0; r < a.queries; ++r) {
        auto place = [&](size_t i, const AttentionSteps& steps) { return at[i] + r * EvaluatedRow::across(steps); };
        const int64_t mask = masked ? place(kMaskAt, a.mask_steps) : 0;
        EvaluatedRow{a,
                     data.in<float>(kQueriesAt).data() + place(kQueriesAt, a.query_steps),
                     data.in<float>(kKeysAt).data() + at[kKeysAt],
                     data.in<float>(kValuesAt).data() + at[kValuesAt],
                     masked && !truths ? data.in<float>(kMaskAt).data() + mask : nullptr,
                     truths ? data.in<uint8_t>(kMaskAt).data() + mask : nullptr,
                     data.out<float>().data() + at[4] + r * EvaluatedRow::across(a.result_steps)}
            .run(row);
      }
    });
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return AttentionLowering(op).run(); }

  int64_t macs(const OpView& op) const override {
    const auto& a = op.attrs<AttentionAttrs>();
    int64_t matrices = 1;
    for (int64_t size : a.batch) matrices *= size;
    return matrices * a.queries * a.keys * (a.depth + a.values);
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const AttentionSteps& shape = op.attrs<AttentionAttrs>().shape;
    int64_t most = kMostAttended;
    for (int64_t size : shape) {
      if (size >= 1 && size <= most) {
        most /= size;
        continue;
      }
      bad_attribute(op, diags, fmt::format("a result of shape {}", graph::to_string(shape)));
      return kFailure;
    }
    return std::vector<graph::Shape>{shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const auto& a = op.attrs<AttentionAttrs>();
    if (!sizes_are_good(a)) return bad_attribute(op, diags, "sizes below 1 or too large");
    const bool masked = op.has_operand(kMaskAt);
    const bool truths = masked && op.operand(kMaskAt).dtype == DType::kBool;
    if (std::isnan(a.hidden) || (a.replaces && !truths) || (a.zero == ZeroWeights::kHidden && (!masked || a.replaces)))
      return bad_attribute(op, diags, "what is added is NaN, or what needs a mask has none");
    const bool good = reaches(a, a.query_steps, a.queries, a.depth, op.operand(kQueriesAt).elements()) &&
                      reaches(a, a.key_steps, a.keys, a.depth, op.operand(kKeysAt).elements()) &&
                      reaches(a, a.value_steps, a.keys, a.values, op.operand(kValuesAt).elements()) &&
                      (!masked || reaches(a, a.mask_steps, a.queries, a.keys, op.operand(kMaskAt).elements())) &&
                      covers(a, op.result().elements());
    return good ||
           bad_attribute(op, diags, "steps that lead out of an operand, or not to each element of the result once");
  }
};

}  // namespace

void add_attention(OperatorSet& set) { set.add(std::make_unique<Attention>()); }

}  // namespace aotc::ops
