// SPDX-License-Identifier: Apache-2.0
#include "graph_case.h"

#include <algorithm>

#include "frontends/graph_json/writer.h"
#include "ops/operator.h"

namespace aotc::fuzz {

namespace {

using namespace graph_json;

// Errors there are, each with a slug and a file, and not endlessly many.
std::string bad_errors(const Diagnostics& diags) {
  if (!diags.has_errors()) return "refused without an error";
  if (diags.error_count() > 60) return "more than 60 errors";
  for (const Diagnostic& d : diags.all())
    if (d.slug.empty() || d.message.empty() || d.location.file.empty()) return "an error is not located";
  return "";
}

std::string without_places(const graph::Graph& graph) {
  return graph::print(graph, {.constants_limit = INT64_MAX, .locations = false});
}

std::string check_params(const std::vector<uint8_t>& bytes, std::vector<Param>& out) {
  Diagnostics diags;
  auto params = tvm::read_params(bytes, "p", diags);
  if (!params) return bad_errors(diags);
  if (tvm::write_params(*params) != bytes) return "parameters are written differently";
  out = std::move(*params);
  return "";
}

std::string check_document(const std::string& text) {
  Diagnostics diags;
  auto document = read_document(text, "g", diags);
  if (!document) return bad_errors(diags);
  std::string printed = print_document(*document);
  auto again = read_document(printed, "g", diags);
  if (!again) return "a printed document does not parse: " + diags.str();
  return print_document(*again) == printed ? "" : "a document does not survive";
}

std::string check_graph(const std::string& text, std::vector<Param> params, bool* accepted) {
  Diagnostics diags;
  GraphJsonInfo info;
  auto graph = read_graph_json(text, "g", params, &info, diags);
  if (!graph) return bad_errors(diags);
  if (accepted) *accepted = true;
  if (!ops::verify_graph(*graph, diags)) return "a graph does not verify: " + diags.str();
  if (info.storage_bytes(*graph) < 0 || live_bytes(*graph) < 0) return "negative memory";
  auto written = write_graph_json(*graph, &info, diags);
  if (!written) return "a graph that was read cannot be written: " + diags.str();
  // Arguments that nothing reads are not written, nor are their parameters bound again.
  auto unread = [&](const Param& p) {
    return std::none_of(written->nodes.begin(), written->nodes.end(), [&](const Node& n) { return n.name == p.name; });
  };
  std::erase_if(params, unread);
  GraphJsonInfo info_again;
  auto again = read_graph_json(print_document(*written), "g", params, &info_again, diags);
  if (!again) return "a written graph is refused: " + diags.str();
  if (again->ops.size() != graph->ops.size()) return "operators are lost";
  auto twice = write_graph_json(*again, &info_again, diags);
  if (!twice || print_document(*twice) != print_document(*written)) return "a graph does not survive";
  Diagnostics parse;
  auto text_form = graph::parse(graph::print(*graph), "g", ops::definition_lookup(), parse);
  if (!text_form) return "the text form does not parse: " + parse.str();
  return without_places(*text_form) == without_places(*graph) ? "" : "the text form differs";
}

}  // namespace

std::string check_graph_case(const std::vector<uint8_t>& bytes, bool* accepted) {
  auto end = std::find(bytes.begin(), bytes.end(), uint8_t{0});
  std::string text(bytes.begin(), end);
  std::vector<Param> params;
  if (end != bytes.end()) {
    std::string bad = check_params({end + 1, bytes.end()}, params);
    if (!bad.empty()) return bad;
  }
  std::string bad = check_document(text);
  return bad.empty() ? check_graph(text, std::move(params), accepted) : bad;
}

}  // namespace aotc::fuzz
