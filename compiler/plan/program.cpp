#include "plan/program.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "ops/operator.h"
#include "plan/merge.h"
#include "plan/overlap.h"
#include "support/text.h"

namespace aotc::plan {

namespace {

using graph::Graph;
using graph::TensorId;

// More than any microcontroller holds. They keep a damaged or absurd model from taking hours and
// gigabytes: packing costs time and memory per pair of tensors alive at once, printing per byte.
constexpr int64_t kMaxPairs = 1 << 18;
constexpr int64_t kMaxConstantBytes = int64_t{32} << 20;

// Tensors that share bytes because one is a view of the other, as classes with one storage.
class Aliases {
 public:
  explicit Aliases(size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  int find(int i) {
    while (parent_[static_cast<size_t>(i)] != i) i = parent_[static_cast<size_t>(i)];
    return i;
  }
  // The class of `b` joins that of `a`.
  void join(int a, int b) { parent_[static_cast<size_t>(find(b))] = find(a); }

 private:
  std::vector<int> parent_;
};

class Planner {
 public:
  Planner(Graph graph, const PlanOptions& options, Diagnostics& diags)
      : options_(options), diags_(diags), aliases_(graph.tensors.size()) {
    program_.graph = std::move(graph);
    program_.tensors.resize(program_.graph.tensors.size());
    external_.resize(program_.graph.tensors.size());
  }

  Result<Program> run() {
    bind_externals();
    if (!make_calls()) return kFailure;
    merge_similar();
    if (!place()) return kFailure;
    bind_arguments();
    return std::move(program_);
  }

 private:
  const Graph& graph() const { return program_.graph; }
  static size_t at(TensorId id) { return static_cast<size_t>(id.value); }
  int class_of(TensorId id) { return aliases_.find(id.value); }
  Storage& external_of(TensorId id) { return external_[static_cast<size_t>(class_of(id))]; }

  // Inputs, constants and outputs get their storage first; views then join classes where at most
  // one side has one. What cannot join is copied.
  void bind_externals() {
    for (size_t i = 0; i < graph().inputs.size(); ++i)
      external_[at(graph().inputs[i].tensor)] = {StorageKind::kInput, static_cast<int>(i), 0};
    for (size_t i = 0; i < graph().tensors.size(); ++i)
      if (graph().tensors[i].constant) external_[i] = {StorageKind::kConstant, -1, 0};
    for (size_t i = 0; i < graph().outputs.size(); ++i) {
      Storage& s = external_[at(graph().outputs[i].tensor)];
      if (s.kind == StorageKind::kNone) s = {StorageKind::kOutput, static_cast<int>(i), 0};
    }
    view_copied_.resize(graph().ops.size());
    for (size_t i = 0; i < graph().ops.size(); ++i) {
      const graph::Op& op = graph().ops[i];
      if (!ops::definition_of(op).traits().view) continue;
      Storage& from = external_of(op.operands[0]);
      Storage& to = external_of(op.results[0]);
      bool both = from.kind != StorageKind::kNone && to.kind != StorageKind::kNone;
      view_copied_[i] = both;
      if (both) continue;
      Storage joined = from.kind != StorageKind::kNone ? from : to;
      aliases_.join(op.operands[0].value, op.results[0].value);
      external_of(op.operands[0]) = joined;
    }
  }

