// SPDX-License-Identifier: Apache-2.0
// Graph IR: a network as a flat list of operators over tensors, in execution order. Ids are indices
// and stay valid until `compact`; constants are views of bytes someone else owns (the model file or
// a buffer the graph keeps alive), so weights are never copied on import.
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

// Affine quantisation: real = scale * (q - zero_point). One entry: per tensor. Several: per slice
// along `axis`, zero points then all 0 in LiteRT's int8 scheme. Empty: not quantised.
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
  // Scale and zero point of a per-tensor quantised type; 0 and 0 if there are none.
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
  T get(int64_t index) const;  // reads an element whatever its alignment
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
  std::string name;  // as the model says: any bytes
  TensorType type;
  std::optional<ConstantView> constant;
  int device = 0;
};

// What the graph itself needs to know of an operator; ops/operator.h has the rest. Properties, not
// names, are what passes look at.
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
  // Graphs that the operator runs: then and else of if; condition and body of while. What they read
  // comes through their inputs, what they give through their outputs; they have no states.
  std::vector<Graph> regions;

  std::string_view name() const { return definition->name(); }
  template <typename A>
  const A& attrs() const {
    return static_cast<const A&>(*attributes);
  }
};

// A tensor as the network's caller sees it.
struct Port {
  TensorId tensor;
  std::string name;  // signature name if the model has one, else the tensor's name
};

// A value that lives from one run to the next. Nothing in a graph is written twice: a run reads
// `before`, and what `after` holds at its end is what `before` holds in the next run.
struct State {
  TensorId before;       // defined at the start of a run, as an input is
  TensorId after;        // any tensor of the same type, be it `before` itself, an input or a constant
  ConstantView initial;  // of the first run; the bytes of `before`
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
  // What is made of weights has to hold for any values of them: no code may depend on these, or on their scales.
  bool open_constants = false;

  Tensor& operator[](TensorId id) { return tensors[static_cast<size_t>(id.value)]; }
  const Tensor& operator[](TensorId id) const { return tensors[static_cast<size_t>(id.value)]; }
  TensorId add_tensor(Tensor tensor);
  TensorId add_constant(std::string name, TensorType type, std::vector<uint8_t> bytes);
  bool is_constant(TensorId id) const { return id.valid() && (*this)[id].constant.has_value(); }
  Location location_of(TensorId id) const;

  // What a graph has from somewhere else, and what is needed behind its last operator.
  bool is_input(TensorId id) const;         // of an input port
  bool is_output(TensorId id) const;        // of an output port
  bool is_state(TensorId id) const;         // `before` of a state
  bool is_next_state(TensorId id) const;    // `after` of a state
  bool is_given(TensorId id) const { return is_input(id) || is_state(id); }
  bool is_kept(TensorId id) const { return is_output(id) || is_next_state(id); }
  int64_t state_bytes() const;              // of all states, without gaps
};

// Index of the op that defines each tensor (-1: none), and the ops that read it, in order.
struct UseDef {
  std::vector<int> definer;
  std::vector<std::vector<int>> users;
};
UseDef compute_use_def(const Graph& graph);

// Drops the operators whose flag is set; the others keep their order.
void remove_ops(Graph& graph, const std::vector<bool>& dead);

// A constant as a list of its elements: itself if it is one, else a constant of the same name and bytes.
TensorId constant_as_list(Graph& graph, TensorId constant);

// Drops tensors nobody refers to and renumbers the rest, keeping order; in regions as well.
void compact(Graph& graph);

// Operators of the graph and of all regions.
size_t count_ops(const Graph& graph);

// Regions in regions may be so deep.
inline constexpr int kMostDepth = 32;

// Makes a state of a pair of ports: output `output` becomes the next value of input `input`, which
// begins at real 0 (the zero point), or at `initial` if it is not empty. Both must have one type, and
// `initial` its bytes: the caller checks. Neither is a port any more.
void pair_state(Graph& graph, size_t output, size_t input, std::vector<uint8_t> initial = {});

// Structural checks of any graph: ids in range, single definition, definition before use, inputs
// not constant, states of one type and with all bytes of their initial value, constants of the right byte count, quantisation well formed. Operators' own checks
// are ops::verify_graph. Reports [ir-invalid].
Status verify_structure(const Graph& graph, Diagnostics& diags);

// Text form (docs/ir.md); print(parse(text)) == text for printed text.
struct PrintOptions {
  // Constants with more bytes are printed as a hash only, and such text does not parse back.
  int64_t constants_limit = INT64_MAX;
  // Without, `source` and `loc(...)` are left out; parsed ops are then located in the text itself.
  bool locations = true;
};
std::string print(const Graph& graph, const PrintOptions& options);
std::string print(const Graph& graph, int64_t constants_limit = INT64_MAX);
// "i8[1x49x10x1] quant(0.5, 83)", as in the text form.
std::string to_string(const TensorType& type);

using DefinitionLookup = std::function<const OpDefinition*(std::string_view name)>;
// Reads the text form; any bytes give a graph or one located [ir-parse] error. What it returns has
// the right syntax, operators and attribute names; verify_structure checks the rest.
Result<Graph> parse(const std::string& text, const std::string& file, const DefinitionLookup& find,
                    Diagnostics& diags);

template <typename T>
T ConstantView::get(int64_t index) const {
  T value;
  std::copy_n(bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T),
              reinterpret_cast<uint8_t*>(&value));
  return value;
}

template <typename T>
std::vector<T> ConstantView::to_vector() const {
  std::vector<T> out(bytes.size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) out[i] = get<T>(static_cast<int64_t>(i));
  return out;
}

}  // namespace aotc::graph
