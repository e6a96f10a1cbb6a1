// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/sparse.h"

#include <algorithm>

#include "frontends/tflite/source.h"

namespace aotc::frontends {

namespace {

namespace schema = tflite_schema;

struct Level {
  size_t dimension = 0;  // of the tensor
  bool block = false;    // its index is one within a block
  bool sparse = false;
  int64_t size = 0;  // of a dense level, and of a block
  std::vector<int64_t> segments,
      indices;  // of a sparse level: where the children of each node begin, and what they are
};

template <typename Vector>
std::vector<int64_t> numbers(const Vector* from) {
  std::vector<int64_t> out;
  for (uint32_t i = 0; from != nullptr && i < length(from->values()); ++i)
    out.push_back(static_cast<int64_t>(from->values()->Get(i)));
  return out;
}

std::vector<int64_t> list_of(schema::SparseIndexVector type, const void* from) {
  switch (type) {
    case schema::SparseIndexVector_Int32Vector: return numbers(static_cast<const schema::Int32Vector*>(from));
    case schema::SparseIndexVector_Uint16Vector: return numbers(static_cast<const schema::Uint16Vector*>(from));
    case schema::SparseIndexVector_Uint8Vector: return numbers(static_cast<const schema::Uint8Vector*>(from));
    default: return {};
  }
}

// Levels in the order of storage; nothing if they are not those of a tensor of this shape. Lengths are at most those of
// the dimensions, so that numbers of nodes do not overflow.
std::optional<std::vector<Level>> levels_of(const schema::SparsityParameters& from, const graph::Shape& shape) {
  const size_t rank = shape.size();
  const size_t blocks = length(from.block_map()), count = length(from.traversal_order());
  if (count != rank + blocks || blocks > rank || length(from.dim_metadata()) != count) return std::nullopt;
  std::vector<Level> out(count);
  std::vector<bool> seen(count, false);
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t place = from.traversal_order()->Get(i);
    const bool block = i >= rank;
    if (place < 0 || place >= static_cast<int64_t>(count) || seen[static_cast<size_t>(place)]) return std::nullopt;
    seen[static_cast<size_t>(place)] = true;
    if ((place >= static_cast<int64_t>(rank)) != block) return std::nullopt;
    const int64_t mapped =
        block ? from.block_map()->Get(static_cast<uint32_t>(place - static_cast<int64_t>(rank))) : place;
    if (mapped < 0 || mapped >= static_cast<int64_t>(rank)) return std::nullopt;
    const schema::DimensionMetadata& metadata = *from.dim_metadata()->Get(i);
    Level& level = out[i];
    level.dimension = static_cast<size_t>(mapped);
    level.block = block;
    level.sparse = metadata.format() == schema::DimensionType_SPARSE_CSR;
    level.size = metadata.dense_size();
    if (!level.sparse && (level.size < 1 || level.size > shape[level.dimension])) return std::nullopt;
    if (block && level.sparse) return std::nullopt;
    if (!level.sparse) continue;
    level.segments = list_of(metadata.array_segments_type(), metadata.array_segments());
    level.indices = list_of(metadata.array_indices_type(), metadata.array_indices());
  }
  return out;
}

class Tree {
 public:
  Tree(std::vector<Level> levels, const graph::Shape& shape, size_t element, std::span<const uint8_t> data)
      : levels_(std::move(levels)),
        shape_(shape),
        element_(element),
        data_(data),
        place_(shape.size(), 0),
        out_(static_cast<size_t>(graph::element_count(shape)) * element),
        left_((levels_.size() + 1) * (static_cast<size_t>(graph::element_count(shape)) + 1)) {}

  std::optional<std::vector<uint8_t>> dense() {
    if (!visit(0, 0) || taken_ != data_.size()) return std::nullopt;
    return std::move(out_);
  }

 private:
  // Node `node` of a level: its children, depth first. False if one lies outside of the tensor or of the data.
  bool visit(size_t at, int64_t node) {
    if (left_-- == 0) return false;
    if (at == levels_.size()) return take();
    const Level& level = levels_[at];
    if (!level.sparse) {
      for (int64_t i = 0; i < level.size; ++i)
        if (!enter(at, i, node * level.size + i)) return false;
      return true;
    }
    if (node + 1 >= static_cast<int64_t>(level.segments.size())) return false;
    const int64_t begin = level.segments[static_cast<size_t>(node)],
                  end = level.segments[static_cast<size_t>(node) + 1];
    if (begin < 0 || end < begin || end > static_cast<int64_t>(level.indices.size())) return false;
    for (int64_t i = begin; i < end; ++i)
      if (!enter(at, level.indices[static_cast<size_t>(i)], i)) return false;
    return true;
  }

  bool enter(size_t at, int64_t index, int64_t node) {
    const Level& level = levels_[at];
    int64_t& place = place_[level.dimension];
    const int64_t before = place;
    if (index < 0) return false;
    place = level.block ? before * level.size + index : index;
    const bool good = place < shape_[level.dimension] && visit(at + 1, node);
    place = before;
    return good;
  }

  bool take() {
    if (data_.size() - taken_ < element_) return false;
    size_t to = 0;
    for (size_t d = 0; d < shape_.size(); ++d)
      to = to * static_cast<size_t>(shape_[d]) + static_cast<size_t>(place_[d]);
    std::copy_n(data_.begin() + static_cast<std::ptrdiff_t>(taken_), element_,
                out_.begin() + static_cast<std::ptrdiff_t>(to * element_));
    taken_ += element_;
    return true;
  }

  std::vector<Level> levels_;
  const graph::Shape& shape_;
  size_t element_;
  std::span<const uint8_t> data_;
  graph::Shape place_;
  std::vector<uint8_t> out_;
  size_t left_;  // nodes: a tree of the tensor has no more
  size_t taken_ = 0;
};

}  // namespace

std::optional<std::vector<uint8_t>> densified(const schema::SparsityParameters& sparsity, const graph::Shape& shape,
                                              int64_t element, std::span<const uint8_t> data) {
  auto levels = levels_of(sparsity, shape);
  if (!levels || shape.empty()) return std::nullopt;
  return Tree(std::move(*levels), shape, static_cast<size_t>(element), data).dense();
}

}  // namespace aotc::frontends
