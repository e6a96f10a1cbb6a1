// SPDX-License-Identifier: Apache-2.0
// Convolutions of windows three columns wide by Winograd's F(2, 3) along x, in integers and exact, for cores that have
// products of three pixels in two words (ops/common/triple_gemm.h): four products for two neighbouring outputs of a
// channel instead of six. Of a row's columns x0 to x3 and taps g0 to g2, twice the outputs are
//
//   2 y0 = S1 + S2 + 2 (x0 - x2) g0           S1 = (x1 + x2) (g0 + g1 + g2)
//   2 y1 = S1 - S2 + 2 (x3 - x1) g2           S2 = (x2 - x1) (g0 - g1 + g2)
//
// added up over rows and channels. Two neighbouring outputs are a tile, and the words hold what three tiles have. The
// one thing to know: words are added modulo 2^32, so only what comes out, twice the outputs, must stay in its lanes. k
// is cut into segments for which the weights prove that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cores/implementation.h"
#include "ops/common/requantize.h"
#include "ops/common/triple_gemm.h"
#include "ops/conv_2d/shape.h"

namespace aotc::cores::riscv {

struct Winograd {
  static constexpr int64_t kTiles = ops::TripleGemm::kPixels;  // made together
  static constexpr int64_t kTileOutputs = 2;
  static constexpr int64_t kColumns = 4;   // of a tile's window
  static constexpr int64_t kProducts = 4;  // S1, S2 and those of g0 and g2 are products 1, 2, 0 and 3 of a step
  static constexpr int64_t kChannels = 8;  // of a group
  static constexpr int64_t kStepWords = kProducts * ops::TripleGemm::kWords;
  static constexpr int64_t kUnroll = 4;
  static constexpr int kLeft = 8;

  // Words of the table that winograd_triples takes as shape: steps and bytes of the panel are a segment's.
  enum Shape { kGroups, kStride, kSteps, kSegments, kPanelBytes, kStreamBytes, kShapeWords };
  // Words of a tile in the table that winograd_columns takes: the image's row that the window begins in, the element of
  // its first column there, and whether the first column and the last are padding.
  enum Tile { kRow, kElement, kLeftEdge, kRightEdge, kTileWords };

  // A step is a channel of a row of the window.
  int64_t k = 1, segment = 1, segments = 1;

  int64_t panel_words() const { return segment * segments * kStepWords; }
  // Of a group: of 16 bits where weights are sums, bytes where they are not; then a line for each channel.
  int64_t segment_words() const { return segment * kChannels * 6 / 4; }
  int64_t group_words(bool sign) const { return segments * segment_words() + kChannels * line_words(sign); }
  static int64_t line_words(bool sign) { return sign ? 4 : 3; }
};

// How k is cut for `weights` [channels][rows][3][in]; nothing where no cut does.
std::optional<Winograd> plan_winograd(const std::vector<int8_t>& weights, int64_t channels, int64_t rows, int64_t in);

// Groups begin at channels `first`: for each segment the weights of products 1, 2, 0 and 3, [step][channel]; then
// lines.
std::vector<int32_t> winograd_stream(const Winograd& plan, const std::vector<int8_t>& weights, int64_t rows, int64_t in,
                                     const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                                     const ops::LineFit& fit);
// `stride`: bytes between pixels of the output.
std::vector<int32_t> winograd_shape(const Winograd& plan, int64_t groups, int64_t stride, bool sign);

// (x, blank, panel, table): the four words of three tiles' windows, for all steps. `blank` has a pixel of padding.
// `y`: of the image's rows; `width`: its columns.
tir::KernelPtr winograd_columns_kernel(const ops::WindowAxis& y, int64_t width, int64_t in_channels);
// (stream, panel, out, shape): six neighbouring outputs, all channels of the groups.
tir::KernelPtr winograd_triples_kernel(int shift, bool sign);

// Their texts.
Implementation winograd_columns_rv32(const tir::Kernel& kernel);
Implementation winograd_triples_rv32(const tir::Kernel& kernel);

// Instructions of a call of each.
double winograd_columns_cost(const ops::ConvShape& conv);
double winograd_triples_cost(const Winograd& plan, int64_t groups, bool sign);

std::optional<ops::Lowered> lower_conv_2d_winograd(const ops::OpView& op, const ops::TargetInfo& target);

}  // namespace aotc::cores::riscv
