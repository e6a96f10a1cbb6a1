// SPDX-License-Identifier: Apache-2.0
// MveMachine builds blocks of vector instructions with 8 lanes of 16 bits, for descriptions in fixed_point.h; and
// MveText prints blocks in the frame of a kernel.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cores/arm/generated/loop_constants.h"
#include "cores/arm/generated/mve_rows.h"
#include "cores/arm/helium/helium.h"
#include "kernelgen/schedule.h"

namespace aotc::cores::arm {

class MveMachine {
 public:
  using Value = kernelgen::Value;

  MveMachine(kernelgen::Block& block, LoopConstants& constants);

  // A scalar of 16 bits in a core register.
  Value constant(int value);
  // Vectors of constants, in registers from q7 down.
  Value vector_constant(int value, int number);

  Value low_bits(Value n, int bits);
  Value shifted_minus(Value t, int left, int less) {
    return add_row(mve::kSubtract16, {add_row(mve::kShiftLeft16, {t}, {left}), constant(less)});
  }
  Value product(Value a, Value b) { return add_row(mve::kProduct16, {a, b}); }
  Value product_plus(Value a, int b, int c) { return add_row(mve::kAdd16, {product_with(a, b), constant(c)}); }
  Value plus_product_with(Value a, Value b, int c) { return add_row(mve::kAdd16, {product_with(b, c), a}); }
  Value plus_quarter_square(Value a, Value b) {
    return add_row(mve::kAdd16, {add_row(mve::kShiftRightRounded16, {product(b, b)}, {2}), a});
  }
  Value plus_rounded_half(Value a, Value b) {
    return add_row(mve::kAdd16, {a, add_row(mve::kShiftRightRounded16, {b}, {1})});
  }
  Value product_if_clear(Value a, Value n, int bit, int factor);
  Value products_if_clear(Value a, Value n, int bit, int factor, int next_factor) {
    return product_if_clear(product_if_clear(a, n, bit, factor), n, bit + 1, next_factor);
  }
  Value zero_if_less(Value a, Value n, int limit) { return add_row(mve::kZeroIfLess16, {a, n, constant(limit)}); }
  Value half_of_one_plus(Value a) { return add_row(mve::kMean16, {a, constant(0x8000)}); }
  Value minus_product(int from, Value a, Value b);
  Value plus_four_products(Value a, Value b) {
    const Value p = product(a, b);
    return add_row(mve::kMultiplyAdd16, {a, p, constant(4)});
  }
  Value minus_magnitude(Value a) { return add_row(mve::kNegate16, {add_row(mve::kAbs16, {a})}); }
  Value sigmoid_of(Value guess, Value a);
  Value tanh_of(Value guess, Value a);

  // Vector constants that the block uses: values by register.
  const std::map<int, int>& vectors() const { return vectors_; }

 private:
  Value product_with(Value a, int b) { return add_row(mve::kProduct16, {a, constant(b)}); }
  Value add_row(const kernelgen::Row& row, std::initializer_list<Value> uses,
                std::initializer_list<int64_t> immediates = {}) {
    return block_.add(row, uses, immediates);
  }

  kernelgen::Block& block_;
  LoopConstants& constants_;
  std::map<int, Value> scalars_, vector_values_;
  std::map<int, int> vectors_;
};

// A kernel whose blocks are scheduled for Cortex-M55.
class MveText : public Helium {
 public:
  // Appends the scheduled block. Aborts if `core` and `vector` have too few registers.
  void put(const kernelgen::Block& block, kernelgen::Registers core, kernelgen::Registers vector = 0xFF);
  void load_constant(int number, int value) { emit("movw", {name(Reg{number}), imm_text(value & 0xFFFF)}); }
  void load_vector(int number, int value) { vmov_imm(16, Vec{number}, value); }
};

}  // namespace aotc::cores::arm
