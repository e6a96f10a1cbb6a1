// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_constants.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "support/crc32.h"
#include "support/text.h"

namespace aotc::codegen {

using plan::Program;

namespace {

constexpr std::string_view kMagic = "aotcTAB";
constexpr uint8_t kVersion = 1;

const plan::Pool& pool_of(const Program& program) { return program.pools[static_cast<size_t>(program.constant_pool)]; }

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string little_endian(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(static_cast<uint8_t>(value >> (8 * i)));
  return out;
}

std::string numbers_of(std::string_view bytes) {
  std::string out;
  for (char c : bytes) out += fmt::format("{}0x{:02X}", out.empty() ? "" : ", ", static_cast<uint8_t>(c));
  return out;
}

std::string head_of(const std::string& hash) { return std::string(kMagic) + static_cast<char>(kVersion) + hash; }

}  // namespace

std::string hash_placeholder() { return "LAYOUT_HASH_IN_EIGHT_BYTES"; }

std::string image_macros(const Program& program, const CodegenOptions& options) {
  std::string s = fmt::format(
      "/* The tables are in a separate image: its bytes, its alignment, and the status of a run if no image is\n"
      " * loaded. */\n"
      "#define {0}_CONSTANTS_SIZE {1}u\n#define {0}_CONSTANTS_ALIGN {2}u\n#define {0}_ERROR_CONSTANTS (-4)\n"
      "/* Errors of {3}_load: the image is truncated; it is no image, or of another version; it belongs to other\n"
      " * code; it is damaged. */\n"
      "#define {0}_LOAD_SIZE (-5)\n#define {0}_LOAD_FORMAT (-6)\n#define {0}_LOAD_LAYOUT (-7)\n"
      "#define {0}_LOAD_CHECKSUM (-8)\n",
      upper(options.prefix), kImageHeader + pool_of(program).bytes, Program::kArenaAlignment, options.prefix);
  if (options.constants_address != 0)
    s += fmt::format("/* Address of the image. */\n#define {}_CONSTANTS_ADDRESS 0x{:08X}u\n", upper(options.prefix),
                     options.constants_address);
  return s;
}

std::string image_prototypes(const CodegenOptions& options) {
  const std::string &p = options.prefix, up = upper(p);
  const std::string where =
      options.constants_address != 0
          ? fmt::format(
                " * `image` must be {0}_CONSTANTS_ADDRESS. Only this function checks the image; a run does not.\n", up)
          : fmt::format(
                " * `image` must be aligned to {0}_CONSTANTS_ALIGN, and its content must stay there unchanged while\n"
                " * the model is in use.\n",
                up);
  return fmt::format(
      "\n/* Loads the tables of an image for all later runs. `size` is at least the size of the image in bytes.\n{2}"
      " * Returns 0, {1}_ERROR_ARGUMENT for a null, wrong or misaligned address, or one of {1}_LOAD_...; after an\n"
      " * error no image is loaded, even if one was before, and runs return {1}_ERROR_CONSTANTS. */\n"
      "int32_t {0}_load(const void *image, uint32_t size);\n",
      p, up, where);
}

std::string image_tables(const CodegenOptions& options) {
  return options.constants_address != 0 ? upper(options.prefix) + "_TABLES" : options.prefix + "_constants";
}

std::string image_missing(const CodegenOptions& options) {
  return options.constants_address != 0 ? options.prefix + "_loaded == 0u" : options.prefix + "_constants == NULL";
}

std::string image_declarations(const CodegenOptions& options) {
  if (options.constants_address == 0)
    return fmt::format(
        "\n/* The tables of the loaded image; null if no image is loaded. */\n"
        "extern const uint8_t *{}_constants;\n",
        options.prefix);
  return fmt::format(
      "\n/* The tables of the image; 1 if the image passed the checks of its load, else 0. */\n"
      "#define {1}_TABLES \\\n    ((const uint8_t *)(uintptr_t)({1}_CONSTANTS_ADDRESS + {2}u))\n"
      "extern uint8_t {0}_loaded;\n",
      options.prefix, upper(options.prefix), kImageHeader);
}

std::string image_definitions(const Program& program, const CodegenOptions& options) {
  const std::string &p = options.prefix, up = upper(p);
  const bool fixed = options.constants_address != 0;
  const std::string none = fixed ? p + "_loaded = 0u;" : p + "_constants = NULL;";
  const std::string taken = fixed ? p + "_loaded = 1u;" : fmt::format("{}_constants = at + {}u;", p, kImageHeader);
  const std::string place =
      fixed ? fmt::format("(uintptr_t)image != {}_CONSTANTS_ADDRESS", up)
            : fmt::format("image == NULL || ((uintptr_t)image & ({}_CONSTANTS_ALIGN - 1u)) != 0", up);
  return fmt::format(
      "\n#include <stddef.h>\n#include <string.h>\n\n{8}\n\n"
      "/* First bytes of an image for this code: a name, a version, the layout hash, and the number of bytes after\n"
      " * the header. The numbers in tables are little-endian. */\n"
      "static const uint8_t {0}_image_head[20] = {{\n    {2},\n    {3}, {4},\n}};\n\n"
      "static uint32_t {0}_crc(uint32_t crc, const uint8_t *bytes, uint32_t size)\n{{\n"
      "    static const uint32_t part[16] = {{\n"
      "        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, "
      "0x5005713Cu,\n"
      "        0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, "
      "0xBDBDF21Cu,\n"
      "    }};\n"
      "    uint32_t sum = crc;\n\n"
      "    for (uint32_t i = 0; i < size; ++i) {{\n"
      "        sum = part[(sum ^ bytes[i]) & 15u] ^ (sum >> 4);\n"
      "        sum = part[(sum ^ ((uint32_t)bytes[i] >> 4)) & 15u] ^ (sum >> 4);\n"
      "    }}\n    return sum;\n}}\n\n"
      "int32_t {0}_load(const void *image, uint32_t size)\n{{\n"
      "    const uint8_t *const at = (const uint8_t *)image;\n"
      "    const uint16_t one = 1;\n"
      "    const uint8_t low = *(const uint8_t *)&one;\n"
      "    uint32_t crc = 0xFFFFFFFFu;\n\n"
      "    {5}\n"
      "    if ({7}) {{\n        return {1}_ERROR_ARGUMENT;\n    }}\n"
      "    if (size < {1}_CONSTANTS_SIZE) {{\n        return {1}_LOAD_SIZE;\n    }}\n"
      "    if (low == 0u || memcmp(at, {0}_image_head, 8) != 0) {{\n        return {1}_LOAD_FORMAT;\n    }}\n"
      "    if (memcmp(at + 8, {0}_image_head + 8, 12) != 0) {{\n        return {1}_LOAD_LAYOUT;\n    }}\n"
      "    crc = {0}_crc(crc, at, 24);\n"
      "    crc = {0}_crc(crc, at + {9}, {1}_CONSTANTS_SIZE - {9}u) ^ 0xFFFFFFFFu;\n"
      "    for (uint32_t i = 0; i < 8u; ++i) {{\n"
      "        if (at[24u + i] != (i < 4u ? (uint8_t)(crc >> (8u * i)) : 0u)) {{\n"
      "            return {1}_LOAD_CHECKSUM;\n        }}\n"
      "    }}\n"
      "    {6}\n    return 0;\n}}\n",
      p, up, numbers_of(head_of("")), hash_placeholder(),
      numbers_of(little_endian(static_cast<uint64_t>(pool_of(program).bytes), 4)), none, taken, place,
      fixed ? fmt::format("uint8_t {}_loaded;", p) : fmt::format("const uint8_t *{}_constants;", p), kImageHeader);
}

std::string without_comments(const std::string& text) {
  std::string out, line;
  enum class In { kCode, kComment, kText, kLetter } in = In::kCode;
  auto end_line = [&] {
    line.erase(line.find_last_not_of(" \t") + 1);
    if (!line.empty()) out += line + "\n";
    line.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\n') {
      end_line();
    } else if (in == In::kComment) {
      if (c != '*' || next != '/') continue;
      in = In::kCode;
      ++i;
    } else if (in != In::kCode) {
      line += c;
      if (c == '\\' && next != '\n') line += text[++i];
      else if (c == (in == In::kText ? '"' : '\'')) in = In::kCode;
    } else if (c == '/' && next == '*') {
      in = In::kComment;
      line += ' ';
      ++i;
    } else {
      line += c;
      if (c == '"') in = In::kText;
      if (c == '\'') in = In::kLetter;
    }
  }
  end_line();
  return out;
}

