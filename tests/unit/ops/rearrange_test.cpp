// SPDX-License-Identifier: Apache-2.0
// Operators that move elements where the cases from LiteRT do not reach: maps with many pieces, indices
// that are out of range when they are used, attributes that cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "ops/common/affine_map.h"
#include "ops/operator.h"

namespace aotc::ops {
namespace rearrange_test {
namespace {

using graph::Shape;
using ::testing::HasSubstr;

using Rng = std::mt19937;

int64_t pick(Rng& rng, int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(rng); }

// A dimension of the result cut into pieces, each of which reads the operand somewhere else.
std::vector<Movement> random_pieces(Rng& rng, int64_t to_stride, int64_t from_stride, int64_t from_extent,
                                    int64_t pieces, int64_t& extent, bool gaps) {
  std::vector<Movement> out;
  extent = 0;
  for (int64_t p = 0; p < pieces; ++p) {
    int64_t count = pick(rng, 1, from_extent), step = pick(rng, -1, 1);
    int64_t begin = step == 0  ? pick(rng, 0, from_extent - 1)
                    : step > 0 ? pick(rng, 0, from_extent - count)
                               : pick(rng, count - 1, from_extent - 1);
    out.push_back({{count}, {to_stride}, {step * from_stride}, extent * to_stride, begin * from_stride});
    extent += count + (gaps ? pick(rng, 0, 1) : 0);
  }
  return out;
}

// Straight from the definition, one combination of pieces after the other.
void moved(const AffineMap& map, size_t axis, int64_t to, int64_t from, const std::vector<int16_t>& in,
           std::vector<int16_t>& out) {
  if (axis == map.axes.size()) {
    out[static_cast<size_t>(to)] = in[static_cast<size_t>(from)];
    return;
  }
  for (const Movement& m : map.axes[axis])
    for (int64_t i = 0; i < m.extents[0]; ++i)
      moved(map, axis + 1, to + m.to_offset + i * m.to_strides[0], from + m.from_offset + i * m.from_strides[0], in,
            out);
}

graph::TensorType typed(DType type, Shape shape) { return {type, std::move(shape), {}}; }

// A graph of one operator.
struct OneOp {
  graph::Graph graph;

