// SPDX-License-Identifier: Apache-2.0
// What people read of a command line that is declared as data: help, the manual's tables, man
// pages, and scripts for shells that complete it. The one thing to know: all of it is made of the
// declarations alone, so the same program prints the same text everywhere.
#pragma once

#include <string>
#include <vector>

#include "options/options.h"

namespace aotc::options {

// The text of --help, for 80 columns. A command with more than kMostShown options shows only its common ones, unless
// `all`.
std::string help_text(const Path& path, bool all = false);

// Tables in Markdown: shared groups once, then every command with what is its own.
std::string markdown(const Command& program);

// A page of section 1, in the macros of man(7).
std::string man_page(const Path& path);

inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};
// A script that the shell reads, for one of kShells.
std::string completion_script(const Command& program, const std::string& shell);

// Every path below the program, itself first, in order of declaration.
std::vector<Path> all_paths(const Command& program);

}  // namespace aotc::options
