// mul: product of two tensors, with broadcasting and a fused activation.
#include <algorithm>

#include "ops/common/binary.h"
#include "ops/common/scaler.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

namespace {

using tir::Ex;

// In float32 throughout: the last bit of this quotient decides ties.
float real_multiplier(const OpView& op) {
  float product = op.operand(0).scale() * op.operand(1).scale();
  return product / op.result().scale();
}

// Largest |(a - a_zero) * (b - b_zero)|.
int64_t largest_product(const OpView& op) {
  auto largest = [&](size_t i) {
    int64_t zero = op.operand(i).zero_point();
    return std::max(127 - zero, zero + 128);
  };
  return largest(0) * largest(1);
}

class Mul final : public BinaryArithmetic {
 public:
  std::string_view name() const override { return "mul"; }
  std::string_view summary() const override { return "product of two tensors, broadcasting"; }
  std::vector<int> tflite_builtins() const override { return {18}; }

 protected:
  int fused_activation(const TfliteOp& from) const override {
    const auto* options = from.options<tflite_schema::MulOptions>();
    return options ? static_cast<int>(options->fused_activation_function()) : 0;
  }
  float compute(float a, float b) const override { return a * b; }
  uint32_t compute(uint32_t a, uint32_t b) const override { return a * b; }
  Ex emit(const Ex& a, const Ex& b) const override {
    return a.type() == DType::kF32 ? a * b : mul_wrapping(a, b);
  }

  bool verify_quantized(const OpView& op, Diagnostics& diags) const override {
    return check_multiplier(op, static_cast<double>(real_multiplier(op)), largest_product(op),
                            diags);
  }

  std::function<int64_t(int64_t, int64_t)> quantized(const OpView& op) const override {
    QuantizedMultiplier m = quantize_multiplier(static_cast<double>(real_multiplier(op)));
    ClampI32 clamp = quantized_clamp(op.attrs<BinaryAttrs>().activation, op.result());
    int64_t za = op.operand(0).zero_point(), zb = op.operand(1).zero_point();
    int64_t zero = op.result().zero_point();
    return [=](int64_t a, int64_t b) {
      auto product = static_cast<int32_t>((a - za) * (b - zb));
      int64_t v = multiply_by_quantized_multiplier(product, m);
      return std::clamp<int64_t>(v + zero, clamp.min, clamp.max);
    };
  }

  Lowered lower_quantized(const OpView& op) const override {
    ClampI32 clamp = quantized_clamp(op.attrs<BinaryAttrs>().activation, op.result());
    LoweringBuilder f(op, "mul");
    std::array<tir::BufferPtr, 2> in = {f.operand(0), f.operand(1)};
    Parameters p;
    std::array<size_t, 2> zero = {p.add("a_zero", op.operand(0).zero_point()),
                                  p.add("b_zero", op.operand(1).zero_point())};
    Scaler out(p, "out", quantize_multiplier(static_cast<double>(real_multiplier(op))));
    size_t zero_out = p.add("out_zero", op.result().zero_point());
    p.load(f);
    tir::BufferPtr result = f.result();
    Broadcast(op).emit(
        f, result,
        [&](size_t i, const Ex& index) {
          return f.let(i == 0 ? "a" : "b", load(in[i], index) - p[zero[i]]);
        },
        [&](const std::vector<Ex>& v) {
          Ex product = f.let("product", v[0] * v[1]);
          return emit_bound(out.emit(f, product) + p[zero_out], clamp);
        });
    return f.finish("fixed point");
  }
};

}  // namespace

void add_operators_mul(OperatorSet& set) { set.add(std::make_unique<Mul>()); }

}  // namespace aotc::ops
