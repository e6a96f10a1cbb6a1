// SPDX-License-Identifier: Apache-2.0
// Elements by indices. Indices of ONNX may count from the end; constants are settled here, others
// by a comparison in the model.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace indices {

namespace {

// Indices in 0 .. size - 1, whatever integers they are.
Id from_begin(Builder& b, Id indices, int64_t size) {
  DType type = b.dtype(indices);
  if (type == DType::kF32)
    b.stop("onnx-attribute", "indices must be integers, not float32", "export the model with integer indices");
  if (type != DType::kI64)
    indices = b.cast(indices, size_of(type) < 4 ? DType::kI32 : type == DType::kU32 ? DType::kI64 : type);
  type = b.dtype(indices);
  if (auto known = b.ints(indices)) {
    bool any = false;
    for (int64_t& v : *known) {
      any = any || v < 0;
      if (v < 0) v += size;
    }
    return any ? b.reshape(b.int_list(*known, type), b.shape(indices)) : indices;
  }
  return select(b, less_than(b, indices, 0), b.add("add", {indices, b.filled_int(type, size)}), indices);
}

// Known indices that are evenly apart, in the order of memory, are a slice: no table, and a transposition or
// product in front of it may be made for these elements alone.
std::optional<Id> sliced(Call& c, Id indices, int64_t axis) {
  Builder& b = c.b;
  const auto known = b.ints(indices);
  const graph::Shape shape = c.shape(0);
  const int64_t size = shape[static_cast<size_t>(axis)];
  if (!known || known->empty() || b.is_constant(c.in(0)) || b.counted(c.in(0))) return std::nullopt;
  const Ints& at = *known;
  const int64_t stride = at.size() > 1 ? at[1] - at[0] : 1;
  if (stride < 1 || at.front() < 0 || at.back() >= size) return std::nullopt;
  for (size_t i = 1; i < at.size(); ++i)
    if (at[i] - at[i - 1] != stride) return std::nullopt;
  Ints begin(shape.size(), 0), counts = shape, strides(shape.size(), 1);
  begin[static_cast<size_t>(axis)] = at.front();
  counts[static_cast<size_t>(axis)] = static_cast<int64_t>(at.size());
  strides[static_cast<size_t>(axis)] = stride;
  graph::Shape to(shape.begin(), shape.begin() + axis);
  to.insert(to.end(), b.shape(indices).begin(), b.shape(indices).end());
  to.insert(to.end(), shape.begin() + axis + 1, shape.end());
  return b.reshape(b.slice(c.in(0), begin, counts, strides), to);
}

void gather(Call& c) {
  Builder& b = c.b;
  int64_t axis = b.axis(c.i("axis", 0), b.rank(c.in(0)));
  Id indices = from_begin(b, c.in(1), c.shape(0)[static_cast<size_t>(axis)]);
  if (auto slice = sliced(c, indices, axis)) return c.out(0, *slice);
  c.out(0, b.add("gather", {c.in(0), indices}, {{"axis", axis}}));
}

Ints strides_of(const graph::Shape& shape) {
  Ints out(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * shape[i];
  return out;
}

// Where in `shape` each element of `part`, a box at its origin, lies, along all dimensions but one.
Ints offsets_without(const graph::Shape& shape, const graph::Shape& part, size_t axis) {
  Ints strides = strides_of(shape), inner = strides_of(part), out;
  for (int64_t i = 0; i < graph::element_count(part); ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < part.size(); ++d)
      if (d != axis) at += i / inner[d] % part[d] * strides[d];
    out.push_back(at);
  }
  return out;
}

// Indices along an axis, one for each element, as positions in the flat tensor.
Id flat_elements(Call& c, Id indices, const graph::Shape& shape, size_t axis) {
  Builder& b = c.b;
  const graph::Shape part = b.shape(indices);
  if (part.size() != shape.size() || graph::element_count(part) > 1'000'000)
    c.refuse(fmt::format("indices of shape {} do not match a tensor of shape {}, or exceed 1,000,000 elements",
                         graph::to_string(part), graph::to_string(shape)));
  for (size_t d = 0; d < part.size(); ++d)
    if (d != axis && part[d] > shape[d])
      c.refuse(fmt::format("indices of shape {} are larger than a tensor of shape {} in dimension {}",
                           graph::to_string(part), graph::to_string(shape), d));
  Id at = b.cast(from_begin(b, indices, shape[axis]), DType::kI64);
  at = b.add("mul", {at, b.filled_int(DType::kI64, strides_of(shape)[axis])});
  return b.add("add", {at, b.reshape(b.int_list(offsets_without(shape, part, axis)), part)});
}

void gather_elements(Call& c) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(0);
  auto axis = static_cast<size_t>(b.axis(c.i("axis", 0), b.rank(c.in(0))));
  Id at = flat_elements(c, c.in(1), shape, axis);
  Id flat = b.reshape(c.in(0), {graph::element_count(shape)});
  c.out(0, b.add("gather", {flat, at}, {{"axis", 0}}));
}

