// SPDX-License-Identifier: Apache-2.0
#include "onnx_case.h"

#include "frontends/onnx/reader.h"

namespace aotc::fuzz {

std::string check_onnx_case(const std::vector<uint8_t>& bytes, bool* accepted) {
  Diagnostics diags;
  frontends::is_onnx_model(bytes);
  auto graph = frontends::read_onnx(bytes, "case.onnx", diags);
  if (graph && accepted != nullptr) *accepted = true;
  if (graph.ok() == diags.has_errors()) return "errors and result contradict each other";
  if (diags.error_count() > 200) return "more than 200 errors";
  for (const Diagnostic& d : diags.all()) {
    if (d.slug.empty() || d.message.empty() || d.location.file.empty()) return "an error is not located";
    for (const char* bug : {"internal", "ir-invalid", "plan-invalid", "tir-invalid", "tir-trap"})
      if (d.slug == bug) return "a bug in aotc was reported: " + diags.str();
  }
  if (graph && !ops::verify_graph(*graph, diags)) return "a graph does not verify: " + diags.str();
  return "";
}

}  // namespace aotc::fuzz
