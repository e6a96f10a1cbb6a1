// SPDX-License-Identifier: Apache-2.0
#include "signature.h"

#include <map>
#include <utility>

#include <fmt/format.h>

namespace aotc::analyze {

namespace {

bool is_values(const Parameter& p) {
  return p.pointer && !p.is_const && !p.is_volatile && (p.is_value || p.element == "void");
}

bool is_codes(const Parameter& p) { return p.pointer && !p.is_const && !p.is_volatile && p.element == "int32_t"; }

bool is_packed(const std::vector<Parameter>& p) {
  return p.size() == 6 && is_values(p[0]) && is_codes(p[1]) && p[2].is_int && is_values(p[3]) && is_codes(p[4]) &&
         p[5].pointer && p[5].element == "void";
}

std::string parameter_text(size_t index, const Parameter& p) {
  return fmt::format("parameter {}{}", index + 1, p.name.empty() ? "" : " '" + p.name + "'");
}

// Why a parameter is no tensor; "" if it may be one.
std::string not_a_tensor(size_t index, const Parameter& p) {
  std::string which = parameter_text(index, p);
  if (!p.pointer) return which + " is not a pointer";
  if (p.is_volatile) return which + " is volatile";
  if (p.element.empty())
    return fmt::format("{} points to '{}', which is not an element type of tensors", which, p.pointee);
  return "";
}

// Operands are const and come first; results, and a context, are not.
bool is_plain(const std::vector<Parameter>& p) {
  size_t operands = 0;
  while (operands < p.size() && p[operands].is_const) ++operands;
  if (operands == 0 || operands == p.size()) return false;
  for (size_t i = operands; i < p.size(); ++i)
    if (p[i].is_const) return false;
  return true;
}

std::string why_other(const Function& f) {
  if (f.linkage == Linkage::kMangled) return "has C++ linkage";
  if (!f.prototype) return "has no prototype";
  if (f.variadic) return "takes a variable number of arguments";
  if (!f.returns_int) return fmt::format("returns '{}', not int32_t", f.returns);
  if (f.parameters.empty()) return "has no parameters";
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    std::string why = not_a_tensor(i, f.parameters[i]);
    if (!why.empty()) return why;
  }
  return "";
}

bool same_signature(const Function& a, const Function& b) {
  if (a.convention == CallingConvention::kPacked && b.convention == CallingConvention::kPacked) return true;
  // A declaration without a prototype says nothing of the parameters.
  if (a.returns_canonical != b.returns_canonical) return false;
  if (!a.prototype || !b.prototype) return true;
  if (a.variadic != b.variadic || a.parameters.size() != b.parameters.size()) return false;
  for (size_t i = 0; i < a.parameters.size(); ++i)
    if (a.parameters[i].canonical != b.parameters[i].canonical) return false;
  return true;
}

int rank(const Function& f) { return !f.definition ? 0 : f.weak ? 1 : 2; }

}  // namespace

void classify(Function& f) {
  bool callable = f.linkage != Linkage::kMangled && f.prototype && !f.variadic && f.returns_int;
  if (callable && is_packed(f.parameters)) {
    f.convention = CallingConvention::kPacked;
    return;
  }
  f.why = why_other(f);
  if (!f.why.empty()) return;
  f.convention = is_plain(f.parameters) ? CallingConvention::kPlain : CallingConvention::kUnpacked;
}

void merge_symbols(Findings& findings) {
  std::map<std::string, int> best;  // rank by symbol
  std::map<std::string, const Function*> first;
  for (const Function& f : findings.functions) {
    if (f.linkage != Linkage::kExternal) continue;
    auto [at, fresh] = best.try_emplace(f.name, rank(f));
    if (fresh || rank(f) > at->second) {
      at->second = rank(f);
      first[f.name] = &f;
    }
  }
  std::vector<Function> kept;
  for (const Function& f : findings.functions) {
    if (f.linkage != Linkage::kExternal) {
      kept.push_back(f);
      continue;
    }
    const Function& chosen = *first[f.name];
    bool stays = rank(f) == best[f.name] && (&f == &chosen || f.definition);
    if (stays) kept.push_back(f);
    if (stays || f.definition || same_signature(f, chosen)) continue;
    const char* how = chosen.definition ? "defined" : "declared";
    findings.messages.push_back({f.file, f.line, f.column, Severity::kWarning, "operator-declaration",
                                 fmt::format("the function is declared as '{}' here, but {} as '{}' elsewhere",
                                             prototype_of(f), how, prototype_of(chosen))});
    findings.messages.push_back(
        {chosen.file, chosen.line, chosen.column, Severity::kNote, "", fmt::format("'{}' is {} here", f.name, how)});
  }
  findings.functions = std::move(kept);
}

std::string prototype_of(const Function& f) {
  std::string list;
  for (const Parameter& p : f.parameters) {
    if (!list.empty()) list += ", ";
    list += p.declarator;
  }
  if (f.variadic) list += ", ...";
  if (list.empty() && f.prototype) list = "void";
  return fmt::format("{}{}{}({})", f.returns, f.returns.ends_with("*") ? "" : " ", f.name, list);
}

}  // namespace aotc::analyze
