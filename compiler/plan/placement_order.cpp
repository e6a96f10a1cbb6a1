// SPDX-License-Identifier: Apache-2.0
#include "plan/placement_order.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <set>

#include "plan/overlap.h"

namespace aotc::plan {

namespace {

// Enough for networks of some branches; what is wider keeps its order. A state has its calls, so there are fewer
// of longer programs.
constexpr size_t kMostCalls = 256, kMostListed = 1 << 18;

// What both need, the result as far over the operand as it may lie.
int64_t together(const ops::WriteOrder& order, int64_t operand, int64_t result) {
  if (order.in_place) return std::max(operand, result);
  const OverlapLimits limits = overlap_limits(order, operand, result);
  auto at = [&](int64_t distance) { return std::max(operand, distance + result) - std::min<int64_t>(0, distance); };
  return std::min(at(std::min<int64_t>(0, limits.forward)), at(std::max<int64_t>(0, limits.backward)));
}

class OrderSearch {
 public:
  OrderSearch(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls, const WrittenBuffers& written)
      : buffers_(buffers), calls_(calls), users_(buffers.size()), needs_(calls.size()), named_(calls.size()) {
    for (size_t c = 0; c < calls.size(); ++c) {
      std::set<int> named(calls[c].buffers.begin(), calls[c].buffers.end());
      named_[c].assign(named.begin(), named.end());
      for (int b : named_[c]) users_[at(b)].push_back(static_cast<int>(c));
    }
    find_needs(written);
  }

  std::optional<std::vector<int>> run() {
    const size_t count = calls_.size();
    State first{0, std::vector<bool>(count, false), {}};
    limit_ = 0;
    std::vector<bool> done(count, false);
    for (size_t c = 0; c < count; ++c) {
      limit_ = std::max(limit_, bytes_at(static_cast<int>(c), done));
      done[c] = true;
    }
    push(std::move(first));
    std::set<std::vector<bool>> seen;
    for (size_t states = 0; !open_.empty() && states * count < kMostListed; ++states) {
      State now = open_.top();
      open_.pop();
      if (now.order.size() == count) return std::move(now.order);
      if (!seen.insert(now.done).second) continue;
      for (size_t c = 0; c < count; ++c) {
        if (now.done[c] || !is_ready(c, now.done)) continue;
        const int64_t bytes = std::max(now.bytes, bytes_at(static_cast<int>(c), now.done));
        if (bytes >= limit_) continue;
        State next{bytes, now.done, now.order};
        next.done[c] = true;
        next.order.push_back(static_cast<int>(c));
        push(std::move(next));
      }
    }
    return std::nullopt;
  }

 private:
  struct State {
    int64_t bytes;  // at the fullest moment so far
    std::vector<bool> done;
    std::vector<int> order;
    // The emptiest first, of these the longest, and of these that of the model's order.
    bool operator<(const State& other) const {
      if (bytes != other.bytes) return bytes > other.bytes;
      if (order.size() != other.order.size()) return order.size() < other.order.size();
      return order > other.order;
    }
  };
  static size_t at(int i) { return static_cast<size_t>(i); }

  // Behind whatever wrote what it reads or writes, and behind whatever read what it writes.
  void find_needs(const WrittenBuffers& written) {
    std::vector<int> writer(buffers_.size(), -1);
    std::vector<std::vector<int>> readers(buffers_.size());
    for (size_t c = 0; c < calls_.size(); ++c) {
      for (int b : named_[c]) {
        if (writer[at(b)] >= 0) needs_[c].push_back(writer[at(b)]);
        const bool writes = std::find(written[c].begin(), written[c].end(), b) != written[c].end();
        if (!writes) {
          readers[at(b)].push_back(static_cast<int>(c));
          continue;
        }
        needs_[c].insert(needs_[c].end(), readers[at(b)].begin(), readers[at(b)].end());
        readers[at(b)].clear();
        writer[at(b)] = static_cast<int>(c);
      }
    }
  }

  void push(State state) { open_.push(std::move(state)); }
  bool is_ready(size_t call, const std::vector<bool>& done) const {
    return std::all_of(needs_[call].begin(), needs_[call].end(), [&](int c) { return done[at(c)]; });
  }

  // What is alive while the call runs behind those that are done.
  int64_t bytes_at(int call, const std::vector<bool>& done) const {
    int64_t sum = calls_[at(call)].scratch_bytes;
    for (size_t b = 0; b < buffers_.size(); ++b)
      if (is_alive(b, call, done)) sum += buffers_[b].bytes;
    int64_t shared = 0;
    for (const BufferUse::Overlap& o : calls_[at(call)].overlaps) {
      if (!is_last(at(o.operand), call, done) || !is_first(at(o.result), done)) continue;
      const int64_t in = buffers_[at(o.operand)].bytes, out = buffers_[at(o.result)].bytes;
      if (o.operand != o.result) shared = std::max(shared, in + out - together(*o.order, in, out));
    }
    return sum - shared;
  }

  bool is_alive(size_t buffer, int call, const std::vector<bool>& done) const {
    const std::vector<int>& users = users_[buffer];
    if (std::find(users.begin(), users.end(), call) != users.end()) return true;
    const bool begun = buffers_[buffer].from_start || !is_first(buffer, done);
    const bool needed =
        buffers_[buffer].to_end || std::any_of(users.begin(), users.end(), [&](int c) { return !done[at(c)]; });
    return begun && needed;
  }
  bool is_first(size_t buffer, const std::vector<bool>& done) const {
    return std::none_of(users_[buffer].begin(), users_[buffer].end(), [&](int c) { return done[at(c)]; });
  }
  bool is_last(size_t buffer, int call, const std::vector<bool>& done) const {
    return !buffers_[buffer].to_end &&
           std::all_of(users_[buffer].begin(), users_[buffer].end(), [&](int c) { return c == call || done[at(c)]; });
  }

  const std::vector<Buffer>& buffers_;
  const std::vector<BufferUse>& calls_;
  std::vector<std::vector<int>> users_;  // by buffer
  std::vector<std::vector<int>> needs_;  // by call: those that come before
  std::vector<std::vector<int>> named_;  // by call
  int64_t limit_ = 0;                    // of the order as it is
  std::priority_queue<State> open_;
};

}  // namespace

std::optional<std::vector<int>> emptier_order(const std::vector<Buffer>& buffers, const std::vector<BufferUse>& calls,
                                              const WrittenBuffers& written) {
  if (calls.size() > kMostCalls) return std::nullopt;
  return OrderSearch(buffers, calls, written).run();
}

}  // namespace aotc::plan
