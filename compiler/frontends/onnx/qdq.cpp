// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/qdq.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_map>

namespace aotc::frontends::onnx {

namespace {

// Operators that only choose among stored values.
constexpr std::array<std::string_view, 8> kMoving = {"Reshape",   "Flatten", "Transpose", "Squeeze",
                                                     "Unsqueeze", "MaxPool", "Slice",     "Split"};

class Groups {
 public:
  Groups(const Graph& graph, int64_t version, bool literal)
      : version_(version), literal_(literal), nodes_(graph.nodes) {
    for (const Tensor& t : graph.initializers) constants_.emplace(t.name, &t);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (std::string_view name : nodes_[i].outputs)
        if (!name.empty()) producers_.emplace(name, i);
      read(nodes_[i], 1);
      if (is(i, "Constant"))
        if (const Attribute* value = nodes_[i].find("value"); value != nullptr && value->tensor)
          if (!nodes_[i].outputs.empty()) constants_.emplace(nodes_[i].outputs[0], value->tensor.get());
    }
    for (const ValueInfo& out : graph.outputs) ++readers_[out.name];
    for (const ValueInfo& in : graph.inputs) inputs_.emplace(in.name, &in);
  }

  std::vector<Node> run() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (is_quantize(i)) fold(i);
    // What nobody reads any more; a tensor's readers come behind it.
    for (size_t i = nodes_.size(); i-- > 0;)
      if (is(i, "DequantizeLinear") && nodes_[i].outputs.size() == 1 && readers_[nodes_[i].outputs[0]] == 0) remove(i);
    return std::move(nodes_);
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
  static bool is_usual(const Node& n) {
    return std::all_of(n.attributes.begin(), n.attributes.end(), [](const Attribute& a) {
      const bool known = a.name == "axis" || a.name == "saturate" || a.name == "output_dtype";
      return a.reference.empty() && (known || (a.name == "block_size" && a.i == 0));
    });
  }
  // The axis of several scales, from the front.
  static int64_t axis_of(const Node& n, const Tensor& values) {
    const Attribute* axis = n.find("axis");
    const int64_t at = axis == nullptr ? 1 : axis->i;
    return at < 0 ? at + static_cast<int64_t>(values.dims.size()) : at;
  }
  // One scale, or one for each index of this axis.
  bool has_scales_along(const Node& n, int64_t axis) const {
    const Tensor* values = constant(n.inputs[0]);
    return is_one(n.inputs[1]) || (values != nullptr && axis_of(n, *values) == axis);
  }

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

  const Tensor* constant(std::string_view name) const {
    auto found = constants_.find(name);
    return found == constants_.end() ? nullptr : found->second;
  }
  bool is_one(std::string_view name) const {
    const Tensor* t = constant(name);
    if (t == nullptr) return false;
    return std::all_of(t->dims.begin(), t->dims.end(), [](int64_t d) { return d == 1; });
  }
  bool is_bytes(std::string_view name) const {
    const Tensor* t = constant(name);
    return t != nullptr && is_byte_type(t->type);
  }
  static bool is_byte_type(int32_t type) { return type == kInt8 || type == kUint8; }
  // One scale of float32 and no or one zero point, of bytes.
  bool is_plain(std::string_view scale, std::string_view zero) const {
    const Tensor* s = constant(scale);
    return s != nullptr && s->type == kFloat && is_one(scale) && (zero.empty() || (is_bytes(zero) && is_one(zero)));
  }
  static std::string_view zero_of(const Node& n) { return n.inputs.size() > 2 ? n.inputs[2] : std::string_view(); }
  // A zero point says of what type its tensor is.
  bool holds_bytes(const Node& n) const {
    if (std::string_view zero = zero_of(n); !zero.empty()) return is_bytes(zero);
    if (constant(n.inputs[0]) != nullptr) return is_bytes(n.inputs[0]);
    if (auto in = inputs_.find(n.inputs[0]); in != inputs_.end()) return is_byte_type(in->second->type);
    auto from = producer(n.inputs[0]);
    return from && is_quantize(*from) && makes_bytes(nodes_[*from]);
  }
  bool makes_bytes(const Node& q) const {
    const Attribute* asked = q.find("output_dtype");
    std::string_view zero = zero_of(q);
    return zero.empty() ? asked == nullptr || asked->i == 0 : is_bytes(zero);
  }

