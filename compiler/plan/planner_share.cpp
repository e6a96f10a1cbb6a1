// SPDX-License-Identifier: Apache-2.0
// The planner's third stage: equal functions and tables are one, nearly equal functions may be.
#include "plan/planner.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "plan/merge.h"
#include "support/text.h"

namespace aotc::plan {

using graph::Graph;
using graph::TensorId;

int Planner::intern_function(const tir::FunctionPtr& function, int device,
                             std::optional<ops::ExternalFunction> external) {
  uint64_t hash = tir::structural_hash(*function);
  int call = static_cast<int>(program_.calls.size());
  for (int index : functions_by_hash_[hash]) {
    ProgramFunction& known = program_.functions[static_cast<size_t>(index)];
    if (known.device == device && known.external == external && tir::structurally_equal(*known.body, *function)) {
      known.calls.push_back(call);
      return index;
    }
  }
  int index = static_cast<int>(program_.functions.size());
  program_.functions.push_back({function, {call}, false, device, std::move(external)});
  functions_by_hash_[hash].push_back(index);
  return index;
}

bool Planner::pays(size_t skeleton, size_t functions, size_t numbers) {
  constexpr size_t kTextOfNumber = 200;
  return (functions - 1) * skeleton > numbers * kTextOfNumber;
}

void Planner::merge_similar() {
  if (options_.merge_at_least == 0) return;
  std::map<std::pair<int, std::string>, std::vector<int>> groups;  // by device and text without numbers
  for (size_t i = 0; i < program_.functions.size(); ++i) {
    const ProgramFunction& f = program_.functions[i];
    if (f.external) continue;
    groups[{f.device, skeleton_of(*f.body).text}].push_back(static_cast<int>(i));
  }
  std::vector<bool> gone(program_.functions.size(), false);
  for (const auto& [key, group] : groups) {
    if (static_cast<int>(group.size()) < options_.merge_at_least) continue;
    std::vector<tir::FunctionPtr> bodies;
    for (int i : group) bodies.push_back(program_.functions[static_cast<size_t>(i)].body);
    Merged merged = merge_functions(bodies);
    if (!pays(key.second.size(), group.size(), merged.shapes[0].size())) continue;
    ProgramFunction& kept = program_.functions[static_cast<size_t>(group[0])];
    std::vector<int> calls;
    for (size_t g = 0; g < group.size(); ++g) {
      for (int c : program_.functions[static_cast<size_t>(group[g])].calls) {
        if (!merged.shapes[g].empty()) add_shape(c, merged.shapes[g]);
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

void Planner::add_shape(int call, const std::vector<int32_t>& shape) {
  PendingCall& pending = pending_[static_cast<size_t>(call)];
  ops::Constant c{"shape", DType::kI32, {}, 4};
  c.bytes.resize(shape.size() * sizeof(int32_t));
  std::memcpy(c.bytes.data(), shape.data(), c.bytes.size());
  pending.args.push_back({ops::ArgKind::kConstant, static_cast<int>(pending.constants.size())});
  pending.constants.push_back(intern_constant(program_.calls[static_cast<size_t>(call)].op_index, std::move(c)));
}

void Planner::drop_functions(const std::vector<bool>& gone) {
  std::vector<int> renumbered(gone.size(), -1);
  std::vector<ProgramFunction> kept;
  for (size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) continue;
    renumbered[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(program_.functions[i]));
  }
  program_.functions = std::move(kept);
  for (ProgramCall& call : program_.calls) call.function = renumbered[static_cast<size_t>(call.function)];
}

int Planner::intern_constant(int op_index, ops::Constant constant) {
  std::string_view view(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
  uint64_t hash = stable_hash(view) ^ static_cast<uint64_t>(constant.dtype);
  // Small tables of a file of weights are equal by chance, and other weights would need other code; large ones are of
  // one tensor that is read twice.
  constexpr size_t kByChance = 64;
  const bool alone = options_.constants_apart && (constant.bytes.size() < kByChance || graph().open_constants);
  for (int index : constants_by_hash_[hash]) {
    if (alone) break;
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

}  // namespace aotc::plan
