// SPDX-License-Identifier: Apache-2.0
#include "graph_movers.h"

#include <cstring>
#include <iterator>

namespace aotc::tests {

namespace {

using graph::Shape;
using graph::TensorId;
using graph::TensorType;

std::string list(const Shape& values) { return graph::attribute_text::print(values); }

TensorId ints(GraphMaker& g, Shape shape, const std::vector<int32_t>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  TensorType type = g.type(DType::kI32, std::move(shape));
  return g.made.add_constant("ints" + std::to_string(g.made.tensors.size()), type, std::move(bytes));
}

// One with the rank, if some tries find it.
TensorId any_with_rank(GraphMaker& g, size_t rank) {
  TensorId in = g.any();
  for (int tries = 0; tries < 12 && g.of(in).shape.size() != rank; ++tries) in = g.any();
  return in;
}

int64_t any_axis(GraphMaker& g, const Shape& shape) { return g.random.pick(0, static_cast<int64_t>(shape.size()) - 1); }

bool reverse(GraphMaker& g) {
  TensorId in = g.any();
  Shape axes;
  for (size_t d = 0; d < g.of(in).shape.size(); ++d)
    if (g.random.chance(50)) axes.push_back(static_cast<int64_t>(d));
  return g.add("reverse_v2", {in}, {{"axes", list(axes)}}, {g.of(in)});
}

bool tile(GraphMaker& g) {
  TensorId in = g.any();
  Shape multiples;
  for (size_t d = 0; d < g.of(in).shape.size(); ++d) multiples.push_back(g.random.pick(1, 2));
  return g.add("tile", {in}, {{"multiples", list(multiples)}}, {g.of(in)});
}

bool broadcast(GraphMaker& g) {
  TensorId in = g.any();
  Shape shape = g.of(in).shape;
  for (int64_t& d : shape)
    if (d == 1) d = g.random.pick(1, 3);
  if (g.random.chance(40)) shape.insert(shape.begin(), g.random.pick(1, 3));
  return g.add("broadcast_to", {in}, {{"shape", list(shape)}}, {g.of(in)});
}

bool mirror_pad(GraphMaker& g) {
  TensorId in = g.any();
  bool symmetric = g.random.chance(50);
  Shape before, after;
  for (int64_t d : g.of(in).shape) {
    int64_t most = std::min<int64_t>(2, d - (symmetric ? 0 : 1));
    before.push_back(g.random.pick(0, most));
    after.push_back(g.random.pick(0, most));
  }
  return g.add("mirror_pad", {in},
               {{"before", list(before)}, {"after", list(after)}, {"symmetric", symmetric ? "true" : "false"}},
               {g.of(in)});
}

// Bytes under another scale, or replaced by those of a table.
bool stored(GraphMaker& g) {
  TensorId in = g.any();
  TensorType type = g.of(in);
  if (type.dtype != DType::kI8 && type.dtype != DType::kU8) return false;
  if (g.random.chance(50)) {
    type.quantization = {{0.25f}, {3}, 0};
    return g.add("as_stored", {in}, {}, {type});
  }
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<uint8_t>(g.random.pick(0, 255)));
  TensorType of = g.type(type.dtype, {256});
  TensorId table = g.made.add_constant("bytes" + std::to_string(g.made.tensors.size()), of, std::move(bytes));
  return g.add("byte_table", {in, table}, {}, {type});
}

bool depth_and_space(GraphMaker& g) {
  TensorId in = any_with_rank(g, 4);
  bool to_space = g.random.chance(60);
  bool even = to_space && g.of(in).shape.size() == 4 && g.of(in).shape[3] % 4 == 0;
  return g.add(to_space ? "depth_to_space" : "space_to_depth", {in},
               {{"block_size", std::to_string(even ? 2 : g.random.pick(1, 3))}}, {g.of(in)});
}

bool batch_and_space(GraphMaker& g) {
  TensorId in = any_with_rank(g, g.random.chance(70) ? 4 : 3);
  const Shape& shape = g.of(in).shape;
  if (shape.size() < 3 || shape.size() > 4) return false;
  bool to_batch = g.random.chance(50);
  Shape block, before, after;
  for (size_t d = 1; d + 1 < shape.size(); ++d) {
    // To space: what divides the batches.
    int64_t most = to_batch ? 3 : block.empty() ? shape[0] : 1;
    block.push_back(g.random.pick(1, most));
    if (!to_batch && shape[0] % block.back() != 0) block.back() = most;
    before.push_back(g.random.pick(0, to_batch ? 3 : 0));
    int64_t rest = (shape[d] + before.back()) % block.back();
    after.push_back(to_batch && rest != 0 ? block.back() - rest : 0);
  }
  return g.add(to_batch ? "space_to_batch_nd" : "batch_to_space_nd", {in},
               {{"block", list(block)}, {"before", list(before)}, {"after", list(after)}}, {g.of(in)});
}

bool fill(GraphMaker& g) {
  TensorId in = g.any();
  if (g.random.chance(30)) return g.add("zeros_like", {in}, {}, {g.of(in)});
  if (!g.of(in).shape.empty()) {
    // One element of it, as a scalar.
    Shape zeros(g.of(in).shape.size(), 0), ones(g.of(in).shape.size(), 1);
    if (!g.add("slice", {in},
               {{"begin", list(zeros)}, {"strides", list(ones)}, {"counts", list(ones)}, {"shape", "[]"}}, {g.of(in)}))
      return false;
    in = g.last();
  }
  auto n = static_cast<int32_t>(g.random.pick(1, 9)), m = static_cast<int32_t>(g.random.pick(1, 4));
  return g.add("fill", {ints(g, {2}, {n, m}), in}, {}, {g.of(in)});
}

// Indices that an axis of a tensor has, as a constant or computed.
TensorId indices(GraphMaker& g, TensorId in, int64_t axis) {
  auto size = static_cast<int32_t>(g.of(in).shape[static_cast<size_t>(axis)]);
  TensorType result = g.type(DType::kI32, {});
  if (g.random.chance(50) && g.add("arg_max", {in}, {{"axis", std::to_string(axis)}}, {result})) return g.last();
  std::vector<int32_t> values;
  for (int64_t i = g.random.pick(1, 5); i > 0; --i) values.push_back(static_cast<int32_t>(g.random.pick(0, size - 1)));
  return ints(g, {static_cast<int64_t>(values.size())}, values);
}

bool gather(GraphMaker& g) {
  TensorId in = g.any();
  if (g.of(in).shape.empty()) return false;
  int64_t axis = any_axis(g, g.of(in).shape);
  return g.add("gather", {in, indices(g, in, axis)}, {{"axis", std::to_string(axis)}}, {g.of(in)});
}

bool lookup(GraphMaker& g) {
  TensorId in = g.any();
  if (g.of(in).shape.size() < 2) return false;
  return g.add("embedding_lookup", {indices(g, in, 0), in}, {}, {g.of(in)});
}

// Tuples of `each` indices into `shape`.
TensorId tuples(GraphMaker& g, const Shape& shape, int64_t count, size_t each) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < count; ++i)
    for (size_t d = 0; d < each; ++d) values.push_back(static_cast<int32_t>(g.random.pick(0, shape[d] - 1)));
  return ints(g, {count, static_cast<int64_t>(each)}, values);
}