  // The node that dequantises this tensor with one scale (or any constant ones); nothing if none
  // does.
  const Node* dequantized(std::string_view name, bool per_tensor = true) const {
    auto at = producer(name);
    if (!at || !is(*at, "DequantizeLinear") || nodes_[*at].inputs.size() < 2 || !is_usual(nodes_[*at])) return nullptr;
    const Node& n = nodes_[*at];
    std::string_view zero = zero_of(n);
    const Tensor* scale = constant(n.inputs[1]);
    if (scale == nullptr || scale->type != kFloat || (!zero.empty() && constant(zero) == nullptr)) return nullptr;
    if (const Attribute* asked = n.find("output_dtype"); asked != nullptr && asked->i > kFloat) return nullptr;
    if (per_tensor && (!is_plain(n.inputs[1], zero) || !holds_bytes(n))) return nullptr;
    return &n;
  }

  // Tensor, scale and zero point.
  static void put(Node& to, const Node& from, size_t first = 0) {
    for (size_t i = first; i < 3; ++i) to.inputs.push_back(i < from.inputs.size() ? from.inputs[i] : "");
  }

  // The one element of a constant, raw or in a field of its type.
  std::optional<float> scalar(std::string_view name) const {
    const Tensor* t = constant(name);
    if (t == nullptr || t->type != kFloat || !is_one(name)) return std::nullopt;
    float out = 0;
    const Bytes bytes = t->has_raw ? t->raw : t->floats.size() == 1 ? t->floats[0] : Bytes();
    if (bytes.size() != sizeof out) return std::nullopt;
    std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }
  std::optional<int> byte(std::string_view name) const {
    const Tensor* t = constant(name);
    if (!is_bytes(name) || !is_one(name)) return std::nullopt;
    uint32_t value = 0;
    if (t->has_raw) {
      if (t->raw.size() != 1) return std::nullopt;
      value = t->raw[0];
    } else {
      // A varint of up to ten bytes, of which eight bits count.
      if (t->ints.size() != 1 || t->ints[0].empty()) return std::nullopt;
      value = (t->ints[0][0] & 0x7Fu) | (t->ints[0].size() > 1 ? uint32_t{t->ints[0][1]} << 7 : 0u);
    }
    const auto low = static_cast<uint8_t>(value);
    return t->type == kInt8 ? int{static_cast<int8_t>(low)} : int{low};
  }
  std::optional<int> zero_point(const Node& q, int& least) const {
    std::string_view name = zero_of(q);
    least = 0;
    if (name.empty()) return 0;
    if (constant(name) != nullptr && constant(name)->type == kInt8) least = -128;
    return byte(name);
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
                (bound(2) && reaches(*bound(2)) >= static_cast<float>(least + 255));
    return low && high && n.find("min") == nullptr && n.find("max") == nullptr && n.inputs.size() > 1;
  }

  // Quantisation `q` of what one operator makes of dequantised tensors.
  void fold(size_t q) {
    if (!is_plain(nodes_[q].inputs[1], zero_of(nodes_[q])) || !makes_bytes(nodes_[q])) return;
    std::vector<size_t> bounds;
    std::string_view from = nodes_[q].inputs[0];
    auto at = producer(from);
    while (at && bounds.size() < nodes_.size() && only_reader(*at) && is_bound_of(nodes_[*at], nodes_[q])) {
      bounds.push_back(*at);
      from = nodes_[*at].inputs[0];
      at = producer(from);
    }
    if (!at || !only_reader(*at) || (!nodes_[*at].domain.empty() && nodes_[*at].domain != "ai.onnx")) return;
    auto made = replaced(nodes_[*at], nodes_[q]);
    if (!made) return;
    made->name = nodes_[*at].name;
    made->outputs = nodes_[q].outputs;
    for (size_t b : bounds) remove(b);
    remove(*at);
    remove(q);
    nodes_[q] = std::move(*made);
    read(nodes_[q], 1);
  }

