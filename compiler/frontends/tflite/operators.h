// SPDX-License-Identifier: Apache-2.0
// Converts the operators of a TFLite subgraph, from opcodes and index lists to Graph IR operators. Nothing is reported
// while operators are read: `build` continues after unsupported ones, and `report` then merges equal reasons into few
// messages.
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

  // Finds the definition of each operator, checks its index lists, and marks the tensors that supported operators use.
  // Reports damaged lists.
  Status resolve(std::vector<Role>& roles);

  // Appends the operators to the graph: operands, results, attributes by the operator's rule, and shapes if the file
  // leaves them open or `shapes` changed shapes that they depend on. Results that depend only on constants and shapes
  // become constants. Requires a successful `resolve`; an id may be invalid if its tensor could not be read. False if
  // `report` has something to report.
  // `given`: tensors that are defined before the first operator, besides inputs and constants.
  bool build(const std::vector<graph::TensorId>& ids, graph::Graph& graph,
             const std::vector<graph::TensorId>& given = {});

  // Reports the operators that aotc does not support, or not as the model uses them, as one error [op-unsupported].
  void report_unsupported(Diagnostics& diags) const;
  // Reports all other errors; one error for many operators with the same reason.
  void report(Diagnostics& diags) const;
  // After `build`: adds the row counts of outputs whose number of rows depends on the data.
  void add_counts(std::vector<graph::Port>& outputs) const;

 private:
  struct Resolved {
    const ops::Operator* definition = nullptr;
    const tflite::Rule* rule = nullptr;         // null for a function of the user
    const ops::GivenOperator* given = nullptr;  // a C function of the user; the definition is `external`
    int builtin = 0;
  };
  // Why an operator does not compile. `told`: its own diagnostics, empty if its tensors reported the error.
  struct Failed {
    size_t index;
    Diagnostics told;
  };
  struct Unsupported {
    size_t index;
    std::string reason;  // empty: there is no such operator
  };
  // The graph under construction.
  struct Build {
    const std::vector<graph::TensorId>& ids;
    graph::Graph& graph;
    std::vector<bool> defined;  // by tensor id
    std::vector<bool> derived;  // true if its shape was inferred, not taken from the file
    std::vector<int> pending;   // by tensor id: the operator whose folding would make it constant, or -1
    std::vector<bool> folded;   // by index in graph.ops
    int64_t steps_left;
    std::map<graph::TensorId, graph::TensorId> shifted;  // int8 tensors that replace uint8 tensors
    std::set<graph::TensorId> twins;                     // those int8 tensors
    std::map<graph::TensorId, int> unmade;               // uint8 tensors that exist only as int8; their operator
    std::map<size_t, std::vector<graph::TensorId>> changed;  // by operator: new values of variable tensors
    std::map<size_t, std::vector<graph::State>> kept;        // by operator: its own states

    // Marks tensors added to the graph in between as defined.
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
  bool check_indices(size_t index, const char* what, const flatbuffers::Vector<int32_t>* list,
                     bool optional_allowed, size_t tensors);
  // Sets the aotc operator of an operator of the file, if the rule names one that exists.
  void resolve_rule(const tflite::Rule* rule, Resolved& out) const;
  void mark(size_t index, std::vector<Role>& roles);
  // Block scales of a FULLY_CONNECTED; nullopt if its weights have other scales or their description is invalid.
  std::optional<BlockScales> blocks_of(size_t index) const;
  // Variable tensors that the operator changes, in the order of its operands.
  std::vector<int32_t> state_tensors(size_t index) const;
  // False, reported, inside of a branch or a loop.
  bool may_keep_state(const graph::Op& op, const char* help, Diagnostics& told) const;
  // False, reported, if the reference implementation may end a run before this operator.
  bool every_run_comes_here(const graph::Graph& graph, const Location& at, Diagnostics& told) const;
  // Adds the values of variable tensors as operands and their next values as results after those of the file.
  bool connect_states(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  // Adds the states that the operator keeps and for which the file has no tensors.
  bool connect_kept(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  // Makes the new values of states visible to the operators that follow.
  void keep_states(size_t index, Build& build);

  void start(Build& build) const;
  void build_one(size_t index, Build& build);
  bool is_widening(size_t index) const;  // a DEQUANTIZE of float16
  void build_widening(size_t index, Build& build);
  void build_variable(size_t index, Build& build);
  bool read_variable(size_t index, Build& build, Diagnostics& told);
  bool assign_variable(size_t index, Build& build, Diagnostics& told);
  void build_control(size_t index, Build& build);
  struct Control;  // an IF or WHILE while it is read
  bool read_control(size_t index, Build& build, Diagnostics& told);
  bool check_subgraphs(const Control& control, Diagnostics& told) const;
  bool pass_variables(size_t index, Build& build, Control& control, Diagnostics& told);
  bool read_regions(Build& build, Control& control, Diagnostics& told);
  bool take_results(size_t index, Build& build, Control& control, Diagnostics& told);
  // STABLEHLO_COMPOSITE: is replaced by the operators of its subgraph.
  void build_composite(size_t index, Build& build);
  bool inline_composite(size_t index, Build& build, Diagnostics& told);
  bool read_composite(const graph::Op& op, int subgraph, const Build& build, graph::Graph& region, Diagnostics& told);
  bool splice(const graph::Op& op, graph::Graph& region, Build& build, Diagnostics& told);
  void skip(size_t index, Build& build) const;
  // False, reported, if the tensor is not computed yet. `operand`: its index, or -1.
  static bool may_read(const Build& build, graph::TensorId id, int operand, const Location& at,
                       Diagnostics& told);
  // False, reported, if the tensor is computed already. `i`: the index of the result.
  static bool may_write(const Build& build, graph::TensorId id, uint32_t i, const graph::Op& op,
                        Diagnostics& told);
  bool connect(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  bool import_given(size_t index, const TfliteOp& from, Build& build, graph::Op& op, Diagnostics& told);
  // `settled`: see TfliteOp::settled.
  bool import(size_t index, Build& build, graph::Op& op, Diagnostics& told, bool settled = false);
  // Operators on uint8 (uint8.cpp): operands and results become int8 tensors if the operator accepts them.
  bool shift_bytes(Build& build, graph::Op& op, Diagnostics& told);
  bool shifted_operand(Build& build, graph::TensorId id, const Location& at, graph::TensorId& out, Diagnostics& told);
  bool shifted_tensor(Build& build, graph::TensorId id, const Location& at, graph::TensorId& out, Diagnostics& told);
  bool convert_bytes(Build& build, graph::TensorId from, graph::TensorId to, const Location& at, Diagnostics& told);
  bool make_bytes(Build& build, graph::TensorId id, Diagnostics& told);
  bool make_operands(size_t index, Build& build);
  void settle_bytes(size_t index, Build& build) const;
  bool make_outputs(Build& build);
  void settle_shapes(size_t index, const graph::Op& op, Build& build) const;
  bool check_sizes(const graph::Op& op, const Build& build, Diagnostics& told) const;
  bool is_output(size_t index) const;
  void evaluate(const graph::Op& op, int64_t steps, Build& build);
  bool fold(size_t index, const graph::Op& op, Build& build, Diagnostics& told);
  bool fold_operands(const graph::Op& op, Build& build);
  bool check_outputs(const Build& build, Diagnostics& told) const;

  // Results whose number of rows depends on the data (counted.cpp).
  bool connect_count(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  bool pass_count(size_t index, Build& build, const graph::Op& op, Diagnostics& told);
  bool may_leave(const Build& build, graph::TensorId id, const Location& at, Diagnostics& told) const;
  struct Counted {
    graph::TensorId count;
    bool zeros;  // rows beyond the count are zero
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
  std::vector<bool> outputs_;                  // by tensor of the file
  std::vector<Unsupported> unsupported_;
  std::vector<Failed> failed_;
  Diagnostics other_;  // diagnostics that belong to no operator
  std::map<graph::TensorId, Counted> counted_;
  std::map<size_t, graph::TensorId> count_made_;  // by operator
};

}  // namespace aotc::frontends
