// SPDX-License-Identifier: Apache-2.0
// A Scan whose turns depend on nothing but the element that they see, as exporters write distances of a row from the
// rows of a table. Its body takes many elements at once: they are a further dimension in front of the others.
#include <algorithm>
#include <numeric>
#include <set>

#include "frontends/onnx/import.h"

namespace aotc::frontends::onnx {

namespace {

constexpr int64_t kFewTurns = 64;  // below, each turn is written out
constexpr int64_t kElements = 32;  // of one step, at least
constexpr int64_t kMostParts = 64;
constexpr int64_t kMostWrittenOut = 4096;  // turns; more are a loop, which needs less memory than large steps

// A value of the body, as it is in a turn.
struct InTurn {
  graph::Shape shape;
  bool each = false;     // differs from turn to turn: it has the further dimension in front
  bool reduced = false;  // dimensions that a reduction removed are still there, with one element
};

// Follows the body's values, and rewrites its nodes.
class BatchedBody {
 public:
  BatchedBody(const Graph& body, Builder& b, std::function<Id(std::string_view)> find,
              std::function<std::string_view(const Ints&)> list)
      : body_(body), b_(b), find_(std::move(find)), list_(std::move(list)) {}

  // False if a turn depends on another one, or has a node that does not work on many elements.
  bool follow(const std::vector<Id>& inputs, size_t carried) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      graph::Shape shape = b_.shape(inputs[i]);
      if (b_.element(inputs[i]) != kFloat) return false;
      if (i >= carried) shape.erase(shape.begin());
      rank_ = std::max(rank_, shape.size());
      values_[body_.inputs[i].name] = {shape, i >= carried};
    }
    nodes_ = body_.nodes;
    if (!body_.initializers.empty() ||
        !std::all_of(nodes_.begin(), nodes_.end(), [&](Node& node) { return follow(node); }))
      return false;
    for (size_t i = 0; i < body_.outputs.size(); ++i) {
      auto found = values_.find(body_.outputs[i].name);
      if (found == values_.end() || found->second.each != (i >= carried)) return false;
      if (i < carried && origin(body_.outputs[i].name) != body_.inputs[i].name) return false;
    }
    return true;
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  size_t rank() const { return rank_; }
  const graph::Shape& shape(std::string_view name) const { return values_.at(name).shape; }

  // False if more turns than may be written out, in steps of `elements`, need more memory than a loop with its results.
  bool fits(int64_t turns, int64_t elements, size_t carried) const {
    double all = 0, largest = 0, results = 0;  // in elements, per turn
    for (const auto& [name, v] : values_) {
      if (!v.each) continue;
      const double count = elements_of(v);
      all += count;
      largest = std::max(largest, count);
    }
    for (size_t i = carried; i < body_.outputs.size(); ++i) results += elements_of(values_.at(body_.outputs[i].name));
    constexpr double kOperators = 4;  // tensors that operators compute for a value of the body, at most
    const auto n = static_cast<double>(turns);
    return turns <= kMostWrittenOut ||
           (largest * static_cast<double>(elements) <= results * n &&
            kOperators * sizeof(float) * all * n <= static_cast<double>(limits::kMaxActivationBytes));
  }

 private:
  // As double: the product of unchecked dimensions may exceed 64 bits.
  static double elements_of(const InTurn& v) {
    return std::accumulate(v.shape.begin(), v.shape.end(), 1.0,
                           [](double n, int64_t d) { return n * static_cast<double>(d); });
  }

  std::string_view origin(std::string_view name) const {
    for (auto found = copies_.find(name); found != copies_.end(); found = copies_.find(name)) name = found->second;
    return name;
  }

  const InTurn* value(std::string_view name) {
    auto found = values_.find(name);
    if (found != values_.end()) return &found->second;
    const Id outer = find_(name);
    if (outer.value < 0 || b_.element(outer) != kFloat) return nullptr;
    rank_ = std::max(rank_, b_.shape(outer).size());
    return &(values_[name] = {b_.shape(outer)});
  }

  bool follow(Node& node) {
    static const std::set<std::string_view> kOfOne = {"Identity", "Abs", "Neg", "Sqrt", "Exp", "Log", "Reciprocal"};
    static const std::set<std::string_view> kOfTwo = {"Add", "Sub", "Mul", "Div", "Pow"};
    static const std::set<std::string_view> kReductions = {"ReduceSum",  "ReduceSumSquare", "ReduceMax", "ReduceMin",
                                                           "ReduceMean", "ReduceL1",        "ReduceL2"};
    if (!(node.domain.empty() || node.domain == "ai.onnx") || node.outputs.size() != 1 || node.inputs.empty())
      return false;
    const InTurn* x = value(node.inputs[0]);
    if (x == nullptr) return false;
    if (kReductions.contains(node.type)) return reduce(node, *x);
    if (!node.attributes.empty()) return false;
    if (kOfOne.contains(node.type) && node.inputs.size() == 1) {
      if (node.type == "Identity") copies_[node.outputs[0]] = node.inputs[0];
      return define(node, *x);
    }
    if (!kOfTwo.contains(node.type) || node.inputs.size() != 2) return false;
    const InTurn* y = value(node.inputs[1]);
    x = value(node.inputs[0]);
    if (y == nullptr || x->reduced || y->reduced) return false;
    InTurn out{{}, x->each || y->each};
    const size_t rank = std::max(x->shape.size(), y->shape.size());
    for (size_t d = 0; d < rank; ++d) {
      auto size = [&](const graph::Shape& s) { return d + s.size() < rank ? 1 : s[d + s.size() - rank]; };
      const int64_t a = size(x->shape), b = size(y->shape);
      if (a != b && a != 1 && b != 1) return false;
      out.shape.push_back(a == 1 ? b : a);
    }
    return define(node, out);
  }

