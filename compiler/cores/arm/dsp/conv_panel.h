// SPDX-License-Identifier: Apache-2.0
// The panel of a convolution: the windows of a tile of neighbouring outputs, spread into halfwords as the kernels of
// cores/arm/dsp/gemm.h and gemm16.h take them. Elements of a window's row are taken a word at a time, four or two;
// what remains of each row comes last, two to a step. If the window is dilated in x, every tap counts as a row.
#pragma once

#include "cores/arm/dsp/gemm.h"
#include "ops/conv_2d/shape.h"

namespace aotc::cores::arm {

class ConvPanel {
 public:
  // Of int8 or int16, whose padding is `zero`.
  ConvPanel(LoweringBuilder& f, const ops::ConvShape& conv, DType type, int32_t zero);

  int lanes() const { return lanes_; }  // elements of a word
  int64_t element_bytes() const { return bytes_; }
  // Rows of a window.
  int64_t rows() const { return conv_.window.y.kernel * parts_; }
  // Elements of a window's row, its whole words, and the elements behind these.
  int64_t row_elements() const { return row_elements_; }
  int64_t row_words() const { return row_words_; }
  int64_t row_rest() const { return row_rest_; }

  // Constants of the function; `tile` is the most pixels that pack() is asked for.
  void make_tables(int64_t tile);
  // Whether panels of two pixels of int8 are filled in fewer cycles by more instructions.
  void save_cycles() { saves_cycles_ = !int16_; }
  void use(tir::BufferPtr in, tir::BufferPtr panel) { in_ = std::move(in), panel_ = std::move(panel); }
  // What pack() of so many runs.
  Work work(int64_t tile) const;
  // Spreads the windows of `tile` neighbouring outputs from `first` on.
  void pack(const tir::Ex& first, int64_t tile);

 private:
  using Ex = tir::Ex;
  // Elements of a row of the image.
  int64_t row_size() const { return conv_.window.x.in * conv_.in_channels; }
  // Elements from a window's row to the next one in the same row of the image.
  int64_t part_stride() const { return conv_.window.x.dilation * conv_.in_channels; }
  // Steps of a word, and of the words of a window's row.
  int64_t word_steps() const { return lanes_ / 2; }
  int64_t row_steps() const { return word_steps() * row_words_; }
  tir::KernelPtr pack_kernel() const;
  tir::KernelPtr run_kernel() const;

  void pack_fast(const Ex& from);
  // `element` gives element j of the row at (ky, kx).
  template <typename Element>
  void store_rest(const Ex& p, Element element);
  void pack_windows(const Ex& first);
  void pack_clipped(const Ex& top, const Ex& left);
  void pack_one(const Ex& pixel, const Ex& i);
  bool has_edges() const;
  void pack_edges(const Ex& top, const Ex& left, const Ex& i);
  void pack_rows(const Ex& top, const Ex& left, const Ex& i);
  void pack_parts(const Ex& iy, const Ex& left, const Ex& to);
  Ex blank() const;
  void fill(const Ex& to, const Ex& steps);
  void fill_words(const Ex& to, const Ex& count);
  void pack_taps(const Ex& iy, const Ex& left, const Ex& to);
  void pack_elements(const Ex& iy, const Ex& left, const Ex& to);
  void pack_words(const Ex& iy, const Ex& begin, const Ex& to, const Ex& first, const Ex& end);
  Ex element(const Ex& iy, const Ex& q, bool check_row);

  LoweringBuilder& f_;
  const ops::ConvShape& conv_;
  bool int16_;
  int lanes_;
  int32_t zero_;
  int64_t bytes_;
  int64_t parts_;  // rows of a window in a row of the image
  int64_t row_elements_, row_words_, row_rest_;
  int64_t tile_ = 1;  // pixels of the panel
  bool clips_rows_ = false, edges_ = false, saves_cycles_ = false;
  tir::BufferPtr in_, panel_, pack_shape_;
  int64_t all_rows_ = 0;  // where pack_shape_ has the table of a window with all rows
};

}  // namespace aotc::cores::arm
