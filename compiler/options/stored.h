// SPDX-License-Identifier: Apache-2.0
// Stores the values of options as JSON and restores them: one member for each option that has a key. A number is stored
// as a number, a text as a string, and a list of texts as an array. A flag, or a choice of on and off, is stored as a
// boolean. Any other choice is stored as its word.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "options/options.h"

namespace aotc::options {

// The present values, in the order of the declarations.
nlohmann::ordered_json stored_values(const std::vector<Group>& groups);
// Sets each option that `values` has, in the order of the declarations; members without an option are ignored. False if
// an option does not accept the type, word or number of its value; then later options are not set.
bool restore_values(const std::vector<Group>& groups, const nlohmann::json& values);
// The options of `to` that have another value than the option of `from` at the same index, as on a command line:
// "--stream max". Both groups must have the same declarations. A flag can differ only by being set in `to`.
std::vector<std::string> differences(const Group& from, const Group& to);

}  // namespace aotc::options
