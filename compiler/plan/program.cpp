// SPDX-License-Identifier: Apache-2.0
#include "plan/program.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "ops/operator.h"
#include "plan/classes.h"
#include "plan/flatten.h"
#include "plan/merge.h"
#include "plan/moves.h"
#include "plan/overlap.h"
#include "plan/placement.h"
#include "plan/pools.h"
#include "plan/spaces.h"
#include "support/text.h"

namespace aotc::plan {

namespace {

using graph::Graph;
using graph::TensorId;

// More than any microcontroller holds: a damaged or absurd model must not take hours to print.
constexpr int64_t kMaxConstantBytes = int64_t{32} << 20;

class Planner {
 public:
  Planner(FlatGraph flat, const PlanOptions& options, Diagnostics& diags)
      : options_(options), diags_(diags), flat_(std::move(flat)), classes_(flat_.graph.tensors.size()) {
    program_.input_contract = options.inputs;
    program_.output_contract = options.outputs;
    program_.devices = options.devices.devices;
    program_.tensors.resize(graph().tensors.size());
    program_.flat_ops = flat_.flat_op;
  }

  Result<Program> run() {
    bind_externals();
    if (!few_enough() || !lower_all()) return kFailure;
    settle_moves(flat_, classes_, lowered_);
    program_.body = emit(flat_.body);
    copy_outputs();
    bind_states();
    merge_similar();
    if (!place()) return kFailure;
    bind_arguments();
    bind_conditions(program_.body);
    if (!place_constants()) return kFailure;
    if (!check_numbers(program_, options_.target, diags_)) return kFailure;
    if (options_.program_tables && program_.constant_pool < 0 &&
        !move_tables_to_program(program_, options_.target, diags_))
      return kFailure;
    program_.graph = std::move(flat_.graph);
    return std::move(program_);
  }

 private:
  const Graph& graph() const { return flat_.graph; }
  static size_t at(TensorId id) { return static_cast<size_t>(id.value); }
  int class_of(TensorId id) const { return classes_.of(id); }
  Storage& external_of(TensorId id) { return classes_.storage(id); }

  // Inputs, constants and outputs get their storage first; views then join classes where at most
  // one side has one. What cannot join is copied.
  void bind_externals() {
    StorageKind input =
        options_.inputs == Contract::kPreserve ? StorageKind::kInput : StorageKind::kArena;
    for (size_t i = 0; i < graph().inputs.size(); ++i)
      external_of(graph().inputs[i].tensor) = {input, static_cast<int>(i), 0};
    for (size_t i = 0; i < graph().tensors.size(); ++i)
      if (graph().tensors[i].constant) classes_.storage_of_class(static_cast<int>(i)) = {StorageKind::kConstant, -1, 0};
    place_states();
    if (options_.outputs == Contract::kPreserve)
      for (size_t i = 0; i < graph().outputs.size(); ++i) {
        Storage& s = external_of(graph().outputs[i].tensor);
        if (s.kind == StorageKind::kNone) s = {StorageKind::kOutput, static_cast<int>(i), 0};
      }
    view_copied_.resize(graph().ops.size());
    for (size_t i = 0; i < graph().ops.size(); ++i) {
      const graph::Op& op = graph().ops[i];
      if (!ops::definition_of(op).traits().view) continue;
      Storage& from = external_of(op.operands[0]);
      Storage& to = external_of(op.results[0]);
      bool both = from.kind != StorageKind::kNone && to.kind != StorageKind::kNone;
      both = both || graph()[op.operands[0]].device != graph()[op.results[0]].device;
      view_copied_[i] = both;
      if (both) continue;
      Storage joined = from.kind != StorageKind::kNone ? from : to;
      classes_.join(op.operands[0], op.results[0], joined);
    }
  }

  // States lie one behind the other in memory of their own, those of wide elements first.
  void place_states() {
    const auto& states = graph().states;
    std::vector<size_t> order(states.size());
    std::iota(order.begin(), order.end(), size_t{0});
    auto alignment = [&](size_t i) {
      const graph::TensorType& type = graph()[states[i].before].type;
      return alignment_of(type.dtype, type.bytes());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return alignment(a) > alignment(b); });
    program_.states.resize(states.size());
    program_.initial_values.assign(states.size(), -1);
    for (size_t i : order) {
      int64_t step = alignment(i), offset = (program_.state_bytes + step - 1) / step * step;
      program_.states[i] = {StorageKind::kState, static_cast<int>(i), offset};
      program_.state_bytes = offset + graph()[states[i].before].type.bytes();
      external_of(states[i].before) = program_.states[i];
    }
  }

  // The next value of a state is computed in the place of the present one, where nobody reads that any
  // more, or is copied there behind everything else.
  void bind_states() {
    const auto& states = graph().states;
    std::vector<size_t> copied;
    for (size_t i = 0; i < states.size(); ++i) {
      intern_initial_value(i);
      if (class_of(states[i].before) == class_of(states[i].after)) continue;
      if (may_replace(i))
        external_of(states[i].after) = program_.states[i];
      else
        copied.push_back(i);
    }
    // What one state holds now and another is to hold next is set aside before either changes.
    std::map<size_t, int> aside;
    for (size_t i : copied) {
      if (external_of(states[i].after).kind != StorageKind::kState) continue;
      int index = static_cast<int>(set_aside_.size());
      set_aside_.push_back({graph()[states[i].after].type, -1});
      program_.body.push_back(call_step());
      add_copy({CopyEnd::kTensor, states[i].after.value}, {CopyEnd::kAside, index});
      aside[i] = index;
    }
    for (size_t i : copied) {
      CopyEnd from{CopyEnd::kTensor, states[i].after.value};
      if (auto found = aside.find(i); found != aside.end()) from = {CopyEnd::kAside, found->second};
      program_.body.push_back(call_step());
      add_copy(from, {CopyEnd::kState, static_cast<int>(i)});
    }
  }

