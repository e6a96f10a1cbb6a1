// SPDX-License-Identifier: Apache-2.0
// The packing problem as the solver's stages see it: one connected part, separations tightened to
// what alignments allow, and adjacency lists. The one thing a caller must know: indices here are
// local to the part; `source` maps them back to the items of the problem.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "plan/packing.h"

namespace aotc::plan::packing {

inline constexpr int64_t kFree = -1;  // in Model::fixed

// As seen from item k: `item` at offset o forbids k the open interval (o - below, o + above).
struct Neighbor {
  int32_t item;
  int64_t above;
  int64_t below;
};

struct Model {
  std::vector<int32_t> source;
  std::vector<int64_t> size, alignment, fixed;
  std::vector<Separation> edges;  // local indices; none that always holds
  std::vector<std::vector<Neighbor>> near;
  std::vector<std::vector<int32_t>> edges_of;

  int32_t count() const { return static_cast<int32_t>(size.size()); }
  bool is_fixed(int32_t k) const { return fixed[k] != kFree; }
  int64_t align_up(int32_t k, int64_t v) const { return (v + alignment[k] - 1) & ~(alignment[k] - 1); }
  int64_t align_down(int32_t k, int64_t v) const { return v & ~(alignment[k] - 1); }
  // True if every d is positive: then of two neighbours one lies strictly above the other.
  bool all_positive() const;
  int64_t height(const std::vector<int64_t>& offsets) const;
};

// The part of a valid problem made of `items` and the separations among them.
Model make_model(const Problem& problem, const std::vector<Separation>& separations, const std::vector<int32_t>& items);
// The same, of a part of a part; `source` of the result indexes `model`.
Model make_submodel(const Model& model, const std::vector<int32_t>& items);

// Places items one by one at the lowest offset that the placed ones allow.
class Placement {
 public:
  explicit Placement(const Model& model);
  void clear();
  // The lowest aligned offset >= from for item k.
  int64_t lowest(int32_t k, int64_t from);
  void place(int32_t k, int64_t offset) {
    offset_[k] = offset;
    placed_[k] = 1;
  }
  void remove(int32_t k) { placed_[k] = 0; }
  bool placed(int32_t k) const { return placed_[k] != 0; }
  const std::vector<int64_t>& offsets() const { return offset_; }
  // Fixed items first, then the free ones of `order`; returns the height, or `give_up_above` + 1 as
  // soon as it is exceeded.
  int64_t place_all(const std::vector<int32_t>& order, int64_t give_up_above);
  int64_t visits() const { return visits_; }

 private:
  int64_t lowest_sorted(int32_t k, int64_t from);

  const Model& model_;
  std::vector<int64_t> offset_;
  std::vector<char> placed_;
  std::vector<std::pair<int64_t, int64_t>> forbidden_;
  int64_t visits_ = 0;
};

// Items that pairwise exclude each other with positive distances in both directions. In any packing
// they stand one above the other, so `weight` (the least distance to whatever comes next) adds up;
// only the last one counts its size: height >= sum of weights + tail.
struct Clique {
  std::vector<int32_t> members;
  std::vector<int64_t> weight;
  int64_t tail = 0;  // min over members of size - weight
  int64_t bound = 0;
};

// Maximal cliques, enough to contain the heaviest one if the separations form a chordal graph
// (which lifetimes do). `positive_only` false: cliques of any separation, without weights.
std::vector<Clique> find_cliques(const Model& model, bool positive_only);

// A height any packing of the model needs: sizes, fixed offsets, cliques.
int64_t simple_bound(const Model& model, const std::vector<Clique>& cliques);

// What a tree search starts from and improves.
struct Search {
  int64_t enough = 0;  // stop when best_height <= enough
  int64_t max_nodes = 0;
  int64_t max_work = 0;          // as PackingOptions::max_work
  int64_t best_height = 0;       // in: only packings below this are of interest
  std::vector<int64_t> offsets;  // replaced when a better packing is found
  int64_t nodes = 0;
  int64_t work = 0;
  bool improved = false;
  bool finished = false;  // nothing lower than best_height exists; not set if `enough` was reached
};

// Branch and bound over packings in which each item, taken in order of offset, sits at the lowest
// offset the earlier ones allow. Complete only if model.all_positive().
void search_canonical(const Model& model, const std::vector<Clique>& cliques, Search& search);

// Branch and bound on which side of each violated separation holds, with bounds propagation.
// Complete for any model.
void search_disjunctive(const Model& model, const std::vector<Clique>& cliques, Search& search);

}  // namespace aotc::plan::packing
