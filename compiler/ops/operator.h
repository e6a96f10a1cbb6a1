// SPDX-License-Identifier: Apache-2.0
// The operator interface: everything aotc knows of one operator is behind one of these. An operator
// lives in a folder of its own (attributes, verify, shape inference, reference evaluation, lowering); the
// folder defines `void add_operators_<folder>(OperatorSet&)` and CMake makes the table of folders. No pass,
// planner or printer knows an operator by name, and no operator knows a file format: how a model's
// operators become these is in the tables of rules of compiler/frontends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "graph/graph.h"
#include "ops/interfaces.h"
#include "ops/lowering.h"
#include "support/diagnostics.h"

namespace aotc::ops {

// One operator in its graph, with the accessors its definition needs.
struct OpView {
  const graph::Graph& graph;
  const graph::Op& op;

  size_t operand_count() const { return op.operands.size(); }
  bool has_operand(size_t i) const { return i < op.operands.size() && op.operands[i].valid(); }
  const graph::Tensor& operand_tensor(size_t i) const { return graph[op.operands[i]]; }
  const graph::TensorType& operand(size_t i) const { return graph[op.operands[i]].type; }
  const graph::TensorType& result(size_t i = 0) const { return graph[op.results[i]].type; }
  const graph::ConstantView* constant(size_t i) const {
    return has_operand(i) && graph[op.operands[i]].constant ? &*graph[op.operands[i]].constant : nullptr;
  }
  template <typename A>
  const A& attrs() const {
    return op.attrs<A>();
  }
  const Location& where() const { return op.location; }
};

// Data of one evaluation: row-major, host endian, each buffer aligned for its element type. Absent
// optional operands are empty.
struct EvalData {
  std::vector<std::span<const uint8_t>> operands;
  std::vector<std::span<uint8_t>> results;

  template <typename T>
  std::span<const T> in(size_t i) const {
    return {reinterpret_cast<const T*>(operands[i].data()), operands[i].size() / sizeof(T)};
  }
  template <typename T>
  std::span<T> out(size_t i = 0) const {
    return {reinterpret_cast<T*>(results[i].data()), results[i].size() / sizeof(T)};
  }
};

// What `aotc ops` prints per type: "int8" and, where it matters, a note.
struct TypeSupport {
  DType dtype;
  std::string note;
};

// Operators with regions: what runs them.
enum class Control : uint8_t {
  kNone,
  kIf,     // operand 0 is a bool: regions[0] if it is true, else regions[1], on the other operands
  kWhile,  // regions[1] on the operands, then on its own outputs, for as long as regions[0] says so
};

// What the reader of models makes of uint8 operands.
enum class Uint8 : uint8_t {
  kOwn,       // the operator takes them itself, or not at all
  kEither,    // stored values mean the same as int8 with the top bit flipped and the zero point 128 lower
  kShifted,   // the operator takes them in that form alone
  kWeighted,  // the same, but for operand 1 of the file: weights stay as they are
};

struct Traits {
  bool view = false;         // the result is operand 0's bytes under another shape: no code, no copy
  bool elementwise = false;  // result element i depends on operand element i only (same shape)
  // Float results come from the C library's exp or tanh: equal to the reference within a few ulp
  // only. Everything else is bit-identical everywhere.
  bool uses_libm = false;
  // The real value stays, up to rounding, and only its representation changes: quantize, dequantize.
  bool conversion = false;
  // Attributes pad_top, pad_left, pad_bottom, pad_right extend operand 0 (NHWC) with elements of
  // real value 0, exactly as if they were there. Not so for pooling, which leaves them out.
  bool zero_pads = false;
  // Results follow from the operands' types and shapes: elements are never read.
  bool reads_shapes_only = false;
  // Not defined for all data of some type: the lowered function may end with a status (tir::Fail)
  // where the reference stops.
  bool may_fail = false;
  // The result is the operand in another device's memory.
  bool device_copy = false;
  // Given as C and known by its types alone: it is never folded, and evaluated only by its own C.
  bool external = false;
  Control control = Control::kNone;
};

class Operator : public graph::OpDefinition {
 public:
  // One line for `aotc ops`.
  virtual std::string_view summary() const = 0;
  virtual std::vector<TypeSupport> types() const = 0;
  virtual Traits traits() const { return {}; }

  // Are operand and result counts, types, shapes, quantisation and attributes ones this operator
  // can evaluate and lower? Reports located errors ([op-operands], [op-type], [op-shape],
  // [op-attribute], [op-quantization]). `infer` has been checked to agree before this is called.
  virtual Status verify(const OpView& op, Diagnostics& diags) const = 0;

  // Shapes (and dtypes where implied) of the results from operands and attributes. The frontends
  // check them against the model's. Must not trust anything: operands may be nonsense.
  virtual Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const = 0;

