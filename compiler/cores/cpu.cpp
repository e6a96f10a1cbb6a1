// SPDX-License-Identifier: Apache-2.0
#include "cores/cpu.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cores/family.h"
#include "support/diagnostics.h"
#include "support/text.h"

namespace aotc::cores {

namespace {

// Cores that get portable C, and their instruction sets.
constexpr std::pair<std::string_view, std::string_view> kWithoutFamily[] = {
    {"native", "native"}, {"generic", "generic"}, {"xtensa-lx6", "xtensa"}, {"xtensa-lx7", "xtensa"}};

const std::vector<std::string_view>& features_of_any_core() {
  static const std::vector<std::string_view> all = {"mul", "unaligned", "hwdiv", "fpu", "fpu64"};
  return all;
}

bool has_word(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> all_cpus() {
  std::vector<std::string> out;
  for (const Family& family : families())
    for (const Core& core : family.cores) out.emplace_back(core.cpu);
  for (const auto& [cpu, isa] : kWithoutFamily) out.emplace_back(cpu);
  return out;
}

// nullptr: `isa` is of no family.
const Isa* find_isa(std::string_view isa) {
  for (const Family& family : families())
    for (const Isa& i : family.isas)
      if (i.name == isa) return &i;
  return nullptr;
}

// Instruction sets that `cpu`, which is known, may have.
std::vector<std::string> isas_of(std::string_view cpu) {
  for (const Family& family : families())
    for (const Core& core : family.cores) {
      if (core.cpu != cpu) continue;
      if (!core.isa.empty()) return {std::string(core.isa)};
      std::vector<std::string> out;
      for (const Isa& isa : family.isas) out.emplace_back(isa.name);
      return out;
    }
  for (const auto& [name, isa] : kWithoutFamily)
    if (name == cpu) return {std::string(isa)};
  return {};
}

CoreProblem unknown_cpu(std::string_view cpu) {
  CoreProblem out{CoreProblem::kCpu,
                  std::string(cpu),
                  fmt::format("CPU '{}' is not known", escape_for_display(std::string(cpu))),
                  {}};
  if (const std::string nearest = nearest_cpu(cpu); !nearest.empty())
    out.help = fmt::format("use '{}', the nearest known CPU: its code also runs on your CPU", nearest);
  else if (auto near = closest(cpu, all_cpus(), 1); !near.empty())
    out.help = fmt::format("did you mean '{}'?", near[0]);
  else
    out.help =
        "'generic', with the instruction set 'generic', gets portable C; known CPUs are: " + joined(all_cpus(), ", ");
  return out;
}

// `isa` is one that its CPU may have.
CoreProblem wrong_feature(const std::string& feature, std::string_view isa) {
  CoreProblem out{CoreProblem::kFeature, feature, {}, {}};
  std::vector<std::string> owners, known;
  for (std::string_view word : features_of_any_core()) known.emplace_back(word);
  for (const Family& family : families())
    for (const Isa& i : family.isas) {
      known.insert(known.end(), i.features.begin(), i.features.end());
      if (has_word(i.features, feature)) owners.emplace_back(i.name);
    }
  if (owners.empty()) {
    out.message = fmt::format("feature '{}' is not known", escape_for_display(feature));
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    const auto near = closest(feature, known, 1);
    out.help = near.empty() ? "known features are: " + joined(known, ", ") : fmt::format("did you mean '{}'?", near[0]);
    return out;
  }
  out.message = fmt::format("feature '{}' belongs to other instruction sets than {}", feature, isa);
  out.help = fmt::format("leave the feature out: only {} have it", joined(owners, ", "));
  return out;
}

}  // namespace

std::vector<CpuWithoutBoard> cpus_without_boards() {
  std::vector<CpuWithoutBoard> out;
  for (const Family& family : families())
    for (const Core& core : family.cores) {
      const auto& [like, features, flags] = core.like;
      if (like.empty()) continue;
      out.push_back({std::string(core.cpu),
                     std::string(core.isa),
                     std::string(like),
                     {features.begin(), features.end()},
                     {flags.begin(), flags.end()}});
    }
  return out;
}

std::string older_cpu(std::string_view cpu) {
  const Core* core = find_core(cpu);
  // With other features, it runs other code.
  return core != nullptr && core->like.features.empty() ? std::string(core->like.core) : "";
}

std::string nearest_cpu(std::string_view cpu) {
  std::string name(cpu);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // As people call a core with its floating point.
  if (name.starts_with("cortex-m") && name.ends_with('f')) name.pop_back();
  if (find_core(name) != nullptr) return name;
  for (const Family& family : families()) {
    const std::string_view nearest = family.nearest != nullptr ? family.nearest(name) : std::string_view();
    if (!nearest.empty()) return std::string(nearest);
  }
  return "";
}

std::optional<CoreProblem> core_problem(std::string_view cpu, std::string_view isa,
                                        const std::vector<std::string>& features) {
  if (!knows_cpu(cpu)) return unknown_cpu(cpu);
  const std::vector<std::string> isas = isas_of(cpu);
  if (std::find(isas.begin(), isas.end(), isa) == isas.end())
    return CoreProblem{CoreProblem::kIsa, std::string(isa),
                       fmt::format("'{}' is not an instruction set of {}", escape_for_display(std::string(isa)), cpu),
                       "use " + joined(isas, " or ")};
  const Isa* known = find_isa(isa);
  for (const std::string& feature : features)
    if (!has_word(known != nullptr ? known->features : features_of_any_core(), feature))
      return wrong_feature(feature, isa);
  return std::nullopt;
}

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
  return find_core(cpu) != nullptr || std::any_of(std::begin(kWithoutFamily), std::end(kWithoutFamily),
                                                  [&](const auto& known) { return known.first == cpu; });
}

ops::TargetInfo for_goal(ops::TargetInfo target, const ops::Goal& goal) {
  static_cast<ops::Goal&>(target) = goal;
  if (goal.level == ops::Level::kSize) target.gemm_unroll = 1;
  return target;
}

void extend(ops::TargetInfo& t, std::string_view name, const std::function<bool(std::string_view)>& has) {
  std::vector<ops::TargetLowering> all;
  for (const Family& family : families()) {
    if (family.name != name) continue;
    for (const Extension& extension : family.extensions) {
      if (!has(extension.feature)) continue;
      if (t.kernel_form == KernelForm::kIntrinsics && !extension.intrinsics) continue;
      if (extension.describe != nullptr) extension.describe(t);
      all.insert(all.end(), extension.lowerings.begin(), extension.lowerings.end());
    }
  }
  if (all.empty()) return;
  if (t.lowerings) all.insert(all.end(), t.lowerings->begin(), t.lowerings->end());
  std::stable_sort(all.begin(), all.end(),
                   [](const ops::TargetLowering& a, const ops::TargetLowering& b) { return a.priority > b.priority; });
  t.lowerings = std::make_shared<const std::vector<ops::TargetLowering>>(std::move(all));
}

ops::TargetInfo target_info(const CpuQuery& query) {
  ops::TargetInfo t;
  t.name = query.cpu;
  t.kernel_form = query.kernels;
  t.fpu = query.has("fpu");
  t.unaligned_words = query.has("unaligned") && query.isa != "native";
  t.harvard = query.has("harvard");
  for (const Family& family : families())
    if (t.family.empty() && family.describe != nullptr && family.describe(query, t)) t.family = family.name;
  if (t.family.empty() && query.isa != "native") describe_usual(t);
  if (query.kernels != KernelForm::kC) extend(t, t.family, query.has);
  return t;
}

}  // namespace aotc::cores
