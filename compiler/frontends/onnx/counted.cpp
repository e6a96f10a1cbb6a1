// SPDX-License-Identifier: Apache-2.0
// Results whose size the data decides (NonZero, Compress, NonMaxSuppression, what a loop of unknown length adds to):
// tensors of the largest shape, and beside an output of that kind one more, with how much of it counts. The one
// thing to know: only what keeps rows apart may read such a tensor; what is behind those that count is 0 at first.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/import.h"

namespace aotc::frontends::onnx {

namespace {

bool is_elementwise(const Rule& rule) {
  auto has = [&](std::span<const Rule> all) {
    return std::any_of(all.begin(), all.end(), [&](const Rule& r) { return &r == &rule; });
  };
  return rule.type == "Identity" || has(elementwise_rules()) || has(function_rules());
}

// What is behind the elements that count is 0, by which whole numbers are not divided.
bool divides_by(const Rule& rule, Call& call, size_t input) {
  return input == 1 && (rule.type == "Div" || rule.type == "Mod") && call.b.dtype(call.in(1)) != DType::kF32;
}

// Of Slice: are its axes known to be others?
bool slices_others(Call& call, int64_t axis) {
  if (!call.has(3)) return false;
  const Ints axes = call.known_ints(3, "the axes");
  const int64_t rank = call.b.rank(call.in(0));
  return std::none_of(axes.begin(), axes.end(), [&](int64_t a) { return call.b.axis(a, rank) == axis; });
}

// Along which axis a result has as much that counts, or -1 if it does not.
int64_t axis_of_result(const Rule& rule, Call& call, size_t input, int64_t axis, Id result) {
  Builder& b = call.b;
  const graph::Shape &from = b.shape(call.in(input)), &to = b.shape(result);
  const int64_t rank = b.rank(call.in(input)), moved = b.rank(result) - rank + axis;
  if (is_elementwise(rule)) {
    const bool kept = moved >= 0 && to[static_cast<size_t>(moved)] == from[static_cast<size_t>(axis)];
    return kept ? moved : -1;
  }
  if (rule.type == "Transpose") {
    Ints order = call.ints("perm").value_or(Ints());
    if (order.empty()) return rank - 1 - axis;
    return std::find(order.begin(), order.end(), axis) - order.begin();
  }
  if (rule.type == "Slice" && input == 0) return slices_others(call, axis) ? axis : -1;
  if (rule.type != "Gather") return -1;
  const int64_t along = b.axis(call.i("axis", 0), b.rank(call.in(0)));
  if (input == 1) return along + axis;  // places behind those that count are read, and do not count either
  if (along == axis) return -1;
  return axis < along ? axis : axis + b.rank(call.in(1)) - 1;
}

}  // namespace

bool Importer::error_counted(const Location& at, Id id) {
  return error(
      at, "op-unsupported",
      fmt::format("the operator reads '{}', whose number of elements is known only when the model runs",
                  escape_for_display(graph_[id].name)),
      "only elementwise operators, Transpose, Gather, and Slice along other axes can read such a tensor; "
      "otherwise end the model with this tensor as an output, which has a count, and continue in your own code");
}

// May the operator read what it reads? Then its result has as much that counts.
bool Importer::pass_counts(const Rule& rule, Call& call, size_t output, Id id) {
  std::optional<Counted> found;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    const auto counted = builder_.counted(call.in(i));
    if (!counted) continue;
    const bool safe = output == 0 && !builder_.is_constant(id) && !divides_by(rule, call, i);
    const int64_t axis = safe ? axis_of_result(rule, call, i, counted->axis, id) : -1;
    const bool agrees = !found || (found->count == counted->count && found->axis == axis);
    if (axis < 0 || !agrees) return error_counted(builder_.where(), call.in(i));
    found = {counted->count, axis};
  }
  if (found) builder_.set_counted(id, *found);
  return true;
}

}  // namespace aotc::frontends::onnx
