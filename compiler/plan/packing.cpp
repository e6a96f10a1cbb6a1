// SPDX-License-Identifier: Apache-2.0
#include "plan/packing.h"

#include <algorithm>
#include <numeric>

#include "plan/packing_model.h"

namespace aotc::plan {
namespace {

using packing::Clique;
using packing::Model;
using packing::Search;
using Order = std::vector<int32_t>;

constexpr int32_t kMaxSearchItems = 2048;  // larger parts get the greedy orders and local search only

// xorshift64*: the standard library's distributions differ between platforms.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x2545F4914F6CDD1Du) {
    if (state_ == 0) state_ = 1;
  }
  // Uniform enough in 0 .. bound - 1.
  int32_t below(int32_t bound) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    const uint64_t bits = (state_ * 0x2545F4914F6CDD1Du) >> 32;
    return static_cast<int32_t>((bits * static_cast<uint64_t>(bound)) >> 32);
  }

 private:
  uint64_t state_;
};

// ---- validation ----

std::string label(const Problem& problem, int32_t k) {
  const std::string& name = problem.items[static_cast<size_t>(k)].name;
  return "item " + std::to_string(k) + (name.empty() ? "" : " '" + name + "'");
}

std::string malformed(const std::string& where, const std::string& what) {
  return "arena packing: " + where + ": " + what + " [packing-problem]";
}

std::string contradictory(const std::string& where, const std::string& what) {
  return "arena packing: " + where + ": " + what + " [packing-fixed]";
}

std::string validate_item(const Problem& problem, int32_t k) {
  const Item& item = problem.items[static_cast<size_t>(k)];
  if (item.size < 0 || item.size > kMaxBytes)
    return malformed(label(problem, k), "size " + std::to_string(item.size) + " is out of range; give 0 .. 2^40 bytes");
  if (item.alignment < 1 || item.alignment > kMaxAlignment || (item.alignment & (item.alignment - 1)) != 0)
    return malformed(label(problem, k),
                     "alignment " + std::to_string(item.alignment) + " is not a power of two up to 2^30; give one");
  if (!item.fixed) return {};
  if (*item.fixed < 0 || *item.fixed > kMaxBytes)
    return malformed(label(problem, k),
                     "fixed offset " + std::to_string(*item.fixed) + " is out of range; give 0 .. 2^40 bytes");
  if (*item.fixed % item.alignment != 0)
    return contradictory(label(problem, k), "fixed offset " + std::to_string(*item.fixed) +
                                                " is not a multiple of its alignment " +
                                                std::to_string(item.alignment) + "; move it or lower the alignment");
  return {};
}

std::string validate_separation(const Problem& problem, size_t index) {
  const Separation& s = problem.separations[index];
  const auto n = static_cast<int32_t>(problem.items.size());
  const std::string where = "separation " + std::to_string(index);
  if (s.i < 0 || s.j < 0 || s.i >= n || s.j >= n || s.i == s.j)
    return malformed(where, "items " + std::to_string(s.i) + " and " + std::to_string(s.j) + " are not two of the " +
                                std::to_string(n) + " items; give two different indices");
  if (std::max(s.d_ij, s.d_ji) > kMaxBytes || std::min(s.d_ij, s.d_ji) < -kMaxBytes)
    return malformed(where, "distance is out of range; give -2^40 .. 2^40 bytes");
  const auto& at_i = problem.items[static_cast<size_t>(s.i)].fixed;
  const auto& at_j = problem.items[static_cast<size_t>(s.j)].fixed;
  if (at_i && at_j && *at_j - *at_i < s.d_ij && *at_i - *at_j < s.d_ji)
    return contradictory(label(problem, s.i) + " and " + label(problem, s.j),
                         "fixed offsets " + std::to_string(*at_i) + " and " + std::to_string(*at_j) +
                             " are too close to each other; free or move one of them");
  return {};
}

std::string validate(const Problem& problem) {
  if (problem.items.size() > static_cast<size_t>(kMaxItems))
    return malformed("problem", std::to_string(problem.items.size()) + " items are too many; give at most 2^17");
  for (size_t k = 0; k < problem.items.size(); ++k) {
    std::string error = validate_item(problem, static_cast<int32_t>(k));
    if (!error.empty()) return error;
  }
  for (size_t index = 0; index < problem.separations.size(); ++index) {
    std::string error = validate_separation(problem, index);
    if (!error.empty()) return error;
  }
  return {};
}

// ---- connected parts ----