// Tuples of indices, behind `batch` common dimensions, as positions among slices.
Id flat_tuples(Call& c, Id indices, const graph::Shape& shape, size_t batch) {
  Builder& b = c.b;
  graph::Shape tuples = b.shape(indices);
  if (tuples.empty() || tuples.back() < 1 || batch >= tuples.size() ||
      batch + static_cast<size_t>(tuples.back()) > shape.size() || graph::element_count(tuples) > 1'000'000)
    c.refuse(fmt::format("indices of shape {} do not match a tensor of shape {}, or exceed 1,000,000 elements",
                         graph::to_string(tuples), graph::to_string(shape)));
  auto k = static_cast<size_t>(tuples.back());
  Ints sizes(shape.begin() + static_cast<std::ptrdiff_t>(batch),
             shape.begin() + static_cast<std::ptrdiff_t>(batch + k));
  Id at = b.cast(indices, DType::kI64);
  at = select(b, less_than(b, at, 0), b.add("add", {at, b.int_list(sizes)}), at);
  at = b.add("mul", {at, b.int_list(strides_of(sizes))});
  at = b.add("sum", {at}, {{"axes", Ints{static_cast<int64_t>(tuples.size()) - 1}}, {"keep_dims", false}});
  if (batch == 0) return at;
  tuples.pop_back();
  int64_t batches = std::accumulate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(batch), int64_t{1},
                                    std::multiplies<>());
  int64_t each = graph::element_count(sizes), per_batch = batches == 0 ? 0 : graph::element_count(tuples) / batches;
  Ints base;
  for (int64_t i = 0; i < graph::element_count(tuples); ++i) base.push_back(i / std::max<int64_t>(per_batch, 1) * each);
  return b.add("add", {at, b.reshape(b.int_list(base), tuples)});
}

void gather_nd(Call& c) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(0);
  auto batch = static_cast<size_t>(b.axis(c.i("batch_dims", 0), b.rank(c.in(0))));
  Id at = flat_tuples(c, c.in(1), shape, batch);
  auto cut = static_cast<std::ptrdiff_t>(batch) + static_cast<std::ptrdiff_t>(c.shape(1).back());
  graph::Shape slice(shape.begin() + cut, shape.end());
  graph::Shape to = {graph::element_count(graph::Shape(shape.begin(), shape.begin() + cut))};
  to.insert(to.end(), slice.begin(), slice.end());
  c.out(0, b.add("gather", {b.reshape(c.in(0), to), at}, {{"axis", 0}}));
}

