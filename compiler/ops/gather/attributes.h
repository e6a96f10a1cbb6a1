// SPDX-License-Identifier: Apache-2.0
// Attributes of gather, scatter_nd, one_hot, unsorted_segment_* and reverse_sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace aotc::ops {

struct GatherAttrs : graph::Attributes<GatherAttrs> {
  int32_t axis = 0;
  int32_t batch_dims = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
    field("batch_dims", self.batch_dims);
  }
};

struct ScatterAttrs : graph::Attributes<ScatterAttrs> {
  std::vector<int64_t> shape;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("shape", self.shape);
  }
};

struct OneHotAttrs : graph::Attributes<OneHotAttrs> {
  int32_t depth = 0, axis = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("depth", self.depth);
    field("axis", self.axis);
  }
};

struct SegmentAttrs : graph::Attributes<SegmentAttrs> {
  int32_t segments = 1;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("segments", self.segments);
  }
};

struct ReverseSequenceAttrs : graph::Attributes<ReverseSequenceAttrs> {
  int32_t seq_dim = 0, batch_dim = 1;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("seq_dim", self.seq_dim);
    field("batch_dim", self.batch_dim);
  }
};

}  // namespace aotc::ops
