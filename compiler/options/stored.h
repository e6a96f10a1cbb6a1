// SPDX-License-Identifier: Apache-2.0
// Stores the values of options as JSON and restores them: one member for each option that has a key. Numbers, strings
// and lists of strings are stored as such; flags and choices between on and off as booleans; other choices as their
// word.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "options/options.h"

namespace aotc::options {

// The present values, in the order of the declarations.
nlohmann::ordered_json stored_values(const std::vector<Group>& groups);
// Sets each option that `values` has, in the order of the declarations; members without an option are ignored. False if
// a value has a type, a word or a number that its option does not take; later options are not set then.
bool restore_values(const std::vector<Group>& groups, const nlohmann::json& values);
// The options of `to` whose value differs from the same option of `from`, as on a command line: "--stream max". Both
// groups must have the same declarations. Flags and choices that call a function are omitted.
std::vector<std::string> differences(const Group& from, const Group& to);

}  // namespace aotc::options
