// SPDX-License-Identifier: Apache-2.0
// Operators of a TFLite subgraph: from opcode and index lists to Graph IR operators. The one thing
// to know: nothing is told while operators are read. `build` goes on behind whatever it cannot
// take, and `report` then tells everything in as few messages as say it.
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

  // Finds the definition of each operator, checks its index lists, and marks the tensors that
  // supported operators use. Reports damaged lists.
  Status resolve(std::vector<Role>& roles);

  // Appends the operators to the graph: operands, results, attributes by the operator's
  // rule, and shapes where the file leaves them open or `shapes` changed what they depend
  // on. What depends on constants and shapes only becomes constants. After a successful `resolve`
  // only; ids may be invalid, where a tensor could not be read. False: `report` has something to
  // tell.
  // `given`: tensors that are defined before the first operator beside inputs and constants.
  bool build(const std::vector<graph::TensorId>& ids, graph::Graph& graph,
             const std::vector<graph::TensorId>& given = {});

  // Operators that aotc does not have, or not as the model uses them, as one error
  // [op-unsupported].
  void report_unsupported(Diagnostics& diags) const;
  // Everything else; what is common to many operators as one error each.
  void report(Diagnostics& diags) const;
  // After `build`: the counts of outputs that have as many rows as the data says.
  void add_counts(std::vector<graph::Port>& outputs) const;

 private:
  struct Resolved {
    const ops::Operator* definition = nullptr;
    const tflite::Rule* rule = nullptr;         // none of what the user gives
    const ops::GivenOperator* given = nullptr;  // its function is the user's; the definition is `external`
    int builtin = 0;
  };
  // Why an operator does not compile; `told`: what it reported, empty if its tensors said it.
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
    std::vector<bool> derived;  // its shape is not the file's, or follows from one that is not
    std::vector<int> pending;   // the op that could make it constant, or -1
    std::vector<bool> folded;   // by index in graph.ops
    int64_t steps_left;
    std::map<graph::TensorId, graph::TensorId> shifted;  // int8 in the place of uint8
    std::set<graph::TensorId> twins;                     // those int8 tensors
    std::map<graph::TensorId, int> unmade;  // uint8 tensors whose values are there as int8 alone, from which operator
    std::map<size_t, std::vector<graph::TensorId>> changed;  // by operator: what it leaves in variable tensors
    std::map<size_t, std::vector<graph::State>> kept;        // by operator: what it keeps for itself
    // By operand and result 0: the operand with the quantisation of the result.
    std::map<std::pair<graph::TensorId, graph::TensorId>, graph::TensorId> stored;
    // By operator: results with the quantisation of result 0, and the file's tensors.
    std::map<size_t, std::vector<std::pair<graph::TensorId, graph::TensorId>>> results_stored;

    // Tensors that were added to the graph on the way are defined.
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
  // Sets what an operator of the file becomes, if the rule says so and there is such an operator.
  void resolve_rule(const tflite::Rule* rule, Resolved& out) const;
  void mark(size_t index, std::vector<Role>& roles);
  // Of a FULLY_CONNECTED; nothing where its weights have other scales, or what is said of blocks is wrong.
  std::optional<BlockScales> blocks_of(size_t index) const;
  // Variable tensors that the operator changes, in the order of its operands.
  std::vector<int32_t> state_tensors(size_t index) const;
  // Not inside of a branch or a loop.
  bool may_keep_state(const graph::Op& op, const char* help, Diagnostics& told) const;
  // The reference ends no run before that.
  bool every_run_comes_here(const graph::Graph& graph, const Location& at, Diagnostics& told) const;
  // Their values as operands, what it leaves in them as results behind those of the file.
  bool connect_states(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  // What the operator keeps and the file has no tensors for.
  bool connect_kept(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  // The operator is there: those behind it read what it left.
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
  // STABLEHLO_COMPOSITE: the operators of its subgraph take its place.
  void build_composite(size_t index, Build& build);
  bool inline_composite(size_t index, Build& build, Diagnostics& told);
  bool read_composite(const graph::Op& op, int subgraph, const Build& build, graph::Graph& region, Diagnostics& told);
  bool splice(const graph::Op& op, graph::Graph& region, Build& build, Diagnostics& told);
  void skip(size_t index, Build& build) const;
  // Something may read it: told, if it is not computed yet. `operand`: which one it is, or -1.
  static bool may_read(const Build& build, graph::TensorId id, int operand, const Location& at, Diagnostics& told);
  // The operator may write it as its result `i`: told, if it is there already.
  static bool may_write(const Build& build, graph::TensorId id, uint32_t i, const graph::Op& op, Diagnostics& told);
  bool connect(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  bool import_given(size_t index, const TfliteOp& from, Build& build, graph::Op& op, Diagnostics& told);
  // `settled`: TfliteOp's.
  bool import(size_t index, Build& build, graph::Op& op, Diagnostics& told, bool settled = false);
  // Operators on uint8 (uint8.cpp): operands and results become int8 tensors where the operator takes them so.
  bool shift_bytes(Build& build, graph::Op& op, Diagnostics& told);
  bool shifted_operand(Build& build, graph::TensorId id, const Location& at, graph::TensorId& out, Diagnostics& told);
  // False, with a message at `at`, if the budget of copied tensors is spent.
  bool add_counterpart(Build& build, graph::TensorId id, const char* suffix, graph::TensorType type, const Location& at,
                       graph::TensorId& out, Diagnostics& told);
  bool shifted_tensor(Build& build, graph::TensorId id, const Location& at, graph::TensorId& out, Diagnostics& told);
  bool convert_bytes(Build& build, graph::TensorId from, graph::TensorId to, const Location& at, Diagnostics& told);
  bool make_bytes(Build& build, graph::TensorId id, Diagnostics& told);
  bool make_operands(size_t index, Build& build);
  void settle_bytes(size_t index, Build& build) const;
  bool make_outputs(Build& build);
  // Operators on stored values (stored_values.cpp).
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

  // Results that have as many rows as the data says (counted.cpp).
  bool connect_count(size_t index, Build& build, graph::Op& op, Diagnostics& told);
  bool pass_count(size_t index, Build& build, const graph::Op& op, Diagnostics& told);
  bool may_leave(const Build& build, graph::TensorId id, const Location& at, Diagnostics& told) const;
  struct Counted {
    graph::TensorId count;
    bool zeros;  // beyond the count
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
  Diagnostics other_;  // what belongs to no operator
  std::map<graph::TensorId, Counted> counted_;
  std::map<size_t, graph::TensorId> count_made_;  // by operator
};

// Warns of operators that copy stored values between tensors of different quantisation, once a model.
void report_scales(const StoredScales& scales, Diagnostics& diags);

}  // namespace aotc::frontends
