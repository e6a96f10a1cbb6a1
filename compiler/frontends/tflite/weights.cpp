// SPDX-License-Identifier: Apache-2.0
// How much of a file its weights are, before one of them is looked at: a model whose tables cannot be emitted is
// refused by its sizes.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "frontends/tflite/tensors.h"
#include "graph/limits.h"

namespace aotc::frontends {

namespace {

// Bytes of a tensor's constant in the file, 0 if it has none; 8-byte numbers as the 4-byte ones that they become.
int64_t constant_size(const Source& source, int32_t index) {
  namespace schema = tflite_schema;
  if (index < 0 || static_cast<size_t>(index) >= length(source.subgraph->tensors())) return 0;
  const schema::Tensor& tensor = *source.subgraph->tensors()->Get(static_cast<uint32_t>(index));
  if (tensor.buffer() >= length(source.model->buffers())) return 0;
  const schema::Buffer* buffer = source.model->buffers()->Get(tensor.buffer());
  const auto size = buffer == nullptr ? 0 : static_cast<int64_t>(length(buffer->data()));
  const bool wide = tensor.type() == schema::TensorType_INT64 || tensor.type() == schema::TensorType_FLOAT64;
  return wide ? size / 2 : size;
}

}  // namespace

// What only constants go into is constant itself, perhaps a smaller one; so operators count that read something
// computed. Twice what is emitted leaves room for channels that a pass cuts off.
bool check_weights(const Source& source, Diagnostics& told) {
  std::set<int32_t> known, counted;
  int64_t bytes = 0;
  for (uint32_t i = 0; i < length(source.subgraph->operators()); ++i) {
    const auto& op = *source.subgraph->operators()->Get(i);
    bool folds = true;
    for (uint32_t k = 0; k < length(op.inputs()); ++k) {
      const int32_t id = op.inputs()->Get(k);
      folds = folds && (id < 0 || known.contains(id) || constant_size(source, id) > 0);
    }
    for (uint32_t k = 0; folds && k < length(op.outputs()); ++k) known.insert(op.outputs()->Get(k));
    for (uint32_t k = 0; !folds && k < length(op.inputs()); ++k)
      if (counted.insert(op.inputs()->Get(k)).second) bytes += constant_size(source, op.inputs()->Get(k));
  }
  if (bytes <= 2 * graph::kMostConstantBytes) return true;
  told.error(source.where(), "tflite-limit",
             fmt::format("the model's weights take {} bytes, but the limit is {}", bytes, graph::kMostConstantBytes))
      .help("no microcontroller holds such tables; quantise the model or make it smaller");
  return false;
}

}  // namespace aotc::frontends
