// SPDX-License-Identifier: Apache-2.0
// The planner's inside: a graph on its way to a program, pass by pass (`Planner::passes`). The interface is
// plan/program.h. Passes share what they know of tensors and calls; each file has the passes of one subject.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "ops/operator.h"
#include "plan/classes.h"
#include "plan/flatten.h"
#include "plan/placement.h"
#include "plan/pools.h"
#include "plan/program.h"
#include "plan/segments.h"

namespace aotc::plan {

class Planner {
 public:
  // `windows` and the schedule's segments are of `flat`'s graph.
  Planner(FlatGraph flat, const PlanOptions& options, const ModelSchedule& schedule, std::vector<Window> windows,
          Diagnostics& diags)
      : options_(options),
        schedule_(schedule),
        diags_(diags),
        flat_(std::move(flat)),
        classes_(flat_.graph.tensors.size()),
        segments_(schedule.arrangement.segments) {
    program_.input_contract = options.inputs;
    program_.output_contract = options.outputs;
    program_.devices = options.devices.devices;
    program_.tensors.resize(graph().tensors.size());
    program_.flat_ops = flat_.flat_op;
    program_.windows = std::move(windows);
  }

  struct Pass {
    PlanPass description;
    Status (*run)(Planner& planner);
  };
  // In the order in which they run.
  static std::span<const Pass> passes();

  Result<Program> run();

  // Behind run(): an order of the graph's operators that may need a smaller arena. Nothing where none is known,
  // and where the order says more than what needs what.
  const std::optional<std::vector<int>>& emptier_order() const { return emptier_order_; }

 private:
  const graph::Graph& graph() const { return flat_.graph; }
  static size_t at(graph::TensorId id) { return static_cast<size_t>(id.value); }
  int class_of(graph::TensorId id) const { return classes_.of(id); }
  Storage& external_of(graph::TensorId id) { return classes_.storage(id); }

  // --- Where things lie before anything is lowered (planner_bind.cpp, planner_states.cpp)
  // Inputs, constants and outputs get their storage first; views then join classes where at most
  // one side has one. What cannot join is copied.
  void bind_externals();
  // Of the steps of an unrolled network: results that are pieces of the operand are not copied out of it.
  void bind_pieces(size_t op_index);
  bool repeats_constants(const graph::Op& op) const;

  // Windows that the model keeps itself: all that they are lies in the memory of their states.
  void bind_windows();
  // States lie one behind the other in memory of their own, those of wide elements first.
  void place_states();

  // The next value of a state is computed in the place of the present one, where nobody reads that any
  // more, or is copied there behind everything else.
  void bind_states();

  // A table of what the state begins with, unless all its bytes are the same.
  void intern_initial_value(size_t state);
  bool may_replace(size_t state);
  bool replaces(size_t call, int old, int next) const;

  // Neither class is read or written by branches and loops.
  bool plain_around(int old, int next);
  bool reads_class(size_t call, int wanted);
  bool writes_class(size_t call, int wanted);

  // --- Lowering, and the calls in their order (planner_lower.cpp)
  Status lower_all();
  const Segment* segment_of(size_t op_index) const;
  bool lower_rows(const Segment& segment);
  // Nothing if no code is needed.
  std::optional<ops::Lowered> lower_op(size_t op_index, const ops::TargetInfo& target) const;
  // With the schedule asked for, if the operator can have it; see all_schedules_used.
  std::optional<ops::Lowered> lower_as_asked(size_t op_index, int part);
  Status too_many_constants(const Location& where);

  // Calls in the order in which they stand in the run function, and the tree of what runs when.
  std::vector<ProgramStep> emit(Block& block);
  ProgramStep call_step() const;
  ProgramStep emit_branch(Step& step);
  ProgramStep emit_loop(Step& step);
  void mark(const std::vector<graph::TensorId>& alive) { uses_.push_back({-1, alive}); }

  // Moves that happen at once: what one of them reads and another writes is set aside first.
  void emit_moves(const std::vector<Move>& moves, const std::vector<graph::TensorId>& written,
                  std::vector<ProgramStep>& out);

  // Outputs whose tensor lives elsewhere: inputs, constants, or a tensor listed twice.
  void copy_outputs();
  // Reports the schedules that no operator has.
  bool all_schedules_used(const std::vector<int>& parts);

  static ops::Lowered lower_copy(const ops::OpView& op);

  // Where a copy that the plan adds comes from or goes to.
  struct CopyEnd {
    enum Kind { kTensor, kResult, kOutput, kState, kAside } kind;
    int index;
  };
  struct Copy {
    CopyEnd from, to;
  };
  const graph::TensorType& type_of(const CopyEnd& end) const;
  void add_copy(CopyEnd from, CopyEnd to);
  struct PendingCall {
    std::vector<ops::Arg> args;
    std::vector<ops::WriteOrder> write_orders;
    std::vector<int> constants;  // program constant of each lowered constant
    int scratch_alignment = 1;
    std::optional<Copy> copy;
    std::optional<ops::WriteOrder> scratch_order;  // of a segment
  };
  // What an argument that is an operand reads.
  graph::TensorId operand_of(const ProgramCall& call, int index) const;
  void add_call(int op_index, const graph::Op& op, ops::Lowered lowered);

