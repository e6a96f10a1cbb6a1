// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of frames as products with a table of sines and cosines. The one thing to know: a number is one
// element (real) or two (real, imaginary) of the last dimension.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "frontends/onnx/window_attributes.h"

namespace aotc::frontends::onnx {

namespace fourier {

namespace {

constexpr int64_t kMostTable = int64_t{1} << 20;  // elements

// [places and parts of the operand, places and parts of the result]
Id table_of(Call& c, int64_t length, int64_t parts, int64_t results) {
  if (length < 1 || results < 1 || length * parts * results * 2 > kMostTable)
    c.refuse(fmt::format("a transform of {} numbers, whose table has more than {} elements", length, kMostTable),
             "use a shorter one");
  std::vector<float> table(static_cast<size_t>(length * parts * results * 2));
  for (int64_t t = 0; t < length; ++t)
    for (int64_t k = 0; k < results; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k * t % length) / static_cast<double>(length);
      const double real = std::cos(angle), imaginary = -std::sin(angle);
      auto at = [&](int64_t part, int64_t result) -> float& {
        return table[static_cast<size_t>(((t * parts + part) * results + k) * 2 + result)];
      };
      at(0, 0) = static_cast<float>(real);
      at(0, 1) = static_cast<float>(imaginary);
      if (parts == 1) continue;
      at(1, 0) = static_cast<float>(-imaginary);
      at(1, 1) = static_cast<float>(real);
    }
  return c.b.floats_of(table, {length * parts, results * 2});
}

// Of the dimension before the last.
Id transformed(Call& c, Id x, bool onesided) {
  Builder& b = c.b;
  graph::Shape shape = b.shape(x);
  const int64_t parts = shape.back(), length = shape[shape.size() - 2];
  const int64_t results = onesided ? length / 2 + 1 : length;
  Id table = table_of(c, length, parts, results);
  shape.pop_back();
  shape.back() = length * parts;
  Id out = matmul(b, b.reshape(x, shape), table);
  shape.back() = results;
  shape.push_back(2);
  return b.reshape(out, shape);
}

void check_signal(Call& c, Id x, int64_t least) {
  const graph::Shape& shape = c.b.shape(x);
  if (c.b.dtype(x) != DType::kF32 || static_cast<int64_t>(shape.size()) < least || (shape.back() != 1 && shape.back() != 2))
    c.refuse("its operand is no signal of real or complex floats");
}

int64_t known_number(Call& c, size_t i, std::string_view what) {
  const Ints values = c.known_ints(i, what);
  if (values.size() != 1) c.refuse(fmt::format("{} is not one number", what));
  return values[0];
}

// Every so many numbers a frame, perhaps through a window.
void stft(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0);
  check_signal(c, x, 3);
  const graph::Shape shape = b.shape(x);
  const int64_t step = known_number(c, 1, "the step"), parts = shape[2];
  int64_t length = c.has(2) ? graph::element_count(c.shape(2)) : 0;
  if (c.has(3)) length = known_number(c, 3, "the length of a frame");
  const bool onesided = c.i("onesided", 1) != 0;
  if (shape.size() != 3 || step < 1 || length < 1 || length > shape[1]) c.refuse("its frames do not fit the signal");
  if (c.has(2) && c.shape(2) != graph::Shape{length}) c.refuse("its window is not as long as a frame");
  if (onesided && parts == 2) c.refuse("a transform of one side of complex numbers");
  const int64_t frames = (shape[1] - length) / step + 1;
  if (frames > 4096) c.refuse(fmt::format("{} frames", frames), "use fewer");
  std::vector<Id> all;
  for (int64_t i = 0; i < frames; ++i) all.push_back(b.slice(x, {0, i * step, 0}, {shape[0], length, parts}));
  Id framed = all.size() == 1 ? all[0] : b.add("concatenation", all, {{"axis", int64_t{1}}});
  framed = b.reshape(framed, {shape[0], frames, length, parts});
  if (c.has(2)) framed = b.binary("mul", framed, b.reshape(c.in(2), {length, 1}));
  c.out(0, transformed(c, framed, onesided));
}

}  // namespace

}  // namespace fourier

std::span<const Rule> fourier_rules() {
  static constexpr Rule kRules[] = {{"STFT", 17, fourier::stft}, {"Col2Im", 18, col2im}};
  return kRules;
}

}  // namespace aotc::frontends::onnx
