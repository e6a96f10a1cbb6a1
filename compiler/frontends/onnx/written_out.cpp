// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/written_out.h"

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/onnx/written_out_walk.h"
#include "ops/common/reduction.h"
#include "ops/elementwise/attributes.h"
#include "ops/rows/attributes.h"

namespace aotc::frontends::onnx {

namespace {

using Id = graph::TensorId;

// What a chain of products multiplies: one number, and tensors.
struct Product {
  double factor = 1;
  std::vector<Id> tensors;
};

// A normalisation of rows up to scale and bias.
struct Normalisation {
  Id x;
  double epsilon = 0;
  bool centred = false;
};

class Recogniser : public WrittenOut {
 public:
  using WrittenOut::WrittenOut;

  void run() {
    for (size_t i = 0; i < graph_.ops.size(); ++i)
      if (!dead_[i]) (void)(softmax(i) || gated(i) || normalisation(i));
    graph::remove_ops(graph_, dead_);
  }

 private:
  // ---- softmax: exp(x - max x) over its sum

  bool along_rows(const Op& reduction) const {
    const auto& a = reduction.attrs<ops::ReduceAttrs>();
    const auto rank = static_cast<int64_t>(graph_[reduction.operands[0]].type.shape.size());
    return a.keep_dims && a.axes == std::vector<int64_t>{rank - 1};
  }

  bool softmax(size_t root) {
    if (!begins_at(root, "div")) return false;
    const Op divided = graph_.ops[root];
    const Op* exp = made_by(divided.operands[0], "exp");
    const Op* sum = exp == nullptr ? nullptr : made_by(divided.operands[1], "sum");
    if (sum == nullptr || sum->operands[0] != divided.operands[0] || !along_rows(*sum)) return false;
    const Op* below = made_by(exp->operands[0], "sub");
    const Op* most = below == nullptr ? nullptr : made_by(below->operands[1], "reduce_max_nan");
    if (most == nullptr || most->operands[0] != below->operands[0] || !along_rows(*most)) return false;
    return replace(root, "softmax", {below->operands[0]}, set_.find("softmax")->default_attributes());
  }

  // ---- GELU: half of x (1 + erf(x / sqrt 2)), or with tanh; hard swish: a sixth of x (x + 3), of which the sum is 0
  // to 6

  Product product_of(Id id, int depth = 0) {
    Product out;
    if (const auto n = number(id)) {
      out.factor = *n;
      return out;
    }
    const size_t before = taken_.size();
    if (const Op* op = depth < 6 ? made_by(id, "mul") : nullptr) {
      auto whole = [&](Id operand) { return graph_[operand].type.shape == graph_[id].type.shape; };
      if (whole(op->operands[0]) || whole(op->operands[1])) {
        out = product_of(op->operands[0], depth + 1);
        const Product right = product_of(op->operands[1], depth + 1);
        out.factor *= right.factor;
        out.tensors.insert(out.tensors.end(), right.tensors.begin(), right.tensors.end());
        return out;
      }
      taken_.resize(before);
    }
    if (const Op* op = depth < 6 ? made_by(id, "div") : nullptr) {
      if (const auto by = number(op->operands[1]); by && *by != 0) {
        out = product_of(op->operands[0], depth + 1);
        out.factor /= *by;
        return out;
      }
      taken_.resize(before);
    }
    out.tensors.push_back(id);
    return out;
  }

  bool is_cube(Id id, Id x) {
    Product p = product_of(id);
    if (!near(p.factor, 0.044715)) return false;
    if (p.tensors == std::vector<Id>{x, x, x}) return true;
    const Op* power = p.tensors.size() == 1 ? made_by(p.tensors[0], "pow") : nullptr;
    return power != nullptr && power->operands[0] == x && is(power->operands[1], 3);
  }

