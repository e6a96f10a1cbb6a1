// SPDX-License-Identifier: Apache-2.0
// The licence that a project is given: checked by its form, named in files and manifests. The one
// thing to know: without one, files keep the 0BSD that everything has which aotc writes.
#pragma once

#include <string>
#include <string_view>

#include "project/template.h"

namespace aotc::project {

// Whether a text is an SPDX licence expression by its form, such as "MIT", "Apache-2.0 OR MIT",
// "GPL-2.0-only WITH Classpath-exception-2.0", "LicenseRef-Own". Names are not looked up in a list.
// Such a text has nothing in it that ends a comment or a string of any language.
bool is_licence_expression(std::string_view text);
// Reports [license-form]. An empty text is no licence, which is right as well.
Status check_licence(const std::string& licence, Diagnostics& diags);
// The keys license_text, license_id, license_json, license_yaml and license_toml.
void add_licence_values(const std::string& licence, Values& values);
// The text of a file with the licence in the place of 0BSD in its first two lines.
std::string with_licence(std::string text, const std::string& licence);

}  // namespace aotc::project
