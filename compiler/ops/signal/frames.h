// SPDX-License-Identifier: Apache-2.0
// Streams that are cut anew: what signal_delay, signal_framer and signal_stacker share. The one thing to
// know: each reads a sequence that is what was kept of earlier runs and then this run's samples, and
// keeps the end of that sequence.
#pragma once

#include "ops/signal/signal.h"

namespace aotc::ops {

// Of each of `rows` sequences: `kept` samples of earlier runs, then `parts` times `step` new ones. Part p
// of the result is the `size` samples from p * step on; size <= kept + step.
struct Stream {
  int64_t rows = 1, kept = 0, parts = 1, step = 1, size = 1;

  // What goes from run to run, if anything does.
  graph::TensorType kept_type() const;
  // `before` and `after` are null where nothing is kept. They may be the same memory: samples move to the
  // front, after all of a row's results.
  void emit(LoweringBuilder& f, const tir::BufferPtr& in, const tir::BufferPtr& before, const tir::BufferPtr& out,
            const tir::BufferPtr& after) const;
};

// A row of a state longer than that is refused.
constexpr int64_t kMostKept = 1 << 20;

// Operand 0 has elements, and of its rows no more than kMostKept samples are kept.
bool check_has_samples(const OpView& op, Diagnostics& diags);
bool check_kept_samples(const OpView& op, int64_t rows, int64_t kept, Diagnostics& diags);
// An attribute is within [least, most], which depend on the operand or another attribute.
bool check_option(const OpView& op, const char* name, int64_t value, int64_t least, int64_t most, Diagnostics& diags);

}  // namespace aotc::ops
