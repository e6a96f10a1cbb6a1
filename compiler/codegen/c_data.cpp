// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_data.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "codegen/c_constants.h"
#include "codegen/c_function.h"
#include "codegen/c_layout.h"
#include "codegen/c_run.h"
#include "support/text.h"

namespace aotc::codegen {

namespace {

template <typename T>
void append_number(std::string& s, T v) {
  if constexpr (std::is_floating_point_v<T>) {
    s += c_float(v, sizeof(T) == 4 ? DType::kF32 : DType::kF64);
  } else if constexpr (sizeof(T) == 8) {
    s += v == INT64_MIN ? "(-INT64_C(9223372036854775807) - 1)" : fmt::format("INT64_C({})", v);
  } else if (static_cast<int64_t>(v) == INT32_MIN) {
    s += "(-2147483647 - 1)";
  } else {
    const fmt::format_int text(v);
    s.append(text.data(), text.size());
  }
}

// Straight into the text: tables are most of what is printed of a small model.
template <typename T>
void numbers(std::string& s, const std::vector<uint8_t>& bytes) {
  const size_t count = bytes.size() / sizeof(T);
  size_t line = s.size();
  s += "   ";
  for (size_t i = 0; i < count; ++i) {
    T v;
    std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
    const size_t at = s.size();
    s += ' ';
    append_number(s, v);
    s += ',';
    if (s.size() - line <= kCColumns) continue;
    s.insert(at, "\n   ");
    line = at + 1;
  }
  if (count == 0) s += " 0,";
  s += '\n';
}

// An empty array is not C: a table of nothing has one element.
std::string table_declarator(const ops::Constant& c, const std::string& name) {
  int64_t elements = std::max<int64_t>(1, static_cast<int64_t>(c.bytes.size()) / size_of(c.dtype));
  return fmt::format("const {} {}[{}]", c_type_of(c.dtype), name, elements);
}

std::string section_macro(const CodegenOptions& options, size_t i) {
  std::string up = upper(options.prefix);
  return options.constants_sections.size() == 1 ? up + "_CONSTANTS" : fmt::format("{}_CONSTANTS_{}", up, i + 1);
}

// Behind a table: the memory that it is in.
std::string placement(const plan::Program& program, const CodegenOptions& options, int section) {
  if (program.program_tables) return " PROGMEM";
  return section >= 0 ? " " + section_macro(options, static_cast<size_t>(section)) : "";
}

// A table with its alignment in front, where C11 has it. A compiler may take an array that is declared without for one
// that its ABI aligns (16 bytes on x86-64). On several lines where one would be too long.
std::string declaration(const plan::Program& program, const CodegenOptions& options, size_t i, const std::string& name,
                        int section, const std::string& end) {
  const ops::Constant& c = program.constants[i].data;
  std::string aligned;
  if (!program.program_tables && c.alignment > size_of(c.dtype))  // program memory is read byte by byte
    aligned = fmt::format("{}_ALIGNED({})", upper(options.prefix), c.alignment);
  const std::string table = table_declarator(c, name), placed = placement(program, options, section) + end;
  if (aligned.size() + table.size() + placed.size() + 8 <= kCColumns)
    return aligned + (aligned.empty() ? "" : " ") + table + placed;
  if (!aligned.empty()) aligned += "\n    ";
  return aligned + table + (table.size() + placed.size() > kCColumns && placed[0] == ' ' ? "\n   " : "") + placed;
}

// 16 is 0 for all types that are used here; -1, 1 and 2 round some operation twice or not to a float.
// Compilers that do not define it are from before C99 and cannot be asked.
std::string evaluation_check(const std::string& prefix) {
  return fmt::format(
      "\n/* Results are those of arithmetic that rounds to float after every operation. */\n"
      "#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16\n"
      "#error \"{}: floats are computed in another precision here\"\n"
      "#error \"FLT_EVAL_METHOD is not 0; on 32-bit x86 compile with -msse2 -mfpmath=sse\"\n#endif\n",
      prefix);
}

}  // namespace

void print_numbers(std::string& s, const ops::Constant& c) {
  switch (c.dtype) {
    case DType::kBool:
    case DType::kU8: return numbers<uint8_t>(s, c.bytes);
    case DType::kI4:
    case DType::kI8: return numbers<int8_t>(s, c.bytes);
    case DType::kI16: return numbers<int16_t>(s, c.bytes);
    case DType::kU16: return numbers<uint16_t>(s, c.bytes);
    case DType::kI32: return numbers<int32_t>(s, c.bytes);
    case DType::kU32: return numbers<uint32_t>(s, c.bytes);
    case DType::kI64: return numbers<int64_t>(s, c.bytes);
    case DType::kF32: return numbers<float>(s, c.bytes);
    case DType::kF64: return numbers<double>(s, c.bytes);
  }
}

std::string alignment_macro(const std::string& macro, const std::string& prefix) {
  return fmt::format(
      "#ifndef {0}\n#if defined(__GNUC__)\n#define {0}(n) __attribute__((aligned(n)))\n"
      "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n#define {0}(n) _Alignas(n)\n"
      "#else\n#error \"{1}: how does this compiler align a variable?\"\n"
      "#error \"compile as C11, or define {0}(n)\"\n#endif\n#endif\n",
      macro, prefix);
}

std::string data_header(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names,
                        bool floating) {
  std::string up = upper(options.prefix);
  std::string s = fmt::format("#ifndef {0}_DATA_H\n#define {0}_DATA_H\n\n", up);
  s += floating ? "#include <float.h>\n#include <stdint.h>\n" : "#include <stdint.h>\n";
  if (floating) s += evaluation_check(options.prefix);
  bool tables = !program.constants.empty() && program.constant_pool < 0;
  if (tables && program.program_tables) s += "\n#include <avr/pgmspace.h>\n";
  if (tables || has_own_arena(program, options)) s += "\n" + alignment_macro(up + "_ALIGNED", options.prefix);
  if (has_image(options)) s += image_declarations(options);
  if (!tables) return s + "\n#endif\n";
  for (size_t i = 0; i < options.constants_sections.size(); ++i)
    s += fmt::format(
        "\n#ifndef {0}\n#if defined(__GNUC__)\n#define {0} __attribute__((section(\"{1}\")))\n"
        "#else\n#error \"{2}: how does this compiler place a table in a section?\"\n"
        "#error \"define {0}\"\n#endif\n#endif\n",
        section_macro(options, i), options.constants_sections[i].name, options.prefix);
  s += fmt::format("\n/* Tables in {}_data.c{}. */\n", options.prefix,
                   program.program_tables ? ", in program memory" : "");
  std::vector<int> section = plan::assign_sections(program, options.constants_sections);
  for (size_t i = 0; i < program.constants.size(); ++i)
    if (!names.is_row[i]) s += "extern " + declaration(program, options, i, names.constant_names[i], section[i], ";\n");
  return s + "\n#endif\n";
}

void append_data_source(std::string& s, const plan::Program& program, const CodegenOptions& options,
                        const ModelFiles& names) {
  std::string up = upper(options.prefix);
  // Roughly five characters a byte; growing by doubling would cost as much again.
  size_t bytes = 0;
  bool has_float = false;
  for (const plan::ProgramConstant& c : program.constants) {
    bytes += c.data.bytes.size();
    has_float = has_float || is_float(c.data.dtype);
  }
  s.reserve(s.size() + bytes * 5 + 4096);
  s += fmt::format("#include \"{0}.h\"\n#include \"{0}_data.h\"\n", options.prefix);
  if (has_float && !has_image(options)) s += "\n#include <math.h>\n";
  bool own_arena = has_own_arena(program, options);
  bool tables = !program.constants.empty() && program.constant_pool < 0;
  if (!tables && !own_arena && !has_image(options))
    s += fmt::format("\n/* This model has no tables. */\ntypedef int {}_no_tables;\n", options.prefix);
  if (own_arena) {
    const std::string aligned = fmt::format("{0}_ALIGNED({0}_ARENA_ALIGN)", up);
    const std::string arena = fmt::format("uint8_t {}_arena[{}_ARENA_SIZE];\n", options.prefix, up);
    s += "\n" + aligned + (aligned.size() + arena.size() <= kCColumns ? " " : "\n") + arena;
  }
  if (has_image(options)) s += fold_lines(image_definitions(program, options));
  if (!tables) return;
  std::vector<int> section = plan::assign_sections(program, options.constants_sections);
  for (size_t i = 0; i < program.constants.size(); ++i) {
    if (names.is_row[i]) continue;
    const ops::Constant& c = program.constants[i].data;
    s += "\n" + declaration(program, options, i, names.constant_names[i], section[i], " = {\n");
    print_numbers(s, c);
    s += "};\n";
  }
}

std::string constant_pool_header(const plan::Program& program, const CodegenOptions& options) {
  std::string up = upper(options.prefix), s;
  const plan::Pool& pool = program.pools[static_cast<size_t>(program.constant_pool)];
  std::vector<uint8_t> bytes(static_cast<size_t>(pool.bytes), 0);
  for (const plan::ProgramConstant& c : program.constants)
    std::copy(c.data.bytes.begin(), c.data.bytes.end(), bytes.begin() + static_cast<ptrdiff_t>(c.offset));
  s += fmt::format("#ifndef {0}_CONSTANTS_H\n#define {0}_CONSTANTS_H\n\n", up);
  s += fmt::format(
      "/* Initialises {0}_POOL_{1}_SIZE bytes,\n"
      " * aligned to {0}_ARENA_ALIGN, on a little-endian machine. */\n#define {0}_CONSTANT_POOL_DATA",
      up, upper(pool.name));
  if (bytes.empty()) s += " 0";
  for (size_t i = 0; i < bytes.size(); ++i)
    s += fmt::format("{}{}", i % 20 == 0 ? (i > 0 ? ", \\\n    " : " \\\n    ") : ", ", bytes[i]);
  return s + "\n\n#endif\n";
}

}  // namespace aotc::codegen
