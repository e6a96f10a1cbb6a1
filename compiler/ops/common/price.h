// SPDX-License-Identifier: Apache-2.0
// What flash is worth where a faster way takes more of it.
#pragma once

namespace aotc::ops {

// So many instructions of a run must be saved for each byte, but at Level::kSpeed, where any are worth it.
constexpr double kInstructionsPerByte = 50;

}  // namespace aotc::ops
