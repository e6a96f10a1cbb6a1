// SPDX-License-Identifier: Apache-2.0
// Generates help, the manual's tables, man pages and shell completion from the declarations of a command line. The text
// depends on the declarations only, so it is the same everywhere.
#pragma once

#include <string>
#include <vector>

#include "options/options.h"

namespace aotc::options {

// The text of --help, for 80 columns. A command with more than kMostShown options shows only its common ones, unless
// `all` is true.
std::string help_text(const Path& path, bool all = false);

// Tables in Markdown: shared groups once, then each command with its own options.
std::string markdown(const Command& program);

// A man page of section 1, with the macros of man(7).
std::string man_page(const Path& path);

inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};
// A completion script for one of kShells.
std::string completion_script(const Command& program, const std::string& shell);

// The paths of the program and of all its commands, in order of declaration.
std::vector<Path> all_paths(const Command& program);

}  // namespace aotc::options
