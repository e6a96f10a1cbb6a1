// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/loop_constants.h"

#include <algorithm>
#include <utility>

namespace aotc::cores::arm {

void LoopConstants::assign(const std::vector<int>& registers) {
  std::vector<std::pair<int, int>> by_uses;
  for (const auto& [constant, uses] : uses_) by_uses.emplace_back(-uses, constant);
  std::sort(by_uses.begin(), by_uses.end());
  register_of_.clear();
  for (size_t i = 0; i < by_uses.size() && i < registers.size(); ++i) register_of_[by_uses[i].second] = registers[i];
}

int LoopConstants::frame_offset(int constant, int first) {
  const int next = first + 4 * static_cast<int>(offset_of_.size());
  return offset_of_.try_emplace(constant, next).first->second;
}

}  // namespace aotc::cores::arm
