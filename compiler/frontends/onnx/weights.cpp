// SPDX-License-Identifier: Apache-2.0
// How much of a file its weights are, before one of them is looked at: a model whose tables cannot be emitted is
// refused by its headers, whatever its size.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "frontends/onnx/import.h"
#include "graph/limits.h"

namespace aotc::frontends::onnx {

namespace {

// At least so many bytes of tables: 8-byte numbers become 4-byte ones, the others keep their size or grow.
int64_t table_bytes(const Tensor& t) {
  auto form = form_of(t.type);
  const int64_t bytes = form ? bounded_bytes(t.dims, form->stored) : 0;
  return form && (form->packed || size_of(form->stored) == 8) ? bytes / 2 : bytes;
}

}  // namespace

// What only constants go into is constant itself, perhaps a smaller one; so operators count that read something
// computed. Twice what is emitted leaves room for rows that a pass cuts off.
bool Importer::check_weights(const Versions& versions) {
  std::unordered_map<std::string_view, int64_t> left;
  std::unordered_set<std::string_view> known;
  for (const Tensor& t : model_.graph.initializers) {
    if (options_.values.contains(std::string(t.name))) continue;
    left.emplace(t.name, table_bytes(t));
    known.insert(t.name);
  }
  int64_t bytes = 0;
  for (const Node& node : model_.graph.nodes) {
    const bool folds = std::all_of(node.inputs.begin(), node.inputs.end(),
                                   [&](std::string_view name) { return name.empty() || known.contains(name); });
    if (folds) known.insert(node.outputs.begin(), node.outputs.end());
    for (std::string_view name : node.inputs)
      if (auto at = left.find(name); !folds && at != left.end())
        bytes += std::max<int64_t>(std::exchange(at->second, 0), 0);
  }
  if (bytes <= 2 * graph::kMostConstantBytes) return true;
  index_ = -1;
  for (const Node& node : model_.graph.nodes) {
    ++index_;
    (void)is_known(node, versions);
  }
  report_unknown();
  return error(where(""), "onnx-limit",
               fmt::format("the model's weights take {} bytes, but the limit is {}", bytes, graph::kMostConstantBytes),
               "no microcontroller holds such tables; quantise the model or make it smaller");
}

}  // namespace aotc::frontends::onnx
