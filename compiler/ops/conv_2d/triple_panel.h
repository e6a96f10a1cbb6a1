// SPDX-License-Identifier: Apache-2.0
// The panel of a convolution by products of three pixels in two words (ops/common/triple_gemm.h): the windows of three
// neighbouring outputs of the flat list of pixels. Padding is the zero point.
#pragma once

#include <array>
#include <optional>

#include "ops/common/triple_pack.h"
#include "ops/conv_2d/shape.h"

namespace aotc::ops {

class TriplePanel {
 public:
  // In C alone.
  TriplePanel(LoweringBuilder& f, const ConvShape& conv, int32_t zero);
  // By the core's kernel where it has one that is less, and with a band where that is little RAM.
  TriplePanel(LoweringBuilder& f, const ConvShape& conv, int32_t zero, const TargetInfo& target);

  // Constants of the function.
  void make_tables();
  // The function's input and scratch.
  void use(tir::BufferPtr in, tir::BufferPtr panel);
  // Before the first windows.
  void begin();
  // Fills it with the windows of three pixels from `first` on.
  void pack(const tir::Ex& first);

 private:
  using Ex = tir::Ex;
  using Triple = std::array<Ex, TripleGemm::kPixels>;

  bool clips() const;
  bool pays(const TargetInfo& target) const;
  WindowAxis::Range columns_inside() const;
  bool has_inside() const;
  bool wants_band(const TargetInfo& target) const;
  int64_t band_row() const;
  int64_t band_from() const;
  bool by_rectangles() const;
  bool turns_band() const;
  int64_t band_rows() const;
  Ex band_turn(const Ex& row);
  Ex band_place(const Ex& turn, const Ex& ky);
  Ex in_band(const Ex& column);
  void fill_band(const Ex& row);
  void copy_row(const Ex& to, const Ex& from, int64_t elements);
  void pack_band(const Ex& first, const Ex& row, const Ex& column);
  void pack_inside(const tir::BufferPtr& from, const Ex& at, int64_t pitch, const Ex& turn = 0);
  void pack_run(const tir::BufferPtr& of, const Ex& from, int64_t distance, int64_t count, const Ex& to);
  void pack_windows(const Ex& first);
  void pack_any(const Ex& first);
  void pack_rectangles(const Ex& first);

  LoweringBuilder& f_;
  const ConvShape& conv_;
  int32_t zero_;
  int64_t row_elements_;
  TriplePack kernel_;  // without a family: none
  bool banded_ = false;
  // The band has the rows that a row of outputs looks at, padding on either side, each from a multiple of 4 on.
  tir::BufferPtr in_, panel_, blank_, inside_, geometry_, list_, band_;
};

}  // namespace aotc::ops
