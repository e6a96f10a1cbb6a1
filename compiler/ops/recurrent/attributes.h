// SPDX-License-Identifier: Apache-2.0
// Attributes of recurrent layers; those of unidirectional_sequence_lstm are in lstm.h.
#pragma once

#include <cstdint>

#include "ops/recurrent/float_products.h"

namespace aotc::ops {

struct BidirectionalLstmAttrs : graph::Attributes<BidirectionalLstmAttrs> {
  bool time_major = false;
  bool merge_outputs = false;  // one output: forwards, then backwards
  float cell_clip = 0, projection_clip = 0;
  Nonlinearity nonlinearity = Nonlinearity::kTanh;
  bool asymmetric_rows = false;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("time_major", self.time_major);
    field("merge_outputs", self.merge_outputs);
    field("cell_clip", self.cell_clip);
    field("projection_clip", self.projection_clip);
    field("nonlinearity", self.nonlinearity);
    field("asymmetric_rows", self.asymmetric_rows);
  }
};

struct RnnAttrs : graph::Attributes<RnnAttrs> {
  bool time_major = false;     // input [time, batch, input]; else [batch, time, input]
  bool merge_outputs = false;  // bidirectional: one output, forwards, then backwards
  Nonlinearity nonlinearity = Nonlinearity::kTanh;
  bool asymmetric_rows = false;  // dynamic range: rows are quantised with a zero point

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("time_major", self.time_major);
    field("merge_outputs", self.merge_outputs);
    field("nonlinearity", self.nonlinearity);
    field("asymmetric_rows", self.asymmetric_rows);
  }
};

inline constexpr size_t kBothOperands = 48;  // of bidirectional_sequence_lstm

}  // namespace aotc::ops
