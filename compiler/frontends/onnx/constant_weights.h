// SPDX-License-Identifier: Apache-2.0
// ScaledWeights: a constant integer tensor with scales and zero points. It tells which integer operators can use it.
#pragma once

#include <optional>
#include <vector>

#include "frontends/onnx/quantized.h"

namespace aotc::frontends::onnx {

struct ScaledWeights {
  graph::Shape shape;
  Ints integers;
  graph::Shape scale_shape;
  std::vector<float> scales;
  Ints zeros;  // as many as scales, or one
  int64_t axis = 0;
  int64_t block = 0;  // length of the parts of the axis that have a scale; 0: each index of the axis has one

  // For each element, the index of its scale; empty if shapes do not match.
  Ints scale_of_elements() const;
  // Integers less their zero points fit int8.
  bool fit_int8() const;
  // Permutes the elements: element i of the result is element offsets[i] of this tensor. `rows`: units are rows,
  // otherwise columns. nullopt if a block with one scale has fewer than 8 elements.
  std::optional<StoredMatrix> matrix(const Ints& offsets, const graph::Shape& to, bool rows) const;
  // True if each sum of int16 activations times weights, with bias and zero points, fits in 32 bits, and its multiplier
  // is below one half. `channel`: the axis of output channels.
  struct Layer {
    float x_scale, y_scale;
    int64_t x_zero, y_zero;
    Ints bias;  // empty: none
  };
  bool fit_wide_sums(int64_t channel, const Layer& layer) const;

 private:
  // Elements between neighbours along an axis.
  int64_t stride(int64_t axis) const;
};

}  // namespace aotc::frontends::onnx
