// SPDX-License-Identifier: Apache-2.0
#include "ops/signal/fft_stages.h"

#include <cmath>
#include <numbers>

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

int64_t most_fraction(DType type) { return type == DType::kI32 ? 2147483647 : 32767; }

}  // namespace

BufferPtr fft_table(LoweringBuilder& f, const std::string& name, DType type, const std::vector<double>& phases) {
  std::vector<double> numbers;
  for (double phase : phases) {
    numbers.push_back(std::cos(phase));
    numbers.push_back(std::sin(phase));
  }
  if (type == DType::kF32) return f.constant(name, type, std::vector<float>(numbers.begin(), numbers.end()));
  for (double& x : numbers) x = std::floor(0.5 + static_cast<double>(most_fraction(type)) * x);
  if (type == DType::kI32) return f.constant(name, type, std::vector<int32_t>(numbers.begin(), numbers.end()));
  return f.constant(name, type, std::vector<int16_t>(numbers.begin(), numbers.end()));
}

Complex FftNumbers::load(const BufferPtr& from, const Ex& at) const {
  return named("x", {tir::load(from, at), tir::load(from, at + 1)});
}

void FftNumbers::store(const BufferPtr& to, const Ex& at, const Complex& x) const {
  f_.store(to, at, stored(x.r));
  f_.store(to, at + 1, stored(x.i));
}

Ex FftNumbers::zero() const { return type_ == DType::kF32 ? tir::f32(0.0f) : Ex(0); }

Ex FftNumbers::add(const Ex& a, const Ex& b) const { return type_ == DType::kI32 ? add_wrapping(a, b) : a + b; }

Ex FftNumbers::subtract(const Ex& a, const Ex& b) const { return type_ == DType::kI32 ? sub_wrapping(a, b) : a - b; }

Ex FftNumbers::negated(const Ex& a) const { return type_ == DType::kF32 ? -a : minus(a); }

Ex FftNumbers::half(const Ex& a) const { return type_ == DType::kF32 ? a * tir::f32(0.5f) : a >> Ex(1); }

Ex FftNumbers::narrow(const Ex& x) const {
  return type_ == DType::kI16 ? cast(DType::kI32, cast_wrapping(DType::kI16, x)) : x;
}

Ex FftNumbers::stored(const Ex& x) const { return type_ == DType::kI16 ? cast_wrapping(DType::kI16, x) : x; }

Ex FftNumbers::rounded(const Ex& sum) const {
  if (type_ == DType::kI16) return (sum + (1 << 14)) >> Ex(15);
  return cast_wrapping(DType::kI32, (sum + tir::i64(1 << 30)) >> tir::i64(31));
}

Ex FftNumbers::product(const Ex& a, const Ex& b) const {
  return type_ == DType::kF32 ? a * b : rounded(wide(a) * wide(b));
}

Complex FftNumbers::product(const Complex& a, const Complex& b) const {
  Ex r = wide(a.r) * wide(b.r) - wide(a.i) * wide(b.i), i = wide(a.r) * wide(b.i) + wide(a.i) * wide(b.r);
  return type_ == DType::kF32 ? named("product", {r, i}) : named("product", {rounded(r), rounded(i)});
}

Complex FftNumbers::divided(const Complex& x, int64_t by) const {
  if (type_ == DType::kF32) return x;
  const int64_t part = most_fraction(type_) / by;
  const Ex factor = type_ == DType::kI32 ? tir::i64(part) : Ex(part);
  return named("part", {rounded(wide(x.r) * factor), rounded(wide(x.i) * factor)});
}

namespace {

// 4s first, then 2, 3, 5 and so on; what is left behind the square root is a factor itself.
std::vector<int64_t> fft_factors(int64_t n) {
  std::vector<int64_t> out;
  const auto root = static_cast<int64_t>(std::floor(std::sqrt(static_cast<double>(n))));
  int64_t p = 4;
  do {
    while (n % p != 0) {
      p = p == 4 ? 2 : p == 2 ? 3 : p + 2;
      if (p > root) p = n;
    }
    n /= p;
    out.push_back(p);
  } while (n > 1);
  return out;
}

}  // namespace

