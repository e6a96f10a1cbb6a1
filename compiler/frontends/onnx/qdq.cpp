// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/qdq.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "frontends/onnx/constant_weights.h"
#include "ops/softmax/int16.h"

namespace aotc::frontends::onnx {

namespace {

// Operators that only choose among stored values.
constexpr std::array<std::string_view, 8> kMoving = {"Reshape",   "Flatten", "Transpose", "Squeeze",
                                                     "Unsqueeze", "MaxPool", "Slice",     "Split"};

// Operators across which onnxruntime moves a QuantizeLinear or a DequantizeLinear: it then finds the group.
constexpr std::array<std::string_view, 4> kViews = {"Reshape", "Transpose", "Squeeze", "Unsqueeze"};

// Constant weights: names of their integers, scales and zero points, and the axis of several scales.
struct Weights {
  std::string_view values, scale, zero;
  int64_t axis = 0;
};

class Groups {
 public:
  Groups(const Graph& graph, std::vector<Node> nodes, int64_t version, bool literal, Constants& constants)
      : version_(version), literal_(literal), nodes_(std::move(nodes)), constants_(constants), b_(constants.builder()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (std::string_view name : nodes_[i].outputs)
        if (!name.empty()) producers_.emplace(name, i);
      for (std::string_view name : nodes_[i].inputs) consumers_[name] = i;
      read(nodes_[i], 1);
    }
    for (const ValueInfo& out : graph.outputs) ++readers_[out.name];
    for (const ValueInfo& in : graph.inputs) inputs_.emplace(in.name, &in);
  }