int32_t find_root(Order& parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

// Items without a chain of separations between them never matter to each other.
std::vector<Model> split(const Problem& problem) {
  const size_t n = problem.items.size();
  Order parent(n);
  std::iota(parent.begin(), parent.end(), 0);
  for (const Separation& s : problem.separations) {
    const int32_t a = find_root(parent, s.i), b = find_root(parent, s.j);
    parent[std::max(a, b)] = std::min(a, b);
  }
  Order part_of(n, -1);
  std::vector<Order> items;
  std::vector<std::vector<Separation>> separations;
  for (size_t k = 0; k < n; ++k) {
    const int32_t root = find_root(parent, static_cast<int32_t>(k));  // root <= k
    if (part_of[root] < 0) {
      part_of[root] = static_cast<int32_t>(items.size());
      items.emplace_back();
      separations.emplace_back();
    }
    part_of[k] = part_of[root];
    items[part_of[k]].push_back(static_cast<int32_t>(k));
  }
  for (const Separation& s : problem.separations) separations[part_of[s.i]].push_back(s);
  std::vector<Model> parts;
  for (size_t p = 0; p < items.size(); ++p) parts.push_back(packing::make_model(problem, separations[p], items[p]));
  return parts;
}

// ---- one part ----

class PartSolver {
 public:
  PartSolver(const Model& model, const PackingOptions& options) : model_(model), options_(options), placement_(model) {
    searchable_ = model.count() <= kMaxSearchItems;
    positive_ = model.all_positive();
    cliques_ = packing::find_cliques(model, true);
    lower_bound_ = packing::simple_bound(model, cliques_);
  }

  int64_t lower_bound() const { return lower_bound_; }
  int64_t height() const { return height_; }
  int64_t nodes() const { return nodes_; }
  int64_t work() const { return searched_ + placement_.visits(); }
  Method method() const { return method_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // Looks for a height <= enough, or the least one, with at most `max_work` behind the greedy orders.
  void run(int64_t enough, int64_t max_work) {
    enough_ = std::max(enough, lower_bound_);
    greedy();
    last_work_ = work() + max_work;
    if (height_ <= enough_) return;
    if (!positive_ && searchable_ && options_.max_nodes > 0) {
      raise_bound();
      enough_ = std::max(enough, lower_bound_);
      if (height_ <= enough_) return;
    }
    // Small parts are exhausted at once; on large ones a tree search pays only after a good packing
    // is known.
    tree_searches(std::min<int64_t>(options_.max_nodes, 500));
    if (height_ > enough_) local_search();
    tree_searches(options_.max_nodes);
  }

 private:
  // Tries one order; true if it is the best so far.
  void attempt(const Order& order, Method method) {
    const int64_t limit = offsets_.empty() ? INT64_MAX - 1 : height_ - 1;
    const int64_t height = placement_.place_all(order, limit);
    if (height > limit) return;
    height_ = height;
    offsets_ = placement_.offsets();
    method_ = method;
    best_order_ = order;
  }

  template <typename Key>
  Order sorted_by(Key key) const {
    Order order(model_.size.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key(a) > key(b); });
    return order;
  }

  void greedy() {
    const auto size = [&](int32_t k) { return model_.size[k]; };
    const auto conflicts = [&](int32_t k) { return model_.near[k].size(); };
    std::vector<int64_t> around(model_.size.size()), heaviest(model_.size.size());
    for (int32_t k = 0; k < model_.count(); ++k) {
      around[k] = size(k);
      for (const packing::Neighbor& nb : model_.near[k]) around[k] += size(nb.item);
    }
    for (const Clique& clique : cliques_) {
      for (int32_t k : clique.members) heaviest[k] = std::max(heaviest[k], clique.bound);
    }
    const auto pair = [](auto a, auto b) { return std::make_pair(a, b); };
    const auto try_order = [&](Method method, const Order& order) {
      if (offsets_.empty() || height_ > enough_) attempt(order, method);
    };
    const Order by_size = sorted_by([&](int32_t k) { return pair(size(k), conflicts(k)); });
    Order given(model_.size.size());
    std::iota(given.begin(), given.end(), 0);
    const Order reversed(given.rbegin(), given.rend());
    try_order(Method::kGreedyBySize, by_size);
    try_order(Method::kGreedyByBreadth, sorted_by([&](int32_t k) { return around[k]; }));
    try_order(Method::kGreedyByConflicts, sorted_by([&](int32_t k) { return pair(conflicts(k), size(k)); }));
    try_order(Method::kGreedyByHeight, sorted_by([&](int32_t k) { return pair(heaviest[k], size(k)); }));
    try_order(Method::kGreedyGivenOrder, given);
    try_order(Method::kGreedyReversed, reversed);
  }

  // Takes items at the top of the arena and places them earlier, or swaps two; keeps what is no
  // worse.
  void local_search() {
    if (options_.max_local_visits <= 0) return;
    const int32_t n = model_.count();
    Random random(options_.seed);
    Order current = best_order_;
    int64_t current_height = height_;
    const int64_t last_visit = placement_.visits() + std::min(options_.max_local_visits, work_left());
    int64_t idle = 0;
    while (height_ > enough_ && placement_.visits() < last_visit) {
      if (++idle > 40 * int64_t{n} + 400) {  // shake a copy of the best order
        idle = 0;
        current = best_order_;
        for (int32_t i = 0; i < 3 + n / 10; ++i) std::swap(current[random.below(n)], current[random.below(n)]);
        current_height = INT64_MAX - 1;
      }
      Order next = current;
      change(next, random);
      const int64_t next_height = placement_.place_all(next, current_height);
      if (next_height > current_height) continue;
      if (next_height < current_height) idle = 0;
      current = std::move(next);
      current_height = next_height;
      if (current_height >= height_) continue;
      height_ = current_height;
      offsets_ = placement_.offsets();
      method_ = Method::kLocalSearch;
      best_order_ = current;
    }
  }

  void change(Order& order, Random& random) {
    const int32_t n = model_.count();
    const int32_t from = random.below(n), to = random.below(n);
    switch (random.below(3)) {
      case 0: std::swap(order[from], order[to]); break;
      case 1: move(order, from, to); break;
      default: {  // an item that reaches to the top of the best packing
        Order tops;
        for (int32_t p = 0; p < n; ++p) {
          if (offsets_[order[p]] + model_.size[order[p]] == height_) tops.push_back(p);
        }
        const int32_t p = tops[random.below(static_cast<int32_t>(tops.size()))];
        move(order, p, random.below(p + 1));
      }
    }
  }

  static void move(Order& order, int32_t from, int32_t to) {
    if (from < to) std::rotate(order.begin() + from, order.begin() + from + 1, order.begin() + to + 1);
    else std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
  }

  // With distances below zero the clique sum does not apply to the pairs that matter, so small sets
  // of mutually separated items are packed exactly.
  void raise_bound() {
    for (const Clique& clique : packing::find_cliques(model_, false)) {
      if (lower_bound_ >= height_) return;
      if (clique.members.size() > 12) continue;
      if (work_left() <= 0) return;
      const Model part = packing::make_submodel(model_, clique.members);
      Search search;
      search.enough = lower_bound_;
      search.max_nodes = std::min<int64_t>(options_.max_nodes, 500);
      search.max_work = work_left();
      search.best_height = height_;  // the whole packing holds this part
      packing::search_disjunctive(part, packing::find_cliques(part, true), search);
      nodes_ += search.nodes;
      searched_ += search.work;
      if (search.finished) lower_bound_ = std::max(lower_bound_, search.best_height);
    }
  }

  void tree_searches(int64_t max_nodes) {
    if (!searchable_ || max_nodes <= 0) return;
    if (height_ > enough_ && positive_) tree_search(Method::kCanonicalSearch, max_nodes);
    if (height_ > enough_) tree_search(Method::kDisjunctiveSearch, max_nodes);
  }

  void tree_search(Method method, int64_t max_nodes) {
    Search search;
    search.enough = enough_;
    search.max_nodes = max_nodes;
    search.max_work = work_left();
    search.best_height = height_;
    if (method == Method::kCanonicalSearch) packing::search_canonical(model_, cliques_, search);
    else packing::search_disjunctive(model_, cliques_, search);
    nodes_ += search.nodes;
    searched_ += search.work;
    if (search.improved) {
      height_ = search.best_height;
      offsets_ = std::move(search.offsets);
      method_ = method;
    }
    if (search.finished) {
      lower_bound_ = height_;
      enough_ = std::max(enough_, lower_bound_);
    }
  }

  int64_t work_left() const { return std::max<int64_t>(last_work_ - work(), 0); }

  const Model& model_;
  const PackingOptions& options_;
  packing::Placement placement_;
  std::vector<Clique> cliques_;
  bool searchable_ = false, positive_ = false;
  int64_t lower_bound_ = 0, enough_ = 0, height_ = 0, nodes_ = 0;
  int64_t searched_ = 0, last_work_ = 0;  // work of the tree searches; where all of it ends
  Method method_ = Method::kNone;
  std::vector<int64_t> offsets_;
  Order best_order_;
};

}  // namespace

