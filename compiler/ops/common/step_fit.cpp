// SPDX-License-Identifier: Apache-2.0
#include "ops/common/step_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/numerics.h"

namespace aotc::ops {

namespace {

constexpr int64_t kWord = int64_t{1} << 32;
constexpr int64_t kWordTries = 8;

// The first accumulator in [low, high] whose value is at least `level`; that of `high` is. Nearly
// always it is the guess, which two values show; else the search widens around it.
int64_t first_at_least(const StepTarget& t, int64_t level, int64_t low, int64_t high, int64_t guess) {
  auto reaches = [&](int64_t acc) { return t.reference(static_cast<int32_t>(acc)) >= level; };
  int64_t at = std::clamp(guess, low, high);
  if (reaches(at)) {
    high = at;
    for (int64_t step = 1; low < high; step *= 2) {
      at = std::max(low, high - step);
      if (!reaches(at)) {
        low = at + 1;
        break;
      }
      high = at;
    }
  } else {
    low = at + 1;
    for (int64_t step = 1; low < high; step *= 2) {
      at = std::min(high, low + step - 1);
      if (reaches(at)) {
        high = at;
        break;
      }
      low = at + 1;
    }
  }
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
  int64_t least = t.reference(static_cast<int32_t>(t.range.low));
  int64_t most = t.reference(static_cast<int32_t>(t.range.high));
  int64_t above = t.range.low;  // steps rise with their levels
  for (int64_t level = int64_t{clamp.min} + 1; level <= clamp.max; ++level) {
    if (level > most) {
      above = t.range.high + 1;
    } else if (level > least) {
      double guess = std::ceil((static_cast<double>(level - zero_point) - 0.5) / t.real - t.sooner) +
                     static_cast<double>(t.origin);
      guess = std::clamp(guess, static_cast<double>(t.range.low), static_cast<double>(t.range.high));
      above = first_at_least(t, level, above, t.range.high, static_cast<int64_t>(guess));
    }
    out.first.push_back(above);
  }
  auto inside = [&](int64_t at) { return at > t.range.low && at <= t.range.high; };
  out.constant = std::none_of(out.first.begin(), out.first.end(), inside);
  return out;
}

struct Form {
  int32_t sign;
  int left, shift, first_level;
  // Of the `i`th level, in units of 2^-32.
  int64_t level(size_t i) const { return ((first_level + static_cast<int64_t>(i)) << shift) * kWord; }
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
    int64_t level = form.level(i);
    int64_t at = s.first[i];
    if (at <= s.range.high) {
      int64_t sign = at < 0 ? form.sign * kWord : 0;
      out.low = std::max(out.low, level - at * scaled + sign);
    }
    if (at > s.range.low) {
      int64_t sign = at - 1 < 0 ? form.sign * kWord : 0;
      out.high = std::min(out.high, level - (at - 1) * scaled + sign);
    }
  }
  return out;
}

// Where a level begins, or is not yet: of an offset that is at least, or below, level - at * slope.
struct Bound {
  int64_t at, level;
};

// Of bounds that come with rising `at` those that count for some slope: the corners of their hull, on its upper side
// (what is at least) or its lower one. Few of hundreds are left.
class Hull {
 public:
  explicit Hull(bool upper) : upper_(upper) {}

  void add(Bound b) {
    if (!corners_.empty() && corners_.back().at == b.at) {
      if (upper_ == (corners_.back().level >= b.level)) return;
      corners_.pop_back();
    }
    while (corners_.size() > 1 && is_inside(corners_[corners_.size() - 2], corners_.back(), b)) corners_.pop_back();
    corners_.push_back(b);
  }
  int64_t tightest(int64_t slope, int64_t bound) const {
    for (const Bound& c : corners_)
      bound = upper_ ? std::max(bound, c.level - c.at * slope) : std::min(bound, c.level - c.at * slope);
    return bound;
  }

 private:
  // Is b not beyond the line from a to c?
  bool is_inside(const Bound& a, const Bound& b, const Bound& c) const {
    __extension__ using Wide = __int128;
    const Wide of_b = static_cast<Wide>(b.level - a.level) * (c.at - a.at),
               of_c = static_cast<Wide>(c.level - a.level) * (b.at - a.at);
    return upper_ ? of_b <= of_c : of_b >= of_c;
  }

