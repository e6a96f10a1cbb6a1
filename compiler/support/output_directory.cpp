// SPDX-License-Identifier: Apache-2.0
// OutputDirectory of files.h: looks through the present content, makes the new content beside it and swaps the two.
// The file that describes an output (aotc.json) ends with the checksums of all files of the output, itself included. A
// file whose checksum matches is unchanged since aotc wrote it, whatever its date, so aotc may replace it.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "support/disk.h"
#include "support/files.h"
#include "support/json.h"
#include "support/work_area.h"

namespace aotc {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostListed = 10;
constexpr uint64_t kMostOfList = uint64_t{64} << 20;
constexpr const char* kKey = "written";
constexpr std::string_view kNoChecksum = "0000000000000000", kAfterChecksum = "\"\n }\n}\n";

using Files = std::map<std::string, OutputDirectory::File>;

// The offset of the own checksum in a text that with_list returned; 0 if the text is too short.
size_t own_checksum(std::string_view json) {
  constexpr size_t kTail = kNoChecksum.size() + kAfterChecksum.size();
  return json.size() > kTail ? json.size() - kTail : 0;
}

// Returns the text of JSON object `json` with the list added as its last member. The own checksum is that of the text
// with zeros in its place. The object is not parsed, because it grows with the model.
std::string with_list(std::string_view json, const Checksums& files) {
  const nlohmann::ordered_json list = {{kKey, {{"files", files}, {"checksum", kNoChecksum}}}};
  std::string out(json.substr(0, json.rfind('}')));
  out.erase(out.find_last_not_of(" \n") + 1);
  out += (out.back() == '{' ? "" : ",") + json_text(list, 1).substr(1) + "\n";
  return out.replace(own_checksum(out), kNoChecksum.size(), checksum_of(out));
}

// Returns the list in such a text, including the checksum of the text itself under `name`; nullopt if the text has no
// list. An empty checksum matches no file.
std::optional<Checksums> read_list(const std::string& json, const std::string& name) {
  nlohmann::json root;
  if (parse_json(json, root) || !root.is_object() || !root.contains(kKey)) return std::nullopt;
  const auto& written = root[kKey];
  if (!written.is_object() || !written.contains("files") || !written["files"].is_object()) return std::nullopt;
  Checksums out;
  for (const auto& [file, sum] : written["files"].items())
    if (sum.is_string()) out[file] = sum.get<std::string>();
  const size_t at = own_checksum(json);
  std::string plain = json;
  plain.replace(at, kNoChecksum.size(), kNoChecksum);
  out[name] = json.compare(at, kNoChecksum.size(), checksum_of(plain)) == 0 ? checksum_of(json) : "";
  return out;
}

enum class Owner {
  kOurs,     // written by aotc and unchanged since, or equal to the file to write
  kDerived,  // a directory derived from the output (kDerivedMarker), such as a build directory
  kChanged,  // written by aotc and changed since by somebody else
  kAdded,
};

struct Present {
  std::string name;  // relative, with '/'
  Owner owner = Owner::kAdded;
  bool directory = false;  // true for kDerived, and for a directory without files
  ino_t inode = 0;
  off_t size = 0;
  timespec changed{};