bool FftStages::takes(int64_t points) {
  if (points < 2) return false;
  for (int64_t p : {2, 3, 5})
    while (points % p == 0) points /= p;
  return points == 1;
}

FftStages::FftStages(LoweringBuilder& f, DType type, int64_t points, bool inverse)
    : f_(f), numbers_(f, type), points_(points), inverse_(inverse) {
  int64_t rest = points;
  for (int64_t p : fft_factors(points)) {
    rest /= p;
    stages_.push_back({p, rest});
  }
  std::vector<double> phases;
  for (int64_t i = 0; i < points; ++i) {
    const double phase = -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(points);
    phases.push_back(inverse ? -phase : phase);
  }
  twiddles_ = fft_table(f, "twiddles", type, phases);
}

std::vector<uint16_t> FftStages::source() const {
  std::vector<uint16_t> out;
  for (int64_t place = 0; place < points_; ++place) {
    int64_t from = 0, stride = 1, within = place;
    for (const Stage& stage : stages_) {
      from += within / stage.rest * stride;
      within %= stage.rest;
      stride *= stage.radix;
    }
    out.push_back(static_cast<uint16_t>(from));
  }
  return out;
}

// Stages of one radix are turns of a loop.
void FftStages::emit(const BufferPtr& data, const Ex& base) {
  data_ = data;
  base_ = base;
  for (size_t end = stages_.size(); end > 0;) {
    size_t first = end - 1;
    while (first > 0 && stages_[first - 1].radix == stages_[end - 1].radix) --first;
    stages(first, end - first);
    end = first;
  }
}

void FftStages::stages(size_t first, size_t count) {
  const Stage& inner = stages_[first + count - 1];
  const int64_t stride = points_ / (inner.radix * inner.rest);
  if (count == 1) return butterflies(inner.radix, Ex(inner.rest), Ex(stride));
  Ex rest = f_.var("rest", Ex(inner.rest)), step = f_.var("stride", Ex(stride));
  f_.loop("stage", 0, static_cast<int64_t>(count), [&](const Ex&) {
    butterflies(inner.radix, rest, step);
    f_.assign(rest, rest * inner.radix);
    f_.assign(step, step / inner.radix);
  });
}

// Numbers with the same factors come one after the other, so that the factors are loaded once.
void FftStages::butterflies(int64_t radix, const Ex& rest, const Ex& stride) {
  Ex apart = f_.let("apart", rest * 2);
  Complex first, second;
  if (radix == 3 || radix == 5) first = twiddle(f_.let("first", stride * rest));
  if (radix == 5) second = twiddle(f_.let("second", stride * rest * 2));
  f_.loop("k", 0, rest, [&](const Ex& k) {
    std::vector<Complex> w = {{}};
    for (int64_t q = 1; q < radix; ++q) w.push_back(twiddle(f_.let("w", k * stride * q)));
    f_.loop("block", 0, stride, [&](const Ex& block) {
      std::vector<Ex> at = {f_.let("at", base_ + k * 2 + block * apart * radix)};
      for (int64_t q = 1; q < radix; ++q) at.push_back(f_.let("at", at.back() + apart));
      if (radix == 2) two(at, w);
      if (radix == 3) three(at, w, first);
      if (radix == 4) four(at, w);
      if (radix == 5) five(at, w, first, second);
    });
  });
}

void FftStages::two(const std::vector<Ex>& at, const std::vector<Complex>& w) {
  const FftNumbers& n = numbers_;
  Complex a = n.divided(n.load(data_, at[0]), 2);
  Complex t = n.product(n.divided(n.load(data_, at[1]), 2), w[1]);
  n.store(data_, at[1], n.subtract(a, t));
  n.store(data_, at[0], n.add(a, t));
}

