// SPDX-License-Identifier: Apache-2.0
// How far results of the emitted C may be from the reference evaluation: the one rule that `verify` and the
// self test of generated firmware share (docs/numerics.md). The one thing to know: it is not 0 only for
// float results at or behind an operator that calls the C library's exp or tanh.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace aotc::ops {

// What two C libraries may make of one argument, on either side of the exact value.
constexpr int kLibraryUlp = 4;

struct Tolerance {
  int64_t ulps = 0;  // 0: equal, where -0 equals +0 and any NaN any other
  double ulp = 0;    // of the largest finite magnitude of this tensor in the reference

  bool exact() const { return ulps == 0; }
  double allowed() const { return static_cast<double>(ulps) * ulp; }
  // How far apart two values are, in ulps as above rounded up; INT64_MAX if one of them is not finite and
  // they are not equal.
  int64_t distance(float a, float b) const;
};

// What Tolerance::ulp is of these floats.
double ulp_of_largest(std::span<const uint8_t> floats);

// Does an operator, or one in its regions, call the C library's exp or tanh? Float results behind it are inexact.
bool calls_library(const graph::Op& op);
bool calls_library(const graph::Graph& graph);

// By tensor id, for the values that evaluate_graph gave for `inputs`.
std::vector<Tolerance> tolerances(const graph::Graph& graph, const std::vector<std::vector<uint8_t>>& inputs,
                                  const std::vector<std::vector<uint8_t>>& values);

}  // namespace aotc::ops