  OneOp(std::string_view name, const std::vector<graph::TensorType>& operands, const graph::TensorType& result,
        const std::vector<std::pair<std::string, std::string>>& attributes = {}) {
    graph::Op op;
    op.definition = operators().find(name);
    auto attrs = op.definition->default_attributes();
    for (const auto& [key, value] : attributes) EXPECT_TRUE(attrs->parse(key, value)) << key;
    op.attributes = attrs;
    for (const graph::TensorType& type : operands) op.operands.push_back(graph.add_tensor({"t", type, {}, 0}));
    op.results.push_back(graph.add_tensor({"r", result, {}, 0}));
    graph.ops.push_back(op);
  }
  OpView view() const { return {graph, graph.ops[0]}; }
  const Operator& definition() const { return definition_of(graph.ops[0]); }
  std::string refusal() const {
    Diagnostics diags;
    (void)verify_op(view(), diags);
    return diags.str();
  }
  // By the interpreter; false if the function fails.
  bool runs(std::vector<std::vector<uint8_t>> operands, std::vector<uint8_t>* result = nullptr) const {
    EXPECT_EQ(refusal(), "");
    Lowered lowered = definition().lower(view(), {});
    std::vector<uint8_t> out(static_cast<size_t>(view().result().bytes()), 0x5A);
    std::vector<tir::Memory> memory;
    auto add = [&](std::vector<uint8_t>& b) { memory.push_back({b.data(), static_cast<int64_t>(b.size())}); };
    for (const Arg& arg : lowered.args) {
      auto index = static_cast<size_t>(arg.index);
      if (arg.kind == ArgKind::kOperand) add(operands[index]);
      if (arg.kind == ArgKind::kResult) add(out);
      if (arg.kind == ArgKind::kConstant) add(lowered.constants[index].bytes);
    }
    Diagnostics diags;
    bool good = tir::interpret(*lowered.function, memory, diags).ok();
    // It fails by itself, not by leaving a buffer.
    if (!good) {
      EXPECT_THAT(diags.str(), HasSubstr("not defined for this data"));
    }
    if (result != nullptr) *result = out;
    return good;
  }
};

template <typename T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

TEST(AffineMap, MovesAsItsDefinitionSays) {
  Rng rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    auto rank = static_cast<size_t>(pick(rng, 1, 3));
    bool gaps = pick(rng, 0, 2) == 0;
    Shape from, pieces;
    for (size_t d = 0; d < rank; ++d) {
      from.push_back(pick(rng, 1, 4));
      pieces.push_back(pick(rng, 0, 1) == 0 ? 1 : pick(rng, 1, 4));
    }
    std::vector<int64_t> strides = strides_of(from);
    AffineMap map;
    map.axes.resize(rank);
    int64_t elements = 1;
    for (size_t d = rank; d-- > 0;) {
      int64_t extent = 0;
      map.axes[d] = random_pieces(rng, elements, strides[d], from[d], pieces[d], extent, gaps);
      elements *= extent;
    }
    if (gaps) map.fill = {0x34, 0x12};
    std::vector<int16_t> in(static_cast<size_t>(graph::element_count(from)));
    for (int16_t& v : in) v = static_cast<int16_t>(pick(rng, -999, 999));
    std::vector<int16_t> want(static_cast<size_t>(elements), 0x1234);
    moved(map, 0, 0, 0, in, want);

    std::vector<uint8_t> bytes(want.size() * 2, 0x5A);
    run_map(map, bytes_of(in), bytes, 2);
    ASSERT_EQ(bytes, bytes_of(want)) << trial;

    OneOp op("reverse_v2", {typed(DType::kI16, from)}, typed(DType::kI16, {elements}));
    LoweringBuilder f(op.view(), "map");
    tir::BufferPtr source = f.operand(0), to = f.result();
    emit_map(f, to, source, map);
    Lowered lowered = f.finish();
    std::vector<uint8_t> data = bytes_of(in), out(want.size() * 2, 0x5A);
    std::vector<tir::Memory> memory;
    for (const Arg& arg : lowered.args) {
      std::vector<uint8_t>& b = arg.kind == ArgKind::kOperand ? data
                                : arg.kind == ArgKind::kResult
                                    ? out
                                    : lowered.constants[static_cast<size_t>(arg.index)].bytes;
      memory.push_back({b.data(), static_cast<int64_t>(b.size())});
    }
    Diagnostics diags;
    ASSERT_TRUE(tir::verify(*lowered.function, diags)) << diags.str();
    ASSERT_TRUE(tir::interpret(*lowered.function, memory, diags)) << diags.str();
    ASSERT_EQ(out, bytes_of(want)) << trial;
  }
}

constexpr const char* kIndexed[] = {"gather", "gather_nd", "embedding_lookup", "scatter_nd"};

// Of 4 rows of 3, by two indices.
template <typename T>
bool finds(const std::string& name, DType type, std::vector<T> indices) {
  graph::TensorType rows = typed(DType::kI32, {4, 3}), found = typed(DType::kI32, {2, 3});
  graph::TensorType list = typed(type, {2}), tuples = typed(type, {2, 1});
  std::vector<uint8_t> of_rows(48, 1), of_found(24, 1), of_indices = bytes_of(indices);
  if (name == "gather") return OneOp(name, {rows, list}, found).runs({of_rows, of_indices});
  if (name == "gather_nd") return OneOp(name, {rows, tuples}, found).runs({of_rows, of_indices});
  if (name == "embedding_lookup") return OneOp(name, {list, rows}, found).runs({of_indices, of_rows});
  return OneOp(name, {tuples, found}, rows, {{"shape", "[4, 3]"}}).runs({of_indices, of_found});
}

TEST(Indices, OutOfRangeEndTheRun) {
  for (std::string name : kIndexed) {
    EXPECT_TRUE(finds<int32_t>(name, DType::kI32, {0, 3})) << name;
    EXPECT_TRUE(finds<int32_t>(name, DType::kI32, {2, 2})) << name;
    for (int32_t bad : {-1, 4, 5, INT32_MIN, INT32_MAX, -4, 1 << 30}) {
      EXPECT_FALSE(finds<int32_t>(name, DType::kI32, {0, bad})) << name << " " << bad;
      EXPECT_FALSE(finds<int32_t>(name, DType::kI32, {bad, 3})) << name << " " << bad;
    }
    if (name == "scatter_nd" || name == "embedding_lookup") continue;
    EXPECT_TRUE(finds<int64_t>(name, DType::kI64, {1, 3})) << name;
    EXPECT_TRUE(finds<int16_t>(name, DType::kI16, {1, 3})) << name;
    // Beyond 32 bits, where the low ones would do.
    for (int64_t bad : {int64_t{-1}, int64_t{4}, int64_t{1} << 32, INT64_MIN, INT64_MAX, (int64_t{1} << 40) + 1})
      EXPECT_FALSE(finds<int64_t>(name, DType::kI64, {0, bad})) << name << " " << bad;
    for (int16_t bad : {int16_t{-1}, int16_t{4}, int16_t{INT16_MIN}, int16_t{INT16_MAX}})
      EXPECT_FALSE(finds<int16_t>(name, DType::kI16, {0, bad})) << name << " " << bad;
  }
}

TEST(Indices, EveryOneOfATupleIsLookedAt) {
  // 2, 0 would be inside of the whole as well, but not of its dimension.
  OneOp op("gather_nd", {typed(DType::kI32, {2, 3}), typed(DType::kI32, {1, 2})}, typed(DType::kI32, {1}));
  std::vector<uint8_t> data(24, 1);
  EXPECT_TRUE(op.runs({data, bytes_of<int32_t>({1, 2})}));
  EXPECT_FALSE(op.runs({data, bytes_of<int32_t>({0, 4})}));
  EXPECT_FALSE(op.runs({data, bytes_of<int32_t>({1, -1})}));
}

TEST(Indices, ConstantOnesAreRefused) {
  for (int32_t bad : {-1, 4, INT32_MIN, INT32_MAX}) {
    OneOp op("gather", {typed(DType::kI32, {4, 3}), typed(DType::kI32, {2})}, typed(DType::kI32, {2, 3}));
    op.graph[op.graph.ops[0].operands[1]].constant = graph::own_bytes(bytes_of<int32_t>({0, bad}));
    EXPECT_THAT(op.refusal(), HasSubstr("of a dimension of 4")) << bad;
  }
}

TEST(Indices, LengthsBeyondTheAxisEndTheRun) {
  auto reversed = [](DType type, std::vector<uint8_t> lengths) {
    OneOp op("reverse_sequence", {typed(DType::kU8, {3, 2}), typed(type, {2})}, typed(DType::kU8, {3, 2}),
             {{"seq_dim", "0"}, {"batch_dim", "1"}});
    std::vector<uint8_t> out;
    return op.runs({{1, 2, 3, 4, 5, 6}, lengths}, &out) ? out : std::vector<uint8_t>();
  };
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(reversed(DType::kI32, bytes_of<int32_t>({3, 2})), (Bytes{5, 4, 3, 2, 1, 6}));
  EXPECT_EQ(reversed(DType::kI32, bytes_of<int32_t>({0, 1})), (Bytes{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(reversed(DType::kI32, bytes_of<int32_t>({-1, INT32_MIN})), (Bytes{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(reversed(DType::kI64, bytes_of<int64_t>({INT64_MIN, -(int64_t{1} << 32) + 3})), (Bytes{1, 2, 3, 4, 5, 6}));
  for (int32_t bad : {4, INT32_MAX}) EXPECT_EQ(reversed(DType::kI32, bytes_of<int32_t>({1, bad})), Bytes()) << bad;
  for (int64_t bad : {int64_t{4}, int64_t{1} << 32, INT64_MAX})
    EXPECT_EQ(reversed(DType::kI64, bytes_of<int64_t>({bad, 1})), Bytes()) << bad;
}

TEST(Indices, OneHotLeavesOutWhatHasNoPlace) {
  OneOp op("one_hot", {typed(DType::kI32, {5}), typed(DType::kU8, {}), typed(DType::kU8, {})},
           typed(DType::kU8, {5, 2}), {{"depth", "2"}, {"axis", "1"}});
  std::vector<uint8_t> out;
  ASSERT_TRUE(op.runs({bytes_of<int32_t>({1, -1, 2, INT32_MIN, INT32_MAX}), {7}, {3}}, &out));
  EXPECT_EQ(out, (std::vector<uint8_t>{3, 7, 3, 3, 3, 3, 3, 3, 3, 3}));
}

TEST(DynamicUpdateSlice, MovesTheBoxInside) {
  OneOp op("dynamic_update_slice", {typed(DType::kI8, {5}), typed(DType::kI8, {2}), typed(DType::kI64, {1})},
           typed(DType::kI8, {5}));
  auto at = [&](int64_t begin) {
    std::vector<uint8_t> out;
    EXPECT_TRUE(op.runs({{0, 0, 0, 0, 0}, {1, 2}, bytes_of<int64_t>({begin})}, &out));
    return out;
  };
  EXPECT_EQ(at(1), (std::vector<uint8_t>{0, 1, 2, 0, 0}));
  for (int64_t begin : {int64_t{3}, int64_t{4}, int64_t{1} << 32, INT64_MAX})
    EXPECT_EQ(at(begin), (std::vector<uint8_t>{0, 0, 0, 1, 2})) << begin;
  for (int64_t begin : {int64_t{0}, int64_t{-1}, -(int64_t{1} << 32), INT64_MIN})
    EXPECT_EQ(at(begin), (std::vector<uint8_t>{1, 2, 0, 0, 0})) << begin;
}

TEST(Rearrange, RefusesWhatCannotBe) {
  graph::TensorType image = typed(DType::kF32, {1, 4, 6, 2});
  auto refused = [&](const char* name, const std::vector<std::pair<std::string, std::string>>& attributes) {
    return OneOp(name, {image}, image, attributes).refusal();
  };
  EXPECT_EQ(refused("reverse_v2", {{"axes", "[0, 3]"}}), "");
  for (const char* axes : {"[4]", "[-1]", "[1, 1]", "[9223372036854775807]"})
    EXPECT_THAT(refused("reverse_v2", {{"axes", axes}}), HasSubstr("[op-attribute]")) << axes;
  for (const char* multiples : {"[1, 1, 1]", "[1, 1, 0, 1]", "[1, -1, 1, 1]", "[1, 1, 9223372036854775807, 1]"})
    EXPECT_THAT(refused("tile", {{"multiples", multiples}}), HasSubstr("[op-attribute]")) << multiples;
  for (const char* amounts : {"[1, 0, 0, 0]", "[0, 4, 0, 0]", "[0, -1, 0, 0]", "[0, 0, 9223372036854775807, 0]", "[0]"})
    EXPECT_THAT(refused("mirror_pad", {{"before", amounts}, {"after", "[0, 0, 0, 0]"}}), HasSubstr("[op-attribute]"))
        << amounts;
  for (const char* block : {"0", "-1", "3", "2147483647"}) {
    EXPECT_THAT(refused("depth_to_space", {{"block_size", block}}), HasSubstr("[op-attribute]")) << block;
    EXPECT_THAT(refused("space_to_depth", {{"block_size", block}}), HasSubstr("[op-attribute]")) << block;
  }
  for (const char* name : {"space_to_batch_nd", "batch_to_space_nd"})
    for (const char* block : {"[2]", "[0, 2]", "[-2, 2]", "[5, 1]", "[9223372036854775807, 1]"})
      EXPECT_THAT(refused(name, {{"block", block}, {"before", "[0, 0]"}, {"after", "[0, 0]"}}),
                  HasSubstr("[op-attribute]"))
          << name << block;
  EXPECT_THAT(refused("broadcast_to", {{"shape", "[1, 4, 6, 3]"}}), HasSubstr("[op-shape]"));
  EXPECT_THAT(refused("resize_bilinear", {{"height", "0"}, {"width", "3"}}), HasSubstr("[op-attribute]"));
}

TEST(ResizeBilinear, RefusesWhereRoundingLeavesTheImage) {
  graph::TensorType row{DType::kI8, {1, 1, 3, 1}, {{0.1f}, {0}, 0}}, wide = row;
  wide.shape[2] = 5000;
  OneOp op("resize_bilinear", {row}, wide, {{"height", "1"}, {"width", "5000"}});
  EXPECT_THAT(op.refusal(), HasSubstr("leaves the image"));
}

TEST(TransposeConv, RefusesWhatCannotBe) {
  graph::TensorType image = typed(DType::kF32, {1, 4, 6, 2}), out = typed(DType::kF32, {1, 8, 12, 3});
  auto refused = [&](Shape weights, std::vector<std::pair<std::string, std::string>> attributes) {
    OneOp op("transpose_conv", {image, typed(DType::kF32, weights)}, out, attributes);
    auto elements = static_cast<size_t>(std::max<int64_t>(0, graph::element_count(weights)));
    op.graph[op.graph.ops[0].operands[1]].constant = graph::own_bytes(std::vector<uint8_t>(elements * 4));
    return op.refusal();
  };
  std::vector<std::pair<std::string, std::string>> good = {
      {"height", "8"}, {"width", "12"}, {"stride_h", "2"}, {"stride_w", "2"}};
  EXPECT_EQ(refused({3, 2, 2, 2}, good), "");
  EXPECT_THAT(refused({3, 2, 2, 3}, good), HasSubstr("[op-shape]"));
  OneOp hybrid("transpose_conv", {image, {DType::kI8, {3, 2, 2, 2}, {{0.1f}, {0}, 0}}}, out, good);
  hybrid.graph[hybrid.graph.ops[0].operands[1]].constant = graph::own_bytes(std::vector<uint8_t>(24));
  EXPECT_THAT(hybrid.refusal(), HasSubstr("need a scale for each channel"));
  for (const char* key : {"height", "width", "stride_h", "stride_w"})
    for (const char* value : {"0", "-1", "2147483647"}) {
      auto bad = good;
      bad.emplace_back(key, value);
      EXPECT_NE(refused({3, 2, 2, 2}, bad), "") << key << value;
    }
  for (const char* value : {"-1", "2", "2147483647"}) {
    auto bad = good;
    bad.emplace_back("pad_top", value);
    EXPECT_THAT(refused({3, 2, 2, 2}, bad), HasSubstr("[op-attribute]")) << value;
  }
}

}  // namespace
}  // namespace rearrange_test
}  // namespace aotc::ops
