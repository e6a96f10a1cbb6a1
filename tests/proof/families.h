// SPDX-License-Identifier: Apache-2.0
// What the proofs of a family of kernels assume of a call's data, and which rules they need (docs/soundness.md).
#pragma once

#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "../kernels/cases.h"
#include "memory.h"

namespace aotc::tests::proof {

struct Family {
  bool data_decides = false;  // data may decide which instructions run
  Terms::Rules rules = {};
  std::set<size_t> tables = {};  // parameters that hold the words of the call
  // Other words that do: nullptr if none.
  bool (*is_known)(const KernelCase&, size_t parameter, int64_t word) = nullptr;
  // Of a call: the bit of a parameter that one of its bits is equal to, as lowerings ensure. nullptr: no such bits.
  std::function<Bit(size_t parameter, Bit)> (*assumed)(const KernelCase&) = nullptr;
  // Scalars of the call that are made smaller: its iterations are alike.
  std::vector<int32_t> most_scalars = {};
};

// That of a kernel's family.
const Family& family_of(std::string_view name);

}  // namespace aotc::tests::proof