  bool upper_;
  std::vector<Bound> corners_;
};

// Offsets for accumulators below zero and for the others, each with an interval of its own.
class Sides {
 public:
  Sides(const Steps& s, const Form& form) : left_(form.left) {
    for (size_t i = 0; i < s.first.size(); ++i) {
      const int64_t level = form.level(i), at = s.first[i];
      if (at <= s.range.high) (at < 0 ? below_low_ : above_low_).add({at, level});
      if (at > s.range.low) (at - 1 < 0 ? below_high_ : above_high_).add({at - 1, level});
    }
  }
  Interval below(int64_t multiplier) const { return between(below_low_, below_high_, multiplier << left_); }
  Interval above(int64_t multiplier) const { return between(above_low_, above_high_, multiplier << left_); }

 private:
  static Interval between(const Hull& low, const Hull& high, int64_t slope) {
    constexpr int64_t kFar = int64_t{1} << 61;
    return {low.tightest(slope, -kFar), high.tightest(slope, kFar)};
  }

  int left_;
  Hull below_low_{true}, above_low_{true}, below_high_{false}, above_high_{false};
};

// What offsets() gives, for many multipliers.
class Offsets {
 public:
  Offsets(const Steps& s, const Form& form) : left_(form.left) {
    for (size_t i = 0; i < s.first.size(); ++i) {
      const int64_t level = form.level(i), at = s.first[i];
      if (at <= s.range.high) low_.add({at, level + (at < 0 ? form.sign * kWord : 0)});
      if (at > s.range.low) high_.add({at - 1, level + (at - 1 < 0 ? form.sign * kWord : 0)});
    }
  }
  Interval operator()(int64_t multiplier) const {
    constexpr int64_t kFar = int64_t{1} << 61;
    return {low_.tightest(multiplier << left_, -kFar), high_.tightest(multiplier << left_, kFar)};
  }
  int64_t widest(int64_t low, int64_t high) const;

