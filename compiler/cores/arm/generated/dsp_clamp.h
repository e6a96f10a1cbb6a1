// SPDX-License-Identifier: Apache-2.0
// Clamps int8 results to the range of an activation, four at a time. The products of cores/arm/dsp saturate to int8's
// own range, so this follows where a range is narrower.
#pragma once

#include <optional>

#include "cores/arm/lowering.h"
#include "cores/implementation.h"
#include "ops/common/activation.h"
#include "tir/tir.h"

namespace aotc::cores::arm {

// Clamps all results in place, and returns the work of that. Emits nothing if the range is int8's own.
Work emit_byte_clamp(LoweringBuilder& f, const tir::BufferPtr& results, ops::ClampI32 range, const TargetInfo& target);

// The clamp that the table of a byte_table of int8 is; nullopt if it is something else, or changes nothing.
std::optional<ops::ClampI32> clamp_of_table(const OpView& op);

// A byte_table that clamps int8 and nothing else, such as the Clip of a QuantizeLinear. nullopt for other operators.
std::optional<Lowered> lower_byte_clamp(const OpView& op, const TargetInfo& target);

// Kernel arguments: results, number of blocks. A block has `words` words (1 or 4). `apart`: the bytes to clamp come
// first, which may be in the results' own place.
tir::KernelPtr dsp_clamp_kernel(ops::ClampI32 range, int64_t words, bool apart = false);
Implementation dsp_clamp(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
