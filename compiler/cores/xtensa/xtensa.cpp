// SPDX-License-Identifier: Apache-2.0
// Xtensa cores of Espressif's ESP32 and ESP32-S3. They run portable C.
#include "cores/family.h"

namespace aotc::cores {

namespace {

// Cadence publishes no cycles of these configurations. The figures are those of a pipeline of five stages with a single
// issue: a value is there one cycle after its load, a taken branch costs two cycles, and the multiplier is pipelined.
// The zero-overhead loop, which compilers use rarely, is not counted as such.
constexpr machine::Timing kFiveStages = {
    .source = "a pipeline of five stages, of no configuration in particular: low confidence",
    .load = 1.5,
    .multiply_add = 2,
    .long_multiply = 2,
    .long_add = 3,
    .divide = 13,
    .float_multiply_add = 1,
    .float_divide = 40,
    .float_wait = 2,
    .float_load = 1.5,
    .float_store = 1};

bool describe_xtensa(const CpuQuery& query, ops::TargetInfo& t) {
  if (query.isa != "xtensa") return false;
  describe_usual(t);
  return true;
}

// Loads have an offset alone, and no instruction adds a shifted operand or saturates.
void xtensa_operations(const ops::TargetInfo&, OperationCosts& c) {
  c.choose = 1.5;
  c.saturate = 2;
  c.high = 2;
  c.fused = false;
}

}  // namespace

void add_family_xtensa(std::vector<Family>& to) {
  Family family;
  family.name = "xtensa";
  family.isas = {{"xtensa", {"mul", "unaligned", "hwdiv", "fpu"}}};
  family.cores = {{"xtensa-lx6", "xtensa", &kFiveStages}, {"xtensa-lx7", "xtensa", &kFiveStages}};
  family.describe = describe_xtensa;
  family.operations = xtensa_operations;
  to.push_back(std::move(family));
}

}  // namespace aotc::cores
