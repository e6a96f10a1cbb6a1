// SPDX-License-Identifier: Apache-2.0
// The transform of complex numbers behind signal_rfft and signal_irfft, in the arithmetic and the
// order of the library that the reference uses: mixed radix, 4 first, then 2, 3 and 5; in fixed
// point every stage divides by its radix. The one thing to know: numbers lie as pairs (real,
// imaginary), and the first stage expects them in the order of `source`.
#pragma once

#include <vector>

#include "ops/lowering.h"

namespace aotc::ops {

struct Complex {
  tir::Ex r, i;
};

// Arithmetic of one element type: i16 and i32 have 15 and 31 bits of fraction, f32 is plain. Values
// are held as i32, i32 and f32. Sums that leave the type wrap around where they are stored.
class FftNumbers {
 public:
  FftNumbers(LoweringBuilder& f, DType type) : f_(f), type_(type) {}

  Complex load(const tir::BufferPtr& from, const tir::Ex& at) const;
  void store(const tir::BufferPtr& to, const tir::Ex& at, const Complex& x) const;
  tir::Ex zero() const;
  tir::Ex add(const tir::Ex& a, const tir::Ex& b) const;
  tir::Ex subtract(const tir::Ex& a, const tir::Ex& b) const;
  Complex add(const Complex& a, const Complex& b) const { return named("sum", {add(a.r, b.r), add(a.i, b.i)}); }
  Complex subtract(const Complex& a, const Complex& b) const {
    return named("difference", {subtract(a.r, b.r), subtract(a.i, b.i)});
  }
  tir::Ex minus(const tir::Ex& a) const { return narrow(subtract(zero(), a)); }
  tir::Ex negated(const tir::Ex& a) const;  // of floats: the sign alone
  tir::Ex half(const tir::Ex& a) const;
  tir::Ex product(const tir::Ex& a, const tir::Ex& b) const;
  Complex product(const Complex& a, const Complex& b) const;
  // Fixed point: times the largest fraction over `by`. Floats stay.
  Complex divided(const Complex& x, int64_t by) const;
  // To the type, wrapping around: to be stored, and to be computed with.
  tir::Ex stored(const tir::Ex& x) const;
  tir::Ex narrow(const tir::Ex& x) const;
  Complex named(const char* name, const Complex& x) const { return {f_.let(name, x.r), f_.let(name, x.i)}; }
  DType type() const { return type_; }

 private:
  tir::Ex rounded(const tir::Ex& sum) const;
  tir::Ex wide(const tir::Ex& x) const { return type_ == DType::kI32 ? cast(DType::kI64, x) : x; }

  LoweringBuilder& f_;
  DType type_;
};

class FftStages {
 public:
  // `points` complex numbers; only 2, 3 and 5 divide it, and it is 2 or more.
  FftStages(LoweringBuilder& f, DType type, int64_t points, bool inverse);

  static bool takes(int64_t points);
  // Where the number that is to lie at each place comes from.
  std::vector<uint16_t> source() const;
  // In place, from number `base` / 2 of `data` on.
  void emit(const tir::BufferPtr& data, const tir::Ex& base);

 private:
  struct Stage {
    int64_t radix, rest;  // `rest`: numbers in each of the `radix` transforms that it joins
  };
  void stages(size_t first, size_t count);
  void butterflies(int64_t radix, const tir::Ex& rest, const tir::Ex& stride);
  Complex twiddle(const tir::Ex& i) const { return numbers_.load(twiddles_, i * 2); }
  void two(const std::vector<tir::Ex>& at, const std::vector<Complex>& w);
  void three(const std::vector<tir::Ex>& at, const std::vector<Complex>& w, const Complex& third);
  void four(const std::vector<tir::Ex>& at, const std::vector<Complex>& w);
  void five(const std::vector<tir::Ex>& at, const std::vector<Complex>& w, const Complex& a, const Complex& b);

  LoweringBuilder& f_;
  FftNumbers numbers_;
  int64_t points_;
  bool inverse_;
  std::vector<Stage> stages_;  // the last to run first
  tir::BufferPtr twiddles_, data_;
  tir::Ex base_;
};

// cos and sin of the phases as pairs in the type's fixed point.
tir::BufferPtr fft_table(LoweringBuilder& f, const std::string& name, DType type, const std::vector<double>& phases);

}  // namespace aotc::ops
