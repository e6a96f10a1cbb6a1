// SPDX-License-Identifier: Apache-2.0
// Importer: converts one ONNX graph to Graph IR, node by node, and resolves names to tensors. An unsupported operator
// marks the names of its outputs as poisoned. Later nodes are still checked, but nodes that read a poisoned name are
// not reported.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/onnx/qdq.h"
#include "frontends/onnx/reader.h"
#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

inline constexpr int64_t kOldestOpset = 7, kNewestOpset = 28;
inline constexpr size_t kMostNodes = 50'000;  // including the nodes of functions, counted at each call
inline constexpr int kMostErrors = 50;
inline constexpr Id kPoison{-2};

// Versions of the ONNX operator sets by domain; "" is ai.onnx.
using Versions = std::map<std::string_view, int64_t>;

// The names that a graph defines, and the scope of the graph around it.
struct Scope {
  std::unordered_map<std::string_view, Id> values;
  const Scope* outer = nullptr;
};

// Appends a copy of a diagnostic from another sink.
inline void append(Diagnostics& to, const Diagnostic& d) {
  Diagnostic& copy = d.severity == Severity::kError ? to.error(d.location, d.slug, d.message)
                                                    : to.warning(d.location, d.slug, d.message);
  copy.severity = d.severity;
  copy.notes = d.notes;
  copy.helps = d.helps;
}

void find_outer_names(const Graph& graph, std::set<std::string_view> defined, std::vector<std::string_view>& out);

// An ONNX Loop or Scan that is converted to the graph's `while`.
struct LoopForm {
  std::vector<Id> state;  // initial values of the loop-carried state
  Id most, go_on;         // maximum trip count (i64) and condition (bool), one element each; absent: no limit, true
  bool decides = false;   // true for a Loop: the body receives the iteration number and returns the condition
  std::vector<Id> seen;   // scan inputs: each iteration reads one element along dimension 0
  std::vector<bool> seen_backwards, given_backwards;  // `given`: scan outputs, which get one element per iteration
  std::vector<int64_t> given_axes;
};

// The body of a `while` operator while it is built.
struct WhileBody {
  explicit WhileBody(const Node& from) : node(from) {}
  const Node& node;
  graph::Graph region;
  // By operand of the `while`: its initial value, and the region's input and output for it.
  std::vector<Id> first, before, after;
  std::vector<Id> outputs;      // outputs of the body, in the region
  std::optional<size_t> limit;  // index of the operand with the maximum trip count, if the model computes it
  std::optional<size_t> going;  // index of the operand with the loop condition; nullopt: always true
  std::vector<int32_t> elements;
  size_t given = 0;  // index of the first operand that collects scan outputs
};

class Importer {
 public:
  Importer(const Model& model, TensorReader& tensors, const std::string& file, const OnnxOptions& options,
           graph::Graph& graph, Diagnostics& diags);
  bool run();

 private:
  struct Unknown {
    Location at;
    std::string text;
  };

  bool error(const Location& at, std::string_view slug, std::string message, std::string help);
  Location where(std::string_view tensor) const;
  bool read_opsets(const std::vector<Opset>& from, Versions& to);
  bool check_weights(const Versions& versions);  // weights.cpp
  bool add_initializers(const Graph& from, Scope& scope);
  std::optional<graph::Shape> shape_of(const ValueInfo& info, bool tell);
  bool is_batch(std::string_view name) const;
  int64_t size_of_open(const Dimension& d, size_t at, int64_t size) const;
  void tell_batch(std::string_view name);
  void tell_open(const ValueInfo& info, size_t at);
  std::string open_help(const ValueInfo& info) const;
  bool add_given(const ValueInfo& info, const std::string& text, Scope& scope);
  bool build(std::string_view tensor, const std::function<void()>& add);
  bool build_at(const Location& at, const std::function<void()>& add);
  void take_type(const Rule& rule, const std::vector<Id>& inputs, size_t output, Id& id);
  size_t image_rank() const;
  bool add_input(const ValueInfo& info, Scope& scope);
  bool add_inputs(Scope& scope);
  bool check_declared(const ValueInfo& info, Id id);
  bool add_outputs(const Scope& scope);

  // known.cpp
  class ScopeConstants;
  bool add_known(std::vector<Node>& nodes, const Versions& versions, Scope& scope);
  bool could_be_known(const Node& node, const Versions& versions, const Scope& scope) const;
  bool fold_quantised(std::vector<Node>& nodes, const Versions& versions, Scope& scope);

