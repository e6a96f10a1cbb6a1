// SPDX-License-Identifier: Apache-2.0
// Microkernels of 3 x 3 depthwise convolutions for cores that multiply two pairs of halfwords at
// once (SMLAD). One copies a channel into a padded plane of halfwords, the other slides down the
// columns of that plane. The one thing to know: both are specialised in the plane's pitch, so
// layers whose pitches agree share their code. Except at -O size, a column kernel is for one shape of a layer.
#pragma once

#include <array>

#include "cores/arm/dsp/gemm.h"
#include "cores/arm/lowering.h"

namespace aotc::cores::arm {

// Layouts that meanings and implementations share.
struct DepthwisePairs {
  static constexpr int64_t kTaps = 9;
  // Word and byte of each tap in a channel's stream.
  struct Place {
    int word, byte;
  };
  static constexpr std::array<Place, kTaps> kPlaces = {
      {{0, 0}, {0, 2}, {1, 1}, {0, 1}, {0, 3}, {1, 3}, {1, 0}, {1, 2}, {2, 0}}};
  // Words of the table that dw_column takes as shape: columns; (iterations of the loop - 1) << 16;
  // outputs of its first iteration that are left out; bytes of out from row to row; bytes from the end
  // of a column to the begin of the next one, in the plane and in out; output rows, bytes from
  // column to column in out and in the plane.
  enum Shape { kColumns, kTurns, kSkip, kOutRow, kPlaneNext, kOutNext, kRows, kOutColumn, kPlaneColumn, kShapeWords };
  // Words of the table that dw_plane takes: bytes from pixel to pixel and from row to row.
  enum Plane { kPixel, kRow };
  static constexpr int kLeft = PairGemm::kLeft;  // weights and bias are scaled by 2^kLeft
  static constexpr int64_t kMostPitch = 128;     // elements; even, so that rows begin at words
  static constexpr int64_t kMostGap = 96;        // elements of a plane's row that are not copied
};

// Words of a channel: bytes of weights (row, column), lowest first, (0,0) (1,0) (0,1) (1,1), then
// (2,0) (0,2) (2,1) (1,2); bias << 8 with weight (2,2) below it; multiplier, offset, [sign]. With
// `nibbles` the first eight weights are 4 bits of one word each, lowest first (2,0) (0,0) (0,2) (1,0)
// (2,1) (0,1) (1,2) (1,1).
int64_t dw_stream_words(bool sign, bool nibbles = false);
// `weights` are [channel][3][3]. nullopt if a bias has more than 24 bits.
std::optional<std::vector<int32_t>> dw_stream(const std::vector<int8_t>& weights, const std::vector<int32_t>& bias,
                                              const PairLines& lines, bool nibbles = false);
// Distances in bytes.
struct DepthwiseShape {
  int64_t rows = 1, columns = 1, out_row = 0, out_column = 0, plane_row = 0, plane_column = 0;
};
// `turn`: outputs of an iteration of the loop.
std::vector<int32_t> dw_shape(int64_t stride, int64_t turn, const DepthwiseShape& shape);

// The form of a column kernel: what it knows of its layer.
struct DepthwiseColumn {
  int64_t pitch = 8;   // elements from row to row of the plane
  int64_t stride = 1;  // from row to row
  int64_t turn = 1;    // outputs of an iteration of the loop
  // The kernel of one layer has these numbers in its text. 0 rows: it takes them from the table.
  int64_t rows = 0, columns = 0;                          // outputs of a column; columns
  int64_t out_row = 0, out_column = 0, plane_column = 0;  // distances in bytes

