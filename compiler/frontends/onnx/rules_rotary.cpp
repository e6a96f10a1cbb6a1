// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: pairs of elements turned by angles that depend on their place in the sequence.
#include <fmt/format.h>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace rotary {

namespace {

// Cosines or sines of every place: [batch or 1, places, 1, half].
Id table_of(Call& c, size_t input, int64_t batch, int64_t length, int64_t half) {
  Builder& b = c.b;
  Id table = c.in(input);
  if (c.has(3)) {
    if (b.rank(table) != 2) c.refuse("cos_cache and sin_cache must have two dimensions if there are position_ids");
    table = b.add("gather", {table, b.cast(c.in(3), DType::kI32)}, {{"axis", 0}});
  }
  const graph::Shape& shape = b.shape(table);
  if (shape != graph::Shape{batch, length, half} && shape != graph::Shape{1, length, half})
    c.refuse(fmt::format("cos_cache or sin_cache gives shape {}, expected {}", graph::to_string(shape),
                         graph::to_string(graph::Shape{batch, length, half})));
  return b.reshape(table, {shape[0], length, 1, half});
}

void rotary_embedding(Call& c) {
  Builder& b = c.b;
  const graph::Shape given = c.shape(0);
  Id x = c.in(0);
  if (given.size() == 4) x = b.transpose(x, {0, 2, 1, 3});
  if (given.size() == 3) {
    int64_t heads = c.i("num_heads", 0);
    if (heads < 1 || given[2] % heads != 0)
      c.refuse(fmt::format("dimension 2 of the operand ({}) must be a multiple of num_heads ({})", given[2], heads));
    x = b.reshape(x, {given[0], given[1], heads, given[2] / heads});
  } else if (given.size() != 4) {
    c.refuse("the operand must have three or four dimensions");
  }
  const graph::Shape shape = b.shape(x);
  int64_t turned = c.i("rotary_embedding_dim", 0);
  if (turned == 0) turned = shape[3];
  if (turned < 2 || turned % 2 != 0 || turned > shape[3])
    c.refuse(fmt::format("rotary_embedding_dim is {}, but must be even and from 2 to {}", turned, shape[3]));
  const int64_t half = turned / 2;
  const bool interleaved = c.i("interleaved", 0) != 0;
  Id cosine = table_of(c, 1, shape[0], shape[1], half), sine = table_of(c, 2, shape[0], shape[1], half);
  graph::Shape part = {shape[0], shape[1], shape[2], half};
  auto piece = [&](int64_t which) {
    return b.slice(x, {0, 0, 0, interleaved ? which : which * half}, part, {1, 1, 1, interleaved ? 2 : 1});
  };
  Id first = piece(0), second = piece(1);
  Id real = b.binary("sub", b.binary("mul", cosine, first), b.binary("mul", sine, second));
  Id other = b.binary("add", b.binary("mul", sine, first), b.binary("mul", cosine, second));
  Id out;
  if (interleaved) {
    graph::Shape single = part;
    single.push_back(1);
    out = b.add("concatenation", {b.reshape(real, single), b.reshape(other, single)}, {{"axis", 4}});
    out = b.reshape(out, {shape[0], shape[1], shape[2], turned});
  } else {
    out = b.add("concatenation", {real, other}, {{"axis", 3}});
  }
  if (turned < shape[3]) {
    Id rest = b.slice(x, {0, 0, 0, turned}, {shape[0], shape[1], shape[2], shape[3] - turned});
    out = b.add("concatenation", {out, rest}, {{"axis", 3}});
  }
  c.out(0, given.size() == 3 ? b.reshape(out, given) : b.transpose(out, {0, 2, 1, 3}));
}

constexpr Rule kRules[] = {{"RotaryEmbedding", 23, rotary_embedding}};

}  // namespace

}  // namespace rotary

std::span<const Rule> rotary_rules() { return rotary::kRules; }

}  // namespace aotc::frontends::onnx
