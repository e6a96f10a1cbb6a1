// SPDX-License-Identifier: Apache-2.0
// OutputDirectory of files.h: what is there is looked through, the new is made beside it and
// swapped in.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "support/disk.h"
#include "support/files.h"
#include "support/in_place.h"
#include "support/output_list.h"
#include "support/work_area.h"

namespace aotc {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostListed = 10;

using Files = std::map<std::string, OutputDirectory::File>;

class Commit {
 public:
  Commit(const Files& files, std::string shown, bool force, bool lasting, Diagnostics& diags)
      : files_(files), force_(force), lasting_(lasting), diags_(diags), area_(resolve_output(shown), shown) {
    where_.file = std::move(shown);
  }

  Status run(const std::string& list_file) {
    if (!check_target() || !area_.open(true, diags_)) return kFailure;
    // Only now: before the lock somebody else may have been at work.
    if (!check_target() || !survey(list_file) || !write()) return kFailure;
    if (there_ && stays()) return change();
    if (!carry_over()) return kFailure;
    if (std::error_code ec = sync_folders()) return failed(ec);
    if (std::error_code ec = area_.put(lasting_)) return failed(ec);
    if (there_ && !nobody_else_wrote()) return kFailure;
    warn();
    return success();
  }

 private:
  Failure error(const char* slug, const std::string& what, const char* help) {
    diags_.error(where_, slug, what).help(help);
    return kFailure;
  }
  Failure failed(const std::error_code& ec, const std::string& name = "") {
    const std::string file = name.empty() ? "" : fmt::format(" '{}'", escape_for_display(name));
    return error("file-write", fmt::format("cannot write output directory{}: {}", file, ec.message()), kNeedsRoom);
  }

  Status check_target() {
    const fs::path& target = area_.target();
    std::error_code ec;
    there_ = is_there(target);
    if (!there_ || fs::is_directory(fs::symlink_status(target, ec))) return success();
    return error("output-exists", "the output path exists, but is not a directory", "choose another -o DIRECTORY");
  }

  // Whose is what is there?
  Status survey(const std::string& list_file) {
    if (!there_) return success();
    const fs::path& target = area_.target();
    std::optional<Checksums> list;
    std::optional<std::string> text;
    std::error_code ec = list_present(target, present_);
    if (!ec) ec = content_of_list(target / list_file, text);
    if (text) list = read_list(*text, list_file);
    if (!ec) ec = judge_present(target, list, files_, present_);
    if (ec)
      return error("file-read", fmt::format("cannot read the output directory: {}", ec.message()),
                   "choose another -o DIRECTORY");
    auto lines = describe_not_ours(present_, kMostListed);
    if (lines.empty()) return success();
    if (force_) return check_conflicts();
    auto& d = diags_.error(where_, "output-exists",
                           list ? "the output directory has files that were changed or added since aotc wrote it"
                                : "the output directory exists, and aotc did not write it");
    for (std::string& line : lines) d.note(std::move(line));
    d.help(
        "choose another -o DIRECTORY, or pass --force: aotc then replaces files that have the names of its own files, "
        "and keeps all other files");
    return kFailure;
  }

  static bool is_foreign(const Present& p) { return p.owner == Owner::kChanged || p.owner == Owner::kAdded; }
  bool survives(const Present& p) const { return is_foreign(p) && !files_.contains(p.name); }

  // A file where a directory must be, or the other way round.
  Status check_conflicts() {
    std::set<std::string> kept, folders;
    for (const Present& p : present_) {
      if (!survives(p) && !(p.directory && is_foreign(p))) continue;
      if (!p.directory) kept.insert(p.name);
      if (p.directory && survives(p)) continue;  // without files
      for (size_t i = p.name.find('/'); i != std::string::npos; i = p.name.find('/', i + 1))
        folders.insert(p.name.substr(0, i));
    }
    for (const auto& [name, file] : files_) {
      std::string in_the_way = folders.contains(name) ? name : "";
      for (size_t i = name.find('/'); i != std::string::npos; i = name.find('/', i + 1))
        if (kept.contains(name.substr(0, i))) in_the_way = name.substr(0, i);
      if (in_the_way.empty()) continue;
      return error("output-exists",
                   fmt::format("'{}' blocks the path '{}'", escape_for_display(in_the_way), escape_for_display(name)),
                   "move or rename the file, or choose another -o DIRECTORY");
    }
    return success();
  }

  Status write() {
    const fs::path fresh = area_.fresh();
    if (std::error_code ec = make_directory(fresh)) return failed(ec);
    folders_.insert(fresh.string());
    for (const auto& [name, file] : files_) {
      const fs::path path = fresh / name;
      if (std::error_code ec = make_folders(path.parent_path())) return failed(ec, name);
      if (std::error_code ec = write_new_file(path, file.content, file.executable ? 0777 : 0666, lasting_))
        return failed(ec, name);
    }
    for (const auto& [name, file] : files_)
      if (lasting_)
        if (std::error_code ec = sync_to_disk(fresh / name)) return failed(ec, name);
    return success();
  }

