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
  Decode()
      : ConstantsOnly(
            {.name = "tflm_decode",
             .summary = "constants that TensorFlow Lite Micro has packed",
             .operands = {{.name = "packed"}, {.name = "tables"}},
             .results = {{.name = "unpacked",
                          .types = {DType::kI8, DType::kF32, DType::kI16, DType::kI32, DType::kI64, DType::kBool}}},
             .most_operands = 1 << 16,
             .any_results = true,
             .shapes = Shapes::kOwn}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    for (size_t i = 0; i < data.results.size(); ++i)
      decode_packed({data.operands[2 * i], data.operands[2 * i + 1], &op.result(i)}, data.results[i]);
  }

 protected:
  // Only the results of the file state the shapes.
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const size_t results = op.op.results.size();
    if (!check_counts(op, 2 * results, 2 * results, results, diags)) return kFailure;
    std::vector<graph::Shape> out;
    for (size_t i = 0; i < results; ++i) out.push_back(op.result(i).shape);
    return out;
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    for (size_t i = 0; i < op.op.results.size(); ++i)
      if (!verify_result(op, i, diags)) return false;
    return true;
  }

 private:
  static bool verify_result(const OpView& op, size_t i, Diagnostics& diags) {
    for (size_t operand : {2 * i, 2 * i + 1}) {
      if (!check_type(op, operand, {DType::kU8, DType::kI8, DType::kI32, DType::kU32}, diags)) return false;
      if (op.constant(operand) == nullptr)
        return bad_attribute(op, diags, fmt::format("operand {} has to be constant", operand));
    }
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
