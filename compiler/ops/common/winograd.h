// SPDX-License-Identifier: Apache-2.0
// The rule that decides Winograd's algorithm, on every core. A family of cores has the kernels, and states what they
// save and need.
#pragma once

#include "ops/common/conv.h"
#include "ops/common/price.h"

namespace aotc::ops {

inline constexpr const char* kWinograd = "winograd";

// The gain and the cost of a family's kernels for a layer.
struct WinogradOffer {
  double saved_instructions = 0;  // of a run, against the direct algorithm
  double more_bytes = 0;          // of transformed weights
  double longest_turn = 0;        // instructions that cannot be split into slices
};

// True if the operator has int8 or int4 weights, and the algorithm is asked for or may need more memory. The shapes
// that a family supports are for the family to check.
inline bool may_use_winograd(const OpView& op, const TargetInfo& target) {
  if (op.operand(0).dtype != DType::kI8 || has_uint8_weights(op)) return false;
  return target.asks_for(kWinograd) || (target.spends_memory() && target.allows(kWinograd));
}

// True if the algorithm is asked for or pays.
inline bool takes_winograd(const TargetInfo& target, const WinogradOffer& offer) {
  if (target.asks_for(kWinograd)) return true;
  if (target.slice > 0 && offer.longest_turn > static_cast<double>(target.slice)) return false;
  return is_worth_flash(target, offer.saved_instructions, offer.more_bytes);
}

}  // namespace aotc::ops
