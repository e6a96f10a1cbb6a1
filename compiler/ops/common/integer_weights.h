// SPDX-License-Identifier: Apache-2.0
// IntegerWeights: float weights that are products of a scale and an integer of 8 or 4 bits, as a dequantised constant
// is. They are found by their values, so it does not matter how the model states them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/lowering.h"

namespace aotc::ops {

// A weight of channel c is f32(f32(value) * scales[c]), bit for bit.
struct IntegerWeights {
  std::vector<int8_t> values;  // as the weights: [channels][k]
  std::vector<float> scales;   // one for each channel
  bool nibbles = false;        // all values fit in 4 bits
};

// nullopt if a weight is no such product.
std::optional<IntegerWeights> integer_weights(const std::vector<float>& weights, int64_t channels);

// As above, for a constant of a matrix product that reads each weight `reads` times. nullopt also if floats are worth
// their flash: they save the conversion at each read.
std::optional<IntegerWeights> stored_as_integers(const OpView& op, const std::vector<float>& weights, int64_t channels,
                                                 int64_t reads, const TargetInfo& target);

}  // namespace aotc::ops
