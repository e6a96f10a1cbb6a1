// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "plan/packing_model.h"

namespace aotc::plan::packing {
namespace {

struct Membership {
  int32_t clique;
  int64_t weight;
};

// The height a set of items needs if each may start no lower than `start`: every clique is a queue
// at one machine, served in order of start (Jackson's preemptive-free bound for equal tails).
class CliqueBound {
 public:
  CliqueBound(const Model& model, const std::vector<Clique>& cliques)
      : member_of_(model.size.size()), top_(cliques.size()), tail_(cliques.size()) {
    for (size_t c = 0; c < cliques.size(); ++c) {
      tail_[c] = cliques[c].tail;
      for (size_t m = 0; m < cliques[c].members.size(); ++m) {
        member_of_[cliques[c].members[m]].push_back({static_cast<int32_t>(c), cliques[c].weight[m]});
      }
    }
  }

  // `items` in order of start; false if some clique would exceed `limit`.
  bool fits(const std::vector<std::pair<int64_t, int32_t>>& items, int64_t limit) {
    std::fill(top_.begin(), top_.end(), 0);
    for (const auto& [start, k] : items) {
      for (const Membership& m : member_of_[k]) {
        int64_t& top = top_[m.clique];
        top = std::max(top, start) + m.weight;
        if (top + tail_[m.clique] > limit) return false;
      }
    }
    return true;
  }

 private:
  std::vector<std::vector<Membership>> member_of_;
  std::vector<int64_t> top_, tail_;
};

// Why the canonical form loses nothing when all d are positive: take an optimal packing with the
// least sum of offsets. Moving an item down can only break separations to items below its old
// offset, so each item sits at the lowest offset that items below it (and fixed ones) allow, and no
// item fits wholly below the next one in order.
class CanonicalSearch {
 public:
  CanonicalSearch(const Model& model, const std::vector<Clique>& cliques, Search& search)
      : model_(model), search_(search), placement_(model), bound_(model, cliques) {
    const int32_t n = model.count();
    low_.assign(n, 0);
    reach_.assign(n, 1);
    for (int32_t k = 0; k < n; ++k) {
      if (model.is_fixed(k)) {
        placement_.place(k, model.fixed[k]);
        continue;
      }
      ++free_;
      for (const Neighbor& nb : model.near[k]) {
        if (!model.is_fixed(nb.item)) reach_[k] = std::max(reach_[k], nb.below);
      }
    }
    for (int32_t k = 0; k < n; ++k) {
      if (model.is_fixed(k)) base_ = std::max(base_, model.fixed[k] + model.size[k]);
      else low_[k] = placement_.lowest(k, 0);
    }
  }

  void run() {
    const bool all = descend(0, -1, -1, base_);
    search_.finished = all && search_.best_height > search_.enough;
  }

 private:
  using Candidates = std::vector<std::pair<int64_t, int32_t>>;
  // Sorting them and the bounds of their cliques, where other searches add one distance.
  static constexpr int64_t kWorkOfCandidate = 16;

  // The free items that may come next, in the order to try them; false if nothing below the best
  // height can follow.
  bool candidates(int64_t last, int32_t last_item, Candidates& out) {
    const int64_t limit = search_.best_height - 1;
    int64_t ceiling = std::numeric_limits<int64_t>::max();
    out.clear();
    for (int32_t k = 0; k < model_.count(); ++k) {
      if (placement_.placed(k)) continue;
      const int64_t start = std::max(low_[k], last);
      if (start + model_.size[k] > limit) return false;
      ceiling = std::min(ceiling, low_[k] + reach_[k]);
      out.emplace_back(start, k);
    }
    if (ceiling <= last) return false;
    std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      if (model_.size[a.second] != model_.size[b.second]) return model_.size[a.second] > model_.size[b.second];
      return a.second < b.second;
    });
    if (!bound_.fits(out, limit)) return false;
    std::erase_if(out, [&](const auto& c) {
      const int64_t low = low_[c.second];
      return low < last || low >= ceiling || (low == last && c.second < last_item);
    });
    return true;
  }

  // True if everything below this node was searched.
  bool descend(int32_t placed, int64_t last, int32_t last_item, int64_t height) {
    if (height >= search_.best_height) return true;
    if (placed == free_) {
      search_.best_height = height;
      search_.offsets = placement_.offsets();
      search_.improved = true;
      return true;
    }
    search_.work += kWorkOfCandidate * (model_.count() - placed);
    if (++search_.nodes > search_.max_nodes || search_.work > search_.max_work) return false;
    Candidates next;
    if (!candidates(last, last_item, next)) return true;
    for (const auto& [offset, k] : next) {
      if (std::max(height, offset + model_.size[k]) >= search_.best_height) continue;
      const size_t mark = trail_.size();
      place(k, offset);
      const bool all = descend(placed + 1, offset, k, std::max(height, offset + model_.size[k]));
      undo(k, mark);
      if (search_.best_height <= search_.enough) return true;
      if (!all) return false;
    }
    return true;
  }

