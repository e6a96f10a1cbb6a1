// SPDX-License-Identifier: Apache-2.0
// Operators whose results are as large as the data says: the largest shape and a count (counted.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace counting {

namespace {

// What `where` takes and tells from 0 as it is.
Id comparable(Builder& b, Id x) {
  const DType type = b.dtype(x);
  return type == DType::kI16 || type == DType::kU16 ? b.cast(x, DType::kI32) : x;
}

// Coordinates of what is not 0, one in a row; of a constant exactly so many.
std::pair<Id, std::optional<Counted>> places_of(Builder& b, Id x) {
  if (b.is_constant(x)) return {b.add("where", {x}, {}, DType::kI64), std::nullopt};
  std::vector<Id> found = b.add_several("where", {x}, {}, {DType::kI64, DType::kI32});
  return {found[0], Counted{found[1], 0}};
}

void non_zero(Call& c) {
  Builder& b = c.b;
  Id x = comparable(b, c.in(0));
  if (b.rank(x) == 0) x = b.reshape(x, {1});  // as of one element
  auto [places, counted] = places_of(b, x);
  Id out = b.transpose(places, {1, 0});
  if (counted && out == places) out = b.copy(places);
  c.out(0, out);
  if (counted) b.set_counted(out, {counted->count, 1});
}

// Elements of the operand, or of its values as a list, whose condition is true.
void compress(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0), chosen = c.in(1);
  if (c.find("axis") == nullptr) x = b.reshape(x, {b.type(x).elements()});
  const int64_t axis = c.find("axis") == nullptr ? 0 : b.axis(c.i("axis", 0), b.rank(x));
  const int64_t size = b.shape(x)[static_cast<size_t>(axis)];
  if (b.rank(chosen) != 1) c.refuse("the condition must have one dimension");
  if (b.dtype(chosen) != DType::kBool)
    c.refuse(fmt::format("the condition is {}, but must be bool", name_of(b.dtype(chosen))),
             "cast the condition to bool");
  if (b.shape(chosen)[0] > size) chosen = b.slice(chosen, {0}, {size});
  auto [places, counted] = places_of(b, chosen);
  Id out = b.add("gather", {x, b.reshape(places, {b.type(places).elements()})}, {{"axis", axis}});
  c.out(0, out);
  if (counted) b.set_counted(out, {counted->count, axis});
}

// As rows of a matrix: the operand's elements, or what it has at each place of an axis.
void unique(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0);
  const bool flat = c.find("axis") == nullptr;
  const int64_t axis = flat ? 0 : b.axis(c.i("axis", 0), b.rank(x));
  if (flat) x = b.reshape(x, {b.type(x).elements()});
  // The axis first and the others in their order, in which rows are compared; and back.
  Ints order(static_cast<size_t>(b.rank(x)));
  std::iota(order.begin(), order.end(), 0);
  Ints back = order;
  std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
  std::rotate(back.begin(), back.begin() + 1, back.begin() + axis + 1);
  x = b.transpose(x, order);
  const graph::Shape turned = b.shape(x);
  const int64_t n = turned[0], width = n == 0 ? 0 : b.type(x).elements() / n;
  if (n == 0 || width == 0) c.refuse("the operand has no elements");
  const bool constant = b.is_constant(x);
  const std::vector<Id> found =
      b.add_several("unique_rows", {b.reshape(x, {n, width})}, {{"sorted", c.i("sorted", 1) != 0}},
                    {b.dtype(x), DType::kI32, DType::kI32, DType::kI32, DType::kI32});
  const auto known = constant ? b.ints(found[4]) : std::nullopt;
  const auto give = [&](size_t output, Id value, int64_t along) {
    graph::Shape part = b.shape(value);
    part[static_cast<size_t>(along)] = known ? (*known)[0] : n;
    if (known) value = b.slice(value, graph::Shape(part.size(), 0), part);
    c.out(output, value);
    if (!known) b.set_counted(value, {found[4], along});
  };
  give(0, b.transpose(b.reshape(found[0], turned), back), axis);
  if (c.wants(1)) give(1, b.cast(found[1], DType::kI64), 0);
  if (c.wants(2)) c.out(2, b.cast(found[2], DType::kI64));
  if (c.wants(3)) give(3, b.cast(found[3], DType::kI64), 0);
}

double number_of(Call& c, size_t i, const char* what, double otherwise) {
  if (!c.has(i)) return otherwise;
  auto number = c.b.number(c.in(i));
  if (!number) c.ask_for(i, what);
  return *number;
}

void non_max_suppression(Call& c) {
  Builder& b = c.b;
  const double most = number_of(c, 2, "the maximum number of boxes per class", 0);
  if (b.rank(c.in(1)) != 3) c.refuse("the scores must have three dimensions");
  const int64_t n = c.shape(1)[2];
  if (!(most >= 1) || n == 0) {
    c.pass_over({"center_point_box"});
    for (size_t i : {0, 3, 4}) c.pass_over_input(i);
    c.out(0, b.constant(DType::kI64, {0, 3}, {}));
    return;
  }
  const double overlap = number_of(c, 3, "the IoU threshold", 0);
  if (!(overlap >= 0 && overlap <= 1))
    c.refuse(fmt::format("the IoU threshold is {}, but must be from 0 to 1", overlap));
  std::vector<Setting> settings = {{"most", static_cast<int64_t>(std::min(most, static_cast<double>(n)))},
                                   {"overlap", static_cast<float>(overlap)},
                                   {"centre", c.i("center_point_box", 0) != 0}};
  if (c.has(4)) {
    settings.emplace_back("score", static_cast<float>(number_of(c, 4, "the score threshold", 0)));
    settings.emplace_back("has_score", true);
  }
  std::vector<Id> found = b.add_several("class_suppression", {c.in(0), c.in(1)}, settings, {DType::kI64, DType::kI32});
  if (auto count = b.ints(found[1])) {
    c.out(0, b.slice(found[0], {0, 0}, {(*count)[0], 3}));
    return;
  }
  c.out(0, found[0]);
  b.set_counted(found[0], {found[1], 0});
}

constexpr Rule kRules[] = {
    {"NonZero", 9, non_zero},
    {"Compress", 9, compress},
    {"Unique", 11, unique},
    {"NonMaxSuppression", 10, non_max_suppression},
};

}  // namespace

}  // namespace counting

std::span<const Rule> counted_rules() { return counting::kRules; }

}  // namespace aotc::frontends::onnx