void FftStages::three(const std::vector<Ex>& at, const std::vector<Complex>& w, const Complex& third) {
  const FftNumbers& n = numbers_;
  Complex a = n.divided(n.load(data_, at[0]), 3);
  Complex b = n.product(n.divided(n.load(data_, at[1]), 3), w[1]);
  Complex c = n.product(n.divided(n.load(data_, at[2]), 3), w[2]);
  Complex sum = n.add(b, c), d = n.subtract(b, c);
  Complex middle = n.named("middle", {n.subtract(a.r, n.half(sum.r)), n.subtract(a.i, n.half(sum.i))});
  Complex turned = n.named("turned", {n.product(d.r, third.i), n.product(d.i, third.i)});
  n.store(data_, at[0], n.add(a, sum));
  n.store(data_, at[2], {n.add(middle.r, turned.i), n.subtract(middle.i, turned.r)});
  n.store(data_, at[1], {n.subtract(middle.r, turned.i), n.add(middle.i, turned.r)});
}

void FftStages::four(const std::vector<Ex>& at, const std::vector<Complex>& w) {
  const FftNumbers& n = numbers_;
  Complex a = n.divided(n.load(data_, at[0]), 4);
  std::vector<Complex> x = {a};
  for (size_t q = 1; q < 4; ++q) x.push_back(n.product(n.divided(n.load(data_, at[q]), 4), w[q]));
  Complex less = n.subtract(a, x[2]), sum = n.add(a, x[2]);
  Complex odd = n.add(x[1], x[3]), turned = n.subtract(x[1], x[3]);
  n.store(data_, at[2], n.subtract(sum, odd));
  n.store(data_, at[0], n.add(sum, odd));
  Complex up = {n.add(less.r, turned.i), n.subtract(less.i, turned.r)};
  Complex down = {n.subtract(less.r, turned.i), n.add(less.i, turned.r)};
  n.store(data_, at[1], inverse_ ? down : up);
  n.store(data_, at[3], inverse_ ? up : down);
}

void FftStages::five(const std::vector<Ex>& at, const std::vector<Complex>& w, const Complex& a, const Complex& b) {
  const FftNumbers& n = numbers_;
  Complex x = n.divided(n.load(data_, at[0]), 5);
  std::vector<Complex> y = {{}};
  for (size_t q = 1; q < 5; ++q) y.push_back(n.product(n.divided(n.load(data_, at[q]), 5), w[q]));
  Complex outer = n.add(y[1], y[4]), outer_less = n.subtract(y[1], y[4]);
  Complex inner = n.add(y[2], y[3]), inner_less = n.subtract(y[2], y[3]);
  n.store(data_, at[0], {n.add(x.r, n.add(outer.r, inner.r)), n.add(x.i, n.add(outer.i, inner.i))});
  auto even = [&](const Ex& p, const Ex& q) {
    auto part = [&](const Ex& of, const Ex& o, const Ex& i) {
      return n.add(n.add(of, n.product(o, p)), n.product(i, q));
    };
    return n.named("even", {part(x.r, outer.r, inner.r), part(x.i, outer.i, inner.i)});
  };
  auto product = [&](const Ex& p, const Ex& q) { return n.product(p, q); };
  Complex near = even(a.r, b.r), far = even(b.r, a.r);
  Complex one = n.named("one", {n.add(product(outer_less.i, a.i), product(inner_less.i, b.i)),
                                n.subtract(n.negated(product(outer_less.r, a.i)), product(inner_less.r, b.i))});
  Complex two = n.named("two", {n.add(n.negated(product(outer_less.i, b.i)), product(inner_less.i, a.i)),
                                n.subtract(product(outer_less.r, b.i), product(inner_less.r, a.i))});
  n.store(data_, at[1], n.subtract(near, one));
  n.store(data_, at[4], n.add(near, one));
  n.store(data_, at[2], n.add(far, two));
  n.store(data_, at[3], n.subtract(far, two));
}

}  // namespace aotc::ops
