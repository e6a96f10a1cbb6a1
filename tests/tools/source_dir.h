// SPDX-License-Identifier: Apache-2.0
// Where the repository lies, for tests that read its files. In one source: a path in the command line
// of every file would keep ccache from sharing objects between checkouts.
#pragma once

#include <string>

namespace aotc {

// Absolute, without a slash at its end.
const std::string& source_dir();

}  // namespace aotc
