// SPDX-License-Identifier: Apache-2.0
// Attributes of circular_buffer.
#pragma once

#include <cstdint>

#include "ops/operator.h"

namespace aotc::ops {

struct CircularBufferAttrs : graph::Attributes<CircularBufferAttrs> {
  int32_t cycles = 1;   // of so many runs that come here, the reference goes on in one
  int32_t every = 1;    // one of so many runs comes here
  int32_t guesses = 0;  // of cycles, up to here and since the reference began to count anew

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("cycles", self.cycles);
    field("every", self.every);
    field("guesses", self.guesses);
  }
};

inline constexpr int32_t kMostCycles = 1 << 16;

// Is operand 0 a row of `rows`? Reports [op-shape].
bool check_circular_buffer(const OpView& op, const graph::Shape& rows, Diagnostics& diags);

}  // namespace aotc::ops
