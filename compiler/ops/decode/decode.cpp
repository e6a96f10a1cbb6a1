// SPDX-License-Identifier: Apache-2.0
// tflm_decode: constants that TensorFlow Lite Micro's compression tool has packed. They are unpacked while
// the model is read. The one thing to know: the bytes are the file's, so `verify` unpacks once to see that
// nothing leads outside.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/constants_only.h"
#include "ops/decode/decoders.h"

namespace aotc::ops {

namespace {

// Operands: packed, how (16 bytes that begin with kind and version, then tables), for each result.
class Decode final : public ConstantsOnly {
 public:
  std::string_view name() const override { return "tflm_decode"; }
  std::string_view summary() const override { return "constants that TensorFlow Lite Micro has packed"; }
  std::vector<TypeSupport> types() const override {
    return constants_only({DType::kI8, DType::kF32, DType::kI16, DType::kI32, DType::kI64, DType::kBool});
  }

  // Nothing but the file's results says what their shapes are.
  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    const size_t results = op.op.results.size();
    if (!check_counts(op, 2 * results, 2 * results, results, diags)) return kFailure;
    std::vector<graph::Shape> out;
    for (size_t i = 0; i < results; ++i) out.push_back(op.result(i).shape);
    return out;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    for (size_t i = 0; i < op.op.results.size(); ++i)
      if (!verify_result(op, i, diags)) return kFailure;
    return success();
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    for (size_t i = 0; i < data.results.size(); ++i)
      decode_packed({data.operands[2 * i], data.operands[2 * i + 1], &op.result(i)}, data.results[i]);
  }

 private:
  static bool verify_result(const OpView& op, size_t i, Diagnostics& diags) {
    for (size_t operand : {2 * i, 2 * i + 1}) {
      if (!check_type(op, operand, {DType::kU8, DType::kI8, DType::kI32, DType::kU32}, diags)) return false;
      if (op.constant(operand) == nullptr)
        return bad_attribute(op, diags, fmt::format("operand {} has to be constant", operand));
    }
    const DType type = op.result(i).dtype;
    if (type != DType::kI8 && type != DType::kF32 && type != DType::kI16 && type != DType::kI32 &&
        type != DType::kI64 && type != DType::kBool)
      return bad_attribute(op, diags, fmt::format("result {} is of a type that is never packed", i));
    std::vector<uint8_t> out(static_cast<size_t>(op.result(i).bytes()));
    const Packed packed{op.constant(2 * i)->bytes, op.constant(2 * i + 1)->bytes, &op.result(i)};
    if (auto problem = decode_packed(packed, out))
      return bad_attribute(op, diags, fmt::format("result {} cannot be unpacked: {}", i, *problem));
    return true;
  }
};

}  // namespace

void add_operators_decode(OperatorSet& set) { set.add(std::make_unique<Decode>()); }

}  // namespace aotc::ops
