// SPDX-License-Identifier: Apache-2.0
// GridSample and AffineGrid: images read at places that are computed. An image becomes a list of
// its pixels, and every neighbour of every place a gather from it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace sampling {

namespace {

enum class Outside { kZeros, kBorder, kReflection };

// One dimension of the image.
struct Side {
  int64_t length;
  double least, most;  // the border
};

Id is_less(Builder& b, Id x, double y) { return less_than(b, x, y); }
Id is_greater(Builder& b, Id x, double y) { return b.add("greater", {x, b.filled(DType::kF32, y)}, {}, DType::kBool); }
Id clamped(Builder& b, Id x, const Side& s) { return clamp(b, x, 0.0, static_cast<double>(s.length - 1)); }

// Folded back at both borders, as often as it takes.
Id reflected(Builder& b, Id x, const Side& s) {
  double range = s.most - s.least;
  if (range <= 0) return b.binary("mul", x, 0.0);
  Id beyond = b.add("abs", {b.binary("sub", x, s.least)});
  Id times = b.add("floor", {b.binary("mul", beyond, 1 / range)});
  Id rest = b.binary("sub", beyond, b.binary("mul", times, range));
  Id half = b.binary("mul", times, 0.5);
  Id even = b.add("equal", {half, b.add("floor", {half})}, {}, DType::kBool);
  Id folded = select(b, even, b.binary("add", rest, s.least), b.binary("sub", s.most, rest));
  Id outside = b.add("logical_or", {is_less(b, x, s.least), is_greater(b, x, s.most)});
  return select(b, outside, folded, x);
}

Id kept_inside(Builder& b, Id x, const Side& s, Outside outside) {
  if (outside == Outside::kZeros) return x;
  if (outside == Outside::kReflection) return reflected(b, x, s);
  Id out = b.add("logical_or", {is_less(b, x, s.least), is_greater(b, x, s.most)});
  return select(b, out, clamped(b, x, s), x);
}

// A neighbour along one dimension: its index as i32, and its weight (none: 1).
struct Neighbour {
  Id index, weight;
};

Neighbour neighbour(Builder& b, Id place, Id weight, const Side& s, Outside outside) {
  if (outside == Outside::kReflection) place = reflected(b, place, s);
  Id inside = clamped(b, place, s);
  if (outside == Outside::kZeros) {
    Id good =
        b.add("logical_not",
              {b.add("logical_or", {is_less(b, place, 0), is_greater(b, place, static_cast<double>(s.length - 1))})});
    Id one = b.filled(DType::kF32, 1.0), none = b.filled(DType::kF32, 0.0);
    weight = weight.valid() ? select(b, good, weight, none) : select(b, good, b.broadcast(one, b.shape(place)), none);
  }
  return {b.cast(inside, DType::kI32), weight};
}

// Weights by the distance to the left neighbour, of the neighbours from `first` on.
std::vector<Id> weights_of(Builder& b, Id t, bool cubic) {
  Id rest = b.binary("sub", 1.0, t);
  if (!cubic) return {rest, t};
  constexpr double a = -0.75;
  auto near = [&](Id x) {
    Id inner = b.binary("sub", b.binary("mul", x, a + 2), a + 3);
    return b.binary("add", b.binary("mul", b.binary("mul", inner, x), x), 1.0);
  };
  auto far = [&](Id x) {  // x is above 1
    Id inner = b.binary("add", b.binary("mul", b.binary("sub", b.binary("mul", x, a), 5 * a), x), 8 * a);
    return b.binary("sub", b.binary("mul", inner, x), 4 * a);
  };
  return {far(b.binary("add", t, 1.0)), near(t), near(rest), far(b.binary("add", rest, 1.0))};
}

std::vector<Neighbour> neighbours_of(Builder& b, Id x, const Side& s, const std::string& mode, Outside outside) {
  if (mode == "nearest") return {neighbour(b, kept_inside(b, b.add("round", {x}), s, outside), {}, s, outside)};
  x = kept_inside(b, x, s, outside);
  Id left = b.add("floor", {x});
  std::vector<Id> weights = weights_of(b, b.binary("sub", x, left), mode == "cubic");
  std::vector<Neighbour> out;
  double first = mode == "cubic" ? -1 : 0;
  for (size_t i = 0; i < weights.size(); ++i)
    out.push_back(neighbour(b, b.binary("add", left, first + static_cast<double>(i)), weights[i], s, outside));
  return out;
}

Id times(Builder& b, Id x, Id y) { return !x.valid() ? y : !y.valid() ? x : b.binary("mul", x, y); }

// The sum over all combinations of neighbours along the dimensions.
Id sum_over(Builder& b, Id pixels, const std::vector<std::vector<Neighbour>>& sides, const std::vector<Side>& lengths,
            size_t at, Id index, Id weight) {
  if (at == sides.size()) {
    Id found = b.add("gather", {pixels, index}, {{"axis", 0}});
    if (!weight.valid()) return found;
    graph::Shape shape = b.shape(weight);
    shape.push_back(1);
    return b.binary("mul", found, b.reshape(weight, shape));
  }
  Id sum;
  for (const Neighbour& n : sides[at]) {
    Id next = b.add("add", {b.add("mul", {index, b.filled_int(DType::kI32, lengths[at].length)}), n.index});
    Id part = sum_over(b, pixels, sides, lengths, at + 1, next, times(b, weight, n.weight));
    sum = sum.valid() ? b.binary("add", sum, part) : part;
  }
  return sum;
}

void grid_sample(Call& c) {
  Builder& b = c.b;
  const graph::Shape image = c.shape(0), grid = c.shape(1);
  size_t rank = image.size();
  if (rank < 3 || rank > 5 || grid.size() != rank || grid[0] != image[0] ||
      grid.back() != static_cast<int64_t>(rank - 2) || b.dtype(c.in(0)) != DType::kF32)
    c.refuse(fmt::format("a grid of shape {} does not match an image of shape {} (float32, 3 to 5 dimensions)",
                         graph::to_string(grid), graph::to_string(image)));
  std::string mode = c.s("mode", "linear"), padding = c.s("padding_mode", "zeros");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    c.refuse(fmt::format("mode '{}' is not supported", escape_for_display(mode)));
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    c.refuse(fmt::format("padding_mode '{}' is not supported", escape_for_display(padding)));
  Outside outside = padding == "zeros"    ? Outside::kZeros
                    : padding == "border" ? Outside::kBorder
                                          : Outside::kReflection;
  bool corners = c.i("align_corners", 0) != 0;
  int64_t places = 1;
  for (size_t i = 1; i + 1 < rank; ++i) places *= grid[i];
  Id flat = b.reshape(c.in(1), {image[0], places, grid.back()});
  std::vector<Side> sides;
  std::vector<std::vector<Neighbour>> neighbours;
  for (size_t i = 2; i < rank; ++i) {
    auto n = static_cast<double>(image[i]);
    Side side{image[i], corners ? 0 : -0.5, corners ? n - 1 : n - 0.5};
    // The grid counts dimensions from the last.
    auto which = static_cast<int64_t>(rank - 1 - i);
    Id x = b.reshape(b.slice(flat, {0, 0, which}, {image[0], places, 1}), {image[0], places});
    x = b.binary("add", x, 1.0);
    x = corners ? b.binary("mul", b.binary("mul", x, 0.5), n - 1)
                : b.binary("mul", b.binary("sub", b.binary("mul", x, n), 1.0), 0.5);
    neighbours.push_back(neighbours_of(b, x, side, mode, outside));
    sides.push_back(side);
  }
  Ints last(rank), first(rank), batch(static_cast<size_t>(image[0]));
  std::iota(last.begin(), last.end(), 0);
  last.erase(last.begin() + 1);
  last.push_back(1);
  Id pixels = b.transpose(c.in(0), last);
  pixels = b.reshape(pixels, {b.type(pixels).elements() / image[1], image[1]});
  std::iota(batch.begin(), batch.end(), 0);
  Id index = b.reshape(b.int_list(batch, DType::kI32), {image[0], 1});
  Id out = sum_over(b, pixels, neighbours, sides, 0, index, {});
  graph::Shape to = grid;
  to.back() = image[1];
  std::iota(first.begin(), first.end(), -1);
  first[0] = 0;
  first[1] = static_cast<int64_t>(rank - 1);
  c.out(0, b.transpose(b.reshape(out, to), first));
}

// Places of the pixels of an image between -1 and 1.
std::vector<float> centres(int64_t n, bool corners) {
  std::vector<float> out;
  for (int64_t i = 0; i < n; ++i) {
    auto x = static_cast<double>(i), length = static_cast<double>(n);
    double place = corners ? (n == 1 ? 0.0 : -1 + 2 * x / (length - 1)) : (2 * x + 1) / length - 1;
    out.push_back(static_cast<float>(place));
  }
  return out;
}

void affine_grid(Call& c) {
  Builder& b = c.b;
  Ints size = c.known_ints(1, "the size");
  const graph::Shape theta = c.shape(0);
  size_t sides = size.size() < 2 ? 0 : size.size() - 2;
  if ((sides != 2 && sides != 3) || bounded_bytes(size, DType::kF32) < 0 ||
      theta != graph::Shape{size[0], static_cast<int64_t>(sides), static_cast<int64_t>(sides + 1)})
    c.refuse(fmt::format("theta of shape {} does not match size {}", graph::to_string(theta), graph::to_string(size)));
  bool corners = c.i("align_corners", 0) != 0;
  int64_t places = 1;
  for (size_t i = 2; i < size.size(); ++i) places *= size[i];
  // [places, x y (z) 1]
  std::vector<std::vector<float>> lines;
  for (size_t i = 2; i < size.size(); ++i) lines.push_back(centres(size[i], corners));
  std::vector<float> base;
  for (int64_t at = 0; at < places; ++at) {
    int64_t rest = at;
    for (size_t i = size.size(); i-- > 2; rest /= size[i])
      base.push_back(lines[i - 2][static_cast<size_t>(rest % size[i])]);
    base.push_back(1.0f);
  }
  Id points = b.broadcast(b.floats_of(base, {1, places, static_cast<int64_t>(sides + 1)}),
                          {size[0], places, static_cast<int64_t>(sides + 1)});
  Id out = matmul(b, points, b.transpose(c.in(0), {0, 2, 1}));
  graph::Shape to(size.begin() + 2, size.end());
  to.insert(to.begin(), size[0]);
  to.push_back(static_cast<int64_t>(sides));
  c.out(0, b.reshape(out, to));
}

constexpr Rule kRules[] = {
    {"GridSample", 16, grid_sample},
    {"AffineGrid", 20, affine_grid},
};

}  // namespace

}  // namespace sampling

std::span<const Rule> sampling_rules() { return sampling::kRules; }

}  // namespace aotc::frontends::onnx
