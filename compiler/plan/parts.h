// SPDX-License-Identifier: Apache-2.0
// Calls in parts, run on the host: what the functions of plan/bands.h are given for each part, as NAME_step gives it
// to them. The one thing to know: all parts of a call, one behind the other, leave the bytes that the call leaves.
#pragma once

#include <optional>
#include <vector>

#include "plan/bands.h"

namespace aotc::plan {

// How many numbers a function with so many divided loops takes.
size_t scalars_of(size_t levels);

// The numbers that it takes for a part, or, without one, for the whole call at once.
std::vector<int64_t> scalars_of_part(const CallBands& bands, std::optional<int64_t> part);

// The function with numbers in the place of its scalars, one for each.
tir::FunctionPtr with_scalars(const tir::Function& function, const std::vector<int64_t>& values);

// As run_program, with calls in parts where `bands` has them.
Result<std::vector<std::vector<uint8_t>>> run_in_parts(
    const Program& program, const Bands& bands, const std::vector<std::vector<uint8_t>>& inputs, Diagnostics& diags,
    const std::function<void(int call, int result, std::span<const uint8_t>)>& on_result = nullptr,
    std::vector<uint8_t>* state = nullptr);

}  // namespace aotc::plan
