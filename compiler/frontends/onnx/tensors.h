// SPDX-License-Identifier: Apache-2.0
// Reads the values of tensors of an ONNX file. The values are raw bytes, repeated fields of numbers, or in an external
// file. Raw bytes are not copied. An external file must be in the model's directory after symbolic links are resolved;
// any other file is refused.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/element_types.h"
#include "frontends/onnx/messages.h"
#include "graph/graph.h"
#include "support/file_bytes.h"

namespace aotc::frontends::onnx {

namespace limits {
inline constexpr size_t kMaxRank = 8;
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 28;
inline constexpr int64_t kMaxActivationBytes = int64_t{1} << 28;  // sum over all tensors that operators compute
}  // namespace limits

// aotc's own type for an ONNX element type; nullopt for types that need a carrier (element_types.h).
std::optional<DType> dtype_of(int32_t element_type);

// Bytes of a tensor; -1 if the tensor exceeds aotc's limits.
int64_t bounded_bytes(const graph::Shape& shape, DType dtype);

class TensorReader {
 public:
  // `file`: the name of the model that the user typed.
  TensorReader(FileBytes bytes, std::string file) : bytes_(std::move(bytes)), file_(std::move(file)) {}

  // Sets `type` and `value` to the tensor's carrier type and its bytes (element_types.h). Reports [onnx-invalid],
  // [onnx-type], [onnx-limit], [onnx-external].
  bool read(const Tensor& from, const Location& at, graph::TensorType& type, graph::ConstantView& value,
            Diagnostics& told);

  // The external files that were read, by their path as the model states it.
  std::map<std::string, FileBytes> files() const;

 private:
  bool external(const Tensor& from, const Location& at, graph::ConstantView& data, Diagnostics& told);
  bool typed(const Tensor& from, DType stored, size_t bytes, std::vector<uint8_t>& out) const;

  FileBytes bytes_;
  std::string file_;
  std::map<std::string, std::optional<FileBytes>> files_;  // nullopt: the file cannot be read
};

}  // namespace aotc::frontends::onnx
