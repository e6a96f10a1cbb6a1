// SPDX-License-Identifier: Apache-2.0
// Graph IR: a network as a flat list of operators over tensors, in execution order. Ids are indices and stay valid
// until `compact`. Constants are views of bytes with another owner (the model file or a buffer that the graph keeps
// alive), so import never copies weights.
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

// Dimensions, outermost first (NHWC for images); all static, each >= 0; rank 0 is a scalar.
using Shape = std::vector<int64_t>;

// Product of the dimensions (1 for a scalar). The frontends bound it, so it does not overflow.
int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  // "1x49x10x1", "scalar"

// Affine quantisation: real = scale * (q - zero_point). One entry: per tensor. Several entries: one per slice along
// `axis`, all zero points 0 in LiteRT's int8 scheme. Empty: not quantised.
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

// OpDefinition: the properties of an operator that the graph and its passes use; ops/operator.h has the rest. Passes
// test properties, not names.
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
  // Graphs that the operator runs: then and else of if; condition and body of while. A region reads and returns values
  // only through its inputs and outputs; it has no states.
  std::vector<Graph> regions;

  std::string_view name() const { return definition->name(); }
  template <typename A>
  const A& attrs() const {
    return static_cast<const A&>(*attributes);
  }
};

// An input or output of the network, with the name that the caller sees.
struct Port {
  TensorId tensor;
  std::string name;  // signature name if the model has one, else the tensor's name
};

// A value that persists between runs. A graph never writes a tensor twice: a run reads `before`, and the value of
// `after` at its end becomes `before` of the next run.
struct State {
  TensorId before;       // defined at the start of a run, as an input is
  TensorId after;        // any tensor of the same type: `before` itself, an input or a constant as well
  ConstantView initial;  // value in the first run; the bytes of `before`
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
  // True if weights may change after compilation: code and folded values must not depend on them or on their scales.
  bool open_constants = false;

  Tensor& operator[](TensorId id) { return tensors[static_cast<size_t>(id.value)]; }
  const Tensor& operator[](TensorId id) const { return tensors[static_cast<size_t>(id.value)]; }
  TensorId add_tensor(Tensor tensor);
  TensorId add_constant(std::string name, TensorType type, std::vector<uint8_t> bytes);
  bool is_constant(TensorId id) const { return id.valid() && (*this)[id].constant.has_value(); }
  Location location_of(TensorId id) const;

  // Roles of a tensor: defined outside of the operators, or read after the last one.
  bool is_input(TensorId id) const;       // of an input port
  bool is_output(TensorId id) const;      // of an output port
  bool is_state(TensorId id) const;       // `before` of a state
  bool is_next_state(TensorId id) const;  // `after` of a state
  bool is_given(TensorId id) const { return is_input(id) || is_state(id); }
  bool is_kept(TensorId id) const { return is_output(id) || is_next_state(id); }
  int64_t state_bytes() const;  // of all states, without gaps
};

// Index of the op that defines each tensor (-1: none), and the ops that read it, in order.
struct UseDef {
  std::vector<int> definer;
  std::vector<std::vector<int>> users;
};
UseDef compute_use_def(const Graph& graph);

// Removes the operators whose flag is set; the others keep their order.
void remove_ops(Graph& graph, const std::vector<bool>& dead);

// A constant as a list of its elements: itself if it has rank 1, else a new constant of the same name and bytes.
TensorId constant_as_list(Graph& graph, TensorId constant);

// Removes unreferenced tensors and renumbers the rest, keeping their order; in regions as well.
void compact(Graph& graph);

// Number of operators of the graph and of all regions.
size_t count_ops(const Graph& graph);

// Limit of the nesting depth of regions.
inline constexpr int kMostDepth = 32;

// Turns a pair of ports into a state: output `output` becomes the next value of input `input`, whose first value is
// real 0 (the zero point), or `initial` if it is not empty. Both must have one type, and `initial` its number of bytes:
// the caller checks. Both ports are removed.
void pair_state(Graph& graph, size_t output, size_t input, std::vector<uint8_t> initial = {});

// Structural checks of any graph: ids in range, single definition, definition before use, inputs not constant, states
// of one type with all bytes of their initial value, constants of the right byte count, quantisation well formed.
// ops::verify_graph has the checks of each operator. Reports [ir-invalid].
Status verify_structure(const Graph& graph, Diagnostics& diags);

// Text form (docs/ir.md); print(parse(text)) == text for printed text.
struct PrintOptions {
  // Constants with more bytes are printed as a hash only; such text cannot be parsed.
  int64_t constants_limit = INT64_MAX;
  // If false, `source` and `loc(...)` are omitted; parsed operators then have locations in the text itself.
  bool locations = true;
};
std::string print(const Graph& graph, const PrintOptions& options);
std::string print(const Graph& graph, int64_t constants_limit = INT64_MAX);
// "i8[1x49x10x1] quant(0.5, 83)", as in the text form.
std::string to_string(const TensorType& type);

using DefinitionLookup = std::function<const OpDefinition*(std::string_view name)>;
// Parses the text form; any bytes give a graph or one located [ir-parse] error. The returned graph has the right
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
