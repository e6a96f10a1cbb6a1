// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/tflite_op.h"

namespace aotc::frontends {

std::optional<std::pair<float, int64_t>> TfliteOp::intermediate_quantization(uint32_t i) const {
  const auto* list = raw_.intermediates();
  const auto* tensors = subgraph_ == nullptr ? nullptr : subgraph_->tensors();
  if (list == nullptr || tensors == nullptr || i >= list->size()) return std::nullopt;
  const int32_t index = list->Get(i);
  if (index < 0 || static_cast<uint32_t>(index) >= tensors->size()) return std::nullopt;
  const auto* q = tensors->Get(static_cast<uint32_t>(index))->quantization();
  if (q == nullptr || q->scale() == nullptr || q->zero_point() == nullptr || q->scale()->size() != 1 ||
      q->zero_point()->size() != 1)
    return std::nullopt;
  int64_t zero_point = 0;  // the verifier does not check how it is aligned
  std::memcpy(&zero_point, q->zero_point()->Data(), sizeof zero_point);
  return std::pair(q->scale()->Get(0), zero_point);
}

}  // namespace aotc::frontends