  // A table of what the state begins with, unless all its bytes are the same.
  void intern_initial_value(size_t state) {
    std::span<const uint8_t> bytes = graph().states[state].initial.bytes;
    if (std::adjacent_find(bytes.begin(), bytes.end(), std::not_equal_to<>()) == bytes.end()) return;
    const graph::Tensor& tensor = graph()[graph().states[state].before];
    program_.initial_values[state] = intern_constant(
        -1, {"initial", tensor.type.dtype, {bytes.begin(), bytes.end()}, 4});
  }

  bool may_replace(size_t state) {
    TensorId before = graph().states[state].before, after = graph().states[state].after;
    const int old = class_of(before), next = class_of(after);
    if (external_of(after).kind != StorageKind::kNone) return false;
    for (const graph::Port& port : graph().outputs)
      if (class_of(port.tensor) == next) return false;
    for (size_t i = 0; i < graph().states.size(); ++i)
      if (i != state && (class_of(graph().states[i].after) == old ||
                         class_of(graph().states[i].after) == next))
        return false;
    if (!conditions_.empty() && !plain_around(old, next)) return false;
    for (size_t c = 0, written = SIZE_MAX; c < program_.calls.size(); ++c) {
      bool reads = reads_class(c, old);
      if (reads && written < c) return false;
      if (!writes_class(c, next)) continue;
      if (program_.calls[c].device != 0 || (reads && !replaces(c, old))) return false;
      written = std::min(written, c);
    }
    return true;
  }

  bool replaces(size_t call, int old) const {
    const PendingCall& pending = pending_[call];
    const graph::Op& op = graph().ops[static_cast<size_t>(program_.calls[call].op_index)];
    return in_place(graph(), op, pending.args, pending.write_orders, classes_, old);
  }

  // Neither class is read or written by branches and loops.
  bool plain_around(int old, int next) {
    for (TensorId id : conditions_)
      if (class_of(id) == old || class_of(id) == next) return false;
    for (size_t c = 0; c < program_.calls.size(); ++c) {
      if (!reads_class(c, old) && !reads_class(c, next) && !writes_class(c, old) && !writes_class(c, next))
        continue;
      int op = program_.calls[c].op_index;
      bool output = pending_[c].copy && pending_[c].copy->to.kind == CopyEnd::kOutput;
      if (!output && (op < 0 || !flat_.outermost[static_cast<size_t>(op)])) return false;
    }
    return true;
  }

  bool reads_class(size_t call, int wanted) {
    if (const auto& copy = pending_[call].copy; copy && copy->from.kind == CopyEnd::kTensor)
      return classes_.of(copy->from.index) == wanted;
    return std::any_of(pending_[call].args.begin(), pending_[call].args.end(), [&](const ops::Arg& arg) {
      TensorId id = arg.kind == ops::ArgKind::kOperand ? tensor_of(call, arg) : TensorId{};
      return id.valid() && class_of(id) == wanted;
    });
  }
  bool writes_class(size_t call, int wanted) {
    if (const auto& copy = pending_[call].copy; copy && copy->to.kind == CopyEnd::kResult)
      return classes_.of(copy->to.index) == wanted;
    return std::any_of(pending_[call].args.begin(), pending_[call].args.end(), [&](const ops::Arg& arg) {
      TensorId id = arg.kind == ops::ArgKind::kResult ? tensor_of(call, arg) : TensorId{};
      return id.valid() && class_of(id) == wanted;
    });
  }

  Status lower_all() {
    lowered_.resize(graph().ops.size());
    for (size_t i = 0; i < graph().ops.size(); ++i) {
      const graph::Op& op = graph().ops[i];
      bool view = ops::definition_of(op).traits().view;
      if (view && !view_copied_[i]) continue;
      ops::OpView op_view{graph(), op};
      ops::TargetInfo target = options_.target;
      auto asked = options_.schedules.find(op.location.op_index);
      if (asked != options_.schedules.end() && flat_.outermost[i]) target.asked = &asked->second;
      lowered_[i] = view ? lower_copy(op_view) : ops::definition_of(op).lower(op_view, target);
      if (target.asked && !honoured(*target.asked, lowered_[i]->schedule, op.location)) return kFailure;
      for (const ops::Constant& c : lowered_[i]->constants)
        constant_bytes_ += static_cast<int64_t>(c.bytes.size());
      if (constant_bytes_ > kMaxConstantBytes) return too_many_constants(op.location);
    }
    return all_schedules_used() ? success() : Status(kFailure);
  }

  Status too_many_constants(const Location& where) {
    diags_
        .error(where, "plan-limit",
               fmt::format("the constant tables up to here take {} bytes, at most {} are "
                           "emitted",
                           constant_bytes_, kMaxConstantBytes))
        .help("no microcontroller holds such tables; quantise the model or make it smaller");
    return kFailure;
  }