  // Is it 1 + erf(x / sqrt 2), or 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))? Which?
  std::optional<bool> distribution(Id id, Id x) {
    const Op* sum = made_by(id, "add");
    const auto inner = sum == nullptr ? std::nullopt : other(*sum, [&](Id i) { return is(i, 1); });
    if (!inner) return std::nullopt;
    if (const Op* erf = made_by(*inner, "erf")) {
      const Product p = product_of(erf->operands[0]);
      if (p.tensors == std::vector<Id>{x} && near(p.factor, std::sqrt(0.5))) return false;
      return std::nullopt;
    }
    const Op* tanh = made_by(*inner, "tanh");
    if (tanh == nullptr) return std::nullopt;
    constexpr double kRootOfTwoByPi = 0.79788456080286535588;
    const Product p = product_of(tanh->operands[0]);
    const Op* both = p.tensors.size() == 1 && near(p.factor, kRootOfTwoByPi) ? made_by(p.tensors[0], "add") : nullptr;
    const auto cube = both == nullptr ? std::nullopt : other(*both, [&](Id i) { return i == x; });
    if (!cube || !is_cube(*cube, x)) return std::nullopt;
    return true;
  }

  bool is_hard_sigmoid(Id id, Id x) {
    const Op* bounded = made_by(id, "bounded");
    if (bounded == nullptr || bounded->attrs<ops::BoundedAttrs>().low != 0 ||
        bounded->attrs<ops::BoundedAttrs>().high != 6)
      return false;
    const Op* sum = made_by(bounded->operands[0], "add");
    return sum != nullptr && other(*sum, [&](Id i) { return is(i, 3); }) == std::optional<Id>(x);
  }

  bool gated(size_t root) {
    if (!begins_at(root, "mul") && !begins_at(root, "div")) return false;
    const Id result = graph_.ops[root].results[0];
    const Product p = product_of(result);
    std::erase(taken_, root);
    const bool halves = near(p.factor, 0.5);
    if (p.tensors.size() != 2 || (!halves && !near(p.factor, 1.0 / 6))) return false;
    for (size_t i : {0u, 1u}) {
      const Id x = p.tensors[i];
      if (graph_[x].type.shape != graph_[result].type.shape) continue;
      const size_t before = taken_.size();
      if (!halves && is_hard_sigmoid(p.tensors[1 - i], x))
        return replace(root, "hard_swish", {x}, set_.find("hard_swish")->default_attributes());
      const auto approximate = !halves ? std::nullopt : distribution(p.tensors[1 - i], x);
      if (!approximate) {
        taken_.resize(before);
        continue;
      }
      auto attributes = std::make_shared<ops::GeluAttrs>();
      attributes->approximate = *approximate;
      return replace(root, "gelu", {x}, attributes);
    }
    return false;
  }

  // ---- normalisation of layers

  // x less the mean of its row.
  const Op* centred(Id id) {
    const size_t before = taken_.size();
    const Op* difference = made_by(id, "sub");
    const Op* mean = difference == nullptr ? nullptr : made_by(difference->operands[1], "mean");
    if (mean != nullptr && mean->operands[0] == difference->operands[0] && along_rows(*mean)) return difference;
    taken_.resize(before);
    return nullptr;
  }

  bool is_square(Id id, Id of) {
    auto same = [&](Id a) {
      if (a == of) return true;
      // Some write the difference once more for the variance.
      const Op *first = centred(of), *again = first == nullptr ? nullptr : centred(a);
      return again != nullptr && again->operands[0] == first->operands[0];
    };
    const size_t before = taken_.size();
    if (const Op* power = made_by(id, "pow")) return is(power->operands[1], 2) && same(power->operands[0]);
    taken_.resize(before);
    const Op* product = made_by(id, "mul");
    return product != nullptr && product->operands[0] == product->operands[1] && same(product->operands[0]);
  }

  // The root of the mean of squares plus a constant, which is given.
  std::optional<double> root_of_squares(Id id, Id of) {
    const Op* root = made_by(id, "sqrt");
    const Op* sum = root == nullptr ? nullptr : made_by(root->operands[0], "add");
    const auto mean = sum == nullptr ? std::nullopt : other(*sum, [&](Id i) { return number(i).has_value(); });
    if (!mean) return std::nullopt;
    const double epsilon = number(sum->operands[sum->operands[0] == *mean ? 1 : 0]).value();
    const Op* squares = made_by(*mean, "mean");
    if (squares == nullptr || !along_rows(*squares) || !is_square(squares->operands[0], of)) return std::nullopt;
    return epsilon;
  }

