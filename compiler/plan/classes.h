// SPDX-License-Identifier: Apache-2.0
// Tensors that are the same bytes, as classes with one storage: views and what they view, and values that
// are computed in the place of another. A piece of a tensor is in its class, some bytes behind the first.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "plan/program.h"

namespace aotc::plan {

// Word alignment lets kernels load words; small tensors need no more than their element.
constexpr int64_t alignment_of(DType dtype, int64_t bytes) {
  return std::max<int64_t>(size_of(dtype), bytes >= 4 ? 4 : 1);
}

class Classes {
 public:
  explicit Classes(size_t tensors) : parent_(tensors), offset_(tensors), has_pieces_(tensors), storage_(tensors) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  // The class of a tensor, which is one of its tensors.
  int of(int tensor) const {
    while (parent_[static_cast<size_t>(tensor)] != tensor) tensor = parent_[static_cast<size_t>(tensor)];
    return tensor;
  }
  int of(graph::TensorId id) const { return of(id.value); }

  // Bytes from where its class begins.
  int64_t offset(int tensor) const {
    int64_t bytes = 0;
    for (; parent_[static_cast<size_t>(tensor)] != tensor; tensor = parent_[static_cast<size_t>(tensor)])
      bytes += offset_[static_cast<size_t>(tensor)];
    return bytes;
  }
  bool has_pieces(graph::TensorId id) const { return has_pieces_[static_cast<size_t>(of(id))]; }

  // Where a class lies if not in the arena; kArena: an input that does.
  Storage& storage(graph::TensorId id) { return storage_[static_cast<size_t>(of(id))]; }
  Storage& storage_of_class(int root) { return storage_[static_cast<size_t>(root)]; }

  // The class of `b` joins that of `a`, and lies in `storage`.
  void join(graph::TensorId a, graph::TensorId b, const Storage& storage) {
    const auto joined = static_cast<size_t>(of(b));
    offset_[joined] = offset(a.value) - offset(b.value);
    if (has_pieces_[joined]) has_pieces_[static_cast<size_t>(of(a))] = true;
    parent_[joined] = of(a);
    this->storage(a) = storage;
  }
  // `piece`, which is a class of its own, is what begins `bytes` behind the first byte of `whole`.
  void take_piece(graph::TensorId whole, graph::TensorId piece, int64_t bytes) {
    join(whole, piece, storage(whole));
    offset_[static_cast<size_t>(piece.value)] += bytes;
    has_pieces_[static_cast<size_t>(of(whole))] = true;
  }

 private:
  std::vector<int> parent_;
  std::vector<int64_t> offset_;   // of a tensor from its parent
  std::vector<bool> has_pieces_;  // by class
  std::vector<Storage> storage_;  // by class
};

}  // namespace aotc::plan