  // Calls in the order in which they stand in the run function, and the tree of what runs when.
  std::vector<ProgramStep> emit(Block& block) {
    std::vector<ProgramStep> out;
    for (Step& step : block.steps) {
      if (step.kind == Step::Kind::kOp) {
        auto i = static_cast<size_t>(step.op);
        if (!lowered_[i]) continue;
        out.push_back(call_step());
        add_call(step.op, graph().ops[i], std::move(*lowered_[i]));
      } else {
        if (step.kind == Step::Kind::kWhile) emit_moves(step.before, {}, out);
        out.push_back(step.kind == Step::Kind::kIf ? emit_branch(step) : emit_loop(step));
      }
    }
    return out;
  }

  ProgramStep call_step() const {
    ProgramStep step;
    step.call = static_cast<int>(program_.calls.size());
    return step;
  }

  ProgramStep emit_branch(Step& step) {
    ProgramStep out;
    out.kind = ProgramStep::Kind::kBranch;
    mark({step.condition});
    const size_t index = conditions_.size();
    conditions_.push_back(step.condition);
    out.condition_index = static_cast<int>(index);
    for (Block& block : step.blocks) {
      out.blocks.push_back(emit(block));
      emit_moves(block.moves, {}, out.blocks.back());
    }
    return out;
  }

  ProgramStep emit_loop(Step& step) {
    ProgramStep out;
    out.kind = ProgramStep::Kind::kLoop;
    const size_t begin = uses_.size();
    std::vector<TensorId> carried;
    for (const Move& move : step.before) carried.push_back(move.to);
    mark(carried);
    out.condition_index = static_cast<int>(conditions_.size());
    conditions_.push_back(step.condition);
    out.blocks.push_back(emit(step.blocks[0]));
    mark({step.condition});
    out.blocks.push_back(emit(step.blocks[1]));
    emit_moves(step.blocks[1].moves, carried, out.blocks.back());
    mark(carried);
    loops_.push_back({begin, uses_.size() - 1});
    return out;
  }

  void mark(const std::vector<TensorId>& alive) { uses_.push_back({-1, alive}); }

  // Moves that happen at once: what one of them reads and another writes is set aside first.
  void emit_moves(const std::vector<Move>& moves, const std::vector<TensorId>& written,
                  std::vector<ProgramStep>& out) {
    std::map<const Move*, CopyEnd> from;
    for (const Move& move : moves) {
      if (move.nothing) continue;
      CopyEnd source{CopyEnd::kTensor, move.from.value};
      bool written_over = std::any_of(written.begin(), written.end(), [&](TensorId id) {
        return class_of(id) == class_of(move.from);
      });
      if (written_over) {
        CopyEnd aside{CopyEnd::kAside, static_cast<int>(set_aside_.size())};
        set_aside_.push_back({graph()[move.from].type});
        out.push_back(call_step());
        add_copy(source, aside);
        source = aside;
      }
      from[&move] = source;
    }
    for (const Move& move : moves) {
      if (move.nothing) continue;
      out.push_back(call_step());
      add_copy(from[&move], {CopyEnd::kResult, move.to.value});
    }
  }

  // Outputs whose tensor lives elsewhere: inputs, constants, or a tensor listed twice.
  void copy_outputs() {
    copied_outputs_.resize(graph().outputs.size());
    for (size_t i = 0; i < graph().outputs.size(); ++i) {
      TensorId id = graph().outputs[i].tensor;
      Storage s = external_of(id);
      bool own = s.kind == StorageKind::kOutput && s.index == static_cast<int>(i);
      if (own || s.kind == StorageKind::kNone) continue;
      copied_outputs_[i] = -1;
      program_.body.push_back(call_step());
      add_copy({CopyEnd::kTensor, id.value}, {CopyEnd::kOutput, static_cast<int>(i)});
    }
  }

  bool all_schedules_used() {
    for (const auto& [index, schedule] : options_.schedules) {
      bool there = std::any_of(
          graph().ops.begin(), graph().ops.end(),
          [&, wanted = index](const graph::Op& op) { return op.location.op_index == wanted; });
      if (there) continue;
      Location where;
      where.file = graph().name;
      diags_
          .error(where, "schedule-unknown-op",
                 fmt::format("a schedule is given for operator {}, which is not compiled", index))
          .help("'aotc report' lists the operators that are, with their indices");
      return false;
    }
    return true;
  }

  // Everything asked for is in the schedule that came out.
  bool honoured(const ops::Schedule& asked, const ops::Schedule& got, const Location& where) {
    bool fine = asked.algorithm.empty() || asked.algorithm == got.algorithm;
    for (const auto& [name, value] : asked.numbers) {
      auto found = got.numbers.find(name);
      fine = fine && found != got.numbers.end() && found->second == value;
    }
    if (fine) return true;
    diags_
        .error(where, "schedule-impossible",
               fmt::format("the schedule asked for, '{}', cannot be had", asked.text()))
        .note(fmt::format("nearest is '{}'", got.text()))
        .help("'aotc report' prints the schedules that were chosen");
    return false;
  }

  static ops::Lowered lower_copy(const ops::OpView& op) {
    ops::LoweringBuilder f(op, "copy");
    tir::BufferPtr in = f.operand(0), out = f.result(0);
    f.copy(out, 0, in, 0, in->elements);
    return f.finish("copy");
  }

  // Where a copy that the plan adds comes from or goes to.
  struct CopyEnd {
    enum Kind { kTensor, kResult, kOutput, kState, kAside } kind;
    int index;
  };
  struct Copy {
    CopyEnd from, to;
  };

  const graph::TensorType& type_of(const CopyEnd& end) const {
    if (end.kind == CopyEnd::kAside) return set_aside_[static_cast<size_t>(end.index)].type;
    return graph().tensors[static_cast<size_t>(end.index)].type;
  }

