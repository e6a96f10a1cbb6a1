// SPDX-License-Identifier: Apache-2.0
#include "driver/project_dir.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "support/files.h"
#include "support/text.h"

namespace aotc::driver {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMaxCacheBytes = uint64_t{64} << 20;
constexpr const char* kFirstLine = "aotc program 1\n";

// The user's cache directory, empty if there is none.
fs::path cache_directory() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  // Relative paths are to be ignored, says the specification of XDG_CACHE_HOME.
  if (xdg != nullptr && xdg[0] == '/') return fs::path(xdg) / "aotc" / "verify";
  if (home != nullptr && home[0] == '/') return fs::path(home) / ".cache" / "aotc" / "verify";
  return {};
}

std::string content_of(const fs::path& path) {
  Diagnostics ignored;
  auto bytes = read_file(path.string(), ignored);
  return bytes ? std::string(bytes->begin(), bytes->end()) : std::string();
}

// Which compiler this is: what its name leads to, and when that was installed.
std::string identity_of(const std::string& compiler) {
  std::error_code ec;
  std::string path = fs::canonical(compiler, ec).string();
  struct stat info{};
  if (ec || stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{} {} {}.{}\n", path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

class HostProgram {
 public:
  HostProgram(const ProjectDir& project, Diagnostics& diags)
      : folder_(project.path),
        prefix_(project.manifest["prefix"]),
        image_(project.image()),
        compiler_name_(project.board.compiler),
        diags_(diags) {}

  int build() {
    compiler_ = find_program(compiler_name_);
    if (compiler_.empty()) return missing();
    const std::string made_of = recipe();
    const fs::path cache = cache_directory();
    const fs::path kept = cache.empty() ? fs::path() : cache / fmt::format("{:016x}", stable_hash(made_of));
    std::error_code ec;
    fs::create_directories(fs::path(image_).parent_path(), ec);
    if (!kept.empty() && take(kept, made_of)) return kExitDone;
    int code = compile();
    if (code == kExitDone && !kept.empty()) keep(kept, made_of);
    return code;
  }

 private:
  // The run function that leaves a trace is the only one: what is not compared need not be compiled. The program
  // exports nothing: a model's pthread_mutex_init must not replace that of the C library in other libraries.
  std::vector<std::string> flags() const {
    return {"-std=c99",
            "-O1",
            "-ffp-contract=off",
            "-fvisibility=hidden",
            "-DAOTC_VERIFY=1",
            fmt::format("-D{0}_run={0}_run_traced", prefix_),
            fmt::format("-D{0}_begin={0}_begin_traced", prefix_),
            fmt::format("-D{0}_step={0}_step_traced", prefix_),
            fmt::format("-D{0}_row={0}_row_traced", prefix_),
            fmt::format("-D{0}_feed={0}_feed_traced", prefix_),
            fmt::format("-D{}_TRACE=", upper(prefix_)),
            "-w",
            "-I" + folder_ + "/model"};
  }

  static std::string upper(std::string text) {
    for (char& c : text)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
  }

  // Names below the project's folder, sorted.
  std::vector<std::string> files(const char* ending) const {
    std::vector<std::string> out;
    for (const char* part : {"model", "model/operators", "src"}) {
      std::error_code ec;
      for (const auto& entry : fs::directory_iterator(fs::path(folder_) / part, ec))
        if (entry.path().extension() == ending)
          out.push_back(std::string(part) + "/" + entry.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  // All that the program follows from.
  std::string recipe() const {
    std::string out = identity_of(compiler_);
    for (const std::string& flag : flags())
      if (!flag.starts_with("-I")) out += flag + "\n";
    for (const char* ending : {".c", ".h"})
      for (const std::string& name : files(ending)) {
        const std::string content = content_of(folder_ + "/" + name);
        out += fmt::format("{} {}\n{}", name, content.size(), content);
      }
    return out;
  }

  int missing() {
    Location where;
    where.file = folder_;
    diags_.error(where, "tool-missing", fmt::format("the compiler '{}' is not installed", compiler_name_))
        .help("install it: apt-get install gcc");
    return kExitToolMissing;
  }

  int compile() {
    std::vector<std::string> command = {compiler_};
    for (const std::string& flag : flags()) command.push_back(flag);
    for (const std::string& name : files(".c")) command.push_back(folder_ + "/" + name);
    for (const char* last : {"-pthread", "-lm", "-o"}) command.push_back(last);
    command.push_back(image_);
    const ProcessResult r = run_process(command, "", 1800);
    if (r.started && r.exit_code == 0) return kExitDone;
    Location where;
    where.file = folder_;
    diags_.error(where, "build-failed", fmt::format("the build failed with exit code {}", r.exit_code))
        .note(escape_for_display(r.output, 1000));
    return kExitBadInput;
  }

  // A kept program is its recipe, its bytes, and a hash over both.
  static std::string packed(const std::string& made_of, const std::string& program) {
    std::string out = fmt::format("{}{} {}\n", kFirstLine, made_of.size(), program.size());
    out += made_of + program;
    return out + fmt::format("{:016x}", stable_hash(out));
  }

  bool take(const fs::path& kept, const std::string& made_of) {
    std::error_code ec;
    if (!fs::is_regular_file(kept, ec) || fs::file_size(kept, ec) > kMaxCacheBytes) return false;
    const std::string all = content_of(kept);
    const std::string head = fmt::format("{}{} ", kFirstLine, made_of.size());
    const size_t line = all.find('\n', head.size());
    if (!all.starts_with(head) || line == std::string::npos) return false;
    const size_t program = line + 1 + made_of.size();
    if (all.size() < program + 16 || all.compare(line + 1, made_of.size(), made_of) != 0) return false;
    const std::string bytes = all.substr(program, all.size() - program - 16);
    if (packed(made_of, bytes) != all || !write_program(bytes)) return false;
    fs::last_write_time(kept, fs::file_time_type::clock::now(), ec);  // the last used go last
    return true;
  }

  bool write_program(const std::string& bytes) {
    Diagnostics ignored;
    if (!write_file(image_, bytes, ignored)) return false;
    return chmod(image_.c_str(), 0755) == 0;
  }

  // A cache that cannot be written is no mistake. Writers replace a file as a whole.
  void keep(const fs::path& kept, const std::string& made_of) {
    Diagnostics ignored;
    std::error_code ec;
    fs::create_directories(kept.parent_path(), ec);
    if (ec) return;
    fs::permissions(kept.parent_path(), fs::perms::owner_all, ec);
    const std::string all = packed(made_of, content_of(image_));
    if (all.size() <= kMaxCacheBytes / 4 && write_file(kept.string(), all, ignored)) drop_oldest(kept.parent_path());
  }

  static void drop_oldest(const fs::path& cache) {
    struct Entry {
      fs::file_time_type used;
      uint64_t bytes;
      fs::path path;
    };
    std::vector<Entry> entries;
    uint64_t total = 0;
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator(cache, ec)) {
      std::error_code gone;
      Entry e{entry.last_write_time(gone), entry.file_size(gone), entry.path()};
      if (gone) continue;
      total += e.bytes;
      entries.push_back(std::move(e));
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& e : entries) {
      if (total <= kMaxCacheBytes) return;
      fs::remove(e.path, ec);
      total -= e.bytes;
    }
  }

  std::string folder_, prefix_, image_, compiler_name_, compiler_;
  Diagnostics& diags_;
};

}  // namespace

bool builds_alone(const project::ProjectModel& model) {
  return !model.runtime && !model.workspace && model.devices.empty();
}

int build_host_program(const ProjectDir& project, Diagnostics& diags) { return HostProgram(project, diags).build(); }

}  // namespace aotc::driver
