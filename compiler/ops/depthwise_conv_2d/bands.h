// SPDX-License-Identifier: Apache-2.0
// Planes and bands of a depthwise convolution. Every channel of a band (a range of output rows) is
// copied into a padded plane before its results are written, so results may lie on the input. The
// one thing to know: which ones follows from write_order() alone; whoever emits the loops must go
// through images, bands, groups of channels in this order and read the input in the copies only.
#pragma once

#include <vector>

#include "ops/common/window.h"

namespace aotc::ops {

// What a plane looks like in memory.
struct PlaneLayout {
  int64_t pitch = 1;       // elements from row to row
  int64_t element = 1;     // bytes of an element
  int64_t extra_rows = 0;  // below those that the outputs need
};

class Bands {
 public:
  // As few bands as RAM permits, unless a schedule asks for their "rows". A plane and what the
  // result must lie below the input may take what the graph's largest tensors take anyway.
  Bands(const OpView& op, const Window& window, const PlaneLayout& layout, const TargetInfo& target);

  bool one() const { return even() && height_ == window_.y.out; }
  // All of equal height, so that loops have constant bounds.
  bool even() const { return first_ == height_ && window_.y.out % height_ == 0; }
  int64_t height() const { return height_; }  // most output rows of a band
  int64_t least_height() const;
  // Output row at which the first band would begin if it had `height` rows; at most 0.
  int64_t begin() const { return first_ - height_; }
  int64_t plane_rows() const { return rows_of(height_) + layout_.extra_rows; }
  int64_t plane_elements() const { return plane_rows() * layout_.pitch; }

  WriteOrder write_order() const;

 private:
  struct Range {
    int64_t begin, end;  // output rows
  };
  void choose(int64_t budget);
  std::vector<Range> ranges(int64_t first, int64_t height) const;
  int64_t rows_of(int64_t height) const { return (height - 1) * window_.y.stride + window_.y.effective_kernel(); }
  int64_t plane_bytes(int64_t height) const {
    return (rows_of(height) + layout_.extra_rows) * layout_.pitch * layout_.element;
  }
  WriteOrder::Step step(int64_t n, Range band) const;
  bool in_place(const std::vector<Range>& bands) const;
  int64_t below(const std::vector<Range>& bands) const;
  int64_t extra_bytes(int64_t first, int64_t height) const;

  const Window window_;
  const PlaneLayout layout_;
  int64_t in_row_, out_row_;  // bytes
  bool one_to_one_;           // output channels read the input channel of the same number
  int64_t height_ = 1, first_ = 1;
};

// Bytes that a plane may take beside the operator's tensors: what the graph's largest tensors take anyway.
int64_t plane_budget(const OpView& op, const TargetInfo& target);

}  // namespace aotc::ops