int32_t Problem::add(int64_t size, int64_t alignment, std::string name) {
  items.push_back({size, alignment, std::nullopt, std::move(name)});
  return static_cast<int32_t>(items.size()) - 1;
}

void Problem::separate(int32_t i, int32_t j) {
  separations.push_back({i, j, items[static_cast<size_t>(i)].size, items[static_cast<size_t>(j)].size});
}

std::string_view method_name(Method method) {
  switch (method) {
    case Method::kNone: return "none";
    case Method::kGreedyGivenOrder: return "greedy in given order";
    case Method::kGreedyReversed: return "greedy in reversed order";
    case Method::kGreedyBySize: return "greedy by size";
    case Method::kGreedyByBreadth: return "greedy by breadth";
    case Method::kGreedyByConflicts: return "greedy by conflicts";
    case Method::kGreedyByHeight: return "greedy by height of neighbours";
    case Method::kLocalSearch: return "local search";
    case Method::kCanonicalSearch: return "canonical branch and bound";
    case Method::kDisjunctiveSearch: return "disjunctive branch and bound";
  }
  return "none";
}

Solution solve(const Problem& problem, const PackingOptions& options) {
  Solution solution;
  solution.error = validate(problem);
  if (!solution.ok()) return solution;
  const std::vector<Model> parts = split(problem);
  std::vector<PartSolver> solvers;
  solvers.reserve(parts.size());
  int64_t lower_bound = std::max<int64_t>(problem.lower_bound, 0);
  for (const Model& part : parts) {
    solvers.emplace_back(part, options);
    lower_bound = std::max(lower_bound, solvers.back().lower_bound());
  }
  solution.offsets.assign(problem.items.size(), 0);
  for (size_t p = 0; p < parts.size(); ++p) {
    PartSolver& solver = solvers[p];
    // A part need not be lower than what another part needs anyway.
    solver.run(lower_bound, std::max<int64_t>(options.max_work - solution.work, 0));
    lower_bound = std::max(lower_bound, solver.lower_bound());
    for (size_t k = 0; k < parts[p].source.size(); ++k) solution.offsets[parts[p].source[k]] = solver.offsets()[k];
    solution.height = std::max(solution.height, solver.height());
    solution.method = std::max(solution.method, solver.method());
    solution.nodes += solver.nodes();
    solution.work += solver.work();
  }
  solution.lower_bound = lower_bound;
  solution.proven_optimal = solution.height == lower_bound;
  return solution;
}

