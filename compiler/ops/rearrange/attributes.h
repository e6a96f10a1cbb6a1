// SPDX-License-Identifier: Apache-2.0
// Attributes of operators that move elements.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace aotc::ops {

struct DepthAttrs : graph::Attributes<DepthAttrs> {
  int32_t block_size = 1;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("block_size", self.block_size);
  }
};

struct BatchAttrs : graph::Attributes<BatchAttrs> {
  // Per dimension between batch and channels; what the space is padded by, or cropped.
  std::vector<int64_t> block, before, after;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("block", self.block);
    field("before", self.before);
    field("after", self.after);
  }
};

struct ReverseAttrs : graph::Attributes<ReverseAttrs> {
  std::vector<int64_t> axes;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axes", self.axes);
  }
};

struct TileAttrs : graph::Attributes<TileAttrs> {
  std::vector<int64_t> multiples;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("multiples", self.multiples);
  }
};

struct MirrorPadAttrs : graph::Attributes<MirrorPadAttrs> {
  std::vector<int64_t> before, after;
  bool symmetric = false;  // the element at the border is repeated too

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("before", self.before);
    field("after", self.after);
    field("symmetric", self.symmetric);
  }
};

}  // namespace aotc::ops
