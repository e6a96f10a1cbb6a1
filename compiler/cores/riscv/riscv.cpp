// SPDX-License-Identifier: Apache-2.0
// RV32 cores.
#include <memory>
#include <utility>
#include <vector>

#include "cores/family.h"
#include "cores/riscv/kernel_text.h"
#include "cores/riscv/vector/vector.h"
#include "cores/riscv/winograd.h"
#include "ops/common/conv.h"
#include "ops/common/winograd.h"

namespace aotc::cores {

namespace {

// Of no core in particular: three stages, a multiplier of one cycle, a divider of a bit each, and
// no prediction.
constexpr machine::Timing kThreeStages = {
    .source = "a pipeline of three stages, of no core in particular", .next_load = 2, .divide = 35, .refill = 2};

bool describe_riscv(const CpuQuery& query, ops::TargetInfo& t) {
  if (!query.isa.starts_with("rv32")) return false;
  t.registers = 27;
  t.gemm_pixels = 4;
  t.gemm_channels = 4;
  // gcc's scheduler moves the loads of several steps together and then runs out of registers.
  t.gemm_unroll = 1;
  t.multiply_add = 2;
  t.triple_channels = 4;
  t.fence_steps = true;
  t.quad_units = true;
  if (query.kernels == KernelForm::kAssembly) {
    t.triple_kernel = {.family = "triples_rv32",
                       .channels = 8,
                       .most_unroll = 8,
                       .many = true,
                       .pack = "triple_pack_rv32",
                       .most_packed = 16};
    t.quad_kernel = "quads_rv32";
    t.lowerings = std::make_shared<const std::vector<ops::TargetLowering>>(
        std::vector<ops::TargetLowering>{{"conv_2d", 10, ops::may_use_winograd, riscv::lower_conv_2d_winograd}});
  }
  return true;
}

LikeCore rv32imafc() {
  return {.core = "rv32imac",
          .features = {"mul", "hwdiv", "fpu"},
          .flags = {"-march=rv32imafc", "-mabi=ilp32f", "-misa-spec=2.2", "-mcmodel=medany", "--specs=picolibc.specs"}};
}

// Cores by name, and other sets of extensions; nothing for those without multiplication.
std::string_view nearest_riscv(std::string_view cpu) {
  constexpr std::pair<std::string_view, std::string_view> kNearest[] = {
      {"sifive-e20", "rv32imc"},   {"sifive-e21", "rv32imac"},  {"sifive-e24", "rv32imafc"}, {"sifive-e31", "rv32imac"},
      {"sifive-e34", "rv32imafc"}, {"sifive-e76", "rv32imafc"}, {"hazard3", "rv32imac"},     {"bumblebee", "rv32imac"},
      {"ibex", "rv32imc"},         {"cv32e40p", "rv32imc"},     {"cv32e40x", "rv32imc"},     {"vexriscv", "rv32imac"},
      {"esp32c2", "rv32imc"},      {"esp32c3", "rv32imc"},      {"esp32c6", "rv32imac"},     {"esp32h2", "rv32imac"},
      {"esp32p4", "rv32imafc"}};
  for (const auto& [other, ours] : kNearest)
    if (cpu == other) return ours;
  // The code of cores with vectors runs on those with more of their extensions; it needs multiplication and atomics.
  const bool has_base = cpu.starts_with("rv32ima") || cpu.starts_with("rv32g");
  if (has_base && (cpu.ends_with('v') || cpu.find("_zve") != cpu.npos)) return "rv32imac_zve32x";
  if (cpu.starts_with("rv32g") || cpu.starts_with("rv32imaf")) return "rv32imafc";
  if (cpu.starts_with("rv32ima")) return "rv32imac";
  return cpu.starts_with("rv32im") ? "rv32imc" : "";
}

void riscv_operations(const ops::TargetInfo&, OperationCosts& c) {
  c = {.high = 2, .choose = 3, .saturate = 4, .fused = false};
  c.scale(0.9);  // what the counts of tests/bench/record.json are to these
}

}  // namespace

void add_family_riscv(std::vector<Family>& to) {
  Family family;
  family.name = "riscv";
  const std::vector<std::string_view> plain = {"mul", "unaligned", "hwdiv"};
  std::vector<std::string_view> single = plain, twice;
  single.emplace_back("fpu");
  twice = single;
  twice.emplace_back("fpu64");
  std::vector<std::string_view> vectors = plain;
  vectors.emplace_back("zve32x");
  family.isas = {{"rv32im", plain},     {"rv32ima", plain},   {"rv32imc", plain},
                 {"rv32imac", plain},   {"rv32imfc", single}, {"rv32imafc", single},
                 {"rv32imafdc", twice}, {"rv32gc", twice},    {"rv32imac_zve32x", vectors}};
  family.cores = {{"rv32imac", "", &kThreeStages},
                  {"rv32imc", "", &kThreeStages},
                  {"rv32imafc", "rv32imafc", &kThreeStages, nullptr, rv32imafc()},
                  {"rv32imac_zve32x", "rv32imac_zve32x", &kThreeStages}};
  family.nearest = nearest_riscv;
  family.describe = describe_riscv;
  family.operations = riscv_operations;
  family.extensions = {riscv::vector_extension()};
  family.kernels = {{"triples_rv32", riscv::triples_rv32},
                    {"triple_pack_rv32", riscv::triple_pack_rv32},
                    {"quads_rv32", riscv::quads_rv32},
                    {"winograd_columns_rv32", riscv::winograd_columns_rv32},
                    {"winograd_triples_rv32", riscv::winograd_triples_rv32}};
  to.push_back(std::move(family));
}

}  // namespace aotc::cores