uint64_t layout_hash(const std::map<std::string, std::string>& files) {
  std::string all;
  for (const auto& [name, text] : files)
    if (name.ends_with(".c") || name.ends_with(".h")) all += name + "\n" + without_comments(text) + "\f";
  return stable_hash(all);
}

namespace {

void replace(std::map<std::string, std::string>& files, const std::string& from, const std::string& to) {
  for (auto& [name, text] : files)
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
}

}  // namespace

void set_hash(std::map<std::string, std::string>& files, uint64_t hash) {
  replace(files, hash_placeholder(), numbers_of(little_endian(hash, 8)));
}

void clear_hash(std::map<std::string, std::string>& files, uint64_t hash) {
  replace(files, numbers_of(little_endian(hash, 8)), hash_placeholder());
}

std::string image_of(const Program& program, uint64_t hash) {
  std::string tables(static_cast<size_t>(pool_of(program).bytes), '\0');
  for (const plan::ProgramConstant& c : program.constants)
    std::copy(c.data.bytes.begin(), c.data.bytes.end(), tables.begin() + static_cast<ptrdiff_t>(c.offset));
  std::string out = head_of(little_endian(hash, 8)) + little_endian(tables.size(), 8);
  return out + little_endian(crc32(bytes_of(tables), crc32(bytes_of(out))), 8) + tables;
}

}  // namespace aotc::codegen
