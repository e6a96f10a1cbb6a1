// SPDX-License-Identifier: Apache-2.0
// Elements in other places, all known while compiling.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

Id nchw_to_nhwc(Builder& b, Id x) { return b.transpose(x, {0, 2, 3, 1}); }
Id nhwc_to_nchw(Builder& b, Id x) { return b.transpose(x, {0, 3, 1, 2}); }

namespace movement {

namespace {

void reshape(Call& c) {
  Builder& b = c.b;
  Ints to = c.known_ints(1, "the shape");
  const graph::Shape& from = c.shape(0);
  bool zero = c.version() >= 14 && c.i("allowzero", 0) != 0;
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && !zero && i < from.size()) to[i] = from[i];
    if (to[i] == -1 && open < 0) open = static_cast<int64_t>(i);
    else if (to[i] < 0 || to[i] > limits::kMaxTensorBytes || __builtin_mul_overflow(known, to[i], &known))
      c.refuse(fmt::format("{} is not a valid shape", graph::to_string(to)));
  }
  int64_t elements = graph::element_count(from);
  if (open >= 0) to[static_cast<size_t>(open)] = known == 0 ? 0 : elements / known;
  if (graph::element_count(to) != elements)
    c.refuse(
        fmt::format("a tensor of shape {} cannot be reshaped to {}", graph::to_string(from), graph::to_string(to)));
  c.out(0, b.reshape(c.in(0), to));
}

void flatten(Call& c) {
  const graph::Shape& from = c.shape(0);
  auto rank = static_cast<int64_t>(from.size());
  int64_t axis = c.i("axis", 1);
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis > rank) c.refuse(fmt::format("axis {} is outside a tensor of rank {}", axis, rank));
  int64_t rows = std::accumulate(from.begin(), from.begin() + axis, int64_t{1}, std::multiplies<>());
  c.out(0, c.b.reshape(c.in(0), {rows, rows == 0 ? 0 : graph::element_count(from) / rows}));
}

std::optional<Ints> axes_of(Call& c) { return c.version() < 13 ? c.ints("axes") : c.optional_ints(1, "the axes"); }

void squeeze(Call& c) {
  const graph::Shape& from = c.shape(0);
  auto axes = axes_of(c);
  std::vector<bool> drop(from.size(), false);
  if (axes)
    for (int64_t a : *axes) drop[static_cast<size_t>(c.b.axis(a, static_cast<int64_t>(from.size())))] = true;
  graph::Shape to;
  for (size_t i = 0; i < from.size(); ++i) {
    if (axes && drop[i] && from[i] != 1)
      c.refuse(fmt::format("dimension {} has {} elements, so it cannot be removed", i, from[i]));
    if (axes ? !drop[i] : from[i] != 1) to.push_back(from[i]);
  }
  c.out(0, c.b.reshape(c.in(0), to));
}

void unsqueeze(Call& c) {
  auto axes = axes_of(c);
  if (!axes) c.refuse("the axes are missing");
  int64_t rank = c.b.rank(c.in(0)) + static_cast<int64_t>(axes->size());
  std::vector<bool> added(static_cast<size_t>(std::min<int64_t>(rank, 64)), false);
  for (int64_t a : *axes) {
    auto at = static_cast<size_t>(c.b.axis(a, static_cast<int64_t>(added.size())));
    if (added[at]) c.refuse(fmt::format("axis {} occurs twice", at));
    added[at] = true;
  }
  graph::Shape to;
  size_t from = 0;
  for (bool one : added) to.push_back(one ? 1 : c.shape(0)[from++]);
  c.out(0, c.b.reshape(c.in(0), to));
}

void transpose(Call& c) {
  auto rank = static_cast<size_t>(c.b.rank(c.in(0)));
  Ints order = c.ints("perm").value_or(Ints{});
  if (order.empty())
    for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int64_t>(i));
  Ints sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size() || i < rank; ++i)
    if (sorted.size() != rank || sorted[i] != static_cast<int64_t>(i))
      c.refuse(fmt::format("perm must be a permutation of 0 to {}", static_cast<int64_t>(rank) - 1));
  c.out(0, c.b.transpose(c.in(0), order));
}

