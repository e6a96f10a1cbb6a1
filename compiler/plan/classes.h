// SPDX-License-Identifier: Apache-2.0
// Tensors that are the same bytes, as classes with one storage: views and what they view, and values that
// are computed in the place of another.
#pragma once

#include <numeric>
#include <vector>

#include "plan/program.h"

namespace aotc::plan {

class Classes {
 public:
  explicit Classes(size_t tensors) : parent_(tensors), storage_(tensors) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  // The class of a tensor, which is one of its tensors.
  int of(int tensor) const {
    while (parent_[static_cast<size_t>(tensor)] != tensor) tensor = parent_[static_cast<size_t>(tensor)];
    return tensor;
  }
  int of(graph::TensorId id) const { return of(id.value); }

  // Where a class lies if not in the arena; kArena: an input that does.
  Storage& storage(graph::TensorId id) { return storage_[static_cast<size_t>(of(id))]; }
  Storage& storage_of_class(int root) { return storage_[static_cast<size_t>(root)]; }

  // The class of `b` joins that of `a`, and lies in `storage`.
  void join(graph::TensorId a, graph::TensorId b, const Storage& storage) {
    parent_[static_cast<size_t>(of(b))] = of(a);
    this->storage(a) = storage;
  }

 private:
  std::vector<int> parent_;
  std::vector<Storage> storage_;  // by class
};

}  // namespace aotc::plan
