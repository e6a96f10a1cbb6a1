// SPDX-License-Identifier: Apache-2.0
#include "frontends/frontend.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frontends/foreign.h"

namespace aotc::frontends {

void add_all_frontends(std::vector<Frontend>& to);  // generated from the folders of frontends/

namespace {

std::vector<Frontend>& all_frontends() {
  static std::vector<Frontend> all = [] {
    std::vector<Frontend> made;
    add_all_frontends(made);
    return made;
  }();
  return all;
}

template <typename Matches>
const Frontend* first_frontend(Matches matches) {
  const auto found = std::find_if(frontends().begin(), frontends().end(), matches);
  return found == frontends().end() ? nullptr : &*found;
}

}  // namespace

const std::vector<Frontend>& frontends() { return all_frontends(); }

void add_frontend(Frontend frontend) { all_frontends().push_back(std::move(frontend)); }

const Frontend* find_frontend(std::string_view name) {
  return first_frontend([&](const Frontend& f) { return f.name == name; });
}

const Frontend* recognise(std::span<const uint8_t> bytes) {
  return first_frontend([&](const Frontend& f) { return f.recognise(bytes); });
}

Result<graph::Graph> read_model(FileBytes bytes, const std::string& file, Diagnostics& diags,
                                const ReadOptions& options) {
  const Frontend* frontend = recognise(bytes);
  Location at;
  at.file = file;
  if (frontend == nullptr) {
    if (auto foreign = recognise_foreign(bytes, file)) {
      report_foreign(diags, at, *foreign);
      return kFailure;
    }
    frontend = first_frontend([&](const Frontend& f) { return file.ends_with(f.extension); });
  }
  if (frontend != nullptr) return frontend->read(std::move(bytes), file, diags, options);
  diags.error(at, "model-format", fmt::format("aotc does not know the format of this file ({} bytes)", bytes.size()))
      .help(fmt::format("aotc reads {}", readable_formats()));
  return kFailure;
}

}  // namespace aotc::frontends
