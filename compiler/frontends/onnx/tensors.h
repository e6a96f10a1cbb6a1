// SPDX-License-Identifier: Apache-2.0
// The values of tensors of an ONNX file: raw, in typed fields, or in a file beside the model. The
// one thing to know: raw data stays where it is, as a view; a file beside the model is read only if
// its path stays in the model's directory, symbolic links included.
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

// Of types that aotc has itself.
std::optional<DType> dtype_of(int32_t element_type);

// Bytes of a tensor; -1 if it is larger than any that aotc takes.
int64_t bounded_bytes(const graph::Shape& shape, DType dtype);

class TensorReader {
 public:
  // `file` as the user named the model.
  TensorReader(FileBytes bytes, std::string file)
      : bytes_(std::move(bytes)), file_(std::move(file)) {}

  // The type and the bytes are those inside the graph (element_types.h). Reports [onnx-invalid],
  // [onnx-type], [onnx-limit], [onnx-external].
  bool read(const Tensor& from, const Location& at, graph::TensorType& type,
            graph::ConstantView& value, Diagnostics& told);

  // Those beside the model that were read, by the path in the model.
  std::map<std::string, FileBytes> files() const;

 private:
  bool external(const Tensor& from, const Location& at, graph::ConstantView& data,
                Diagnostics& told);
  bool typed(const Tensor& from, DType stored, size_t bytes, std::vector<uint8_t>& out) const;

  FileBytes bytes_;
  std::string file_;
  std::map<std::string, std::optional<FileBytes>> files_;  // nothing: it cannot be read
};

}  // namespace aotc::frontends::onnx
