// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution for cores that add up sixteen products of bytes at once (Helium's
// VMLADAV), and gather words. Four input rows are woven: a word holds the four bytes that lie above
// each other. Four words of one channel are then a patch of 16 elements, and the windows of up to
// four outputs lie inside of it. The one thing to know: a channel's outputs are made four at a
// time, a quad, whose places in the patch are the kind of the convolution; what a window leaves of
// the patch has weights of 0, so the woven words there may be anything, but must be there.
#pragma once

#include <cstdint>
#include <vector>

#include "cores/arm/helium/gemm.h"

namespace aotc::cores::arm {

struct MveDepthwise {
  // kSquare  words are neighbouring columns; outputs are two rows by two columns, stride 1, and
  //          windows at most 3 x 3
  // kRow     the same words, a patch for each output of a row; windows at most 4 rows by 3 columns
  // kColumn  words are groups of four rows of an image of one column; outputs are four rows,
  // windows
  //          at most 13 rows (16 where there are so few outputs that they lie in the first patch)
  // kSquares kSquare with two quads at a time, an even number of whole ones: lines without a clamp
  // kSquaresOnce  kSquares with two whole quads: no loop
  enum Kind { kSquare, kRow, kColumn, kSquares, kSquaresOnce };
  // Words of the table that mve_quads takes as shape; all steps are in bytes.
  enum Shape {
    kGather = 0,    // four offsets of a patch's words
    kScatter = 4,   // four offsets of a quad's outputs
    kQuads = 8,     // whole ones
    kTail = 9,      // outputs of one more quad
    kStep = 10,     // from patch to patch
    kOutStep = 11,  // from quad to quad
    kBack = 12,     // from the end of a channel's whole quads to the next channel
    kOutBack = 13,
    kStreamBytes = 14,
    kZero = 15,   // zero point; forms kTwice and kEven
    kLeast = 16,  // of the clamp, in every byte of four words
    kMost = 20,
    kScatterPairs = 24,  // kSquares: in each word the offsets of both quads' outputs, in 16 bits each
    kShapeWords = 24,
    kPairShapeWords = 28
  };
  static constexpr int kWeaveLeast = 16;  // bytes of a row
};

// Words of a channel in the stream: weights, then what requantises.
int64_t mve_depthwise_record(MveDepthwise::Kind kind, const MveScaling& scaling);

// Weights [channels][rows][columns], rows at most 4 and columns at most 3, or [channels][rows] of
// kColumn.
std::vector<int32_t> mve_depthwise_stream(MveDepthwise::Kind kind, const std::vector<int8_t>& weights, int64_t channels,
                                          int64_t rows, int64_t columns, const MveScaling& scaling);

// Whether the kernel can requantise so.
bool fits_mve_depthwise(const MveScaling& scaling);

// (x, woven, bytes, zero): rows of `bytes` bytes behind each other, at x the row `first` of four;
// so many as `rows`. The last `keep` of the four rows that were woven before become the first, for
// which `bytes` is a multiple of 16; the others are all `zero`.
tir::KernelPtr mve_weave_kernel(int64_t first, int64_t rows, int64_t keep);

// (woven, stream, out, shape). `tail`: whether the shape has one.
tir::KernelPtr mve_quads_kernel(MveDepthwise::Kind kind, const MveScaling& scaling, bool tail);

}  // namespace aotc::cores::arm
