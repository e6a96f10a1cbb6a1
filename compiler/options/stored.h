// SPDX-License-Identifier: Apache-2.0
// Stores the values of options as JSON and restores them: one member for each option that has a key. Numbers, texts and
// lists of texts are stored as such, flags and choices of on and off as booleans, other choices as their word.
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
// The options of `to` whose value differs from the option of `from` at the same place, as a command line has them:
// "--stream max". Both have the same declarations; flags and choices of a function of their own are left out.
std::vector<std::string> differences(const Group& from, const Group& to);

}  // namespace aotc::options