bool gather_nd(GraphMaker& g) {
  TensorId in = g.any();
  const Shape shape = g.of(in).shape;
  if (shape.empty()) return false;
  auto each = static_cast<size_t>(g.random.pick(1, static_cast<int64_t>(shape.size())));
  return g.add("gather_nd", {in, tuples(g, shape, g.random.pick(1, 5), each)}, {}, {g.of(in)});
}

bool scatter_nd(GraphMaker& g) {
  TensorId in = g.any();
  Shape shape = g.of(in).shape;
  if (shape.empty() || g.of(in).dtype == DType::kF32) return false;  // sums would grow
  int64_t count = shape[0];
  shape[0] = g.random.pick(1, 5);
  return g.add("scatter_nd", {tuples(g, shape, count, 1), in}, {{"shape", list(shape)}}, {g.of(in)});
}

bool segments(GraphMaker& g) {
  static const char* kNames[] = {"unsorted_segment_max", "unsorted_segment_min"};  // sums would grow
  TensorId in = g.any();
  const Shape& shape = g.of(in).shape;
  if (shape.empty() || (g.of(in).dtype != DType::kF32 && g.of(in).dtype != DType::kI32)) return false;
  const int64_t count = g.random.pick(1, 5);
  std::vector<int32_t> values;
  for (int64_t i = 0; i < shape[0]; ++i) values.push_back(static_cast<int32_t>(g.random.pick(-1, count - 1)));
  TensorId numbers = ints(g, {shape[0]}, values);
  return g.add(kNames[g.random.pick(0, 1)], {in, numbers}, {{"segments", std::to_string(count)}}, {g.of(in)});
}

