// SPDX-License-Identifier: Apache-2.0
#include "plan/bands.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "cores/instruction_counter.h"
#include "plan/instructions.h"
#include "tir/visit.h"

namespace aotc::plan {

using cores::InstructionCounter;
using cores::OperationCosts;

namespace {

using namespace tir;

constexpr size_t kMostLevels = 2;

// ---------------------------------------------------------------- what may be divided

// Reads only tables: the same whenever it is evaluated.
bool is_fixed(const Expr& e) {
  if (e.kind == ExprKind::kCall || e.kind == ExprKind::kAddress) return false;
  if (e.kind == ExprKind::kLoad && static_cast<const Load&>(e).buffer->role != Role::kConstant) return false;
  return all_children(e, is_fixed);
}

// The statements around a loop of theirs, in the order in which they stand.
struct Around {
  std::vector<StmtPtr> before, after;
  const For* loop = nullptr;
};

// What is declared in front of a loop is declared again for every part, so it has to be what it
// was.
bool may_be_repeated(const std::vector<StmtPtr>& before) {
  return std::all_of(before.begin(), before.end(), [](const StmtPtr& s) {
    if (s->kind == StmtKind::kAlloc || s->kind == StmtKind::kAssign) return false;
    if (s->kind != StmtKind::kDeclare) return true;
    const auto& d = static_cast<const Declare&>(*s);
    return !d.is_mutable && is_fixed(*d.init);
  });
}

const Block* block_of(const StmtPtr& s) {
  return s->kind == StmtKind::kBlock ? static_cast<const Block*>(s.get()) : nullptr;
}

Around split_at(const Block& block, size_t at) {
  Around out;
  out.before.assign(block.body.begin(), block.body.begin() + static_cast<std::ptrdiff_t>(at));
  out.after.assign(block.body.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.body.end());
  out.loop = static_cast<const For*>(block.body[at].get());
  return out;
}

// The loops that may be divided, outermost first. Always the last loop that is worth it: with the
// same choice for every call of a function, calls differ in bounds alone.
std::optional<size_t> loop_in(const Block& block, InstructionCounter counter) {
  std::optional<size_t> found;
  double most = -1;
  for (size_t i = 0; i < block.body.size(); ++i) {
    const double cost = counter.run(*block.body[i]);
    if (block.body[i]->kind != StmtKind::kFor || cost <= most) continue;
    found = i;
    most = cost;
  }
  if (!found || !may_be_repeated(split_at(block, *found).before)) return std::nullopt;
  return found;
}

std::vector<Around> nest_of(const Function& function, InstructionCounter counter) {
  std::vector<Around> out;
  const Block* block = block_of(function.body);
  while (block != nullptr && out.size() < kMostLevels) {
    const auto at = loop_in(*block, counter);
    if (!at) break;
    out.push_back(split_at(*block, *at));
    for (const StmtPtr& s : out.back().before) counter.run(*s);
    if (const auto begin = counter.value(*out.back().loop->begin)) counter.set(out.back().loop->var.get(), *begin);
    block = block_of(out.back().loop->body);
  }
  return out;
}

// ---------------------------------------------------------------- the function with bounds as
// parameters

ExprPtr ref(const VarPtr& v) { return std::make_shared<VarRef>(v); }

ExprPtr compare(BinaryOp op, const VarPtr& v, const ExprPtr& with) {
  return std::make_shared<Binary>(op, DType::kI32, ref(v), with, false);
}

StmtPtr only_if(const ExprPtr& test, std::vector<StmtPtr> body) {
  return std::make_shared<If>(test, std::make_shared<Block>(std::move(body)), nullptr);
}

bool is_work(const StmtPtr& s) { return s->kind != StmtKind::kDeclare && s->kind != StmtKind::kComment; }

VarPtr scalar(const std::string& name, std::vector<VarPtr>& scalars) {
  scalars.push_back(std::make_shared<const Variable>(Variable{name, DType::kI32}));
  return scalars.back();
}

// What stands in front of the loop is done with its first part, what stands behind it with the
// last. Around an outer loop these are the first and last part of all, which the caller says.
StmtPtr divided(const std::vector<Around>& nest, size_t level, std::vector<VarPtr>& scalars) {
  const Around& around = nest[level];
  const std::string digit = std::to_string(level);
  const VarPtr from = scalar("from" + digit, scalars), to = scalar("to" + digit, scalars);
  ExprPtr is_first = compare(BinaryOp::kEq, from, around.loop->begin);
  ExprPtr is_last = compare(BinaryOp::kGe, to, around.loop->end);
  StmtPtr body = around.loop->body;
  if (level + 1 < nest.size()) {
    body = divided(nest, level + 1, scalars);
    const ExprPtr zero = std::make_shared<IntImm>(DType::kI32, 0);
    is_first = compare(BinaryOp::kNe, scalar("first", scalars), zero);
    is_last = compare(BinaryOp::kNe, scalar("last", scalars), zero);
  }
  std::vector<StmtPtr> out, work;
  for (const StmtPtr& s : around.before) {
    if (is_work(s)) {
      work.push_back(s);
      continue;
    }
    if (!work.empty() && s->kind == StmtKind::kDeclare) out.push_back(only_if(is_first, std::exchange(work, {})));
    out.push_back(s);
  }
  if (!work.empty()) out.push_back(only_if(is_first, std::move(work)));
  out.push_back(std::make_shared<For>(around.loop->var, ref(from), ref(to), around.loop->step, body));
  if (!around.after.empty()) out.push_back(only_if(is_last, around.after));
  return std::make_shared<Block>(std::move(out));
}

// Scalars in the order from0, to0, from1, to1, first, last: those of two levels only with two.
FunctionPtr with_bounds(const Function& function, const std::vector<Around>& nest) {
  static_assert(kMostLevels == 2);
  auto out = std::make_shared<Function>(function);
  out->scalars.clear();
  out->body = divided(nest, 0, out->scalars);
  return out;
}

// ---------------------------------------------------------------- how many turns a part has

class BandPlanner {
 public:
  BandPlanner(const Program& program, const ops::TargetInfo& target)
      : program_(program), costs_(cores::operation_costs(target)), kernels_(cores::kernels_of(target)) {}

