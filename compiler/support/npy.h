// SPDX-License-Identifier: Apache-2.0
// Reads and writes NumPy's .npy files, which hold the inputs and outputs of models.
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

// Returns the bytes of a .npy file of format version 1.0.
std::string write_npy(const NpyArray& array);

}  // namespace aotc
