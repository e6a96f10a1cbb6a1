// SPDX-License-Identifier: Apache-2.0
// One case of fuzzing the text forms: the Graph IR, the loop IR, programs, and the JSON of --schedules,
// --devices and --templates. The one thing to know: every input goes to all of them; those that it
// is not made for refuse it at its first word.
#pragma once

#include <string>

namespace aotc::fuzz {

// Empty, or which promise was broken.
std::string check_text_case(const std::string& text);

}  // namespace aotc::fuzz