  std::error_code make_folders(const fs::path& folder) {
    if (folders_.contains(folder.string())) return {};
    if (std::error_code ec = make_folders(folder.parent_path())) return ec;
    std::error_code ec = make_directory(folder);
    if (!ec) folders_.insert(folder.string());
    return ec;
  }

  // Files that stay get a second name in the new directory: whatever happens, they have one of the
  // two.
  Status carry_over() {
    struct stat status;
    if (there_ && ::stat(area_.target().c_str(), &status) == 0)
      (void)::chmod(area_.fresh().c_str(), status.st_mode & 07777);
    for (const Present& p : present_) {
      if (!survives(p)) continue;
      const fs::path path = area_.fresh() / p.name;
      // Directories without files stay in what is somebody else's: a repository needs them.
      if (p.directory && !folders_.contains(path.parent_path().string()) && !beside_kept(p)) continue;
      std::error_code ec = make_folders(p.directory ? path : path.parent_path());
      if (!ec && !p.directory) ec = link_or_copy(area_.target() / p.name, path);
      if (ec) return failed(ec, p.name);
    }
    return success();
  }

  // Something that stays lies under the same outermost folder.
  bool beside_kept(const Present& empty) const {
    const std::string top = empty.name.substr(0, empty.name.find('/')) + "/";
    for (const Present& p : present_)
      if (!p.directory && survives(p) && p.name.starts_with(top)) return true;
    return false;
  }

  std::error_code sync_folders() {
    for (const std::string& folder : folders_)
      if (lasting_)
        if (std::error_code ec = sync_to_disk(folder)) return ec;
    return {};
  }

  // The directory that a shell is in stays, and its content is replaced: else the shell would be
  // nowhere.
  bool stays() const {
    std::error_code ec;
    return fs::equivalent(area_.target(), fs::current_path(ec), ec);
  }

  Status change() {
    if (std::error_code ec = sync_folders()) return failed(ec);
    InPlaceChange change;
    for (const auto& [name, file] : files_) change.put[name] = "";
    for (const Present& p : present_) {
      std::string sum;
      if (!p.directory)
        if (std::error_code ec = checksum_of_file(area_.target() / p.name, sum)) return failed(ec, p.name);
      if (files_.contains(p.name)) change.put[p.name] = sum;
      else if (!survives(p)) change.drop[p.name] = sum;
    }
    if (std::error_code ec = change_in_place(area_.area(), area_.target(), change)) return failed(ec);
    if (lasting_)
      if (std::error_code ec = sync_to_disk(area_.target())) return failed(ec);
    warn();
    return success();
  }

  // What was swapped out is what was looked through; else it is swapped in again.
  bool nobody_else_wrote() {
    std::vector<Present> now;
    bool same = !list_present(area_.retired(), now) && now.size() == present_.size();
    for (size_t i = 0; same && i < now.size(); ++i) same = now[i].same_as(present_[i]);
    if (same) return true;
    if (std::error_code ec = area_.put_back()) return failed(ec), false;
    error("output-busy", "files changed in the output directory while aotc was about to replace them",
          "wait until no other program writes to the directory, and try again");
    return false;
  }

  // What was replaced although it was not ours is said.
  void warn() {
    std::vector<std::string> lines;
    for (const Present& p : present_)
      if (!p.directory && is_foreign(p) && files_.contains(p.name))
        lines.push_back((p.owner == Owner::kChanged ? "changed: " : "added: ") + escape_for_display(p.name));
    if (lines.empty()) return;
    auto& d = diags_.warning(where_, "output-replaced", "aotc replaced files that were changed or added");
    for (size_t i = 0; i < std::min(lines.size(), kMostListed); ++i) d.note(lines[i]);
    if (lines.size() > kMostListed) d.note(fmt::format("and {} more", lines.size() - kMostListed));
  }

  const Files& files_;
  bool force_, lasting_, there_ = false;
  Diagnostics& diags_;
  Location where_;
  WorkArea area_;
  std::vector<Present> present_;
  std::set<std::string> folders_;  // below the new directory, that one included
};

}  // namespace

void OutputDirectory::add(std::string relative, std::string content, bool executable) {
  files_[std::move(relative)] = {std::move(content), executable};
}

std::vector<std::string> OutputDirectory::names() const {
  std::vector<std::string> out;
  for (const auto& [name, file] : files_) out.push_back(name);
  return out;
}

Status OutputDirectory::commit(Diagnostics& diags) {
  if (auto list = files_.find(list_file_); list != files_.end()) {
    Checksums sums;
    for (const auto& [name, file] : files_)
      if (name != list_file_) sums[name] = checksum_of(file.content);
    list->second.content = with_list(list->second.content, sums);
  }
  return Commit(files_, path_, force_, !scratch_, diags).run(list_file_);
}

}  // namespace aotc
