// SPDX-License-Identifier: Apache-2.0
#include "plan/placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "plan/overlap.h"
#include "plan/packing.h"

namespace aotc::plan {

namespace {

// Time 0 is before the first call, when inputs are filled; call c runs at c + 1, and behind the last
// call is one more time, when outputs are read.
constexpr int kStart = 0;
int time_of(size_t call) { return static_cast<int>(call) + 1; }

struct Live {
  int begin, end;  // times, both inclusive
};

// One attempt: which buffers are one block, and where blocks lie.
class Attempt {
 public:
  Attempt(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls)
      : buffers_(buffers), calls_(calls), end_(time_of(calls.size())) {
    root_.resize(buffers.size());
    std::iota(root_.begin(), root_.end(), 0);
  }

  // `shrinking`: calls whose smaller result takes the place of a larger operand, with its size.
  // `max_work`: of the packer's searches.
  void solve_with(bool overlap, bool in_place, int64_t max_work, const std::set<size_t>& shrinking = {}) {
    find_lifetimes();
    if (in_place) join_in_place(shrinking);
    make_items();
    separate_items(overlap);
    PackingOptions options;
    options.max_work = std::min(options.max_work, max_work);
    if (too_many_pairs_ == 0) solution_ = solve(problem_, options);
  }

  bool solved() const { return too_many_pairs_ == 0 && solution_.ok(); }
  int64_t height() const { return solution_.height; }
  int64_t work() const { return solution_.work; }

  Placement placement() const {
    Placement out;
    out.too_many_pairs = too_many_pairs_;
    if (too_many_pairs_ > 0) return out;
    out.error = solution_.ok() ? check(problem_, solution_) : solution_.error;
    if (!out.error.empty()) return out;
    auto offset = [&](int item) { return item < 0 ? -1 : solution_.offsets[static_cast<size_t>(item)]; };
    for (size_t b = 0; b < buffers_.size(); ++b) {
      out.block.push_back(root_of(static_cast<int>(b)));
      out.offsets.push_back(offset(item_of_buffer_[static_cast<size_t>(out.block.back())]));
    }
    for (int item : item_of_call_) out.scratch_offsets.push_back(offset(item));
    out.live_bytes.assign(live_bytes_.begin() + 1, live_bytes_.begin() + end_);
    out.bytes = solution_.height;
    out.lower_bound = solution_.lower_bound;
    out.proven_optimal = solution_.proven_optimal;
    out.method = std::string(method_name(solution_.method));
    return out;
  }

 private:
  static size_t at(int i) { return static_cast<size_t>(i); }
  int root_of(int b) const {
    while (root_[at(b)] != b) b = root_[at(b)];
    return b;
  }

  void find_lifetimes() {
    life_.assign(buffers_.size(), {end_ + 1, -1});
    for (size_t b = 0; b < buffers_.size(); ++b) {
      if (buffers_[b].from_start) life_[b] = {kStart, kStart};
      if (buffers_[b].to_end) life_[b].end = end_;
    }
    for (size_t c = 0; c < calls_.size(); ++c)
      for (int b : calls_[c].buffers) {
        Live& l = life_[at(b)];
        l.begin = std::min(l.begin, time_of(c));
        l.end = std::max(l.end, time_of(c));
      }
  }

  // Blocks of the pair, if the operand dies in this call and nothing else of the call reads it.
  struct Pair {
    int operand = -1, result = -1;
  };
  Pair dying_pair(size_t call, const BufferUse::Overlap& o) const {
    int i = root_of(o.operand), j = root_of(o.result);
    int readers = 0;
    for (int b : calls_[call].buffers) readers += root_of(b) == i;
    bool dies = life_[at(i)].end == time_of(call) && life_[at(j)].begin == time_of(call);
    return i != j && dies && readers == 1 ? Pair{i, j} : Pair{};
  }

  void join_in_place(const std::set<size_t>& shrinking) {
    for (size_t c = 0; c < calls_.size(); ++c)
      for (const BufferUse::Overlap& o : calls_[c].overlaps) {
        if (!o.order->in_place) continue;
        Pair p = dying_pair(c, o);
        if (p.operand < 0) continue;
        int64_t in = buffers_[at(p.operand)].bytes, out = buffers_[at(p.result)].bytes;
        if (in < out || (in > out && !shrinking.contains(c))) continue;
        root_[at(p.result)] = p.operand;
        life_[at(p.operand)].end = life_[at(p.result)].end;
        life_[at(p.result)] = {end_ + 1, -1};
      }
  }