  void place(int32_t k, int64_t offset) {
    placement_.place(k, offset);
    for (const Neighbor& nb : model_.near[k]) {
      const int32_t o = nb.item;
      // From o's side the distances of this pair change roles.
      if (placement_.placed(o) || low_[o] <= offset - nb.above || low_[o] >= offset + nb.below) continue;
      trail_.emplace_back(o, low_[o]);
      low_[o] = placement_.lowest(o, offset + nb.below);
    }
  }

  void undo(int32_t k, size_t mark) {
    while (trail_.size() > mark) {
      low_[trail_.back().first] = trail_.back().second;
      trail_.pop_back();
    }
    placement_.remove(k);
  }

  const Model& model_;
  Search& search_;
  Placement placement_;
  CliqueBound bound_;
  int32_t free_ = 0;
  int64_t base_ = 0;
  std::vector<int64_t> low_;    // lowest offset the placed items allow
  std::vector<int64_t> reach_;  // an item at o hinders no item at o + reach or above
  std::vector<std::pair<int32_t, int64_t>> trail_;
};

}  // namespace

void search_canonical(const Model& model, const std::vector<Clique>& cliques, Search& search) {
  CanonicalSearch(model, cliques, search).run();
}

namespace {

class DisjunctiveSearch {
 public:
  DisjunctiveSearch(const Model& model, const std::vector<Clique>& cliques, Search& search)
      : model_(model), search_(search), bound_(model, cliques) {
    const int32_t n = model.count();
    side_.assign(model.edges.size(), Side::kOpen);
    queued_.assign(model.edges.size(), 0);
    for (int32_t k = 0; k < n; ++k) {
      low_.push_back(model.is_fixed(k) ? model.fixed[k] : 0);
      high_.push_back(model.is_fixed(k) ? model.fixed[k] : kMaxBytes * 2 * (n + 1));
    }
    // A cycle of separations that closes by a few bytes raises bounds in as small steps.
    max_revisions_ = search.max_nodes * 200 + static_cast<int64_t>(model.edges.size()) * 10;
    max_revisions_ = std::min(max_revisions_, search.max_work);
    node_work_ = model.count() + static_cast<int64_t>(model.edges.size());
  }

  void run() {
    for (size_t e = 0; e < model_.edges.size(); ++e) enqueue(static_cast<int32_t>(e));
    const bool all = descend(0);
    search_.work += revisions_;
    search_.finished = all && search_.best_height > search_.enough;
  }

 private:
  static constexpr int kMaxDepth = 4000;  // of the recursion, for the stack's sake

  enum class Side : char { kOpen, kAbove, kBelow };  // kAbove: j above i, by d_ij
  enum class What : char { kLow, kHigh, kSide };
  struct Change {
    What what;
    int32_t index;
    int64_t old;
  };

  void enqueue(int32_t e) {
    if (queued_[e]) return;
    queued_[e] = 1;
    queue_.push_back(e);
  }
  void enqueue_around(int32_t k) {
    for (int32_t e : model_.edges_of[k]) enqueue(e);
  }

  bool raise(int32_t k, int64_t v) {
    v = model_.align_up(k, v);
    if (v <= low_[k]) return true;
    trail_.push_back({What::kLow, k, low_[k]});
    low_[k] = v;
    enqueue_around(k);
    return low_[k] <= high_[k];
  }
  bool lower(int32_t k, int64_t v) {
    if (v < 0) return false;
    v = model_.align_down(k, v);
    if (v >= high_[k]) return true;
    if (model_.is_fixed(k)) return false;
    trail_.push_back({What::kHigh, k, high_[k]});
    high_[k] = v;
    enqueue_around(k);
    return low_[k] <= high_[k];
  }

  bool can_be_above(const Separation& s) const { return high_[s.j] >= low_[s.i] + s.d_ij; }
  bool can_be_below(const Separation& s) const { return high_[s.i] >= low_[s.j] + s.d_ji; }

  bool decide(int32_t e, Side side) {
    if (side_[e] == side) return true;
    trail_.push_back({What::kSide, e, static_cast<int64_t>(side_[e])});
    side_[e] = side;
    return true;
  }