  bool same_as(const Present& other) const {
    return name == other.name && directory == other.directory &&
           (directory || (inode == other.inode && size == other.size && changed.tv_sec == other.changed.tv_sec &&
                          changed.tv_nsec == other.changed.tv_nsec));
  }
  bool is_foreign() const { return owner == Owner::kChanged || owner == Owner::kAdded; }
  std::string str() const { return (owner == Owner::kAdded ? "added: " : "changed: ") + name; }
};

// Lists all entries below `root`, sorted by name, except directories that contain files. Links are not followed.
std::error_code list_present(const fs::path& root, std::vector<Present>& out, const std::string& folder = "") {
  std::vector<std::string> names;
  if (std::error_code ec = list_directory(root / folder, names)) return ec;
  if (names.empty() && !folder.empty()) out.push_back({folder, Owner::kAdded, true, 0, 0, {}});
  for (const std::string& base : names) {
    Present p;
    p.name = folder.empty() ? base : folder + "/" + base;
    struct stat status;
    if (::lstat((root / p.name).c_str(), &status) != 0) return {errno, std::generic_category()};
    p.inode = status.st_ino;
    p.size = status.st_size;
    p.changed = status.st_mtim;
    p.directory = S_ISDIR(status.st_mode);
    if (p.directory && folder.empty() && is_there(root / base / kDerivedMarker)) p.owner = Owner::kDerived;
    if (!p.directory || p.owner == Owner::kDerived) out.push_back(std::move(p));
    else if (std::error_code below = list_present(root, out, p.name)) return below;
  }
  return {};
}

// Sets the owner of each file. `list`: checksums of the files that aotc wrote. `to_write`: the new files.
std::error_code judge_present(const fs::path& root, const Checksums& list, const Files& to_write,
                              std::vector<Present>& present) {
  for (Present& p : present) {
    if (p.directory) continue;
    const auto listed = list.find(p.name);
    const auto planned = to_write.find(p.name);
    const bool known = listed != list.end();
    const bool compare = planned != to_write.end() && static_cast<uint64_t>(p.size) == planned->second.content.size();
    std::optional<std::string> content;
    if (known || compare)
      if (std::error_code ec = read_regular_file(root / p.name, content)) return ec;
    const bool same = content && ((known && checksum_of(*content) == listed->second) ||
                                  (compare && *content == planned->second.content));
    p.owner = same ? Owner::kOurs : known ? Owner::kChanged : Owner::kAdded;
  }
  return {};
}

// Returns the folders above a file, outermost first: "a" and "a/b" for "a/b/c".
std::vector<std::string> folders_above(const std::string& name) {
  std::vector<std::string> out;
  for (size_t i = name.find('/'); i != std::string::npos; i = name.find('/', i + 1)) out.push_back(name.substr(0, i));
  return out;
}

// Describes the files that aotc does not own, one line each: "changed: digits.c". A folder without a file of aotc is
// one line: "added: notes/ (3 files)".
std::vector<std::string> describe_not_ours(const std::vector<Present>& present) {
  std::set<std::string> ours;  // folders that hold something of aotc's
  for (const Present& p : present)
    if (p.owner != Owner::kAdded)
      for (std::string& folder : folders_above(p.name)) ours.insert(std::move(folder));
  std::vector<std::pair<std::string, int>> lines;  // with the number of files in a folder
  for (const Present& p : present) {
    if (p.directory || p.owner == Owner::kOurs) continue;
    const auto folders = folders_above(p.name);
    const auto shown = std::find_if(folders.begin(), folders.end(), [&](const auto& f) { return !ours.contains(f); });
    const bool is_folder = shown != folders.end();
    const std::string line = is_folder ? "added: " + *shown + "/" : p.str();
    if (is_folder && !lines.empty() && lines.back().first == line) ++lines.back().second;
    else lines.emplace_back(line, is_folder ? 1 : 0);
  }
  std::vector<std::string> out;
  for (const auto& [line, files] : lines)
    out.push_back(escape_for_display(line) +
                  (files == 0 ? "" : fmt::format(" ({} file{})", files, files == 1 ? "" : "s")));
  return out;
}

void add_notes(Diagnostic& message, const std::vector<std::string>& lines) {
  for (size_t i = 0; i < std::min(lines.size(), kMostListed); ++i) message.note(lines[i]);
  if (lines.size() > kMostListed) message.note(fmt::format("and {} more", lines.size() - kMostListed));
}

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

  // Finds the owner of each present file, and refuses to replace files of others.
  Status survey(const std::string& list_file) {
    if (!there_) return success();
    const fs::path& target = area_.target();
    std::optional<Checksums> list;
    std::optional<std::string> text;
    std::error_code ec = list_present(target, present_);
    if (!ec) ec = read_regular_file(target / list_file, text, kMostOfList);
    if (text) list = read_list(*text, list_file);
    if (!ec) ec = judge_present(target, list.value_or(Checksums()), files_, present_);
    if (ec)
      return error("file-read", fmt::format("cannot read the output directory: {}", ec.message()),
                   "choose another -o DIRECTORY");
    const auto lines = describe_not_ours(present_);
    if (lines.empty()) return success();
    if (force_) return check_conflicts();
    auto& d = diags_.error(where_, "output-exists",
                           list ? "the output directory has files that were changed or added since aotc wrote it"
                                : "the output directory exists, and aotc did not write it");
    add_notes(d, lines);
    d.help(
        "choose another -o DIRECTORY, or pass --force: aotc then replaces files that have the names of its own files, "
        "and keeps all other files");
    return kFailure;
  }

