// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>

#include "ops/common/pieces.h"
#include "ops/common/units.h"
#include "passes/devices.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;

namespace {

// Fewer units are not worth a product of their own, which reads the operand anew.
constexpr int64_t kLeastUnits = 8;
constexpr size_t kMostParts = 16;
constexpr int64_t kMostSplitElements = 1 << 20;

// One result of an operator that takes a product apart: all rows of units [first, first + count).
struct Part {
  TensorId result;
  int taker;
  int64_t first, count;
};

// For every result of an operator that only moves elements of operand 0 where they come from.
std::vector<std::vector<int32_t>> places_of(const Graph& graph, const Op& op) {
  Graph places;
  Op moved = op;
  auto tensor = [&](TensorId like) {
    graph::Tensor t;
    t.type = {DType::kI32, graph[like].type.shape, {}};
    return places.add_tensor(std::move(t));
  };
  moved.operands = {tensor(op.operands[0])};
  for (TensorId& id : moved.results) id = tensor(id);
  std::vector<int32_t> from(static_cast<size_t>(graph[op.operands[0]].type.elements()));
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int32_t>(i);
  std::vector<std::vector<int32_t>> out;
  for (TensorId id : op.results) out.emplace_back(static_cast<size_t>(graph[id].type.elements()));
  auto bytes = [](auto& list) { return reinterpret_cast<uint8_t*>(list.data()); };
  ops::EvalData data;
  data.operands.push_back({bytes(from), from.size() * sizeof(int32_t)});
  for (auto& list : out) data.results.push_back({bytes(list), list.size() * sizeof(int32_t)});
  ops::definition_of(op).evaluate({places, moved}, data);
  return out;
}

class ProductSplitter {
 public:
  ProductSplitter(Graph& graph, const graph::UseDef& chains) : graph_(graph), chains_(chains) {}

  // The parts of a product, if all that is read of it is these.
  std::vector<Part> parts_of(const Op& op) {
    const int64_t units = op.results.size() == 1 ? ops::units_of({graph_, op}) : 0;
    if (units < 2 * kLeastUnits) return {};
    const graph::TensorType& type = graph_[op.results[0]].type;
    if (type.elements() > kMostSplitElements || type.elements() <= units)
      return {};  // of one row, parts are where they are
    parts_.clear();
    if (!collect(op.results[0], type, units) || parts_.size() < 2 || parts_.size() > kMostParts) return {};
    std::vector<Part> sorted = parts_;
    std::sort(sorted.begin(), sorted.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
    for (size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i].first < sorted[i - 1].first + sorted[i - 1].count) return {};  // computed twice
    return parts_;
  }

  // What gives the part: a product, and its result in the part's shape.
  std::vector<Op> product(const Op& whole, const Part& part) {
    Op narrow = whole;
    for (size_t i = 1; i < narrow.operands.size(); ++i)
      if (narrow.operands[i].valid()) narrow.operands[i] = rows_of(narrow.operands[i], part);
    graph::TensorType type = graph_[whole.results[0]].type;
    type.shape.back() = part.count;
    if (type.shape == graph_[part.result].type.shape) {
      narrow.results[0] = part.result;
      return {std::move(narrow)};
    }
    graph::Tensor result;
    result.name = graph_[part.result].name + "/product";
    result.type = type;
    narrow.results[0] = graph_.add_tensor(std::move(result));
    Op reshape = whole;
    reshape.definition = ops::operators().find("reshape");
    std::shared_ptr<graph::AttributesBase> attributes = reshape.definition->default_attributes();
    attributes->parse("shape", graph::attribute_text::print(graph_[part.result].type.shape));
    reshape.attributes = std::move(attributes);
    reshape.operands = {narrow.results[0]};
    reshape.results = {part.result};
    return {std::move(narrow), std::move(reshape)};
  }

