// Integer matrix products for cores that multiply two pairs of halfwords at once (SMLAD). A step of
// a product takes two elements k of every pixel, and two output channels a and b at a time: a word
// of the weight stream holds, in each half, 256 * b + a. The one thing to know: int8 activations are
// first spread into a panel of halfwords, [step][pixel], and the order of k within it is free as
// long as the stream follows the same order.
//
// Stream of a pair of channels: a bias and 256 times that of b plus it, one word a step, then for each channel its multiplier,
// offset and, with `sign`, what the offset is less by for negative accumulators. An output is
// saturate8(((acc << 8) * multiplier >> 32) + offset >> shift).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/common/requantize.h"
#include "tir/builder.h"

namespace aotc::ops {

// Layouts that meanings and implementations share.
struct PairGemm {
  // Steps written out in the loop over k; the loop is entered in its middle for what remains.
  static constexpr int kUnroll = 8;
  static constexpr int kGemvUnroll = 4;  // of two words of the panel each
  static constexpr int kStepInstructions[] = {0, 5, 7, 9, 12};  // by pixels; 4 bytes each
  static constexpr int kGemvInstructions = 29;
  static constexpr int kGemvChannels = 8;
  // Words of the table that gemm_pairs and gemv_pairs take as shape.
  enum Shape { kShapeSteps, kShapePairs, kShapeStride, kShapeEntry, kShapePanelBytes,
               kShapeStreamBytes };
  // Words of the table that pack_pixels takes.
  enum Pack { kPackPixelStride, kPackWords, kPackRows, kPackRowSkip };
  static constexpr int kLeft = 8;  // accumulators are requantised shifted left by this
};

// The elements k that the two halves of a step take, -1 for nothing.
using PairOrder = std::vector<std::array<int, 2>>;

// A requantisation as the kernels do it: every channel by one multiply and one shift for all.
struct PairLines {
  LineFit fit;
  bool sign() const { return fit.with_sign; }
};
// Nothing if the clamp is not int8's own range or no such form is exact. May change biases
// (fit_common_line).
std::optional<PairLines> fit_pair_lines(const Requantization& what, std::vector<int32_t>& bias);

// Whether 256 * b + a fits 16 bits for the pairs of neighbouring channels of weights
// [channels][k], the last pair overlapping where their number is odd.
bool pairs_fit(const std::vector<int8_t>& weights, int64_t channels, int64_t k);

// Streams for pairs that begin at channels `first`.
std::vector<int32_t> gemm_stream(const std::vector<int8_t>& weights, int64_t k,
                                 const PairOrder& order, const std::vector<int64_t>& first,
                                 const std::vector<int32_t>& bias, const PairLines& lines);
// The same for groups of eight channels; order.size() is even.
std::vector<int32_t> gemv_stream(const std::vector<int8_t>& weights, int64_t k,
                                 const PairOrder& order, const std::vector<int64_t>& first,
                                 const std::vector<int32_t>& bias, const PairLines& lines);

// Shape tables. `stride` is the distance of pixels in the output, in bytes.
std::vector<int32_t> gemm_shape(int64_t steps, int64_t pairs, int64_t stride, int64_t pixels,
                                bool sign);
std::vector<int32_t> gemv_shape(int64_t steps, int64_t groups, bool sign);

// (stream, panel, out, shape): `pixels` rows of out, two channels a pair.
tir::KernelPtr gemm_pairs_kernel(int64_t pixels, int shift, bool sign);
// (stream, panel, out, shape): one pixel, eight channels a group.
tir::KernelPtr gemv_pairs_kernel(int shift, bool sign);
// (x, panel, shape): rows of words of 4 elements of `pixels` neighbours into the panel.
tir::KernelPtr pack_pixels_kernel(int64_t pixels);
// (x, panel, words): `words` words of 4 elements of one pixel into a panel of `pixels`.
tir::KernelPtr pack_run_kernel(int64_t pixels);

// The two elements' halfwords as a word of a panel.
tir::Ex pair_word(const tir::Ex& low, const tir::Ex& high);

}  // namespace aotc::ops
