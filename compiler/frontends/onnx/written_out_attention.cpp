// SPDX-License-Identifier: Apache-2.0
// Recognises attention that is decomposed into products, a scale, a soft bound, a mask and softmax. Transposes are not
// executed but become strides with which one operator reads queries, keys and values, and writes the result.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "frontends/onnx/written_out.h"
#include "frontends/onnx/written_out_walk.h"
#include "ops/batch_matmul/attributes.h"
#include "ops/common/reduction.h"
#include "ops/rows/attributes.h"
#include "ops/softmax/softmax.h"
#include "ops/transpose/attributes.h"

namespace aotc::frontends::onnx {

namespace {

using graph::Shape;
using Sizes = std::vector<int64_t>;

// Matrices in a tensor: how many along each dimension of the batch, rows and columns, and the step along each.
struct Matrices {
  graph::TensorId tensor;
  Sizes sizes, steps;
};

// What is between the product of queries and keys and the product by values.
struct Between {
  double factor = 1;
  float softcap = 0;
  graph::TensorId mask;  // floats that are added, or truth values
  bool hides = false, replaces = false;
  float hidden = 0;
  ops::ZeroWeights zero = ops::ZeroWeights::kNone;
};

Sizes steps_of(const Shape& shape) {
  Sizes steps(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) steps[i - 1] = steps[i] * shape[i];
  return steps;
}

class AttentionRecogniser : public WrittenOut {
 public:
  using WrittenOut::WrittenOut;

  void run() {
    for (size_t i = 0; i < graph_.ops.size(); ++i)
      if (!dead_[i]) (void)attention(i);
    graph::remove_ops(graph_, dead_);
  }

 private:
  static constexpr size_t kQueries = 0, kKeys = 1, kValues = 2, kMask = 3, kResult = 4, kParts = 5;

  const Shape& shape(Id id) const { return graph_[id].type.shape; }

  static bool is_product(const Op* op, bool keys_turned) {
    if (op == nullptr) return false;
    const auto& a = op->attrs<ops::BatchMatmulAttrs>();
    return !a.adj_x && (keys_turned || !a.adj_y);
  }

  // The matrices of a tensor, over a batch to which it broadcasts.
  std::optional<Matrices> matrices_of(Id id, const Sizes& sizes, bool turned) const {
    Shape padded = shape(id);
    if (padded.size() > sizes.size()) return std::nullopt;
    padded.insert(padded.begin(), sizes.size() - padded.size(), 1);
    Matrices out{id, sizes, steps_of(padded)};
    if (turned) {
      std::swap(padded[sizes.size() - 1], padded[sizes.size() - 2]);
      std::swap(out.steps[sizes.size() - 1], out.steps[sizes.size() - 2]);
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (padded[i] == 1) {
        out.steps[i] = 0;
      } else if (padded[i] != sizes[i]) {
        return std::nullopt;
      }
    }
    return out;
  }

  // A dimension of the batch of all parts becomes two.
  void split(size_t at, int64_t inner) {
    for (std::optional<Matrices>& part : parts_) {
      if (!part) continue;
      const auto place = static_cast<std::ptrdiff_t>(at);
      part->sizes.insert(part->sizes.begin() + place, part->sizes[at] / inner);
      part->sizes[at + 1] = inner;
      part->steps.insert(part->steps.begin() + place, part->steps[at] * inner);
    }
  }

  // Steps in a tensor of this shape as steps in another, in which one step along dimension i is `to[i]`.
  bool remap(size_t which, const Shape& from, const Sizes& to) {
    const Sizes unit = steps_of(from);
    for (size_t d = 0; d < parts_[which]->sizes.size(); ++d) {
      const Matrices& part = parts_[which].value();
      const int64_t step = part.steps[d], size = part.sizes[d];
      if (size == 1 || step == 0) continue;
      for (size_t j = 0; j < from.size(); ++j) {
        const int64_t whole = unit[j] * from[j];
        if (from[j] == 1 || step < unit[j] || step >= whole) continue;
        if (step % unit[j] != 0) return false;
        if ((size - 1) * step < whole) break;
        // Over more than this dimension: heads that share keys.
        const int64_t inner = whole / step;
        if (d + 2 >= part.sizes.size() || whole % step != 0 || size % inner != 0) return false;
        split(d, inner);
        break;
      }
    }
    Matrices& part = parts_[which].value();
    Sizes steps(part.steps.size(), 0), most(from.size(), 0);
    for (size_t d = 0; d < part.sizes.size(); ++d) {
      const int64_t step = part.steps[d], size = part.sizes[d];
      if (size == 1 || step == 0) continue;
      for (size_t j = 0; j < from.size(); ++j) {
        if (from[j] == 1 || step < unit[j] || step >= unit[j] * from[j]) continue;
        steps[d] = step / unit[j] * to[j];
        most[j] += step / unit[j] * (size - 1);
      }
    }
    for (size_t j = 0; j < from.size(); ++j)
      if (most[j] >= from[j]) return false;
    part.steps = steps;
    return true;
  }