struct SliceOf {
  Ints starts, ends, axes, steps;
};

SliceOf slice_of(Call& c) {
  SliceOf s;
  if (c.version() < 10) {
    s.starts = c.ints("starts").value_or(Ints{});
    s.ends = c.ints("ends").value_or(Ints{});
    s.axes = c.ints("axes").value_or(Ints{});
  } else {
    s.starts = c.known_ints(1, "the starts");
    s.ends = c.known_ints(2, "the ends");
    s.axes = c.optional_ints(3, "the axes").value_or(Ints{});
    s.steps = c.optional_ints(4, "the steps").value_or(Ints{});
  }
  if (s.axes.empty()) {
    s.axes.resize(s.starts.size());
    std::iota(s.axes.begin(), s.axes.end(), 0);
  }
  if (s.steps.empty()) s.steps.assign(s.starts.size(), 1);
  size_t n = s.starts.size();
  if (s.ends.size() != n || s.axes.size() != n || s.steps.size() != n)
    c.refuse("starts, ends, axes and steps must have the same number of elements");
  return s;
}

void slice(Call& c) {
  Builder& b = c.b;
  SliceOf s = slice_of(c);
  const graph::Shape from = c.shape(0);
  Ints begin(from.size(), 0), counts = from, steps(from.size(), 1);
  for (size_t i = 0; i < s.starts.size(); ++i) {
    auto at = static_cast<size_t>(b.axis(s.axes[i], static_cast<int64_t>(from.size())));
    int64_t n = from[at], step = s.steps[i];
    if (step == 0) c.refuse("a step must not be 0");
    auto from_end = [&](int64_t v) { return v < 0 && v >= -n ? v + n : v < 0 ? int64_t{-1} : v; };
    int64_t first = from_end(s.starts[i]), last = from_end(s.ends[i]);
    if (s.ends[i] < -n) last = -1;
    first = step > 0 ? std::clamp<int64_t>(s.starts[i] < -n ? 0 : first, 0, n)
                     : std::clamp<int64_t>(s.starts[i] < -n ? -1 : first, -1, n - 1);
    last = step > 0 ? std::clamp<int64_t>(last, 0, n) : std::clamp<int64_t>(last, -1, n - 1);
    step = std::clamp<int64_t>(step, -std::max<int64_t>(n, 1), std::max<int64_t>(n, 1));
    int64_t way = step > 0 ? last - first : first - last;
    int64_t size = std::abs(step);
    counts[at] = way <= 0 ? 0 : (way + size - 1) / size;
    begin[at] = counts[at] == 0 ? 0 : first;
    steps[at] = counts[at] <= 1 ? 1 : step;
  }
  c.out(0, b.slice(c.in(0), begin, counts, steps));
}

void concat(Call& c) {
  Builder& b = c.b;
  int64_t axis = b.axis(c.i("axis", 1), b.rank(c.in(0)));
  std::vector<Id> parts;
  for (size_t i = 0; i < c.inputs(); ++i) {
    Id part = c.in(i);
    // Parts without elements say nothing; those that say it all are the result.
    if (b.type(part).elements() == 0 && c.inputs() > 1) continue;
    parts.push_back(part);
  }
  if (parts.empty()) {  // without elements, along the axis as many as all say
    graph::Shape to = c.shape(0);
    for (size_t i = 1; i < c.inputs(); ++i) {
      if (c.shape(i).size() != to.size()) c.refuse("the operands must have the same number of dimensions");
      to[static_cast<size_t>(axis)] += c.shape(i)[static_cast<size_t>(axis)];
    }
    if (graph::element_count(to) != 0) c.refuse("the operands must have the same shape except along the axis");
    Id none = b.constant(b.dtype(c.in(0)), to, {});
    return c.out(0, b.set_element(none, b.element(c.in(0))));
  }
  c.out(0, parts.size() == 1 ? parts[0] : b.add("concatenation", parts, {{"axis", axis}}));
}

