// SPDX-License-Identifier: Apache-2.0
#include "support/repeats.h"

#include <algorithm>

namespace aotc {

namespace {

// Comparisons of one search: behind some thousands of items only the repeats that gain most are
// found.
constexpr int64_t kMostComparisons = int64_t{1} << 26;
// Items of repeats whose gain is asked for, for each item of the list: a list of one item over and over repeats
// with every period. Of short lists all repeats are looked at.
constexpr size_t kMostAsked = 64, kAlwaysAsked = 20000;

class RepeatSearch {
 public:
  RepeatSearch(const std::vector<int>& list, size_t least, const RepeatGain& gain)
      : list_(list), least_(std::max<size_t>(least, 2)), gain_(gain), left_(kMostAsked * list.size() + kAlwaysAsked) {}

  std::vector<Repeat> run() {
    std::vector<std::pair<size_t, size_t>> open = {{0, list_.size()}};
    while (!open.empty()) {
      const auto [begin, end] = open.back();
      open.pop_back();
      const Repeat best = best_in(begin, end);
      if (best.count == 0) continue;
      found_.push_back(best);
      open.push_back({begin, best.begin});
      open.push_back({best.end(), end});
    }
    std::sort(found_.begin(), found_.end(), [](const Repeat& a, const Repeat& b) { return a.begin < b.begin; });
    return std::move(found_);
  }

 private:
  Repeat best_in(size_t begin, size_t end) {
    Repeat best;
    int64_t most = 0;
    for (size_t period = 1; period <= kMostPeriod && period * least_ <= end - begin; ++period) {
      if (compared_ > kMostComparisons) break;
      size_t equal = 0;  // items in a row that are those one period further on
      for (size_t i = begin; i + period <= end; ++i) {
        ++compared_;
        const bool same = i + period < end && list_[i] == list_[i + period];
        if (same) {
          ++equal;
          continue;
        }
        const Repeat found{i - equal, period, equal / period + 1};
        equal = 0;
        if (found.count < least_ || found.period * found.count > left_) continue;
        left_ -= found.period * found.count;
        const int64_t gained = gain_(found);
        if (gained <= most) continue;
        most = gained;
        best = found;
      }
    }
    return best;
  }

  const std::vector<int>& list_;
  size_t least_;
  const RepeatGain& gain_;
  size_t left_;  // items
  int64_t compared_ = 0;
  std::vector<Repeat> found_;
};

}  // namespace

std::vector<Repeat> find_repeats(const std::vector<int>& list, size_t least, const RepeatGain& gain) {
  return RepeatSearch(list, least, gain).run();
}

}  // namespace aotc
