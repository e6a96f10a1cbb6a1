// SPDX-License-Identifier: Apache-2.0
// OperatorReader: converts the operators of a TFLite subgraph to Graph IR operators. `build` reports nothing and
// continues after an operator that aotc does not support. Afterwards `report` merges equal problems into one message.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontends/tflite/source.h"
#include "frontends/tflite/tensors.h"
#include "frontends/tflite/variables.h"
#include "graph/graph.h"
#include "ops/operator.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::frontends {

class OperatorReader {
 public:
  OperatorReader(Source& source, const ops::OperatorSet& set, Variables& variables)
      : source_(source), set_(set), variables_(variables) {}

  // Finds the definition of each operator, checks its lists of tensor indices, and marks in `roles` the tensors that
  // supported operators use. Reports damaged lists.
  Status resolve(std::vector<Role>& roles);

  // Appends the operators to the graph. The import rule of an operator sets its attributes. Infers shapes that the file
  // leaves open or that depend on an input shape that the user changed. Operators that depend only on constants and
  // shapes are folded. Requires a successful `resolve`. `ids`: the graph's tensor for each tensor of the subgraph;
  // invalid if it could not be read. `given`: tensors, other than inputs and constants, that are defined before the
  // first operator. False: `report` has errors.
  bool build(const std::vector<graph::TensorId>& ids, graph::Graph& graph,
             const std::vector<graph::TensorId>& given = {});

  // Reports all operators that aotc does not support, or does not support in this form, as one error [op-unsupported].
  void report_unsupported(Diagnostics& diags) const;
  // Reports all other errors; equal errors of several operators are reported once.
  void report(Diagnostics& diags) const;
  // Adds, for each output whose number of rows depends on the data, an output with the row count. Call after `build`.
  void add_counts(std::vector<graph::Port>& outputs) const;

 private:
  struct Resolved {
    const ops::Operator* definition = nullptr;
    const tflite::Rule* rule = nullptr;         // null for custom operators that the user supplies
    const ops::GivenOperator* given = nullptr;  // the user's function, or null; `definition` is then `external`
    int builtin = 0;
  };
  // An operator that could not be converted. `told`: its messages; empty if the error is in one of its tensors.
  struct Failed {
    size_t index;
    Diagnostics told;
  };
  struct Unsupported {
    size_t index;
    std::string reason;  // empty: aotc does not have the operator
  };
  // The graph under construction.
  struct Build {
    const std::vector<graph::TensorId>& ids;
    graph::Graph& graph;
    std::vector<bool> defined;  // by tensor id
    std::vector<bool> derived;  // by tensor id: the shape differs from the file's, or depends on such a shape
    std::vector<int> pending;   // by tensor id: the op that can be folded to make it constant, or -1
    std::vector<bool> folded;   // by index in graph.ops
    int64_t steps_left;
    std::map<graph::TensorId, graph::TensorId> shifted;  // int8 tensor by the uint8 tensor it replaces
    std::set<graph::TensorId> twins;                     // the int8 tensors in `shifted`
    // Key: a uint8 tensor whose values exist only as int8. Value: the file's index of the operator that computes them.
    std::map<graph::TensorId, int> unmade;
    std::map<size_t, std::vector<graph::TensorId>> changed;  // by operator: new values of its variable tensors
    std::map<size_t, std::vector<graph::State>> kept;        // by operator: its states without a tensor in the file
    // Key: an operand and result 0. Value: a tensor with the operand's stored values and the result's quantisation.
    std::map<std::pair<graph::TensorId, graph::TensorId>, graph::TensorId> stored;
    // Key: an operator. Value: pairs of a new result, which has the quantisation of result 0, and the file's tensor for
    // it.
    std::map<size_t, std::vector<std::pair<graph::TensorId, graph::TensorId>>> results_stored;

    // Marks all tensors that were added to the graph since the last call as defined.
    void mark_added() {
      defined.resize(graph.tensors.size(), true);
      derived.resize(graph.tensors.size(), false);
      pending.resize(graph.tensors.size(), -1);
    }
    bool is_defined(graph::TensorId id) const { return defined[static_cast<size_t>(id.value)]; }
  };

