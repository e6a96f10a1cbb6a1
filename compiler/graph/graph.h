// SPDX-License-Identifier: Apache-2.0
// Graph IR: represents a network as a flat list of operators on tensors, in execution order. A TensorId is an index and
// stays valid until `compact`. Constants are views of bytes in the model file or in a buffer, which the graph keeps
// alive, so import does not copy weights.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/attributes.h"
#include "support/diagnostics.h"
#include "support/dtype.h"
#include "support/result.h"

namespace aotc::graph {

// Dimensions, outermost first (NHWC for images), all known at compile time and >= 0. Rank 0 is a scalar.
using Shape = std::vector<int64_t>;

// Product of the dimensions (1 for a scalar). It cannot overflow, because the frontends limit the sizes of tensors.
int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  // "1x49x10x1", "scalar"

// Affine quantisation: real = scale * (q - zero_point). One entry: per-tensor quantisation. Several entries: one for
// each slice along `axis` (per channel); in LiteRT's int8 scheme, their zero points are 0. Empty: not quantised.
struct Quantization {
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  int axis = 0;

  bool present() const { return !scale.empty(); }
  bool per_channel() const { return scale.size() > 1; }
  bool operator==(const Quantization&) const = default;
};

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  Quantization quantization;

  int64_t elements() const { return element_count(shape); }
  int64_t bytes() const { return elements() * size_of(dtype); }
  // Scale and zero point of a per-tensor quantised type; 0 and 0 if it is not quantised.
  float scale() const { return quantization.present() ? quantization.scale[0] : 0.0f; }
  int32_t zero_point() const {
    return quantization.zero_point.empty() ? 0 : static_cast<int32_t>(quantization.zero_point[0]);
  }
  bool operator==(const TensorType&) const = default;
};

// Bytes of a constant, little endian, row-major; `owner` keeps them alive.
struct ConstantView {
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;

  template <typename T>
  T get(int64_t index) const;  // reads an element at any alignment
  template <typename T>
  std::vector<T> to_vector() const;
};
ConstantView own_bytes(std::vector<uint8_t> bytes);

struct TensorId {
  int32_t value = -1;
  bool valid() const { return value >= 0; }
  auto operator<=>(const TensorId&) const = default;
};

struct Tensor {
  std::string name;  // from the model: any bytes
  TensorType type;
  std::optional<ConstantView> constant;
  int device = 0;
};

// OpDefinition: the part of an operator's definition that Graph IR needs. ops/operator.h has the rest. Passes test
// properties of operators, never their names.
class OpDefinition {
 public:
  virtual ~OpDefinition() = default;
  virtual std::string_view name() const = 0;  // "conv_2d"
  virtual std::shared_ptr<AttributesBase> default_attributes() const = 0;
};

struct Graph;

struct Op {
  const OpDefinition* definition = nullptr;
  std::shared_ptr<const AttributesBase> attributes;
  std::vector<TensorId> operands;  // an invalid id is an absent optional operand
  std::vector<TensorId> results;
  Location location;
  int device = 0;
  // Regions: graphs that the operator runs, which are then and else of `if`, or condition and body of `while`. A region
  // receives and returns values only through its inputs and outputs; it has no states.
  std::vector<Graph> regions;

  std::string_view name() const { return definition->name(); }
  template <typename A>
  const A& attrs() const {
    return static_cast<const A&>(*attributes);
  }
};

// An input or output of the network, with its name in the C interface.
struct Port {
  TensorId tensor;
  std::string name;  // signature name if the model has one, else the tensor's name
};

// A value that persists between runs. No tensor is written twice in a run, so a state has two: a run reads `before`,
// and at its end the value of `after` becomes `before` of the next run.
struct State {
  TensorId before;       // defined at the start of a run, as an input is
  TensorId after;        // any tensor of the same type; may be `before` itself, an input or a constant
  ConstantView initial;  // bytes of `before` in the first run
};

struct Graph {
  std::string name;         // for messages and defaults, from the file name
  std::string source_file;  // as the user named it
  std::string description;  // free text of the model, untrusted
  std::vector<Tensor> tensors;
  std::vector<Op> ops;  // in execution order: operands are defined before they are used
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<State> states;
  // True if weights may change after compilation. Then neither code nor folded values may depend on the weights or on
  // their scales.
  bool open_constants = false;