  Status make_calls() {
    for (size_t i = 0; i < graph().ops.size(); ++i) {
      const graph::Op& op = graph().ops[i];
      bool view = ops::definition_of(op).traits().view;
      if (view && !view_copied_[i]) continue;
      ops::OpView op_view{graph(), op};
      ops::TargetInfo target = options_.target;
      auto asked = options_.schedules.find(op.location.op_index);
      if (asked != options_.schedules.end()) target.asked = &asked->second;
      ops::Lowered lowered =
          view ? lower_copy(op_view) : ops::definition_of(op).lower(op_view, target);
      if (target.asked && !honoured(*target.asked, lowered.schedule, op.location)) return kFailure;
      for (const ops::Constant& c : lowered.constants)
        constant_bytes_ += static_cast<int64_t>(c.bytes.size());
      if (constant_bytes_ > kMaxConstantBytes) {
        diags_
            .error(op.location, "plan-limit",
                   fmt::format("the constant tables up to here take {} bytes, at most {} are "
                               "emitted",
                               constant_bytes_, kMaxConstantBytes))
            .help("no microcontroller holds such tables; quantise the model or make it smaller");
        return kFailure;
      }
      add_call(static_cast<int>(i), op, std::move(lowered));
    }
    // Outputs whose tensor lives elsewhere: inputs, constants, or a tensor listed twice.
    for (size_t i = 0; i < graph().outputs.size(); ++i) {
      TensorId id = graph().outputs[i].tensor;
      Storage s = external_of(id);
      if (s.kind == StorageKind::kOutput && s.index == static_cast<int>(i)) continue;
      add_output_copy(static_cast<int>(i), id);
    }
    return success();
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

  void add_output_copy(int output, TensorId id) {
    const graph::TensorType& type = graph()[id].type;
    tir::FunctionBuilder f("copy");
    tir::BufferPtr in = f.input("in", type.dtype, type.elements());
    tir::BufferPtr out = f.output("out", type.dtype, type.elements());
    f.copy(out, 0, in, 0, in->elements);
    PendingCall pending;
    pending.copy_from = id;
    pending.copy_to_output = output;
    ProgramCall call;
    call.function = intern_function(f.finish());
    call.schedule.note = "copy";
    program_.calls.push_back(std::move(call));
    pending_.push_back(std::move(pending));
  }

  struct PendingCall {
    std::vector<ops::Arg> args;
    std::vector<ops::WriteOrder> write_orders;
    std::vector<int> constants;  // program constant of each lowered constant
    int scratch_alignment = 1;
    int scratch_element = 1;  // bytes
    std::optional<TensorId> copy_from;
    int copy_to_output = -1;
  };

  void add_call(int op_index, const graph::Op& op, ops::Lowered lowered) {
    ProgramCall call;
    call.op_index = op_index;
    call.scratch_bytes = lowered.scratch_bytes;
    call.schedule = std::move(lowered.schedule);
    call.results = op.results;
    call.function = intern_function(lowered.function);
    PendingCall pending;
    pending.args = std::move(lowered.args);
    pending.write_orders = std::move(lowered.write_orders);
    pending.scratch_alignment = lowered.scratch_alignment;
    for (const tir::BufferPtr& p : lowered.function->params)
      if (p->role == tir::Role::kScratch) pending.scratch_element = size_of(p->dtype);
    for (ops::Constant& c : lowered.constants)
      pending.constants.push_back(intern_constant(op_index, std::move(c)));
    program_.calls.push_back(std::move(call));
    pending_.push_back(std::move(pending));
  }

  int intern_function(const tir::FunctionPtr& function) {
    uint64_t hash = tir::structural_hash(*function);
    int call = static_cast<int>(program_.calls.size());
    for (int index : functions_by_hash_[hash]) {
      ProgramFunction& known = program_.functions[static_cast<size_t>(index)];
      if (tir::structurally_equal(*known.body, *function)) {
        known.calls.push_back(call);
        return index;
      }
    }
    int index = static_cast<int>(program_.functions.size());
    program_.functions.push_back({function, {call}, false});
    functions_by_hash_[hash].push_back(index);
    return index;
  }

  // Functions that differ only in numbers become one where there are enough of them to pay.
  void merge_similar() {
    std::map<std::string, std::vector<int>> groups;
    for (size_t i = 0; i < program_.functions.size(); ++i)
      groups[skeleton_of(*program_.functions[i].body).text].push_back(static_cast<int>(i));
    std::vector<bool> gone(program_.functions.size(), false);
    for (const auto& [text, group] : groups) {
      if (static_cast<int>(group.size()) < options_.merge_at_least) continue;
      std::vector<tir::FunctionPtr> bodies;
      for (int i : group) bodies.push_back(program_.functions[static_cast<size_t>(i)].body);
      Merged merged = merge_functions(bodies);
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
      kept = {merged.function, std::move(calls), true};
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

  struct Live {
    int begin, end;  // calls, both inclusive
  };

  // Pairs of items that are alive at the same time.
  int64_t count_pairs(const std::vector<Live>& live) const {
    std::vector<int64_t> begins(program_.calls.size(), 0), ends(program_.calls.size(), 0);
    for (const Live& l : live) {
      ++begins[static_cast<size_t>(l.begin)];
      ++ends[static_cast<size_t>(l.end)];
    }
    int64_t pairs = 0, alive = 0;
    for (size_t c = 0; c < begins.size(); ++c) {
      pairs += begins[c] * alive + begins[c] * (begins[c] - 1) / 2;
      alive += begins[c] - ends[c];
    }
    return pairs;
  }

  // One attempt at placing everything: which tensors are one buffer, and where buffers lie.
  struct Attempt {
    Aliases aliases;
    std::vector<int> first, last;  // per class: calls that touch it; last < 0: none
    std::vector<int64_t> class_bytes;
    Problem problem;
    std::vector<int> item_of_class, item_of_call;
    std::vector<int64_t> live_bytes;
    Solution solution;
    int64_t too_many_pairs = 0;  // the limit is passed: nothing was solved
  };

  // The smallest of: no sharing, results over dying operands, and that with results exactly in the
  // place of operands where the operator allows it.
  Status place() {
    Attempt best = attempt(false, false);
    program_.arena_without_overlap = best.solution.height;
    if (options_.overlap && best.too_many_pairs == 0) {
      for (bool in_place : {false, true}) {
        Attempt next = attempt(true, in_place);
        if (next.solution.ok() && next.solution.height < best.solution.height) best = std::move(next);
      }
    }
    return accept(std::move(best));
  }

  Attempt attempt(bool overlap, bool in_place) {
    Attempt a{aliases_, {}, {}, {}, {}, {}, {}, {}, {}, 0};
    find_lifetimes(a);
    if (in_place) join_in_place(a);
    make_items(a);
    separate_items(a, overlap);
    if (a.too_many_pairs == 0) a.solution = solve(a.problem);
    return a;
  }

  bool in_arena(Attempt& a, TensorId id) {
    return id.valid() &&
           external_[static_cast<size_t>(a.aliases.find(id.value))].kind == StorageKind::kNone;
  }

  void find_lifetimes(Attempt& a) {
    size_t n = graph().tensors.size();
    a.first.assign(n, static_cast<int>(program_.calls.size()));
    a.last.assign(n, -1);
    a.class_bytes.assign(n, 0);
    for (size_t i = 0; i < n; ++i) {
      int64_t& bytes = a.class_bytes[static_cast<size_t>(a.aliases.find(static_cast<int>(i)))];
      bytes = std::max(bytes, graph().tensors[i].type.bytes());
    }
    auto touch = [&](TensorId id, int call) {
      if (!in_arena(a, id)) return;
      auto c = static_cast<size_t>(a.aliases.find(id.value));
      a.first[c] = std::min(a.first[c], call);
      a.last[c] = std::max(a.last[c], call);
    };
    for (size_t c = 0; c < program_.calls.size(); ++c) {
      const PendingCall& pending = pending_[c];
      if (pending.copy_from) touch(*pending.copy_from, static_cast<int>(c));
      for (const ops::Arg& arg : pending.args)
        touch(tensor_of(c, arg), static_cast<int>(c));
    }
  }

  // The tensor an argument stands for; invalid for constants and scratch.
  TensorId tensor_of(size_t call, const ops::Arg& arg) const {
    if (program_.calls[call].op_index < 0) return {};
    const graph::Op& op = graph().ops[static_cast<size_t>(program_.calls[call].op_index)];
    if (arg.kind == ops::ArgKind::kOperand) return op.operands[static_cast<size_t>(arg.index)];
    if (arg.kind == ops::ArgKind::kResult) return op.results[static_cast<size_t>(arg.index)];
    return {};
  }

  // Classes of operand and result of a write order, if the operand dies in this call and nothing
  // else of the call reads its bytes; -1 otherwise.
  struct Pair {
    int operand = -1, result = -1;
  };
  Pair dying_pair(Attempt& a, size_t call, const ops::WriteOrder& order) {
    const graph::Op& op = graph().ops[static_cast<size_t>(program_.calls[call].op_index)];
    TensorId from = op.operands[static_cast<size_t>(order.operand)], to = op.results[0];
    if (!in_arena(a, from) || !in_arena(a, to)) return {};
    int i = a.aliases.find(from.value), j = a.aliases.find(to.value);
    int readers = 0;
    for (const ops::Arg& arg : pending_[call].args) {
      TensorId id = tensor_of(call, arg);
      readers += id.valid() && a.aliases.find(id.value) == i;
    }
    bool dies = a.last[static_cast<size_t>(i)] == static_cast<int>(call) &&
                a.first[static_cast<size_t>(j)] == static_cast<int>(call);
    return i != j && dies && readers == 1 && op.results.size() == 1 ? Pair{i, j} : Pair{};
  }

  void join_in_place(Attempt& a) {
    for (size_t c = 0; c < program_.calls.size(); ++c)
      for (const ops::WriteOrder& order : pending_[c].write_orders) {
        if (!order.in_place) continue;
        Pair p = dying_pair(a, c, order);
        auto i = static_cast<size_t>(p.operand), j = static_cast<size_t>(p.result);
        if (p.operand < 0 || a.class_bytes[i] != a.class_bytes[j]) continue;
        a.aliases.join(p.operand, p.result);
        a.last[i] = a.last[j];
        a.last[j] = -1;
      }
  }

  void make_items(Attempt& a) {
    a.item_of_class.assign(a.first.size(), -1);
    a.item_of_call.assign(program_.calls.size(), -1);
    for (size_t c = 0; c < a.first.size(); ++c) {
      if (a.last[c] < 0) continue;
      int64_t bytes = a.class_bytes[c];
      // Word alignment lets kernels load words; small tensors need no more than their element.
      int64_t align = std::max<int64_t>(size_of(graph().tensors[c].type.dtype), bytes >= 4 ? 4 : 1);
      a.item_of_class[c] = a.problem.add(bytes, align, graph().tensors[c].name);
    }
    for (size_t c = 0; c < program_.calls.size(); ++c)
      if (program_.calls[c].scratch_bytes > 0)
        a.item_of_call[c] =
            a.problem.add(program_.calls[c].scratch_bytes, pending_[c].scratch_alignment,
                          fmt::format("scratch of call {}", c));
  }

  void separate_items(Attempt& a, bool overlap) {
    std::vector<Live> live(a.problem.items.size());
    for (size_t c = 0; c < a.first.size(); ++c)
      if (a.item_of_class[c] >= 0)
        live[static_cast<size_t>(a.item_of_class[c])] = {a.first[c], a.last[c]};
    for (size_t c = 0; c < program_.calls.size(); ++c)
      if (a.item_of_call[c] >= 0)
        live[static_cast<size_t>(a.item_of_call[c])] = {static_cast<int>(c), static_cast<int>(c)};
    int64_t pairs = count_pairs(live);
    if (pairs > kMaxPairs) {
      a.too_many_pairs = pairs;
      return;
    }
    std::map<std::pair<int, int>, Separation> relaxed;
    std::vector<int64_t> shared(program_.calls.size(), 0);
    if (overlap) relax(a, relaxed, shared);
    separate_live(a, live, relaxed);
    for (size_t c = 0; c < a.live_bytes.size(); ++c)
      a.problem.lower_bound = std::max(a.problem.lower_bound, a.live_bytes[c] - shared[c]);
  }

  // Lists the pairs that are alive together, in order of the items, and the bytes alive per call.
  static void separate_live(Attempt& a, const std::vector<Live>& live,
                            const std::map<std::pair<int, int>, Separation>& relaxed) {
    std::vector<size_t> by_begin(live.size());
    std::iota(by_begin.begin(), by_begin.end(), size_t{0});
    std::stable_sort(by_begin.begin(), by_begin.end(),
                     [&](size_t x, size_t y) { return live[x].begin < live[y].begin; });
    std::vector<std::pair<int32_t, int32_t>> pairs;
    std::vector<int64_t> change(a.item_of_call.size() + 1, 0);
    for (size_t at = 0; at < by_begin.size(); ++at) {
      size_t i = by_begin[at];
      change[static_cast<size_t>(live[i].begin)] += a.problem.items[i].size;
      change[static_cast<size_t>(live[i].end) + 1] -= a.problem.items[i].size;
      for (size_t next = at + 1; next < by_begin.size(); ++next) {
        size_t j = by_begin[next];
        if (live[j].begin > live[i].end) break;
        pairs.emplace_back(static_cast<int32_t>(std::min(i, j)),
                           static_cast<int32_t>(std::max(i, j)));
      }
    }
    std::sort(pairs.begin(), pairs.end());
    for (auto [i, j] : pairs) {
      auto known = relaxed.find({i, j});
      if (known != relaxed.end()) {
        a.problem.separations.push_back(known->second);
      } else {
        a.problem.separate(i, j);
      }
    }
    a.live_bytes.assign(a.item_of_call.size(), 0);
    std::partial_sum(change.begin(), change.end() - 1, a.live_bytes.begin());
  }

  // Separations of pairs that may share bytes, by item numbers in increasing order; and per call
  // how many bytes sharing can save at the most.
  void relax(Attempt& a, std::map<std::pair<int, int>, Separation>& relaxed,
             std::vector<int64_t>& shared) {
    for (size_t c = 0; c < program_.calls.size(); ++c)
      for (const ops::WriteOrder& order : pending_[c].write_orders) {
        Pair p = dying_pair(a, c, order);
        if (p.operand < 0) continue;
        int i = a.item_of_class[static_cast<size_t>(p.operand)];
        int j = a.item_of_class[static_cast<size_t>(p.result)];
        int64_t in = a.class_bytes[static_cast<size_t>(p.operand)];
        int64_t out = a.class_bytes[static_cast<size_t>(p.result)];
        OverlapLimits limits = overlap_limits(order, in, out);
        Separation s{i, j, std::min(in, limits.backward), std::min(out, -limits.forward)};
        if (s.d_ij >= in && s.d_ji >= out) continue;
        if (i > j) s = {j, i, s.d_ji, s.d_ij};
        relaxed[{s.i, s.j}] = s;
        shared[c] += std::min(in, out);
      }
  }

  Status accept(Attempt a) {
    Location where;
    where.file = graph().source_file;
    if (a.too_many_pairs > 0) {
      diags_
          .error(where, "plan-limit",
                 fmt::format("{} pairs of tensors are alive at the same time, at most {} are "
                             "planned",
                             a.too_many_pairs, kMaxPairs))
          .help("use intermediate results sooner after they are computed, or split the model");
      return kFailure;
    }
    const Solution& solution = a.solution;
    std::string wrong = solution.ok() ? check(a.problem, solution) : solution.error;
    if (!wrong.empty()) {
      diags_.error(where, "plan-invalid", "memory planning failed: " + wrong);
      return kFailure;
    }
    if (solution.height > INT32_MAX) {
      diags_.error(where, "arena-too-large",
                   fmt::format("the model needs an arena of {} bytes, more than 2 GiB",
                               solution.height));
      return kFailure;
    }
    program_.arena_bytes = solution.height;
    program_.arena_lower_bound = solution.lower_bound;
    program_.arena_proven_optimal = solution.proven_optimal;
    program_.arena_method = std::string(method_name(solution.method));
    program_.live_bytes = std::move(a.live_bytes);
    aliases_ = std::move(a.aliases);
    for (size_t c = 0; c < a.first.size(); ++c)
      if (a.item_of_class[c] >= 0)
        external_[c] = {StorageKind::kArena, static_cast<int>(c),
                        solution.offsets[static_cast<size_t>(a.item_of_class[c])]};
    for (size_t c = 0; c < program_.calls.size(); ++c)
      if (a.item_of_call[c] >= 0)
        program_.calls[c].scratch_offset =
            solution.offsets[static_cast<size_t>(a.item_of_call[c])];
    return success();
  }

  void bind_arguments() {
    for (size_t i = 0; i < graph().tensors.size(); ++i)
      program_.tensors[i] = external_[static_cast<size_t>(aliases_.find(static_cast<int>(i)))];
    for (size_t c = 0; c < program_.calls.size(); ++c) {
      ProgramCall& call = program_.calls[c];
      const PendingCall& pending = pending_[c];
      const auto& params = program_.functions[static_cast<size_t>(call.function)].body->params;
      if (pending.copy_from) {
        call.arguments = {
            {storage_of_operand(*pending.copy_from, call), params[0]->dtype, params[0]->elements},
            {{StorageKind::kOutput, pending.copy_to_output, 0}, params[1]->dtype, params[1]->elements}};
        continue;
      }
      for (size_t a = 0; a < pending.args.size(); ++a)
        call.arguments.push_back({storage_of(call, pending, pending.args[a]), params[a]->dtype,
                                  elements_of(call, pending, pending.args[a])});
    }
  }

  Storage storage_of(ProgramCall& call, const PendingCall& pending, const ops::Arg& arg) {
    const graph::Op& op = graph().ops[static_cast<size_t>(call.op_index)];
    auto index = static_cast<size_t>(arg.index);
    switch (arg.kind) {
      case ops::ArgKind::kOperand: return storage_of_operand(op.operands[index], call);
      case ops::ArgKind::kResult: return program_.tensors[at(op.results[index])];
      case ops::ArgKind::kConstant: return {StorageKind::kConstant, pending.constants[index], 0};
      case ops::ArgKind::kScratch: return {StorageKind::kArena, -1, call.scratch_offset};
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

  // Constants that a call reads as they are (views or outputs of constants) become tables here.
  Storage storage_of_operand(TensorId id, const ProgramCall& call) {
    Storage s = program_.tensors[at(id)];
    if (s.kind != StorageKind::kConstant) return s;
    const graph::Tensor& t = graph().tensors[static_cast<size_t>(constant_root(id))];
    ops::Constant c{"data", t.type.dtype, {t.constant->bytes.begin(), t.constant->bytes.end()}, 4};
    return {StorageKind::kConstant, intern_constant(call.op_index, std::move(c)), 0};
  }

  int constant_root(TensorId id) {
    int c = class_of(id);
    for (size_t i = 0; i < graph().tensors.size(); ++i)
      if (graph().tensors[i].constant && aliases_.find(static_cast<int>(i)) == c)
        return static_cast<int>(i);
    return id.value;
  }

  const PlanOptions& options_;
  Diagnostics& diags_;
  Program program_;
  Aliases aliases_;
  std::vector<Storage> external_;  // by class root
  std::vector<bool> view_copied_;
  std::vector<PendingCall> pending_;
  int64_t constant_bytes_ = 0;  // of all lowered operators, before equal tables are shared
  std::unordered_map<uint64_t, std::vector<int>> functions_by_hash_;
  std::unordered_map<uint64_t, std::vector<int>> constants_by_hash_;
};

}  // namespace

Result<Program> plan_program(graph::Graph graph, const PlanOptions& options, Diagnostics& diags) {
  return Planner(std::move(graph), options, diags).run();
}

Result<std::vector<std::vector<uint8_t>>> run_program(
    const Program& program, const std::vector<std::vector<uint8_t>>& inputs, Diagnostics& diags,
    const std::function<void(int, int, std::span<const uint8_t>)>& on_result) {
  std::vector<uint8_t> arena(static_cast<size_t>(program.arena_bytes), 0xA5);
  std::vector<std::vector<uint8_t>> in = inputs;
  std::vector<std::vector<uint8_t>> out;
  for (const graph::Port& port : program.graph.outputs)
    out.emplace_back(static_cast<size_t>(program.graph[port.tensor].type.bytes()), 0x5A);
  auto memory_of = [&](const Storage& s) -> uint8_t* {
    switch (s.kind) {
      case StorageKind::kArena: return arena.data() + s.offset;
      case StorageKind::kInput: return in[static_cast<size_t>(s.index)].data();
      case StorageKind::kOutput: return out[static_cast<size_t>(s.index)].data();
      case StorageKind::kConstant:
        return const_cast<uint8_t*>(
            program.constants[static_cast<size_t>(s.index)].data.bytes.data());
      case StorageKind::kNone: return nullptr;
    }
    return nullptr;
  };
  for (size_t c = 0; c < program.calls.size(); ++c) {
    const ProgramCall& call = program.calls[c];
    const tir::Function& f = *program.functions[static_cast<size_t>(call.function)].body;
    std::vector<tir::Memory> memory;
    std::vector<int64_t> elements;
    for (size_t a = 0; a < call.arguments.size(); ++a) {
      elements.push_back(call.arguments[a].elements);
      memory.push_back({memory_of(call.arguments[a].storage),
                        elements.back() * size_of(f.params[a]->dtype)});
    }
    // A merged function has the bounds of its largest call: this call's are checked exactly.
    bool merged = program.functions[static_cast<size_t>(call.function)].merged;
    tir::FunctionPtr exact = merged ? with_parameter_sizes(f, elements) : nullptr;
    if (!tir::interpret(exact ? *exact : f, memory, diags)) return kFailure;
    if (!on_result) continue;
    for (size_t r = 0; r < call.results.size(); ++r) {
      const Storage& s = program.tensors[static_cast<size_t>(call.results[r].value)];
      on_result(static_cast<int>(c), static_cast<int>(r),
                {memory_of(s), static_cast<size_t>(program.graph[call.results[r]].type.bytes())});
    }
  }
  return out;
}

}  // namespace aotc::plan