  // The inverse of such a root.
  std::optional<double> inverse_of_squares(Id id, Id of) {
    const Op* inverse = made_by(id, "div");
    if (inverse == nullptr || !is(inverse->operands[0], 1)) return std::nullopt;
    return root_of_squares(inverse->operands[1], of);
  }

  std::optional<Normalisation> normalised(const Op& op) {
    const std::vector<Id> operands = op.operands;
    const bool divides = op.name() == "div";
    for (size_t i : {0u, 1u}) {
      if (divides && i == 1) break;
      const size_t before = taken_.size();
      const Id numerator = operands[i], factor = operands[1 - i];
      if (auto epsilon = divides ? root_of_squares(factor, numerator) : inverse_of_squares(factor, numerator)) {
        const Op* difference = centred(numerator);
        return Normalisation{difference != nullptr ? difference->operands[0] : numerator, *epsilon,
                             difference != nullptr};
      }
      taken_.resize(before);
    }
    return std::nullopt;
  }

  // The next operator, where it is this one, the only reader, and its other operand a constant for each place of a row.
  std::optional<size_t> applied(size_t at, std::string_view name, Id& list) {
    const Id id = graph_.ops[at].results[0];
    if (shown_[index(id)] || chains_.users[index(id)].size() != 1) return std::nullopt;
    const auto next = static_cast<size_t>(chains_.users[index(id)][0]);
    const Op& op = graph_.ops[next];
    if (op.name() != name || dead_[next] || !is_plain(op)) return std::nullopt;
    const auto constant = other(op, [&](Id i) { return i == id; });
    if (!constant || !graph_[*constant].constant || graph_[op.results[0]].type.shape != graph_[id].type.shape)
      return std::nullopt;
    const graph::TensorType& type = graph_[*constant].type;
    const int64_t places = graph_[id].type.shape.back();
    if (type.dtype != DType::kF32 || type.shape.empty() || type.shape.back() != places || type.elements() != places)
      return std::nullopt;
    list = *constant;
    return next;
  }

  // A constant as a list.
  Id list_of(Id constant) {
    if (!constant.valid()) return constant;
    const Id made = graph::constant_as_list(graph_, constant);
    chains_.definer.resize(graph_.tensors.size(), -1);
    chains_.users.resize(graph_.tensors.size());
    shown_.resize(graph_.tensors.size(), false);
    return made;
  }

  bool normalisation(size_t at) {
    if (!begins_at(at, "div") && !begins_at(at, "mul")) return false;
    const Op op = graph_.ops[at];
    if (graph_[op.results[0]].type.shape.empty()) return false;
    const auto found = normalised(op);
    if (!found || graph_[found->x].type.shape != graph_[op.results[0]].type.shape) return false;
    size_t root = at;
    Id scale, bias;
    for (auto [name, list] : {std::pair<std::string_view, Id*>{"mul", &scale}, {"add", &bias}}) {
      const auto next = applied(root, name, *list);
      if (!next) continue;
      taken_.push_back(root);
      root = *next;
    }
    std::vector<Id> operands = {found->x, list_of(scale), list_of(bias)};
    while (!operands.back().valid()) operands.pop_back();
    auto attributes = std::make_shared<ops::LayerNormalizationAttrs>();
    attributes->epsilon = static_cast<float>(found->epsilon);
    attributes->centred = found->centred;
    return replace(root, "layer_normalization", operands, attributes);
  }
};

}  // namespace

void recognise_written_out(graph::Graph& graph, const ops::OperatorSet& set) {
  for (graph::Op& op : graph.ops)
    for (graph::Graph& region : op.regions) recognise_written_out(region, set);
  Recogniser(graph, set).run();
  recognise_attention(graph, set);
}

}  // namespace aotc::frontends::onnx