void split(Call& c) {
  Builder& b = c.b;
  int64_t axis = b.axis(c.i("axis", 0), b.rank(c.in(0)));
  int64_t n = c.shape(0)[static_cast<size_t>(axis)];
  std::optional<Ints> sizes = c.version() < 13 ? c.ints("split") : c.optional_ints(1, "the sizes");
  const auto said = c.i("num_outputs", static_cast<int64_t>(c.outputs()));
  if (said != static_cast<int64_t>(c.outputs()))
    c.refuse(fmt::format("num_outputs is {}, but the operator has {} outputs", said, c.outputs()));
  if (sizes && (sizes->size() != c.outputs() || std::accumulate(sizes->begin(), sizes->end(), int64_t{0}) != n))
    c.refuse(fmt::format("the sizes must be {} numbers with the sum {}", c.outputs(), n));
  if (!sizes) {
    auto parts = static_cast<int64_t>(c.outputs());
    int64_t each = (n + parts - 1) / parts;
    if (c.version() < 18 && n % parts != 0)
      c.refuse(fmt::format("{} elements do not divide into {} equal parts", n, parts));
    sizes.emplace();
    for (int64_t i = 0; i < parts; ++i) sizes->push_back(std::clamp<int64_t>(n - i * each, 0, each));
  }
  Ints begin(c.shape(0).size(), 0), counts = c.shape(0);
  int64_t at = 0;
  for (size_t i = 0; i < sizes->size() && i < c.outputs(); ++i) {
    int64_t size = (*sizes)[i];
    if (size < 0 || size > n - at) c.refuse(fmt::format("a part has size {}, but {} elements are left", size, n - at));
    if (!c.wants(i)) {
      at += size;
      continue;
    }
    begin[static_cast<size_t>(axis)] = size == 0 ? 0 : at;
    counts[static_cast<size_t>(axis)] = size;
    c.out(i, b.slice(c.in(0), begin, counts));
    at += size;
  }
}

void expand(Call& c) {
  Builder& b = c.b;
  graph::Shape wanted = c.known_ints(1, "the shape");
  const graph::Shape& from = c.shape(0);
  graph::Shape to(std::max(from.size(), wanted.size()), 1);
  for (size_t i = 0; i < to.size(); ++i) {
    auto at = [&](const graph::Shape& s) { return i < s.size() ? s[s.size() - 1 - i] : 1; };
    if (at(from) != 1 && at(wanted) != 1 && at(from) != at(wanted))
      c.refuse(fmt::format("a tensor of shape {} does not broadcast to {}", graph::to_string(from),
                           graph::to_string(wanted)));
    to[to.size() - 1 - i] = at(from) == 1 ? at(wanted) : at(from);
  }
  c.out(0, b.broadcast(c.in(0), to));
}

void tile(Call& c) {
  Ints times = c.known_ints(1, "the repeats");
  if (std::all_of(times.begin(), times.end(), [](int64_t t) { return t == 1; })) return c.out(0, c.in(0));
  c.out(0, c.b.add("tile", {c.in(0)}, {{"multiples", times}}));
}

// Elements of an axis by a constant list.
Id take(Builder& b, Id x, const Ints& list, size_t axis) {
  return b.add("gather", {x, b.int_list(list)}, {{"axis", static_cast<int64_t>(axis)}});
}

Id pad_with_elements(Call& c, Id x, size_t axis, int64_t before, int64_t after, const std::string& mode) {
  int64_t n = c.b.shape(x)[axis];
  Ints list;
  for (int64_t i = -before; i < n + after; ++i) {
    int64_t at = i;
    if (mode == "edge") at = std::clamp<int64_t>(i, 0, n - 1);
    if (mode == "wrap") at = ((i % n) + n) % n;
    if (mode == "reflect") {
      int64_t period = std::max<int64_t>(2 * (n - 1), 1);
      at = ((i % period) + period) % period;
      at = at < n ? at : period - at;
    }
    list.push_back(at);
  }
  return take(c.b, x, list, axis);
}

