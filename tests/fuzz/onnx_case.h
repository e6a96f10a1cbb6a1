// SPDX-License-Identifier: Apache-2.0
// One case of fuzzing the ONNX reader: any bytes give a graph that verifies, or located errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aotc::fuzz {

// Which promise was broken, or "".
std::string check_onnx_case(const std::vector<uint8_t>& bytes, bool* accepted = nullptr);

}  // namespace aotc::fuzz
