// SPDX-License-Identifier: Apache-2.0
// Fuzz target for Model Library Format archives, and for metadata.json by itself.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "mlf/archive.h"
#include "mlf/difference.h"
#include "mlf/metadata.h"

namespace {

void broken(const std::string& promise) {
  std::fprintf(stderr, "broken promise: %s\n", promise.c_str());
  std::abort();
}

// What a checked archive promises to those who read it.
void use(const aotc::mlf::Archive& archive) {
  using namespace aotc::mlf;
  if (archive.version < 1 || archive.version > kVersion) broken("a version that is not known");
  if (archive.style != kFullModel && archive.style != kOperator) broken("no known style");
  for (const auto& [name, data] : archive.files)
    if (name.empty() || name.front() == '/' || ("/" + name + "/").find("/../") != std::string::npos)
      broken("a name that leaves the folder");
  modules_of(archive);
  operators_of(archive);
  if (!difference(archive, archive).equal()) broken("an archive that differs from itself");
  archive.metadata.dump();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aotc;
  std::vector<uint8_t> bytes(data, data + size);
  Diagnostics diags;
  auto read = mlf::read_archive_bytes(bytes, "fuzz.tar", diags);
  if (read) use(*read);
  if (!read && !diags.has_errors()) broken("a failure without a message");

  Diagnostics of_json;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  mlf::Archive alone;
  auto metadata = mlf::parse_metadata(text, "metadata.json", of_json);
  if (metadata) {
    alone.metadata = std::move(*metadata);
    if (mlf::check_metadata(alone, "metadata.json", "", of_json))
      use(alone);
    else if (!of_json.has_errors())
      broken("a failure without a message");
  }
  return 0;
}