void pad(Call& c) {
  Builder& b = c.b;
  Ints pads = c.version() < 11 ? c.ints("pads").value_or(Ints{}) : c.known_ints(1, "the pads");
  std::string mode = c.s("mode", "constant");
  Id x = c.in(0);
  size_t rank = c.shape(0).size();
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (c.version() >= 18 && c.has(3)) axes = c.known_ints(3, "the axes");
  if (pads.size() != axes.size() * 2)
    c.refuse(fmt::format("pads has {} elements, expected {} (two for each axis)", pads.size(), 2 * axes.size()));
  Ints before(rank, 0), after(rank, 0), begin(rank, 0), counts = c.shape(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    auto at = static_cast<size_t>(b.axis(axes[i], static_cast<int64_t>(rank)));
    before[at] = std::clamp<int64_t>(pads[i], -counts[at], 1 << 24);
    after[at] = std::clamp<int64_t>(pads[i + axes.size()], -counts[at], 1 << 24);
  }
  for (size_t i = 0; i < rank; ++i) {
    begin[i] = std::max<int64_t>(-before[i], 0);
    counts[i] = std::max<int64_t>(counts[i] - begin[i] - std::max<int64_t>(-after[i], 0), 0);
    before[i] = std::max<int64_t>(before[i], 0);
    after[i] = std::max<int64_t>(after[i], 0);
  }
  x = b.slice(x, begin, counts);
  if (mode == "constant") {
    Id value = c.version() < 11 ? b.filled(b.dtype(x), c.f("value", 0)) : c.has(2) ? c.in(2) : b.filled(b.dtype(x), 0);
    value = b.reshape(value, {});
    if (b.is_constant(value)) return c.out(0, b.add("pad", {x, value}, {{"before", before}, {"after", after}}));
    // Zeros, and the value where the tensor is not.
    Id zero = b.filled_int(b.dtype(x), 0), one = b.filled_int(DType::kBool, 1, b.shape(x));
    Id padded = b.add("pad", {x, zero}, {{"before", before}, {"after", after}});
    Id inside = b.add("pad", {one, b.filled_int(DType::kBool, 0)}, {{"before", before}, {"after", after}});
    return c.out(0, select(b, inside, padded, value));
  }
  c.pass_over({"value"});
  c.pass_over_input(2);
  if (mode != "edge" && mode != "wrap" && mode != "reflect") c.refuse(fmt::format("mode '{}' is not supported", mode));
  for (size_t i = 0; i < rank; ++i)
    if (before[i] != 0 || after[i] != 0) x = pad_with_elements(c, x, i, before[i], after[i], mode);
  c.out(0, x);
}

void trilu(Call& c) {
  Builder& b = c.b;
  const graph::Shape& from = c.shape(0);
  int64_t k = 0;
  if (c.has(1)) {
    Ints given = c.known_ints(1, "the diagonal");
    if (given.size() != 1) c.refuse("input k, the diagonal, must be a scalar");
    k = std::clamp<int64_t>(given[0], -(int64_t{1} << 32), int64_t{1} << 32);
  }
  if (from.size() < 2) c.refuse("the operand must have at least two dimensions");
  int64_t rows = from[from.size() - 2], columns = from.back();
  bool upper = c.i("upper", 1) != 0;
  std::vector<uint8_t> keep;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t col = 0; col < columns; ++col) keep.push_back((upper ? col >= r + k : col <= r + k) ? 1 : 0);
  Id mask = b.constant(DType::kBool, {rows, columns}, std::move(keep));
  c.out(0, select(b, mask, c.in(0), b.filled_int(b.dtype(c.in(0)), 0)));
}

struct Image {
  int64_t n, channels, h, w, block;
};

Image image_of(Call& c, bool deep) {
  const graph::Shape& s = c.shape(0);
  int64_t block = c.i("blocksize", 0);
  if (s.size() != 4 || block < 1 || block > 4096)
    c.refuse("the operand must have four dimensions, and blocksize must be from 1 to 4096");
  bool fits = deep ? s[1] % (block * block) == 0 : s[2] % block == 0 && s[3] % block == 0;
  if (!fits)
    c.refuse(deep ? fmt::format("{} channels are not a multiple of blocksize squared ({})", s[1], block * block)
                  : fmt::format("{} rows or {} columns are not a multiple of blocksize ({})", s[2], s[3], block));
  return {s[0], s[1], s[2], s[3], block};
}

