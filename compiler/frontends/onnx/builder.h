// SPDX-License-Identifier: Apache-2.0
// Builder: appends operators to the graph, on behalf of import rules (rules.h). If a step is impossible, the builder
// reports the reason and throws `Stop`. The reader catches `Stop` at each operator of the file, so rules need no error
// handling. An operator whose operands are all constant is folded at once, so rules see values that the file computes
// from shapes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontends/onnx/tensors.h"
#include "graph/graph.h"
#include "ops/operator.h"

namespace aotc::frontends::onnx {

// Thrown if an operator of the file is refused; the reason has been reported.
struct Stop {};

using Id = graph::TensorId;
using Ints = std::vector<int64_t>;

// An attribute of one of aotc's operators, as text (graph/attributes.h).
struct Setting {
  std::string name, text;
  Setting(std::string n, int64_t value);
  Setting(std::string n, int value) : Setting(std::move(n), int64_t{value}) {}
  Setting(std::string n, bool value);
  Setting(std::string n, float value);
  Setting(std::string n, const Ints& value);
  // A value of an enumeration.
  Setting(std::string n, std::string_view word) : name(std::move(n)), text(word) {}
  Setting(std::string n, const char* word) : Setting(std::move(n), std::string_view(word)) {}
};

// Describes a tensor whose valid length depends on the data. The tensor has its maximal shape, and the first `count`
// elements along `axis` are valid (counted.cpp).
struct Counted {
  Id count;  // i32, one element
  int64_t axis = 0;
};

// Attributes of a cast to a small float format. `saturate`: values out of range become the largest value. `powers`:
// rounding for formats that have only powers of two.
struct Narrowing {
  bool saturate = true;
  ops::PowerRounding powers = ops::PowerRounding::kUp;
};

class Builder {
 public:
  Builder(graph::Graph& graph, const ops::OperatorSet& set) : graph_(graph), set_(set) {}

  // Begins the next operator of the file. Operators that are appended from here on belong to it: they get location
  // `at`, and `told` receives their messages.
  void begin(const Location& at, Diagnostics& told) {
    at_ = at;
    told_ = &told;
    first_ = graph_.tensors.size();
  }
  [[noreturn]] void stop(std::string_view slug, std::string message, std::string help);
  // Notes that the operator of the file is composed of copies of parts, `what`, for lack of an operator of its own.
  void note_slices(std::string_view what);
  const Location& where() const { return at_; }

  // Appends an operator, or only its results if they can be computed now. The result has the element type of the first
  // operand unless `type` is set. If the operands are invalid, reports the operator's own error and throws Stop.
  Id add(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings = {},
         std::optional<DType> type = std::nullopt);
  std::vector<Id> add_several(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings,
                              const std::vector<DType>& types);

  // Appends an operator whose result has this element type and quantisation.
  Id add_typed(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings, DType type,
               graph::Quantization quantization);
  // Appends "if" or "while" with these operands. The results have the types of the last region's outputs.
  std::vector<Id> add_control(std::string_view op, std::vector<Id> operands, std::vector<graph::Graph> regions);
  // Lends the unused part of the model's limits to the builder of a region; a second call takes it back.
  void swap_limits(Builder& other) {
    std::swap(steps_left_, other.steps_left_);
    std::swap(activation_bytes_, other.activation_bytes_);
  }
  // All int8 tensors that represent tensor `id` of the file, each with another quantisation (quantized.h).
  std::vector<Id>& int8_forms(Id id) { return int8_forms_[id.value]; }
  void set_counted(Id id, const Counted& counted) { counted_[id.value] = counted; }
  std::optional<Counted> counted(Id id) const {
    auto found = counted_.find(id.value);
    return found == counted_.end() ? std::nullopt : std::optional(found->second);
  }
  // The help line for a tensor that must be known at compile time: it names the inputs whose values the user may
  // specify.
  std::string how_to_know(Id id) const;
  // The model inputs from which a tensor is computed; nullopt in a region, because its inputs are not the model's.
  std::optional<std::vector<Id>> sources(Id id) const;
  void set_region() { region_ = true; }
  bool is_region() const { return region_; }
  // The operator that computes a tensor; null for an input or constant. The pointer is valid until the next operator is
  // appended.
  const graph::Op* producer(Id id) const;

