// SPDX-License-Identifier: Apache-2.0
// 8-bit AVR.
#include "cores/family.h"

namespace aotc::cores {

namespace {

bool describe_avr(const CpuQuery& query, ops::TargetInfo& t) {
  if (!query.isa.starts_with("avr")) return false;
  // Eight-bit registers: 32 of them hold four sums and little else.
  t.registers = 6;
  t.gemm_pixels = 1;
  t.gemm_channels = 2;
  t.gemm_unroll = 1;
  t.costs = {4, 4, 4, 20, 20, 60, 600, 4, 4};
  t.fp64 = false;
  t.narrow_int = true;
  // The first 64 KiB, which interrupt vectors and other tables share; pointer differences have a sign.
  t.program_reach = 61440;
  t.largest_object = 32767;
  return true;
}

void avr_operations(const ops::TargetInfo&, OperationCosts& c) {
  c = {.memory = 4,
       .store = 4,
       .alu = 4,
       .multiply = 20,
       .high = 60,
       .divide = 600,
       .divide_any = 600,
       .choose = 8,
       .saturate = 8,
       .turn = 8,
       .branch = 6,
       .call = 60,
       .fused = false};
}

std::string_view nearest_avr(std::string_view cpu) {
  for (std::string_view other : {"atmega32u4", "atmega168", "atmega168p", "atmega328", "atmega644p"})
    if (cpu == other) return "atmega328p";
  if (cpu == "atmega2561") return "atmega2560";
  return {};
}

}  // namespace

void add_family_avr(std::vector<Family>& to) {
  Family family;
  family.name = "avr";
  family.isas = {{"avr5", {"mul", "harvard"}}, {"avr51", {"mul", "harvard"}}, {"avr6", {"mul", "harvard"}}};
  family.cores = {{"atmega328p", "avr5"}, {"atmega2560", "avr6"}};
  family.nearest = nearest_avr;
  family.describe = describe_avr;
  family.operations = avr_operations;
  to.push_back(std::move(family));
}

}  // namespace aotc::cores
