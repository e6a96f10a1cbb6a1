// SPDX-License-Identifier: Apache-2.0
// What all walks through trees share: features as whole numbers, and the sums of leaves. The one thing to know: floats
// are compared as whole numbers that have their order, made once of each feature, so a node costs no float
// comparison, and thresholds stay exact.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ops/trees/trees.h"

namespace aotc::ops::trees {

// Whole numbers in the order of floats; 0 and -0 are two of them, so a threshold takes the upper.
int32_t key_of(float threshold);

// A table of whole numbers >= 0, of as many bytes as they need.
tir::BufferPtr narrow_table(LoweringBuilder& f, const std::string& name, const std::vector<int64_t>& values);
// Bytes of an element there.
int64_t narrow_bytes(int64_t most);

template <typename Get>
std::vector<int64_t> list_of(int64_t count, Get get) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(get(i));
  return out;
}

// Of every tree how many steps a walk takes at most.
std::vector<int64_t> depths_of(const Tables& t);

// What leaves hold, each value once, and of every leaf where its values are.
struct SharedValues {
  std::vector<float> values;
  std::vector<int64_t> places;
};
// Nothing where they take no less flash than leaves as they are, with places of so many bytes at least, or where speed
// counts.
std::optional<SharedValues> shared_values(const Tables& t, const TargetInfo& target, int64_t least_bytes);

class EnsembleLowering {
 public:
  // With values that are shared and no places, the caller has these.
  EnsembleLowering(const OpView& op, const Tables& tables, const std::optional<SharedValues>& shared);
  virtual ~EnsembleLowering() = default;

 protected:
  // Before the rows: in the order of numbers with a sign, or without.
  void make_keys(bool unsigned_order);
  // Calls `walk` for every row, whose keys are then in scratch.
  void rows(const std::function<void(const tir::Ex& row)>& walk);
  // `trees` adds for every tree the row of leaves that a walk comes to.
  using Trees = std::function<void(const std::function<void(tir::Ex tree, tir::Ex leaf)>& add)>;
  void sum(const Trees& trees);

  const Tables& t_;
  LoweringBuilder f_;
  tir::BufferPtr keys_, leaves_, out_;
  int64_t features_, targets_;

 private:
  void row_keys(const tir::Ex& row);
  tir::Ex value(const tir::Ex& at) const;
  void sum_in_variables(const Trees& trees);
  void sum_in_place(const Trees& trees);

  tir::BufferPtr in_, features_of_, nan_, places_of_values_;
  tir::Ex row_;
  bool in_order_ = true, all_skip_ = true, all_go_on_ = true, unsigned_order_ = false;
};

}  // namespace aotc::ops::trees
