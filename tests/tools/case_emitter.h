// SPDX-License-Identifier: Apache-2.0
// Operator cases as one C program: the models' sources in chunks of many, and a main that runs each
// case and compares. Inputs and wanted results are no C text, which would take a compiler longer
// than the models, but one file of bytes (cases.bin) that cases_data.S includes.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "codegen/c_model.h"
#include "plan/program.h"
#include "support/text.h"

namespace aotc::tests {

using Bytes = std::vector<uint8_t>;

// A result that LiteRT has, of one sample.
struct Record {
  uint32_t sample, op, result;
  Bytes data;
};

class CaseEmitter {
 public:
  explicit CaseEmitter(std::string dir) : dir_(std::move(dir)) { std::filesystem::create_directories(dir_); }

  // Results and floats are compared as check.h does; `ulp` is how far floats may be off.
  void add(const std::string& title, const plan::Program& program, const std::vector<std::vector<Bytes>>& samples,
           const std::vector<Record>& expected, int64_t ulp) {
    std::string p = fmt::format("m{}", count_++);
    codegen::CodegenOptions options;
    options.prefix = p;
    options.version = "test";
    codegen::ModelFiles files = codegen::print_model(program, options);
    // A file of each would be 60,000 files, which take longer to write than to compute.
    for (const std::string& name : {p + ".h", p + "_data.h", p + ".c", p + "_data.c"}) chunk_ += text_of(files, name);
    Sizes in, want;
    const size_t begin = data_.size();
    size_t stride = 0;
    for (size_t s = 0; s < samples.size(); ++s) {
      const size_t at = data_.size();
      in = append(samples[s]);
      want = append(wanted(program.graph, expected, s));
      stride = data_.size() - at;
    }
    chunk_ += once(p, program, files, in, want, ulp);
    chunk_ += fmt::format(
        "int run_{0}(void);\nint run_{0}(void)\n{{\n    int i, bad = 0;\n"
        "    for (i = 0; i < {1}; ++i) bad |= once_{0}(case_data + {2}u + {3}u * (unsigned)i);\n"
        "    if (bad) printf(\"FAILED {4}\\n\");\n    return bad;\n}}\n",
        p, samples.size(), begin, stride, title);
    runs_ += fmt::format("    failed += run_{}() != 0;\n", p);
    prototypes_ += fmt::format("int run_{}(void);\n", p);
    if (count_ % kCasesInChunk == 0) flush();
  }

  void finish() {
    flush();
    write("check.h", kInterface);
    write("cases.bin", {data_.begin(), data_.end()});
    write("cases_data.S",
          "    .section .rodata\n    .globl case_data\n    .balign 16\ncase_data:\n"
          "    .incbin \"cases.bin\"\n    .section .note.GNU-stack,\"\"\n");
    write("main.c", fmt::format("#include <stdio.h>\n#include \"check.h\"\n\n"
                                "static uint8_t arena[{0}] __attribute__((aligned(16))), "
                                "output[{0}] __attribute__((aligned(16)));\n"
                                "{1}\n{2}\nint main(void)\n{{\n    int failed = 0;\n{3}"
                                "    printf(\"%d passed, %d failed\\n\", {4} - failed, failed);\n"
                                "    return failed != 0;\n}}\n",
                                largest_, kFunctions, prototypes_, runs_, count_));
  }

 private:
  static constexpr int kCasesInChunk = 40;

  // Where each block lies in a sample, and its bytes.
  struct Block {
    size_t at, bytes;
  };
  using Sizes = std::vector<Block>;

  // A file without the lines that include others of the model.
  static std::string text_of(const codegen::ModelFiles& files, const std::string& name) {
    std::string out;
    for (const auto& [file, text] : files.files) {
      if (file != name) continue;
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        if (text.compare(at, 10, "#include \"") != 0) out.append(text, at, end - at);
        at = end;
      }
    }
    return out;
  }

  static size_t aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

  Sizes append(const std::vector<Bytes>& blocks) {
    Sizes sizes;
    for (const Bytes& block : blocks) {
      sizes.push_back({data_.size(), block.size()});
      data_.insert(data_.end(), block.begin(), block.end());
      data_.resize(aligned(data_.size()));
    }
    return sizes;
  }

  static std::vector<Bytes> wanted(const graph::Graph& g, const std::vector<Record>& expected, size_t sample) {
    std::vector<Bytes> out(g.outputs.size());
    for (const Record& r : expected)
      if (r.sample == sample && r.result < out.size()) out[r.result] = r.data;
    return out;
  }