  bool define(const Node& node, const InTurn& value) { return values_.emplace(node.outputs[0], value).second; }

  // Axes are those of the dimensions behind the further one, which all stay.
  bool reduce(Node& node, const InTurn& x) {
    if (!x.each || x.reduced) return false;
    std::optional<Ints> axes;
    bool keep = true;
    for (const Attribute& a : node.attributes) {
      if (a.name == "axes" && a.kind == kWholes) axes = a.ints;
      else if (a.name == "keepdims") keep = a.i != 0;
      else return false;
    }
    if (node.inputs.size() > 1) {
      const Id given = node.inputs[1].empty() ? Id{} : find_(node.inputs[1]);
      if (given.value < 0 || !b_.graph().is_constant(given)) return false;
      axes = b_.ints(given);
    }
    if (!axes || axes->empty()) return false;
    InTurn out{{}, true, !keep};
    std::set<size_t> gone;
    const auto rank = static_cast<int64_t>(x.shape.size());
    for (int64_t axis : *axes) {
      if (axis < -rank || axis >= rank) return false;
      gone.insert(static_cast<size_t>(axis < 0 ? axis + rank : axis));
    }
    for (size_t d = 0; d < x.shape.size(); ++d)
      if (!gone.contains(d) || keep) out.shape.push_back(gone.contains(d) ? 1 : x.shape[d]);
    // Counted from the end, they are the same with dimensions in front.
    Ints behind;
    for (size_t d : gone) behind.push_back(static_cast<int64_t>(d) - rank);
    std::erase_if(node.attributes, [](const Attribute& a) { return a.name == "axes" || a.name == "keepdims"; });
    node.attributes.emplace_back();
    node.attributes.back().name = "keepdims";
    node.attributes.back().kind = kWhole;
    node.attributes.back().i = 1;
    if (node.inputs.size() > 1) {
      node.inputs[1] = list_(behind);
    } else {
      node.attributes.emplace_back();
      node.attributes.back().name = "axes";
      node.attributes.back().kind = kWholes;
      node.attributes.back().ints = behind;
    }
    return define(node, out);
  }

  const Graph& body_;
  Builder& b_;
  std::function<Id(std::string_view)> find_;
  std::function<std::string_view(const Ints&)> list_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string_view, InTurn> values_;
  std::unordered_map<std::string_view, std::string_view> copies_;
  size_t rank_ = 0;
};

}  // namespace

// True if it took the node; `good` is then false if an error was reported.
bool Importer::add_batched_scan(const Node& node, const Graph& body, const std::vector<Id>& inputs, size_t carried,
                                const Versions& versions, Scope& scope, int depth, bool& good) {
  for (std::string_view name :
       {"scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"})
    if (const Attribute* a = node.find(name);
        a != nullptr && std::any_of(a->ints.begin(), a->ints.end(), [](int64_t v) { return v != 0; }))
      return false;
  const int64_t turns = builder_.shape(inputs[carried])[0];
  if (turns < kFewTurns) return false;
  auto list = [&](const Ints& values) -> std::string_view {
    const std::string_view name = names_.emplace_back("aotc.constant/" + std::to_string(names_.size()));
    build(name, [&] { scope.values.emplace(name, builder_.int_list(values)); });
    return name;
  };
  BatchedBody batched(body, builder_, [&](std::string_view name) { return find(scope, name); }, list);
  const int64_t elements = std::max(kElements, (turns + kMostParts - 1) / kMostParts);
  if (!batched.follow(inputs, carried) || !batched.fits(turns, elements, carried)) return false;
  Graph many = body;
  many.nodes = batched.nodes();
  std::vector<std::vector<Id>> parts(node.outputs.size() - carried);
  good = true;
  for (int64_t begin = 0; good && begin < turns; begin += elements) {
    const int64_t count = std::min(elements, turns - begin);
    std::vector<Id> given(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(carried));
    good = build_at(where_node(node), [&] {
      for (size_t i = carried; i < inputs.size(); ++i) {
        const graph::Shape& all = builder_.shape(inputs[i]);
        graph::Shape some = all, wide(batched.rank() + 1, 1);
        some[0] = wide[0] = count;
        std::copy(all.begin() + 1, all.end(), wide.end() - static_cast<std::ptrdiff_t>(all.size()) + 1);
        Ints from(all.size(), 0);
        from[0] = begin;
        given.push_back(builder_.reshape(builder_.slice(inputs[i], from, some), wide));
      }
    });
    auto out = good ? add_body(node, many, given, versions, scope, depth) : std::nullopt;
    good = out && build_at(where_node(node), [&] {
             for (size_t i = 0; i < parts.size(); ++i) {
               graph::Shape shape = batched.shape(body.outputs[carried + i].name);
               shape.insert(shape.begin(), count);
               parts[i].push_back(builder_.reshape((*out)[carried + i], shape));
             }
           });
  }
  for (size_t i = 0; good && i < node.outputs.size(); ++i) {
    Id id = i < carried ? inputs[i] : Id{};
    if (i >= carried)
      good = build_at(where_node(node), [&] {
        std::vector<Id>& all = parts[i - carried];
        id = all.size() == 1 ? all[0] : builder_.add("concatenation", all, {{"axis", 0}});
      });
    good = good && define(node, i, id, scope);
  }
  return true;
}

}  // namespace aotc::frontends::onnx
