// SPDX-License-Identifier: Apache-2.0
// Cheap requantisation that is proven equal to the reference. A requantisation is a monotone step
// function of the accumulator, so two of them agree everywhere when they step at the same
// accumulators, of which there are at most as many as output values. The one thing to know: a fit
// is only returned when every step of every channel has been checked, over the whole range.
//
// Both forms are a line, rounded down (nested floors are one floor); hi32 is the high word of the
// 64-bit product:
//
//   word  clamp((hi32((acc << left) * word) + first + (half_zero << s) - (acc < 0 ? sign : 0))
//               >> (base + s)),  s being the low bits of the word: all that differs by channel
//   line  clamp((hi32((acc << left) * multiplier) + offset - (acc < 0 ? sign : 0)) >> shift)
//
// A word is the reference's multiplier with its low bits replaced; the nearest few are tried. For a
// line, multiplier and offset are searched that separate the steps; the zero point is in the
// offset.
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
  // What the accumulator is when real zero is meant, as a bias has been taken off: for the guess only.
  int64_t origin = 0;
  // By how many accumulators each value begins earlier, because the product is rounded before the shift. Only a guess
  // uses it.
  double sooner = 0;
};

// Where one channel steps: value(acc) >= clamp.min + 1 + i exactly when acc >= first[i]. Positions
// at the ends stand for "always" (range.low) and "never" (range.high + 1).
struct Steps {
  std::vector<int64_t> first;
  AccRange range;
  double real = 0;
  bool constant = false;
  // How many steps lie at or below the range: the value of a constant channel over clamp.min.
  int64_t always() const;
};

// Nothing where a fit is not to be had whatever the form.
std::optional<std::vector<Steps>> find_steps(const std::vector<StepTarget>& targets, int32_t zero_point,
                                             ClampI32 clamp);

struct WordFit {
  std::vector<int32_t> words;  // one per channel
  int low_bits = 0;            // of a word: the channel's shift beyond `base`
  int base = 1;
  int left = 0;
  int32_t first = 0;  // rounds the first of two roundings
  int32_t sign = 0;   // 0: the form does without
  int32_t zero_point = 0;

  // Half of the last place and the zero point, for channels that shift by `base`.
  int32_t half_zero() const { return (2 * zero_point + 1) * (int32_t{1} << (base - 1)); }
};

// `two_roundings`: the reference rounds the high word of the product before it shifts and rounds.
std::optional<WordFit> fit_words(const std::vector<Steps>& channels, int32_t zero_point, ClampI32 clamp,
                                 bool two_roundings);

struct LineFit {
  struct Channel {
    int32_t multiplier = 0;
    int32_t offset = 0;
    int32_t left = 0;
    int32_t sign = 0;   // if `with_sign`: by what the offset is less below zero
    int32_t moved = 0;  // to be added to the accumulator, that is to the channel's bias
  };
  std::vector<Channel> channels;
  bool same_left = true;  // every channel shifts left by channels[0].left
  bool with_sign = false;
  int shift = 0;  // common to the channels
};

// The cheapest form that fits all channels, or nothing.
std::optional<LineFit> fit_lines(const std::vector<Steps>& channels, ClampI32 clamp);

// The same with every channel shifted left by `left`. Without sign where that fits; the shift is
// one of few, so that layers of a network mostly agree on it. Channels may be moved: where no whole
// offset has every step in its place, another accumulator's has. With `may_break`, signs are free: channels
// for which no line does may have two, either side of what becomes zero.
std::optional<LineFit> fit_moved_lines(const std::vector<Steps>& channels, ClampI32 clamp, int left,
                                       bool may_break = false);
// As fit_moved_lines and without signs, with what of the channels no line fits left to another form: others[c] says
// which these are, half of them at most.
std::optional<LineFit> fit_most_lines(const std::vector<Steps>& channels, ClampI32 clamp, int left,
                                      std::vector<bool>& others);
// Without moves, for those whose accumulators have no bias to change.
std::optional<LineFit> fit_lines(const std::vector<Steps>& channels, ClampI32 clamp, int left);

// The same with one shift and without sign, or nothing.
std::optional<LineFit> fit_line_at(const std::vector<Steps>& channels, ClampI32 clamp, int left, int shift);

}  // namespace aotc::ops
