// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/rules.h"

#include "frontends/tflite/builtin_names.h"

namespace aotc::frontends::tflite {

Status import_defaults(const TfliteOp&, graph::Op& op, Diagnostics&) {
  op.attributes = op.definition->default_attributes();
  return success();
}

void RuleTable::add(const Rule& rule) {
  if (rule.custom) customs_.emplace(rule.name, rule);
  else if (const auto code = tflite_builtin_code(rule.name)) builtins_.emplace(*code, rule);
}

const Rule* RuleTable::find_builtin(int code) const {
  auto found = builtins_.find(code);
  return found == builtins_.end() ? nullptr : &found->second;
}

const Rule* RuleTable::find_custom(std::string_view name) const {
  auto found = customs_.find(name);
  return found == customs_.end() ? nullptr : &found->second;
}

std::vector<const Rule*> RuleTable::of(std::string_view op) const {
  std::vector<const Rule*> out;
  for (const auto& [code, rule] : builtins_)
    if (rule.op == op) out.push_back(&rule);
  for (const auto& [name, rule] : customs_)
    if (rule.op == op) out.push_back(&rule);
  return out;
}

std::optional<int64_t> RuleTable::cycles(const graph::Op& op) const {
  for (const auto& [name, rule] : customs_)
    if (rule.cycles != nullptr && rule.op == op.name()) return rule.cycles(op);
  return std::nullopt;
}

const RuleTable& rules() {
  static const RuleTable table = [] {
    RuleTable made;
    for (std::span<const Rule> family : {convolution_rules(), custom_rules(), elementwise_rules(), place_rules(),
                                         recurrent_rules(), row_rules(), shape_rules()})
      for (const Rule& rule : family) made.add(rule);
    return made;
  }();
  return table;
}

}  // namespace aotc::frontends::tflite
