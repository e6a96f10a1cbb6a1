// Cheap requantisation that is proven equal to the reference. A requantisation is a monotone step
// function of the accumulator, so two of them agree everywhere when they step at the same
// accumulators, of which there are at most as many as output values. The one thing to know: a fit
// is only returned when every step of every channel has been checked, over the whole range.
//
//   value = clamp((hi32((acc << left) * multiplier) + offset - (acc < 0 ? sign : 0)) >> shift)
//
// hi32 is the high word of the 64-bit product. Nested floors are one floor, so this is a line with
// slope multiplier * 2^(left - 32 - shift); what is searched are multiplier and offset of a line
// that separates the steps. The zero point is inside the offset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <vector>

#include "ops/common/activation.h"

namespace aotc::ops {

// The values an accumulator can have.
struct AccRange {
  int64_t low = 0, high = 0;  // both inclusive
  int64_t magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

// What one channel's requantisation has to be.
struct StepTarget {
  std::function<int64_t(int32_t)> reference;  // monotone, before or after the clamp
  double real = 0;                            // its slope, > 0; used as a first guess only
  AccRange range;
};

struct StepFit {
  struct Channel {
    int32_t multiplier = 0;
    int32_t offset = 0;
    int32_t left = 0;
    int32_t sign = 0;  // if `with_sign`: by what the reference's two roundings differ below zero
  };
  std::vector<Channel> channels;
  bool same_left = true;  // every channel shifts left by channels[0].left
  bool with_sign = false;
  int shift = 0;  // common to the channels
};

// The cheapest form that fits all channels, or nothing.
std::optional<StepFit> fit_steps(const std::vector<StepTarget>& targets, int32_t zero_point,
                                 ClampI32 clamp);

}  // namespace aotc::ops
