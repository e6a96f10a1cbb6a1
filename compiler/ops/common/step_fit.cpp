#include "ops/common/step_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aotc::ops {

namespace {

constexpr int64_t kWord = int64_t{1} << 32;

// Where one channel steps: value(acc) >= clamp.min + 1 + i exactly when acc >= first[i]. Positions
// at the ends stand for "always" (range.low) and "never" (range.high + 1).
struct Steps {
  std::vector<int64_t> first;
  AccRange range;
  double real = 0;
  bool constant = false;
};

int64_t first_at_least(const StepTarget& t, int64_t level, int64_t guess) {
  auto reaches = [&](int64_t acc) { return t.reference(static_cast<int32_t>(acc)) >= level; };
  int64_t low = t.range.low, high = t.range.high + 1;  // the answer is in [low, high]
  int64_t near_low = guess - 3, near_high = guess + 4;
  if (near_low > low && near_low <= t.range.high && !reaches(near_low - 1)) low = near_low;
  if (near_high < high && near_high >= t.range.low && reaches(near_high)) high = near_high;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (reaches(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Steps steps_of(const StepTarget& t, int32_t zero_point, ClampI32 clamp) {
  Steps out;
  out.range = t.range;
  out.real = t.real;
  for (int64_t level = int64_t{clamp.min} + 1; level <= clamp.max; ++level) {
    double guess = (static_cast<double>(level - zero_point) - 0.5) / t.real;
    guess = std::clamp(guess, static_cast<double>(t.range.low) - 8,
                       static_cast<double>(t.range.high) + 8);
    out.first.push_back(first_at_least(t, level, static_cast<int64_t>(guess)));
  }
  auto inside = [&](int64_t at) { return at > t.range.low && at <= t.range.high; };
  out.constant = std::none_of(out.first.begin(), out.first.end(), inside);
  return out;
}

struct Form {
  int32_t sign;
  int left, shift, first_level;
};

struct Interval {
  int64_t low = std::numeric_limits<int64_t>::min();   // inclusive
  int64_t high = std::numeric_limits<int64_t>::max();  // exclusive
  int64_t width() const { return high - low; }
};

// Offsets (in units of 2^-32 of the real one) with which `multiplier` steps where it must.
Interval offsets(const Steps& s, const Form& form, int64_t multiplier) {
  // Saturated a little inside int64, so that width() cannot overflow.
  Interval out{-(int64_t{1} << 61), int64_t{1} << 61};
  int64_t scaled = multiplier << form.left;
  for (size_t i = 0; i < s.first.size(); ++i) {
    int64_t level = (form.first_level + static_cast<int64_t>(i)) << form.shift;
    int64_t at = s.first[i];
    if (at <= s.range.high) {
      int64_t sign = at < 0 ? form.sign * kWord : 0;
      out.low = std::max(out.low, level * kWord - at * scaled + sign);
    }
    if (at > s.range.low) {
      int64_t sign = at - 1 < 0 ? form.sign * kWord : 0;
      out.high = std::min(out.high, level * kWord - (at - 1) * scaled + sign);
    }
  }
  return out;
}

// The multiplier with the widest interval: the width is concave in the multiplier.
int64_t widest(const Steps& s, const Form& form, int64_t guess) {
  int64_t reach = std::max<int64_t>(guess / 64, 16);
  int64_t low = std::max<int64_t>(0, guess - reach);
  int64_t high = std::min<int64_t>(std::numeric_limits<int32_t>::max(), guess + reach);
  while (high - low > 2) {
    int64_t third = (high - low) / 3;
    int64_t a = low + third, b = high - third;
    if (offsets(s, form, a).width() < offsets(s, form, b).width()) {
      low = a + 1;
    } else {
      high = b;
    }
  }
  return low;
}

bool offset_inside(const Interval& interval, int32_t sign, int32_t& out) {
  if (interval.width() <= 0) return false;
  int64_t floor = interval.low >> 32;
  int64_t offset = floor * kWord == interval.low ? floor : floor + 1;
  // With |hi32| <= 2^30 no sum leaves 32 bits.
  if (offset * kWord >= interval.high || std::abs(offset) + sign >= int64_t{1} << 30) return false;
  out = static_cast<int32_t>(offset);
  return true;
}

bool fit_channel(const Steps& s, const Form& form, StepFit::Channel& out) {
  out = {};
  out.left = form.left;
  out.sign = form.sign;
  if (s.constant) return offset_inside(offsets(s, form, 0), out.sign, out.offset);
  double exact = std::ldexp(s.real, 32 + form.shift - form.left);
  auto guess = static_cast<int64_t>(std::round(exact));
  auto try_multiplier = [&](int64_t m) {
    if (m < 1 || m > std::numeric_limits<int32_t>::max()) return false;
    out.multiplier = static_cast<int32_t>(m);
    return offset_inside(offsets(s, form, m), out.sign, out.offset);
  };
  if (try_multiplier(guess)) return true;
  int64_t best = widest(s, form, guess);
  if (offsets(s, form, best).width() <= 0) return false;
  for (int64_t d = 0; d <= 64; ++d)
    if (try_multiplier(best + d) || try_multiplier(best - d)) return true;
  return false;
}

int exponent_of(double real) {
  int exponent = 0;
  std::frexp(real, &exponent);
  return exponent;
}

struct Search {
  std::vector<Steps> steps;
  ClampI32 clamp;
  int top = 0;         // exponent of the largest slope
  int most_shift = 0;  // keeps offsets within 2^29

  std::optional<StepFit> attempt(bool same_left, bool with_sign, int left) const {
    StepFit fit;
    fit.same_left = same_left;
    fit.with_sign = with_sign;
    fit.shift = std::min(left - 1 - top, most_shift);
    if (fit.shift < 0) return std::nullopt;
    for (const Steps& s : steps) {
      int exponent = exponent_of(s.real);
      // The first rounding's tie is at -2^30 above zero and at 2^30 below, in units where the slope
      // has 31 bits; scaled to this form's units.
      bool needs_sign = with_sign && !s.constant && fit.shift + exponent >= 0;
      int32_t sign = needs_sign ? 1 << (fit.shift + exponent) : 0;
      Form form{sign, left, fit.shift, clamp.min + 1};
      // Smaller slopes shifted less keep all bits of their multipliers.
      if (!same_left) form.left = std::max(0, left - (top - exponent));
      // A constant channel's multiplier is 0, whatever is shifted.
      if (!s.constant && (s.range.magnitude() << form.left) >= int64_t{1} << 31)
        return std::nullopt;
      StepFit::Channel channel;
      if (!fit_channel(s, form, channel)) return std::nullopt;
      fit.channels.push_back(channel);
    }
    return fit;
  }
};

}  // namespace

std::optional<StepFit> fit_steps(const std::vector<StepTarget>& targets, int32_t zero_point,
                                 ClampI32 clamp) {
  Search search;
  search.clamp = clamp;
  int64_t values = std::max(std::abs(int64_t{clamp.min}), std::abs(int64_t{clamp.max})) + 1;
  if (values > 1 << 16) return std::nullopt;
  int bits = 0;
  while ((int64_t{1} << bits) < values) ++bits;
  search.most_shift = 29 - bits;
  double slope = 0;
  for (const StepTarget& t : targets) {
    if (!(t.real > 0) || !std::isfinite(t.real) || t.range.magnitude() >= int64_t{1} << 31)
      return std::nullopt;
    search.steps.push_back(steps_of(t, zero_point, clamp));
    if (!search.steps.back().constant) slope = std::max(slope, t.real);
  }
  search.top = slope > 0 ? exponent_of(slope) : 0;
  // Forms in order of cost per output. Shifts start with one that nearly always does, so that
  // layers of a network agree on it and share their code.
  for (bool same_left : {true, false})
    for (bool with_sign : {false, true})
      for (int left : {6, 8, 4, 2, 3, 5, 7, 1, 0, 10, 12, 14})
        if (auto fit = search.attempt(same_left, with_sign, left)) return fit;
  return std::nullopt;
}

}  // namespace aotc::ops
