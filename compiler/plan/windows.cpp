// SPDX-License-Identifier: Apache-2.0
#include "plan/windows.h"

#include <algorithm>
#include <optional>
#include <set>

#include "ops/common/pieces.h"
#include "ops/operator.h"
#include "plan/classes.h"

namespace aotc::plan {

namespace {

using graph::Graph;
using graph::Op;
using graph::TensorId;

bool is_view(const Op& op) { return ops::definition_of(op).traits().view; }

// What is the same bytes by views: each tensor under the name of the one that all of them view.
class ViewedTensors {
 public:
  explicit ViewedTensors(const Graph& graph)
      : graph_(graph), root_(graph.tensors.size()), made_by_(graph.tensors.size(), -1), readers_(graph.tensors.size()) {
    for (size_t i = 0; i < root_.size(); ++i) root_[i] = static_cast<int>(i);
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      const Op& op = graph.ops[i];
      for (TensorId id : op.results) {
        if (is_view(op))
          root_[at(id)] = of(op.operands[0]);
        else
          made_by_[at(id)] = static_cast<int>(i);
      }
    }
    for (size_t i = 0; i < graph.ops.size(); ++i)
      for (TensorId id : graph.ops[i].operands)
        if (id.valid()) readers_[static_cast<size_t>(of(id))].insert(i);
  }

  int of(TensorId id) const {
    int root = id.value;
    while (root_[static_cast<size_t>(root)] != root) root = root_[static_cast<size_t>(root)];
    return root;
  }
  // The operator that computes it.
  std::optional<size_t> maker(int root) const {
    const int op = made_by_[static_cast<size_t>(root)];
    return op < 0 ? std::nullopt : std::optional(static_cast<size_t>(op));
  }
  // Operators that read it or a view, views among them.
  const std::set<size_t>& readers(int root) const { return readers_[static_cast<size_t>(root)]; }
  int64_t bytes(int root) const { return graph_.tensors[static_cast<size_t>(root)].type.bytes(); }

  bool is_output(int root) const {
    return std::any_of(graph_.outputs.begin(), graph_.outputs.end(),
                       [&](const graph::Port& port) { return of(port.tensor) == root; });
  }
  // Is it what a state holds, before or after a run?
  bool is_state(int root) const {
    return std::any_of(graph_.states.begin(), graph_.states.end(),
                       [&](const graph::State& state) { return of(state.before) == root || of(state.after) == root; });
  }
  // A result that nobody wants to have anywhere else.
  bool is_free(int root) const { return maker(root) && !is_output(root) && !is_state(root); }

 private:
  static size_t at(TensorId id) { return static_cast<size_t>(id.value); }

  const Graph& graph_;
  std::vector<int> root_, made_by_;
  std::vector<std::set<size_t>> readers_;
};

class WindowFinder {
 public:
  explicit WindowFinder(const Graph& graph) : graph_(graph), viewed_(graph) {}

  std::vector<Window> run() {
    std::vector<Window> out;
    for (size_t i = 0; i < graph_.states.size(); ++i)
      if (auto window = window_of(i)) out.push_back(std::move(*window));
    // What is in one window is in no other.
    std::set<int> taken;
    for (const Window& w : out) {
      taken.insert(viewed_.of(graph_.ops[w.push].results[0]));
      taken.insert(viewed_.of(graph_.ops[w.slide].results[0]));
    }
    for (Window& w : out) choose_there(w, taken);
    return out;
  }

 private:
  std::optional<Window> window_of(size_t state) const {
    const int before = viewed_.of(graph_.states[state].before), after = viewed_.of(graph_.states[state].after);
    const auto last = viewed_.maker(after);
    if (!last || before == after || !alone(state, before, after)) return std::nullopt;
    const Op& op = graph_.ops[*last];
    if (op.operands.empty() || !op.operands[0].valid()) return std::nullopt;
    const int between = viewed_.of(op.operands[0]);
    const auto first = viewed_.maker(between);
    if (!first || !viewed_.is_free(between)) return std::nullopt;
    const Op& other = graph_.ops[*first];
    if (other.operands.empty() || !other.operands[0].valid() || viewed_.of(other.operands[0]) != before)
      return std::nullopt;
    if (pushes(other) && slides(op)) return Window{state, *first, *last, {}};
    if (slides(other) && pushes(op)) return Window{state, *last, *first, {}};
    return std::nullopt;
  }

  // Nothing but this state holds either value, and the caller gets none.
  bool alone(size_t state, int before, int after) const {
    if (viewed_.is_output(before) || viewed_.is_output(after)) return false;
    for (size_t i = 0; i < graph_.states.size(); ++i) {
      const int others[] = {viewed_.of(graph_.states[i].before), viewed_.of(graph_.states[i].after)};
      for (int other : others)
        if (i != state && (other == before || other == after)) return false;
    }
    return true;
  }

  bool pushes(const Op& op) const {
    const auto begins = op.results.size() == 1 ? ops::joined_of({graph_, op}) : std::nullopt;
    return begins && begins->size() > 1 && (*begins)[0] == 0 && graph_[op.results[0]].type.bytes() > 0;
  }
  bool slides(const Op& op) const {
    const auto begins = op.results.size() == 1 ? ops::pieces_of({graph_, op}) : std::nullopt;
    return begins && (*begins)[0] > 0 && graph_[op.results[0]].type.bytes() > 0;
  }