  Folded run() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (is_quantize(i)) fold(i);
    wide_ = false;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      keep_integers(i);
      fold_dynamic(i);
    }
    // What nobody reads any more; a tensor's readers come behind it.
    for (size_t i = nodes_.size(); i-- > 0;)
      if ((is(i, "DequantizeLinear") || moves_constants(i)) && nodes_[i].outputs.size() == 1 &&
          readers_[nodes_[i].outputs[0]] == 0)
        remove(i);
    return {std::move(nodes_), std::move(notes_)};
  }

 private:
  bool is(size_t i, std::string_view type) const {
    const Node& n = nodes_[i];
    // com.microsoft's have 16 bits in any operator set, and mean the same.
    const bool contributed = n.domain == "com.microsoft" && type.ends_with("uantizeLinear");
    return n.type == type && (n.domain.empty() || n.domain == "ai.onnx" || contributed);
  }
  // With float32 around stored bytes.
  bool is_quantize(size_t i) const {
    return is(i, "QuantizeLinear") && nodes_[i].inputs.size() >= 2 && nodes_[i].outputs.size() == 1 &&
           is_usual(nodes_[i]);
  }
  // Without attributes that a group would lose: the rule of the operator sees them, and may refuse them.
  static bool is_usual(const Node& n, bool blocks = false) {
    return std::all_of(n.attributes.begin(), n.attributes.end(), [&](const Attribute& a) {
      const bool known = a.name == "axis" || a.name == "saturate" || a.name == "output_dtype";
      return a.reference.empty() && (known || (a.name == "block_size" && (a.i == 0 || (blocks && a.i > 0))));
    });
  }
  // The axis of several scales, from the front.
  int64_t axis_of(const Node& n, Id values) const {
    const Attribute* axis = n.find("axis");
    const int64_t at = axis == nullptr ? 1 : axis->i;
    return at < 0 ? at + b_.rank(values) : at;
  }
  // One scale, or one for each index of this axis.
  bool has_scales_along(const Weights& w, int64_t axis) const { return is_one(w.scale) || w.axis == axis; }

  void read(const Node& node, int times) {
    for (std::string_view name : node.inputs) readers_[name] += times;
    // Subgraphs see names around them: what they read is never a group's own.
    for (const Attribute& a : node.attributes)
      if (a.graph) read(*a.graph, times);
  }
  void read(const Graph& graph, int times) {
    for (const Node& n : graph.nodes) read(n, times);
    for (const ValueInfo& out : graph.outputs) readers_[out.name] += times;
  }

  void remove(size_t i) {
    read(nodes_[i], -1);
    nodes_[i] = {};
  }

  std::optional<size_t> producer(std::string_view name) const {
    auto found = producers_.find(name);
    return found == producers_.end() ? std::nullopt : std::optional(found->second);
  }

  // Invalid if the elements are not known.
  Id constant(std::string_view name) const { return constants_.find(name); }
  bool is_one(std::string_view name) const {
    const Id id = constant(name);
    return id.valid() && b_.type(id).elements() == 1;
  }
  // True if the constant has the element type of the group's activations.
  bool is_value(std::string_view name) const {
    const Id id = constant(name);
    return id.valid() && is_value_type(b_.element(id));
  }
  bool is_value_type(int32_t type) const { return wide_ ? is_wide_type(type) : is_byte_type(type); }
  // Of constant weights, which may also have four bits.
  bool is_whole(std::string_view name) const {
    const Id id = constant(name);
    const int32_t element = id.valid() ? b_.element(id) : kUndefined;
    return is_byte_type(element) || element == kInt4 || element == kUint4;
  }
  static bool is_byte_type(int32_t type) { return type == kInt8 || type == kUint8; }
  static bool is_wide_type(int32_t type) { return type == kInt16 || type == kUint16; }
  // One scale of float32 and no or one zero point, of the group's type.
  bool is_plain(std::string_view scale, std::string_view zero) const {
    return scalar(scale).has_value() && (zero.empty() || (is_value(zero) && is_one(zero)));
  }
  static std::string_view zero_of(const Node& n) { return n.inputs.size() > 2 ? n.inputs[2] : std::string_view(); }
  // A zero point says of what type its tensor is.
  bool holds_values(const Node& n) const {
    if (std::string_view zero = zero_of(n); !zero.empty()) return is_value(zero);
    if (constant(n.inputs[0]).valid()) return is_value(n.inputs[0]);
    if (auto in = inputs_.find(n.inputs[0]); in != inputs_.end()) return is_value_type(in->second->type);
    auto from = producer(n.inputs[0]);
    return from && is_quantize(*from) && makes_values(nodes_[*from]);
  }
  bool makes_values(const Node& q) const {
    const Attribute* asked = q.find("output_dtype");
    std::string_view zero = zero_of(q);
    return zero.empty() ? !wide_ && (asked == nullptr || asked->i == 0) : is_value(zero);
  }

  // The node that dequantises this tensor with one scale (or any constant ones); nothing if none
  // does.
  const Node* dequantized(std::string_view name, bool per_tensor = true, bool blocks = false) const {
    if (per_tensor && !viewed_.outputs.empty() && viewed_.outputs[0] == name) return &viewed_;
    auto at = producer(name);
    if (!at || !is(*at, "DequantizeLinear") || nodes_[*at].inputs.size() < 2 || !is_usual(nodes_[*at], blocks))
      return nullptr;
    const Node& n = nodes_[*at];
    std::string_view zero = zero_of(n);
    const Id scale = constant(n.inputs[1]);
    if (!scale.valid() || b_.element(scale) != kFloat || (!zero.empty() && !constant(zero).valid())) return nullptr;
    if (const Attribute* asked = n.find("output_dtype"); asked != nullptr && asked->i > kFloat) return nullptr;
    if (per_tensor && (!is_plain(n.inputs[1], zero) || !holds_values(n))) return nullptr;
    return &n;
  }

  // Tensor, scale and zero point.
  static void put(Node& to, const Node& from, size_t first = 0) {
    for (size_t i = first; i < 3; ++i) to.inputs.push_back(i < from.inputs.size() ? from.inputs[i] : "");
  }

  // The one element of a constant.
  std::optional<float> scalar(std::string_view name) const {
    const Id id = constant(name);
    if (!id.valid() || b_.element(id) != kFloat || !is_one(name)) return std::nullopt;
    return (*b_.floats(id))[0];
  }
  std::optional<int> value(std::string_view name) const {
    if (!is_value(name) || !is_one(name)) return std::nullopt;
    return static_cast<int>((*b_.ints(constant(name)))[0]);
  }
  std::optional<int> zero_point(const Node& q, int& least) const {
    std::string_view name = zero_of(q);
    least = 0;
    if (name.empty()) return 0;
    if (const Id id = constant(name); id.valid() && b_.element(id) != kUint8 && b_.element(id) != kUint16)
      least = wide_ ? -32768 : -128;
    return value(name);
  }
  // The zero point of the int16 tensor that represents a tensor of 16 bits.
  int64_t wide_zero(const Node& n) const {
    const Id id = constant(zero_of(n));
    return value(zero_of(n)).value_or(0) - (id.valid() && b_.element(id) == kUint16 ? 32768 : 0);
  }

  // A Relu or Clip in front of the quantisation that bounds nothing which this does not.
  bool is_bound_of(const Node& n, const Node& q) const {
    if (n.inputs.empty() || (n.type != "Relu" && n.type != "Clip")) return false;
    int least = 0;
    auto zero = zero_point(q, least);
    auto scale = scalar(q.inputs[1]);
    if (!zero || !scale || !(*scale > 0)) return false;
    if (n.type == "Relu") return *zero == least;
    auto bound = [&](size_t i) { return n.inputs.size() > i ? scalar(n.inputs[i]) : std::nullopt; };
    auto reaches = [&](float real) { return std::nearbyint(real / *scale) + static_cast<float>(*zero); };
    bool low =
        n.inputs.size() < 2 || n.inputs[1].empty() || (bound(1) && reaches(*bound(1)) <= static_cast<float>(least));
    bool high = n.inputs.size() < 3 || n.inputs[2].empty() ||
                (bound(2) && reaches(*bound(2)) >= static_cast<float>(least + (wide_ ? 65535 : 255)));
    return low && high && n.find("min") == nullptr && n.find("max") == nullptr && n.inputs.size() > 1;
  }

  bool is_view(size_t i) const {
    return std::any_of(kViews.begin(), kViews.end(), [&](std::string_view type) { return is(i, type); }) &&
           !nodes_[i].inputs.empty() && only_reader(i);
  }

  // Quantisation `q` of what one operator makes of dequantised tensors.
  void fold(size_t q) {
    const Id zero = constant(zero_of(nodes_[q]));
    wide_ = !literal_ && zero.valid() && is_wide_type(b_.element(zero));
    if (!is_plain(nodes_[q].inputs[1], zero_of(nodes_[q])) || !makes_values(nodes_[q])) return;
    if (!fold(q, false)) fold(q, true);
  }

  // `through_views`: views may be between the operator and its quantisation. They then follow the group.
  bool fold(size_t q, bool through_views) {
    std::vector<size_t> bounds, views;  // the last one first
    auto at = producer(nodes_[q].inputs[0]);
    while (at && only_reader(*at)) {
      const bool bound = is_bound_of(nodes_[*at], nodes_[q]);
      if (!bound && !(through_views && is_view(*at))) break;
      (bound ? bounds : views).push_back(*at);
      at = producer(nodes_[*at].inputs[0]);
    }
    if (!at || !only_reader(*at) || (!nodes_[*at].domain.empty() && nodes_[*at].domain != "ai.onnx")) return false;
    auto made = replaced(*at, nodes_[q]);
    if (!made) made = replaced_behind_views(*at, nodes_[q]);
    if (!made) return false;
    made->name = nodes_[*at].name;
    std::string_view result = nodes_[q].outputs[0], from = views.empty() ? result : nodes_[*at].outputs[0];
    made->outputs = {from};
    for (size_t b : bounds) remove(b);
    remove(*at);
    remove(q);
    const size_t place = views.empty() ? q : *at;
    nodes_[place] = std::move(*made);
    read(nodes_[place], 1);
    for (size_t i = views.size(); i-- > 0;) {
      Node& view = nodes_[views[i]];
      set_input(view, from);
      if (i == 0) view.outputs[0] = result, producers_[result] = views[i];
      from = view.outputs[0];
    }
    return true;
  }

  void set_input(Node& n, std::string_view name) {
    read(n, -1);
    n.inputs[0] = name;
    read(n, 1);
  }

  // The same if views are between the operator and the dequantisation of its operand 0: they move the integers.
  std::optional<Node> replaced_behind_views(size_t at, const Node& q) {
    if (nodes_[at].inputs.empty()) return std::nullopt;
    std::vector<size_t> views;
    auto view = producer(nodes_[at].inputs[0]);
    for (; view && is_view(*view); view = producer(nodes_[*view].inputs[0])) views.push_back(*view);
    const Node* dq = views.empty() ? nullptr : dequantized(nodes_[views.back()].inputs[0]);
    if (dq == nullptr || constant(dq->inputs[0]).valid()) return std::nullopt;
    const std::string_view integers = dq->inputs[0];
    viewed_ = *dq;
    viewed_.inputs[0] = viewed_.outputs[0] = nodes_[at].inputs[0];
    auto out = replaced(at, q);
    viewed_ = {};
    if (out) set_input(nodes_[views.back()], integers);
    return out;
  }

  bool only_reader(size_t node) const {
    const Node& n = nodes_[node];
    if (n.outputs.empty()) return false;
    for (size_t i = 1; i < n.outputs.size(); ++i)
      if (!n.outputs[i].empty()) return false;
    auto found = readers_.find(n.outputs[0]);
    return found != readers_.end() && found->second == 1;
  }

  std::optional<Node> replaced(size_t at, const Node& q) {
    const Node& n = nodes_[at];
    if (n.inputs.empty() || (literal_ && is_rounded(n.type))) return std::nullopt;
    Node out;
    out.domain = kGroups;
    out.attributes = n.attributes;
    if (n.type == "Conv" || n.type == "Gemm") return with_weights(std::move(out), at, q);
    if (n.type == "MatMul" || n.type == "Add" || n.type == "Mul") {
      if (n.inputs.size() != 2) return std::nullopt;
      const Node *a = dequantized(n.inputs[0]), *b = dequantized(n.inputs[1]);
      const auto w = n.type == "MatMul" ? weights(n.inputs[1]) : std::nullopt;
      if (a == nullptr || (b == nullptr && !w) || (w && !has_scales_along(*w, 1))) return std::nullopt;
      if (wide_ && n.type == "MatMul" && (!w || !wide_sums_fit(*a, *w, q, 1, {}))) return std::nullopt;
      out.type = n.type == "MatMul" ? "QLinearMatMul" : n.type == "Add" ? "QLinearAdd" : "QLinearMul";
      put(out, *a);
      if (w) put(out, *w);
      else put(out, *b);
      put(out, q, 1);
      return out;
    }
    if (n.type == "Concat") return concat(std::move(out), n, q);
    const Node* x = dequantized(n.inputs[0]);
    if (x == nullptr) return std::nullopt;
    if (n.type == "GlobalAveragePool" || n.type == "AveragePool" || n.type == "Softmax") {
      out.type = n.type == "Softmax"       ? "QLinearSoftmax"
                 : n.type == "AveragePool" ? "QLinearAveragePool"
                                           : "QLinearGlobalAveragePool";
      if (n.type == "Softmax") {  // which says what its axis means
        const auto scale = scalar(q.inputs[1]);
        if (wide_ && !(scale && *scale >= ops::kLeastFineScale && *scale <= ops::kMostFineScale)) return std::nullopt;
        out.attributes.emplace_back();
        out.attributes.back().name = "opset";
        out.attributes.back().i = version_;
      }
      put(out, *x);
      put(out, q, 1);
      return out;
    }
    if (!wide_ && n.type == "ReduceMean") return averaged(std::move(out), n, *x, q);
    if (wide_ && n.type == "Relu") return rectified(std::move(out), *x, q);
    return moved(n, *x, q);
  }

  // The axes are an input from version 18 on.
  std::optional<Node> averaged(Node out, const Node& n, const Node& x, const Node& q) const {
    const bool has_axes = n.inputs.size() > 1 && !n.inputs[1].empty();
    if (has_axes ? version_ < 18 || !constant(n.inputs[1]).valid() : version_ >= 18 && n.find("axes") != nullptr)
      return std::nullopt;
    out.type = "QLinearReduceMean";
    put(out, x);
    put(out, q, 1);
    if (has_axes) out.inputs.push_back(n.inputs[1]);
    return out;
  }

  // Of int16 with zero points 0, which no table replaces.
  std::optional<Node> rectified(Node out, const Node& x, const Node& q) const {
    if (!same_scale(x.inputs[1], q.inputs[1]) || value(zero_of(x)) != 0 || value(zero_of(q)) != 0) return std::nullopt;
    out.type = "Relu";
    put(out, x);
    put(out, q, 1);
    return out;
  }

  std::optional<Node> with_weights(Node out, size_t at, const Node& q) {
    const Node& n = nodes_[at];
    if (n.inputs.size() < 2) return std::nullopt;
    const Node* x = dequantized(n.inputs[0]);
    const auto w = weights(n.inputs[1]);
    if (x == nullptr || !w) return std::nullopt;
    put(out, *x);
    put(out, *w);
    const Attribute* turned = n.find("transB");
    const bool columns = n.type == "Gemm" && (turned == nullptr || turned->i == 0);
    if (!has_scales_along(*w, columns ? 1 : 0)) return std::nullopt;
    if (n.type == "Gemm") {
      out.type = "QGemm";
      for (const Attribute& a : n.attributes)
        if ((a.name == "alpha" || a.name == "beta") && a.f != 1.0f) return std::nullopt;
    }
    const auto bias = bias_of(at, *x, *w, columns ? 1 : 0);
    if (!bias || (wide_ && !wide_sums_fit(*x, *w, q, columns ? 1 : 0, *bias))) return std::nullopt;
    if (n.type == "Gemm") {
      out.inputs.push_back(*bias);
      put(out, q, 1);
      return out;
    }
    // Over one or two dimensions.
    const int64_t rank = b_.rank(constant(w->values));
    if (rank < 3 || rank > 4) return std::nullopt;
    out.type = "QLinearConv";
    put(out, q, 1);
    if (!bias->empty()) out.inputs.push_back(*bias);
    return out;
  }

  // ---------------------------------------------------------------- constants of groups

  static void put(Node& to, const Weights& w) {
    for (std::string_view name : {w.values, w.scale, w.zero}) to.inputs.push_back(name);
  }

  // A node that gives elements of operand 0 other places, which are known.
  bool moves_constants(size_t i) const {
    constexpr std::array<std::string_view, 7> kMoves = {"Identity", "Reshape",   "Flatten", "Transpose",
                                                        "Squeeze",  "Unsqueeze", "Slice"};
    if (std::none_of(kMoves.begin(), kMoves.end(), [&](std::string_view type) { return is(i, type); })) return false;
    const Node& n = nodes_[i];
    return !n.inputs.empty() && n.outputs.size() == 1 &&
           std::all_of(n.inputs.begin() + 1, n.inputs.end(),
                       [&](std::string_view name) { return name.empty() || constant(name).valid(); });
  }

  // Finds the DequantizeLinear behind float weights. `moves`: the nodes between, last first. Null if the integers are
  // not constant. They may come from any node on constants, such as a QuantizeLinear.
  const Node* stored(std::string_view name, std::vector<size_t>& moves, bool blocks = false) const {
    auto at = producer(name);
    for (; at && moves.size() < nodes_.size() && moves_constants(*at); at = producer(name)) {
      moves.push_back(*at);
      name = nodes_[*at].inputs[0];
    }
    const Node* dq = dequantized(name, false, blocks);
    return dq != nullptr && is_whole(dq->inputs[0]) ? dq : nullptr;
  }

  // The integers of float weights, in the order of the floats.
  std::optional<Weights> weights(std::string_view name) {
    std::vector<size_t> moves;
    const Node* dq = stored(name, moves);
    if (dq == nullptr) return std::nullopt;
    const Weights found{dq->inputs[0], dq->inputs[1], zero_of(*dq), axis_of(*dq, constant(dq->inputs[0]))};
    return moves.empty() ? found : moved_weights(found, moves);
  }

  // For each element of a tensor, the element of `values` that the nodes move there; invalid if they cannot.
  Id places_of(Id values, const std::vector<size_t>& moves) {
    const graph::TensorType type = b_.type(values);
    Ints numbers(static_cast<size_t>(type.elements()));
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
    Id places = constants_.add_ints(numbers, type.shape, DType::kI32).id;
    for (size_t i = moves.size(); i-- > 0 && places.valid();) places = constants_.apply(nodes_[moves[i]], places);
    return places.valid() && b_.type(places).elements() > 0 ? places : Id{};
  }

  // The nodes move the numbers of the elements; integers and scales follow.
  std::optional<Weights> moved_weights(const Weights& from, const std::vector<size_t>& moves) {
    const Id values = constant(from.values);
    const graph::TensorType type = b_.type(values);
    const size_t scales = static_cast<size_t>(b_.type(constant(from.scale)).elements());
    const bool several = scales > 1;
    if (several && (from.axis < 0 || from.axis >= b_.rank(values) ||
                    type.shape[static_cast<size_t>(from.axis)] != static_cast<int64_t>(scales)))
      return std::nullopt;
    const Id places = places_of(values, moves);
    if (!places.valid()) return std::nullopt;
    const Ints of = *b_.ints(places), integers = *b_.ints(values);
    const graph::Shape shape = b_.shape(places);
    Ints moved;
    for (int64_t place : of) moved.push_back(integers[static_cast<size_t>(place)]);
    Weights out = from;
    if (several) {
      int64_t inner = 1;
      for (size_t d = static_cast<size_t>(from.axis) + 1; d < type.shape.size(); ++d) inner *= type.shape[d];
      Ints channels;
      for (int64_t place : of) channels.push_back(place / inner % static_cast<int64_t>(scales));
      if (!take_axis(out, channels, shape)) return std::nullopt;
    }
    const int32_t element = b_.element(values);
    const Constants::Named added = constants_.add_ints(moved, shape, type.dtype);
    if (!added.id.valid()) return std::nullopt;
    b_.set_element(added.id, element);
    out.values = added.name;
    return out;
  }

  ScaledWeights scaled(const Weights& w, int64_t block = 0) const {
    const Id values = constant(w.values), scale = constant(w.scale), zero = constant(w.zero);
    return {b_.shape(values),
            *b_.ints(values),
            b_.shape(scale),
            *b_.floats(scale),
            zero.valid() ? *b_.ints(zero) : Ints{0},
            w.axis,
            block};
  }

  // A product of floats and constant integers keeps the integers: its inputs become x, integers [units, depth], scales
  // and zero points of the blocks of rows, bias.
  void keep_integers(size_t at) {
    const bool gemm = is(at, "Gemm");
    if ((!gemm && !is(at, "MatMul")) || nodes_[at].inputs.size() < 2) return;
    std::vector<size_t> moves;
    const Node* dq = stored(nodes_[at].inputs[1], moves, true);
    if (dq == nullptr) return;
    const Id values = constant(dq->inputs[0]);
    const Attribute *block = dq->find("block_size"), *turned = nodes_[at].find("transB");
    const ScaledWeights weights =
        scaled({dq->inputs[0], dq->inputs[1], zero_of(*dq), axis_of(*dq, values)}, block == nullptr ? 0 : block->i);
    const Id places = places_of(values, moves);
    if (!places.valid() || (weights.zeros.size() != 1 && weights.zeros.size() != weights.scales.size())) return;
    const bool rows = gemm && turned != nullptr && turned->i != 0;
    const auto matrix = weights.matrix(*b_.ints(places), b_.shape(places), rows);
    if (!matrix) return;
    Node out = nodes_[at];
    out.domain = kGroups;
    out.attributes.emplace_back();
    out.attributes.back().name = "bits";
    out.attributes.back().i = is_byte_type(b_.element(values)) ? 8 : 4;
    const auto count = static_cast<int64_t>(matrix->zeros.size());
    out.inputs = {out.inputs[0], constants_.add_ints(matrix->values, {matrix->units, matrix->depth}, DType::kI16).name,
                  constants_.add_floats(matrix->scales).name,
                  constants_.add_ints(matrix->zeros, {count}, DType::kI16).name};
    if (nodes_[at].inputs.size() > 2) out.inputs.push_back(nodes_[at].inputs[2]);
    read(nodes_[at], -1);
    read(out, 1);
    nodes_[at] = std::move(out);
  }

  // ---------------------------------------------------------------- scales from the data

  // The only node that reads what this one makes, if it has this type; nullopt if there are others.
  std::optional<size_t> next(size_t node, std::string_view type) const {
    if (!only_reader(node)) return std::nullopt;
    auto found = consumers_.find(nodes_[node].outputs[0]);
    return found != consumers_.end() && is(found->second, type) ? std::optional(found->second) : std::nullopt;
  }

  // The operand of a node of two that is not `name`.
  static std::string_view other(const Node& n, std::string_view name) {
    if (n.inputs.size() != 2) return "";
    return n.inputs[0] == name ? n.inputs[1] : n.inputs[1] == name ? n.inputs[0] : std::string_view();
  }

  // DynamicQuantizeLinear, a product of integers with constants, Cast and Mul by both scales, and an Add of a constant
  // bias that may follow: one operator of floats with integer weights.
  void fold_dynamic(size_t at) {
    const bool conv = is(at, "ConvInteger");
    const Node& n = nodes_[at];
    if (n.type == "DynamicQuantizeMatMul" && n.domain == "com.microsoft") return rename_dynamic(at);
    if ((!conv && !is(at, "MatMulInteger")) || n.inputs.size() < 3) return;
    const auto quantize = producer(n.inputs[0]);
    if (!quantize || !is(*quantize, "DynamicQuantizeLinear")) return;
    const Node& q = nodes_[*quantize];
    if (q.outputs.size() != 3 || q.inputs.size() != 1 || n.inputs[2] != q.outputs[2]) return;
    const auto cast = next(at, "Cast");
    const Attribute* to = cast ? nodes_[*cast].find("to") : nullptr;
    const auto product = to != nullptr && to->i == kFloat ? next(*cast, "Mul") : std::nullopt;
    if (!product) return;
    const auto scales = producer(other(nodes_[*product], nodes_[*cast].outputs[0]));
    if (!scales || !is(*scales, "Mul")) return;
    const Weights w{n.inputs[1], other(nodes_[*scales], q.outputs[1]), n.inputs.size() > 3 ? n.inputs[3] : "",
                    conv ? 0 : 1};
    if (!multiplies_dynamic(w, conv)) return;
    const Id values = constant(w.values);
    const int64_t channels = b_.shape(values)[static_cast<size_t>(w.axis)];

    Node out;
    out.domain = kGroups;
    out.name = n.name;
    out.type = conv ? "DynamicConv" : "DynamicMatMul";
    out.attributes = n.attributes;
    out.inputs = {q.inputs[0], w.values, w.scale, w.zero};
    size_t last = *product;
    const auto sum = next(last, "Add");
    const std::string_view bias = sum ? other(nodes_[*sum], nodes_[last].outputs[0]) : std::string_view();
    if (is_bias(bias, channels, conv, b_.rank(values))) {
      out.inputs.push_back(bias);
      remove(last);
      last = *sum;
    }
    out.outputs = nodes_[last].outputs;
    remove(at);
    remove(*cast);
    remove(last);
    read(out, 1);
    nodes_[last] = std::move(out);
  }

  // The contrib operator has the inputs of the group, in the same order.
  void rename_dynamic(size_t at) {
    Node& n = nodes_[at];
    if (n.inputs.size() < 3 || !multiplies_dynamic({n.inputs[1], n.inputs[2], zero_of_matrix(n), 1}, false)) return;
    const bool biased = n.inputs.size() > 4 && !n.inputs[4].empty();
    if (biased && !is_bias(n.inputs[4], b_.shape(constant(n.inputs[1]))[1], false, 2)) return;
    n.domain = kGroups;
    n.type = "DynamicMatMul";
  }
  static std::string_view zero_of_matrix(const Node& n) {
    return n.inputs.size() > 3 ? n.inputs[3] : std::string_view();
  }

  // True if a dynamic group can use the weights. A convolution needs one scale.
  bool multiplies_dynamic(const Weights& w, bool conv) const {
    const Id values = constant(w.values), scale = constant(w.scale), zero = constant(w.zero);
    if (!is_value(w.values) || !scale.valid() || b_.element(scale) != kFloat || b_.rank(scale) > 1) return false;
    const int64_t rank = b_.rank(values), count = b_.type(scale).elements();
    if (conv ? rank < 3 || rank > 4 || count != 1 : rank != 2) return false;
    if (!w.zero.empty() && (!is_value(w.zero) || b_.type(zero).elements() != count)) return false;
    const std::vector<float> scales = *b_.floats(scale);
    return std::all_of(scales.begin(), scales.end(), [](float v) { return v > 0 && std::isfinite(v); }) &&
           scaled(w).fit_int8();
  }

  // A constant with a number for each channel, which broadcasts along them.
  bool is_bias(std::string_view name, int64_t channels, bool conv, int64_t rank) const {
    const Id id = constant(name);
    if (!id.valid() || b_.element(id) != kFloat || b_.type(id).elements() != channels) return false;
    const graph::Shape& shape = b_.shape(id);
    const int64_t behind = conv ? rank - 2 : 0, size = static_cast<int64_t>(shape.size());
    return size > behind && size <= (conv ? rank : 1) && shape[static_cast<size_t>(size - behind - 1)] == channels;
  }

  // Finds an axis such that all elements with one index along it have one channel.
  bool take_axis(Weights& w, const Ints& channels, const graph::Shape& shape) {
    int64_t inner = static_cast<int64_t>(channels.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      inner /= shape[axis];
      Ints order(static_cast<size_t>(shape[axis]), -1);
      bool single = true;
      for (size_t i = 0; single && i < channels.size(); ++i) {
        int64_t& known = order[i / static_cast<size_t>(inner) % order.size()];
        single = known < 0 || known == channels[i];
        known = channels[i];
      }
      if (!single) continue;
      const std::vector<float> scales = *b_.floats(constant(w.scale));
      std::vector<float> picked;
      for (int64_t c : order) picked.push_back(scales[static_cast<size_t>(c)]);
      if (!w.zero.empty()) {
        const Id zero = constant(w.zero);
        const Ints zeros = *b_.ints(zero);
        if (zeros.size() != 1 && zeros.size() != scales.size()) return false;
        Ints of_zero;
        for (int64_t c : order) of_zero.push_back(zeros[zeros.size() == 1 ? 0 : static_cast<size_t>(c)]);
        w.zero = constants_.add_ints(of_zero, {shape[axis]}, b_.dtype(zero)).name;
      }
      w.scale = constants_.add_floats(picked).name;
      w.axis = static_cast<int64_t>(axis);
      return true;
    }
    return false;
  }

  // The int32 constant of a bias, "" if there is none; nullopt if the group cannot have it. Floats become multiples of
  // the scale of the sums, as onnxruntime's optimiser makes them.
  std::optional<std::string_view> bias_of(size_t at, const Node& x, const Weights& w, int64_t channel) {
    const Node& n = nodes_[at];
    if (n.inputs.size() < 3 || n.inputs[2].empty()) return "";
    if (const Node* dq = dequantized(n.inputs[2], false)) {
      const Id values = constant(dq->inputs[0]);
      return values.valid() && b_.element(values) == kInt32 ? std::optional(dq->inputs[0]) : std::nullopt;
    }
    const Id id = constant(n.inputs[2]);
    const graph::Shape shape = b_.shape(constant(w.values));
    const auto sx = scalar(x.inputs[1]);
    if (literal_ || !id.valid() || b_.element(id) != kFloat || static_cast<size_t>(channel) >= shape.size() ||
        b_.shape(id) != graph::Shape{shape[static_cast<size_t>(channel)]} || !sx)
      return std::nullopt;
    const std::vector<float> bias = *b_.floats(id), scales = *b_.floats(constant(w.scale));
    if (scales.size() != 1 && scales.size() != bias.size()) return std::nullopt;
    // Sums of products of two bytes are added to it.
    const int64_t depth = graph::element_count(shape) / std::max<int64_t>(shape[static_cast<size_t>(channel)], 1);
    const double most = static_cast<double>(INT32_MAX) - static_cast<double>(depth) * 255.0 * 255.0;
    Ints whole;
    for (size_t c = 0; c < bias.size(); ++c) {
      const float step = *sx * scales[scales.size() == 1 ? 0 : c];
      const float value = std::nearbyint(bias[c] / step);
      if (!(std::fabs(static_cast<double>(value)) <= most)) {
        notes_.emplace_back(at, fmt::format("the bias of channel {} is {}, which is beyond int32 in steps of {}; the "
                                            "operator is computed in float",
                                            c, bias[c], step));
        return std::nullopt;
      }
      whole.push_back(static_cast<int64_t>(value));
    }
    return constants_.add_ints(whole, b_.shape(id), DType::kI32).name;
  }

  bool wide_sums_fit(const Node& x, const Weights& w, const Node& q, int64_t channel, std::string_view bias) const {
    const auto sx = scalar(x.inputs[1]), sy = scalar(q.inputs[1]);
    if (!sx || !sy) return false;
    const Ints biases = bias.empty() ? Ints{} : *b_.ints(constant(bias));
    return scaled(w).fit_wide_sums(channel, {*sx, *sy, wide_zero(x), wide_zero(q), biases});
  }

  std::optional<Node> concat(Node out, const Node& n, const Node& q) const {
    out.type = "QLinearConcat";
    put(out, q, 1);
    for (std::string_view name : n.inputs) {
      const Node* x = dequantized(name);
      if (x == nullptr) return std::nullopt;
      put(out, *x);
    }
    return out;
  }

  bool same_scale(std::string_view a, std::string_view b) const {
    return a == b || (scalar(a) && scalar(a) == scalar(b));
  }
  bool same_zero(std::string_view a, std::string_view b) const {
    if (a.empty() || b.empty()) return false;  // what does not say its type
    if (a == b) return true;
    return value(a) && value(a) == value(b) && b_.element(constant(a)) == b_.element(constant(b));
  }

  // The operator itself on stored values, where both sides have one quantisation.
  std::optional<Node> moved(const Node& n, const Node& x, const Node& q) const {
    if (std::find(kMoving.begin(), kMoving.end(), n.type) == kMoving.end()) return std::nullopt;
    if (!same_scale(x.inputs[1], q.inputs[1]) || !same_zero(zero_of(x), zero_of(q))) return std::nullopt;
    Node out = n;
    out.inputs[0] = x.inputs[0];
    return out;
  }

  // Whose operator rounds otherwise than the group.
  static bool is_rounded(std::string_view type) {
    constexpr std::array<std::string_view, 5> kRounded = {"Add", "Mul", "Softmax", "GlobalAveragePool", "AveragePool"};
    return std::find(kRounded.begin(), kRounded.end(), type) != kRounded.end();
  }

  int64_t version_;
  bool literal_;
  bool wide_ = false;  // activations of the group are int16
  std::vector<Node> nodes_;
  Node viewed_;  // the dequantisation of integers that a view moves, while replaced_behind_views tries it
  Constants& constants_;
  Builder& b_;
  std::vector<std::pair<size_t, std::string>> notes_;
  std::unordered_map<std::string_view, size_t> producers_, consumers_;  // of consumers, the last one
  std::unordered_map<std::string_view, const ValueInfo*> inputs_;
  std::unordered_map<std::string_view, int> readers_;
};

}  // namespace

bool has_groups(const std::vector<Node>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& n) {
    return n.type == "DequantizeLinear" || n.type.starts_with("DynamicQuantize");
  });
}

Folded fold_groups(const Graph& graph, std::vector<Node> nodes, int64_t version, bool literal, Constants& constants) {
  return Groups(graph, std::move(nodes), version, literal, constants).run();
}

}  // namespace aotc::frontends::onnx
