// SPDX-License-Identifier: Apache-2.0
// What import rules make operators with. The one thing to know: a step that is not possible tells
// why and throws `Stop`, which the reader catches behind every operator of the file; so a rule is
// written as if every step were possible. What depends on constants and shapes only becomes
// constants here, so that rules see the value of whatever the file computes from shapes.
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

// An operator of the file cannot be taken; the reason has been told.
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
  // A word, one of an enumeration.
  Setting(std::string n, std::string_view word) : name(std::move(n)), text(word) {}
  Setting(std::string n, const char* word) : Setting(std::move(n), std::string_view(word)) {}
};

// A tensor of the largest shape, of which the data says how much counts when the model runs: the first
// so many along an axis (counted.cpp).
struct Counted {
  Id count;  // i32, one element
  int64_t axis = 0;
};

// What casts to floats of few bits do with what is too large, and how they round powers of two.
struct Narrowing {
  bool saturate = true;
  ops::PowerRounding powers = ops::PowerRounding::kUp;
};

class Builder {
 public:
  Builder(graph::Graph& graph, const ops::OperatorSet& set) : graph_(graph), set_(set) {}

  // What is added from here on belongs to this operator of the file.
  void begin(const Location& at, Diagnostics& told) {
    at_ = at;
    told_ = &told;
    first_ = graph_.tensors.size();
  }
  [[noreturn]] void stop(std::string_view slug, std::string message, std::string help);
  const Location& where() const { return at_; }

  // Appends an operator, or its results as constants. The result has the type of the first operand
  // unless given. Both of them: stops with what the operator says of its operands.
  Id add(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings = {},
         std::optional<DType> type = std::nullopt);
  std::vector<Id> add_several(std::string_view op, std::vector<Id> operands,
                              const std::vector<Setting>& settings,
                              const std::vector<DType>& types);

  // The same with results of this type, quantisation included.
  Id add_typed(std::string_view op, std::vector<Id> operands, const std::vector<Setting>& settings,
               DType type, graph::Quantization quantization);
  // "if" or "while" with these operands; results are what the last graph gives.
  std::vector<Id> add_control(std::string_view op, std::vector<Id> operands, std::vector<graph::Graph> regions);
  // What is left of a model's limits goes along into a graph of its own, and back.
  void swap_limits(Builder& other) {
    std::swap(steps_left_, other.steps_left_);
    std::swap(activation_bytes_, other.activation_bytes_);
  }
  // Tensors of int8 that stand for one of the file, each with a quantisation of its own (quantized.h).
  std::vector<Id>& int8_forms(Id id) { return int8_forms_[id.value]; }
  void set_counted(Id id, const Counted& counted) { counted_[id.value] = counted; }
  std::optional<Counted> counted(Id id) const {
    auto found = counted_.find(id.value);
    return found == counted_.end() ? std::nullopt : std::optional(found->second);
  }
  // A help line: options that make the value of a tensor known while compiling.
  std::string how_to_know(Id id) const;
  // The inputs of the model that a tensor is computed from; nothing in a region, whose inputs are not the model's.
  std::optional<std::vector<Id>> sources(Id id) const;
  void set_region() { region_ = true; }
  // The operator that computes a tensor, unless it is an input or constant. Not to be kept.
  const graph::Op* producer(Id id) const;

  const graph::TensorType& type(Id id) const { return graph_[id].type; }
  const graph::Shape& shape(Id id) const { return graph_[id].type.shape; }
  DType dtype(Id id) const { return graph_[id].type.dtype; }
  // The type that a tensor stands for, as files number them.
  int32_t element(Id id) const;
  // A tensor that was made for it; the same value as another type.
  Id set_element(Id id, int32_t element);
  Id as_element(Id x, int32_t element, const Narrowing& narrowing = {});
  // What was computed in the type that carries this one, rounded to it.
  Id rounded(Id x, int32_t element);
  // Inputs and outputs of the C hold floats of other formats as they are stored.
  Id from_stored(Id x, int32_t element);
  Id to_stored(Id x);
  bool has_float64() const { return float64_; }
  // What stands for strings is their place in such a list, which users are told.
  void tell_labels(std::vector<std::string> labels) { labels_ = std::move(labels); }
  const std::vector<std::string>& labels() const { return labels_; }
  int64_t rank(Id id) const { return static_cast<int64_t>(shape(id).size()); }
  // From the end if negative; stops outside of -rank .. rank - 1.
  int64_t axis(int64_t axis, int64_t rank);

  // Of small constants too large to be computed at once, the value is computed when it is asked
  // for.
  bool is_constant(Id id);
  std::optional<Ints> ints(Id id);      // elements of an integer constant
  std::optional<std::vector<float>> floats(Id id);  // of an f32 constant
  std::optional<double> number(Id id);  // of a constant of one element

  Id constant(DType type, graph::Shape shape, std::vector<uint8_t> bytes);
  Id floats_of(const std::vector<float>& values, graph::Shape shape);
  Id int_list(const Ints& values, DType type = DType::kI64);
  // A scalar, or of the given shape, every element the same.
  Id filled(DType type, double value, const graph::Shape& shape = {});
  Id filled_int(DType type, int64_t value, const graph::Shape& shape = {});

  // Of these, one that changes nothing gives the operand itself.
  Id reshape(Id x, const graph::Shape& shape);
  Id transpose(Id x, const Ints& order);
  Id cast(Id x, DType type);
  Id slice(Id x, const Ints& begin, const Ints& counts, const Ints& strides = {});
  Id broadcast(Id x, const graph::Shape& shape);

  // a op b, op a, computed in a type the operator has: small integers as i32, u32 as i64.
  Id widened(std::string_view op, std::vector<Id> operands, bool truth = false,
             const std::vector<Setting>& settings = {});
  // Shorthands of float arithmetic with numbers.
  Id binary(std::string_view op, Id a, Id b) { return add(op, {a, b}); }
  Id binary(std::string_view op, Id a, double b) { return add(op, {a, filled(dtype(a), b)}); }
  Id binary(std::string_view op, double a, Id b) { return add(op, {filled(dtype(b), a), b}); }

  // An operator that writes the tensor as it is into one of its own.
  Id copy(Id x);
  // Was it made by the operator of the file that is being read?
  bool is_new(Id id) const { return static_cast<size_t>(id.value) >= first_; }
  void name(Id id, std::string_view name) { graph_[id].name = std::string(name); }
  graph::Graph& graph() { return graph_; }
  // Operators whose results became constants behind their back are left out.
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
  bool region_ = false;               // a graph in an operator
  bool float64_ = false;              // something computed stands for one
  std::vector<std::string> labels_;
  std::vector<int32_t> elements_;     // by tensor, 0: what its type says
  std::unordered_map<int32_t, std::vector<Id>> int8_forms_;
  std::unordered_map<int32_t, Counted> counted_;
  graph::Quantization quantization_;  // of the results that are being added
  std::vector<int> producers_;        // by tensor: the index of its operator, or -1
  std::vector<int> pending_;  // by tensor: the operator that could make it constant, or -1
  std::vector<bool> folded_;  // by operator
};

}  // namespace aotc::frontends::onnx