  std::vector<Around> nest(const ProgramCall& call) const {
    const Function& function = *function_of(call).body;
    return nest_of(function, counter_of(call));
  }

  // The call in parts of at most `limit` instructions, or as short as can be, by the first `depth`
  // loops.
  CallBands plan(const ProgramCall& call, const std::vector<Around>& nest, size_t depth, int64_t limit) const {
    const Function& function = *function_of(call).body;
    CallBands out;
    double fixed = costs_.call + static_cast<double>(kStepInstructions);  // of every part
    InstructionCounter costs = counter_of(call);
    if (depth == 0) {
      out.instructions = static_cast<int64_t>(std::ceil(fixed + costs.run(*function.body)));
      return out;
    }
    InstructionCounter bounds = costs;
    for (size_t level = 0; level < depth; ++level) {
      for (const StmtPtr& s : nest[level].before) bounds.run(*s);
      out.levels.push_back(level_of(*nest[level].loop, bounds));
      bounds.set(nest[level].loop->var.get(), std::nullopt);
    }
    bool enough = false;
    for (size_t level = 0; level < depth; ++level) {
      BandLevel& band = out.levels[level];
      band.turns = std::max<int64_t>(1, band.trips());
      if (enough) continue;
      Longest longest;
      measure(costs, nest, level, 0, longest);
      const double aside = fixed + longest.aside + kLevelInstructions * static_cast<double>(level + 1);
      const double fits = std::floor((static_cast<double>(limit) - aside) / longest.turn);
      band.turns = std::max<int64_t>(1, static_cast<int64_t>(std::min(fits, static_cast<double>(band.trips()))));
      out.instructions = static_cast<int64_t>(std::ceil(aside + longest.turn * static_cast<double>(band.turns)));
      enough = out.instructions <= limit;
    }
    return out;
  }

  // Loops of the nest whose bounds are the same in every turn of those around.
  size_t known_levels(const ProgramCall& call, const std::vector<Around>& nest) const {
    InstructionCounter bounds = counter_of(call);
    for (size_t level = 0; level < nest.size(); ++level) {
      for (const StmtPtr& s : nest[level].before) bounds.run(*s);
      if (!bounds.value(*nest[level].loop->begin) || !bounds.value(*nest[level].loop->end)) return level;
      bounds.set(nest[level].loop->var.get(), std::nullopt);
    }
    return nest.size();
  }

 private:
  static constexpr double kLevelInstructions = 16;

  // What stands around the loops down to a level, and a turn of the innermost of them: the longest
  // there are.
  struct Longest {
    double aside = 0, turn = 1;
  };

  void measure(InstructionCounter& counter, const std::vector<Around>& nest, size_t level, size_t at, Longest& out,
               double around = 0) const {
    for (const StmtPtr& s : nest[at].before) around += counter.run(*s);
    const For& loop = *nest[at].loop;
    const BandLevel turns = level_of(loop, counter);
    InstructionCounter behind = counter;
    for (const StmtPtr& s : nest[at].after) around += behind.run(*s);
    out.aside = std::max(out.aside, around);
    for (int64_t i = turns.begin; i < turns.end; i += turns.step) {
      if (at == level) {
        out.turn = std::max(out.turn, counter.turn(loop, static_cast<double>(i)) + 1);
        if (counter.is_uniform(loop)) return;
      } else {
        counter.set(loop.var.get(), static_cast<double>(i));
        measure(counter, nest, level, at + 1, out, around + costs_.turn);
      }
    }
  }