bool dynamic_update_slice(GraphMaker& g) {
  TensorId in = g.any();
  const TensorType whole = g.of(in);
  if (whole.shape.empty()) return false;
  TensorType part = whole, begin = g.type(DType::kI32, {static_cast<int64_t>(whole.shape.size())});
  for (int64_t& d : part.shape) d = g.random.pick(1, d);
  return g.add("dynamic_update_slice", {in, g.constant(part), g.constant(begin)}, {}, {whole});
}

bool cumsum(GraphMaker& g) {
  TensorId in = g.any();
  if (g.of(in).shape.empty() || g.of(in).dtype != DType::kF32) return false;  // sums of integers would grow
  return g.add("cumsum", {in},
               {{"axis", std::to_string(any_axis(g, g.of(in).shape))},
                {"exclusive", g.random.chance(50) ? "true" : "false"},
                {"reverse", g.random.chance(50) ? "true" : "false"}},
               {g.of(in)});
}

// Bytes have a result scale of their own.
bool normalized(GraphMaker& g) {
  TensorId in = g.any();
  TensorType out = g.type(g.of(in).dtype, {});
  bool log = g.random.chance(50), is_signed = out.dtype == DType::kI8;
  if (!out.quantization.scale.empty())
    out.quantization = {{log ? 1.0f / 16 : 1.0f / 128}, {log ? (is_signed ? 127 : 255) : (is_signed ? 0 : 128)}, 0};
  return g.add(log ? "log_softmax" : "l2_normalization", {in}, {}, {out});
}

bool diagonal(GraphMaker& g) {
  TensorId in = g.any();
  if (g.random.chance(50)) return g.add("matrix_diag", {in}, {}, {g.of(in)});
  TensorType rows = g.of(in);
  if (rows.shape.size() < 2) return false;
  int64_t n = std::min(rows.shape.back(), rows.shape[rows.shape.size() - 2]);
  rows.shape.pop_back();
  rows.shape.back() = n;
  return g.add("matrix_set_diag", {in, g.constant(rows)}, {}, {g.of(in)});
}

bool one_hot(GraphMaker& g) {
  TensorId in = g.any();
  if (g.of(in).shape.empty()) return false;
  TensorType value = g.of(in);
  value.shape = {};
  TensorId at = indices(g, in, any_axis(g, g.of(in).shape));
  auto rank = static_cast<int64_t>(g.of(at).shape.size());
  return g.add("one_hot", {at, g.constant(value), g.constant(value)},
               {{"depth", std::to_string(g.random.pick(1, 6))}, {"axis", std::to_string(g.random.pick(0, rank))}},
               {value});
}

bool topk(GraphMaker& g) {
  TensorId in = g.any();
  if (g.of(in).shape.empty()) return false;
  return g.add("topk_v2", {in}, {{"k", std::to_string(g.random.pick(1, g.of(in).shape.back()))}},
               {g.of(in), g.type(DType::kI32, {})});
}

bool reverse_sequence(GraphMaker& g) {
  TensorId in = g.any();
  const Shape shape = g.of(in).shape;
  if (shape.size() < 2) return false;
  int64_t seq = any_axis(g, shape), batch = any_axis(g, shape);
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < shape[static_cast<size_t>(batch)]; ++i)
    lengths.push_back(static_cast<int32_t>(g.random.pick(0, shape[static_cast<size_t>(seq)])));
  return g.add("reverse_sequence", {in, ints(g, {shape[static_cast<size_t>(batch)]}, lengths)},
               {{"seq_dim", std::to_string(seq)}, {"batch_dim", std::to_string(batch)}}, {g.of(in)});
}

