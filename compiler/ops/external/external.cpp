// SPDX-License-Identifier: Apache-2.0
#include "ops/external/external.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "ops/common/checks.h"

namespace aotc::ops {

namespace {

constexpr size_t kMostSymbol = 255;

// C99's keywords, those of C++ for headers that are read as either, and functions of the C library
// that emitted code declares.
constexpr std::string_view kReserved[] = {
    "_Bool",    "_Complex", "_Imaginary", "auto",      "bool",   "break",    "case",     "catch",     "char",
    "class",    "const",    "continue",   "default",   "delete", "do",       "double",   "else",      "enum",
    "explicit", "extern",   "false",      "float",     "for",    "friend",   "goto",     "if",        "inline",
    "int",      "long",     "mutable",    "namespace", "new",    "operator", "private",  "protected", "public",
    "register", "restrict", "return",     "short",     "signed", "sizeof",   "static",   "struct",    "switch",
    "template", "this",     "throw",      "true",      "try",    "typedef",  "typename", "union",     "unsigned",
    "using",    "virtual",  "void",       "volatile",  "while",  "main",     "memcpy",   "memset",    "memmove",
    "memcmp",   "exp",      "expf",       "tanh",      "tanhf",  "fabsf",    "floorf",   "roundf",    "sqrtf"};

// Without a signature: the C function has one, of any operands and results.
class External final : public Operator {
 public:
  std::string_view name() const override { return "external"; }
  std::string_view summary() const override { return "a function given in C"; }
  std::vector<TypeSupport> types() const override {
    std::vector<TypeSupport> out;
    for (DType t : {DType::kBool, DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32,
                    DType::kI64, DType::kF32, DType::kF64})
      out.push_back({t, ""});
    return out;
  }
  // What it calls is not known: the library's functions for all that we know.
  Traits traits() const override { return {.uses_libm = true, .external = true}; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<ExternalAttrs>();
  }

  // The file's shapes are all that is known, unless the attributes have others.
  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    const std::vector<int64_t>& given = op.attrs<ExternalAttrs>().shapes;
    std::vector<graph::Shape> shapes;
    for (size_t i = 0; given.empty() && i < op.op.results.size(); ++i) shapes.push_back(op.result(i).shape);
    for (size_t at = 0; at < given.size();) {
      const int64_t rank = given[at++];
      if (rank < 0 || rank > static_cast<int64_t>(given.size() - at)) {
        bad_attribute(op, diags, "'shapes' is no list of ranks, each with its dimensions");
        return kFailure;
      }
      const auto begin = given.begin() + static_cast<int64_t>(at);
      shapes.emplace_back(begin, begin + rank);
      at += static_cast<size_t>(rank);
    }
    return shapes;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    size_t operands = op.operand_count();
    if (!check_counts(op, operands, operands, std::max<size_t>(op.op.results.size(), 1), diags)) return kFailure;
    const std::string& symbol = op.attrs<ExternalAttrs>().symbol;
    if (op.attrs<ExternalAttrs>().convention == CallingConvention::kRegistry) {
      bad_attribute(op, diags, "a function given in C is called plain, unpacked or packed, not by 'registry'");
      return kFailure;
    }
    if (is_c_symbol(symbol)) return success();
    bad_attribute(op, diags, fmt::format("'{}' cannot be the name of a C function", escape_for_display(symbol)));
    return kFailure;
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (const auto& reference = op.attrs<ExternalAttrs>().reference)
      return reference->run(op.attrs<ExternalAttrs>().symbol, data);
    // Callers ask for the trait first. A made-up result would be compared as if it were right.
    throw std::logic_error("external operator '" + op.attrs<ExternalAttrs>().symbol + "' was evaluated");
  }

  // A prototype: the call passes the operands and then the results.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const auto& a = op.attrs<ExternalAttrs>();
    LoweringBuilder f(op, a.symbol);
    for (size_t i = 0; i < op.operand_count(); ++i)
      if (op.has_operand(i)) f.operand(i);
    for (size_t i = 0; i < op.op.results.size(); ++i) f.result(i);
    f.external({a.symbol, a.convention, a.context, a.flatten});
    return f.finish("external");
  }
};

}  // namespace

bool is_c_symbol(std::string_view symbol) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !symbol.empty() && symbol.size() <= kMostSymbol && letter(symbol[0]) &&
         std::all_of(symbol.begin(), symbol.end(), [&](char c) { return letter(c) || digit(c); }) &&
         std::find(std::begin(kReserved), std::end(kReserved), symbol) == std::end(kReserved);
}

void add_operators_external(OperatorSet& set) { set.add(std::make_unique<External>()); }

}  // namespace aotc::ops
