// SPDX-License-Identifier: Apache-2.0
// ops --compare: the operators of the .tflite format that TensorFlow Lite Micro, LiteRT or aotc has.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/other_runtimes.h"
#include "frontends/frontend.h"
#include "ops/operator.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

struct Support {
  std::vector<std::string> ours;  // types, or what it becomes; empty: aotc does not have it
  bool tflm = false, litert = false;
};

// By name.
std::map<std::string, Support> supports() {
  std::map<std::string, Support> out;
  for (std::string_view name : tflm_builtins()) out[std::string(name)].tflm = true;
  for (std::string_view name : tflm_custom_operators()) out[std::string(name)].tflm = true;
  for (const frontends::FormatOperator& o : frontends::find_frontend("tflite")->operators()) {
    const ops::Operator* op = ops::operators().find(o.op);
    const bool litert = o.code && litert_has(o.name);  // of builtin operators
    if (op == nullptr && o.becomes.empty() && !litert) continue;
    Support& found = out[o.name];
    found.litert = litert;
    if (!o.becomes.empty()) found.ours = {std::string(o.becomes)};
    if (op == nullptr) continue;
    for (const ops::TypeSupport& type : op->types())
      if (std::string name(name_of(type.dtype)); std::ranges::find(found.ours, name) == found.ours.end())
        found.ours.push_back(std::move(name));
  }
  return out;
}

}  // namespace

int compare_operators_command(const CommonOptions& common) {
  const std::map<std::string, Support> all = supports();
  struct Count {
    int theirs = 0, both = 0;
    void add(bool has, bool ours) { theirs += has, both += has && ours; }
  } tflm, litert;
  nlohmann::ordered_json j = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows = {{"operator", "aotc", "TensorFlow Lite Micro", "LiteRT"}};
  for (const auto& [name, support] : all) {
    tflm.add(support.tflm, !support.ours.empty());
    litert.add(support.litert, !support.ours.empty());
    j.push_back({{"name", name}, {"aotc", support.ours}, {"tflm", support.tflm}, {"litert", support.litert}});
    rows.push_back({name, support.ours.empty() ? "-" : fmt::format("{}", fmt::join(support.ours, " ")),
                    support.tflm ? "yes" : "-", support.litert ? "yes" : "-"});
  }
  if (common.json) {
    print_out("{}\n", json_text(j, 1));
    return kExitDone;
  }
  print_out(
      "{}\naotc supports {} of the {} operators of TensorFlow Lite Micro, including custom ones, and {} of the {} "
      "operators of LiteRT.\n",
      format_table(rows), tflm.both, tflm.theirs, litert.both, litert.theirs);
  return kExitDone;
}

}  // namespace aotc::driver