// Channels of a block: are they in front of its columns and rows, as mode CRD has them?
bool channels_first(Call& c) {
  const std::string mode = c.s("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") c.refuse(fmt::format("mode '{}' is not supported", escape_for_display(mode)));
  return mode == "CRD";
}

void depth_to_space(Call& c) {
  Builder& b = c.b;
  Image s = image_of(c, true);
  int64_t out = s.channels / (s.block * s.block);
  const bool first = channels_first(c);
  Id x = b.reshape(c.in(0), first ? graph::Shape{s.n, out, s.block, s.block, s.h, s.w}
                                  : graph::Shape{s.n, s.block, s.block, out, s.h, s.w});
  x = b.transpose(x, first ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 3, 4, 1, 5, 2});
  c.out(0, b.reshape(x, {s.n, out, s.h * s.block, s.w * s.block}));
}

void space_to_depth(Call& c) {
  const bool first = channels_first(c);
  Builder& b = c.b;
  Image s = image_of(c, false);
  int64_t h = s.h / s.block, w = s.w / s.block;
  Id x = b.reshape(c.in(0), {s.n, s.channels, h, s.block, w, s.block});
  x = b.transpose(x, first ? Ints{0, 1, 3, 5, 2, 4} : Ints{0, 3, 5, 1, 2, 4});
  c.out(0, b.reshape(x, {s.n, s.channels * s.block * s.block, h, w}));
}

void center_crop_pad(Call& c) {
  Builder& b = c.b;
  Ints to = c.known_ints(1, "the shape");
  auto rank = static_cast<int64_t>(c.shape(0).size());
  Ints axes = c.ints("axes").value_or(Ints{});
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (to.size() != axes.size()) c.refuse("shape and axes must have the same number of elements");
  auto n = static_cast<size_t>(rank);
  Ints begin(n, 0), counts = c.shape(0), before(n, 0), after(n, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    auto at = static_cast<size_t>(b.axis(axes[i], rank));
    int64_t size = c.shape(0)[at];
    if (to[i] < 0 || to[i] > limits::kMaxTensorBytes)
      c.refuse(fmt::format("an element of the shape is {}, but must be from 0 to {}", to[i], limits::kMaxTensorBytes));
    begin[at] = std::max<int64_t>((size - to[i]) / 2, 0);
    counts[at] = std::min(size, to[i]);
    before[at] = std::max<int64_t>(to[i] - size, 0) / 2;
    after[at] = std::max<int64_t>(to[i] - size, 0) - before[at];
  }
  Id x = b.slice(c.in(0), begin, counts);
  bool padded = std::any_of(before.begin(), before.end(), [](int64_t v) { return v > 0; }) ||
                std::any_of(after.begin(), after.end(), [](int64_t v) { return v > 0; });
  if (padded) x = b.add("pad", {x, b.filled(b.dtype(x), 0)}, {{"before", before}, {"after", after}});
  c.out(0, x);
}

constexpr Rule kRules[] = {
    {"Reshape", 5, reshape},
    {"Flatten", 1, flatten},
    {"Squeeze", 1, squeeze},
    {"Unsqueeze", 1, unsqueeze},
    {"Transpose", 1, transpose},
    {"Slice", 1, slice},
    {"Concat", 4, concat},
    {"Split", 2, split},
    {"Expand", 8, expand},
    {"Tile", 6, tile},
    {"Pad", 2, pad},
    {"Trilu", 14, trilu},
    {"DepthToSpace", 1, depth_to_space},
    {"SpaceToDepth", 1, space_to_depth},
    {"CenterCropPad", 18, center_crop_pad},
};

}  // namespace

}  // namespace movement

std::span<const Rule> movement_rules() { return movement::kRules; }

}  // namespace aotc::frontends::onnx
