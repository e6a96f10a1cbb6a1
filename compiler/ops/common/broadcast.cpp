// SPDX-License-Identifier: Apache-2.0
#include "ops/common/broadcast.h"

#include <algorithm>

namespace aotc::ops {

using tir::Ex;

bool broadcast_shapes(const graph::Shape& a, const graph::Shape& b, graph::Shape& out) {
  const graph::Shape& longer = a.size() >= b.size() ? a : b;
  const graph::Shape& shorter = a.size() >= b.size() ? b : a;
  out = longer;
  size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& d = out[skip + i];
    if (d == 1) {
      d = shorter[i];
    } else if (shorter[i] != 1 && shorter[i] != d) {
      return false;
    }
  }
  return true;
}

namespace {

std::vector<graph::Shape> operand_shapes(const OpView& op) {
  std::vector<graph::Shape> out;
  for (size_t i = 0; i < op.operand_count(); ++i) out.push_back(op.operand(i).shape);
  return out;
}

// Stride of `shape` along the result's dimension `d`, 0 where it has one element there.
std::vector<int64_t> strides_of(const graph::Shape& shape, size_t rank) {
  std::vector<int64_t> out(rank, 0);
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t from_end = shape.size() - 1 - i;
    if (shape[from_end] != 1) out[rank - 1 - i] = stride;
    stride *= shape[from_end];
  }
  return out;
}

}  // namespace

Broadcast::Broadcast(const OpView& op) : Broadcast(op.result().shape, operand_shapes(op)) {}

Broadcast::Broadcast(const graph::Shape& result, const std::vector<graph::Shape>& operands)
    : operands_(operands.size()) {
  std::vector<std::vector<int64_t>> strides;
  for (const graph::Shape& shape : operands) strides.push_back(strides_of(shape, result.size()));
  for (size_t d = 0; d < result.size(); ++d) {
    elements_ *= result[d];
    if (result[d] == 1) continue;
    Loop loop{result[d], {}};
    for (const auto& s : strides) loop.strides.push_back(s[d]);
    bool in_step = !loops_.empty();
    for (size_t i = 0; in_step && i < operands_; ++i) in_step = loops_.back().strides[i] == loop.strides[i] * loop.size;
    if (in_step) {
      loops_.back().size *= loop.size;
      loops_.back().strides = loop.strides;
    } else {
      loops_.push_back(loop);
    }
  }
}

void Broadcast::advance(std::vector<int64_t>& position, std::vector<int64_t>& index) const {
  for (size_t d = loops_.size(); d-- > 0;) {
    const Loop& loop = loops_[d];
    bool carry = ++position[d] == loop.size;
    for (size_t i = 0; i < operands_; ++i) index[i] += carry ? -loop.strides[i] * (loop.size - 1) : loop.strides[i];
    if (!carry) return;
    position[d] = 0;
  }
}

size_t Broadcast::depth_of(size_t operand) const {
  size_t depth = loops_.size();
  while (depth > 0 && loops_[depth - 1].strides[operand] == 0) --depth;
  return depth;
}

struct Broadcast::Emission {
  const Broadcast& nest;
  tir::FunctionBuilder& f;
  const tir::BufferPtr& out;
  const Prepare& prepare;
  const Combine& combine;
  std::vector<Ex> index, values;

  // The code inside the first `depth` loops; `at` is the result index that they make.
  void inside(size_t depth, const Ex& at) {
    for (size_t i = 0; i < nest.operands_; ++i)
      if (nest.depth_of(i) == depth) values[i] = prepare(i, index[i]);
    if (depth == nest.loops_.size()) {
      f.store(out, at, combine(values));
      return;
    }
    const Loop& loop = nest.loops_[depth];
    int64_t inner = 1;
    for (size_t d = depth + 1; d < nest.loops_.size(); ++d) inner *= nest.loops_[d].size;
    std::vector<Ex> outer = index;
    f.loop(depth + 1 == nest.loops_.size() ? "i" : "o", 0, loop.size, [&](Ex v) {
      for (size_t i = 0; i < nest.operands_; ++i) index[i] = outer[i] + v * loop.strides[i];
      inside(depth + 1, at + v * inner);
    });
    index = outer;
  }
};

void Broadcast::emit(tir::FunctionBuilder& f, const tir::BufferPtr& out, const Prepare& prepare,
                     const Combine& combine) const {
  if (elements_ == 0) return;
  Emission e{*this, f, out, prepare, combine, std::vector<Ex>(operands_, Ex(0)), std::vector<Ex>(operands_)};
  e.inside(0, Ex(0));
}

void publish_in_place(LoweringBuilder& f, const OpView& op) {
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (!op.constant(i) && op.operand(i).shape == op.result().shape && op.operand(i).dtype == op.result().dtype)
      f.publish_in_place(static_cast<int>(i));
}

}  // namespace aotc::ops
