// SPDX-License-Identifier: Apache-2.0
// ops --compare: the operators of the .tflite format that TensorFlow Lite Micro, LiteRT or aotc has.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/other_runtimes.h"
#include "frontends/tflite/builtin_names.h"
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

// By name. Operators of control flow and of variables are no operators of the graph: the reader makes
// regions and states of them.
std::map<std::string, Support> supports() {
  std::map<std::string, Support> out;
  for (std::string_view name : frontends::tflite_builtin_names())
    if (litert_has(name)) out[std::string(name)].litert = true;
  for (std::string_view name : tflm_builtins()) out[std::string(name)].tflm = true;
  for (std::string_view name : tflm_custom_operators()) out[std::string(name)].tflm = true;
  auto add_types = [](const ops::Operator& op, Support& found) {
    for (const ops::TypeSupport& type : op.types())
      if (std::string name(name_of(type.dtype)); std::ranges::find(found.ours, name) == found.ours.end())
        found.ours.push_back(std::move(name));
  };
  for (const ops::Operator* op : ops::operators().all()) {
    for (int code : op->tflite_builtins()) add_types(*op, out[frontends::tflite_builtin_name(code)]);
    for (std::string_view name : op->tflite_customs()) add_types(*op, out[std::string(name)]);
  }
  for (int code : {frontends::kTfliteIf, frontends::kTfliteWhile})
    out[frontends::tflite_builtin_name(code)].ours = {"control flow"};
  out[frontends::tflite_builtin_name(frontends::kTfliteComposite)].ours = {"inlined"};
  for (int code : {frontends::kTfliteCallOnce, frontends::kTfliteVarHandle, frontends::kTfliteReadVariable,
                   frontends::kTfliteAssignVariable})
    out[frontends::tflite_builtin_name(code)].ours = {"state"};
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
  print_out("{}\naotc has {} of the {} operators of TensorFlow Lite Micro, custom ones included, and {} of LiteRT's {}.\n",
            format_table(rows), tflm.both, tflm.theirs, litert.both, litert.theirs);
  return kExitDone;
}

}  // namespace aotc::driver
