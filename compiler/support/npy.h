// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: the form in which users hand inputs over.
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

// Reports [npy-invalid]: not such a file, Fortran order, big endian, or a dtype we do not have.
Result<NpyArray> read_npy(const std::string& path, Diagnostics& diags);

// The bytes of a version 1.0 file.
std::string write_npy(const NpyArray& array);

}  // namespace aotc