  const graph::TensorType& type(Id id) const { return graph_[id].type; }
  const graph::Shape& shape(Id id) const { return graph_[id].type.shape; }
  DType dtype(Id id) const { return graph_[id].type.dtype; }
  // The ONNX element type that a tensor represents.
  int32_t element(Id id) const;
  // Sets the ONNX element type that a tensor represents; the value stays. Requires a tensor that nothing else uses yet.
  Id set_element(Id id, int32_t element);
  Id as_element(Id x, int32_t element, const Narrowing& narrowing = {});
  // Rounds a result to the ONNX element type, after it was computed in the carrier type (element_types.h).
  Id rounded(Id x, int32_t element);
  // Converts an input of the C interface to its carrier type, and an output back: the interface stores float16 and
  // other small floats as the integers of their bits.
  Id from_stored(Id x, int32_t element);
  Id to_stored(Id x);
  bool has_float64() const { return float64_; }
  // Sets the labels of the model. In the graph an index into this list represents a label; aotc prints the list for the
  // user. Calls `stop` if the model has another list.
  void tell_labels(std::vector<std::string> labels);
  // The constant of strings: the index of each among the labels, which are its different strings.
  Id labels_of(const Tensor& strings);
  const std::vector<std::string>& labels() const { return labels_; }
  int64_t rank(Id id) const { return static_cast<int64_t>(shape(id).size()); }
  // Normalises a negative axis. Calls `stop` if it is outside of -rank .. rank - 1.
  int64_t axis(int64_t axis, int64_t rank);

  // True if the tensor is constant. A result that was too expensive to fold when it was appended is computed now, if
  // all its operands are known.
  bool is_constant(Id id);
  // True if the tensor is constant, or is_constant may make it so.
  bool could_be_constant(Id id) const {
    const auto at = static_cast<size_t>(id.value);
    return graph_.is_constant(id) || (at < pending_.size() && pending_[at] >= 0);
  }
  std::optional<Ints> ints(Id id);                  // elements of an integer constant
  std::optional<std::vector<float>> floats(Id id);  // elements of an f32 constant
  std::optional<double> number(Id id);              // value of a constant with one element

  Id constant(DType type, graph::Shape shape, std::vector<uint8_t> bytes);
  Id floats_of(const std::vector<float>& values, graph::Shape shape);
  Id int_list(const Ints& values, DType type = DType::kI64);
  // A constant of this shape (a scalar by default) whose elements are all equal to `value`.
  Id filled(DType type, double value, const graph::Shape& shape = {});
  Id filled_int(DType type, int64_t value, const graph::Shape& shape = {});

  // These functions return the operand itself if they would not change it.
  Id reshape(Id x, const graph::Shape& shape);
  Id transpose(Id x, const Ints& order);
  Id cast(Id x, DType type);
  Id slice(Id x, const Ints& begin, const Ints& counts, const Ints& strides = {});
  Id broadcast(Id x, const graph::Shape& shape);

  // Appends a unary or binary operator, computed in a type that it supports: small integers as i32, u32 as i64.
  // `truth`: the result is bool.
  Id widened(std::string_view op, std::vector<Id> operands, bool truth = false,
             const std::vector<Setting>& settings = {});
  // Shorthands for arithmetic between a float tensor and a number.
  Id binary(std::string_view op, Id a, Id b) { return add(op, {a, b}); }
  Id binary(std::string_view op, Id a, double b) { return add(op, {a, filled(dtype(a), b)}); }
  Id binary(std::string_view op, double a, Id b) { return add(op, {filled(dtype(b), a), b}); }

  // Appends an operator that copies the tensor into a new one.
  Id copy(Id x);
  // True if the tensor was added since the last `begin`.
  bool is_new(Id id) const { return static_cast<size_t>(id.value) >= first_; }
  void name(Id id, std::string_view name) { graph_[id].name = std::string(name); }
  graph::Graph& graph() { return graph_; }
  // Removes operators that became unnecessary because their results were folded after they were appended.
  void finish();

 private:
  void check_size(const graph::TensorType& type);
  bool fold(const graph::Op& op);
  void evaluate(const graph::Op& op);
  int64_t steps(const graph::Op& op) const;

  graph::Graph& graph_;
  const ops::OperatorSet& set_;
  Location at_;
  Diagnostics* told_ = nullptr;
  size_t first_ = 0;
  int64_t steps_left_ = int64_t{1} << 28;
  int64_t activation_bytes_ = 0;
  bool copying_ = false;
  bool region_ = false;   // true in the graph of a control-flow operator
  bool float64_ = false;  // true if any computed tensor represents float64
  std::vector<std::string> labels_;
  std::vector<int32_t> elements_;  // by tensor; 0: the element type that its DType implies
  std::unordered_map<int32_t, std::vector<Id>> int8_forms_;
  std::unordered_map<int32_t, Counted> counted_;
  graph::Quantization quantization_;  // for the results of the next append
  std::vector<int> producers_;        // by tensor: the index of the operator that computes it, or -1
  std::vector<int> pending_;          // by tensor: the operator that can be folded to make it constant, or -1
  std::vector<bool> folded_;          // by operator
};

}  // namespace aotc::frontends::onnx