  void add_copy(CopyEnd from, CopyEnd to) {
    const graph::TensorType& type = type_of(from);
    tir::FunctionBuilder f("copy");
    tir::BufferPtr in = f.input("in", type.dtype, type.elements());
    tir::BufferPtr out = f.output("out", type.dtype, type.elements());
    f.copy(out, 0, in, 0, in->elements);
    PendingCall pending;
    pending.copy = Copy{from, to};
    ProgramCall call;
    call.device = 0;
    call.function = intern_function(f.finish(), 0, std::nullopt);
    call.schedule.note = "copy";
    uses_.push_back({static_cast<int>(program_.calls.size()), {}});
    program_.calls.push_back(std::move(call));
    pending_.push_back(std::move(pending));
  }

  struct PendingCall {
    std::vector<ops::Arg> args;
    std::vector<ops::WriteOrder> write_orders;
    std::vector<int> constants;  // program constant of each lowered constant
    int scratch_alignment = 1;
    int scratch_element = 1;  // bytes
    std::optional<Copy> copy;
  };

  void add_call(int op_index, const graph::Op& op, ops::Lowered lowered) {
    ProgramCall call;
    call.op_index = op_index;
    call.scratch_bytes = lowered.scratch_bytes;
    call.schedule = std::move(lowered.schedule);
    call.results = op.results;
    call.device = op.device;
    call.function = intern_function(lowered.function, op.device, std::move(lowered.external));
    PendingCall pending;
    pending.args = std::move(lowered.args);
    pending.write_orders = std::move(lowered.write_orders);
    pending.scratch_alignment = lowered.scratch_alignment;
    for (const tir::BufferPtr& p : lowered.function->params)
      if (p->role == tir::Role::kScratch) pending.scratch_element = size_of(p->dtype);
    for (ops::Constant& c : lowered.constants)
      pending.constants.push_back(intern_constant(op_index, std::move(c)));
    uses_.push_back({static_cast<int>(program_.calls.size()), {}});
    program_.calls.push_back(std::move(call));
    pending_.push_back(std::move(pending));
  }

  int intern_function(const tir::FunctionPtr& function, int device,
                      std::optional<ops::ExternalFunction> external) {
    uint64_t hash = tir::structural_hash(*function);
    int call = static_cast<int>(program_.calls.size());
    for (int index : functions_by_hash_[hash]) {
      ProgramFunction& known = program_.functions[static_cast<size_t>(index)];
      if (known.device == device && known.external == external &&
          tir::structurally_equal(*known.body, *function)) {
        known.calls.push_back(call);
        return index;
      }
    }
    int index = static_cast<int>(program_.functions.size());
    program_.functions.push_back({function, {call}, false, device, std::move(external)});
    functions_by_hash_[hash].push_back(index);
    return index;
  }

  // A number that is read from a table can no longer be folded into the code around it. Measured on
  // networks for Cortex-M: what that costs is worth about this much of a skeleton's text.
  static bool pays(size_t skeleton, size_t functions, size_t numbers) {
    constexpr size_t kTextOfNumber = 200;
    return (functions - 1) * skeleton > numbers * kTextOfNumber;
  }

  // Functions that differ only in numbers become one where there are enough of them to pay.
  void merge_similar() {
    if (options_.merge_at_least == 0) return;
    std::map<std::string, std::vector<int>> groups;
    for (size_t i = 0; i < program_.functions.size(); ++i) {
      const ProgramFunction& f = program_.functions[i];
      if (f.external) continue;
      std::string key = f.device == 0 ? "" : fmt::format("device {}\n", f.device);
      groups[key + skeleton_of(*f.body).text].push_back(static_cast<int>(i));
    }
    std::vector<bool> gone(program_.functions.size(), false);
    for (const auto& [text, group] : groups) {
      if (static_cast<int>(group.size()) < options_.merge_at_least) continue;
      std::vector<tir::FunctionPtr> bodies;
      for (int i : group) bodies.push_back(program_.functions[static_cast<size_t>(i)].body);
      Merged merged = merge_functions(bodies);
      if (!pays(text.size(), group.size(), merged.shapes[0].size())) continue;
      ProgramFunction& kept = program_.functions[static_cast<size_t>(group[0])];
      std::vector<int> calls;
      for (size_t g = 0; g < group.size(); ++g) {
        for (int c : program_.functions[static_cast<size_t>(group[g])].calls) {
          add_shape(c, merged.shapes[g]);
          program_.calls[static_cast<size_t>(c)].function = group[0];
          calls.push_back(c);
        }
        gone[static_cast<size_t>(group[g])] = g > 0;
      }
      std::sort(calls.begin(), calls.end());
      kept = {merged.function, std::move(calls), true, kept.device, std::nullopt};
    }
    drop_functions(gone);
  }

  void add_shape(int call, const std::vector<int32_t>& shape) {
    PendingCall& pending = pending_[static_cast<size_t>(call)];
    ops::Constant c{"shape", DType::kI32, {}, 4};
    c.bytes.resize(shape.size() * sizeof(int32_t));
    std::memcpy(c.bytes.data(), shape.data(), c.bytes.size());
    pending.args.push_back({ops::ArgKind::kConstant, static_cast<int>(pending.constants.size())});
    pending.constants.push_back(
        intern_constant(program_.calls[static_cast<size_t>(call)].op_index, std::move(c)));
  }