  Tensor& operator[](TensorId id) { return tensors[static_cast<size_t>(id.value)]; }
  const Tensor& operator[](TensorId id) const { return tensors[static_cast<size_t>(id.value)]; }
  TensorId add_tensor(Tensor tensor);
  TensorId add_constant(std::string name, TensorType type, std::vector<uint8_t> bytes);
  bool is_constant(TensorId id) const { return id.valid() && (*this)[id].constant.has_value(); }
  Location location_of(TensorId id) const;

  // Roles of a tensor. Given: defined before the first operator runs. Kept: read after the last operator ran.
  bool is_input(TensorId id) const;       // of an input port
  bool is_output(TensorId id) const;      // of an output port
  bool is_state(TensorId id) const;       // `before` of a state
  bool is_next_state(TensorId id) const;  // `after` of a state
  bool is_given(TensorId id) const { return is_input(id) || is_state(id); }
  bool is_kept(TensorId id) const { return is_output(id) || is_next_state(id); }
  int64_t state_bytes() const;  // sum over all states, without alignment
};

// By tensor: the index of the op that defines it (-1: none), and the indices of the ops that read it, in order.
struct UseDef {
  std::vector<int> definer;
  std::vector<std::vector<int>> users;
};
UseDef compute_use_def(const Graph& graph);

// Removes the operators whose flag is set; the others keep their order.
void remove_ops(Graph& graph, const std::vector<bool>& dead);

// Returns a rank-1 constant with the same elements: the constant itself if it has rank 1, else a new one of the same
// name and bytes.
TensorId constant_as_list(Graph& graph, TensorId constant);

// Removes unreferenced tensors and renumbers the others in their order, in regions as well.
void compact(Graph& graph);

// True if an operator has regions, with or without operators: a branch or a loop.
bool has_regions(const Graph& graph);

// Number of operators of the graph and of all regions.
size_t count_ops(const Graph& graph);

// The largest nesting depth of regions.
inline constexpr int kMostDepth = 32;

// Turns an output port and an input port into a state, and removes both ports: the output's value becomes the input's
// value in the next run. The value in the first run is `initial`, or real 0 (the zero point) if `initial` is empty. The
// caller must ensure that both tensors have the same type and that `initial` has the right number of bytes.
void pair_state(Graph& graph, size_t output, size_t input, std::vector<uint8_t> initial = {});

// Checks the structure of a graph: ids are in range; each tensor is defined once, and before its uses; inputs are not
// constant; both tensors of a state have the same type; initial values and constants have the right number of bytes;
// quantisation is well formed. ops::verify_graph also checks each operator. Reports [ir-invalid].
Status verify_structure(const Graph& graph, Diagnostics& diags);

// Options of the text form (docs/ir.md). For a text that `print` returned, print(parse(text)) == text.
struct PrintOptions {
  // Constants with more bytes are printed as a hash only; such text cannot be parsed.
  int64_t constants_limit = INT64_MAX;
  // If false, `source` and `loc(...)` are omitted; operators that are parsed from the text then have locations in the
  // text.
  bool locations = true;
};
std::string print(const Graph& graph, const PrintOptions& options);
std::string print(const Graph& graph, int64_t constants_limit = INT64_MAX);
// Returns the text form of a type: "i8[1x49x10x1] quant(0.5, 83)".
std::string to_string(const TensorType& type);

using DefinitionLookup = std::function<const OpDefinition*(std::string_view name)>;
// Parses the text form. Any bytes give either a graph or one [ir-parse] error with its location. The parser checks
// syntax, operators and attribute names; verify_structure checks the rest.
Result<Graph> parse(const std::string& text, const std::string& file, const DefinitionLookup& find, Diagnostics& diags);

template <typename T>
T ConstantView::get(int64_t index) const {
  T value;
  std::copy_n(bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T), reinterpret_cast<uint8_t*>(&value));
  return value;
}

template <typename T>
std::vector<T> ConstantView::to_vector() const {
  std::vector<T> out(bytes.size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) out[i] = get<T>(static_cast<int64_t>(i));
  return out;
}

}  // namespace aotc::graph
