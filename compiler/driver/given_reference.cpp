// SPDX-License-Identifier: Apache-2.0
#include "driver/given_reference.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "ops/operator.h"
#include "support/files.h"
#include "support/process.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

constexpr int kBuildSeconds = 600, kCallSeconds = 60;
constexpr int kWroteOutside = 90, kWroteOperand = 91, kNoMemory = 92, kBadFile = 93, kFailed = 94;

// Reads operands and sizes of results from in.bin, calls function N, writes the results to out.bin.
constexpr const char kMain[] = R"(
int main(int argc, char **argv)
{
    enum { GUARD = 64, MOST = 256 };
    static void *tensors[MOST];
    static unsigned char *copies[MOST];
    uint64_t head[2], bytes;
    int n, i, status;
    FILE *f = fopen("in.bin", "rb");
    if (argc != 2 || f == NULL || fread(head, 8, 2, f) != 2 || head[0] + head[1] > MOST) return 93;
    n = (int)(head[0] + head[1]);
    uint64_t sizes[MOST];
    for (i = 0; i < n; ++i) {
        if (fread(&bytes, 8, 1, f) != 1) return 93;
        unsigned char *block = malloc((size_t)bytes + 2 * GUARD);
        copies[i] = malloc((size_t)bytes + 2 * GUARD);
        if (block == NULL || copies[i] == NULL) return 92;
        memset(block, 0xA5, (size_t)bytes + 2 * GUARD);
        if ((uint64_t)i < head[0] && fread(block + GUARD, 1, (size_t)bytes, f) != bytes) return 93;
        memcpy(copies[i], block, (size_t)bytes + 2 * GUARD);
        sizes[i] = bytes;
        tensors[i] = block + GUARD;
    }
    fclose(f);
    status = functions[atoi(argv[1])](tensors);
    f = fopen("status.bin", "wb");
    if (f == NULL || fwrite(&status, sizeof status, 1, f) != 1 || fclose(f) != 0) return 93;
    if (status != 0) return 94;
    for (i = 0; i < n; ++i) {
        unsigned char *block = (unsigned char *)tensors[i] - GUARD;
        if (memcmp(block, copies[i], GUARD) != 0 ||
            memcmp(block + GUARD + sizes[i], copies[i] + GUARD + sizes[i], GUARD) != 0) return 90;
        if ((uint64_t)i < head[0] && memcmp(block, copies[i], (size_t)sizes[i] + GUARD) != 0) return 91;
    }
    f = fopen("out.bin", "wb");
    for (i = (int)head[0]; f != NULL && i < n; ++i)
        if (fwrite(tensors[i], 1, (size_t)sizes[i], f) != sizes[i]) return 93;
    return f != NULL && fclose(f) == 0 ? 0 : 93;
}
)";

// The graph's functions with how many pointers each is called; all are of one set of sources.
bool find_given(const graph::Graph& graph, std::shared_ptr<GivenReference>& given,
                std::map<std::string, size_t>& parameters, Diagnostics& diags) {
  for (const graph::Op& op : graph.ops) {
    for (const graph::Graph& region : op.regions)
      if (!find_given(region, given, parameters, diags)) return false;
    if (!ops::definition_of(op).traits().external) continue;
    const auto& a = op.attrs<ops::ExternalAttrs>();
    auto found = std::dynamic_pointer_cast<GivenReference>(a.reference);
    if (found == nullptr || a.context || a.convention == CallingConvention::kPacked) {
      diags.error(op.location, "verify-external", "the operator is a C function, for which aotc has no reference")
          .help("run the firmware, and compare its results with the results of the graph's original runtime");
      return false;
    }
    given = std::move(found);
    parameters[a.symbol] = op.operands.size() + op.results.size();
  }
  return true;
}

// The program: one function without types for each of the user's.
std::string caller(const std::map<std::string, size_t>& parameters) {
  std::string s = "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n", list;
  size_t number = 0;
  for (const auto& [symbol, count] : parameters) {
    std::string types, values;
    for (size_t i = 0; i < count; ++i) {
      types += i == 0 ? "void *" : ", void *";
      values += fmt::format("{}t[{}]", i == 0 ? "" : ", ", i);
    }
    s += fmt::format("extern int32_t {0}({1});\nstatic int call_{2}(void **t) {{ return (int){0}({3}); }}\n", symbol,
                     types, number, values);
    list += fmt::format("{}call_{}", number == 0 ? "" : ", ", number);
    ++number;
  }
  return s + fmt::format("static int (*const functions[])(void **) = {{ {} }};\n", list) + kMain;
}