  void drop_functions(const std::vector<bool>& gone) {
    std::vector<int> renumbered(gone.size(), -1);
    std::vector<ProgramFunction> kept;
    for (size_t i = 0; i < gone.size(); ++i) {
      if (gone[i]) continue;
      renumbered[i] = static_cast<int>(kept.size());
      kept.push_back(std::move(program_.functions[i]));
    }
    program_.functions = std::move(kept);
    for (ProgramCall& call : program_.calls)
      call.function = renumbered[static_cast<size_t>(call.function)];
  }

  int intern_constant(int op_index, ops::Constant constant) {
    std::string_view view(reinterpret_cast<const char*>(constant.bytes.data()),
                          constant.bytes.size());
    uint64_t hash = stable_hash(view) ^ static_cast<uint64_t>(constant.dtype);
    for (int index : constants_by_hash_[hash]) {
      ops::Constant& known = program_.constants[static_cast<size_t>(index)].data;
      if (known.dtype != constant.dtype || known.bytes != constant.bytes) continue;
      known.alignment = std::max(known.alignment, constant.alignment);
      return index;
    }
    int index = static_cast<int>(program_.constants.size());
    std::string name = constant.name;
    program_.constants.push_back({std::move(name), op_index, std::move(constant)});
    constants_by_hash_[hash].push_back(index);
    return index;
  }

  static bool in_arena(const Storage& s) {
    return s.kind == StorageKind::kNone || s.kind == StorageKind::kArena;
  }

  // The tensor an argument stands for; invalid for constants and scratch.
  TensorId tensor_of(size_t call, const ops::Arg& arg) const {
    if (program_.calls[call].op_index < 0) return {};
    const graph::Op& op = graph().ops[static_cast<size_t>(program_.calls[call].op_index)];
    if (arg.kind == ops::ArgKind::kOperand) return op.operands[static_cast<size_t>(arg.index)];
    if (arg.kind == ops::ArgKind::kResult) return op.results[static_cast<size_t>(arg.index)];
    return {};
  }

  // Classes of tensors in the arena become buffers; so do outputs that nothing but a copy writes.
  std::vector<Buffer> make_buffers() {
    buffer_of_.assign(graph().tensors.size(), -1);
    std::vector<int64_t> bytes(graph().tensors.size(), 0);
    for (size_t i = 0; i < graph().tensors.size(); ++i) {
      int64_t& of_class = bytes[static_cast<size_t>(classes_.of(static_cast<int>(i)))];
      of_class = std::max(of_class, graph().tensors[i].type.bytes());
    }
    std::vector<Buffer> buffers;
    for (size_t c = 0; c < bytes.size(); ++c) {
      const graph::Tensor& t = graph().tensors[c];
      if (classes_.of(static_cast<int>(c)) != static_cast<int>(c)) continue;
      if (!in_arena(classes_.storage_of_class(static_cast<int>(c)))) continue;
      buffer_of_[c] = static_cast<int>(buffers.size());
      buffers.push_back(
          {bytes[c], alignment_of(t.type.dtype, bytes[c]), t.name, false, false, t.device});
    }
    auto of_port = [&](const graph::Port& port) -> Buffer& {
      return buffers[static_cast<size_t>(buffer_of(port.tensor))];
    };
    if (options_.inputs == Contract::kOverwrite)
      for (const graph::Port& port : graph().inputs) of_port(port).from_start = true;
    for (size_t o = 0; options_.outputs == Contract::kOverwrite && o < copied_outputs_.size(); ++o) {
      if (!copied_outputs_[o]) {
        of_port(graph().outputs[o]).to_end = true;
        continue;
      }
      const graph::TensorType& type = graph()[graph().outputs[o].tensor].type;
      copied_outputs_[o] = static_cast<int>(buffers.size());
      buffers.push_back({type.bytes(), alignment_of(type.dtype, type.bytes()),
                         graph().outputs[o].name, false, true});
    }
    for (Aside& aside : set_aside_) {
      aside.buffer = static_cast<int>(buffers.size());
      buffers.push_back({aside.type.bytes(), alignment_of(aside.type.dtype, aside.type.bytes()), "state"});
    }
    return buffers;
  }

  // Word alignment lets kernels load words; small tensors need no more than their element.
  static int64_t alignment_of(DType dtype, int64_t bytes) {
    return std::max<int64_t>(size_of(dtype), bytes >= 4 ? 4 : 1);
  }

  int buffer_of(TensorId id) {
    return id.valid() ? buffer_of_[static_cast<size_t>(class_of(id))] : -1;
  }

  int buffer_of(const CopyEnd& end) {
    switch (end.kind) {
      case CopyEnd::kTensor:
      case CopyEnd::kResult: return buffer_of(TensorId{end.index});
      case CopyEnd::kOutput:
        return options_.outputs == Contract::kOverwrite
                   ? *copied_outputs_[static_cast<size_t>(end.index)]
                   : -1;
      case CopyEnd::kAside: return set_aside_[static_cast<size_t>(end.index)].buffer;
      case CopyEnd::kState: break;
    }
    return -1;
  }

