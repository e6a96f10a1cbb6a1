// SPDX-License-Identifier: Apache-2.0
#include "ops/trees/ensemble.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

namespace aotc::ops::trees {

using tir::BufferPtr;
using tir::Ex;
using tir::Intrinsic;

namespace {

constexpr int64_t kMostVariables = 8;  // sums that are kept in variables

}  // namespace

int32_t key_of(float threshold) {
  const auto bits = std::bit_cast<int32_t>(threshold == 0.0f ? 0.0f : threshold);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}

int64_t narrow_bytes(int64_t most) { return most < 256 ? 1 : most < 65536 ? 2 : 4; }

BufferPtr narrow_table(LoweringBuilder& f, const std::string& name, const std::vector<int64_t>& values) {
  const int64_t bytes = narrow_bytes(values.empty() ? 0 : *std::max_element(values.begin(), values.end()));
  if (bytes == 1) return f.constant(name, DType::kU8, std::vector<uint8_t>(values.begin(), values.end()), 1);
  if (bytes == 2) return f.constant(name, DType::kU16, std::vector<uint16_t>(values.begin(), values.end()), 2);
  return f.constant(name, DType::kI32, std::vector<int32_t>(values.begin(), values.end()));
}

std::vector<int64_t> depths_of(const Tables& t) {
  std::vector<int64_t> depth(static_cast<size_t>(t.node_count()));
  for (int64_t i = t.node_count() - 1; i >= 0; --i)
    if (int64_t skip = t.node(i).skip; skip != 0)
      depth[static_cast<size_t>(i)] =
          1 + std::max(depth[static_cast<size_t>(i + 1)], depth[static_cast<size_t>(i + skip)]);
  return list_of(t.tree_count(), [&](int64_t tree) { return depth[static_cast<size_t>(t.root(tree))]; });
}

std::optional<SharedValues> shared_values(const Tables& t, const TargetInfo& target, int64_t least_bytes) {
  if (target.level != Level::kSize) return std::nullopt;
  SharedValues out;
  std::map<uint32_t, int64_t> place_of;  // by bits: 0 and -0 are two values
  for (float v : t.leaves) {
    auto [at, fresh] = place_of.emplace(std::bit_cast<uint32_t>(v), static_cast<int64_t>(out.values.size()));
    if (fresh) out.values.push_back(v);
    out.places.push_back(at->second);
  }
  const auto count = static_cast<int64_t>(out.values.size()), all = static_cast<int64_t>(out.places.size());
  const int64_t place = std::max(least_bytes, narrow_bytes(count - 1));
  constexpr int64_t kCode = 32;  // what reading them takes more
  if (4 * count + place * all + kCode >= 4 * all) return std::nullopt;
  return out;
}

EnsembleLowering::EnsembleLowering(const OpView& op, const Tables& tables, const std::optional<SharedValues>& shared)
    : t_(tables),
      f_(op, "tree_ensemble"),
      features_(op.operand(0).shape[1]),
      targets_(op.result().shape[1]),
      in_(f_.operand(0)) {
  out_ = f_.result();
  leaves_ = f_.constant("leaves", DType::kF32,
                        shared ? shared->values : std::vector<float>(t_.leaves.begin(), t_.leaves.end()));
  if (shared && !shared->places.empty()) places_of_values_ = narrow_table(f_, "values_of", shared->places);
  for (int64_t c = 0; c < t_.column_count(); ++c) {
    in_order_ = in_order_ && t_.feature(c) == c;
    all_skip_ = all_skip_ && !t_.nan_is_next(c);
    all_go_on_ = all_go_on_ && t_.nan_is_next(c);
  }
  if (!in_order_)
    features_of_ = narrow_table(f_, "features", list_of(t_.column_count(), [&](int64_t c) { return t_.feature(c); }));
  if (!all_skip_ && !all_go_on_)
    nan_ = narrow_table(f_, "nan", list_of(t_.column_count(), [&](int64_t c) { return t_.nan_is_next(c) ? 1 : 0; }));
}

void EnsembleLowering::make_keys(bool unsigned_order) {
  unsigned_order_ = unsigned_order;
  keys_ = f_.scratch("keys", DType::kI32, t_.column_count());
}

void EnsembleLowering::rows(const std::function<void(const Ex& row)>& walk) {
  f_.loop("row", 0, in_->elements / features_, [&](const Ex& row) {
    row_ = row;
    row_keys(row);
    walk(row);
  });
}

void EnsembleLowering::row_keys(const Ex& row) {
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  f_.loop("c", 0, t_.column_count(), [&](const Ex& c) {
    Ex feature = in_order_ ? c : load(features_of_, c);
    Ex bits = f_.let("bits", call(Intrinsic::kFloatBits, DType::kI32, {load(in_, row * features_ + feature)}));
    Ex magnitude = f_.let("magnitude", bits & kMost);
    Ex nan = all_skip_ ? Ex(kMost) : all_go_on_ ? Ex(kLeast) : select(load(nan_, c) != 0, kLeast, kMost);
    Ex key = select(magnitude > 0x7f800000, nan, select(bits < 0, bits ^ kMost, bits));
    f_.store(keys_, c, unsigned_order_ ? key ^ kLeast : key);
  });
}

Ex EnsembleLowering::value(const Ex& at) const {
  return load(leaves_, places_of_values_ ? load(places_of_values_, at) : at);
}

void EnsembleLowering::sum(const Trees& trees) {
  t_.values == targets_&& targets_ <= kMostVariables ? sum_in_variables(trees) : sum_in_place(trees);
}

void EnsembleLowering::sum_in_variables(const Trees& trees) {
  std::vector<Ex> totals;
  for (int64_t v = 0; v < targets_; ++v) totals.push_back(f_.var("total", tir::f32(0.0f)));
  trees([&](const Ex&, const Ex& leaf) {
    Ex values = targets_ == 1 ? leaf : f_.let("values", leaf * targets_);
    for (int64_t v = 0; v < targets_; ++v) {
      const Ex& total = totals[static_cast<size_t>(v)];
      f_.assign(total, total + value(values + v));
    }
  });
  for (int64_t v = 0; v < targets_; ++v) f_.store(out_, row_ * targets_ + v, totals[static_cast<size_t>(v)]);
}

void EnsembleLowering::sum_in_place(const Trees& trees) {
  const bool all_targets = t_.values == targets_;
  BufferPtr targets;
  if (!all_targets)
    targets = narrow_table(f_, "targets", list_of(t_.tree_count(), [&](int64_t i) { return t_.target(i); }));
  f_.loop("v", 0, targets_, [&](const Ex& v) { f_.store(out_, row_ * targets_ + v, tir::f32(0.0f)); });
  trees([&](const Ex& tree, const Ex& leaf) {
    Ex values = f_.let("values", leaf);
    Ex first = f_.let("first", all_targets ? row_ * targets_ : row_ * targets_ + load(targets, tree));
    f_.loop("v", 0, t_.values, [&](const Ex& v) {
      Ex so_far = f_.let("so_far", load(out_, first + v));
      f_.store(out_, first + v, so_far + value(values * t_.values + v));
    });
  });
}

}  // namespace aotc::ops::trees
