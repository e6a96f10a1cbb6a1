// SPDX-License-Identifier: Apache-2.0
// Attributes of operators on rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/attributes.h"

namespace aotc::ops {

// Which weights are zeros instead: none, those that are no numbers, or those of rows of which the mask hides every key.
enum class ZeroWeights : uint8_t { kNone, kNotNumbers, kHidden };
std::span<const std::string_view> enum_names(ZeroWeights);

// Where matrices lie: steps, in elements, from one to the next along each of `batch`, from row to row, and within a
// row.
struct AttentionAttrs : graph::Attributes<AttentionAttrs> {
  std::vector<int64_t> shape;  // of the result
  std::vector<int64_t> batch;  // how many matrices there are along each dimension
  int64_t queries = 1, keys = 1;
  int64_t depth = 1, values = 1;  // elements of a query and a key, and of a value and a row of the result
  std::vector<int64_t> query_steps, key_steps, value_steps, mask_steps, result_steps;
  float scale = 1.0f;
  float softcap = 0.0f;  // products become softcap * tanh(product / softcap), behind the scale; not where it is 0
  // Of a mask of truth values: which of both hides, and the number that is then added, or takes the product's place.
  bool hides = false, replaces = false;
  float hidden = 0.0f;
  ZeroWeights zero = ZeroWeights::kNone;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("shape", self.shape);
    field("batch", self.batch);
    field("queries", self.queries);
    field("keys", self.keys);
    field("depth", self.depth);
    field("values", self.values);
    field("query_steps", self.query_steps);
    field("key_steps", self.key_steps);
    field("value_steps", self.value_steps);
    field("mask_steps", self.mask_steps);
    field("result_steps", self.result_steps);
    field("scale", self.scale);
    field("softcap", self.softcap);
    field("hides", self.hides);
    field("replaces", self.replaces);
    field("hidden", self.hidden);
    field("zero", self.zero);
  }
};

struct CumsumAttrs : graph::Attributes<CumsumAttrs> {
  int32_t axis = 0;
  bool exclusive = false, reverse = false;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
    field("exclusive", self.exclusive);
    field("reverse", self.reverse);
  }
};

struct LayerNormalizationAttrs : graph::Attributes<LayerNormalizationAttrs> {
  float epsilon = 1e-5f;  // added to the mean of squares
  bool centred = true;    // the mean of the row is taken off first

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("epsilon", self.epsilon);
    field("centred", self.centred);
  }
};

struct ResponseAttrs : graph::Attributes<ResponseAttrs> {
  int32_t radius = 1;
  float bias = 1.0f, alpha = 1.0f, beta = 0.5f;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("radius", self.radius);
    field("bias", self.bias);
    field("alpha", self.alpha);
    field("beta", self.beta);
  }
};

struct TopKAttrs : graph::Attributes<TopKAttrs> {
  int32_t k = 1;
  bool nan_first = false;  // what is not a number is the largest, and not the smallest

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("k", self.k);
    field("nan_first", self.nan_first);
  }
};

}  // namespace aotc::ops
