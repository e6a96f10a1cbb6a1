// SPDX-License-Identifier: Apache-2.0
// Random small graphs for differential tests. The one thing to know: a graph is a pure function of
// its seed and kind, and every graph verifies: what an operator refuses is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aotc::tests {

// SplitMix64 with the few draws the generator needs; the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x1234567) {}
  uint64_t next();
  int64_t pick(int64_t least, int64_t most);  // both included
  bool chance(int percent) { return pick(1, 100) <= percent; }
  float real(float least, float most);

 private:
  uint64_t state_;
};

enum class Kind {
  kPlain,     // operators only
  kControl,   // states, branches and loops as well; at least one of them
  kUnrolled,  // a body of operators again and again
  kRows,      // a chain over images
};

// int8 or float32 at heart, with conversions to other types; tensors with several users, views of
// inputs, constants and outputs, operators with several results, several outputs.
graph::Graph random_graph(uint64_t seed, Kind kind);

// Bytes for every input: values over the whole range of integers, moderate floats.
std::vector<std::vector<uint8_t>> random_inputs(const graph::Graph& graph, uint64_t seed);

}  // namespace aotc::tests