// Elements of a flat tensor replaced: which update is the last at each place is counted while
// compiling.
Id scatter(Call& c, Id data, Id at, Id updates, const std::string& reduction) {
  Builder& b = c.b;
  auto places = b.ints(at);
  if (!places) b.stop("onnx-constant", "the indices must be known at compile time", b.how_to_know(at));
  const graph::Shape shape = b.shape(data);
  int64_t rows = shape[0];
  for (int64_t p : *places)
    if (p < 0 || p >= rows) c.refuse("an index is outside of the tensor");
  // Update after update; those at different places go in one round.
  Id out = data;
  std::vector<bool> done(places->size(), false);
  if (reduction == "none") {
    Ints source(static_cast<size_t>(rows));
    std::iota(source.begin(), source.end(), 0);
    for (size_t i = 0; i < places->size(); ++i)
      source[static_cast<size_t>((*places)[i])] = rows + static_cast<int64_t>(i);
    Id both = b.add("concatenation", {data, updates}, {{"axis", 0}});
    return b.add("gather", {both, b.int_list(source)}, {{"axis", 0}});
  }
  if (reduction != "add" && reduction != "mul" && reduction != "max" && reduction != "min")
    c.refuse(fmt::format("reduction '{}' is not supported", escape_for_display(reduction)));
  std::string_view op = reduction == "add"   ? "add"
                        : reduction == "mul" ? "mul"
                        : reduction == "max" ? "maximum"
                                             : "minimum";
  for (int rounds = 0; std::find(done.begin(), done.end(), false) != done.end(); ++rounds) {
    if (rounds == 64) c.refuse("one element has more than 64 updates");
    Ints source(static_cast<size_t>(rows), -1);
    for (size_t i = 0; i < places->size(); ++i) {
      int64_t& at_place = source[static_cast<size_t>((*places)[i])];
      if (done[i] || at_place >= 0) continue;
      at_place = static_cast<int64_t>(i);
      done[i] = true;
    }
    std::vector<uint8_t> mask;
    for (int64_t& s : source) {
      mask.push_back(s >= 0 ? 1 : 0);
      s = std::max<int64_t>(s, 0);
    }
    Id update = b.add("gather", {updates, b.int_list(source)}, {{"axis", 0}});
    graph::Shape column(shape.size(), 1);
    column[0] = rows;
    Id changed = b.constant(DType::kBool, column, std::move(mask));
    out = select(b, changed, b.widened(op, {out, update}), out);
  }
  return out;
}

void scatter_elements(Call& c) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(0);
  auto axis = static_cast<size_t>(b.axis(c.i("axis", 0), b.rank(c.in(0))));
  Id at = flat_elements(c, c.in(1), shape, axis);
  Id updates = b.reshape(c.in(2), {b.type(c.in(2)).elements()});
  Id out = scatter(c, b.reshape(c.in(0), {graph::element_count(shape)}), b.reshape(at, b.shape(updates)), updates,
                   c.s("reduction", "none"));
  c.out(0, b.reshape(out, shape));
}

void scatter_nd(Call& c) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(0);
  Id at = flat_tuples(c, c.in(1), shape, 0);
  auto cut = static_cast<std::ptrdiff_t>(c.shape(1).back());
  graph::Shape slice(shape.begin() + cut, shape.end());
  auto with = [&](int64_t n) {
    graph::Shape to = {n};
    to.insert(to.end(), slice.begin(), slice.end());
    return to;
  };
  int64_t count = b.type(at).elements();
  Id data = b.reshape(c.in(0), with(graph::element_count(graph::Shape(shape.begin(), shape.begin() + cut))));
  Id out = scatter(c, data, b.reshape(at, {count}), b.reshape(c.in(2), with(count)), c.s("reduction", "none"));
  c.out(0, b.reshape(out, shape));
}

// A row of the result is off but for the place of its index.
void one_hot(Call& c) {
  Builder& b = c.b;
  auto depth = b.number(c.in(1));
  if (!depth) b.stop("onnx-constant", "the depth must be known at compile time", b.how_to_know(c.in(1)));
  int64_t n = static_cast<int64_t>(*depth);
  if (n < 1 || n > limits::kMaxTensorBytes)
    c.refuse(fmt::format("the depth is {}, but must be from 1 to {}", n, limits::kMaxTensorBytes));
  int64_t axis = b.axis(c.i("axis", -1), b.rank(c.in(0)) + 1);
  Id indices = b.cast(c.in(0), DType::kI64);
  indices = select(b, less_than(b, indices, 0), b.add("add", {indices, b.filled_int(DType::kI64, n)}), indices);
  Id values = c.in(2);
  auto value = [&](int64_t i) { return b.reshape(b.slice(values, {i}, {1}), {}); };
  graph::Shape column = b.shape(indices), places(column.size() + 1, 1);
  column.insert(column.begin() + axis, 1);
  places[static_cast<size_t>(axis)] = n;
  Ints all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  Id hit = b.add("equal", {b.reshape(indices, column), b.reshape(b.int_list(all), places)}, {}, DType::kBool);
  c.out(0, b.set_element(select(b, hit, value(1), value(0)), b.element(values)));
}