  // --- Functions and tables that are alike (planner_share.cpp)
  int intern_function(const tir::FunctionPtr& function, int device, std::optional<ops::ExternalFunction> external);

  // A number that is read from a table can no longer be folded into the code around it. Measured on
  // networks for Cortex-M: what that costs is worth about this much of a skeleton's text.
  static bool pays(size_t skeleton, size_t functions, size_t numbers);

  // Functions that differ only in numbers become one where there are enough of them to pay.
  void merge_similar();
  void add_shape(int call, const std::vector<int32_t>& shape);
  void drop_functions(const std::vector<bool>& gone);
  int intern_constant(int op_index, ops::Constant constant);

  // --- Places in memory (planner_place.cpp)
  static bool in_arena(const Storage& s);

  // The tensor an argument stands for; invalid for constants and scratch.
  graph::TensorId tensor_of(size_t call, const ops::Arg& arg) const;

  // Classes of tensors in the arena become buffers; so do outputs that nothing but a copy writes.
  std::vector<Buffer> make_buffers();

  int buffer_of(graph::TensorId id);
  int buffer_of(const CopyEnd& end);
  BufferUse use_of(size_t call);
  Status too_many(int64_t pairs);

  // A graph that will be refused is not lowered first: that takes longest. Scratch and copies, which
  // nothing knows yet, only add to what is counted here.
  Status few_enough();

  // What each call does with buffers, and between them what branches and loops need.
  std::vector<BufferUse> all_uses(const std::vector<Buffer>& buffers);
  Status place();
  void look_for_order(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& uses);
  bool check_limits(const std::vector<Pool>& pools, const Location& where);
  void accept(const PooledPlacement& pooled);

  // --- What calls are given (planner_bind.cpp)
  void bind_conditions(std::vector<ProgramStep>& steps);
  void bind_arguments();
  Storage storage_of(const CopyEnd& end, const ProgramCall& call);
  Storage storage_of(ProgramCall& call, const PendingCall& pending, const ops::Arg& arg);
  int64_t elements_of(const ProgramCall& call, const PendingCall& pending, const ops::Arg& arg, DType type);
  graph::Shape shape_of(const ProgramCall& call, const PendingCall& pending, const ops::Arg& arg, DType type);

  // Constants that a call reads as they are (views or outputs of constants) become tables here.
  Storage storage_of_operand(graph::TensorId id, const ProgramCall& call);

  // One behind the other, in the order in which calls first use them.
  Status place_constants();
  void bring_to_pool(Storage& storage) const;
  void bring_to_pool(std::vector<ProgramStep>& steps) const;
  int constant_root(graph::TensorId id);
  const PlanOptions& options_;
  const ModelSchedule& schedule_;
  Diagnostics& diags_;
  Program program_;
  FlatGraph flat_;
  Classes classes_;
  std::vector<std::optional<ops::Lowered>> lowered_;  // by operator; nothing: a view
  std::set<ops::OperatorKey> met_;                    // schedules that some operator has
  // Of schedules that an operator cannot have: the first such operator, and the schedule that it has instead.
  std::map<ops::OperatorKey, std::pair<Location, ops::Schedule>> nearest_;
  // Of operators that are rows: the last has what the others are lowered to as well.
  const std::vector<Segment>& segments_;
  struct LastOfSegment {
    graph::TensorId input;
    ops::WriteOrder scratch_order;
    std::vector<graph::TensorId> rows;
    std::optional<Feeding> fed;
  };
  std::map<int, LastOfSegment> last_of_segment_;  // by operator
  RowKernels row_kernels_;
  std::vector<graph::TensorId> conditions_;  // of branches and loops
  // What is alive when: calls in their order, and tensors that have to be there between them.
  struct Use {
    int call = -1;
    std::vector<graph::TensorId> alive;
  };
  std::vector<Use> uses_;
  struct LoopSpan {
    size_t begin, end;  // into uses_, both inclusive
  };
  std::vector<LoopSpan> loops_;
  std::vector<int> buffer_of_;  // by class root; -1: not in the arena
  // By output: a copy writes it; the number is its own buffer, if it lies in the arena.
  std::vector<std::optional<int>> copied_outputs_;
  int windows_ = -1;  // the buffer of what is kept from frame to frame
  std::vector<bool> view_copied_;
  std::vector<bool> pieces_;                         // by operator: its results are pieces of its operand
  std::map<size_t, const Window*> pushes_, slides_;  // by operator
  std::optional<std::vector<int>> emptier_order_;
  std::map<const uint8_t*, int> readers_of_constants_;
  std::vector<int> producer_;  // by tensor: the operator that makes it, or -1
  // Values of states that are set aside while the states change.
  struct Aside {
    graph::TensorType type;
    int buffer = -1;
    Storage storage = {};
  };
  std::vector<Aside> set_aside_;
  std::vector<PendingCall> pending_;
  int64_t constant_bytes_ = 0;  // of all lowered operators, before equal tables are shared
  std::unordered_map<uint64_t, std::vector<int>> functions_by_hash_;
  std::unordered_map<uint64_t, std::vector<int>> constants_by_hash_;
};

}  // namespace aotc::plan
