// SPDX-License-Identifier: Apache-2.0
// transpose_conv: every input pixel adds its products with a kernel to the pixels of a larger image.
// Operands: input [N,H,W,C], weights [OC,KH,KW,C], optional bias [OC]. Seen from the result it is
// several convolutions: of the pixels whose place, counted in steps of the stride, has the same rest
// (their phase), each sums the same part of the kernel over neighbouring input pixels.
#pragma once

#include "ops/common/activation.h"
#include "ops/common/wide_requantize.h"
#include "ops/operator.h"

namespace aotc::ops {

struct TransposeConvAttrs : graph::Attributes<TransposeConvAttrs> {
  int32_t height = 0, width = 0;  // of the result
  int32_t stride_h = 1, stride_w = 1;
  int32_t pad_top = 0, pad_left = 0;  // pixels in front of the result that are not kept
  Activation activation = Activation::kNone;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("height", self.height);
    field("width", self.width);
    field("stride_h", self.stride_h);
    field("stride_w", self.stride_w);
    field("pad_top", self.pad_top);
    field("pad_left", self.pad_left);
    field("activation", self.activation);
  }
};

// One axis. Result o is in phase (o + pad) % stride; with q = (o + pad) / stride it sums
// taps(phase) inputs, of which the last is input q.
struct TransposeAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, pad = 0;

  int64_t taps(int64_t phase) const { return phase >= kernel ? 0 : (kernel - phase + stride - 1) / stride; }
  // The kernel's index of tap t of a phase, in the order of the inputs.
  int64_t tap(int64_t phase, int64_t t) const { return phase + (taps(phase) - 1 - t) * stride; }
  // The first result of a phase, and how many there are.
  int64_t first(int64_t phase) const { return ((phase - pad) % stride + stride) % stride; }
  int64_t count(int64_t phase) const { return first(phase) >= out ? 0 : (out - first(phase) + stride - 1) / stride; }
  int64_t step(int64_t o) const { return (o + pad) / stride; }
  // Are all the inputs of a phase's results there?
  bool inside(int64_t phase) const {
    int64_t q = step(first(phase));
    return count(phase) == 0 || (q - taps(phase) + 1 >= 0 && q + count(phase) - 1 < in);
  }
};

struct TransposeShape {
  explicit TransposeShape(const OpView& op);
  TransposeAxis y, x;
  int64_t batch, in_channels, out_channels;
};

// Phases [begin, end) of an axis, all with `taps` taps.
struct PhaseGroup {
  int64_t begin, end, taps;
  int64_t size() const { return end - begin; }
};
std::vector<PhaseGroup> groups_of(const TransposeAxis& axis);

// Weights of one phase, [channel][tap y][tap x][input channel].
template <typename T>
std::vector<T> phase_weights(const TransposeShape& s, const std::vector<T>& w, int64_t py, int64_t px) {
  std::vector<T> out;
  for (int64_t c = 0; c < s.out_channels; ++c)
    for (int64_t ty = 0; ty < s.y.taps(py); ++ty)
      for (int64_t tx = 0; tx < s.x.taps(px); ++tx) {
        int64_t at = (c * s.y.kernel + s.y.tap(py, ty)) * s.x.kernel + s.x.tap(px, tx);
        auto first = w.begin() + at * s.in_channels;
        out.insert(out.end(), first, first + s.in_channels);
      }
  return out;
}

// In the order of groups of rows, groups of columns, and phases in both.
template <typename Visit>
void for_each_phase(const TransposeShape& s, Visit visit) {
  for (const PhaseGroup& y : groups_of(s.y))
    for (const PhaseGroup& x : groups_of(s.x))
      for (int64_t py = y.begin; py < y.end; ++py)
        for (int64_t px = x.begin; px < x.end; ++px) visit(py, px);
}

// int16 only.
WideScaling transpose_conv_wide_scaling(const OpView& op);

Lowered lower_transpose_conv(const OpView& op, const TargetInfo& target);

}  // namespace aotc::ops
