// SPDX-License-Identifier: Apache-2.0
#include "ops/signature.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/broadcast.h"
#include "ops/common/checks.h"
#include "ops/common/movement.h"

namespace aotc::ops {

std::vector<TypeSupport> SpecifiedOperator::types() const {
  std::vector<TypeSupport> out;
  const OperandSpec& principal = signature_.operands[signature_.principal];
  for (const TypeEntry& t : principal.types) out.push_back({t.type, std::string(t.note)});
  // An operator that does not read its elements.
  if (out.empty())
    for (DType t : signature_.results[0].types) out.push_back({t, {}});
  return out;
}

const OperandSpec& SpecifiedOperator::operand_spec(size_t i) const {
  return signature_.operands[std::min(i, signature_.operands.size() - 1)];
}

const ResultSpec& SpecifiedOperator::result_spec(const OpView& op, size_t i) const {
  // Optional results from here on are missing.
  size_t first_missing = signature_.results.size();
  for (size_t present = first_missing; present > op.op.results.size() && first_missing > 0;)
    if (signature_.results[--first_missing].optional) --present;
  for (size_t r = 0; r < signature_.results.size(); ++r) {
    if (r >= first_missing && signature_.results[r].optional) continue;
    if (i-- == 0) return signature_.results[r];
  }
  return signature_.results.back();
}

size_t SpecifiedOperator::declared_operands(const OpView& op) const {
  return as<Stateful>() == nullptr ? op.operand_count() : std::min(op.operand_count(), signature_.operands.size());
}

size_t SpecifiedOperator::declared_results(const OpView& op) const {
  return as<Stateful>() == nullptr ? op.op.results.size() : std::min(op.op.results.size(), signature_.results.size());
}

std::vector<DType> SpecifiedOperator::accepted(const OperandSpec& spec) const {
  const bool shifted = signature_.uint8 == Uint8::kShifted || signature_.uint8 == Uint8::kWeighted;
  std::vector<DType> out;
  for (const TypeEntry& t : spec.types)
    if (t.type != DType::kU8 || !shifted) out.push_back(t.type);
  return out;
}

bool SpecifiedOperator::check_all_counts(const OpView& op, Diagnostics& diags) const {
  const auto& operands = signature_.operands;
  const auto& results = signature_.results;
  auto optional = [](const auto& spec) { return spec.optional; };
  const bool repeated = signature_.most_operands != 0, keeps = as<Stateful>() != nullptr;
  size_t least = operands.size();
  while (!signature_.all_listed && least > 0 && operands[least - 1].optional) --least;
  size_t most = repeated ? signature_.most_operands : operands.size();
  if (keeps) most = std::max(most, op.operand_count());
  if (op.operand_count() >= least && op.operand_count() <= most) {
    for (size_t i = 0; i < declared_operands(op); ++i) {
      if (op.has_operand(i) || (operand_spec(i).optional && !repeated)) continue;
      diags.error(op.where(), "op-operands", fmt::format("operand {} of {} is absent", i, name()));
      return false;
    }
    least = 0;
  }
  const size_t most_results = signature_.any_results || keeps ? SIZE_MAX : results.size();
  const size_t least_results =
      results.size() - static_cast<size_t>(std::count_if(results.begin(), results.end(), optional));
  return check_counts(op, least, most, std::clamp(op.op.results.size(), least_results, most_results), diags);
}

bool SpecifiedOperator::check_declared(const OpView& op, Diagnostics& diags) const {
  if (!check_all_counts(op, diags)) return false;
  for (size_t i = 0; i < declared_operands(op); ++i)
    if (op.has_operand(i) && !check_rank(op, i, operand_spec(i).ranks.least, operand_spec(i).ranks.most, diags))
      return false;
  return check_ranges(op, diags);
}

Result<std::vector<graph::Shape>> SpecifiedOperator::infer(const OpView& op, Diagnostics& diags) const {
  if (!check_declared(op, diags)) return kFailure;
  const auto values = kept(op, diags);
  if (!values) return kFailure;
  std::vector<graph::Shape> added;
  for (const OperatorState& value : *values)
    if (!value.result) added.push_back(value.type.shape);
  if (as<Stateful>() != nullptr) {
    const size_t operands = signature_.operands.size() + values->size();
    if (!check_counts(op, operands, operands, signature_.results.size() + added.size(), diags)) return kFailure;
  }
  auto out = shapes(op, diags);
  if (out) out->insert(out->end(), added.begin(), added.end());
  return out;
}

bool SpecifiedOperator::check_ranges(const OpView& op, Diagnostics& diags) const {
  for (const AttributeRule& rule : signature_.ranges) {
    const double value = rule.value(op);
    switch (rule.kind) {
      case AttributeRule::Kind::kFinite:
        if (std::isfinite(value) && value >= rule.least) break;
        return bad_attribute(op, diags,
                             fmt::format("{} of {} must be a finite number{}", rule.name, name(),
                                         std::isfinite(rule.least) ? fmt::format(" of at least {}", rule.least) : ""));
      case AttributeRule::Kind::kAxis:
        if (value >= 0 && value < static_cast<double>(op.operand(0).shape.size())) break;
        return bad_attribute(
            op, diags,
            fmt::format("{} {} is outside a tensor of rank {}", rule.name, value, op.operand(0).shape.size()));
      case AttributeRule::Kind::kRange:
        if (value >= rule.least && value <= rule.most) break;
        return bad_attribute(
            op, diags,
            fmt::format("{} {:.17g} is outside of {:.17g}..{:.17g}", rule.name, value, rule.least, rule.most));
    }
  }
  return true;
}

Result<std::vector<graph::Shape>> SpecifiedOperator::shapes(const OpView& op, Diagnostics& diags) const {
  if (signature_.shapes == Shapes::kBroadcast) {
    graph::Shape shape = op.operand(0).shape;
    for (size_t i = 1; i < op.operand_count(); ++i) {
      graph::Shape common;
      if (!broadcast_shapes(shape, op.operand(i).shape, common)) {
        bad_shape(op, diags,
                  fmt::format("shapes {} and {} do not broadcast", graph::to_string(op.operand(0).shape),
                              graph::to_string(op.operand(i).shape)));
        return kFailure;
      }
      shape = common;
    }
    return std::vector<graph::Shape>{shape};
  }
  for (size_t i = 1; signature_.shapes == Shapes::kEqual && i < op.operand_count(); ++i) {
    if (!op.has_operand(i) || op.operand(i).shape == op.operand(0).shape) continue;
    bad_shape(op, diags,
              fmt::format("operand {} has shape {}, operand 0 has {}", i, graph::to_string(op.operand(i).shape),
                          graph::to_string(op.operand(0).shape)));
    return kFailure;
  }
  std::vector<graph::Shape> out;
  for (size_t i = 0; i < declared_results(op); ++i) {
    const int from = result_spec(op, i).shape_of;
    out.push_back(from == ResultSpec::kScalar ? graph::Shape() : op.operand(static_cast<size_t>(from)).shape);
  }
  return out;
}

bool SpecifiedOperator::check_operands(const OpView& op, Diagnostics& diags) const {
  for (size_t i = 0; i < declared_operands(op); ++i) {
    if (!op.has_operand(i)) continue;
    const OperandSpec& spec = operand_spec(i);
    if (spec.constant && op.constant(i) == nullptr) {
      diags.error(op.where(), "op-operands", fmt::format("operand {} of {} is not constant", i, name()));
      return false;
    }
    if (!spec.types.empty()) {
      if (!check_type(op, i, accepted(spec), diags)) return false;
    } else if (spec.same_type_as >= 0) {
      if (!check_type(op, i, {op.operand(static_cast<size_t>(spec.same_type_as)).dtype}, diags)) return false;
    }
  }
  return true;
}

bool SpecifiedOperator::check_results(const OpView& op, Diagnostics& diags) const {
  for (size_t i = 0; i < declared_results(op); ++i) {
    const ResultSpec& spec = result_spec(op, i);
    if (spec.types.empty()) {
      if (spec.type_of != ResultSpec::kOwn &&
          !check_result_type(op, i, op.operand(static_cast<size_t>(spec.type_of)).dtype, diags))
        return false;
    } else if (std::find(spec.types.begin(), spec.types.end(), op.result(i).dtype) == spec.types.end()) {
      diags.error(op.where(), "op-type",
                  fmt::format("result {} of {} is {}, expected {}", i, name(), name_of(op.result(i).dtype),
                              list_types(spec.types)));
      return false;
    }
  }
  return true;
}

bool SpecifiedOperator::check_quantization(const OpView& op, Diagnostics& diags) const {
  std::vector<size_t> moved;
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (operand_spec(i).moved && op.has_operand(i)) moved.push_back(i);
  if (!moved.empty() && !check_moves(op, moved, diags)) return false;
  switch (signature_.quantized) {
    case Quantized::kUnchecked: return true;
    case Quantized::kPerTensor: return check_quantized_io(op, diags);
    case Quantized::kSymmetric: return check_quantized_io(op, diags) && check_symmetric_io(op, diags);
    case Quantized::kCopied: return check_same_quantization(op, signature_.principal, 0, diags);
    case Quantized::kOne: break;
  }
  for (size_t i = 0; i < op.operand_count(); ++i) {
    const DType type = op.operand(i).dtype;
    if (!has_scale(type) || type != op.result().dtype || op.operand(i).quantization == op.result().quantization)
      continue;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("operand {} of {} and its result are quantised differently; stored values can only be "
                           "passed on or compared within one quantisation",
                           i, name()))
        .help("re-quantise the model, or put a quantize operator before this one");
    return false;
  }
  return true;
}

bool SpecifiedOperator::check_kept(const OpView& op, Diagnostics& diags) const {
  const auto values = kept(op, diags);
  if (!values) return false;
  size_t operand = signature_.operands.size(), result = signature_.results.size();
  for (const OperatorState& value : *values) {
    const size_t after = value.result ? *value.result : result++;
    if (!check_type(op, operand, {value.type.dtype}, diags) || !check_result_type(op, after, value.type.dtype, diags) ||
        (value.result && has_scale(value.type.dtype) && !check_same_quantization(op, operand, after, diags)))
      return false;
    if (op.operand(operand).shape != value.type.shape)
      return bad_shape(op, diags, fmt::format("operand {} does not have the shape of the state", operand));
    ++operand;
  }
  return true;
}

Status SpecifiedOperator::verify(const OpView& op, Diagnostics& diags) const {
  if (!check_operands(op, diags) || !check_results(op, diags) || !check_kept(op, diags)) return kFailure;
  if (!signature_.empty && op.operand(0).elements() < 1) {
    bad_shape(op, diags, "the input is empty");
    return kFailure;
  }
  return check_quantization(op, diags) && check(op, diags) ? success() : Status(kFailure);
}

}  // namespace aotc::ops
