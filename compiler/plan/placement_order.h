// SPDX-License-Identifier: Apache-2.0
// An order of calls in which less is alive at the fullest moment. The one thing to know: what counts as
// alive is an estimate (results over operands that die as their write orders allow, alignment left
// out), so who takes the order plans both and keeps the smaller arena.
#pragma once

#include <optional>
#include <vector>

#include "plan/placement.h"

namespace aotc::plan {

// By call: the buffers that it writes, of those that it names.
using WrittenBuffers = std::vector<std::vector<int>>;

// Calls in another order that writes and reads every buffer as often in the same order, or nothing where
// none was found whose fullest moment is less full. The search is bounded by a number of states.
std::optional<std::vector<int>> emptier_order(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls,
                                              const WrittenBuffers& written);

}  // namespace aotc::plan