  BufferUse use_of(size_t call) {
    const PendingCall& pending = pending_[call];
    BufferUse use;
    use.device = program_.calls[call].device;
    use.scratch_bytes = program_.calls[call].scratch_bytes;
    use.scratch_alignment = pending.scratch_alignment;
    auto touch = [&](int buffer) {
      if (buffer >= 0) use.buffers.push_back(buffer);
    };
    if (pending.copy) {
      for (const CopyEnd& end : {pending.copy->from, pending.copy->to}) touch(buffer_of(end));
      return use;
    }
    for (const ops::Arg& arg : pending.args) touch(buffer_of(tensor_of(call, arg)));
    const graph::Op& op = graph().ops[static_cast<size_t>(program_.calls[call].op_index)];
    for (const ops::WriteOrder& order : pending.write_orders) {
      int operand = buffer_of(op.operands[static_cast<size_t>(order.operand)]);
      int result = buffer_of(op.results[0]);
      if (operand >= 0 && result >= 0 && op.results.size() == 1)
        use.overlaps.push_back({operand, result, &order});
    }
    return use;
  }

  Status too_many(int64_t pairs) {
    Location where;
    where.file = graph().source_file;
    diags_
        .error(where, "plan-limit",
               fmt::format("{} pairs of tensors are alive at the same time, at most {} are "
                           "planned",
                           pairs, kMaxPairs))
        .help("use intermediate results sooner after they are computed, or split the model");
    return kFailure;
  }

  // A graph that will be refused is not lowered first: that takes longest. Scratch and copies, which
  // nothing knows yet, only add to what is counted here.
  Status few_enough() {
    if (options_.devices.devices.size() > 1 || flat_.flat_op.size() != graph().ops.size()) return success();
    const size_t count = graph().ops.size();
    constexpr size_t kNever = SIZE_MAX;
    std::vector<size_t> first(graph().tensors.size(), kNever), last(graph().tensors.size(), 0);
    auto touch = [&](TensorId id, size_t time) {
      if (!id.valid() || !in_arena(external_of(id))) return;
      auto c = static_cast<size_t>(class_of(id));
      first[c] = std::min(first[c], time);
      last[c] = std::max(last[c], time);
    };
    if (options_.inputs == Contract::kOverwrite)
      for (const graph::Port& port : graph().inputs) touch(port.tensor, 0);
    for (size_t i = 0; i < count; ++i) {
      const graph::Op& op = graph().ops[i];
      if (ops::definition_of(op).traits().view && !view_copied_[i]) continue;
      for (TensorId id : op.operands) touch(id, i + 1);
      for (TensorId id : op.results) touch(id, i + 1);
    }
    std::vector<int64_t> begins(count + 1, 0), ends(count + 1, 0);
    for (size_t c = 0; c < first.size(); ++c) {
      if (first[c] == kNever) continue;
      ++begins[first[c]];
      ++ends[last[c]];
    }
    int64_t pairs = 0, alive = 0;
    for (size_t t = 0; t <= count; ++t) {
      pairs += begins[t] * alive + begins[t] * (begins[t] - 1) / 2;
      alive += begins[t] - ends[t];
    }
    return pairs > kMaxPairs ? too_many(pairs) : success();
  }

  // What each call does with buffers, and between them what branches and loops need.
  std::vector<BufferUse> all_uses(const std::vector<Buffer>& buffers) {
    std::vector<BufferUse> uses;
    for (const Use& use : uses_) {
      uses.push_back(use.call >= 0 ? use_of(static_cast<size_t>(use.call)) : BufferUse());
      for (TensorId id : use.alive)
        if (int buffer = buffer_of(id); buffer >= 0) uses.back().buffers.push_back(buffer);
    }
    // What was there before a loop and is used in it is there in every iteration.
    std::vector<size_t> first(buffers.size(), SIZE_MAX);
    for (size_t u = uses.size(); u-- > 0;)
      for (int b : uses[u].buffers) first[static_cast<size_t>(b)] = u;
    for (const LoopSpan& loop : loops_)
      for (size_t u = loop.begin; u < loop.end; ++u)
        for (int b : uses[u].buffers) {
          bool before = first[static_cast<size_t>(b)] < loop.begin || buffers[static_cast<size_t>(b)].from_start;
          if (before) uses[loop.end].buffers.push_back(b);
        }
    return uses;
  }

  Status place() {
    std::vector<Buffer> buffers = make_buffers();
    std::vector<BufferUse> uses = all_uses(buffers);
    PooledPlacement pooled = place_in_pools(buffers, uses, options_.overlap, options_.pools,
                                            options_.devices.devices);
    const Placement& placement = pooled.placement;
    Location where;
    where.file = graph().source_file;
    if (placement.too_many_pairs > 0) return too_many(placement.too_many_pairs);
    if (!placement.ok()) {
      diags_.error(where, "plan-invalid", "memory planning failed: " + placement.error);
      return kFailure;
    }
    if (placement.bytes > INT32_MAX) {
      diags_.error(where, "arena-too-large",
                   fmt::format("the model needs an arena of {} bytes, more than 2 GiB",
                               placement.bytes));
      return kFailure;
    }
    if (!check_limits(pooled.sizes, where)) return kFailure;
    accept(pooled);
    return success();
  }

  bool check_limits(const std::vector<Pool>& pools, const Location& where) {
    bool fits = true;
    for (const Pool& pool : pools) {
      if (pool.limit < 0 || pool.bytes <= pool.limit) continue;
      fits = false;
      diags_
          .error(where, "pool-too-small",
                 fmt::format("pool '{}' has {} bytes, and the model needs {} of it", pool.name,
                             pool.limit, pool.bytes))
          .help("give it more bytes, or another pool that takes what is left");
    }
    return fits;
  }