  bool survives(const Present& p) const { return p.is_foreign() && !files_.contains(p.name); }

  // A file where a directory must be, or the other way round.
  Status check_conflicts() {
    std::set<std::string> kept, folders;
    for (const Present& p : present_) {
      if (p.directory || !survives(p)) continue;
      kept.insert(p.name);
      for (std::string& folder : folders_above(p.name)) folders.insert(std::move(folder));
    }
    for (const auto& [name, file] : files_) {
      std::string in_the_way = folders.contains(name) ? name : "";
      for (const std::string& folder : folders_above(name))
        if (kept.contains(folder)) in_the_way = folder;
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
    for (const auto& [name, file] : files_) {
      std::error_code ec = make_folders(name);
      if (!ec) ec = write_new_file(fresh / name, file.content, file.executable ? 0777 : 0666, lasting_);
      if (ec) return failed(ec, name);
    }
    for (const auto& [name, file] : files_)
      if (lasting_)
        if (std::error_code ec = sync_to_disk(fresh / name)) return failed(ec, name);
    return success();
  }

  // Creates the folders above a file of the new directory.
  std::error_code make_folders(const std::string& name) {
    for (const std::string& folder : folders_above(name)) {
      if (folders_.contains(folder)) continue;
      if (std::error_code ec = make_directory(area_.fresh() / folder)) return ec;
      folders_.insert(folder);
    }
    return {};
  }

  // A user's files get a second name in the new directory, so they exist at every moment.
  Status carry_over() {
    struct stat status;
    if (there_ && ::stat(area_.target().c_str(), &status) == 0)
      (void)::chmod(area_.fresh().c_str(), status.st_mode & 07777);
    for (const Present& p : present_) {
      if (!survives(p)) continue;
      // Directories without files stay in what is somebody else's: a repository needs them.
      if (p.directory && !folders_.contains(fs::path(p.name).parent_path().string()) && !beside_kept(p)) continue;
      std::error_code ec = make_folders(p.directory ? p.name + "/" : p.name);
      if (!ec && !p.directory) ec = link_or_copy(area_.target() / p.name, area_.fresh() / p.name);
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
        if (std::error_code ec = sync_to_disk(area_.fresh() / folder)) return ec;
    return {};
  }

  // The working directory stays, and only its content is replaced: else a shell would be in a deleted directory.
  bool stays() const {
    std::error_code ec;
    return fs::equivalent(area_.target(), fs::current_path(ec), ec);
  }

  Status change() {
    if (std::error_code ec = sync_folders()) return failed(ec);
    Checksums changed;
    for (const auto& [name, file] : files_) changed[name] = "";
    for (const Present& p : present_)
      if (!survives(p))
        if (std::error_code ec = state_of(area_.target() / p.name, changed[p.name])) return failed(ec, p.name);
    if (std::error_code ec = area_.put_in_place(changed)) return failed(ec);
    if (lasting_)
      if (std::error_code ec = sync_to_disk(area_.target())) return failed(ec);
    warn();
    return success();
  }

  // Swaps back if the content differs from what survey() saw.
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

  // Reports the replaced files that were not aotc's.
  void warn() {
    std::vector<std::string> lines;
    for (const Present& p : present_)
      if (!p.directory && p.is_foreign() && files_.contains(p.name)) lines.push_back(escape_for_display(p.str()));
    if (lines.empty()) return;
    add_notes(diags_.warning(where_, "output-replaced", "aotc replaced files that were changed or added"), lines);
  }

  const Files& files_;
  bool force_, lasting_, there_ = false;
  Diagnostics& diags_;
  Location where_;
  WorkArea area_;
  std::vector<Present> present_;
  std::set<std::string> folders_{""};  // of the new directory, relative to it
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
