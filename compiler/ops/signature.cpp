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

const ResultSpec& SpecifiedOperator::result_spec(size_t i) const {
  return signature_.results[std::min(i, signature_.results.size() - 1)];
}

std::vector<DType> SpecifiedOperator::accepted(const OperandSpec& spec) const {
  const bool shifted = signature_.uint8 == Uint8::kShifted || signature_.uint8 == Uint8::kWeighted;
  std::vector<DType> out;
  for (const TypeEntry& t : spec.types)
    if (t.type != DType::kU8 || !shifted) out.push_back(t.type);
  return out;
}

bool SpecifiedOperator::check_all_counts(const OpView& op, Diagnostics& diags) const {
  auto required = [](const auto& specs) {
    return static_cast<size_t>(
        std::count_if(specs.begin(), specs.end(), [](const auto& spec) { return !spec.optional; }));
  };
  const bool repeated = signature_.most_operands != 0;
  const size_t most = repeated ? signature_.most_operands : signature_.operands.size();
  size_t results = op.op.results.size();
  results = std::max(results, required(signature_.results));
  if (!signature_.any_results) results = std::min(results, signature_.results.size());
  if (!check_counts(op, required(signature_.operands), most, results, diags)) return false;
  for (size_t i = 0; repeated && i < op.operand_count(); ++i) {
    if (op.has_operand(i)) continue;
    diags.error(op.where(), "op-operands", fmt::format("operand {} of {} is absent", i, name()));
    return false;
  }
  return true;
}

Result<std::vector<graph::Shape>> SpecifiedOperator::infer(const OpView& op, Diagnostics& diags) const {
  if (!check_all_counts(op, diags)) return kFailure;
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (op.has_operand(i) && !check_rank(op, i, operand_spec(i).ranks.least, operand_spec(i).ranks.most, diags))
      return kFailure;
  if (!check_ranges(op, diags)) return kFailure;
  return shapes(op, diags);
}

bool SpecifiedOperator::check_ranges(const OpView& op, Diagnostics& diags) const {
  for (const AttributeRule& rule : signature_.ranges) {
    const double value = rule.value(op);
    switch (rule.kind) {
      case AttributeRule::Kind::kFinite:
        if (std::isfinite(value)) break;
        return bad_attribute(op, diags, fmt::format("{} of {} must be a finite number", rule.name, name()));
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
  for (size_t i = 0; i < op.op.results.size(); ++i) {
    const int from = result_spec(i).shape_of;
    out.push_back(from == ResultSpec::kScalar ? graph::Shape() : op.operand(static_cast<size_t>(from)).shape);
  }
  return out;
}

bool SpecifiedOperator::check_operands(const OpView& op, Diagnostics& diags) const {
  for (size_t i = 0; i < op.operand_count(); ++i) {
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
  for (size_t i = 0; i < op.op.results.size(); ++i) {
    const ResultSpec& spec = result_spec(i);
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
    const bool scaled = type == DType::kI8 || type == DType::kU8 || type == DType::kI16;
    if (!scaled || type != op.result().dtype || op.operand(i).quantization == op.result().quantization) continue;
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

Status SpecifiedOperator::verify(const OpView& op, Diagnostics& diags) const {
  if (!check_operands(op, diags) || !check_results(op, diags)) return kFailure;
  if (!signature_.empty && op.operand(0).elements() < 1) {
    bad_shape(op, diags, "the input is empty");
    return kFailure;
  }
  return check_quantization(op, diags) && check(op, diags) ? success() : Status(kFailure);
}

}  // namespace aotc::ops
