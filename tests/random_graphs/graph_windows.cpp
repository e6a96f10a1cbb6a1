// SPDX-License-Identifier: Apache-2.0
#include "graph_windows.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::tests {

using graph::Shape;
using graph::TensorId;
using graph::TensorType;

void WindowMaker::add() {
  TensorId rows = g_.any();
  for (int tries = 0; tries < 12 && (g_.of(rows).shape.empty() || !g_.bounded(rows)); ++tries) rows = g_.any();
  TensorType type = g_.of(rows);
  if (type.shape.empty() || !g_.bounded(rows) || type.quantization.per_channel()) return;
  const auto first = std::find_if(type.shape.begin(), type.shape.end() - 1, [](int64_t d) { return d != 1; });
  // Now and then along another, where rows do not lie one behind the other.
  const auto rank = static_cast<int64_t>(type.shape.size());
  const auto axis = static_cast<int>(g_.random.chance(92) ? first - type.shape.begin() : g_.random.pick(0, rank - 1));
  const int64_t frame = type.shape[static_cast<size_t>(axis)];
  const bool slides = g_.random.chance(35);
  type.shape[static_cast<size_t>(axis)] = slides ? frame + g_.random.pick(1, 5) : g_.random.pick(1, 6);
  if (type.elements() > 1500) return;
  const size_t state = g_.made.states.size();
  const TensorId before = g_.made.add_tensor({fmt::format("window{}", state), type, {}, 0});
  g_.made.states.push_back({before, {}, graph::own_bytes(random_bytes(g_.random, type))});
  if (g_.random.chance(15)) g_.known.push_back(before);
  const bool made = slides ? slides_first(state, rows, axis) : pushes_first(state, rows, axis);
  if (!made) g_.made.states[state].after = before;
}

void WindowMaker::finish() {
  for (const Later& l : later_) {
    const int64_t kept = g_.of(g_.made.states[l.state].before).shape[static_cast<size_t>(l.axis)];
    if (!take(l.state, l.whole, l.axis, l.begin, kept)) g_.made.states[l.state].after = g_.made.states[l.state].before;
  }
  later_.clear();
}

bool WindowMaker::slides_first(size_t state, TensorId rows, int axis) {
  const TensorId before = g_.made.states[state].before;
  const int64_t frame = g_.of(rows).shape[static_cast<size_t>(axis)];
  const int64_t kept = g_.of(before).shape[static_cast<size_t>(axis)];
  if (!take(state, before, axis, frame, kept - frame) || !join({seen(g_.last()), rows}, axis)) return false;
  g_.made.states[state].after = seen(g_.last());
  read(g_.last());
  return true;
}

bool WindowMaker::pushes_first(size_t state, TensorId rows, int axis) {
  const TensorId before = g_.made.states[state].before;
  const int64_t frame = g_.of(rows).shape[static_cast<size_t>(axis)];
  const int64_t kept = g_.of(before).shape[static_cast<size_t>(axis)];
  std::vector<TensorId> operands = {seen(before), rows};
  // Rows twice, rarely, or a constant behind them.
  if (g_.random.chance(15)) operands.push_back(g_.random.chance(50) ? rows : g_.constant(g_.of(rows)));
  if (!join(operands, axis)) return false;
  const TensorId whole = seen(g_.last());
  // Mostly the newest.
  const int64_t begin = g_.random.chance(85) ? frame : g_.random.pick(1, frame);
  if (g_.random.chance(35)) {
    read(whole);
    later_.push_back({state, whole, axis, begin});
    return true;
  }
  // One of both, or each.
  const bool both = g_.random.chance(30), left = g_.random.chance(50);
  if (!take(state, whole, axis, begin, kept)) return false;
  if (both || !left) read(whole);
  if (both || left) read(g_.made.states[state].after);
  return true;
}

void WindowMaker::read(TensorId id) {
  if (g_.random.chance(50) && g_.add("relu", {id}, {}, {g_.of(id)})) return;
  g_.add("concatenation", {id, id}, {{"axis", "0"}}, {g_.of(id)});
}

bool WindowMaker::join(const std::vector<TensorId>& operands, int axis) {
  return g_.add("concatenation", operands, {{"axis", std::to_string(axis)}}, {g_.of(operands[0])});
}

bool WindowMaker::take(size_t state, TensorId whole, int axis, int64_t begin, int64_t count) {
  const TensorType& type = g_.of(whole);
  Shape from(type.shape.size(), 0), strides(type.shape.size(), 1), counts = type.shape;
  from[static_cast<size_t>(axis)] = begin;
  counts[static_cast<size_t>(axis)] = count;
  const auto text = [](const Shape& shape) { return graph::attribute_text::print(shape); };
  if (!g_.add("slice", {whole},
              {{"begin", text(from)}, {"strides", text(strides)}, {"counts", text(counts)}, {"shape", text(counts)}},
              {type}))
    return false;
  g_.made.states[state].after = g_.last();
  return true;
}

TensorId WindowMaker::seen(TensorId id) {
  if (!g_.random.chance(15)) return id;
  const TensorType type = g_.of(id);
  const auto as = [&](TensorId from, const Shape& shape) {
    return g_.add("reshape", {from}, {{"shape", graph::attribute_text::print(shape)}}, {type}) ? g_.last() : from;
  };
  const TensorId flat = as(id, {type.elements()});
  return flat.value == id.value ? id : as(flat, type.shape);
}

}  // namespace aotc::tests