  bool only_reader(size_t node) const {
    const Node& n = nodes_[node];
    if (n.outputs.empty()) return false;
    for (size_t i = 1; i < n.outputs.size(); ++i)
      if (!n.outputs[i].empty()) return false;
    auto found = readers_.find(n.outputs[0]);
    return found != readers_.end() && found->second == 1;
  }

  std::optional<Node> replaced(const Node& n, const Node& q) const {
    if (n.inputs.empty() || (literal_ && is_rounded(n.type))) return std::nullopt;
    Node out;
    out.domain = kGroups;
    out.attributes = n.attributes;
    if (n.type == "Conv" || n.type == "Gemm") return with_weights(std::move(out), n, q);
    if (n.type == "MatMul" || n.type == "Add" || n.type == "Mul") {
      const Node *a = dequantized(n.inputs[0]),
                 *b = n.inputs.size() == 2 ? dequantized(n.inputs[1], n.type != "MatMul") : nullptr;
      if (a == nullptr || b == nullptr) return std::nullopt;
      if (n.type == "MatMul" && !is_one(b->inputs[1]) && (!is_bytes(b->inputs[0]) || !has_scales_along(*b, 1)))
        return std::nullopt;
      out.type = n.type == "MatMul" ? "QLinearMatMul" : n.type == "Add" ? "QLinearAdd" : "QLinearMul";
      put(out, *a);
      put(out, *b);
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
        out.attributes.emplace_back();
        out.attributes.back().name = "opset";
        out.attributes.back().i = version_;
      }
      put(out, *x);
      put(out, q, 1);
      return out;
    }
    return moved(n, *x, q);
  }

  std::optional<Node> with_weights(Node out, const Node& n, const Node& q) const {
    if (n.inputs.size() < 2) return std::nullopt;
    const Node *x = dequantized(n.inputs[0]), *w = dequantized(n.inputs[1], false);
    if (x == nullptr || w == nullptr || !is_bytes(w->inputs[0])) return std::nullopt;
    put(out, *x);
    put(out, *w);
    const bool biased = n.inputs.size() > 2 && !n.inputs[2].empty();
    const Node* bias = biased ? dequantized(n.inputs[2], false) : nullptr;
    if (biased &&
        (bias == nullptr || constant(bias->inputs[0]) == nullptr || constant(bias->inputs[0])->type != kInt32))
      return std::nullopt;
    const Attribute* turned = n.find("transB");
    const bool columns = n.type == "Gemm" && (turned == nullptr || turned->i == 0);
    if (!has_scales_along(*w, columns ? 1 : 0)) return std::nullopt;
    if (n.type == "Gemm") {
      out.type = "QGemm";
      for (const Attribute& a : n.attributes)
        if ((a.name == "alpha" || a.name == "beta") && a.f != 1.0f) return std::nullopt;
      out.inputs.push_back(biased ? bias->inputs[0] : "");
      put(out, q, 1);
      return out;
    }
    // Over one or two dimensions.
    if (constant(w->inputs[0])->dims.size() < 3 || constant(w->inputs[0])->dims.size() > 4) return std::nullopt;
    out.type = "QLinearConv";
    put(out, q, 1);
    if (biased) out.inputs.push_back(bias->inputs[0]);
    return out;
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
    return byte(a) && byte(a) == byte(b) && constant(a)->type == constant(b)->type;
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
  std::vector<Node> nodes_;
  std::unordered_map<std::string_view, const Tensor*> constants_;
  std::unordered_map<std::string_view, size_t> producers_;
  std::unordered_map<std::string_view, const ValueInfo*> inputs_;
  std::unordered_map<std::string_view, int> readers_;
};

}  // namespace

std::vector<Node> fold_groups(const Graph& graph, int64_t version, bool literal) {
  return Groups(graph, version, literal).run();
}

}  // namespace aotc::frontends::onnx
