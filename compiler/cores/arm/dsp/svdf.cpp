// SPDX-License-Identifier: Apache-2.0
// svdf of int8 by kernels: what is remembered goes through that of ops over time (svdf_kernel.h), and where the
// pair kernels' sums are wide enough, the features through them (gemm.h).
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/dsp/lowerings.h"
#include "cores/arm/dsp/svdf_kernel.h"
#include "ops/common/gemm.h"
#include "ops/svdf/lowering.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostStateWords = 64;  // of a filter's state: the kernel writes all of them out

class SvdfKernelLowering final : public SvdfLowering {
 public:
  SvdfKernelLowering(const OpView& op, const TargetInfo& target) : SvdfLowering(op, target) { summed_ = true; }

  bool applies() const { return integer_ && s_.lanes > 1 && s_.memory / s_.lanes <= kMostStateWords; }

 private:
  bool fits_pairs(const std::vector<int8_t>& weights) const {
    const auto group = static_cast<int64_t>(PairGemm::kGemvChannels);
    if (s_.filters % group != 0 || s_.inputs % 4 != 0) return false;
    if (s_.inputs * 128 * 128 >= 1 << 23) return false;  // the kernel's sums have 24 bits
    return pairs_fit(weights, tile_starts(s_.filters, group), group, s_.inputs);
  }

  void pack_features(const std::vector<int8_t>& weights) override {
    pairs_ = fits_pairs(weights);
    if (!pairs_) return SvdfLowering::pack_features(weights);
    features_ = f_.constant("features", DType::kI32,
                            gemv_sums_stream(weights, s_.inputs, row_order(0, s_.inputs),
                                             tile_starts(s_.filters, PairGemm::kGemvChannels)));
    shape_ = f_.constant("features_shape", DType::kI32,
                         gemv_sums_shape(s_.inputs / 2, s_.filters / PairGemm::kGemvChannels));
  }

  BufferPtr pack_time(const std::vector<int16_t>& weights) override {
    return f_.constant("time", DType::kI32, svdf_time_stream(weights, starts(), bytes_));
  }

  // A unit's bias is where the sum of its first filter begins.
  std::vector<int32_t> starts() const {
    std::vector<int32_t> out(static_cast<size_t>(s_.filters), 0);
    for (int64_t u = 0; u < s_.units; ++u)
      out[static_cast<size_t>(u * s_.rank)] = scaling_->bias[static_cast<size_t>(u)];
    return out;
  }

  int64_t more_values() const override { return pairs_ ? s_.inputs / 2 : 0; }

  void features(const Ex& b) override {
    if (!pairs_) return SvdfLowering::features(b);
    f_.run(pack_run_kernel(1), {address(in_, b * s_.inputs), address(values_, s_.filters), Ex(s_.inputs / 4)});
    f_.run(gemv_sums_kernel(),
           {address(features_, 0), address(values_, s_.filters), address(values_, 0), address(shape_, 0)});
    const int64_t unroll = 8;  // divides the number of filters, as the groups of the kernel do
    f_.loop(
        "f", 0, s_.filters,
        [&](const Ex& f) {
          for (int64_t i = 0; i < unroll; ++i) {
            Ex acc = f_.let("acc", load(values_, f + i) + load(feature_bias_, f + i));
            f_.store(values_, f + i, feature_value(acc));
          }
        },
        unroll);
  }

  void remember(const Ex& state) override {
    f_.run(svdf_time_kernel(s_.memory / s_.lanes, bytes_),
           {address(state_, state), address(time_, 0), address(next_, state), address(values_, 0)});
  }

  std::string_view note() const override { return pairs_ ? "pairs" : SvdfLowering::note(); }

  bool pairs_ = false;  // features go through the pair kernels
  BufferPtr shape_;
};

}  // namespace

std::optional<Lowered> lower_svdf_dsp(const OpView& op, const TargetInfo& target) {
  SvdfKernelLowering lowering(op, target);
  if (!lowering.applies()) return std::nullopt;
  return lowering.run();
}

}  // namespace aotc::cores::arm