  void make_items() {
    std::vector<int64_t> alignment(buffers_.size(), 1);
    for (size_t b = 0; b < buffers_.size(); ++b) {
      int64_t& a = alignment[at(root_of(static_cast<int>(b)))];
      a = std::max(a, buffers_[b].alignment);
    }
    item_of_buffer_.assign(buffers_.size(), -1);
    item_of_call_.assign(calls_.size(), -1);
    for (size_t b = 0; b < buffers_.size(); ++b) {
      if (life_[b].end < 0) continue;
      item_of_buffer_[b] = problem_.add(buffers_[b].bytes, alignment[b], buffers_[b].name);
      item_life_.push_back(life_[b]);
    }
    for (size_t c = 0; c < calls_.size(); ++c) {
      if (calls_[c].scratch_bytes == 0) continue;
      item_of_call_[c] =
          problem_.add(calls_[c].scratch_bytes, calls_[c].scratch_alignment, fmt::format("scratch of call {}", c));
      item_life_.push_back({time_of(c), time_of(c)});
    }
  }

  // Pairs of items that are alive at the same time.
  int64_t count_pairs() const {
    std::vector<int64_t> begins(at(end_) + 1, 0), ends(at(end_) + 1, 0);
    for (const Live& l : item_life_) {
      ++begins[at(l.begin)];
      ++ends[at(l.end)];
    }
    int64_t pairs = 0, alive = 0;
    for (size_t t = 0; t < begins.size(); ++t) {
      pairs += begins[t] * alive + begins[t] * (begins[t] - 1) / 2;
      alive += begins[t] - ends[t];
    }
    return pairs;
  }

  void separate_items(bool overlap) {
    int64_t pairs = count_pairs();
    if (pairs > kMaxPairs) {
      too_many_pairs_ = pairs;
      return;
    }
    std::map<std::pair<int, int>, Separation> relaxed;
    std::vector<int64_t> shared(at(end_) + 1, 0);
    if (overlap) relax(relaxed, shared);
    separate_live(relaxed);
    for (size_t t = 0; t < live_bytes_.size(); ++t)
      problem_.lower_bound = std::max(problem_.lower_bound, live_bytes_[t] - shared[t]);
  }

  // Lists the pairs that are alive together, in order of the items, and the bytes alive per time.
  void separate_live(const std::map<std::pair<int, int>, Separation>& relaxed) {
    const std::vector<Live>& live = item_life_;
    std::vector<size_t> by_begin(live.size());
    std::iota(by_begin.begin(), by_begin.end(), size_t{0});
    std::stable_sort(by_begin.begin(), by_begin.end(),
                     [&](size_t x, size_t y) { return live[x].begin < live[y].begin; });
    std::vector<std::pair<int32_t, int32_t>> pairs;
    std::vector<int64_t> change(at(end_) + 2, 0);
    for (size_t n = 0; n < by_begin.size(); ++n) {
      size_t i = by_begin[n];
      change[at(live[i].begin)] += problem_.items[i].size;
      change[at(live[i].end) + 1] -= problem_.items[i].size;
      for (size_t next = n + 1; next < by_begin.size(); ++next) {
        size_t j = by_begin[next];
        if (live[j].begin > live[i].end) break;
        pairs.emplace_back(static_cast<int32_t>(std::min(i, j)), static_cast<int32_t>(std::max(i, j)));
      }
    }
    std::sort(pairs.begin(), pairs.end());
    for (auto [i, j] : pairs) {
      auto known = relaxed.find({i, j});
      if (known != relaxed.end()) {
        problem_.separations.push_back(known->second);
      } else {
        problem_.separate(i, j);
      }
    }
    live_bytes_.resize(at(end_) + 1);
    std::partial_sum(change.begin(), change.end() - 1, live_bytes_.begin());
  }

