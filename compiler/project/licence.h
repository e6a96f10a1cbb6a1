// SPDX-License-Identifier: Apache-2.0
// Checks the licence that the user chooses for a generated project, and writes it into files and manifests. By default,
// files keep 0BSD, the licence of everything that aotc writes.
#pragma once

#include <string>
#include <string_view>

#include "project/template.h"

namespace aotc::project {

// True if a text has the form of an SPDX licence expression: "MIT", "Apache-2.0 OR MIT", "GPL-2.0-only WITH
// Classpath-exception-2.0", "LicenseRef-Own". Names are not looked up in a list. An accepted text contains nothing that
// ends a comment or string of any language.
bool is_licence_expression(std::string_view text);
// Reports [license-form]. An empty text (no licence) is valid.
Status check_licence(const std::string& licence, Diagnostics& diags);
// Sets the keys license_text, license_id, license_json, license_yaml and license_toml.
void add_licence_values(const std::string& licence, Values& values);
// Replaces 0BSD by the licence in the first two lines of a file's text.
std::string with_licence(std::string text, const std::string& licence);

}  // namespace aotc::project