  void accept(const PooledPlacement& pooled) {
    const Placement& placement = pooled.placement;
    program_.pools = pooled.sizes;
    program_.arena_bytes = placement.bytes;
    program_.arena_lower_bound = placement.lower_bound;
    program_.arena_proven_optimal = placement.proven_optimal;
    program_.arena_method = placement.method;
    program_.arena_without_overlap = placement.without_overlap;
    program_.live_bytes.assign(program_.calls.size(), 0);
    for (size_t u = 0; u < uses_.size(); ++u) {
      if (uses_[u].call < 0) continue;
      auto c = static_cast<size_t>(uses_[u].call);
      program_.live_bytes[c] = placement.live_bytes[u];
      program_.calls[c].scratch_offset = placement.scratch_offsets[u];
      program_.calls[c].scratch_pool = pooled.scratch_pools[u];
    }
    auto storage = [&](int buffer) -> Storage {
      auto b = static_cast<size_t>(buffer);
      if (placement.offsets[b] < 0) return {};
      return {StorageKind::kArena, placement.block[b], placement.offsets[b], pooled.pools[b]};
    };
    for (size_t i = 0; i < graph().tensors.size(); ++i) {
      auto c = static_cast<size_t>(classes_.of(static_cast<int>(i)));
      program_.tensors[i] = buffer_of_[c] >= 0 ? storage(buffer_of_[c]) : classes_.storage_of_class(static_cast<int>(c));
    }
    for (Aside& aside : set_aside_) aside.storage = storage(aside.buffer);
    bool in_caller = options_.inputs == Contract::kPreserve;
    for (size_t i = 0; i < graph().inputs.size(); ++i)
      program_.inputs.push_back(in_caller ? Storage{StorageKind::kInput, static_cast<int>(i), 0}
                                          : program_.tensors[at(graph().inputs[i].tensor)]);
    bool out_caller = options_.outputs == Contract::kPreserve;
    for (size_t i = 0; i < graph().outputs.size(); ++i)
      program_.outputs.push_back(out_caller ? Storage{StorageKind::kOutput, static_cast<int>(i), 0}
                                 : copied_outputs_[i]
                                     ? storage(*copied_outputs_[i])
                                     : program_.tensors[at(graph().outputs[i].tensor)]);
  }

  void bind_conditions(std::vector<ProgramStep>& steps) {
    for (ProgramStep& step : steps) {
      for (std::vector<ProgramStep>& block : step.blocks) bind_conditions(block);
      if (step.kind == ProgramStep::Kind::kCall) continue;
      step.condition = storage_of_operand(conditions_[static_cast<size_t>(step.condition_index)], {});
    }
  }

  void bind_arguments() {
    for (size_t c = 0; c < program_.calls.size(); ++c) {
      ProgramCall& call = program_.calls[c];
      const PendingCall& pending = pending_[c];
      const auto& params = program_.functions[static_cast<size_t>(call.function)].body->params;
      if (pending.copy) {
        const graph::Shape& shape = type_of(pending.copy->from).shape;
        call.arguments = {
            {storage_of(pending.copy->from, call), params[0]->dtype, params[0]->elements, shape},
            {storage_of(pending.copy->to, call), params[1]->dtype, params[1]->elements, shape}};
        // A merged copy: its shape.
        for (const ops::Arg& arg : pending.args) {
          const int table = pending.constants[static_cast<size_t>(arg.index)];
          const ops::Constant& shape_table = program_.constants[static_cast<size_t>(table)].data;
          int64_t elements = static_cast<int64_t>(shape_table.bytes.size()) / size_of(DType::kI32);
          call.arguments[0].elements = call.arguments[1].elements = type_of(pending.copy->from).elements();
          call.arguments.push_back(
              {{StorageKind::kConstant, table, 0, -1}, DType::kI32, elements, {elements}});
        }
        continue;
      }
      for (size_t a = 0; a < pending.args.size(); ++a)
        call.arguments.push_back({storage_of(call, pending, pending.args[a]), params[a]->dtype,
                                  elements_of(call, pending, pending.args[a]),
                                  shape_of(call, pending, pending.args[a])});
    }
  }

  Storage storage_of(const CopyEnd& end, const ProgramCall& call) {
    switch (end.kind) {
      case CopyEnd::kTensor: return storage_of_operand(TensorId{end.index}, call);
      case CopyEnd::kResult: return program_.tensors[static_cast<size_t>(end.index)];
      case CopyEnd::kOutput: return program_.outputs[static_cast<size_t>(end.index)];
      case CopyEnd::kState: return program_.states[static_cast<size_t>(end.index)];
      case CopyEnd::kAside: return set_aside_[static_cast<size_t>(end.index)].storage;
    }
    return {};
  }

  Storage storage_of(ProgramCall& call, const PendingCall& pending, const ops::Arg& arg) {
    const graph::Op& op = graph().ops[static_cast<size_t>(call.op_index)];
    auto index = static_cast<size_t>(arg.index);
    switch (arg.kind) {
      case ops::ArgKind::kOperand: return storage_of_operand(op.operands[index], call);
      case ops::ArgKind::kResult: return program_.tensors[at(op.results[index])];
      case ops::ArgKind::kConstant: return {StorageKind::kConstant, pending.constants[index], 0, -1};
      case ops::ArgKind::kScratch:
        return {StorageKind::kArena, -1, call.scratch_offset, call.scratch_pool};
    }
    return {};
  }