  // The reference semantics: LiteRT's, bit for bit for integers. Called on verified operators only.
  virtual void evaluate(const OpView& op, const EvalData& data) const = 0;

  // Can it become code? Otherwise it is evaluated on constants while compiling (ops/constants.h), and
  // a model in which it remains is refused. May be asked of operators that are not verified.
  virtual bool has_lowering(const OpView&) const { return true; }
  // The algorithm as TIR that any CPU runs; ops::lower (ops/lowering.h) asks the target first. Called on
  // verified operators with a lowering only; not for views.
  virtual Lowered lower(const OpView& op, const TargetInfo& target) const = 0;

  // The same results as a more general operator that lowers them better, bit for bit in float as
  // well; constants it needs are added to the graph. Nothing if the operator is best as it is.
  virtual std::optional<graph::Op> generalized(graph::Graph&, const graph::Op&) const { return std::nullopt; }

  // Multiply-accumulates of one inference, 0 where that is no measure.
  virtual int64_t macs(const OpView&) const { return 0; }

  // May be asked of operators that are not verified.
  virtual Uint8 uint8_form(const OpView&) const { return Uint8::kOwn; }

  // The optional interface I of ops/interfaces.h; null if the operator does not have it.
  template <typename I>
  const I* as() const {
    if (!interfaces_) interfaces_ = Interfaces(this);
    return std::get<const I*>(interfaces_->pointers);
  }

 private:
  // Passes ask for interfaces of every operator again and again, and a dynamic_cast takes some hundred instructions.
  struct Interfaces {
    explicit Interfaces(const Operator* op)
        : pointers(dynamic_cast<const Fusable*>(op), dynamic_cast<const Transposable*>(op),
                   dynamic_cast<const Streamable*>(op), dynamic_cast<const Prunable*>(op),
                   dynamic_cast<const Stateful*>(op)) {}
    std::tuple<const Fusable*, const Transposable*, const Streamable*, const Prunable*, const Stateful*> pointers;
  };
  mutable std::optional<Interfaces> interfaces_;  // found at first use
};

inline const Operator& definition_of(const graph::Op& op) { return static_cast<const Operator&>(*op.definition); }

class OperatorSet {
 public:
  void add(std::unique_ptr<Operator> op);
  const Operator* find(std::string_view name) const;
  // In order of name.
  std::vector<const Operator*> all() const;

 private:
  std::vector<std::unique_ptr<Operator>> ops_;
};

// Every operator of this build (made once, immutable).
const OperatorSet& operators();
graph::DefinitionLookup definition_lookup();

// infer and verify of one operator whose operands and results are there, and do they agree with the
// results' types?
Status verify_op(const OpView& op, Diagnostics& diags);
// verify_structure, then verify_op of every operator. Reports all problems, not the first.
Status verify_graph(const graph::Graph& graph, Diagnostics& diags);

// Runs one operator on the host through its reference evaluation.
void evaluate_op(const graph::Graph& graph, const graph::Op& op, const EvalData& data);

// What the states of a graph hold between two runs, in graph.states order.
using StateValues = std::vector<std::vector<uint8_t>>;
StateValues initial_states(const graph::Graph& graph);

// Reference evaluation of a whole graph: inputs in graph.inputs order, each exactly the tensor's
// bytes. `states` is what the run begins with, and then what it leaves behind; without, it is a first
// run. Returns the bytes of every tensor that is not constant (empty for others), by tensor id.
std::vector<std::vector<uint8_t>> evaluate_graph(const graph::Graph& graph,
                                                 const std::vector<std::vector<uint8_t>>& inputs,
                                                 StateValues* states = nullptr);

// The same, watched: `after` sees the results of every operator, those of regions included, each time
// it has run, and may change them. `index` counts operators as they stand in the text, an operator
// before those of its regions; what has regions is seen behind them.
using EvaluationObserver = std::function<void(size_t index, const graph::Graph& graph, const graph::Op& op,
                                              const std::vector<std::span<uint8_t>>& results)>;
struct Evaluation {
  StateValues* states = nullptr;
  EvaluationObserver after;
  // Iterations of all loops that one evaluation may make; then loops end, and `gave_up` is set.
  int64_t iterations = int64_t{1} << 16;
  bool gave_up = false;
};
std::vector<std::vector<uint8_t>> evaluate_graph(const graph::Graph& graph,
                                                 const std::vector<std::vector<uint8_t>>& inputs,
                                                 Evaluation& evaluation);
// One operator, as evaluate_graph runs it. `index` is its own.
void evaluate_op(const graph::Graph& graph, const graph::Op& op, const EvalData& data, Evaluation& evaluation,
                 size_t index);

}  // namespace aotc::ops
