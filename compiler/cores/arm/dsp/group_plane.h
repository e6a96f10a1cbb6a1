// SPDX-License-Identifier: Apache-2.0
// GroupPlane: a grouped convolution as ordinary ones, one for each group of channels. The group's channels of a band of
// rows are copied into a plane of halfwords with padding. A window's row then is one run of words, as in an image that
// has no other channels, and no window reaches beyond the plane.
#pragma once

#include <functional>

#include "cores/arm/dsp/gemm.h"
#include "ops/conv_2d/shape.h"

namespace aotc::cores::arm {

class GroupPlane {
 public:
  // int8; `budget`: bytes that a plane may have. `whole`: the shape of the operator.
  GroupPlane(LoweringBuilder& f, const ops::ConvShape& whole, int32_t zero, int64_t budget, const TargetInfo& target);

  // Whether a plane of one row of the result is within the budget.
  bool fits() const { return height_ > 0; }
  int64_t groups() const { return whole_.in_channels / whole_.group_in; }
  // The convolution of a group over a band.
  ops::ConvShape shape() const;
  // Rows of the result in a band, and the bands.
  int64_t height() const { return height_; }
  int64_t bands() const { return (whole_.window.y.out + height_ - 1) / height_; }

  // The steps of a window, as of weights [row][column][channel of the group].
  PairOrder order() const;
  // Words of the plane.
  int64_t words() const { return plane_rows(height_) * row_words(); }
  // The work of pack().
  Work work(int64_t tile) const;

  // Constants of the function.
  void make_tables();
  // The panel begins at word 0 of `memory`, and the plane at word `at`.
  void use(tir::BufferPtr in, tir::BufferPtr memory, int64_t at);
  // Runs `body` for each group of each band, with its plane filled. `first`: the band's first pixel in the result.
  void for_each(const std::function<void(const tir::Ex& group, const tir::Ex& first)>& body);
  // Copies the windows of `tile` neighbouring outputs of a band from `first` on into the panel.
  void pack(const tir::Ex& first, int64_t tile);

 private:
  using Ex = tir::Ex;
  // Words of a pixel, and of a row of the plane. The last half of an odd group is never multiplied.
  int64_t pixel_words() const { return (whole_.group_in + 1) / 2; }
  int64_t columns() const { return (whole_.window.x.out - 1) * whole_.window.x.stride + width(); }
  int64_t width() const { return whole_.window.x.effective_kernel(); }
  int64_t row_words() const { return columns() * pixel_words(); }
  int64_t plane_rows(int64_t height) const {
    return (height - 1) * whole_.window.y.stride + whole_.window.y.effective_kernel();
  }
  // Columns of the image that are in the plane.
  int64_t copied() const { return std::min(whole_.window.x.in, columns() - whole_.window.x.pad_before); }
  bool padded() const { return whole_.window.y.reaches_beyond() || whole_.window.x.reaches_beyond(); }
  void copy_rows(const Ex& top, const Ex& begin, const Ex& end, const Ex& group);
  void copy_row(const Ex& from, const Ex& to);
  // The windows of `pixels` neighbours whose first begins at word `from`, into the panel from its word `to` on.
  void pack_row(const Ex& from, const Ex& to, int64_t pixels, int64_t tile);

  LoweringBuilder& f_;
  const ops::ConvShape whole_;
  int32_t zero_;
  int64_t height_ = 0, at_ = 0;
  tir::BufferPtr in_, memory_, row_shape_;
};

}  // namespace aotc::cores::arm