  // What is one reader's, and no output.
  bool is_read_once(Id id) const { return !shown_[index(id)] && chains_.users[index(id)].size() == 1; }

  // The operator behind a part, if it only moves elements, or multiplies each by one number.
  bool look_behind(size_t which, double& factor) {
    const Id id = parts_[which]->tensor;
    if (!is_read_once(id)) return false;
    const size_t before = taken_.size();
    if (const Op* op = made_by(id, "reshape")) return become(which, op->operands[0]);
    if (const Op* op = made_by(id, "transpose")) {
      const Shape& source = shape(op->operands[0]);
      const Sizes unit = steps_of(source), &order = op->attrs<ops::TransposeAttrs>().order;
      Sizes to;
      for (int64_t axis : order) to.push_back(unit[static_cast<size_t>(axis)]);
      if (remap(which, shape(id), to)) return become(which, op->operands[0]);
    } else if (const Op* wide = made_by(id, "broadcast_to")) {
      const Shape& source = shape(wide->operands[0]);
      Sizes to = steps_of(source);
      for (size_t i = 0; i < source.size(); ++i)
        if (source[i] == 1) to[i] = 0;
      to.insert(to.begin(), shape(id).size() - source.size(), 0);
      if (remap(which, shape(id), to)) return become(which, wide->operands[0]);
    } else if (const auto scaled = scaled_by_number(id)) {
      factor *= scaled->second;
      return become(which, scaled->first);
    }
    taken_.resize(before);
    return false;
  }

  bool become(size_t which, Id tensor) {
    parts_[which]->tensor = tensor;
    return graph_[tensor].type.dtype == DType::kF32;
  }

  std::optional<std::pair<Id, double>> scaled_by_number(Id id) {
    const size_t before = taken_.size();
    auto same = [&](Id operand) { return shape(operand) == shape(id); };
    if (const Op* op = made_by(id, "mul")) {
      for (size_t i : {0u, 1u})
        if (const auto by = number(op->operands[i]); by && same(op->operands[1 - i]))
          return std::pair(op->operands[1 - i], *by);
    } else if (const Op* quotient = made_by(id, "div")) {
      const auto by = number(quotient->operands[1]);
      if (by && *by != 0 && same(quotient->operands[0])) return std::pair(quotient->operands[0], 1 / *by);
    }
    taken_.resize(before);
    return std::nullopt;
  }

  // The product of queries and keys: behind a soft bound, and numbers by which it is multiplied.
  const Op* bare_scores(Id from, Between& between) {
    if (const auto bounded = softly_bounded(from)) std::tie(from, between.softcap) = *bounded;
    while (const auto scaled = scaled_by_number(from)) {
      between.factor *= scaled->second;
      from = scaled->first;
    }
    return made_by(from, "batch_matmul");
  }

  // A number times tanh of x over that number: x, and the number.
  std::optional<std::pair<Id, float>> softly_bounded(Id id) {
    const size_t before = taken_.size();
    if (const Op* op = made_by(id, "mul")) {
      for (size_t i : {0u, 1u}) {
        const auto most = number(op->operands[i]);
        const Op* tanh = most && *most > 0 ? made_by(op->operands[1 - i], "tanh") : nullptr;
        const Op* quotient = tanh == nullptr ? nullptr : made_by(tanh->operands[0], "div");
        if (quotient != nullptr && number(quotient->operands[1]) == most && shape(quotient->operands[0]) == shape(id))
          return std::pair(quotient->operands[0], static_cast<float>(*most));
      }
    }
    taken_.resize(before);
    return std::nullopt;
  }

