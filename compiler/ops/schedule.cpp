// SPDX-License-Identifier: Apache-2.0
#include "ops/schedule.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::ops {

const Schedule* find_schedule(const Schedules& schedules, int op_index, int part) {
  auto found = schedules.find({op_index, part});
  if (found == schedules.end()) found = schedules.find(op_index);
  return found == schedules.end() ? nullptr : &found->second;
}

bool Schedule::meets(const Schedule& asked) const {
  if (!asked.algorithm.empty() && asked.algorithm != algorithm) return false;
  return std::all_of(asked.numbers.begin(), asked.numbers.end(), [&](const auto& wish) {
    const auto found = numbers.find(wish.first);
    return found != numbers.end() && found->second == wish.second;
  });
}

std::string Schedule::text() const {
  std::string out = algorithm;
  const char* separator = algorithm.empty() ? "" : ": ";
  for (const auto& [name, value] : numbers) {
    out += fmt::format("{}{} {}", separator, name, value);
    separator = ", ";
  }
  if (!note.empty()) out += (out.empty() ? "" : "; ") + note;
  return out;
}

Work& Work::operator+=(const Work& o) {
  load += o.load;
  store += o.store;
  alu += o.alu;
  multiply += o.multiply;
  dual += o.dual;
  high += o.high;
  divide += o.divide;
  branch += o.branch;
  vector += o.vector;
  return *this;
}

Work operator*(Work a, double n) {
  a.load *= n;
  a.store *= n;
  a.alu *= n;
  a.multiply *= n;
  a.dual *= n;
  a.high *= n;
  a.divide *= n;
  a.branch *= n;
  a.vector *= n;
  return a;
}

double Costs::of(const Work& w) const {
  return w.load * load + w.store * store + w.alu * alu + w.multiply * multiply + w.dual * dual + w.high * high +
         w.divide * divide + w.branch * branch + w.vector * vector;
}

}  // namespace aotc::ops