  bool revise(int32_t e) {
    const Separation& s = model_.edges[e];
    const bool above = side_[e] != Side::kBelow && can_be_above(s);
    const bool below = side_[e] != Side::kAbove && can_be_below(s);
    if (above && below) return true;
    if (above) {
      return decide(e, Side::kAbove) && raise(s.j, low_[s.i] + s.d_ij) && lower(s.i, high_[s.j] - s.d_ij);
    }
    if (below) {
      return decide(e, Side::kBelow) && raise(s.i, low_[s.j] + s.d_ji) && lower(s.j, high_[s.i] - s.d_ji);
    }
    return false;
  }

  bool propagate() {
    bool ok = true;
    for (size_t at = 0; at < queue_.size(); ++at) {
      const int32_t e = queue_[at];
      queued_[e] = 0;
      if (!ok) continue;
      ok = ++revisions_ <= max_revisions_ && revise(e);
    }
    queue_.clear();
    return ok;
  }

  // All items below the best height; false if impossible.
  bool restrict_height() {
    for (int32_t k = 0; k < model_.count(); ++k) {
      const int64_t top = search_.best_height - 1 - model_.size[k];
      if (top < low_[k] || !lower_free(k, top)) return false;
    }
    return true;
  }
  bool lower_free(int32_t k, int64_t v) { return model_.is_fixed(k) || lower(k, v); }

  // The violated separation with the least room, or -1 if the lowest offsets are a packing.
  int32_t most_constrained() const {
    int32_t best = -1;
    int64_t best_room = 0;
    for (size_t e = 0; e < model_.edges.size(); ++e) {
      const Separation& s = model_.edges[e];
      const int64_t delta = low_[s.j] - low_[s.i];
      if (delta >= s.d_ij || -delta >= s.d_ji) continue;
      const int64_t room = (high_[s.j] - low_[s.i] - s.d_ij) + (high_[s.i] - low_[s.j] - s.d_ji);
      if (best >= 0 && room >= best_room) continue;
      best = static_cast<int32_t>(e);
      best_room = room;
    }
    return best;
  }

  bool exhausted_work() const {
    return search_.nodes > search_.max_nodes || revisions_ > max_revisions_ ||
           search_.work + revisions_ > search_.max_work;
  }

  // True if everything below this node was searched.
  bool descend(int depth) {
    ++search_.nodes;
    search_.work += node_work_;
    if (exhausted_work() || depth > kMaxDepth) return drop_queue(false);
    if (!restrict_height()) return drop_queue(true);
    if (!propagate()) return !exhausted_work();
    starts_.clear();
    for (int32_t k = 0; k < model_.count(); ++k) starts_.emplace_back(low_[k], k);
    std::sort(starts_.begin(), starts_.end());
    if (!bound_.fits(starts_, search_.best_height - 1)) return true;
    const int32_t e = most_constrained();
    if (e < 0) {
      search_.best_height = model_.height(low_);
      search_.offsets = low_;
      search_.improved = true;
      return true;
    }
    const Separation& s = model_.edges[e];
    const int64_t rise_j = low_[s.i] + s.d_ij - low_[s.j];
    const int64_t rise_i = low_[s.j] + s.d_ji - low_[s.i];
    const Side first = rise_j <= rise_i ? Side::kAbove : Side::kBelow;
    const Side second = first == Side::kAbove ? Side::kBelow : Side::kAbove;
    return branch(e, first, depth) && (search_.best_height <= search_.enough || branch(e, second, depth));
  }

  bool branch(int32_t e, Side side, int depth) {
    const size_t mark = trail_.size();
    decide(e, side);
    enqueue(e);
    const bool all = descend(depth + 1);
    while (trail_.size() > mark) {
      const Change& c = trail_.back();
      if (c.what == What::kLow) low_[c.index] = c.old;
      else if (c.what == What::kHigh) high_[c.index] = c.old;
      else side_[c.index] = static_cast<Side>(c.old);
      trail_.pop_back();
    }
    return all;
  }

  bool drop_queue(bool result) {
    for (int32_t e : queue_) queued_[e] = 0;
    queue_.clear();
    return result;
  }

  const Model& model_;
  Search& search_;
  CliqueBound bound_;
  std::vector<int64_t> low_, high_;
  std::vector<Side> side_;
  std::vector<Change> trail_;
  std::vector<int32_t> queue_;
  std::vector<char> queued_;
  std::vector<std::pair<int64_t, int32_t>> starts_;
  int64_t revisions_ = 0;
  int64_t max_revisions_ = 0;
  int64_t node_work_ = 0;
};

}  // namespace

void search_disjunctive(const Model& model, const std::vector<Clique>& cliques, Search& search) {
  DisjunctiveSearch(model, cliques, search).run();
}

}  // namespace aotc::plan::packing