 private:
  bool collect(TensorId id, const graph::TensorType& type, int64_t units) {
    if (graph_.is_kept(id)) return false;
    for (int user : chains_.users[static_cast<size_t>(id.value)]) {
      const Op& op = graph_.ops[static_cast<size_t>(user)];
      const bool alone = op.operands.size() == 1 && op.device == 0;
      if (!alone) return false;
      const bool same = std::all_of(op.results.begin(), op.results.end(), [&](TensorId r) {
        return graph_[r].type.dtype == type.dtype && graph_[r].type.quantization == type.quantization;
      });
      if (!same) return false;
      if (ops::definition_of(op).traits().view) {
        if (op.results.size() != 1 || !collect(op.results[0], type, units)) return false;
      } else if (!ops::takes_pieces(op) || !add_parts(user, units)) {
        return false;
      }
    }
    return true;
  }

  bool add_parts(int taker, int64_t units) {
    const Op& op = graph_.ops[static_cast<size_t>(taker)];
    const auto places = places_of(graph_, op);
    for (size_t r = 0; r < places.size(); ++r) {
      const std::vector<int32_t>& from = places[r];
      if (from.empty()) return false;
      const int64_t first = from[0] % units;
      int64_t count = 1;
      while (count < static_cast<int64_t>(from.size()) && from[static_cast<size_t>(count)] == first + count &&
             first + count < units)
        ++count;
      const int64_t rows = graph_[op.operands[0]].type.elements() / units;
      if (count < kLeastUnits || static_cast<int64_t>(from.size()) != rows * count) return false;
      for (size_t i = 0; i < from.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        if (from[i] != at / count * units + first + at % count) return false;
      }
      parts_.push_back({op.results[r], taker, first, count});
    }
    return true;
  }

  // Of a constant with a row for each unit.
  TensorId rows_of(TensorId id, const Part& part) {
    const graph::Tensor from = graph_[id];
    const auto row = from.constant->bytes.size() / static_cast<size_t>(from.type.shape[0]);
    const auto bytes = std::span<const uint8_t>(from.constant->bytes)
                           .subspan(static_cast<size_t>(part.first) * row, static_cast<size_t>(part.count) * row);
    graph::TensorType type = from.type;
    type.shape[0] = part.count;
    graph::Quantization& q = type.quantization;
    auto cut = [&](auto& list) {
      if (list.size() > 1) list = {list.begin() + part.first, list.begin() + part.first + part.count};
    };
    if (q.per_channel() && q.axis == 0) {
      cut(q.scale);
      cut(q.zero_point);
    }
    return graph_.add_constant(from.name + "/rows", type, {bytes.begin(), bytes.end()});
  }

  Graph& graph_;
  const graph::UseDef& chains_;
  std::vector<Part> parts_;
};

}  // namespace

Status split_products(Graph& graph, const PassOptions& options, Diagnostics&) {
  if (options.devices && options.devices->devices.size() > 1) return success();
  const graph::UseDef chains = graph::compute_use_def(graph);
  ProductSplitter splitter(graph, chains);
  std::vector<std::vector<Op>> instead(graph.ops.size());
  bool any = false;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op op = graph.ops[i];
    const std::vector<Part> parts = splitter.parts_of(op);
    std::vector<std::vector<Op>> made;
    for (const Part& part : parts) made.push_back(splitter.product(op, part));
    if (!std::all_of(made.begin(), made.end(), [&](const auto& list) { return is_valid(graph, list[0]); })) continue;
    any = any || !parts.empty();
    for (size_t p = 0; p < parts.size(); ++p) {
      auto& there = instead[static_cast<size_t>(parts[p].taker)];
      there.insert(there.end(), made[p].begin(), made[p].end());
    }
  }
  if (!any) return success();
  std::vector<Op> ops;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (instead[i].empty()) ops.push_back(std::move(graph.ops[i]));
    for (Op& op : instead[i]) ops.push_back(std::move(op));
  }
  graph.ops = std::move(ops);
  return success();
}

}  // namespace aotc::passes