  const tflite_schema::Operator& raw(size_t index) const;
  const tflite_schema::Tensor* raw_tensor(int32_t index) const;
  Location where(size_t index) const;
  bool resolve_code(size_t index, Resolved& out);
  bool check_indices(size_t index, const char* what, const flatbuffers::Vector<int32_t>* list, bool optional_allowed,
                     size_t tensors);
  // Sets `out` to the rule and its operator's definition, if the operator set has that operator.
  void resolve_rule(const tflite::Rule* rule, Resolved& out) const;
  void mark(size_t index, std::vector<Role>& roles);
  // The block scales of a FULLY_CONNECTED; nullopt if its weights have no block scales or invalid ones.
  std::optional<BlockScales> blocks_of(size_t index) const;
  // The variable tensors that the operator changes, in the order of its operands.
  std::vector<int32_t> state_tensors(size_t index) const;
  // False, after an error, inside a branch or loop: operators with state are not supported there.
  bool may_keep_state(const graph::Op& op, const char* help, Diagnostics& told) const;
  // False, after an error, if an earlier operator makes TFLite's reference implementation end some runs early, so that
  // `at` would not run.
  bool every_run_comes_here(const graph::Graph& graph, const Location& at, Diagnostics& told) const;
  // Connects the operator's variable tensors: sets operands to their present values, and appends results for their new
  // values.
  bool connect_states(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  // Connects states for which the file has no tensors: appends an operand for the old value and, if needed, a result
  // for the new one.
  bool connect_kept(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  // Call after the operator was added: later operators then read its new state values.
  void keep_states(size_t index, Build& build);

  void start(Build& build) const;
  void build_one(size_t index, Build& build);
  bool is_widening(size_t index) const;  // a DEQUANTIZE of float16
  void build_widening(size_t index, Build& build);
  void build_variable(size_t index, Build& build);
  bool read_variable(size_t index, Build& build, Diagnostics& told);
  bool assign_variable(size_t index, Build& build, Diagnostics& told);
  void build_control(size_t index, Build& build);
  struct Control;  // the state of reading one IF or WHILE
  bool read_control(size_t index, Build& build, Diagnostics& told);
  bool check_subgraphs(const Control& control, Diagnostics& told) const;
  bool pass_variables(size_t index, Build& build, Control& control, Diagnostics& told);
  bool read_regions(Build& build, Control& control, Diagnostics& told);
  bool take_results(size_t index, Build& build, Control& control, Diagnostics& told);
  // Replaces a STABLEHLO_COMPOSITE by the operators of its subgraph.
  void build_composite(size_t index, Build& build);
  bool inline_composite(size_t index, Build& build, Diagnostics& told);
  bool read_composite(const graph::Op& op, int subgraph, const Build& build, graph::Graph& region, Diagnostics& told);
  bool splice(const graph::Op& op, graph::Graph& region, Build& build, Diagnostics& told);
  void skip(size_t index, Build& build) const;
  // False, after an error, if the tensor is not yet defined where an operator reads it. `operand`: index of the
  // operand, or -1.
  static bool may_read(const Build& build, graph::TensorId id, int operand, const Location& at, Diagnostics& told);
  // False, after an error, if the tensor, which is result `i` of the operator, is already defined.
  static bool may_write(const Build& build, graph::TensorId id, uint32_t i, const graph::Op& op, Diagnostics& told);
  bool connect(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  bool import_given(size_t index, const TfliteOp& from, Build& build, graph::Op& op, Diagnostics& told);
  // `settled`: see TfliteOp::settled.
  bool import(size_t index, Build& build, graph::Op& op, Diagnostics& told, bool settled = false);
  // For operators on uint8 tensors (uint8.cpp): replaces operands and results by int8 tensors if the operator supports
  // int8.
  bool shift_bytes(Build& build, graph::Op& op, Diagnostics& told);
  bool shifted_operand(Build& build, graph::TensorId id, const Location& at, graph::TensorId& out, Diagnostics& told);
  // Adds a copy of tensor `id` with another type. False, after an error at `at`, if the budget for such copies is
  // spent.
  bool add_counterpart(Build& build, graph::TensorId id, const char* suffix, graph::TensorType type, const Location& at,
                       graph::TensorId& out, Diagnostics& told);
  bool shifted_tensor(Build& build, graph::TensorId id, const Location& at, graph::TensorId& out, Diagnostics& told);
  bool convert_bytes(Build& build, graph::TensorId from, graph::TensorId to, const Location& at, Diagnostics& told);
  bool make_bytes(Build& build, graph::TensorId id, Diagnostics& told);
  bool make_operands(size_t index, Build& build);
  void settle_bytes(size_t index, Build& build) const;
  bool make_outputs(Build& build);
  // For operators that copy stored values without regard to scales (stored_values.cpp): gives operands and results the
  // quantisation of result 0.
  bool share_quantization(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  void restore_results(size_t index, Build& build, const graph::Op& op) const;
  bool stored_tensor(Build& build, graph::TensorId id, const graph::TensorType& like, const Location& at,
                     graph::TensorId& out, Diagnostics& told);
  void add_as_stored(Build& build, graph::TensorId from, graph::TensorId to, const Location& at) const;
  void note_scales(const Location& at, const graph::TensorType& from, const graph::TensorType& to);
  void settle_shapes(size_t index, const graph::Op& op, Build& build) const;
  bool check_sizes(const graph::Op& op, const Build& build, Diagnostics& told) const;
  bool is_output(size_t index) const;
  void evaluate(const graph::Op& op, int64_t steps, Build& build);
  bool fold(size_t index, const graph::Op& op, Build& build, Diagnostics& told);
  bool fold_operands(const graph::Op& op, Build& build);
  bool check_outputs(const Build& build, Diagnostics& told) const;

  // These functions handle results whose number of rows depends on the data (counted.cpp).
  bool connect_count(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  bool pass_count(size_t index, Build& build, const graph::Op& op, Diagnostics& told);
  bool may_leave(const Build& build, graph::TensorId id, const Location& at, Diagnostics& told) const;
  struct Counted {
    graph::TensorId count;
    bool zeros;  // true if all rows after the count are 0
  };
  void mark_counted(size_t index, const Build& build, const graph::Op& op, const Counted& counted);

  enum class Kind { kOther, kUint8, kDynamicRange };
  Kind kind_of(const Failed& failed) const;
  size_t failing() const { return unsupported_.size() + failed_.size(); }
  std::string count_text() const;
  void report_kind(Kind kind, const std::vector<const Failed*>& ops, Diagnostics& diags) const;
  void report_alike(const std::vector<const Failed*>& ops, Diagnostics& diags) const;

  Source& source_;
  const ops::OperatorSet& set_;
  Variables& variables_;
  std::vector<Resolved> resolved_;
  std::vector<bool> outputs_;  // by tensor of the file
  std::vector<Unsupported> unsupported_;
  std::vector<Failed> failed_;
  Diagnostics other_;  // messages about the subgraph as a whole
  std::map<graph::TensorId, Counted> counted_;
  std::map<size_t, graph::TensorId> count_made_;  // by operator
};

// Warns, once per model, about operators that copy stored values between tensors of different quantisation.
void report_scales(const StoredScales& scales, Diagnostics& diags);

}  // namespace aotc::frontends
