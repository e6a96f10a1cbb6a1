// SPDX-License-Identifier: Apache-2.0
// What any bytes given as TVM graph or parameters must lead to: a result that keeps its promises,
// or located errors. Shared by the fuzz target and the mutation test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aotc::fuzz {

// The graph's text up to the first NUL byte, the parameters file behind it. Empty: all promises
// were kept. `accepted`, if given: whether it was a graph.
std::string check_graph_case(const std::vector<uint8_t>& bytes, bool* accepted = nullptr);

}  // namespace aotc::fuzz
