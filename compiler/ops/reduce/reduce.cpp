// SPDX-License-Identifier: Apache-2.0
// reduce_prod, sum, reduce_max, reduce_min of integers along axes: what shapes are worked out with.
#include <algorithm>

#include "ops/common/checks.h"
#include "ops/common/constants_only.h"
#include "ops/common/elementwise.h"
#include "ops/common/reduction.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

namespace {

class Reduce : public ConstantsOnly {
 public:
  std::vector<TypeSupport> types() const override {
    return constants_only({DType::kI32, DType::kI64});
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<ReduceAttrs>();
  }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    return infer_reduction(op, diags);
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    bool good = check_type(op, 0, {DType::kI32, DType::kI64}, diags) &&
                check_result_type(op, 0, op.operand(0).dtype, diags);
    return good ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    const auto& attrs = op.attrs<ReduceAttrs>();
    const graph::Shape& in = op.operand(0).shape;
    DType type = op.operand(0).dtype;
    std::vector<int64_t> from = widen(type, data.operands[0]);
    std::vector<int64_t> out(static_cast<size_t>(op.result().elements()), first(int_range(type)));
    for (size_t at = 0; at < from.size(); ++at) {
      // The place in the result: the position without the axes that vanish.
      size_t rest = at, to = 0, stride = 1;
      for (size_t i = in.size(); i-- > 0;) {
        auto size = static_cast<size_t>(in[i]);
        if (!attrs.reduces(i)) {
          to += rest % size * stride;
          stride *= size;
        }
        rest /= size;
      }
      out[to] = next(out[to], from[at]);
    }
    if (type == DType::kI32)
      for (int64_t& v : out) v = static_cast<int32_t>(v);
    narrow(type, out, data.results[0]);
  }

  Status import_tflite(const TfliteOp& from, graph::Op& op, Diagnostics& diags) const override {
    return import_reduction(from, op, diags);
  }

 protected:
  // The result of no elements, and of one more; overflow wraps.
  virtual int64_t first(IntRange range) const = 0;
  virtual int64_t next(int64_t so_far, int64_t value) const = 0;
};

class ReduceProd final : public Reduce {
 public:
  std::string_view name() const override { return "reduce_prod"; }
  std::string_view summary() const override { return "product along axes"; }
  std::vector<int> tflite_builtins() const override { return {81}; }

 protected:
  int64_t first(IntRange) const override { return 1; }
  int64_t next(int64_t so_far, int64_t value) const override {
    return static_cast<int64_t>(static_cast<uint64_t>(so_far) * static_cast<uint64_t>(value));
  }
};

class Sum final : public Reduce {
 public:
  std::string_view name() const override { return "sum"; }
  std::string_view summary() const override { return "sum along axes"; }
  std::vector<int> tflite_builtins() const override { return {74}; }

 protected:
  int64_t first(IntRange) const override { return 0; }
  int64_t next(int64_t so_far, int64_t value) const override {
    return static_cast<int64_t>(static_cast<uint64_t>(so_far) + static_cast<uint64_t>(value));
  }
};

class ReduceMax final : public Reduce {
 public:
  std::string_view name() const override { return "reduce_max"; }
  std::string_view summary() const override { return "largest element along axes"; }
  std::vector<int> tflite_builtins() const override { return {82}; }

 protected:
  int64_t first(IntRange range) const override { return range.min; }
  int64_t next(int64_t so_far, int64_t value) const override { return std::max(so_far, value); }
};

class ReduceMin final : public Reduce {
 public:
  std::string_view name() const override { return "reduce_min"; }
  std::string_view summary() const override { return "smallest element along axes"; }
  std::vector<int> tflite_builtins() const override { return {89}; }

 protected:
  int64_t first(IntRange range) const override { return range.max; }
  int64_t next(int64_t so_far, int64_t value) const override { return std::min(so_far, value); }
};

}  // namespace

void add_operators_reduce(OperatorSet& set) {
  set.add(std::make_unique<ReduceProd>());
  set.add(std::make_unique<Sum>());
  set.add(std::make_unique<ReduceMax>());
  set.add(std::make_unique<ReduceMin>());
}

}  // namespace aotc::ops
