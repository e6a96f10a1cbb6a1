// SPDX-License-Identifier: Apache-2.0
// fully_connected of float rows with int8 weights onto the pair kernels (gemm.h): scratch is a panel, then the sums
// of every part of the depth, eight units at a time.
#include <algorithm>
#include <cstdlib>

#include "cores/arm/dsp/gemm.h"
#include "cores/arm/dsp/lowerings.h"
#include "ops/common/gemm.h"
#include "ops/fully_connected/hybrid.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

class HybridPanelLowering final : public HybridRowsLowering {
 public:
  HybridPanelLowering(const OpView& op, const TargetInfo& target) : HybridRowsLowering(op, target) { centred_ = true; }

  // Sums come out of the upper 24 bits of an accumulator, so they have to fit these; long rows are
  // summed in parts that do.
  bool fits() {
    if (s_.units < PairGemm::kGemvChannels || s_.depth % 4 != 0) return false;
    w_ = op_.constant(1)->to_vector<int8_t>();
    groups_ = tile_starts(s_.units, PairGemm::kGemvChannels);
    if (!pairs_fit(w_, groups_, PairGemm::kGemvChannels, s_.depth)) return false;
    constexpr int64_t kMostParts = 8;
    for (parts_ = 1; parts_ <= kMostParts; ++parts_)
      if (s_.depth % (4 * parts_) == 0 && largest_sum(s_.depth / parts_) < 1 << 23) return true;
    return false;
  }

 private:
  // The largest magnitude of a sum of `length` elements, over all units and parts of their rows.
  // The elements of a row span 255 at most, from below 0 to above it.
  int64_t largest_sum(int64_t length) const {
    int64_t largest = 0;
    for (size_t at = 0; at < w_.size(); at += static_cast<size_t>(length)) {
      int64_t above = 0, below = 0;
      for (size_t k = at; k < at + static_cast<size_t>(length); ++k)
        (w_[k] > 0 ? above : below) += std::abs(static_cast<int64_t>(w_[k]));
      largest = std::max(largest, s_.asymmetric ? 255 * std::max(above, below) : 127 * (above + below));
    }
    return largest;
  }

  std::string_view algorithm() const override { return "pairs"; }

  void begin() override {
    const int64_t length = s_.depth / parts_;
    std::vector<int32_t> stream;
    for (int64_t part = 0; part < parts_; ++part) {
      std::vector<int32_t> words =
          gemv_sums_stream(w_, s_.depth, row_order(part * length, (part + 1) * length), groups_);
      stream.insert(stream.end(), words.begin(), words.end());
    }
    auto groups = static_cast<int64_t>(groups_.size());
    sums_of_part_ = groups * PairGemm::kGemvChannels;
    stream_of_part_ = static_cast<int64_t>(stream.size()) / parts_;
    stream_ = f_.constant("stream", DType::kI32, stream);
    shape_ = f_.constant("shape", DType::kI32, gemv_sums_shape(length / 2, groups));
    panel_ = f_.scratch("panel", DType::kI32, s_.depth / 2 + parts_ * sums_of_part_, 4);
  }

  void quantize() override {
    RowRequest row = request();
    row.centred = true;
    row.fours = true;
    row.store = [this](const Ex& four, const std::vector<Ex>& q) {
      f_.store(panel_, four * 2, pair_word(q[0], q[2]));
      f_.store(panel_, four * 2 + 1, pair_word(q[1], q[3]));
    };
    q_ = emit_quantize_row(f_, row);
  }

  void multiply(const Ex& to) override {
    const int64_t sums = s_.depth / 2;
    for (int64_t part = 0; part < parts_; ++part)
      f_.run(gemv_sums_kernel(), {address(stream_, part * stream_of_part_), address(panel_, part * (sums / parts_)),
                                  address(panel_, sums + part * sums_of_part_), address(shape_, 0)});
    // Units of the last group that the one before has as well were summed twice.
    int64_t whole = s_.units / PairGemm::kGemvChannels * PairGemm::kGemvChannels;
    emit_results(to, 0, whole, sums);
    if (whole < s_.units)
      emit_results(to, whole, s_.units, sums + sums_of_part_ - PairGemm::kGemvChannels + (whole - groups_.back()));
  }

  // Of units begin .. end, whose sums begin at panel[from].
  void emit_results(const Ex& to, int64_t begin, int64_t end, int64_t from) {
    constexpr int64_t kUnroll = 4;
    int64_t unroll = unroll_for(end - begin, kUnroll);
    f_.loop(
        "u", begin, end,
        [&](Ex u) {
          for (int64_t i = 0; i < unroll; ++i) {
            Ex sum = load(panel_, u + (from - begin + i));
            for (int64_t part = 1; part < parts_; ++part)
              sum = sum + load(panel_, u + (from - begin + i + part * sums_of_part_));
            emit_result(to, u + i, f_.let("sum", sum));
          }
        },
        unroll);
  }

  int64_t parts_ = 1, sums_of_part_ = 0, stream_of_part_ = 0;
  std::vector<int8_t> w_;
  std::vector<int64_t> groups_;
  BufferPtr stream_, shape_, panel_;
};

}  // namespace

std::optional<Lowered> lower_fully_connected_hybrid_dsp(const OpView& op, const TargetInfo& target) {
  HybridPanelLowering lowering(op, target);
  if (!lowering.fits()) return std::nullopt;
  return lowering.run();
}

}  // namespace aotc::cores::arm
