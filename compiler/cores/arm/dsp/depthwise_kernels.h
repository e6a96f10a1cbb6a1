// SPDX-License-Identifier: Apache-2.0
// Microkernels of 3 x 3 depthwise convolutions for cores that multiply two pairs of halfwords at
// once (SMLAD). One copies a channel into a padded plane of halfwords, the other slides down the
// columns of that plane. The one thing to know: both are specialised in the plane's pitch, so
// layers whose pitches agree share their code.
#pragma once

#include <array>

#include "cores/arm/dsp/gemm.h"

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
  // Words of the table that dw_column takes as shape: columns; (turns of the loop - 1) << 16;
  // outputs of its first turn that are left out; bytes of out from row to row; bytes from the end
  // of a column to the begin of the next one, in the plane and in out; output rows, bytes from
  // column to column in out and in the plane.
  enum Shape { kColumns, kTurns, kSkip, kOutRow, kPlaneNext, kOutNext, kRows, kOutColumn, kPlaneColumn, kShapeWords };
  // Words of the table that dw_plane takes: bytes from pixel to pixel and from row to row.
  enum Plane { kPixel, kRow };
  static constexpr int kLeft = PairGemm::kLeft;  // weights and bias are scaled by 2^kLeft
  static constexpr int64_t kMostPitch = 128;     // elements; even, so that rows begin at words
  static constexpr int64_t kMostGap = 96;        // elements of a plane's row that are not copied
  // Outputs in flight: accumulators that change places.
  static constexpr int in_flight(int64_t stride) { return stride == 1 ? 3 : 2; }
};

// Words of a channel: bytes of weights (row, column), lowest first, (0,0) (1,0) (0,1) (1,1), then
// (2,0) (0,2) (2,1) (1,2); bias << 8 with weight (2,2) below it; multiplier, offset, [sign]. With
// `nibbles` the first eight weights are 4 bits of one word each, lowest first (2,0) (0,0) (0,2) (1,0)
// (2,1) (0,1) (1,2) (1,1).
int64_t dw_stream_words(bool sign, bool nibbles = false);
// `weights` are [channel][3][3]. Nothing if a bias has more than 24 bits.
std::optional<std::vector<int32_t>> dw_stream(const std::vector<int8_t>& weights, const std::vector<int32_t>& bias,
                                              const PairLines& lines, bool nibbles = false);
// Distances in bytes.
struct DepthwiseShape {
  int64_t rows = 1, columns = 1, out_row = 0, out_column = 0, plane_row = 0, plane_column = 0;
};
// `unroll`: outputs per turn of the loop, a multiple of those in flight, for each of these.
std::vector<int32_t> dw_shape(int64_t stride, int64_t unroll, const DepthwiseShape& shape);

// (x, plane, shape, rows): `rows` rows of `columns` pixels of one channel.
tir::KernelPtr dw_plane_kernel(int64_t columns, int64_t pitch);
// (stream, plane, out, shape): all outputs of one channel. `stride` is from row to row.
tir::KernelPtr dw_column_kernel(int64_t pitch, int64_t stride, int64_t unroll, int shift, bool sign,
                                bool nibbles = false);

}  // namespace aotc::cores::arm