  // The same behind a mask.
  const Op* scores(Id id, Between& between) {
    const size_t before = taken_.size();
    const Op* sum = made_by(id, "add");
    const Op* choice = sum == nullptr ? made_by(id, "select_v2") : nullptr;
    const size_t behind = taken_.size();
    for (size_t i : {0u, 1u}) {
      if (sum == nullptr && choice == nullptr) break;
      // Of a choice: by the truth value i, a number takes the product's place.
      const auto instead = sum == nullptr ? number(choice->operands[2 - i]) : std::nullopt;
      const Id x = sum != nullptr ? sum->operands[i] : choice->operands[1 + i];
      Between found = between;
      const Op* op = shape(x) == shape(id) && (sum != nullptr || instead) ? bare_scores(x, found) : nullptr;
      if (op == nullptr) {
        taken_.resize(behind);
        continue;
      }
      between = found;
      between.mask = sum != nullptr ? sum->operands[1 - i] : choice->operands[0];
      between.replaces = instead.has_value();
      between.hides = instead && i == 1;
      between.hidden = static_cast<float>(instead.value_or(0));
      return op;
    }
    taken_.resize(before);
    return bare_scores(id, between);
  }

  // A mask that one of two numbers makes, of which one is 0, is as well the truth value that chooses it: a quarter of
  // the bytes.
  void mask_by_truth(Between& between) {
    const int at = between.mask.valid() && !between.replaces ? chains_.definer[index(between.mask)] : -1;
    if (at < 0 || graph_.ops[static_cast<size_t>(at)].name() != "select_v2") return;
    const Op& choice = graph_.ops[static_cast<size_t>(at)];
    if (shape(choice.operands[0]) != shape(between.mask)) return;
    for (size_t i : {0u, 1u}) {
      const auto shown = number(choice.operands[1 + i]), hidden = number(choice.operands[2 - i]);
      if (!shown || !hidden || *shown != 0 || *hidden == 0) continue;
      between.mask = choice.operands[0];
      between.hides = i == 1, between.hidden = static_cast<float>(*hidden);
      return;
    }
  }

  // Softmax's weights behind a choice of zero for some.
  Id weights_of(Id id, Between& between, Id& most) {
    const Op* choice = made_by(id, "select_v2");
    if (choice == nullptr) return id;
    const Id weights = choice->operands[2], condition = choice->operands[0];
    const auto instead = number(choice->operands[1]);
    if (!instead || *instead != 0 || std::signbit(*instead) || shape(weights) != shape(id)) return {};
    if (const Op* other = made_by(condition, "not_equal", DType::kBool)) {
      between.zero = ops::ZeroWeights::kNotNumbers;
      return other->operands[0] == weights && other->operands[1] == weights ? weights : Id();
    }
    const Op* never = made_by(condition, "equal", DType::kBool);
    const auto number_of = never == nullptr ? std::nullopt : number(never->operands[1]);
    if (!number_of || *number_of != -HUGE_VAL) return {};
    between.zero = ops::ZeroWeights::kHidden;
    most = never->operands[0];
    return weights;
  }

  // Is it the largest of each row of the mask?
  bool is_most_of(Id most, Id mask) {
    const Op* reduction = made_by(most, "reduce_max_nan");
    if (reduction == nullptr || reduction->operands[0] != mask) return false;
    const auto& a = reduction->attrs<ops::ReduceAttrs>();
    return a.keep_dims && a.axes == std::vector<int64_t>{static_cast<int64_t>(shape(mask).size()) - 1};
  }

  // The last transposition behind the product at `root` whose work it can do, which is then the root.
  size_t follow(size_t root) {
    std::vector<size_t> passed;
    for (size_t at = root;;) {
      const Id id = graph_.ops[at].results[0];
      if (!is_read_once(id)) return root;
      passed.push_back(at);
      at = static_cast<size_t>(chains_.users[index(id)][0]);
      const Op& op = graph_.ops[at];
      if (op.results.size() != 1 || (op.name() != "reshape" && op.name() != "transpose") || op.operands[0] != id)
        return root;
      if (op.name() == "reshape") continue;
      const Sizes unit = steps_of(shape(op.results[0])), &order = op.attrs<ops::TransposeAttrs>().order;
      Sizes to(order.size());
      for (size_t i = 0; i < order.size(); ++i) to[static_cast<size_t>(order[i])] = unit[i];
      if (!remap(kResult, shape(id), to)) return root;
      taken_.insert(taken_.end(), passed.begin(), passed.end());
      passed.clear();
      root = at;
    }
  }

  int64_t bytes(Id id) const { return graph_[id].constant ? 0 : graph_[id].type.bytes(); }

