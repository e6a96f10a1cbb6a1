// SPDX-License-Identifier: Apache-2.0
// Custom operators of a model that the user gives as C, as their description says them
// (docs/custom-operators.md). The one thing to know: what a function is passed beside tensors
// (attributes, shapes, scales) becomes constants of the graph, so that it is an `external` with
// more operands.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "ops/external/external.h"
#include "support/diagnostics.h"

namespace aotc::ops {

using GivenNumber = std::variant<int64_t, double>;

struct GivenTensor {
  std::string name;
  DType dtype = DType::kI8;
  Location where;  // in the description
  // Of a result: the shape of this operand, or dimensions, each an expression with its place.
  std::string like;
  std::vector<std::pair<std::string, Location>> shape;
};

struct GivenAttribute {
  std::string name;
  DType dtype = DType::kI32;
  std::optional<GivenNumber> preset;
  Location where;
};

// What the function is passed, but for results: NAME, or NAME.shape, NAME.scale, NAME.zero_point.
struct GivenParameter {
  enum class What : uint8_t { kTensor, kAttribute, kShape, kScale, kZeroPoint, kOptions };
  What what = What::kTensor;
  bool of_result = false;
  size_t index = 0;  // of the operand, result or attribute
};

struct GivenOperator {
  std::string name;    // in the model
  std::string symbol;  // of the C function
  Location where;
  std::vector<GivenTensor> operands, results;
  std::vector<GivenAttribute> attributes;
  std::vector<GivenParameter> parameters;
};

struct GivenOperators {
  std::vector<GivenOperator> list;
  std::shared_ptr<ExternalReference> reference;

  const GivenOperator* find(std::string_view name) const;
};

// What a model's file has for one such operator beside operands and results.
struct GivenOptions {
  std::span<const uint8_t> bytes;  // as they are in the file
  // The number of a name, if there is one; asked only for operators that are described with attributes.
  std::function<std::optional<GivenNumber>(const std::string& name)> number;
};

// Makes `op`, whose operands and results are the file's, a call of the function; its constants are
// added to the graph. Reports [op-operands], [op-type], [op-attribute], [op-shape],
// [op-quantization] at the operator.
Status import_given(const GivenOperator& given, const GivenOptions& options,
                    const std::shared_ptr<ExternalReference>& reference, graph::Graph& graph, graph::Op& op,
                    Diagnostics& diags);

// The value of a sum of products of whole numbers, parentheses, NAME[i] (a dimension, from the end if
// i is negative) and names: `name` and `dimension` know them. Nothing: `problem` says why.
struct ShapeNames {
  virtual ~ShapeNames() = default;
  virtual std::optional<int64_t> attribute(std::string_view name) const = 0;
  virtual const graph::Shape* operand(std::string_view name) const = 0;
};
std::optional<int64_t> dimension_of(std::string_view expression, const ShapeNames& names, std::string& problem);

}  // namespace aotc::ops