// Along the last axis; the smallest are the largest of what has another sign. What is not a number is the largest
// of all, in either direction.
void top_k(Call& c) {
  Builder& b = c.b;
  int64_t k = c.version() < 10 ? c.i("k", 0) : 0;
  if (c.version() >= 10) {
    Ints given = c.known_ints(1, "the number k");
    if (given.size() == 1) k = given[0];
  }
  int64_t rank = b.rank(c.in(0)), axis = b.axis(c.i("axis", -1), rank);
  Ints order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(axis)], order.back());
  bool largest = c.i("largest", 1) != 0;
  DType type = b.dtype(c.in(0)), wide = type == DType::kF32 || type == DType::kI64 ? type
                                        : type == DType::kU32                      ? DType::kI64
                                                                                   : DType::kI32;
  // Unsigned 64 bits have their order with the top bit the other way round.
  const bool flips = b.element(c.in(0)) == kUint64;
  auto flipped = [&](Id x) { return flips ? b.add("add", {x, b.filled_int(DType::kI64, INT64_MIN)}) : x; };
  auto turned = [&](Id x) {
    return largest ? x
                   : b.add(wide == DType::kF32 ? "neg" : "sub",
                           wide == DType::kF32 ? std::vector<Id>{x} : std::vector<Id>{b.filled_int(wide, -1), x});
  };
  Id x = turned(b.transpose(flipped(b.cast(c.in(0), wide)), order));
  std::vector<Id> found = b.add_several("topk_v2", {x}, {{"k", k}, {"nan_first", largest}}, {wide, DType::kI32});
  Id values = b.cast(b.transpose(flipped(turned(found[0])), order), type);
  c.out(0, flips ? b.set_element(values, kUint64) : values);
  c.out(1, b.transpose(b.cast(found[1], DType::kI64), order));
}

void cumsum(Call& c) {
  Builder& b = c.b;
  Ints given = c.known_ints(1, "the axis");
  if (given.size() != 1) c.refuse("the axis must be one number");
  int64_t axis = b.axis(given[0], b.rank(c.in(0)));
  bool exclusive = c.i("exclusive", 0) != 0, reverse = c.i("reverse", 0) != 0;
  c.out(0, b.widened("cumsum", {c.in(0)}, false, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}));
}

void reverse_sequence(Call& c) {
  Builder& b = c.b;
  Ints lengths = c.known_ints(1, "the lengths");
  const graph::Shape shape = c.shape(0);
  auto time = static_cast<size_t>(b.axis(c.i("time_axis", 0), b.rank(c.in(0))));
  auto batch = static_cast<size_t>(b.axis(c.i("batch_axis", 1), b.rank(c.in(0))));
  if (shape.size() < 2 || time + batch != 1 || lengths.size() != static_cast<size_t>(shape[batch]))
    c.refuse("time_axis and batch_axis must be 0 and 1, and sequence_lens must have one element for each batch");
  Ints from;
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j) {
      int64_t t = time == 0 ? i : j, n = lengths[static_cast<size_t>(time == 0 ? j : i)];
      if (n < 0 || n > shape[time])
        c.refuse(fmt::format("an element of sequence_lens is {}, but must be from 0 to {}", n, shape[time]));
      int64_t at = t < n ? n - 1 - t : t;
      from.push_back(time == 0 ? at * shape[1] + j : i * shape[1] + at);
    }
  graph::Shape flat = {shape[0] * shape[1]};
  flat.insert(flat.end(), shape.begin() + 2, shape.end());
  Id out = b.add("gather", {b.reshape(c.in(0), flat), b.int_list(from)}, {{"axis", 0}});
  c.out(0, b.reshape(out, shape));
}

constexpr Rule kRules[] = {
    {"Gather", 1, gather},
    {"GatherElements", 11, gather_elements},
    {"GatherND", 11, gather_nd},
    {"ScatterElements", 11, scatter_elements},
    {"Scatter", 9, scatter_elements},
    {"ScatterND", 11, scatter_nd},
    {"OneHot", 9, one_hot},
    {"TopK", 1, top_k},
    {"CumSum", 11, cumsum},
    {"ReverseSequence", 10, reverse_sequence},
};

}  // namespace

}  // namespace indices

std::span<const Rule> index_rules() { return indices::kRules; }

}  // namespace aotc::frontends::onnx