void append_number(std::string& out, uint64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Status GivenReference::build(const std::map<std::string, size_t>& parameters, Diagnostics& diags) {
  Location where;
  where.file = "gcc";
  const std::string compiler = find_program("gcc");
  if (compiler.empty()) {
    diags
        .error(where, "tool-missing",
               "gcc is not installed, but aotc needs it to compile the operators in C for the comparison")
        .help("install it: apt-get install gcc");
    return kFailure;
  }
  directory_ = std::make_unique<TemporaryDirectory>();
  if (!directory_->made(diags)) return kFailure;
  const std::string& path = directory_->path();
  std::vector<std::string> command = {compiler, "-std=gnu11", "-O1", "-ffp-contract=off", "-w", "-I."};
  for (const std::string& dir : include_dirs_) command.push_back("-I" + std::filesystem::absolute(dir).string());
  for (const auto& [name, text] : files_) {
    if (!write_scratch_file(path + "/" + name, text, diags)) return kFailure;
    if (name.ends_with(".c")) command.push_back(name);
  }
  if (!write_scratch_file(path + "/aotc_reference_calls.c", caller(parameters), diags)) return kFailure;
  for (const char* last : {"aotc_reference_calls.c", "-lm", "-o", "aotc_reference"}) command.push_back(last);
  for (const auto& [symbol, count] : parameters) numbers_.emplace(symbol, numbers_.size());
  const ProcessResult r = run_process(command, path, kBuildSeconds);
  if (r.started && r.exit_code == 0) return success();
  where.file = files_.empty() ? "gcc" : files_.begin()->first;
  diags
      .error(where, "build-failed",
             "the operators in C do not compile for this machine, but aotc must run them here for the comparison")
      .note(escape_for_display(r.output, 1000))
      .help("if the source has code for one CPU, add portable C beside it and select one of the two with #if");
  return kFailure;
}

bool GivenReference::call(const std::string& symbol, const ops::EvalData& data) {
  const std::string& path = directory_->path();
  std::string in;
  append_number(in, data.operands.size());
  append_number(in, data.results.size());
  uint64_t total = 0;
  for (const auto& operand : data.operands) {
    append_number(in, operand.size());
    in.append(reinterpret_cast<const char*>(operand.data()), operand.size());
  }
  for (const auto& result : data.results) append_number(in, result.size()), total += result.size();
  Diagnostics ignored;
  if (!write_scratch_file(path + "/in.bin", in, ignored))
    return problem_ =
               fmt::format("'{}' could not be called: aotc cannot write its operands to a temporary file", symbol),
           false;
  const ProcessResult r =
      run_process({path + "/aotc_reference", std::to_string(numbers_.at(symbol))}, path, kCallSeconds);
  auto fail = [&](std::string what) {
    problem_ = fmt::format("'{}' {}", symbol, what);
    return false;
  };
  if (r.timed_out) return fail(fmt::format("did not end within {} seconds", kCallSeconds));
  if (r.exit_code == kWroteOutside) return fail("wrote outside of its tensors");
  if (r.exit_code == kWroteOperand) return fail("wrote to an operand");
  if (r.exit_code == kFailed) {
    int status = 0;
    auto bytes = read_file(path + "/status.bin", ignored);
    if (bytes && bytes->size() == sizeof status) std::memcpy(&status, bytes->data(), sizeof status);
    return fail(fmt::format("returned {}", status));
  }
  if (r.exit_code > 128) return fail(fmt::format("ended by signal {}", r.exit_code - 128));
  auto bytes = r.exit_code == 0 ? read_file(path + "/out.bin", ignored) : Result<std::vector<uint8_t>>(kFailure);
  if (!bytes || bytes->size() != total) return fail("could not be called");
  auto at = bytes->begin();
  for (const auto& result : data.results) {
    std::copy(at, at + static_cast<int64_t>(result.size()), result.begin());
    at += static_cast<int64_t>(result.size());
  }
  return true;
}

void GivenReference::run(const std::string& symbol, const ops::EvalData& data) {
  if (!problem_.empty() || !directory_ || !numbers_.contains(symbol) || !call(symbol, data))
    for (const auto& result : data.results) std::fill(result.begin(), result.end(), uint8_t{0});
  if (problem_.empty() && !directory_) problem_ = fmt::format("'{}' was not compiled", symbol);
}

Result<std::shared_ptr<GivenReference>> build_given(const graph::Graph& graph, Diagnostics& diags) {
  std::shared_ptr<GivenReference> given;
  std::map<std::string, size_t> parameters;
  if (!find_given(graph, given, parameters, diags)) return kFailure;
  if (given != nullptr && !given->build(parameters, diags)) return kFailure;
  return given;
}

}  // namespace aotc::driver
