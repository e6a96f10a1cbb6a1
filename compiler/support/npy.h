// SPDX-License-Identifier: Apache-2.0
// Reads and writes NumPy's .npy files, in which users supply inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/diagnostics.h"
#include "support/dtype.h"

namespace aotc {

struct NpyArray {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;  // row-major, little endian
};

// Reports [npy-invalid] for another format, Fortran order, big endian, or an unsupported dtype.
Result<NpyArray> read_npy(const std::string& path, Diagnostics& diags);

// The bytes of a version 1.0 file.
std::string write_npy(const NpyArray& array);

}  // namespace aotc