 private:
  int left_;
  Hull low_{true}, high_{false};
};

// The multiplier between `low` and `high` with the widest interval: the width is concave in it.
template <typename Width>
int64_t widest_of(int64_t low, int64_t high, Width width) {
  low = std::max<int64_t>(0, low);
  high = std::min<int64_t>(std::numeric_limits<int32_t>::max(), high);
  while (high - low > 2) {
    int64_t third = (high - low) / 3;
    int64_t a = low + third, b = high - third;
    if (width(a) < width(b)) {
      low = a + 1;
    } else {
      high = b;
    }
  }
  return low;
}

int64_t Offsets::widest(int64_t low, int64_t high) const {
  return widest_of(low, high, [&](int64_t m) { return (*this)(m).width(); });
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

bool fit_channel(const Steps& s, const Form& form, LineFit::Channel& out) {
  out = {};
  out.left = form.left;
  out.sign = form.sign;
  if (s.constant) return offset_inside(offsets(s, form, 0), out.sign, out.offset);
  double exact = std::ldexp(s.real, 32 + form.shift - form.left);
  auto guess = static_cast<int64_t>(std::round(exact));
  auto fits = [&](int64_t m, const auto& interval_of) {
    if (m < 1 || m > std::numeric_limits<int32_t>::max()) return false;
    out.multiplier = static_cast<int32_t>(m);
    return offset_inside(interval_of(m), out.sign, out.offset);
  };
  if (fits(guess, [&](int64_t m) { return offsets(s, form, m); })) return true;
  const Offsets quick(s, form);
  auto try_around = [&](int64_t best) {
    // Multipliers beside the best are no better in width, but the whole offset falls elsewhere. What
    // is tried is bounded for the sake of compile time only.
    constexpr int64_t kTries = 4096;
    for (int64_t d = 0; d <= kTries; ++d) {
      if (fits(best + d, quick) || fits(best - d, quick)) return true;
      if (quick(best + d).width() <= 0 && quick(best - d).width() <= 0) return false;
    }
    return false;
  };
  int64_t reach = std::max<int64_t>(guess / 64, 16);
  if (try_around(quick.widest(guess - reach, guess + reach))) return true;
  // A channel that steps a few times only can do so by a line much steeper than its own, which is
  // what a slope too small for its multiplier's bits needs.
  constexpr int64_t kFewSteps = 16, kSmall = 1 << 20;
  auto inside = [&](int64_t at) { return at > s.range.low && at <= s.range.high; };
  if (guess > kSmall || std::count_if(s.first.begin(), s.first.end(), inside) > kFewSteps) return false;
  return try_around(quick.widest(0, std::numeric_limits<int32_t>::max()));
}

// Moved by d, an accumulator's steps lie d further up, which moves the offset's interval by d slopes:
// some d of few brings a whole number into it.
bool fit_moved(const Steps& s, const Form& form, LineFit::Channel& out) {
  constexpr int64_t kMost = 1 << 14;
  auto guess = static_cast<int64_t>(std::round(std::ldexp(s.real, 32 + form.shift - form.left)));
  int64_t reach = std::max<int64_t>(guess / 64, 16);
  const Offsets quick(s, form);
  int64_t m = quick.widest(guess - reach, guess + reach);
  Interval interval = quick(m);
  // With a sign, zero must stay where it is.
  int64_t most = form.sign != 0 || interval.width() <= 0 ? 0 : kMost;
  out.multiplier = static_cast<int32_t>(m);
  for (int64_t d = 1; d <= most; ++d)
    for (int64_t moved : {d, -d}) {
      if ((s.range.magnitude() + d) << form.left >= int64_t{1} << 31) return false;
      int64_t by = moved * (m << form.left);
      if (!offset_inside({interval.low - by, interval.high - by}, 0, out.offset)) continue;
      out.moved = static_cast<int32_t>(moved);
      return true;
    }
  return false;
}

// Two lines of one slope, either side of the accumulator that becomes zero: float32 products that land on
// ties move a few steps of a channel by one, mostly towards the ends, which takes another offset there.
bool fit_broken(const Steps& s, int left, int shift, int32_t first_level, LineFit::Channel& out) {
  const Form form{0, left, shift, first_level};
  auto guess = static_cast<int64_t>(std::round(std::ldexp(s.real, 32 + shift - left)));
  int64_t reach = std::max<int64_t>(guess / 64, 16);
  auto inside = [&](int64_t at) { return at > s.range.low && at <= s.range.high; };
  auto attempt = [&](int64_t at) {
    if (!inside(at) || (s.range.magnitude() + std::abs(at)) << left >= int64_t{1} << 31) return false;
    Steps moved = s;
    for (int64_t& first : moved.first) first -= at;
    moved.range = {s.range.low - at, s.range.high - at};
    const Sides sides(moved, form);
    const int64_t m = widest_of(guess - reach, guess + reach,
                                [&](int64_t by) { return std::min(sides.below(by).width(), sides.above(by).width()); });
    int32_t low = 0;
    if (m < 1 || !offset_inside(sides.below(m), 0, low) || !offset_inside(sides.above(m), 0, out.offset)) return false;
    out.left = left;
    out.multiplier = static_cast<int32_t>(m);
    out.sign = out.offset - low;
    out.moved = static_cast<int32_t>(-at);
    return true;
  };
  constexpr size_t kFirstTurn = 16;
  for (size_t i = kFirstTurn / 2; i < s.first.size(); i += kFirstTurn)
    if (attempt(s.first[i])) return true;
  return std::any_of(s.first.begin(), s.first.end(), attempt);
}

int exponent_of(double real) {
  int exponent = 0;
  std::frexp(real, &exponent);
  return exponent;
}

struct LineSearch {
  const std::vector<Steps>& steps;
  ClampI32 clamp;
  int top = 0;         // exponent of the largest slope
  int most_shift = 0;  // keeps offsets within 2^29
  bool may_move = false;
  bool may_break = false;
  std::vector<bool>* others = nullptr;  // channels that no line fits are noted here, where there is such a place

  // The shift with which the largest slope's multiplier has 31 bits.
  int shift_of(int left) const { return std::min(left - 1 - top, most_shift); }

  std::optional<LineFit> attempt(bool same_left, bool with_sign, int left, int shift) const {
    LineFit fit;
    fit.same_left = same_left;
    fit.with_sign = with_sign;
    fit.shift = shift;
    if (fit.shift < 0) return std::nullopt;
    for (const Steps& s : steps) {
      int exponent = exponent_of(s.real);
      // The first rounding's tie is at -2^30 above zero and at 2^30 below, in units where the slope
      // has 31 bits; scaled to this form's units.
      bool needs_sign = with_sign && !may_break && !s.constant && fit.shift + exponent >= 0;
      int32_t sign = needs_sign ? 1 << (fit.shift + exponent) : 0;
      Form form{sign, left, fit.shift, clamp.min + 1};
      // Smaller slopes shifted less keep all bits of their multipliers.
      if (!same_left) form.left = std::max(0, left - (top - exponent));
      // A constant channel's multiplier is 0, whatever is shifted.
      if (!s.constant && (s.range.magnitude() << form.left) >= int64_t{1} << 31) return std::nullopt;
      LineFit::Channel channel;
      bool fits = fit_channel(s, form, channel) || (may_move && fit_moved(s, form, channel));
      if (!fits && with_sign && may_break) fits = fit_broken(s, form.left, form.shift, form.first_level, channel);
      if (!fits && others == nullptr) return std::nullopt;
      if (!fits) (*others)[fit.channels.size()] = true;
      fit.channels.push_back(fits ? channel : LineFit::Channel{});
    }
    return fit;
  }
};

// Bits that hold every value of the clamp without its sign.
int value_bits(ClampI32 clamp) {
  int64_t values = std::max(std::abs(int64_t{clamp.min}), std::abs(int64_t{clamp.max})) + 1;
  int bits = 0;
  while ((int64_t{1} << bits) < values) ++bits;
  return bits;
}

struct WordSearch {
  const std::vector<Steps>& steps;
  ClampI32 clamp;
  WordFit fit;

  // What is added to a channel's high word; nothing where a sum could leave 32 bits.
  std::optional<int64_t> offset(int s) const {
    int64_t at = fit.first + (int64_t{fit.half_zero()} << s);
    if (std::abs(at) + fit.sign >= int64_t{1} << 30) return std::nullopt;
    return at;
  }

  bool right(const Steps& channel, int64_t word) const {
    if (word < 1 || word > std::numeric_limits<int32_t>::max()) return false;
    auto s = static_cast<int>(word & ((1 << fit.low_bits) - 1));
    auto at = offset(s);
    if (!at || fit.base + s + value_bits(clamp) > 29) return false;
    Interval good = offsets(channel, {fit.sign, fit.left, fit.base + s, clamp.min + 1}, word);
    return *at * kWord >= good.low && *at * kWord < good.high;
  }

  // A word without multiplier: the zero point, whatever the accumulator, even if its shift wraps.
  std::optional<int32_t> without_multiplier(const Steps& channel) const {
    int64_t value = clamp.min + channel.always();
    for (int s = (1 << fit.low_bits) - 1; s >= 0; --s) {
      auto at = offset(s);
      if (!at || fit.base + s > 30) continue;
      auto result = [&](int64_t sum) { return std::clamp<int64_t>(sum >> (fit.base + s), clamp.min, clamp.max); };
      // |acc << left| <= 2^31 and word < 2^low_bits bound the high word.
      int64_t high = int64_t{1} << fit.low_bits;
      if (result(*at - high - fit.sign) == value && result(*at + high) == value) return s;
    }
    return std::nullopt;
  }

  std::optional<int32_t> word_of(const Steps& channel) const {
    if (channel.constant)
      if (auto found = without_multiplier(channel)) return found;
    QuantizedMultiplier m = quantize_multiplier(channel.real);
    int64_t most = std::min((1 << fit.low_bits) - 1, 29 - value_bits(clamp) - fit.base);
    int64_t s = fit.left - 1 - m.shift - fit.base;
    if (m.multiplier == 0 || s < 0) return std::nullopt;
    if ((channel.range.magnitude() << fit.left) >= int64_t{1} << 31) return std::nullopt;
    // Channels of slopes so small that the shift cannot follow have a smaller multiplier. They have
    // few steps, so that mostly fits too.
    int64_t multiplier = m.multiplier >> std::clamp<int64_t>(s - most, 0, 31);
    s = std::min(s, most);
    int64_t unit = int64_t{1} << fit.low_bits;
    int64_t below = ((multiplier - s) >> fit.low_bits) * unit + s;
    int64_t toward = 2 * (multiplier - below) > unit ? -unit : unit;
    int64_t nearest = toward < 0 ? below + unit : below;
    for (int64_t j = 0; j <= kWordTries; ++j)
      for (int64_t word : {nearest + j * toward, nearest - j * toward})
        if (right(channel, word)) return static_cast<int32_t>(word);
    return std::nullopt;
  }

  bool run() {
    fit.words.clear();
    for (const Steps& channel : steps) {
      auto word = word_of(channel);
      if (!word) return false;
      fit.words.push_back(*word);
    }
    return true;
  }
};

}  // namespace

int64_t Steps::always() const {
  return std::count_if(first.begin(), first.end(), [&](int64_t at) { return at <= range.low; });
}

std::optional<std::vector<Steps>> find_steps(const std::vector<StepTarget>& targets, int32_t zero_point,
                                             ClampI32 clamp) {
  if (value_bits(clamp) > 16) return std::nullopt;
  std::vector<Steps> out;
  for (const StepTarget& t : targets) {
    if (!(t.real > 0) || !std::isfinite(t.real) || t.range.magnitude() >= int64_t{1} << 31) return std::nullopt;
    out.push_back(steps_of(t, zero_point, clamp));
  }
  return out;
}

std::optional<WordFit> fit_words(const std::vector<Steps>& channels, int32_t zero_point, ClampI32 clamp,
                                 bool two_roundings) {
  int64_t most = 0;
  std::optional<int> least_shift;  // of quantised multipliers, as right shift
  for (const Steps& channel : channels) {
    if (channel.constant) continue;
    most = std::max(most, channel.range.magnitude());
    int shift = -quantize_multiplier(channel.real).shift;
    least_shift = std::min(least_shift.value_or(shift), shift);
  }
  if (std::abs(int64_t{zero_point}) >= int64_t{1} << std::min(value_bits(clamp), 15)) return std::nullopt;
  // How far accumulators are shifted does not change what fits, so the first left shift that
  // overflows nothing is the only one tried; layers of a network mostly agree on it.
  for (int left : {6, 4, 2}) {
    int base = least_shift.value_or(4) + left - 1;
    if ((most << left) >= int64_t{1} << 31 || base < 1 || base + value_bits(clamp) > 29) continue;
    WordSearch search{channels, clamp, {}};
    search.fit.base = base;
    search.fit.left = left;
    search.fit.zero_point = zero_point;
    if (two_roundings) search.fit.first = 1 << (left - 2);
    // Fewer low bits leave more of the multiplier; three usually hold the spread of the shifts.
    for (int low_bits : {3, 2, 1, 4, 5}) {
      search.fit.low_bits = low_bits;
      for (int32_t sign : {0, 1 << (left - 1)}) {
        search.fit.sign = sign;
        if ((sign == 0 || two_roundings) && search.run()) return std::move(search.fit);
      }
    }
    return std::nullopt;
  }
  return std::nullopt;
}

namespace {

LineSearch line_search(const std::vector<Steps>& channels, ClampI32 clamp) {
  LineSearch search{channels, clamp};
  search.most_shift = 29 - value_bits(clamp);
  double slope = 0;
  for (const Steps& s : channels)
    if (!s.constant) slope = std::max(slope, s.real);
  search.top = exponent_of(slope);
  return search;
}

}  // namespace

std::optional<LineFit> fit_lines(const std::vector<Steps>& channels, ClampI32 clamp) {
  LineSearch search = line_search(channels, clamp);
  // Forms in order of cost per output. Shifts start with one that nearly always does, so that
  // layers of a network agree on it and share their code.
  for (bool same_left : {true, false})
    for (bool with_sign : {false, true})
      for (int left : {6, 8, 4, 2, 3, 5, 7, 1, 0, 10, 12, 14})
        if (auto fit = search.attempt(same_left, with_sign, left, search.shift_of(left))) return fit;
  return std::nullopt;
}

namespace {

std::optional<LineFit> fit_left(const LineSearch& search, int left) {
  int most = search.shift_of(left);
  for (bool with_sign : {false, true})
    for (int shift : {12, 14, 10, most, most - 1, most - 2})
      if (shift > 0 && shift <= most)
        if (auto fit = search.attempt(true, with_sign, left, shift)) return fit;
  return std::nullopt;
}

}  // namespace

std::optional<LineFit> fit_moved_lines(const std::vector<Steps>& channels, ClampI32 clamp, int left, bool may_break) {
  LineSearch search = line_search(channels, clamp);
  search.may_move = true;
  search.may_break = may_break;
  return fit_left(search, left);
}

std::optional<LineFit> fit_most_lines(const std::vector<Steps>& channels, ClampI32 clamp, int left,
                                      std::vector<bool>& others) {
  LineSearch search = line_search(channels, clamp);
  search.may_move = true;
  search.others = &others;
  const int most = search.shift_of(left);
  for (int shift : {12, 14, most}) {
    if (shift <= 0 || shift > most) continue;
    others.assign(channels.size(), false);
    auto fit = search.attempt(true, false, left, shift);
    if (fit && 2 * std::count(others.begin(), others.end(), true) <= static_cast<std::ptrdiff_t>(channels.size()))
      return fit;
  }
  return std::nullopt;
}

std::optional<LineFit> fit_lines(const std::vector<Steps>& channels, ClampI32 clamp, int left) {
  return fit_left(line_search(channels, clamp), left);
}

std::optional<LineFit> fit_line_at(const std::vector<Steps>& channels, ClampI32 clamp, int left, int shift) {
  LineSearch search = line_search(channels, clamp);
  if (shift > search.shift_of(left)) return std::nullopt;
  return search.attempt(true, false, left, shift);
}

}  // namespace aotc::ops