  // Which rows their operators can write where they are to be.
  void choose_there(Window& window, std::set<int>& taken) const {
    const Op& op = graph_.ops[window.push];
    const std::vector<int64_t> begins = *ops::joined_of({graph_, op});
    window.there.assign(op.operands.size(), false);
    window.there[0] = true;
    for (size_t i = 1; i < op.operands.size(); ++i) {
      const graph::TensorType& type = graph_[op.operands[i]].type;
      const int root = viewed_.of(op.operands[i]);
      const int64_t place = begins[i] * size_of(type.dtype);
      if (!viewed_.is_free(root) || type.bytes() == 0 || taken.contains(root)) continue;
      const DType made = graph_.tensors[static_cast<size_t>(root)].type.dtype;
      const int64_t alignment = std::max(alignment_of(made, type.bytes()), alignment_of(type.dtype, type.bytes()));
      if (place % alignment != 0) continue;
      window.there[i] = true;
      taken.insert(root);
    }
  }

  const Graph& graph_;
  ViewedTensors viewed_;
};

// The order of operators: each behind what it needs, and behind those that `after` names for it.
class WindowOrder {
 public:
  explicit WindowOrder(const Graph& graph) : graph_(graph), viewed_(graph), after_(graph.ops.size()) {
    const std::vector<int> definer = graph::compute_use_def(graph).definer;
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      rank_.push_back(static_cast<double>(i));
      for (TensorId id : graph.ops[i].operands)
        if (id.valid() && definer[static_cast<size_t>(id.value)] >= 0)
          after_[i].insert(static_cast<size_t>(definer[static_cast<size_t>(id.value)]));
    }
  }

  // Adds what the window asks for, unless that cannot be.
  bool add(Window& window) {
    if (attempt(window)) return true;
    for (size_t i = window.there.size(); i-- > 1;) {
      if (!window.there[i]) continue;
      window.there[i] = false;
      if (attempt(window)) return true;
    }
    return false;
  }

  // Operators in the order in which they are to stand; nothing if there is none.
  std::optional<std::vector<size_t>> run() const {
    std::vector<std::vector<size_t>> before(after_.size());
    std::vector<size_t> missing(after_.size());
    std::set<std::pair<double, size_t>> ready;
    for (size_t i = 0; i < after_.size(); ++i) {
      missing[i] = after_[i].size();
      if (missing[i] == 0) ready.emplace(rank_[i], i);
      for (size_t needed : after_[i]) before[needed].push_back(i);
    }
    std::vector<size_t> out;
    while (!ready.empty()) {
      const size_t next = ready.begin()->second;
      ready.erase(ready.begin());
      out.push_back(next);
      for (size_t later : before[next])
        if (--missing[later] == 0) ready.emplace(rank_[later], later);
    }
    return out.size() == after_.size() ? std::optional(std::move(out)) : std::nullopt;
  }

 private:
  bool attempt(const Window& window) {
    const auto after = after_;
    const auto rank = rank_;
    require(window);
    if (run()) return true;
    after_ = after;
    rank_ = rank;
    return false;
  }

  void require(const Window& window) {
    const Op &push = graph_.ops[window.push], &slide = graph_.ops[window.slide];
    const int before = viewed_.of(graph_.states[window.state].before);
    std::vector<int> old = {before};  // what the slide destroys
    const bool slides_first = viewed_.of(slide.operands[0]) == before;
    if (!slides_first) old.push_back(viewed_.of(push.results[0]));
    for (size_t i = 1; i < window.there.size(); ++i) {
      if (!window.there[i]) continue;
      const int rows = viewed_.of(push.operands[i]);
      if (slides_first)
        after_[*viewed_.maker(rows)].insert(window.slide);
      else
        old.push_back(rows);
    }
    std::set<size_t>& needed = after_[window.slide];
    for (int root : old)
      for (size_t reader : viewed_.readers(root))
        if (reader != window.slide) needed.insert(reader);
    // Out of the way of what is to be computed row by row: first of all, last of all, or behind the last that has to
    // come before it.
    const bool read = !viewed_.readers(viewed_.of(slide.results[0])).empty();
    if (slides_first)
      rank_[window.slide] = -1;
    else if (read)
      rank_[window.slide] = static_cast<double>(*needed.rbegin()) + 0.5;
    else
      rank_[window.slide] += static_cast<double>(graph_.ops.size());
  }

  const Graph& graph_;
  ViewedTensors viewed_;
  std::vector<std::set<size_t>> after_;
  std::vector<double> rank_;  // of those that could be next the one with the least is
};

}  // namespace

std::vector<Window> find_windows(const Graph& graph) { return WindowFinder(graph).run(); }

std::vector<Window> order_for_windows(Graph& graph, std::vector<Window> windows) {
  WindowOrder order(graph);
  std::erase_if(windows, [&](Window& window) { return !order.add(window); });
  if (windows.empty()) return windows;
  const std::vector<size_t> places = *order.run();
  std::vector<Op> ops;
  std::vector<size_t> renumbered(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    ops.push_back(graph.ops[places[i]]);
    renumbered[places[i]] = i;
  }
  graph.ops = std::move(ops);
  for (Window& window : windows) {
    window.push = renumbered[window.push];
    window.slide = renumbered[window.slide];
  }
  return windows;
}

int64_t growth_of(const Graph& graph, const Window& window) {
  const int64_t whole = graph[graph.ops[window.push].results[0]].type.bytes();
  return std::max<int64_t>(whole - graph[graph.states[window.state].before].type.bytes(), 0);
}

}  // namespace aotc::plan
