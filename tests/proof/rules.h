// SPDX-License-Identifier: Apache-2.0
// Tests of the rules by which terms are equal, with numbers.
#pragma once

namespace aotc::tests::proof {

// Prints the counts; whether a rule failed.
bool check_rules();

}  // namespace aotc::tests::proof