  bool own() const { return rows > 0; }
  int64_t turns() const { return (rows + turn - 1) / turn; }
  int64_t skip() const { return turns() * turn - rows; }  // outputs of the first iteration that are left out
  int64_t rows_read() const { return (rows - 1) * stride + 3; }
  static DepthwiseColumn of(const tir::Kernel& kernel);
};
// The kernel's form for a layer whose planes all have `shape`, with `calls` calls a run: its own, if instructions reach
// its outputs, otherwise one that takes the numbers from the table.
DepthwiseColumn column_of(int64_t pitch, int64_t stride, const DepthwiseShape& shape, int64_t calls,
                          const TargetInfo& target);
// The form that layers share.
DepthwiseColumn shared_column(int64_t pitch, int64_t stride, const TargetInfo& target);

// (x, plane, shape, rows): `rows` rows of `columns` pixels of one channel.
tir::KernelPtr dw_plane_kernel(int64_t columns, int64_t pitch);
// (stream, plane, out, shape): all outputs of one channel. `stride` is from row to row.
tir::KernelPtr dw_column_kernel(const DepthwiseColumn& column, int shift, bool sign, bool nibbles = false);

// One row of the result of a 3 x 3 depthwise convolution on cores with SMLAD, all its channels in one call: what a row
// of a segment is (plan/segments.h). Each channel goes along the three rows of the image as they are: a column is three
// bytes, two as a pair and a single one, and is loaded once for all outputs that read it. The one thing to know: no row
// of the windows is outside of the image; of a missing column the zero points are multiplied.
//
// Bytes from row to row and from pixel to pixel of the image, and from pixel to pixel of the result; its columns.
struct DepthwiseRow {
  int64_t row = 0, pixel = 1, out_pixel = 1, columns = 2;
  int64_t stride = 1;  // from column to column: 1 or 2
  bool left = false,
       right = false;  // whether the first column of the first window and the last of the last are outside
  int32_t zero = 0;    // what is there

  static constexpr int64_t kMostWritten = 6;  // more outputs are made in a loop
  // What instructions can address.
  bool fits() const;
};

// The stream is dw_stream's, of weights [channel][column][row], of as many channels as are made.
// (stream, x, out, channels): x is at the first column inside of the image.
tir::KernelPtr dw_row_kernel(const DepthwiseRow& row, int shift, bool sign);

// 3 x 3 depthwise convolution with strides of 2 on cores with SMLAD, a channel at a time along the rows of the image as
// it is: three bytes of a column are two of a pair and a single one, and a column is loaded once for the two outputs
// that read it. No plane is made. The one thing to know: where a window's first or last row is outside of the image,
// the three rows that are loaded are others, inside of it, and the weights are moved; of a missing column only the sum
// is known.
//
// Bytes from row to row and from pixel to pixel of the image and of the result; columns of the result.
struct StridedRows {
  int64_t row = 0, pixel = 1, out_pixel = 1, columns = 2;
  bool left = false,
       right = false;  // whether the first column of the first window and the last of the last are outside
  int32_t zero = 0;    // what is there
  // What instructions can address.
  bool fits() const;
};
// Words of the table that the kernel takes: rows of the result, and which row of their windows is outside.
struct StridedShape {
  enum Word { kRows, kMissing };
  enum Missing { kNone, kTop, kBottom };
};

// The stream is dw_stream's, of weights [channel][column][row].
// (stream, x, out, shape): x is at the first of three rows inside of the image, of the first output row.
tir::KernelPtr dw_strided_kernel(const StridedRows& rows, int shift, bool sign);

// Depthwise convolution over one axis, as networks for sequences have it, on cores with SMLAD: a channel at a time,
// four outputs at a time along the axis. The elements that four outputs read are loaded once and stand in pairs of
// neighbours, each of which is one more output's. No plane is made. The one thing to know: no window reaches outside of
// the image, and nothing is read from where a result was written.
struct DepthwiseTaps {
  static constexpr int64_t kFewest = 2, kMost = 16;  // taps
  int64_t taps = 2, outputs = 1;
  int64_t pixel = 1;  // bytes from element to element of the image, and of the result
  // What instructions can address.
  bool fits() const;
};

// Words of a channel: its weights, four to a word (the bytes of taps 0, 2, 1, 3); bias << 8; multiplier, offset,
// [sign].
int64_t dw_taps_words(int64_t taps, bool sign);
// `weights` are [channel][tap].
std::vector<int32_t> dw_taps_stream(const std::vector<int8_t>& weights, int64_t taps, const std::vector<int32_t>& bias,
                                    const PairLines& lines);
// (stream, x, out, channels)
tir::KernelPtr dw_taps_kernel(const DepthwiseTaps& shape, int shift, bool sign);

// int8; nullopt if the kernel does not fit.
std::optional<Lowered> lower_depthwise_taps(const OpView& op, const TargetInfo& target);

}  // namespace aotc::cores::arm
