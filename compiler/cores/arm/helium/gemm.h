// SPDX-License-Identifier: Apache-2.0
// Integer matrix products for cores that add up sixteen products of bytes at once (Helium's
// VMLADAV). A block is sixteen elements k; two pixels and four channels at a time keep eight sums.
// Bytes of x beyond k are never read. Where k is no multiple of 16 the
// second block begins early and overlaps the first, with weights of 0 for what it repeats; where k
// is less than 16, the only block is loaded with the lanes beyond k off.
//
// Channels come in groups of eight. The stream of a group is two halves, one for the channels 0, 2,
// 4, 6, one for 1, 3, 5, 7: for each block 16 weights of each channel, then the vectors of
// requantisation. The second half goes through the blocks backwards, so that the pointers to x end
// where they began. What remains of the channels is a group that overlaps the one before it.
//
// Half words x have weights of bytes, too: a block is eight elements and as many bytes of weights of each channel. Sums
// have 32 bits, so the caller has proven that they fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cores/arm/lowering.h"
#include "ops/common/conv.h"
#include "ops/common/wide_requantize.h"
#include "tir/builder.h"

namespace aotc::cores::arm {

// Layouts that meanings and implementations share.
struct MveGemm {
  static constexpr int kGroup = 8;   // channels
  static constexpr int kBlock = 16;  // bytes of x
  // Blocks written out; where there are more, the rest is a loop.
  static constexpr int kGemmUnroll = 9;
  static constexpr int kGemvUnroll = 8;
  // Of rows written out twice, so that the first block of all begins the sums.
  static constexpr int kRowUnroll = 6;
  static constexpr int kMostPerRow = 16;
  static constexpr int kMostShared = 3;  // blocks of a row whose pixels share vectors: each is written out
  static constexpr int kMostApart = 2;
  static constexpr int kMostGemvElements = 4095;  // that one subtraction of an immediate goes back by
  // Words of the table that mve_gemm takes as shape. x and out step in bytes: from the first to the
  // second pixel of a pair, from a pair to the next.
  enum Shape {
    kPairs,
    kGroups,
    kXPixel,
    kOutPixel,
    kXStep,
    kOutStep,
    kChannels,
    kZero,   // zero point; forms kTwice and kEven
    kLeast,  // of the clamp, in every byte
    kMost,
    kRowSkip,      // bytes from behind a row's blocks (MveBlocks::apart: from its begin) to the next row
    kStreamBytes,  // of all groups that do not overlap
    kShapeWords
  };
  // Words of the table that mve_windows takes: from a row to the next, from a pixel's window to the
  // next, and of the second pixel in the panel.
  enum Windows { kRowStep, kPixelStep, kPanelPixel };
};

inline int64_t rounded_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

// How the elements k of a pixel, `rows` rows one behind the other, are cut into blocks. Sizes are in bytes.
struct MveBlocks {
  // `whole`: the blocks of a row do not overlap; the last one reads bytes behind the row, which are
  // multiplied by 0 and have to be there.
  MveBlocks(int64_t row_count, int64_t row_elements, bool whole, int64_t element_bytes = 1);
  // Whole blocks of one pixel, from each to the next `step` bytes.
  static MveBlocks spaced(int64_t blocks, int64_t step);
  // Rows of whole blocks of which the second pixel's lie `pixel` bytes further on: what both have in common is loaded
  // once. Leaves them as they are where that cannot be.
  void share(int64_t pixel);
  int64_t rows, elements;  // bytes of a row
  int64_t bytes = 1;       // of an element
  int64_t per_row;
  int64_t apart = 0;  // blocks from a pixel of a pair to the other where they share, else 0
  // The offset of the second block of a row; with one block, its bytes. If it is more than a block, it is the distance
  // of every block from the one before.
  int64_t first;
  int64_t count() const { return rows * per_row; }
  // Bytes from the begin of a row to behind its last block.
  int64_t row_bytes() const { return first + MveGemm::kBlock * (per_row - 1); }
  // Vectors of a pair of pixels that a half of a group loads.
  int64_t loads() const { return apart > 0 ? rows * (per_row + apart) : 2 * count(); }
  // Bytes that a pixel's pointer moves along a row.
  int64_t passed() const { return apart > 0 ? 0 : row_bytes(); }
  // The byte of a pixel that is byte j of a block, -1 if it is multiplied by 0.
  int64_t element(int64_t block, int64_t j) const;
  // Whether mve_gemm does them: its loops go by whole blocks or rows.
  bool fit_gemm() const;
};

// Words are narrowed to bytes by a shift of up to 16 bits and another of up to 8. Both round half
// up; what they round down is less by this before.
int64_t mve_rounding(int shift);
constexpr int kMostMveShift = 24;

// Requantisation of sums that lack their bias.
//   kLine   saturate((hi32((sum << left) * multiplier) + offset + mve_rounding) >> shift)
//   kTwice  as the reference: high product rounded, shift rounded half away from zero, zero point. With `products` the
//           shift is a second rounded high product: its factor is one more than the power of two, which carries
//           halves away from zero.
//   kEven   as onnxruntime: sum + bias times a float32, rounded to even, zero point
//   kHalves  of half words x: saturate(hi32((sum + bias) * multiplier) >> shift), the high word rounded if shift is 0
//   kUnscaled  of half words x, of one pixel: sum + bias, not narrowed
//   kUnscaledBytes  the same of bytes x, of any number of pixels
struct MveScaling {
  enum class Form { kLine, kTwice, kEven, kHalves, kUnscaled, kUnscaledBytes };
  Form form = Form::kLine;
  int left = 0, shift = 0;        // kLine; kHalves: shift
  bool products = false;          // kTwice
  // Per channel: multiplier, offset; bias, multiplier, -shift or factor; bias, the bits of a float32; bias, multiplier;
  // bias.
  std::vector<int32_t> words[3];
  int32_t zero_point = 0;
  ClampI32 clamp{-128, 127};
  // Sums also lack a multiple of the sum of their window, for which the stream begins with weights (MveWeights).
  bool window_sums = false;
  bool halves() const { return form == Form::kHalves || form == Form::kUnscaled; }
  bool clamps() const {
    const int32_t most = form == Form::kHalves ? INT16_MAX : INT8_MAX;
    return vectors() > 1 && (clamp.min != -most - 1 || clamp.max != most);
  }
  int vectors() const {
    return form == Form::kUnscaled || form == Form::kUnscaledBytes ? 1 : form == Form::kTwice ? 3 : 2;
  }
  // The zero point is added behind the scaling.
  bool adds_zero_point() const { return form == Form::kTwice || form == Form::kEven; }
  // "shift 4", "two roundings", "float, ties to even", "high word" or "sums", for schedule descriptions.
  std::string text() const;
  // Bytes of a result.
  int64_t bytes() const { return vectors() == 1 ? 4 : form == Form::kHalves ? 2 : 1; }
  // Parameter of kernels: how sums are scaled where the zero point is added behind it.
  int twice() const {
    return form == Form::kEven ? kTwiceFloats : form != Form::kTwice ? 0 : products ? kTwiceProducts : kTwiceShifts;
  }
  static constexpr int kTwiceShifts = 1, kTwiceProducts = 2, kTwiceFloats = 3;
  // Parameter of kernels of half words.
  static constexpr int kNarrowed = 1, kNotNarrowed = 2;
};
// Ranges count the bias. nullopt if no form is exact.
std::optional<MveScaling> fit_mve_scaling(const Requantization& what, const std::vector<int32_t>& bias,
                                          const TargetInfo& target);
// kUnscaledBytes.
MveScaling mve_sums(const std::vector<int32_t>& bias);
// kHalves; nullopt if a sum needs 64 bits or is rounded in another way.
std::optional<MveScaling> fit_mve_halves(const WideScaling& what);

// Weights [channels][k] as the kernels take them. Weights of uint8, or with a zero point, are bytes and a multiple of
// the sum of a window that is the same for all channels: `sums` has it for each element of k, or is empty.
struct MveWeights {
  std::vector<int8_t> values, sums;
};
// nullopt if the multiple is no byte.
std::optional<MveWeights> mve_weights(const OpView& op, int64_t k);

// Streams of all groups: weights of the sums, if there are any, a vector for each block; then the groups.
std::vector<int32_t> mve_gemm_stream(const MveWeights& weights, int64_t channels, const MveBlocks& blocks,
                                     const MveScaling& scaling);
// The weights of a channel that a block is multiplied by.
void put_mve_weights(std::vector<int32_t>& out, const std::vector<int8_t>& weights, const MveBlocks& blocks,
                     int64_t block, int64_t channel);
// The same for mve_gemv: a block's weights of all eight channels, then the vectors of both halves.
// Fewer channels than eight are one group that is so much smaller; then the form is kLine.
std::vector<int32_t> mve_gemv_stream(const MveWeights& weights, int64_t channels, const MveBlocks& blocks,
                                     const MveScaling& scaling);

// The meaning of kEven: a sum times a float32 given by its bits, to the nearest whole number, ties to even, as far as
// bytes tell numbers apart.
tir::Ex mve_even(tir::FunctionBuilder& f, const tir::Ex& acc, const tir::Ex& scale);

// (stream, x, out, shape): `pairs` pairs of pixels.
tir::KernelPtr mve_gemm_kernel(const MveBlocks& blocks, int64_t channels, const MveScaling& scaling);
// (stream, x, out, shape): one pixel; of the shape, the groups, channels, zero and clamp are used.
tir::KernelPtr mve_gemv_kernel(const MveBlocks& blocks, int64_t channels, const MveScaling& scaling);
// Where pixels lie, in bytes.
struct MvePixels {
  int64_t pairs = 1;
  int64_t x_pixel = 0, out_pixel = 0;  // from the first of a pair to the second
  int64_t x_step = 0, out_step = 0;    // from a pair to the next
  int64_t row_step = 0;                // from a row of a pixel's elements to the next
};
std::vector<int32_t> mve_shape(const MvePixels& pixels, const MveBlocks& blocks, int64_t channels,
                               const MveScaling& scaling);

// Elements of these have `element_bytes`: 1, 2 or, except for windows, 4 (floats).
// (x, panel, shape): the windows of two neighbouring pixels, `rows` rows of `bytes` bytes.
tir::KernelPtr mve_windows_kernel(int64_t rows, int64_t bytes, int64_t element_bytes = 1);
// (x, panel, shape, size): size >> 16 rows of size & 0xFFFF bytes, at least one of each; rows of x
// and of the panel are shape[0] and shape[1] bytes apart.
tir::KernelPtr mve_rows_kernel(int64_t element_bytes = 1);
// (panel, value, bytes): at least one. The value of floats is 0.
tir::KernelPtr mve_fill_kernel(int64_t element_bytes = 1);

}  // namespace aotc::cores::arm
