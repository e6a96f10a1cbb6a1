// SPDX-License-Identifier: Apache-2.0
// DspMachine builds blocks of scalar instructions for descriptions in fixed_point.h; and DspText prints blocks in the
// frame of a kernel.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cores/arm/generated/dsp_rows.h"
#include "cores/arm/generated/loop_constants.h"
#include "cores/arm/thumb.h"
#include "kernelgen/schedule.h"

namespace aotc::cores::arm {

class DspMachine {
 public:
  using Value = kernelgen::Value;

  DspMachine(kernelgen::Block& block, LoopConstants& constants);

  Value constant(int value);

  Value low_bits(Value n, int bits) { return add_row(dsp::kLowBits, {n}, {bits}); }
  Value shifted_minus(Value t, int left, int less) { return add_row(dsp::kFromLeft, {t, constant(less)}, {left}); }
  Value product(Value a, Value b) { return add_row(dsp::kRight, {sum_of_product(a, b)}, {kFraction}); }
  Value product_plus(Value a, int b, int c);
  Value plus_product_with(Value a, Value b, int c) { return add_row(dsp::kHighAdd, {b, high(c), a}); }
  Value plus_quarter_square(Value a, Value b);
  Value plus_rounded_half(Value a, Value b) {
    return add_row(dsp::kAddRight, {a, add_row(dsp::kAddNumber, {b}, {1})}, {1});
  }
  Value product_if_clear(Value a, Value n, int bit, int factor);
  Value products_if_clear(Value a, Value n, int bit, int factor, int next_factor);
  Value zero_if_less(Value a, Value n, int limit) { return add_row(dsp::kZeroIfLess, {a, n, constant(limit)}); }
  // (1 + x) / 2 = 1 / 2 + x / 2, and a half is the constant that rounds products.
  Value half_of_one_plus(Value a) { return add_row(dsp::kAddRight, {constant(kRounding), a}, {1}); }
  Value minus_product(int from, Value a, Value b) {
    return add_row(dsp::kSubtractRight, {constant(from), sum_of_product(a, b)}, {kFraction});
  }
  Value plus_four_products(Value a, Value b) { return add_row(dsp::kAddLeft, {a, product(a, b)}, {2}); }
  Value minus_magnitude(Value a);
  Value sigmoid_of(Value guess, Value a);
  Value tanh_of(Value guess, Value a);

 private:
  static constexpr int kFraction = 15, kRounding = 1 << 14;

  // The product with 15 bits behind it, rounded.
  Value sum_of_product(Value a, Value b) { return add_row(dsp::kHalvesAdd, {a, b, constant(kRounding)}); }
  // A factor for rounded high products: x * factor / 2^15 is the high word of x * (factor << 17). Factors from half
  // on do not fit: with one less, x is added to the product.
  static bool fits(int factor) { return factor < kRounding; }
  Value high(int factor) { return constant((fits(factor) ? factor : factor - (1 << kFraction)) * (1 << 17)); }
  Value add_row(const kernelgen::Row& row, std::initializer_list<Value> uses,
                std::initializer_list<int64_t> immediates = {}) {
    return block_.add(row, uses, immediates);
  }

  kernelgen::Block& block_;
  LoopConstants& constants_;
  std::map<int, Value> values_;
};

// A kernel whose blocks are scheduled for Cortex-M4.
class DspText : public Thumb {
 public:
  // nullopt if the block needs more registers than these. Blocks that differ only in immediates are searched once.
  static std::optional<kernelgen::Schedule> find(const kernelgen::Block& block, kernelgen::Registers core);
  void put(const kernelgen::Block& block, const kernelgen::Schedule& schedule) {
    append(kernelgen::print_assembly(block, schedule));
  }
  // Appends the scheduled block. Aborts if `core` has too few registers.
  void put(const kernelgen::Block& block, kernelgen::Registers core);
  void load_constant(Reg to, int value);
};

}  // namespace aotc::cores::arm
