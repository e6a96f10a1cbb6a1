// SPDX-License-Identifier: Apache-2.0
// ScaledWeights: a constant tensor of integers with scales and zero points, as a DequantizeLinear reads it, and what
// its numbers allow.
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
  // The tensor whose element i is element places[i] of this one as a matrix: with `rows`, units are its rows, else its
  // columns. nullopt if blocks of a row that have one scale are short.
  std::optional<StoredMatrix> matrix(const Ints& places, const graph::Shape& to, bool rows) const;
  // Sums of int16 activations times these weights, one for each index of `channel`, fit 32 bits with what zero points
  // add to them, and are multiplied by less than one half.
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
