// SPDX-License-Identifier: Apache-2.0
// The row of TensorFlow Lite in the table of formats.
#include "frontends/frontend.h"

#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/reader.h"
#include "frontends/tflite/rules.h"

namespace aotc::frontends {

namespace {

Result<graph::Graph> read_this(FileBytes bytes, const std::string& file, Diagnostics& diags,
                               const ReadOptions& options) {
  return read_tflite(std::move(bytes), file, diags, options);
}

bool is_tflite(std::span<const uint8_t> bytes) {
  constexpr std::string_view kIdentifier = "TFL3";
  return bytes.size() >= 8 && std::equal(kIdentifier.begin(), kIdentifier.end(), bytes.begin() + 4);
}

// What becomes of operators that have no rule.
std::string_view made_by_reader(int code) {
  switch (code) {
    case kTfliteIf:
    case kTfliteWhile: return "control flow";
    case kTfliteComposite: return "inlined";
    case kTfliteCallOnce:
    case kTfliteVarHandle:
    case kTfliteReadVariable:
    case kTfliteAssignVariable: return "state";
    default: return "";
  }
}

std::vector<FormatOperator> tflite_operators() {
  std::vector<FormatOperator> out;
  for (const ops::Operator* op : ops::operators().all())
    for (const tflite::Rule* rule : tflite::rules().of(op->name()))
      out.push_back(
          {std::string(rule->name), rule->op, "", rule->custom ? std::nullopt : tflite_builtin_code(rule->name)});
  for (std::string_view name : tflite_builtin_names()) {
    const int code = *tflite_builtin_code(name);
    if (tflite::rules().find_builtin(code) == nullptr)
      out.push_back({std::string(name), "", made_by_reader(code), code});
  }
  return out;
}

}  // namespace

void add_frontend_tflite(std::vector<Frontend>& to) {
  to.push_back({.name = "tflite",
                .title = "TFLite",
                .files = "TensorFlow Lite (.tflite)",
                .extension = ".tflite",
                .recognise = is_tflite,
                .read = read_this,
                .operators = tflite_operators});
}

}  // namespace aotc::frontends
