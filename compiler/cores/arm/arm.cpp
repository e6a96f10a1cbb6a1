// SPDX-License-Identifier: Apache-2.0
// Cores of the Cortex-M series.
#include <utility>

#include "cores/arm/dsp/lowerings.h"
#include "cores/arm/helium/floats.h"
#include "cores/arm/helium/lowerings.h"
#include "cores/arm/quads.h"
#include "cores/arm/timings.h"
#include "cores/arm/triples.h"
#include "cores/family.h"

namespace aotc::cores {

namespace {

// Most loads follow another, and high words of products are mostly one of two products.
void in_programs_of_m3(OperationCosts& cycles) {
  cycles.memory = 1.3;
  cycles.multiply = 1.9;
  cycles.high = 2.5;
}

std::vector<Core> cortex_cores() {
  const LikeCore m33_without_dsp = {
      .core = "cortex-m33",
      .features = {"mul", "unaligned", "hwdiv"},
      .flags = {"-mcpu=cortex-m33+nodsp", "-mfloat-abi=soft", "-mthumb", "--specs=nano.specs"}};
  return {
      {"cortex-m0", "armv6-m", &arm::kCortexM0},
      {"cortex-m0plus", "armv6-m", &arm::kCortexM0Plus},
      {"cortex-m3", "armv7-m", &arm::kCortexM3, in_programs_of_m3},
      {"cortex-m4", "armv7e-m", &arm::kCortexM4},
      {"cortex-m7", "armv7e-m", &arm::kCortexM7},
      {"cortex-m33", "armv8-m.main", &arm::kCortexM33},
      {"cortex-m33+nodsp", "armv8-m.main", &arm::kCortexM33, nullptr, m33_without_dsp},
      {"cortex-m52", "armv8.1-m.main", &arm::kCortexM52, nullptr, {.core = "cortex-m55"}},
      {"cortex-m55", "armv8.1-m.main", &arm::kCortexM55},
      {"cortex-m85", "armv8.1-m.main", &arm::kCortexM85, nullptr, {.core = "cortex-m55"}},
  };
}

std::vector<Isa> arm_isas() {
  const std::vector<std::string_view> plain = {"mul", "unaligned", "hwdiv"};
  std::vector<std::string_view> dsp = plain, mve;
  dsp.insert(dsp.end(), {"dsp", "fpu", "fpu64"});
  mve = dsp;
  mve.insert(mve.end(), {"mve", "mve_float"});
  return {{"armv6-m", {"mul"}}, {"armv7-m", plain}, {"armv7e-m", dsp}, {"armv8-m.main", dsp}, {"armv8.1-m.main", mve}};
}

// Cores without timings here, beside the core whose instructions they have.
std::string_view nearest_arm(std::string_view cpu) {
  constexpr std::pair<std::string_view, std::string_view> kNearest[] = {
      {"cortex-m0+", "cortex-m0plus"}, {"cortex-m1", "cortex-m0"}, {"sc000", "cortex-m0"},
      {"cortex-m23", "cortex-m0plus"}, {"sc300", "cortex-m3"},     {"cortex-m35p", "cortex-m33"},
      {"star-mc1", "cortex-m33"}};
  for (const auto& [other, ours] : kNearest)
    if (cpu == other) return ours;
  return {};
}

constexpr int kThumb1Registers = 8;

bool describe_arm(const CpuQuery& query, ops::TargetInfo& t) {
  if (!query.isa.starts_with("arm")) return false;
  if (query.isa != "armv6-m") {
    describe_usual(t);
    t.vector_floats = query.has("mve_float");
    const bool lacks_dsp = query.isa == "armv7-m" || (query.isa == "armv8-m.main" && !query.has("dsp"));
    if (lacks_dsp && query.kernels == KernelForm::kAssembly) {
      t.triple_kernel = {.family = "triples_thumb2",
                         .channels = 4,
                         .most_unroll = 16,
                         .many = true,
                         .pack = "triple_pack_thumb2",
                         .most_packed = 16};
      t.quad_kernel = "quads_thumb2";
    }
    return true;
  }
  t.registers = kThumb1Registers;
  t.gemm_pixels = 2;
  t.gemm_channels = 2;
  t.multiply_add = 2;
  t.triple_channels = 1;
  t.quad_units = true;
  if (query.kernels == KernelForm::kAssembly)
    t.triple_kernel = {.family = "triples_thumb1", .channels = 1, .most_unroll = 16, .flipped = true, .pack = {}};
  t.costs.high = 20;  // four multiplies and their sums: there is no long one
  return true;
}

// Thumb-1: two operands an instruction, and few registers.
void thumb1_operations(const ops::TargetInfo& target, OperationCosts& c) {
  if (target.registers != kThumb1Registers) return;
  c = {.high = 34, .divide = 40, .divide_any = 60, .choose = 4, .saturate = 6, .call = 40, .fused = false};
  c.scale(1.35);  // what the counts of tests/bench/record.json are to these
}

}  // namespace

void add_family_arm(std::vector<Family>& to) {
  Family family;
  family.name = "arm";
  family.isas = arm_isas();
  family.cores = cortex_cores();
  family.nearest = nearest_arm;
  family.describe = describe_arm;
  family.operations = thumb1_operations;
  family.extensions = {arm::dsp_extension(), arm::helium_extension(), arm::helium_float_extension()};
  family.kernels = {{"triples_thumb1", arm::triples_thumb1},
                    {"triples_thumb2", arm::triples_thumb2},
                    {"triple_pack_thumb2", arm::triple_pack_thumb2},
                    {"quads_thumb2", arm::quads_thumb2}};
  to.push_back(std::move(family));
}

}  // namespace aotc::cores