  // Defined in nodes.cpp. False if an error or an unsupported operator was reported.
  bool add_nodes(const std::vector<Node>& nodes, const Versions& versions, Scope& scope, int depth);
  bool add_node(const Node& node, const Versions& versions, Scope& scope, int depth);
  bool apply_rule(const Rule& rule, const Node& node, int64_t version, std::vector<Id> inputs, Scope& scope);
  // branches.cpp
  const Graph* branch_of(const Node& node, bool condition);
  bool add_if(const Node& node, const Versions& versions, const std::vector<Id>& inputs, Scope& scope, int depth);
  bool captures_of(const Node& node, const Graph& graph, const Scope& scope, std::vector<std::string_view>& names);
  Importer open_region(const Graph& from, graph::Graph& region,
                       Diagnostics* told = nullptr);  // told: used instead of diags_
  void close_region(Importer& inner);
  Id hand_over(Id outer, std::string_view name, bool first_value, Importer& inner);
  bool find_outputs(const Graph& from, const Scope& values, std::vector<Id>& out);
  bool add_region(const Graph& branch, const std::vector<std::string_view>& names, const Versions& versions,
                  const Scope& scope, int depth, graph::Graph& region, std::vector<int32_t>& elements,
                  Diagnostics& told);
  bool tell_deciding_input(const Node& node, Id condition, const Diagnostics& told);
  bool add_branches(const Node& node, const Versions& versions, Id condition, Scope& scope, int depth);
  // loops.cpp
  std::optional<std::vector<Id>> add_body(const Node& node, const Graph& body, const std::vector<Id>& inputs,
                                          const Versions& versions, Scope& scope, int depth);
  bool add_loop(const Node& node, const Versions& versions, const std::vector<Id>& inputs, Scope& scope, int depth);
  bool turns_are_known(const Graph& body, const std::vector<Id>& inputs, const std::optional<double>& most,
                       const std::optional<double>& go_on, const Scope& scope);
  bool add_long_scan(const Node& node, const Graph& body, const std::vector<Id>& inputs, const Ints& axes,
                     const Versions& versions, Scope& scope, int depth);
  // batched_scans.cpp
  bool add_batched_scan(const Node& node, const Graph& body, const std::vector<Id>& inputs, size_t carried,
                        const Versions& versions, Scope& scope, int depth, bool& good);
  bool add_scan(const Node& node, const Versions& versions, const std::vector<Id>& inputs, Scope& scope, int depth);
  // run_time_loops.cpp
  bool depends(const Graph& body, std::set<std::string_view> seeds, size_t carried, const Scope& scope);
  bool add_while(const Node& node, const Graph& body, LoopForm form, const Versions& versions, Scope& scope, int depth);
  Id while_operand(WhileBody& loop, Id first, std::string_view name, bool changes, Importer& inner);
  bool read_while_body(const Graph& body, const LoopForm& form, const Versions& versions, const Scope& scope, int depth,
                       Importer& inner, WhileBody& loop);
  void change_operands(const LoopForm& form, Importer& inner, WhileBody& loop);
  void add_rows(const LoopForm& form, Importer& inner, WhileBody& loop);
  bool define_while(const LoopForm& form, const WhileBody& loop, const std::vector<Id>& results, Scope& scope);
  graph::Graph condition_of(const LoopForm& form, const WhileBody& loop);
  Id goes_on_in(Builder& b, const LoopForm& form, const WhileBody& loop, const std::vector<Id>& given);
  // counted.cpp
  bool error_counted(const Location& at, Id id);
  bool keeps_counts(const Node& node, const std::vector<Id>& parts);
  bool pass_counts(const Rule& rule, Call& call, size_t output, Id id);
  bool call_function(const Function& function, const Node& node, const std::vector<Id>& inputs, Scope& scope,
                     int depth);
  bool is_known(const Node& node, const Versions& versions);
  const Function* find_function(const Node& node) const;
  bool define(const Node& node, size_t output, Id id, Scope& scope);
  void poison(const Node& node, Scope& scope);
  Id find(const Scope& scope, std::string_view name) const;
  Location where_node(const Node& node) const;
  void report_unknown();

  const Model& model_;
  TensorReader& tensors_;
  const std::string& file_;
  const OnnxOptions& options_;
  Diagnostics& diags_;
  Builder builder_;
  graph::Graph& graph_;
  std::vector<Unknown> unknown_;
  std::set<std::string_view> batches_;  // symbolic dimensions that were read as 1
  std::deque<std::string> names_;       // of constants that are not in the file
  size_t nodes_ = 0;
  int index_ = -1;  // index of the node in the main graph
};

}  // namespace aotc::frontends::onnx
