// SPDX-License-Identifier: Apache-2.0
// Builder: appends operators to the graph for import rules. A step that is not possible reports the reason and throws
// `Stop`, which the reader catches for each operator of the file, so rules are written without error handling.
// Operators whose operands are constants or shapes are folded at once, so rules see the values that a file computes
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

// An attribute of one of our operators, as text (graph/attributes.h).
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

// A tensor of maximal shape whose valid length depends on the data: the first `count` elements along an axis are valid
// (counted.cpp).
struct Counted {
  Id count;  // i32, one element
  int64_t axis = 0;
};

// How casts to small floats treat values out of range and round powers of two.
struct Narrowing {
  bool saturate = true;
  ops::PowerRounding powers = ops::PowerRounding::kUp;
};

class Builder {
 public:
  Builder(graph::Graph& graph, const ops::OperatorSet& set) : graph_(graph), set_(set) {}

  // Sets the operator of the file to which appended operators belong.
  void begin(const Location& at, Diagnostics& told) {
    at_ = at;
    told_ = &told;
    first_ = graph_.tensors.size();
  }
  [[noreturn]] void stop(std::string_view slug, std::string message, std::string help);
  const Location& where() const { return at_; }

  // Appends an operator, or its results as constants. The result has the type of the first operand unless one is
  // stated. Throws Stop with the operator's own error if its operands are invalid.
  Id add(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings = {},
         std::optional<DType> type = std::nullopt);
  std::vector<Id> add_several(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings,
                              const std::vector<DType>& types);

  // Appends an operator whose results have this type, quantisation included.
  Id add_typed(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings, DType type,
               graph::Quantization quantization);
  // Appends "if" or "while" with these operands; the results are those of the last region.
  std::vector<Id> add_control(std::string_view op, std::vector<Id> operands, std::vector<graph::Graph> regions);
  // Hands the remaining budget of the model's limits to the builder of a region, and back.
  void swap_limits(Builder& other) {
    std::swap(steps_left_, other.steps_left_);
    std::swap(activation_bytes_, other.activation_bytes_);
  }
  // The int8 tensors that represent one tensor of the file, each with its own quantisation (quantized.h).
  std::vector<Id>& int8_forms(Id id) { return int8_forms_[id.value]; }
  void set_counted(Id id, const Counted& counted) { counted_[id.value] = counted; }
  std::optional<Counted> counted(Id id) const {
    auto found = counted_.find(id.value);
    return found == counted_.end() ? std::nullopt : std::optional(found->second);
  }
  // The inputs whose values make a tensor known at compile time, as a help line.
  std::string how_to_know(Id id) const;
  // The inputs of the model from which a tensor is computed; nullopt in a region, whose inputs are not the model's.
  std::optional<std::vector<Id>> sources(Id id) const;
  void set_region() { region_ = true; }
  // The operator that computes a tensor; null for an input or constant. Invalidated by the next append.
  const graph::Op* producer(Id id) const;

  const graph::TensorType& type(Id id) const { return graph_[id].type; }
  const graph::Shape& shape(Id id) const { return graph_[id].type.shape; }
  DType dtype(Id id) const { return graph_[id].type.dtype; }
  // The ONNX element type that a tensor represents.
  int32_t element(Id id) const;
  // Sets the element type of a tensor made for this purpose: the same value as another type.
  Id set_element(Id id, int32_t element);
  Id as_element(Id x, int32_t element, const Narrowing& narrowing = {});
  // Rounds a result that was computed in the carrier type to the element type.
  Id rounded(Id x, int32_t element);
  // Converts inputs and outputs of the C interface, which store floats of other formats, from and to their carrier.
  Id from_stored(Id x, int32_t element);
  Id to_stored(Id x);
  bool has_float64() const { return float64_; }
  // Sets the list of strings whose indices represent labels in the graph; aotc reports it to the user.
  void tell_labels(std::vector<std::string> labels) { labels_ = std::move(labels); }
  const std::vector<std::string>& labels() const { return labels_; }
  int64_t rank(Id id) const { return static_cast<int64_t>(shape(id).size()); }
  // Normalises a negative axis; stops if it is outside of -rank .. rank - 1.
  int64_t axis(int64_t axis, int64_t rank);

  // Small constants that are expensive to fold are evaluated on demand.
  bool is_constant(Id id);
  std::optional<Ints> ints(Id id);                  // elements of an integer constant
  std::optional<std::vector<float>> floats(Id id);  // of an f32 constant
  std::optional<double> number(Id id);              // of a constant with one element

  Id constant(DType type, graph::Shape shape, std::vector<uint8_t> bytes);
  Id floats_of(const std::vector<float>& values, graph::Shape shape);
  Id int_list(const Ints& values, DType type = DType::kI64);
  // A scalar or a constant of this shape, with all elements equal.
  Id filled(DType type, double value, const graph::Shape& shape = {});
  Id filled_int(DType type, int64_t value, const graph::Shape& shape = {});

  // The following functions return the operand itself if they would not change it.
  Id reshape(Id x, const graph::Shape& shape);
  Id transpose(Id x, const Ints& order);
  Id cast(Id x, DType type);
  Id slice(Id x, const Ints& begin, const Ints& counts, const Ints& strides = {});
  Id broadcast(Id x, const graph::Shape& shape);

  // a op b, op a, computed in a type that the operator supports: small integers as i32, u32 as i64.
  Id widened(std::string_view op, std::vector<Id> operands, bool truth = false,
             const std::vector<Setting>& settings = {});
  // Shorthands of float arithmetic with numbers.
  Id binary(std::string_view op, Id a, Id b) { return add(op, {a, b}); }
  Id binary(std::string_view op, Id a, double b) { return add(op, {a, filled(dtype(a), b)}); }
  Id binary(std::string_view op, double a, Id b) { return add(op, {filled(dtype(b), a), b}); }

  // An operator that copies the tensor into a new one.
  Id copy(Id x);
  // True if the current operator of the file produced the tensor.
  bool is_new(Id id) const { return static_cast<size_t>(id.value) >= first_; }
  void name(Id id, std::string_view name) { graph_[id].name = std::string(name); }
  graph::Graph& graph() { return graph_; }
  // Removes operators whose results were folded later.
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
  bool float64_ = false;  // true if a tensor represents float64
  std::vector<std::string> labels_;
  std::vector<int32_t> elements_;  // by tensor; 0: the default of its type
  std::unordered_map<int32_t, std::vector<Id>> int8_forms_;
  std::unordered_map<int32_t, Counted> counted_;
  graph::Quantization quantization_;  // of the results of the current append
  std::vector<int> producers_;        // by tensor: the index of its operator, or -1
  std::vector<int> pending_;          // by tensor: the operator whose folding would make it constant, or -1
  std::vector<bool> folded_;          // by operator
};

}  // namespace aotc::frontends::onnx