  const ProgramFunction& function_of(const ProgramCall& call) const {
    return program_.functions[static_cast<size_t>(call.function)];
  }

  static BandLevel level_of(const For& loop, InstructionCounter& bounds) {
    return {static_cast<int64_t>(*bounds.value(*loop.begin)), static_cast<int64_t>(*bounds.value(*loop.end)), loop.step,
            1};
  }

  InstructionCounter counter_of(const ProgramCall& call) const {
    InstructionCounter counter(costs_, kernels_);
    const Function& function = *function_of(call).body;
    for (size_t a = 0; a < call.arguments.size() && a < function.params.size(); ++a)
      if (call.arguments[a].storage.kind == StorageKind::kConstant)
        counter.bind(function.params[a].get(),
                     &program_.constants[static_cast<size_t>(call.arguments[a].storage.index)].data);
    return counter;
  }

  const Program& program_;
  OperationCosts costs_;
  KernelForm kernels_;
};

const Location& place_of(const Program& program, const ProgramCall& call) {
  static const Location kNowhere;
  return call.op_index < 0 ? kNowhere : program.graph.ops[static_cast<size_t>(call.op_index)].location;
}

// A device's hook starts such a function, whose packed arguments have no place for bounds.
bool is_launched(const Program& program, const ProgramFunction& function) {
  return std::any_of(function.calls.begin(), function.calls.end(), [&](int c) {
    return program.device_of(program.calls[static_cast<size_t>(c)].device).launch != passes::Launch::kNone;
  });
}

// All calls of one function, by as few loops as they need.
std::vector<CallBands> plan_function(const Program& program, const BandPlanner& planner,
                                     const ProgramFunction& function, int64_t limit, std::vector<Around>& nest) {
  nest = planner.nest(program.calls[static_cast<size_t>(function.calls[0])]);
  size_t depth = nest.size();
  for (int c : function.calls)
    depth = std::min(depth, planner.known_levels(program.calls[static_cast<size_t>(c)], nest));
  if (is_launched(program, function)) depth = 0;
  nest.resize(depth);
  std::vector<CallBands> out;
  for (size_t used = 0; used <= depth; ++used) {
    out.clear();
    bool good = true;
    for (int c : function.calls) {
      out.push_back(planner.plan(program.calls[static_cast<size_t>(c)], nest, used, limit));
      good = good && out.back().instructions <= limit;
    }
    if (!good && used < depth) continue;
    nest.resize(used);
    break;
  }
  return out;
}

}  // namespace

int64_t CallBands::parts() const {
  int64_t out = 1;
  for (const BandLevel& level : levels) out *= std::max<int64_t>(1, level.parts());
  return out;
}

Result<Bands> plan_bands(const Program& program, const ops::TargetInfo& target, int64_t limit, Diagnostics& diags) {
  const BandPlanner planner(program, target);
  Bands out;
  out.functions.resize(program.functions.size());
  out.calls.resize(program.calls.size());
  for (size_t f = 0; f < program.functions.size(); ++f) {
    const ProgramFunction& function = program.functions[f];
    if (function.external) {
      diags
          .error(place_of(program, program.calls[static_cast<size_t>(function.calls[0])]), "slice-unknown",
                 fmt::format("how many instructions '{}' takes is not known, so none can be promised",
                             function.external->symbol))
          .help("take --slice call, where every call is a slice of its own");
      return kFailure;
    }
    std::vector<Around> nest;
    std::vector<CallBands> calls = plan_function(program, planner, function, limit, nest);
    for (size_t c = 0; c < calls.size(); ++c) out.calls[static_cast<size_t>(function.calls[c])] = calls[c];
    if (!nest.empty()) out.functions[f] = with_bounds(*function.body, nest);
  }
  return out;
}

Status check_bands(const Program& program, const Bands& bands, int64_t limit, Diagnostics& diags) {
  const auto longest =
      std::max_element(bands.calls.begin(), bands.calls.end(),
                       [](const CallBands& a, const CallBands& b) { return a.instructions < b.instructions; });
  if (longest == bands.calls.end() || longest->instructions <= limit) return success();
  const auto call = longest - bands.calls.begin();
  diags
      .error(place_of(program, program.calls[static_cast<size_t>(call)]), "slice-too-short",
             fmt::format("no part of call {} is shorter than {} instructions, and --slice asks for {}", call,
                         longest->instructions, limit))
      .help(fmt::format("the shortest that this model can have is --slice {}", longest->instructions));
  return kFailure;
}

}  // namespace aotc::plan