std::string check(const Problem& problem, const Solution& solution) {
  const auto violation = [](const std::string& what) { return "arena packing: " + what + " [packing-check]"; };
  if (!solution.ok()) return violation("there is no packing: " + solution.error);
  if (solution.offsets.size() != problem.items.size())
    return violation(std::to_string(solution.offsets.size()) + " offsets for " + std::to_string(problem.items.size()) +
                     " items");
  int64_t height = 0;
  for (size_t k = 0; k < problem.items.size(); ++k) {
    const Item& item = problem.items[k];
    const int64_t offset = solution.offsets[k];
    const std::string where = label(problem, static_cast<int32_t>(k)) + " at " + std::to_string(offset);
    if (offset < 0) return violation(where + " lies below the arena");
    if (offset % item.alignment != 0) return violation(where + " is not aligned to " + std::to_string(item.alignment));
    if (item.fixed && offset != *item.fixed)
      return violation(where + " is not at its fixed offset " + std::to_string(*item.fixed));
    height = std::max(height, offset + item.size);
  }
  for (const Separation& s : problem.separations) {
    const int64_t delta = solution.offsets[static_cast<size_t>(s.j)] - solution.offsets[static_cast<size_t>(s.i)];
    if (delta >= s.d_ij || -delta >= s.d_ji) continue;
    return violation(label(problem, s.i) + " and " + label(problem, s.j) + " are " + std::to_string(delta) +
                     " bytes apart, allowed are >= " + std::to_string(s.d_ij) + " or <= " + std::to_string(-s.d_ji));
  }
  if (height != solution.height)
    return violation("height is " + std::to_string(height) + ", not " + std::to_string(solution.height));
  if (solution.lower_bound > height)
    return violation("lower bound " + std::to_string(solution.lower_bound) + " is above the height " +
                     std::to_string(height));
  if (problem.lower_bound > height)
    return violation("the given lower bound " + std::to_string(problem.lower_bound) + " is above the height " +
                     std::to_string(height));
  if (solution.proven_optimal && solution.lower_bound != height)
    return violation("claims to be optimal at " + std::to_string(height) + " with a bound of " +
                     std::to_string(solution.lower_bound));
  return {};
}

}  // namespace aotc::plan
