// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include <set>
#include <string_view>

#include "cores/cpu.h"

namespace aotc::tests {

ops::TargetInfo target_of(uint64_t variant) {
  struct Kind {
    const char* isa;
    std::set<std::string_view> features;
    ops::Level level;
  };
  static const Kind kKinds[] = {
      {"native", {"unaligned"}, ops::Level::kBalanced},
      {"armv6-m", {}, ops::Level::kBalanced},
      {"armv7-m", {"unaligned"}, ops::Level::kBalanced},
      {"rv32imac", {}, ops::Level::kSize},
      {"armv7e-m", {"unaligned", "dsp"}, ops::Level::kBalanced},
      {"armv7e-m", {"unaligned", "dsp"}, ops::Level::kSpeed},
      {"armv8.1-m.main", {"unaligned", "dsp", "mve"}, ops::Level::kBalanced},
      {"rv32imac_zve32x", {"zve32x"}, ops::Level::kBalanced},
  };
  const Kind& kind = kKinds[variant / 5 % std::size(kKinds)];
  auto has = [&](std::string_view feature) { return kind.features.contains(feature); };
  return cores::for_goal(cores::target_info({kind.isa, kind.isa, has}), {kind.level});
}

plan::PlanOptions plan_options_of(uint64_t variant) {
  plan::PlanOptions options;
  if (variant % 5 == 2 || variant % 5 == 4) options.inputs = plan::Contract::kOverwrite;
  if (variant % 5 == 3 || variant % 5 == 4) options.outputs = plan::Contract::kOverwrite;
  options.target = target_of(variant);
  options.merge_at_least = plan::merge_at_least(options.target.level);
  options.repeats = options.target.level != ops::Level::kSpeed;
  return options;
}

}  // namespace aotc::tests