  // The function that runs one sample. `in` and `want` are of the last one; all have the same
  // sizes.
  std::string once(const std::string& p, const plan::Program& program, const codegen::ModelFiles& files,
                   const Sizes& in, const Sizes& want, int64_t ulp) {
    const size_t first = in.empty() ? (want.empty() ? 0 : want[0].at) : in[0].at;
    std::string ins, outs, fills, checks;
    for (size_t i = 0; i < in.size(); ++i) {
      if (program.inputs[i].kind == plan::StorageKind::kArena)
        fills += fmt::format("    memcpy({}_input_{}(arena), d + {}, {});\n", p, files.input_fields[i],
                             in[i].at - first, in[i].bytes);
      else ins += fmt::format("(const void *)(d + {}), ", in[i].at - first);
    }
    size_t results = 0;
    for (size_t o = 0; o < want.size(); ++o) {
      std::string have = fmt::format("output + {}", results);
      if (program.outputs[o].kind == plan::StorageKind::kArena) {
        have = fmt::format("{}_output_{}(arena)", p, files.output_fields[o]);
      } else {
        outs += fmt::format("(void *)({}), ", have);
        results += std::max<size_t>(aligned(want[o].bytes), 16);
      }
      const bool is_float = program.graph[program.graph.outputs[o].tensor].type.dtype == DType::kF32;
      checks += fmt::format("    bad |= check_{}({}, d + {}, {}, {});\n", is_float ? "float" : "bytes", have,
                            want[o].at - first, want[o].bytes, ulp);
    }
    const auto arena = static_cast<size_t>(program.arena_bytes);
    largest_ = std::max({largest_, aligned(arena), results});
    return fmt::format(
        "static int once_{0}(const uint8_t *d)\n{{\n"
        "    uint8_t *arena = check_arena({1}_ARENA_SIZE), *output = check_output({2});\n"
        "    struct {0}_inputs inputs = {{ {3} }};\n    struct {0}_outputs outputs = {{ {4} }};\n"
        "    int bad;\n    (void)output;\n{5}    bad = {0}_run(&inputs, &outputs, arena) != 0;\n"
        "{6}    return bad;\n}}\n",
        p, upper(p), results, ins.empty() ? "0" : ins, outs.empty() ? "0" : outs, fills, checks);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(std::filesystem::path(dir_) / name, std::ios::binary) << text;
  }

  void flush() {
    if (chunk_.empty()) return;
    write(fmt::format("chunk_{}.c", chunks_++),
          "#include <stdint.h>\n#include <stdio.h>\n#include \"check.h\"\n" + chunk_);
    chunk_.clear();
  }

  static constexpr const char* kInterface =
      "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"
      "extern const uint8_t case_data[];\n"
      "/* Memory for a run, filled with what no run should read. */\n"
      "uint8_t *check_arena(size_t bytes);\nuint8_t *check_output(size_t bytes);\n"
      "/* 0 if they are equal. */\n"
      "int check_bytes(const void *a, const void *b, size_t n, int64_t ulp);\n"
      "int check_float(const void *a, const void *b, size_t n, int64_t ulp);\n";

  static constexpr const char* kFunctions =
      "uint8_t *check_arena(size_t bytes)\n{ return memset(arena, 0xa5, bytes); }\n"
      "uint8_t *check_output(size_t bytes)\n{ return memset(output, 0x5a, bytes); }\n"
      "static int64_t check_key(uint32_t b)\n"
      "{ return (b >> 31) ? -(int64_t)(b & 0x7fffffffu) : (int64_t)b; }\n"
      "int check_bytes(const void *a, const void *b, size_t n, int64_t ulp)\n"
      "{ (void)ulp; return memcmp(a, b, n) != 0; }\n"
      "int check_float(const void *a, const void *b, size_t n, int64_t ulp)\n{\n"
      "    size_t i;\n    for (i = 0; i < n; i += 4) {\n        uint32_t x, y;\n        int64_t "
      "d;\n"
      "        memcpy(&x, (const char *)a + i, 4);\n        memcpy(&y, (const char *)b + i, 4);\n"
      "        if ((x & 0x7fffffffu) > 0x7f800000u && (y & 0x7fffffffu) > 0x7f800000u) continue;\n"
      "        d = check_key(x) - check_key(y);\n        if (d > ulp || d < -ulp) return 1;\n    "
      "}\n"
      "    return 0;\n}\n";

  std::string dir_, chunk_, runs_, prototypes_;
  Bytes data_;
  size_t largest_ = 16;
  int count_ = 0, chunks_ = 0;
};

}  // namespace aotc::tests
