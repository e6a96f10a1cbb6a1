// SPDX-License-Identifier: Apache-2.0
#include "plan/packing_model.h"

#include <algorithm>

namespace aotc::plan::packing {
namespace {

// Offsets of i and j differ by a multiple of the smaller alignment, so d may be rounded up to one.
int64_t tighten(int64_t d, int64_t alignment_i, int64_t alignment_j) {
  const int64_t step = std::min(alignment_i, alignment_j);
  return (d + step - 1) & ~(step - 1);
}

void add_edge(Model& model, int32_t i, int32_t j, int64_t d_ij, int64_t d_ji) {
  const int64_t step = std::min(model.alignment[i], model.alignment[j]);
  d_ij = tighten(d_ij, model.alignment[i], model.alignment[j]);
  d_ji = tighten(d_ji, model.alignment[i], model.alignment[j]);
  // Of two neighbouring multiples of step, one is on the allowed side: it always holds.
  if (d_ij + d_ji <= step) return;
  const auto edge = static_cast<int32_t>(model.edges.size());
  model.edges.push_back({i, j, d_ij, d_ji});
  model.near[i].push_back({j, d_ji, d_ij});
  model.near[j].push_back({i, d_ij, d_ji});
  model.edges_of[i].push_back(edge);
  model.edges_of[j].push_back(edge);
}

void add_item(Model& model, int32_t source, int64_t size, int64_t alignment, int64_t fixed) {
  model.source.push_back(source);
  model.size.push_back(size);
  model.alignment.push_back(alignment);
  model.fixed.push_back(fixed);
  model.near.emplace_back();
  model.edges_of.emplace_back();
}

}  // namespace

bool Model::all_positive() const {
  return std::all_of(edges.begin(), edges.end(), [](const Separation& e) { return e.d_ij > 0 && e.d_ji > 0; });
}

int64_t Model::height(const std::vector<int64_t>& offsets) const {
  int64_t height = 0;
  for (int32_t k = 0; k < count(); ++k) height = std::max(height, offsets[k] + size[k]);
  return height;
}

Model make_model(const Problem& problem, const std::vector<Separation>& separations,
                 const std::vector<int32_t>& items) {
  Model model;
  for (int32_t k : items) {
    const Item& item = problem.items[k];
    add_item(model, k, item.size, item.alignment, item.fixed.value_or(kFree));
  }
  // `items` ascends, so a local index is found by bisection.
  const auto local = [&](int32_t k) {
    return static_cast<int32_t>(std::lower_bound(items.begin(), items.end(), k) - items.begin());
  };
  for (const Separation& s : separations) add_edge(model, local(s.i), local(s.j), s.d_ij, s.d_ji);
  return model;
}

Model make_submodel(const Model& model, const std::vector<int32_t>& items) {
  Model part;
  std::vector<int32_t> local(model.size.size(), -1);
  for (int32_t k : items) {
    local[k] = part.count();
    add_item(part, k, model.size[k], model.alignment[k], model.fixed[k]);
  }
  for (int32_t k : items) {
    for (int32_t e : model.edges_of[k]) {
      const Separation& s = model.edges[e];
      if (s.i != k || local[s.j] < 0) continue;
      add_edge(part, local[s.i], local[s.j], s.d_ij, s.d_ji);
    }
  }
  return part;
}

Placement::Placement(const Model& model)
    : model_(model), offset_(model.size.size(), 0), placed_(model.size.size(), 0) {}

void Placement::clear() { std::fill(placed_.begin(), placed_.end(), 0); }

int64_t Placement::lowest(int32_t k, int64_t from) {
  constexpr int kPasses = 8;  // sorting pays only where raising v step by step takes long
  int64_t v = model_.align_up(k, from);
  for (int pass = 0; pass < kPasses; ++pass) {
    bool moved = false;
    visits_ += static_cast<int64_t>(model_.near[k].size());
    for (const Neighbor& nb : model_.near[k]) {
      if (!placed_[nb.item]) continue;
      const int64_t o = offset_[nb.item];
      if (v > o - nb.below && v < o + nb.above) {
        v = model_.align_up(k, o + nb.above);
        moved = true;
      }
    }
    if (!moved) return v;
  }
  return lowest_sorted(k, v);
}

int64_t Placement::lowest_sorted(int32_t k, int64_t from) {
  forbidden_.clear();
  for (const Neighbor& nb : model_.near[k]) {
    if (!placed_[nb.item]) continue;
    forbidden_.emplace_back(offset_[nb.item] - nb.below, offset_[nb.item] + nb.above);
  }
  std::sort(forbidden_.begin(), forbidden_.end());
  int64_t v = from;
  for (const auto& [low, high] : forbidden_) {
    if (v <= low) break;
    if (v < high) v = model_.align_up(k, high);
  }
  return v;
}

int64_t Placement::place_all(const std::vector<int32_t>& order, int64_t give_up_above) {
  clear();
  int64_t height = 0;
  for (int32_t k = 0; k < model_.count(); ++k) {
    if (!model_.is_fixed(k)) continue;
    place(k, model_.fixed[k]);
    height = std::max(height, model_.fixed[k] + model_.size[k]);
  }
  for (int32_t k : order) {
    if (model_.is_fixed(k)) continue;
    place(k, lowest(k, 0));
    height = std::max(height, offset_[k] + model_.size[k]);
    if (height > give_up_above) return give_up_above + 1;
  }
  return height;
}

}  // namespace aotc::plan::packing
