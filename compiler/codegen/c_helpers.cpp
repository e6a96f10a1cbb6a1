// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_helpers.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "support/dtype.h"
#include "support/text.h"
#include "tir/packed_product.h"

namespace aotc::codegen {

namespace {

using namespace tir;  // NOLINT: every node kind is used here

struct Helper {
  const char *name, *parameters, *result, *comment;
  const char* instruction = nullptr;  // statements that do the same on cores with DSP instructions
  const char* intrinsic = nullptr;    // the same expression with ACLE intrinsics
};

// Overflow is meant where a name ends with _wrap: unsigned arithmetic, of which C says how it
// wraps.
constexpr Helper kHelpers[] = {
    {"add_wrap", "int32_t a, int32_t b", "(int32_t)((uint32_t)a + (uint32_t)b)", "Modulo 2^32"},
    {"sub_wrap", "int32_t a, int32_t b", "(int32_t)((uint32_t)a - (uint32_t)b)", "Modulo 2^32"},
    {"mul_wrap", "int32_t a, int32_t b", "(int32_t)((uint32_t)a * (uint32_t)b)", "Modulo 2^32"},
    {"mla_wrap", "int32_t sum, int32_t a, int32_t b", "(int32_t)((uint32_t)sum + (uint32_t)a * (uint32_t)b)",
     "sum + a * b, modulo 2^32"},
    {"shl", "int32_t a, int32_t by", "(int32_t)((uint32_t)a << by)", "a << by, also for a negative a"},
    {"mul_high", "int32_t a, int32_t b", "(int32_t)(((int64_t)a * b) >> 32)",
     "The upper 32 bits of the product, rounded down"},
    {"mul_q31", "int32_t a, int32_t b", "(int32_t)(((int64_t)a * b + INT64_C(1073741824)) >> 31)",
     "a * b / 2^31, rounded to nearest, ties up"},
    {"lo16", "int32_t word", "(int32_t)((uint32_t)word << 16) >> 16", "The lower 16 bits, sign-extended"},
    {"byte_at", "int32_t word, int32_t lane", "(int32_t)((uint32_t)word << (24 - 8 * lane)) >> 24",
     "Byte `lane` of the word, sign-extended; lane 0 is the lowest byte"},
    {"pack16", "int32_t low, int32_t high", "(int32_t)(((uint32_t)low & 65535u) | (uint32_t)high << 16)",
     "A word from two 16-bit halves",
     "    int32_t word;\n"
     "    (void)low;  /* Static analysis does not see uses in assembly. */\n    (void)high;\n"
     "    __asm__(\"pkhbt %0, %1, %2, lsl #16\" : \"=r\"(word) : \"r\"(low), \"r\"(high));\n"
     "    return word;\n"},
    {"dot_halves", "int32_t sum, int32_t x, int32_t w",
     "(int32_t)((uint32_t)sum +\n"
     "                     (uint32_t)((int32_t)((uint32_t)x << 16) >> 16) * "
     "(uint32_t)((int32_t)((uint32_t)w << 16) >> 16) +\n"
     "                     (uint32_t)(x >> 16) * (uint32_t)(w >> 16))",
     "sum + the products of both 16-bit halves of x and w, modulo 2^32", nullptr, "__smlad(x, w, sum)"},
    {"dot_bytes", "int32_t sum, int32_t x, int32_t w",
     "(int32_t)((uint32_t)sum +\n"
     "                     (uint32_t)((int32_t)((uint32_t)x << 16) >> 16) * "
     "(uint32_t)((int32_t)((uint32_t)w << 24) >> 24) +\n"
     "                     (uint32_t)(x >> 16) * (uint32_t)((int32_t)((uint32_t)w << 8) >> 24))",
     "sum + the products of the 16-bit halves of x and of bytes 0 and 2 of w, modulo 2^32", nullptr,
     "__smlad(x, __sxtb16(w), sum)"},
    {"mla_low_high", "int32_t sum, int32_t x, int32_t w",
     "(int32_t)((uint32_t)sum + (uint32_t)((int32_t)((uint32_t)x << 16) >> 16) * (uint32_t)(w >> 16))",
     "sum + the product of the lower half of x and the upper half of w, modulo 2^32", nullptr, "__smlabt(x, w, sum)"},
    {"even_bytes", "int32_t word",
     "(int32_t)(((uint32_t)((int32_t)((uint32_t)word << 24) >> 24) & 65535u) |\n"
     "                     (uint32_t)((int32_t)((uint32_t)word << 8) >> 24) << 16)",
     "Bytes 0 and 2 of a word, sign-extended to halves", nullptr, "__sxtb16(word)"},
    {"odd_bytes", "int32_t word",
     "(int32_t)(((uint32_t)((int32_t)((uint32_t)word << 16) >> 24) & 65535u) |\n"
     "                     (uint32_t)(word >> 24) << 16)",
     "Bytes 1 and 3 of a word, sign-extended to halves", nullptr,
     "__sxtb16((int32_t)((uint32_t)word >> 8 | (uint32_t)word << 24))"},
    {"bytes_at", "const int8_t *at",
     "(int32_t)(((uint32_t)at[0] & 255u) | ((uint32_t)at[1] & 255u) << 8 |\n"
     "                     ((uint32_t)at[2] & 255u) << 16 | (uint32_t)at[3] << 24)",
     "A word of four neighbouring elements"},
    {"halves_at", "const int16_t *at", "(int32_t)(((uint32_t)at[0] & 65535u) | (uint32_t)at[1] << 16)",
     "A word of two neighbouring elements"},
};

const Binary* binary_of(const Expr& e, BinaryOp op, DType type) {
  if (e.kind != ExprKind::kBinary || e.type != type) return nullptr;
  const auto& n = static_cast<const Binary&>(e);
  return n.op == op ? &n : nullptr;
}

const Binary* wrapping_of(const Expr& e, BinaryOp op) {
  const Binary* n = binary_of(e, op, DType::kI32);
  return n && n->wrapping ? n : nullptr;
}

std::optional<int64_t> immediate_of(const ExprPtr& e) {
  if (e->kind != ExprKind::kIntImm) return std::nullopt;
  return static_cast<const IntImm&>(*e).value;
}

// a and b of i64(a) * i64(b).
std::optional<std::vector<ExprPtr>> long_product(const Expr& e) {
  const Binary* n = binary_of(e, BinaryOp::kMul, DType::kI64);
  if (!n || n->wrapping) return std::nullopt;
  std::vector<ExprPtr> out;
  for (const ExprPtr& side : {n->lhs, n->rhs}) {
    if (side->kind == ExprKind::kCast && static_cast<const Cast&>(*side).value->type == DType::kI32) {
      out.push_back(static_cast<const Cast&>(*side).value);
    } else if (auto v = immediate_of(side); v && *v >= INT32_MIN && *v <= INT32_MAX) {
      out.push_back(std::make_shared<IntImm>(DType::kI32, *v));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

// i32(i64(a) * i64(b) >> 32), and with rounding, >> 31.
std::optional<HelperCall> high_product(const Expr& e) {
  if (e.kind != ExprKind::kCast || e.type != DType::kI32) return std::nullopt;
  const Binary* shifted = binary_of(*static_cast<const Cast&>(e).value, BinaryOp::kShr, DType::kI64);
  if (!shifted) return std::nullopt;
  const auto by = immediate_of(shifted->rhs);
  if (by == 32) {
    if (auto product = long_product(*shifted->lhs)) return HelperCall{"mul_high", *product};
  }
  const Binary* sum = binary_of(*shifted->lhs, BinaryOp::kAdd, DType::kI64);
  if (by != 31 || !sum || sum->wrapping || immediate_of(sum->rhs) != int64_t{1} << 30) return std::nullopt;
  if (auto product = long_product(*sum->lhs)) return HelperCall{"mul_q31", *product};
  return std::nullopt;
}

// A half or a byte of a word.
std::optional<HelperCall> part_of_word(const Expr& e) {
  const auto part = word_part(e);
  if (!part) return std::nullopt;
  if (part->up == 16 && part->down == 16) return HelperCall{"lo16", {part->word}};
  if (part->down != 24 || part->up % 8 != 0 || part->up < 0 || part->up > 24) return std::nullopt;
  return HelperCall{"byte_at", {part->word, std::make_shared<IntImm>(DType::kI32, 3 - part->up / 8)}};
}

// (low & 65535) | (high <<% 16)
std::optional<HelperCall> two_halves(const Expr& e) {
  const Binary* both = binary_of(e, BinaryOp::kBitOr, DType::kI32);
  if (!both) return std::nullopt;
  const Binary* low = binary_of(*both->lhs, BinaryOp::kBitAnd, DType::kI32);
  const Binary* high = wrapping_of(*both->rhs, BinaryOp::kShl);
  if (!low || !high || immediate_of(low->rhs) != 65535 || immediate_of(high->rhs) != 16) return std::nullopt;
  return HelperCall{"pack16", {low->lhs, high->lhs}};
}

const Variable* variable_of(const Expr& e) {
  return e.kind == ExprKind::kVarRef ? static_cast<const VarRef&>(e).var.get() : nullptr;
}

// An element of a buffer, at a variable and a constant that is added to it; null for other expressions.
struct Element {
  const Load* load = nullptr;
  const Variable* base = nullptr;
  int64_t at = 0;
};
Element element_of(const Expr& e, DType type) {
  if (e.kind != ExprKind::kLoad) return {};
  const auto& load = static_cast<const Load&>(e);
  if (load.buffer->dtype != type || load.buffer->space != Space::kData) return {};
  if (const Variable* base = variable_of(*load.index)) return {&load, base, 0};
  const Binary* sum = binary_of(*load.index, BinaryOp::kAdd, DType::kI32);
  const auto by = sum != nullptr ? immediate_of(sum->rhs) : std::nullopt;
  const Variable* base = by ? variable_of(*sum->lhs) : nullptr;
  return base != nullptr ? Element{&load, base, *by} : Element{};
}
bool follows(const Element& next, const Element& before, int64_t elements) {
  return before.load != nullptr && next.load != nullptr && next.load->buffer == before.load->buffer &&
         next.base == before.base && next.at == before.at + elements;
}
ExprPtr address_of(const Element& element) {
  return std::make_shared<Address>(element.load->buffer, element.load->index);
}

// two_halves() of elements of int16 that are neighbours in memory, or of bytes 0 and 2, or 1 and 3, of a word.
std::optional<HelperCall> halves_of_word(const Expr& e) {
  const auto halves = two_halves(e);
  if (!halves) return std::nullopt;
  const ExprPtr &low = halves->arguments[0], &high = halves->arguments[1];
  const Element first = element_of(*low, DType::kI16);
  if (follows(element_of(*high, DType::kI16), first, 1)) return HelperCall{"halves_at", {address_of(first)}};
  const auto even = word_part(*low);
  if (!even || even->down != 24 || variable_of(*even->word) == nullptr) return std::nullopt;
  const Variable* word = variable_of(*even->word);
  if (const auto part = word_part(*high);
      part && even->up == 24 && part->up == 8 && part->down == 24 && variable_of(*part->word) == word)
    return HelperCall{"even_bytes", {even->word}};
  const Binary* last = binary_of(*high, BinaryOp::kShr, DType::kI32);
  const bool odd =
      even->up == 16 && last != nullptr && immediate_of(last->rhs) == 24 && variable_of(*last->lhs) == word;
  return odd ? std::optional(HelperCall{"odd_bytes", {even->word}}) : std::nullopt;
}

// (b0 & 255) | ((b1 & 255) <<% 8) | ((b2 & 255) <<% 16) | (b3 <<% 24), of elements of int8 that are neighbours.
std::optional<HelperCall> bytes_in_memory(const Expr& e) {
  std::array<Element, 4> bytes;
  const Expr* rest = &e;
  for (size_t i = bytes.size(); i-- > 0;) {
    const Binary* both = i > 0 ? binary_of(*rest, BinaryOp::kBitOr, DType::kI32) : nullptr;
    if (i > 0 && both == nullptr) return std::nullopt;
    const Expr* byte = i > 0 ? both->rhs.get() : rest;
    if (i > 0) {
      const Binary* moved = wrapping_of(*byte, BinaryOp::kShl);
      if (moved == nullptr || immediate_of(moved->rhs) != static_cast<int64_t>(8 * i)) return std::nullopt;
      byte = moved->lhs.get();
      rest = both->lhs.get();
    }
    if (i < 3) {
      const Binary* masked = binary_of(*byte, BinaryOp::kBitAnd, DType::kI32);
      if (masked == nullptr || immediate_of(masked->rhs) != 255) return std::nullopt;
      byte = masked->lhs.get();
    }
    bytes[i] = element_of(*byte, DType::kI8);
    if (bytes[i].load == nullptr) return std::nullopt;
  }
  for (size_t i = 1; i < bytes.size(); ++i)
    if (!follows(bytes[i], bytes[0], static_cast<int64_t>(i))) return std::nullopt;
  return HelperCall{"bytes_at", {address_of(bytes[0])}};
}

// An element of a table in program memory, as avr-libc reads it.
std::string program_load(const std::string& name, const std::string& type, DType dtype) {
  std::string read = dtype == DType::kF32  ? "pgm_read_float(at)"
                     : size_of(dtype) == 1 ? fmt::format("({})pgm_read_byte(at)", type)
                     : size_of(dtype) == 2 ? fmt::format("({})pgm_read_word(at)", type)
                     : size_of(dtype) == 4 ? fmt::format("({})pgm_read_dword(at)", type)
                                           : "";
  std::string body = read.empty() ? fmt::format(
                                        "    {} value;\n    memcpy_P(&value, at, sizeof value);\n"
                                        "    return value;\n",
                                        type)
                                  : fmt::format("    return {};\n", read);
  return fmt::format("static inline {0} {1}(const {0} *at)\n{{\n{2}}}\n", type, name, body);
}

}  // namespace

std::optional<HelperCall> helper_call(const Expr& e) {
  for (auto form : {high_product, part_of_word, halves_of_word, bytes_in_memory, two_halves})
    if (auto call = form(e)) return call;
  if (auto product = packed_product(e))
    return HelperCall{product->even_bytes ? "dot_bytes" : "dot_halves", {product->sum, product->x, product->w}};
  if (auto product = half_product(e)) return HelperCall{"mla_low_high", {product->sum, product->low, product->high}};
  if (const Binary* n = wrapping_of(e, BinaryOp::kAdd)) {
    if (const Binary* product = wrapping_of(*n->rhs, BinaryOp::kMul))
      return HelperCall{"mla_wrap", {n->lhs, product->lhs, product->rhs}};
    return HelperCall{"add_wrap", {n->lhs, n->rhs}};
  }
  if (const Binary* n = wrapping_of(e, BinaryOp::kSub)) return HelperCall{"sub_wrap", {n->lhs, n->rhs}};
  if (const Binary* n = wrapping_of(e, BinaryOp::kMul)) return HelperCall{"mul_wrap", {n->lhs, n->rhs}};
  if (const Binary* n = wrapping_of(e, BinaryOp::kShl)) return HelperCall{"shl", {n->lhs, n->rhs}};
  return std::nullopt;
}

std::vector<std::string> helper_names() {
  std::vector<std::string> out;
  for (const Helper& helper : kHelpers) out.emplace_back(helper.name);
  return out;
}

namespace {

// The definition of a helper that is one instruction or a barrier; empty for other helpers. `acle`: the macro that is
// defined if intrinsics exist, or empty.
std::string instruction_definition(const std::string& name, const std::string& f, bool assembly,
                                   const std::string& acle) {
  if (name == "keep" || name == "fence") {
    bool keeps = name == "keep";
    std::string barrier =
        fmt::format("#if defined(__GNUC__)\n    __asm__{}(\"\" : \"+r\"(value));\n#endif\n", keeps ? "" : " volatile");
    std::string why = fmt::format("/* Keeps compilers from {}, which costs registers. */\n",
                                  keeps ? "reordering sums with this value" : "moving code across this call");
    return fmt::format("{}static inline int32_t {}(int32_t value)\n{{\n{}    return value;\n}}\n", assembly ? why : "",
                       f, assembly ? barrier : "");
  }
  if (name == "product") {
    std::string barrier = "#if defined(__GNUC__)\n    __asm__(\"\" : \"+r\"(product));\n#endif\n";
    return fmt::format(
        "{}static inline int16_t {}(int16_t a, int16_t b)\n{{\n"
        "    int16_t product = (int16_t)(a * b);\n{}    return product;\n}}\n",
        assembly ? "/* The product fits an int. Keeps compilers from multiplying in 32 bits for a "
                   "wider sum. */\n"
                 : "",
        f, assembly ? barrier : "");
  }
  if (name == "saturate_i8" || name == "saturate_i16") {
    const int bits = name == "saturate_i8" ? 8 : 16, most = (1 << (bits - 1)) - 1;
    std::string portable = fmt::format("    return value < {0} ? {0} : value > {1} ? {1} : value;\n", -most - 1, most);
    std::string body;
    if (assembly)
      body = fmt::format(
          "#if defined(__GNUC__) && defined(__ARM_FEATURE_SAT)\n"
          "    __asm__(\"ssat %0, #{}, %1\" : \"=r\"(value) : \"r\"(value));\n"
          "    return value;\n",
          bits);
    if (!acle.empty())
      body += fmt::format("#{} defined({})\n    return (int32_t)__ssat(value, {});\n", assembly ? "elif" : "if", acle,
                          bits);
    body += body.empty() ? portable : "#else\n" + portable + "#endif\n";
    return fmt::format("static inline int32_t {}(int32_t value)\n{{\n{}}}\n", f, body);
  }
  return "";
}

}  // namespace

HelperForm helper_form(const std::set<std::string>& functions, KernelForm kernels) {
  const bool products = std::any_of(std::begin(kHelpers), std::end(kHelpers), [&](const Helper& helper) {
    return helper.intrinsic != nullptr && functions.contains(helper.name);
  });
  return {kernels == KernelForm::kAssembly, products && kernels != KernelForm::kC};
}

std::string intrinsic_includes(HelperForm form, const std::string& prefix) {
  if (!form.intrinsics) return "";
  // gcc has these intrinsics since version 10, and does not define __ARM_ACLE.
  return fmt::format(
      "\n#if defined(__ARM_FEATURE_SIMD32) && \\\n"
      "    (defined(__ARM_ACLE) || (defined(__GNUC__) && __GNUC__ >= 10))\n"
      "#include <arm_acle.h>\n#define {}_ACLE\n#endif\n",
      upper(prefix));
}

std::string support_definition(const std::string& name, const std::string& prefix, HelperForm form) {
  std::string f = prefix + "_" + name;
  const std::string acle = upper(prefix) + "_ACLE";
  for (const Helper& helper : kHelpers)
    if (name == helper.name) {
      std::string body = fmt::format("    return {};\n", helper.result);
      // The size of the word is constant, so this is a load. The standard function would be called with -ffreestanding.
      if (name == "halves_at" || name == "bytes_at")
        body =
            "#if defined(__GNUC__) && defined(__ARM_FEATURE_UNALIGNED) && !defined(__ARM_BIG_ENDIAN)\n"
            "    int32_t word;\n    __builtin_memcpy(&word, at, sizeof word);\n    return word;\n"
            "#else\n" +
            body + "#endif\n";
      if (form.intrinsics && helper.intrinsic != nullptr)
        body = fmt::format("#if defined({})\n    return {};\n#else\n{}#endif\n", acle, helper.intrinsic, body);
      if (form.assembly && helper.instruction != nullptr)
        body = fmt::format("#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)\n{}#else\n{}#endif\n",
                           helper.instruction, body);
      return fmt::format("/* {}. */\nstatic inline int32_t {}({})\n{{\n{}}}\n", helper.comment, f, helper.parameters,
                         body);
    }
  if (std::string found = instruction_definition(name, f, form.assembly, form.intrinsics ? acle : ""); !found.empty())
    return found;
  if (name == "no_unroll")
    return fmt::format(
        "/* Loops that clang unrolls further take more instructions. */\n#if defined(__clang__)\n"
        "#define {0}_NO_UNROLL _Pragma(\"clang loop unroll(disable)\")\n#else\n#define {0}_NO_UNROLL\n#endif\n",
        upper(prefix));
  if (name == "float_bits")
    return fmt::format(
        "static inline int32_t {}(float value)\n{{\n    int32_t bits;\n"
        "    memcpy(&bits, &value, sizeof bits);\n    return bits;\n}}\n",
        f);
  if (name == "float_from_bits")
    return fmt::format(
        "static inline float {}(int32_t bits)\n{{\n    float value;\n"
        "    memcpy(&value, &bits, sizeof value);\n    return value;\n}}\n",
        f);
  if (name == "check_tensors")
    return fmt::format(
        "/* Returns 0 if there are `count` arguments and each is a tensor with a byte_offset of 0. */\n"
        "static inline int {}(const TVMValue *args, const int *type_codes, int num_args, int "
        "count)\n{{\n"
        "    if (num_args != count) {{\n        return kTvmErrorFunctionCallNumArguments;\n    }}\n"
        "    for (int i = 0; i < count; ++i) {{\n"
        "        if (type_codes[i] != kTVMDLTensorHandle) {{\n"
        "            return kTvmErrorFunctionCallWrongArgType;\n        }}\n"
        "        if (((const DLTensor *)args[i].v_handle)->byte_offset != 0) {{\n"
        "            return kTvmErrorFunctionCallInvalidArg;\n        }}\n    }}\n    return "
        "0;\n}}\n",
        f);
  if (name == "tensor_data")
    return fmt::format(
        "static inline void *{}(const TVMValue *args, int index)\n{{\n"
        "    return ((const DLTensor *)args[index].v_handle)->data;\n}}\n",
        f);
  auto dtype = dtype_from_name(name.substr(name.rfind('_') + 1));
  std::string type(c_type_of(dtype ? *dtype : DType::kI32));
  if (name.starts_with("program_")) return program_load(f, type, dtype ? *dtype : DType::kI32);
  if (name.starts_with("abs_"))
    return fmt::format("static inline {0} {1}({0} a)\n{{\n    return a < 0 ? -a : a;\n}}\n", type, f);
  const char* op = name.starts_with("min_") ? "<" : ">";
  return fmt::format("static inline {0} {1}({0} a, {0} b)\n{{\n    return a {2} b ? a : b;\n}}\n", type, f, op);
}

}  // namespace aotc::codegen
