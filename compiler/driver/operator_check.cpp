// SPDX-License-Identifier: Apache-2.0
// Whether a function of the operator sources is what a node of the graph calls.
#include <algorithm>

#include <fmt/format.h>

#include "driver/operator_sources.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

struct Check {
  const std::string& symbol;
  const std::vector<OperatorTensor>& tensors;
  const Location& node;
  Diagnostics& diags;

  std::string quoted() const { return "'" + escape_for_display(symbol) + "'"; }

  Diagnostic& error(const Location& where, const char* slug, std::string message) const {
    Diagnostic& d = diags.error(where, slug, std::move(message));
    if (&where != &node) d.note(fmt::format("{}: called here", node.str()));
    return d;
  }
};

std::string tensor_text(size_t index, const OperatorTensor& t) {
  return fmt::format("tensor {}{} ({} of {})", index + 1, t.name.empty() ? "" : " '" + escape_for_display(t.name) + "'",
                     t.written ? "a result" : "an operand", c_type_of(t.dtype));
}

std::string parameter_text(size_t index, const OperatorParameter& p) {
  return fmt::format("parameter {}{}", index + 1, p.name.empty() ? "" : " '" + p.name + "'");
}

// "int32_t add(const int8_t *, const int8_t *, int8_t *)": what the node wants.
std::string wanted(const Check& check) {
  std::string list;
  for (const OperatorTensor& t : check.tensors)
    list += fmt::format("{}{}{} *", list.empty() ? "" : ", ", t.written ? "" : "const ", c_type_of(t.dtype));
  return fmt::format("int32_t {}({})", escape_for_display(check.symbol), list);
}

Failure missing(const Check& check, const OperatorSources& sources) {
  Diagnostic& d = check.error(check.node, "operator-missing",
                              fmt::format("the operator sources define no function {}", check.quoted()));
  std::vector<std::string> near = closest(check.symbol, sources.names());
  for (std::string& name : near) name = "'" + escape_for_display(name) + "'";
  if (!near.empty()) {
    std::string list = near[0];
    for (size_t i = 1; i < near.size(); ++i) list += (i + 1 < near.size() ? ", " : " or ") + near[i];
    d.help(fmt::format("did you mean {}?", list));
  } else {
    d.help("pass the C source that defines the function to --operators");
  }
  return kFailure;
}

// The one function that a linker takes; null if it is told why there is none.
const OperatorFunction* choose(const Check& check, const OperatorSources& sources) {
  std::vector<const OperatorFunction*> all = sources.find(check.symbol), defined;
  for (const OperatorFunction* f : all)
    if (f->linkage == "external" && f->definition) defined.push_back(f);
  if (defined.size() == 1) return defined[0];
  if (defined.size() > 1) {
    Diagnostic& d = check.error(defined[1]->where, "operator-ambiguous",
                                fmt::format("operator {} is defined more than once", check.quoted()));
    for (const OperatorFunction* f : defined)
      if (f != defined[1]) d.note(fmt::format("{}: defined here, too", f->where.str()));
    d.help("pass only one of the sources, or make one of the functions static");
    return nullptr;
  }
  for (const OperatorFunction* f : all) {
    if (f->linkage == "external") continue;
    bool is_static = f->linkage == "static";
    check
        .error(f->where, "operator-signature",
               fmt::format(
                   "operator {} {}", check.quoted(),
                   is_static ? "is static: the model cannot call it" : "has C++ linkage: the model cannot call it"))
        .help(is_static ? "remove 'static'" : "declare it extern \"C\"");
    return nullptr;
  }
  if (all.empty()) {
    missing(check, sources);
    return nullptr;
  }
  check
      .error(all[0]->where, "operator-missing",
             fmt::format("operator {} is declared, but no source defines it", check.quoted()))
      .help(
          "pass the C source that defines the function to --operators; an inline function in C needs 'extern inline' "
          "in one source");
  return nullptr;
}

bool same_element(const std::string& element, DType dtype) {
  if (element == "void") return true;
  if (dtype == DType::kBool) return element == "bool" || element == "uint8_t";
  return element == c_type_of(dtype);
}

// Reports the first thing about parameter `i` that does not fit its tensor.
bool fits(const Check& check, const OperatorFunction& f, size_t i, const std::string& help) {
  const OperatorParameter& p = f.parameters[i];
  const OperatorTensor& t = check.tensors[i];
  if (!same_element(p.element, t.dtype)) {
    check
        .error(f.where, "operator-signature",
               fmt::format("operator {}: {} is '{}', but {} is passed", check.quoted(), parameter_text(i, p), p.type,
                           tensor_text(i, t)))
        .help(help);
    return false;
  }
  if (t.written && p.is_const) {
    check
        .error(f.where, "operator-signature",
               fmt::format("operator {}: {} is '{}', but must not be const: {} is written", check.quoted(),
                           parameter_text(i, p), p.type, tensor_text(i, t)))
        .help(help);
    return false;
  }
  return true;
}

}  // namespace

Result<CheckedOperator> check_operator(const OperatorSources& sources, const std::string& symbol,
                                       const std::vector<OperatorTensor>& tensors, const Location& node,
                                       Diagnostics& diags) {
  Check check{symbol, tensors, node, diags};
  const OperatorFunction* f = choose(check, sources);
  if (f == nullptr) return kFailure;
  CheckedOperator out{f, f->convention.value_or(CallingConvention::kPlain), false};
  std::string help = "the graph needs " + wanted(check) + ", or a packed function";
  if (f->convention == CallingConvention::kPacked) {
    out.takes_context = true;
    return out;
  }
  if (!f->convention) {
    check
        .error(f->where, "operator-signature",
               fmt::format("operator {}{} {}", check.quoted(), f->why.starts_with("parameter") ? ":" : "", f->why))
        .help(help);
    return kFailure;
  }
  size_t given = f->parameters.size(), needed = tensors.size();
  out.takes_context = given == needed + 1 && f->parameters.back().element == "void" && !f->parameters.back().is_const;
  if (given != needed && !out.takes_context) {
    check
        .error(f->where, "operator-signature",
               fmt::format("operator {} has {} parameter{}, but {} tensor{} passed", check.quoted(), given,
                           given == 1 ? "" : "s", needed, needed == 1 ? " is" : "s are"))
        .help(help);
    return kFailure;
  }
  bool good = true;
  for (size_t i = 0; i < needed; ++i) good = fits(check, *f, i, help) && good;
  if (!good) return kFailure;
  // The convention that sources alone suggest does not know which tensors are results.
  out.convention = CallingConvention::kPlain;
  for (size_t i = 0; i < needed; ++i)
    if (!tensors[i].written && !f->parameters[i].is_const) out.convention = CallingConvention::kUnpacked;
  return out;
}

}  // namespace aotc::driver
