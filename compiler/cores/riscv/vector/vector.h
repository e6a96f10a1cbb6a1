// SPDX-License-Identifier: Apache-2.0
// Lowerings and kernels for RISC-V cores with integer vectors (Zve32x and larger). A lane is an output channel, so the
// kernels are exact for any length of vectors (VLEN). The kernels are C with intrinsics; compilers without them get the
// portable meaning. All activations and weights are int8.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cores/family.h"
#include "cores/implementation.h"
#include "ops/common/requantize.h"
#include "ops/operator.h"

namespace aotc::cores::riscv {

// Bits of a vector register (VLEN) that estimates and tiles assume. Results do not depend on it.
inline constexpr int64_t kVectorBits = 128;

Extension vector_extension();

// How a kernel scales its accumulators, the same for all channels but for the rows of numbers.
struct VectorScaling {
  // kTwice: both roundings of LiteRT's convolutions. kLine: ops/common/step_fit.h. kSums: the sums are int32 results.
  enum class Form { kTwice, kLine, kSums };
  static constexpr int kLeft = 8;  // of kLine

  Form form = Form::kTwice;
  int shift = 0;  // of kLine
  // Per channel. Row 0: bias. Sums have no other rows. Row 1: multiplier. Row 2: shift to the right, or offset. Row 3,
  // if the line has signs: by how much the offset is less for negative accumulators.
  std::vector<std::vector<int32_t>> rows;
  int32_t zero_point = 0;  // of kTwice; a line's offset contains it
  ops::ClampI32 clamp{-128, 127};

  bool clamps() const { return clamp.min != -128 || clamp.max != 127; }
  int64_t result_bytes() const { return form == Form::kSums ? 4 : 1; }
};
// nullopt if no form is exact. May change biases.
std::optional<VectorScaling> fit_vector_scaling(const ops::Requantization& what, std::vector<int32_t> bias);

// Words of the table `shape`; sizes and steps in bytes, or in elements of results.
struct VectorShape {
  enum Word {
    kPixels,
    kXStep,    // from a pixel's first element to the next pixel's
    kOutStep,  // the same of results
    kRows,     // of a window
    kRowBytes,
    kRowStep,
    kChannels,  // of the result
    kZero,
    kLeast,
    kMost,
    kWords
  };
  int64_t pixels = 1, x_step = 0, out_step = 0;
  int64_t rows = 1, row_bytes = 0, row_step = 0;  // of depthwise kernels, row_bytes is the step between columns
  int64_t channels = 1;

  std::vector<int32_t> words(const VectorScaling& scaling) const;
};

// Scaling's rows, then weights [step][channel], which are bytes.
std::vector<int32_t> vector_stream(const VectorScaling& scaling, const std::vector<int8_t>& weights);

// The tile of a matrix product: registers of an accumulator (LMUL) x pixels.
struct VectorTile {
  int64_t registers = 8;  // 2, 4 or 8
  int64_t pixels = 1;
  int64_t unroll = 1;  // elements of a row written out

  // Channels at a time.
  int64_t channels() const { return registers * kVectorBits / 32; }
  // Instructions of a call, or cycles if a vector instruction takes one for each register.
  int64_t cost(const VectorShape& shape, const VectorScaling& scaling, bool cycles = false) const;
  // The cheapest tile.
  static VectorTile of(const VectorShape& shape, const VectorScaling& scaling);
};

// (stream, x, out, shape): `pixels` x `channels` products of windows of `rows` rows.
tir::KernelPtr rvv_gemm_kernel(const VectorTile& tile, const VectorScaling& scaling);
Implementation rvv_gemm(const tir::Kernel& kernel);

// The window of a depthwise kernel.
struct VectorTaps {
  int64_t rows = 1, columns = 1;
  bool pairs = true;      // products of two taps are added in 16 bits
  int64_t registers = 8;  // of an accumulator

  static constexpr int64_t kMost = 32;  // taps that are written out

  int64_t channels() const { return registers * kVectorBits / 32; }
  int64_t cost(const VectorShape& shape, const VectorScaling& scaling, bool cycles = false) const;
};
// (stream, x, out, shape): weights are [tap][channel], and a result's channel is that of its elements.
tir::KernelPtr rvv_depthwise_kernel(const VectorTaps& taps, const VectorScaling& scaling);
Implementation rvv_depthwise(const tir::Kernel& kernel);

// The input rows of a row of outputs, copied between elements of zero points.
struct VectorBand {
  enum Word { kRows, kStep, kHeight, kXRow, kBytes, kRow, kLead, kZero, kWords };
  int64_t rows = 1, step = 1, height = 1;  // rows of a window, their dilation, rows of the image
  int64_t x_row = 0;                       // bytes of the image's row
  int64_t bytes = 0;                       // that are copied of it
  int64_t row = 0, lead = 0;               // bytes of the band's row, and before the copied ones
  int32_t zero_point = 0;

  std::vector<int32_t> words() const;
};
// (x, band, shape, top): rows from `top` on. Rows outside of the image are filled whole, of others only the bytes
// copied are written.
tir::KernelPtr rvv_band_kernel();
Implementation rvv_band(const tir::Kernel& kernel);

std::optional<ops::Lowered> lower_conv_2d_vector(const ops::OpView& op, const ops::TargetInfo& target);
std::optional<ops::Lowered> lower_depthwise_conv_2d_vector(const ops::OpView& op, const ops::TargetInfo& target);
std::optional<ops::Lowered> lower_fully_connected_vector(const ops::OpView& op, const ops::TargetInfo& target);

}  // namespace aotc::cores::riscv