  // Are queries, keys, values and one row of products no more than what the operators written out need at once at
  // least?
  bool needs_no_more(const Op& first, const Op& second, const Op& root) const {
    const int64_t products = bytes(second.operands[0]), out = bytes(root.results[0]);
    const int64_t apart =
        std::max(bytes(first.operands[0]) + bytes(first.operands[1]), bytes(second.operands[1]) + out) + products;
    const Matrices &query = parts_[kQueries].value(), &result = parts_[kResult].value();
    const bool in_place = query.steps == result.steps && query.sizes == result.sizes && bytes(query.tensor) == out;
    int64_t together = bytes(parts_[kKeys]->tensor) + bytes(parts_[kValues]->tensor) + (in_place ? 0 : out);
    together += bytes(query.tensor) + 4 * parts_[kValues]->sizes.end()[-2];
    return together <= apart;
  }

  bool attention(size_t at) {
    if (!begins_at(at, "batch_matmul") || !is_product(&graph_.ops[at], false)) return false;
    const Op second = graph_.ops[at];
    Between between;
    Id most;
    const Op* weights = made_by(weights_of(second.operands[0], between, most), "softmax");
    if (weights == nullptr || weights->attrs<ops::SoftmaxAttrs>().beta != 1.0f) return false;
    const Op* product = scores(weights->operands[0], between);
    if (!is_product(product, true)) return false;
    if (between.zero == ops::ZeroWeights::kHidden && (between.replaces || !is_most_of(most, between.mask)))
      return false;
    mask_by_truth(between);
    const Id mask = between.mask;
    const Op first = *product;
    const Shape& out = shape(second.results[0]);
    Shape seen = out;
    seen.back() = shape(second.operands[1]).end()[-2];
    if (shape(first.results[0]) != seen || shape(second.operands[0]) != seen) return false;
    auto sized = [&](int64_t rows, int64_t columns) {
      Sizes sizes(out.begin(), out.end() - 2);
      sizes.insert(sizes.end(), {rows, columns});
      return sizes;
    };
    const int64_t depth = shape(first.operands[0]).back();
    parts_.fill(std::nullopt);
    parts_[kQueries] = matrices_of(first.operands[0], sized(out.end()[-2], depth), false);
    parts_[kKeys] =
        matrices_of(first.operands[1], sized(seen.back(), depth), !first.attrs<ops::BatchMatmulAttrs>().adj_y);
    parts_[kValues] = matrices_of(second.operands[1], sized(seen.back(), out.back()), false);
    parts_[kResult] = matrices_of(second.results[0], sized(out.end()[-2], out.back()), false);
    if (mask.valid()) parts_[kMask] = matrices_of(mask, seen, false);
    for (size_t i = 0; i < kParts; ++i)
      if (!parts_[i] && (i != kMask || mask.valid())) return false;
    for (size_t i : {kQueries, kKeys})
      while (look_behind(i, between.factor)) {
      }
    double of_values = 1;
    while (look_behind(kValues, of_values)) {
    }
    if (of_values != 1) return false;
    const size_t root = follow(at);
    return needs_no_more(first, second, graph_.ops[root]) && become_attention(root, between);
  }

  bool become_attention(size_t root, const Between& between) {
    auto a = std::make_shared<ops::AttentionAttrs>();
    const Sizes &keys = parts_[kKeys]->sizes, &result = parts_[kResult]->sizes;
    a->shape = shape(graph_.ops[root].results[0]);
    a->batch.assign(result.begin(), result.end() - 2);
    a->queries = result.end()[-2];
    a->keys = keys.end()[-2];
    a->depth = keys.back();
    a->values = result.back();
    a->query_steps = parts_[kQueries]->steps;
    a->key_steps = parts_[kKeys]->steps;
    a->value_steps = parts_[kValues]->steps;
    if (parts_[kMask]) a->mask_steps = parts_[kMask]->steps;
    a->result_steps = parts_[kResult]->steps;
    a->scale = static_cast<float>(between.factor);
    a->softcap = between.softcap;
    a->hides = between.hides;
    a->replaces = between.replaces;
    a->hidden = between.hidden;
    a->zero = between.zero;
    std::vector<Id> operands;
    for (size_t i = 0; i < kResult; ++i)
      if (parts_[i]) operands.push_back(parts_[i]->tensor);
    return replace(root, "attention", std::move(operands), std::move(a));
  }

  std::array<std::optional<Matrices>, kParts> parts_;
};

}  // namespace

void recognise_attention(graph::Graph& graph, const ops::OperatorSet& set) { AttentionRecogniser(graph, set).run(); }

}  // namespace aotc::frontends::onnx
