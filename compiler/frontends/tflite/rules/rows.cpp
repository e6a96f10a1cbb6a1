// SPDX-License-Identifier: Apache-2.0
// Operators along axes: reductions, normalisations, sorting.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "frontends/tflite/rules.h"
#include "ops/arg_max/attributes.h"
#include "ops/common/checks.h"
#include "ops/common/import.h"
#include "ops/common/reduction.h"
#include "ops/non_max_suppression/attributes.h"
#include "ops/rows/attributes.h"
#include "ops/softmax/softmax.h"

namespace aotc::frontends::tflite {

namespace {

// The axes are operand 1 in the model, a list or a single number, and become an attribute.
Status import_reduction(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<ReduceAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  std::vector<int64_t> axes;
  if (!check_counts(view, 2, 2, 1, diags) || !constant_ints(view, 1, "axes", kMostAxes, axes, diags, kAnyRank))
    return kFailure;
  for (int64_t value : axes) {
    size_t axis = 0;
    if (!normalize_axis(view, value, view.operand(0).shape.size(), axis, diags)) return kFailure;
    attrs->axes.push_back(static_cast<int64_t>(axis));
  }
  std::sort(attrs->axes.begin(), attrs->axes.end());
  attrs->axes.erase(std::unique(attrs->axes.begin(), attrs->axes.end()), attrs->axes.end());
  if (const auto* options = from.options<schema::ReducerOptions>()) attrs->keep_dims = options->keep_dims();
  op.operands.resize(1);
  return success();
}

template <typename Options>
Status import_arg(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<ArgAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  size_t axis = 0;
  if (!check_counts(view, 2, 2, 1, diags) || !constant_axis(view, 1, axis, diags)) return kFailure;
  attrs->axis = static_cast<int32_t>(axis);
  auto wanted = view.result().dtype == DType::kI64 ? schema::TensorType_INT64 : schema::TensorType_INT32;
  const auto* options = from.options<Options>();
  if (options == nullptr || options->output_type() != wanted) {
    bad_attribute(
        view, diags,
        fmt::format("the result is {}, but the model's options state another type", name_of(view.result().dtype)));
    return kFailure;
  }
  op.operands.resize(1);
  return success();
}

Status import_cumsum(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<CumsumAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  size_t axis = 0;
  if (!check_counts(view, 2, 2, 1, diags) || !constant_axis(view, 1, axis, diags)) return kFailure;
  attrs->axis = static_cast<int32_t>(axis);
  if (const auto* options = from.options<schema::CumsumOptions>()) {
    attrs->exclusive = options->exclusive();
    attrs->reverse = options->reverse();
  }
  op.operands.resize(1);
  return success();
}

Status import_topk_v2(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<TopKAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  int64_t k = 0;
  if (!check_counts(view, 2, 2, 2, diags) || !constant_int(view, 1, "number", k, diags)) return kFailure;
  attrs->k = static_cast<int32_t>(std::clamp<int64_t>(k, INT32_MIN, INT32_MAX));
  op.operands.resize(1);
  return success();
}

Status import_softmax(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<SoftmaxAttrs>();
  op.attributes = attrs;
  const auto* options = from.options<schema::SoftmaxOptions>();
  if (!options) {
    bad_attribute({from.graph(), op}, diags, "the softmax options (beta) are missing in the model");
    return kFailure;
  }
  attrs->beta = options->beta();
  return success();
}

Status import_local_response_normalization(const TfliteOp& from, graph::Op& op, Diagnostics&) {
  auto attrs = std::make_shared<ResponseAttrs>();
  op.attributes = attrs;
  *attrs = {};
  attrs->radius = 0;
  attrs->bias = attrs->alpha = attrs->beta = 0.0f;
  if (const auto* options = from.options<schema::LocalResponseNormalizationOptions>()) {
    attrs->radius = options->radius();
    attrs->bias = options->bias();
    attrs->alpha = options->alpha();
    attrs->beta = options->beta();
  }
  return success();
}

// LiteRT looks at the options as well as at the result.
Status import_unique(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  const OpView view{from.graph(), op};
  if (!import_defaults(from, op, diags) || !check_counts(view, 1, 1, 2, diags)) return kFailure;
  const auto* options = from.options<schema::UniqueOptions>();
  const auto wanted = view.result(1).dtype == DType::kI64 ? schema::TensorType_INT64 : schema::TensorType_INT32;
  if (options != nullptr && options->idx_out_type() == wanted) return success();
  bad_attribute(
      view, diags,
      fmt::format("the indices are {}, but the model's options state another type", name_of(view.result(1).dtype)));
  return kFailure;
}

// A constant float with one element.
bool constant_real(const OpView& op, size_t i, std::string_view what, float& out, Diagnostics& diags) {
  const graph::ConstantView* value = op.constant(i);
  if (value == nullptr || op.operand(i).dtype != DType::kF32 || value->bytes.size() != sizeof out) {
    diags.error(op.where(), "op-operands", fmt::format("operand {} ({}) must be one constant float", i, what))
        .help("export the model with this operand as a constant");
    return false;
  }
  std::memcpy(&out, value->bytes.data(), sizeof out);
  return true;
}

// Behind boxes and scores are numbers, which become attributes.
template <bool soft>
Status import_suppression(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<SuppressionAttrs>();
  op.attributes = attrs;
  const OpView view{from.graph(), op};
  int64_t most = 0;
  constexpr size_t kOperands = soft ? 6 : 5;
  if (!check_counts(view, kOperands, kOperands, soft ? 3 : 2, diags) ||
      !constant_int(view, 2, "the number of boxes", most, diags) ||
      !constant_real(view, 3, "the overlap threshold", attrs->overlap, diags) ||
      !constant_real(view, 4, "the score threshold", attrs->score, diags) ||
      (soft && !constant_real(view, 5, "the sigma", attrs->sigma, diags)))
    return kFailure;
  attrs->most = static_cast<int32_t>(std::clamp<int64_t>(most, INT32_MIN, INT32_MAX));
  op.operands.resize(2);
  return success();
}

}  // namespace

std::span<const Rule> row_rules() {
  static const Rule all[] = {
      {"SUM", "sum", import_reduction},
      {"MEAN", "mean", import_reduction},
      {"REDUCE_PROD", "reduce_prod", import_reduction},
      {"REDUCE_MAX", "reduce_max", import_reduction},
      {"REDUCE_MIN", "reduce_min", import_reduction},
      {"REDUCE_ANY", "reduce_any", import_reduction},
      {"REDUCE_ALL", "reduce_all", import_reduction},
      {"ARG_MAX", "arg_max", import_arg<schema::ArgMaxOptions>},
      {"ARG_MIN", "arg_min", import_arg<schema::ArgMinOptions>},
      {"CUMSUM", "cumsum", import_cumsum},
      {.name = "TOPK_V2", .op = "topk_v2", .import = import_topk_v2, .is_stored = are_stored<0>},
      {.name = "WHERE", .op = "where", .counted = true},
      {.name = "UNIQUE", .op = "unique", .import = import_unique, .counted = true, .is_stored = are_stored<0>},
      {"NON_MAX_SUPPRESSION_V4", "non_max_suppression", import_suppression<false>},
      {"NON_MAX_SUPPRESSION_V5", "non_max_suppression", import_suppression<true>},
      {"SOFTMAX", "softmax", import_softmax},
      {"LOG_SOFTMAX", "log_softmax"},
      {"L2_NORMALIZATION", "l2_normalization"},
      {"LOCAL_RESPONSE_NORMALIZATION", "local_response_normalization", import_local_response_normalization},
  };
  return all;
}

}  // namespace aotc::frontends::tflite
