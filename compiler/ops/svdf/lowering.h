// SPDX-License-Identifier: Apache-2.0
// Lowering of svdf: the values of all filters first, then what is remembered, filter by filter; the next state
// is made in the place of the present one. The one thing to know: a target with kernels for the products takes
// the parts that are virtual, and every part says what it leaves for the next.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/svdf/svdf.h"

namespace aotc::ops {

class SvdfLowering {
 public:
  SvdfLowering(const OpView& op, const TargetInfo& target);
  virtual ~SvdfLowering() = default;

  Lowered run();

 protected:
  // Makes features_ of the weights [filter][input].
  virtual void pack_features(const std::vector<int8_t>& weights);
  // The weights over time, [filter][time] in the order of the state; also make_bias where the sums have it.
  virtual tir::BufferPtr pack_time(const std::vector<int16_t>& weights);
  // Words of values_ behind those of the filters.
  virtual int64_t more_values() const { return 0; }
  // Leaves the filters' values of a batch in values_.
  virtual void features(const tir::Ex& batch);
  // Moves on what the filters remember and takes values_ in. Where summed_, leaves there what each filter sums up
  // to, its unit's bias included.
  virtual void remember(const tir::Ex& /*state*/) {}
  virtual std::string_view note() const { return integer_ ? "integer" : hybrid_ ? "dynamic range" : "float"; }

  // What is stored of a feature's sum.
  tir::Ex feature_value(const tir::Ex& acc);

  const OpView& op_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  SvdfShape s_;
  bool integer_, hybrid_, bytes_;
  bool summed_ = false;
  std::optional<SvdfScaling> scaling_;
  tir::BufferPtr in_, state_, next_, features_, feature_bias_, time_, values_;

 private:
  void make_features();
  void make_hybrid_features();
  void hybrid_features(const tir::Ex& batch);
  // Every filter's sum of x[at ..] with its weights, to `take`.
  void tiles(const tir::BufferPtr& x, const tir::Ex& at,
             const std::function<void(const tir::Ex& filter, const tir::Ex& sum)>& take);
  tir::Ex fresh_value(const tir::Ex& filter);
  void make_time();
  void make_bias();
  void units(const tir::Ex& batch);
  void unit(const tir::Ex& batch, const tir::Ex& u, const tir::Ex& state);
  tir::Ex of_filter(const tir::Ex& state, const tir::Ex& filter);

  int64_t block_ = 1;  // filters whose features are summed together
  std::optional<Requantizer> feature_scaler_, output_scaler_;
  tir::BufferPtr out_, bias_, feature_scale_, feature_sums_;
};

}  // namespace aotc::ops
