// SPDX-License-Identifier: Apache-2.0
// LoopConstants: which constants of a loop are in registers. A description runs once to count the uses of each, and
// again to build the block.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace aotc::cores::arm {

class LoopConstants {
 public:
  void use(int constant) { ++uses_[constant]; }
  // Assigns these registers to the constants with the most uses. Others are made where they are used.
  void assign(const std::vector<int>& registers);
  const std::map<int, int>& assigned() const { return register_of_; }  // registers by constant
  size_t size() const { return uses_.size(); }

  // Offsets in the frame, for constants that no instruction makes; they begin at `first`, in bytes.
  int frame_offset(int constant, int first);
  const std::map<int, int>& framed() const { return offset_of_; }

 private:
  std::map<int, int> uses_, register_of_, offset_of_;
};

}  // namespace aotc::cores::arm
