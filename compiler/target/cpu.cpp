// SPDX-License-Identifier: Apache-2.0
#include "target/cpu.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "target/family.h"

namespace aotc::target {

namespace {

// Cycles of a core of which nothing is known: between those of simple cores and of fast ones.
constexpr ops::Costs kUsualCycles = {1.5, 1.0, 1.0, 2.0, 2.0, 4.0, 7.0, 3.0, 1.0};

constexpr std::string_view kWithoutFamily[] = {"native", "generic", "xtensa-lx6", "xtensa-lx7"};

}  // namespace

const Core* find_core(std::string_view cpu) {
  for (const Family& family : families())
    for (const Core& core : family.cores)
      if (core.cpu == cpu) return &core;
  return nullptr;
}

void describe_usual(ops::TargetInfo& t) {
  t.registers = 13;
  t.gemm_pixels = 4;
  t.gemm_channels = 2;
  t.triple_channels = 4;
  t.quad_units = true;
}

ops::Costs cycle_costs(std::string_view cpu) {
  const Core* core = find_core(cpu);
  return core != nullptr ? core->cycles.value_or(kUsualCycles) : kUsualCycles;
}

const machine::Timing* timing_of(std::string_view cpu) {
  const Core* core = find_core(cpu);
  return core != nullptr ? core->timing : nullptr;
}

std::vector<std::string> timed_cpus() {
  std::vector<std::string> out;
  for (const Family& family : families())
    for (const Core& core : family.cores)
      if (core.timing != nullptr) out.emplace_back(core.cpu);
  return out;
}

bool knows_cpu(std::string_view cpu) {
  return find_core(cpu) != nullptr ||
         std::find(std::begin(kWithoutFamily), std::end(kWithoutFamily), cpu) != std::end(kWithoutFamily);
}

ops::TargetInfo for_level(ops::TargetInfo target, ops::Level level) {
  target.level = level;
  if (level == ops::Level::kSize) target.gemm_unroll = 1;
  return target;
}

void extend(ops::TargetInfo& t, const std::function<bool(std::string_view)>& has) {
  std::vector<ops::TargetLowering> all;
  for (const Family& family : families())
    for (const Extension& extension : family.extensions) {
      if (!has(extension.feature)) continue;
      if (extension.describe != nullptr) extension.describe(t);
      all.insert(all.end(), extension.lowerings.begin(), extension.lowerings.end());
    }
  if (all.empty()) return;
  std::stable_sort(all.begin(), all.end(), [](const ops::TargetLowering& a, const ops::TargetLowering& b) {
    return a.priority > b.priority;
  });
  t.lowerings = std::make_shared<const std::vector<ops::TargetLowering>>(std::move(all));
}

ops::TargetInfo target_info(const CpuQuery& query) {
  ops::TargetInfo t;
  t.name = query.cpu;
  t.fpu = query.has("fpu");
  t.unaligned_words = query.has("unaligned") && query.isa != "native";
  t.harvard = query.has("harvard");
  for (const Family& family : families())
    if (t.family.empty() && family.describe != nullptr && family.describe(query, t)) t.family = family.name;
  if (t.family.empty() && query.isa != "native") describe_usual(t);
  t.cycles = cycle_costs(query.cpu);
  if (query.assembly) extend(t, query.has);
  return t;
}

}  // namespace aotc::target
