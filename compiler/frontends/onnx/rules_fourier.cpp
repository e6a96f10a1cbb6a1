// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of frames as products with a table of sines and cosines. A number is one element (real) or two
// (real, imaginary) of the last dimension.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "frontends/onnx/window_attributes.h"

namespace aotc::frontends::onnx {

namespace fourier {

namespace {

constexpr int64_t kMostTable = int64_t{1} << 20;  // elements

// [places and parts of the operand, places and parts of the result]; `scale` is below 0 for angles that turn the other
// way.
Id table_of(Call& c, int64_t length, int64_t parts, int64_t results, double scale = 1.0) {
  if (length < 1 || results < 1 || length * parts * results * 2 > kMostTable)
    c.refuse(fmt::format("the table for a transform of {} numbers exceeds {} elements", length, kMostTable),
             "use a shorter transform");
  std::vector<float> table(static_cast<size_t>(length * parts * results * 2));
  for (int64_t t = 0; t < length; ++t)
    for (int64_t k = 0; k < results; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k * t % length) / static_cast<double>(length);
      const double real = std::cos(angle) * std::abs(scale), imaginary = -std::sin(angle) * scale;
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

Id inverted(Call& c, Id x) {
  Builder& b = c.b;
  graph::Shape shape = b.shape(x);
  const int64_t parts = shape.back(), length = shape[shape.size() - 2];
  Id table = table_of(c, length, parts, length, -1.0 / static_cast<double>(length));
  shape.pop_back();
  shape.back() = length * parts;
  Id out = matmul(b, b.reshape(x, shape), table);
  shape.back() = length;
  shape.push_back(2);
  return b.reshape(out, shape);
}

void check_signal(Call& c, Id x, int64_t least) {
  const graph::Shape& shape = c.b.shape(x);
  if (c.b.dtype(x) != DType::kF32 || static_cast<int64_t>(shape.size()) < least ||
      (shape.back() != 1 && shape.back() != 2))
    c.refuse(fmt::format(
        "the signal must be float32 with {} or more dimensions; the last dimension must be 1 (real) or 2 (complex)",
        least));
}

int64_t known_number(Call& c, size_t i, std::string_view what) {
  const Ints values = c.known_ints(i, what);
  if (values.size() != 1) c.refuse(fmt::format("{} must be one number", what));
  return values[0];
}

// Every so many numbers a frame, perhaps through a window.
void stft(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0);
  check_signal(c, x, 3);
  const graph::Shape shape = b.shape(x);
  const int64_t step = known_number(c, 1, "the frame step"), parts = shape[2];
  int64_t length = c.has(2) ? graph::element_count(c.shape(2)) : 0;
  if (c.has(3)) length = known_number(c, 3, "the frame length");
  const bool onesided = c.i("onesided", 1) != 0;
  if (shape.size() != 3) c.refuse("the signal must have three dimensions");
  if (step < 1 || length < 1 || length > shape[1])
    c.refuse(fmt::format("frame step {} or frame length {} is out of range for a signal of {} elements", step, length,
                         shape[1]));
  if (c.has(2) && c.shape(2) != graph::Shape{length})
    c.refuse(fmt::format("the window must have one dimension of {} elements, the length of a frame", length));
  if (onesided && parts == 2) c.refuse("onesided is not supported for complex signals");
  const int64_t frames = (shape[1] - length) / step + 1;
  if (frames > 4096)
    c.refuse(fmt::format("the signal has {} frames, but the limit is 4096", frames), "use fewer frames");
  std::vector<Id> all;
  for (int64_t i = 0; i < frames; ++i) all.push_back(b.slice(x, {0, i * step, 0}, {shape[0], length, parts}));
  Id framed = all.size() == 1 ? all[0] : b.add("concatenation", all, {{"axis", int64_t{1}}});
  framed = b.reshape(framed, {shape[0], frames, length, parts});
  if (c.has(2)) framed = b.binary("mul", framed, b.reshape(c.in(2), {length, 1}));
  c.out(0, transformed(c, framed, onesided));
}

// The attribute of older versions, or an operand.
int64_t axis_of(Call& c) {
  const int64_t rank = c.b.rank(c.in(0));
  const int64_t axis = c.version() < 20 ? c.i("axis", 1) : c.has(2) ? known_number(c, 2, "the axis") : -2;
  return c.b.axis(axis, rank);
}

// The table for it is made of complex angles that turn the other way, and shared out among the elements.
void dft(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0);
  check_signal(c, x, 2);
  const int64_t rank = b.rank(x), axis = axis_of(c);
  const bool inverse = c.i("inverse", 0) != 0, onesided = c.i("onesided", 0) != 0;
  if (axis == rank - 1) c.refuse("the axis must not be the last one, which holds real and imaginary parts");
  if (onesided && (inverse || b.shape(x).back() == 2))
    c.refuse("onesided is supported only for forward transforms of real signals");
  Ints order;
  for (int64_t d = 0; d < rank - 1; ++d)
    if (d != axis) order.push_back(d);
  order.insert(order.end(), {axis, rank - 1});
  x = b.transpose(x, order);
  graph::Shape shape = b.shape(x);
  int64_t& length = shape[shape.size() - 2];
  const int64_t asked = c.has(1) ? known_number(c, 1, "the length") : length;
  if (asked < 1 || asked > kMostTable)
    c.refuse(fmt::format("the length is {}, but must be from 1 to {}", asked, kMostTable));
  if (asked < length) {
    length = asked;
    x = b.slice(x, Ints(shape.size(), 0), shape);
  } else if (asked > length) {
    shape[shape.size() - 2] = asked - length;
    x = b.add("concatenation", {x, b.filled(DType::kF32, 0.0, shape)}, {{"axis", rank - 2}});
  }
  Id out = inverse ? inverted(c, x) : transformed(c, x, onesided);
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  c.out(0, b.transpose(out, back));
}

// What bands of hearing take of a spectrum: triangles whose corners are evenly apart in mel.
void mel_weight_matrix(Call& c) {
  Builder& b = c.b;
  const int64_t bands = known_number(c, 0, "the number of bands"),
                length = known_number(c, 1, "the length of transforms"), rate = known_number(c, 2, "the sample rate");
  auto edge = [&](size_t i) {
    auto hertz = b.number(c.in(i));
    if (!hertz) c.ask_for(i, "an edge of the bands");
    return *hertz;
  };
  const double low = edge(3), high = edge(4);
  if (bands < 1 || bands > kMostTable || length < 1 || length > kMostTable || rate < 1 || !(low >= 0) ||
      !(high > low) || (length / 2 + 1) * bands > kMostTable)
    c.refuse(fmt::format("a value is out of range: {} bands from {} to {} Hz, transform length {}, sample rate {}",
                         bands, low, high, length, rate));
  auto mel = [](double hertz) { return 2595.0 * std::log10(1.0 + hertz / 700.0); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  const int64_t bins = length / 2 + 1;
  Ints corner;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = 700.0 * (std::pow(10.0, (static_cast<double>(i) * step + mel(low)) / 2595.0) - 1.0);
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(bin >= 0 && bin < static_cast<double>(bins)))
      c.refuse("the bands must not reach beyond half of the sample rate");
    corner.push_back(static_cast<int64_t>(bin));
  }
  std::vector<float> table(static_cast<size_t>(bins * bands));
  for (int64_t i = 0; i < bands; ++i) {
    const int64_t from = corner[static_cast<size_t>(i)], top = corner[static_cast<size_t>(i + 1)],
                  to = corner[static_cast<size_t>(i + 2)];
    auto at = [&](int64_t bin) -> float& { return table[static_cast<size_t>(bin * bands + i)]; };
    for (int64_t k = from; k < top; ++k)
      at(k) = static_cast<float>(static_cast<double>(k - from) / static_cast<double>(top - from));
    at(top) = 1.0f;
    for (int64_t k = top; k < to; ++k)
      at(k) = static_cast<float>(static_cast<double>(to - k) / static_cast<double>(to - top));
  }
  const auto kind = static_cast<int32_t>(c.i("output_datatype", kFloat));
  c.out(0, b.as_element(b.floats_of(table, {bins, bands}), kind));
}

}  // namespace

}  // namespace fourier

std::span<const Rule> fourier_rules() {
  static constexpr Rule kRules[] = {{"STFT", 17, fourier::stft},
                                    {"Col2Im", 18, col2im},
                                    {"DFT", 17, fourier::dft},
                                    {"MelWeightMatrix", 17, fourier::mel_weight_matrix}};
  return kRules;
}

}  // namespace aotc::frontends::onnx