  // Separations of pairs that may share bytes, by item numbers in increasing order; and per time
  // how many bytes sharing can save at the most.
  void relax(std::map<std::pair<int, int>, Separation>& relaxed, std::vector<int64_t>& shared) const {
    for (size_t c = 0; c < calls_.size(); ++c)
      for (const BufferUse::Overlap& o : calls_[c].overlaps) {
        Pair p = dying_pair(c, o);
        if (p.operand < 0) continue;
        int i = item_of_buffer_[at(p.operand)], j = item_of_buffer_[at(p.result)];
        int64_t in = buffers_[at(p.operand)].bytes, out = buffers_[at(p.result)].bytes;
        OverlapLimits limits = overlap_limits(*o.order, in, out);
        Separation s{i, j, std::min(in, limits.backward), std::min(out, -limits.forward)};
        if (s.d_ij >= in && s.d_ji >= out) continue;
        if (i > j) s = {j, i, s.d_ji, s.d_ij};
        relaxed[{s.i, s.j}] = s;
        shared[at(time_of(c))] += std::min(in, out);
      }
    for (size_t c = 0; c < calls_.size(); ++c) relax_scratch(c, relaxed, shared);
  }

  void relax_scratch(size_t c, std::map<std::pair<int, int>, Separation>& relaxed, std::vector<int64_t>& shared) const {
    const BufferUse::Overlap& o = calls_[c].scratch_overlap;
    if (o.order == nullptr || item_of_call_[c] < 0) return;
    const int operand = root_of(o.operand);
    const auto readers =
        std::count_if(calls_[c].buffers.begin(), calls_[c].buffers.end(), [&](int b) { return root_of(b) == operand; });
    if (life_[at(operand)].end != time_of(c) || readers != 1) return;
    const int64_t in = buffers_[at(operand)].bytes, scratch = calls_[c].scratch_bytes;
    const OverlapLimits limits = overlap_limits(*o.order, in, scratch);
    const int i = item_of_buffer_[at(operand)], j = item_of_call_[c];
    relaxed[{i, j}] = {i, j, std::min(in, limits.backward), std::min(scratch, -limits.forward)};
    shared[at(time_of(c))] += std::min(in, scratch);
  }

  const std::vector<Buffer>& buffers_;
  const std::vector<BufferUse>& calls_;
  int end_;                 // the time after the last call
  std::vector<int> root_;   // by buffer: what it was joined to
  std::vector<Live> life_;  // by buffer; end < 0: nobody needs it
  Problem problem_;
  std::vector<Live> item_life_;
  std::vector<int> item_of_buffer_, item_of_call_;
  std::vector<int64_t> live_bytes_;  // by time
  Solution solution_;
  int64_t too_many_pairs_ = 0;
};

constexpr int kMostShrinking = 24;  // attempts

// A smaller result in the place of its operand keeps the whole operand's bytes for as long as it
// lives: worth it only where a call ties the arena's size, so these are tried one by one.
template <typename Improve>
void shrink_in_place(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls, const Placement& best,
                     const Improve& improve) {
  std::set<size_t> chosen, tried;
  auto shrinks = [&](const BufferUse::Overlap& o) {
    return o.order->in_place &&
           buffers[static_cast<size_t>(o.operand)].bytes > buffers[static_cast<size_t>(o.result)].bytes;
  };
  for (int attempts = 0; attempts < kMostShrinking; ++attempts) {
    size_t call = calls.size();
    for (size_t c = 0; c < calls.size() && call == calls.size(); ++c)
      if (!tried.contains(c) && best.live_bytes[c] >= best.bytes &&
          std::any_of(calls[c].overlaps.begin(), calls[c].overlaps.end(), shrinks))
        call = c;
    if (call == calls.size()) return;
    tried.insert(call);
    chosen.insert(call);
    if (!improve(true, chosen)) chosen.erase(call);
  }
}

}  // namespace

Placement place_buffers(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls, bool overlap) {
  Attempt apart(buffers, calls);
  apart.solve_with(false, false, kMaxWork);
  Placement best = apart.placement();
  int64_t without_overlap = best.bytes;
  int64_t work = apart.work();
  auto improve = [&](bool in_place, const std::set<size_t>& shrinking) {
    if (work >= kMaxWork) return false;
    Attempt next(buffers, calls);
    next.solve_with(true, in_place, kMaxWork - work, shrinking);
    work += next.work();
    bool better = next.solved() && next.height() < best.bytes;
    if (better) best = next.placement();
    return better;
  };
  if (overlap && best.ok()) {
    improve(false, {});
    improve(true, {});
    shrink_in_place(buffers, calls, best, improve);
  }
  best.without_overlap = without_overlap;
  best.work = work;
  return best;
}

}  // namespace aotc::plan
