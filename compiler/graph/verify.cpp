// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/graph.h"

namespace aotc::graph {

namespace {

constexpr char kSlug[] = "ir-invalid";

// Far above what any microcontroller holds, and low enough that byte counts and offsets of several
// tensors together stay within 63 bits.
constexpr int64_t kMaxElements = int64_t{1} << 40;

// Elements of a shape, or -1 when a dimension is negative or there are too many.
int64_t checked_count(const Shape& shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0 || dim > kMaxElements) return -1;
    if (dim == 0) {
      empty = true;
    } else if (count > kMaxElements / dim) {
      return -1;
    } else {
      count *= dim;
    }
  }
  return empty ? 0 : count;
}

class StructureVerifier {
 public:
  StructureVerifier(const Graph& graph, int depth, Diagnostics& diags)
      : graph_(graph), depth_(depth), diags_(diags), defined_(graph.tensors.size(), 0) {}

  Status run() {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) check_tensor({static_cast<int32_t>(i)});
    check_inputs();
    check_states();
    for (const Op& op : graph_.ops) check_op(op);
    check_outputs();
    check_next_states();
    return ok_ ? success() : Status(kFailure);
  }

 private:
  bool in_range(TensorId id) const { return id.valid() && static_cast<size_t>(id.value) < graph_.tensors.size(); }
  char& defined(TensorId id) { return defined_[static_cast<size_t>(id.value)]; }

  void fail(const Location& where, std::string message) {
    diags_.error(where, kSlug, std::move(message));
    ok_ = false;
  }

  std::string shown(TensorId id) const {
    return fmt::format("tensor %{} '{}'", id.value, escape_for_display(graph_[id].name));
  }

  void check_tensor(TensorId id) {
    const Tensor& tensor = graph_[id];
    Location where = graph_.location_of(id);
    int64_t count = checked_count(tensor.type.shape);
    if (count < 0) {
      fail(where, fmt::format("shape {} has a negative dimension or too many elements", to_string(tensor.type.shape)));
      return;
    }
    check_quantization(tensor.type, where);
    if (!tensor.constant) return;
    defined(id) = 1;
    int64_t bytes = static_cast<int64_t>(tensor.constant->bytes.size());
    auto fits = [](uint8_t byte) { return static_cast<uint8_t>(byte + 8) < 16; };
    if (tensor.type.dtype == DType::kI4 &&
        !std::all_of(tensor.constant->bytes.begin(), tensor.constant->bytes.end(), fits))
      fail(where, "a constant of type i4 has an element outside -8..7");
    if (bytes != count * size_of(tensor.type.dtype))
      fail(where, fmt::format("a constant of type {} {} needs {} bytes but has {}", name_of(tensor.type.dtype),
                              to_string(tensor.type.shape), count * size_of(tensor.type.dtype), bytes));
  }

  void check_quantization(const TensorType& type, const Location& where) {
    const Quantization& q = type.quantization;
    if (q.scale.size() != q.zero_point.size()) {
      fail(where,
           fmt::format("the quantisation has {} scales but {} zero points", q.scale.size(), q.zero_point.size()));
      return;
    }
    if (!q.present()) return;
    if (!is_int(type.dtype)) {
      fail(where, fmt::format("a tensor of type {} cannot be quantised", name_of(type.dtype)));
      return;
    }
    if (q.per_channel()) check_axis(type, where);
    IntRange range = int_range(type.dtype);
    for (size_t i = 0; i < q.scale.size(); ++i) {
      if (!std::isfinite(q.scale[i]) || q.scale[i] < 0.0f) {
        fail(where, fmt::format("quantisation scale {} is {}, but must be at least 0 and finite", i, q.scale[i]));
        return;
      }
      if (q.zero_point[i] < range.min || q.zero_point[i] > range.max) {
        fail(where,
             fmt::format("zero point {} is {}, outside the range of {}", i, q.zero_point[i], name_of(type.dtype)));
        return;
      }
    }
  }

  void check_axis(const TensorType& type, const Location& where) {
    const Quantization& q = type.quantization;
    int rank = static_cast<int>(type.shape.size());
    if (q.axis < 0 || q.axis >= rank) {
      fail(where, fmt::format("quantisation axis {} is outside a tensor of rank {}", q.axis, rank));
    } else if (type.shape[static_cast<size_t>(q.axis)] != static_cast<int64_t>(q.scale.size())) {
      fail(where, fmt::format("the quantisation has {} scales for {} slices along axis {}", q.scale.size(),
                              type.shape[static_cast<size_t>(q.axis)], q.axis));
    }
  }

  void check_inputs() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      TensorId id = graph_.inputs[i].tensor;
      if (!in_range(id)) {
        fail(graph_.location_of({}), fmt::format("input {} names a tensor that does not exist (id {})", i, id.value));
      } else if (graph_[id].constant) {
        fail(graph_.location_of(id), fmt::format("input {} is a constant", i));
      } else if (defined(id)) {
        fail(graph_.location_of(id), fmt::format("the tensor is listed as an input twice (input {})", i));
      } else {
        defined(id) = 1;
      }
    }
  }

  void check_states() {
    if (depth_ > 0 && !graph_.states.empty()) fail(graph_.location_of({}), "a region has states");
    for (size_t i = 0; i < graph_.states.size(); ++i) {
      const State& state = graph_.states[i];
      if (!in_range(state.before)) {
        fail(graph_.location_of({}),
             fmt::format("state {} names a tensor that does not exist (id {})", i, state.before.value));
        continue;
      }
      if (graph_[state.before].constant || defined(state.before)) {
        fail(graph_.location_of(state.before),
             fmt::format("state {} ({}) is already a constant, an input or another state", i, shown(state.before)));
        continue;
      }
      defined(state.before) = 1;
      const TensorType& type = graph_[state.before].type;
      int64_t count = checked_count(type.shape);
      auto bytes = static_cast<int64_t>(state.initial.bytes.size());
      if (count >= 0 && bytes != count * size_of(type.dtype))
        fail(graph_.location_of(state.before),
             fmt::format("the initial value of state {} has {} bytes, but its type needs {}", i, bytes,
                         count * size_of(type.dtype)));
    }
  }

  void check_next_states() {
    for (size_t i = 0; i < graph_.states.size(); ++i) {
      const State& state = graph_.states[i];
      if (!in_range(state.before)) continue;
      if (!in_range(state.after)) {
        fail(
            graph_.location_of(state.before),
            fmt::format("the next value of state {} names a tensor that does not exist (id {})", i, state.after.value));
      } else if (!defined(state.after)) {
        fail(graph_.location_of(state.after), fmt::format("no operator defines the next value of state {}", i));
      } else if (graph_[state.before].type != graph_[state.after].type) {
        fail(graph_.location_of(state.before),
             fmt::format("state {} is {}, but its next value is {}", i, to_string(graph_[state.before].type),
                         to_string(graph_[state.after].type)));
      }
    }
  }

  void check_op(const Op& op) {
    if (op.definition == nullptr || op.attributes == nullptr) {
      fail(op.location, "the operator has no definition or no attributes");
      return;
    }
    if (!op.regions.empty() && depth_ == kMostDepth) {
      fail(op.location, fmt::format("regions are nested more than {} deep", kMostDepth));
      return;
    }
    for (const Graph& region : op.regions) ok_ = StructureVerifier(region, depth_ + 1, diags_).run().ok() && ok_;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      TensorId id = op.operands[i];
      if (!id.valid()) continue;
      if (!in_range(id)) {
        fail(op.location, fmt::format("operand {} names a tensor that does not exist (id {})", i, id.value));
      } else if (!defined(id)) {
        fail(op.location, fmt::format("operand {} ({}) is used before it is defined", i, shown(id)));
      }
    }
    for (size_t i = 0; i < op.results.size(); ++i) {
      TensorId id = op.results[i];
      if (!in_range(id)) {
        fail(op.location, fmt::format("result {} names a tensor that does not exist (id {})", i, id.value));
      } else if (defined(id)) {
        fail(op.location, fmt::format("result {} ({}) is defined a second time", i, shown(id)));
      } else {
        defined(id) = 1;
      }
    }
  }

  void check_outputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      TensorId id = graph_.outputs[i].tensor;
      if (!in_range(id)) {
        fail(graph_.location_of({}), fmt::format("output {} names a tensor that does not exist (id {})", i, id.value));
      } else if (!defined(id)) {
        fail(graph_.location_of(id), fmt::format("no operator defines output {}", i));
      }
    }
  }

  const Graph& graph_;
  int depth_;  // 0: no region
  Diagnostics& diags_;
  std::vector<char> defined_;  // constants, inputs, and results of the operators seen so far
  bool ok_ = true;
};

}  // namespace

Status verify_structure(const Graph& graph, Diagnostics& diags) { return StructureVerifier(graph, 0, diags).run(); }

}  // namespace aotc::graph
