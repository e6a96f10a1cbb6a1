// SPDX-License-Identifier: Apache-2.0
// The licence of a generated project: its form is checked, and files and manifests name it. Without one, files keep
// 0BSD, the licence of everything that aotc writes.
#pragma once

#include <string>
#include <string_view>

#include "project/template.h"

namespace aotc::project {

// Whether a text is an SPDX licence expression by its form, such as "MIT", "Apache-2.0 OR MIT",
// True for an SPDX licence expression: "GPL-2.0-only WITH Classpath-exception-2.0", "LicenseRef-Own". Names are not
// looked up in a list. An accepted text contains nothing that ends a comment or string of any language.
bool is_licence_expression(std::string_view text);
// Reports [license-form]. An empty text (no licence) is valid.
Status check_licence(const std::string& licence, Diagnostics& diags);
// The keys license_text, license_id, license_json, license_yaml and license_toml.
void add_licence_values(const std::string& licence, Values& values);
// The text of a file with the licence instead of 0BSD in its first two lines.
std::string with_licence(std::string text, const std::string& licence);

}  // namespace aotc::project
