// SPDX-License-Identifier: Apache-2.0
// Reads the values of tensors of an ONNX file: raw, in typed fields, or in a file beside the model. Raw data is a view,
// not a copy. A file beside the model is read only if its path stays in the model's directory after symbolic links are
// resolved.
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
inline constexpr int64_t kMaxActivationBytes = int64_t{1} << 28;  // sum over computed tensors
}  // namespace limits

// The type if aotc has it itself; nullopt for types that need a carrier.
std::optional<DType> dtype_of(int32_t element_type);

// Bytes of a tensor; -1 if it exceeds the limits of aotc.
int64_t bounded_bytes(const graph::Shape& shape, DType dtype);

class TensorReader {
 public:
  // `file`: the name of the model that the user typed.
  TensorReader(FileBytes bytes, std::string file) : bytes_(std::move(bytes)), file_(std::move(file)) {}

  // The type and the bytes are those inside the graph (element_types.h). Reports [onnx-invalid],
  // [onnx-type], [onnx-limit], [onnx-external].
  bool read(const Tensor& from, const Location& at, graph::TensorType& type, graph::ConstantView& value,
            Diagnostics& told);

  // The files beside the model that were read, by their path in the model.
  std::map<std::string, FileBytes> files() const;

 private:
  bool external(const Tensor& from, const Location& at, graph::ConstantView& data, Diagnostics& told);
  bool typed(const Tensor& from, DType stored, size_t bytes, std::vector<uint8_t>& out) const;

  FileBytes bytes_;
  std::string file_;
  std::map<std::string, std::optional<FileBytes>> files_;  // nullopt: it cannot be read
};

}  // namespace aotc::frontends::onnx