bool local_response(GraphMaker& g) {
  return g.add("local_response_normalization", {any_with_rank(g, 4)}, {{"radius", std::to_string(g.random.pick(0, 4))}},
               {g.type(DType::kF32, {})});
}

bool layer_normalized(GraphMaker& g) {
  std::vector<TensorId> operands = {g.any(), {}, {}};
  TensorType list = g.of(operands[0]);
  if (list.shape.empty()) return false;
  list.shape = {list.shape.back()};
  for (size_t i : {1u, 2u})
    if (g.random.chance(60)) operands[i] = g.constant(list);
  return g.add("layer_normalization", operands, {{"centred", g.random.chance(50) ? "true" : "false"}},
               {g.type(DType::kF32, {})});
}

// What has as many rows as the data says, and its count.
bool counted(GraphMaker& g) {
  TensorId in = g.any();
  if (g.of(in).shape.empty()) return false;
  const TensorType count = g.type(DType::kI32, {});
  if (g.random.chance(50)) return g.add("where", {in}, {}, {g.type(DType::kI64, {}), count});
  if (g.of(in).shape.size() == 2 && g.of(in).dtype != DType::kBool && g.of(in).dtype != DType::kI4)
    return g.add("unique_rows", {in}, {{"sorted", g.random.chance(50) ? "true" : "false"}},
                 {g.of(in), count, count, count, count});
  if (g.of(in).shape.size() > 1) {
    if (!g.add("reshape", {in}, {{"shape", list({g.of(in).elements()})}}, {g.of(in)})) return false;
    in = g.known.back();
  }
  return g.add("unique", {in}, {}, {g.of(in), g.type(g.random.chance(50) ? DType::kI32 : DType::kI64, {}), count});
}

bool suppression(GraphMaker& g) {
  if (g.random.chance(30)) {
    TensorId each = any_with_rank(g, 3);
    if (g.of(each).dtype != DType::kF32 || g.of(each).shape.size() != 3) return false;
    return g.add("class_suppression",
                 {g.constant(g.type(DType::kF32, {g.of(each).shape[0], g.of(each).shape[2], 4})), each},
                 {{"most", std::to_string(g.random.pick(1, 4))},
                  {"overlap", "0.3"},
                  {"score", "-0.5"},
                  {"has_score", g.random.chance(50) ? "true" : "false"},
                  {"centre", g.random.chance(50) ? "true" : "false"}},
                 {g.type(DType::kI64, {}), g.type(DType::kI32, {})});
  }
  TensorId scores = any_with_rank(g, 1);
  if (g.of(scores).dtype != DType::kF32 || g.of(scores).shape.size() != 1) return false;
  const int64_t n = g.of(scores).shape[0];
  std::vector<TensorType> results = {g.type(DType::kI32, {}), g.type(DType::kI32, {})};
  const bool soft = g.random.chance(50);
  if (soft) results.insert(results.begin() + 1, g.type(DType::kF32, {}));
  return g.add("non_max_suppression", {g.constant(g.type(DType::kF32, {n, 4})), scores},
               {{"most", std::to_string(g.random.pick(1, 2 * n))},
                {"overlap", "0.3"},
                {"score", "-0.5"},
                {"sigma", soft ? "0.5" : "0"}},
               results);
}

}  // namespace

bool make_mover(GraphMaker& graph) {
  using Make = bool (*)(GraphMaker&);
  static constexpr Make kMakers[] = {reverse,
                                     tile,
                                     broadcast,
                                     mirror_pad,
                                     depth_and_space,
                                     batch_and_space,
                                     batch_and_space,
                                     fill,
                                     gather,
                                     lookup,
                                     gather_nd,
                                     scatter_nd,
                                     dynamic_update_slice,
                                     cumsum,
                                     normalized,
                                     diagonal,
                                     one_hot,
                                     topk,
                                     reverse_sequence,
                                     local_response,
                                     segments,
                                     counted,
                                     suppression,
                                     stored,
                                     layer_normalized};
  return kMakers[graph.random.pick(0, std::size(kMakers) - 1)](graph);
}

}  // namespace aotc::tests