  int64_t elements_of(const ProgramCall& call, const PendingCall& pending, const ops::Arg& arg) {
    const graph::Op& op = graph().ops[static_cast<size_t>(call.op_index)];
    auto index = static_cast<size_t>(arg.index);
    switch (arg.kind) {
      case ops::ArgKind::kOperand: return graph()[op.operands[index]].type.elements();
      case ops::ArgKind::kResult: return graph()[op.results[index]].type.elements();
      case ops::ArgKind::kConstant: {
        const ops::Constant& c =
            program_.constants[static_cast<size_t>(pending.constants[index])].data;
        return static_cast<int64_t>(c.bytes.size()) / size_of(c.dtype);
      }
      case ops::ArgKind::kScratch: return call.scratch_bytes / pending.scratch_element;
    }
    return 0;
  }

  graph::Shape shape_of(const ProgramCall& call, const PendingCall& pending, const ops::Arg& arg) {
    const graph::Op& op = graph().ops[static_cast<size_t>(call.op_index)];
    int operand = arg.kind == ops::ArgKind::kOperand ? arg.index : arg.operand;
    if (operand >= 0) return graph()[op.operands[static_cast<size_t>(operand)]].type.shape;
    if (arg.kind == ops::ArgKind::kResult)
      return graph()[op.results[static_cast<size_t>(arg.index)]].type.shape;
    return {elements_of(call, pending, arg)};
  }

  // Constants that a call reads as they are (views or outputs of constants) become tables here.
  Storage storage_of_operand(TensorId id, const ProgramCall& call) {
    Storage s = program_.tensors[at(id)];
    if (s.kind != StorageKind::kConstant) return s;
    const graph::Tensor& t = graph().tensors[static_cast<size_t>(constant_root(id))];
    ops::Constant c{"data", t.type.dtype, {t.constant->bytes.begin(), t.constant->bytes.end()}, 4};
    return {StorageKind::kConstant, intern_constant(call.op_index, std::move(c)), 0, -1};
  }

  // One behind the other, in the order in which calls first use them.
  Status place_constants() {
    auto of_constants = [](const Pool& p) { return p.constants; };
    auto found = std::find_if(program_.pools.begin(), program_.pools.end(), of_constants);
    if (found == program_.pools.end()) return success();
    program_.constant_pool = static_cast<int>(found - program_.pools.begin());
    for (ProgramConstant& c : program_.constants) {
      int64_t alignment = std::max(c.data.alignment, 4);
      c.offset = (found->bytes + alignment - 1) / alignment * alignment;
      found->bytes = c.offset + static_cast<int64_t>(c.data.bytes.size());
    }
    for (ProgramCall& call : program_.calls)
      for (CallArgument& a : call.arguments) bring_to_pool(a.storage);
    bring_to_pool(program_.body);
    Location where;
    where.file = graph().source_file;
    return check_limits(program_.pools, where) ? success() : Status(kFailure);
  }

  void bring_to_pool(Storage& storage) const {
    if (storage.kind != StorageKind::kConstant) return;
    storage.pool = program_.constant_pool;
    storage.offset = program_.constants[static_cast<size_t>(storage.index)].offset;
  }
  void bring_to_pool(std::vector<ProgramStep>& steps) const {
    for (ProgramStep& step : steps) {
      bring_to_pool(step.condition);
      for (std::vector<ProgramStep>& block : step.blocks) bring_to_pool(block);
    }
  }

  int constant_root(TensorId id) {
    int c = class_of(id);
    for (size_t i = 0; i < graph().tensors.size(); ++i)
      if (graph().tensors[i].constant && classes_.of(static_cast<int>(i)) == c)
        return static_cast<int>(i);
    return id.value;
  }

  const PlanOptions& options_;
  Diagnostics& diags_;
  Program program_;
  FlatGraph flat_;
  Classes classes_;
  std::vector<std::optional<ops::Lowered>> lowered_;  // by operator; nothing: a view
  std::vector<TensorId> conditions_;                  // of branches and loops
  // What is alive when: calls in their order, and tensors that have to be there between them.
  struct Use {
    int call = -1;
    std::vector<TensorId> alive;
  };
  std::vector<Use> uses_;
  struct LoopSpan {
    size_t begin, end;  // into uses_, both inclusive
  };
  std::vector<LoopSpan> loops_;
  std::vector<int> buffer_of_;     // by class root; -1: not in the arena
  // By output: a copy writes it; the number is its own buffer, if it lies in the arena.
  std::vector<std::optional<int>> copied_outputs_;
  std::vector<bool> view_copied_;
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

}  // namespace

namespace {

Status check_control(const Graph& graph, const PlanOptions& options, Diagnostics& diags) {
  if (options.devices.devices.size() <= 1) return success();
  for (const graph::Op& op : graph.ops)
    if (!op.regions.empty())
      diags.error(op.location, "control-devices", "branches and loops run on one processor only")
          .help("leave --devices out, or the branches and loops to the application");
  return kFailure;
}

}  // namespace

int merge_at_least(ops::Level level) {
  switch (level) {
    case ops::Level::kSize: return 2;
    case ops::Level::kBalanced: return 3;
    case ops::Level::kSpeed: return 0;
  }
  return 3;
}

Result<Program> plan_program(graph::Graph graph, const PlanOptions& options, Diagnostics& diags) {
  std::shared_ptr<const Graph> source;
  // Regions without operators are regions, too.
  if (std::any_of(graph.ops.begin(), graph.ops.end(), [](const graph::Op& op) { return !op.regions.empty(); })) {
    if (!check_control(graph, options, diags)) return kFailure;
    source = std::make_shared<const Graph>(graph);
  }
  auto program = Planner(flatten(std::move(graph)), options, diags).run();
  if (program) program->source = std::move(source);
  return program;
}

}  // namespace aotc::plan
