// SPDX-License-Identifier: Apache-2.0
// How often the tables of a program are read, and which memory each is best in. The one thing to
// know: reads are counted in the operators' code as it is printed, by multiplying trip counts, so they
// are those of one run to within conditions that depend on data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/program.h"

namespace aotc::plan {

// Bytes read from each table in one run, by index of Program::constants.
std::vector<double> constant_reads(const Program& program);

// A linker section for tables.
struct ConstantSection {
  std::string name;
  int64_t bytes = -1;  // at most; -1: as many as there are
};

// The section of each table, an index into `sections`, or -1 for none. `sections` go from fast to slow:
// what is read most per byte goes into the first that still has room for it.
std::vector<int> assign_sections(const Program& program, const std::vector<ConstantSection>& sections);

}  // namespace aotc::plan
