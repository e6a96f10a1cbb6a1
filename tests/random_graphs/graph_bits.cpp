// SPDX-License-Identifier: Apache-2.0
#include "graph_bits.h"

#include <cstring>

#include "ops/float_formats/attributes.h"

namespace aotc::tests {

namespace {

using graph::TensorId;
using graph::TensorType;

TensorType plain(DType dtype) {
  TensorType out;
  out.dtype = dtype;
  return out;
}

// A tensor of the type, else any, cast to it; invalid if that does not fit.
TensorId any_as(GraphMaker& g, DType dtype) {
  for (int tries = 0; tries < 4; ++tries)
    if (TensorId id = g.any(); g.of(id).dtype == dtype) return id;
  return g.add("cast", {g.any()}, {}, {plain(dtype)}) ? g.last() : TensorId{};
}

// Of the operand's shape, of its last dimensions, or one number; between these two.
TensorId numbers(GraphMaker& g, TensorId like, int64_t least, int64_t most) {
  TensorType type = plain(g.of(like).dtype);
  type.shape = g.of(like).shape;
  if (g.random.chance(50)) type.shape.clear();
  while (!type.shape.empty() && g.random.chance(30)) type.shape.erase(type.shape.begin());
  std::vector<uint8_t> bytes(static_cast<size_t>(type.bytes()));
  const auto size = static_cast<size_t>(size_of(type.dtype));
  for (size_t i = 0; i < bytes.size(); i += size) {
    const int64_t value = g.random.pick(least, most);
    std::memcpy(&bytes[i], &value, size);
  }
  return g.made.add_constant("bits" + std::to_string(g.made.tensors.size()), type, std::move(bytes));
}

// Others count on small numbers: what a shift gives is seen by the mask behind it alone.
bool shift(GraphMaker& g, TensorId in, bool left) {
  const TensorType type = plain(g.of(in).dtype);
  if (!g.add(left ? "shift_left" : "shift_right_unsigned", {in, numbers(g, in, 0, left ? 40 : 70)}, {}, {type}))
    return false;
  TensorId shifted = g.last();
  g.known.pop_back();
  return g.add("bit_and", {shifted, numbers(g, shifted, 0, 0x3fff)}, {}, {type});
}

bool whole(GraphMaker& g) {
  static const char* const kNames[] = {"bit_and", "bit_or", "bit_xor"};
  TensorId in = any_as(g, g.random.chance(50) ? DType::kI32 : DType::kI64);
  if (!in.valid()) return false;
  if (g.random.chance(50)) return shift(g, in, g.random.chance(50));
  std::vector<TensorId> operands = {in, numbers(g, in, -20000, 20000)};
  if (g.random.chance(50)) std::swap(operands[0], operands[1]);
  return g.add(kNames[g.random.pick(0, 2)], operands, {}, {plain(g.of(in).dtype)});
}

// Rounded at once, or stored and read again.
bool stored(GraphMaker& g) {
  using ops::FloatFormat;
  TensorId in = any_as(g, DType::kF32);
  auto format = static_cast<FloatFormat>(g.random.pick(0, static_cast<int64_t>(FloatFormat::kF64)));
  // Powers are of positive numbers.
  if (in.valid() && format == FloatFormat::kE8m0)
    in = g.add("abs", {in}, {}, {plain(DType::kF32)}) ? g.last() : TensorId{};
  if (!in.valid()) return false;
  const Attributes attributes = {{"format", std::string(enum_names(format)[static_cast<size_t>(format)])},
                                 {"saturate", "true"},
                                 {"powers", std::string(enum_names(ops::PowerRounding{})[g.random.pick(0, 2)])}};
  if (g.random.chance(40) && g.add("float_round", {in}, attributes, {plain(DType::kF32)})) return true;
  return g.add("float_encode", {in}, attributes, {plain(storage_of(format))}) &&
         g.add("float_decode", {g.last()}, attributes, {plain(DType::kF32)});
}

}  // namespace

bool make_bits(GraphMaker& graph) { return graph.random.chance(50) ? whole(graph) : stored(graph); }

}  // namespace aotc::tests
