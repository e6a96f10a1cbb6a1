// SPDX-License-Identifier: Apache-2.0
#include "support/output_list.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>

#include "support/disk.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc {

namespace fs = std::filesystem;

namespace {

constexpr const char* kKey = "written";
constexpr std::string_view kNoChecksum = "0000000000000000";
constexpr uint64_t kMostOfList = uint64_t{64} << 20;
constexpr uint64_t kMostOfFile = uint64_t{1} << 30;

std::string quoted(const std::string& text) { return json_text(nlohmann::json(text)); }

// No error for what is no file, may not be read, or is larger: it is not there for us.
std::error_code content_of(const fs::path& path, uint64_t limit, std::optional<std::string>& out) {
  std::string content;
  const std::error_code ec = read_regular_file(path, limit, content);
  out.reset();
  if (!ec) out = std::move(content);
  for (std::errc expected : {std::errc::not_supported, std::errc::permission_denied, std::errc::file_too_large,
                             std::errc::no_such_file_or_directory, std::errc::not_a_directory})
    if (ec == expected) return {};
  return ec;
}

std::error_code walk(const fs::path& root, const std::string& prefix, std::vector<Present>& out) {
  std::vector<std::string> names;
  if (std::error_code ec = list_directory(root / prefix, names)) return ec;
  if (names.empty() && !prefix.empty()) {
    out.push_back({prefix, Owner::kAdded, true, 0, 0, {}});
    return {};
  }
  for (const std::string& base : names) {
    Present p;
    p.name = prefix.empty() ? base : prefix + "/" + base;
    struct stat status;
    if (::lstat((root / p.name).c_str(), &status) != 0) return {errno, std::generic_category()};
    p.inode = status.st_ino;
    p.size = status.st_size;
    p.changed = status.st_mtim;
    p.directory = S_ISDIR(status.st_mode);
    if (p.directory && prefix.empty() && is_there(root / base / kDerivedMarker)) {
      p.owner = Owner::kDerived;
      out.push_back(std::move(p));
    } else if (p.directory) {
      if (std::error_code below = walk(root, p.name, out)) return below;
    } else {
      out.push_back(std::move(p));
    }
  }
  return {};
}

// The folder to name instead of the file: the outermost in which nothing is ours.
std::string shown_folder(const std::string& name, const std::set<std::string>& ours) {
  for (size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
    if (!ours.contains(name.substr(0, slash))) return name.substr(0, slash + 1);
  return "";
}

}  // namespace

std::string checksum_of(std::string_view content) { return fmt::format("{:016x}", stable_hash(content)); }

std::error_code checksum_of_file(const fs::path& path, std::string& out) {
  std::optional<std::string> content;
  const std::error_code ec = content_of(path, kMostOfFile, content);
  out = content ? checksum_of(*content) : "";
  return ec;
}

std::error_code content_of_list(const fs::path& path, std::optional<std::string>& out) {
  return content_of(path, kMostOfList, out);
}

std::string with_list(std::string_view json, const Checksums& files) {
  const size_t end = json.rfind('}');
  std::string out(json.substr(0, end == std::string_view::npos ? 0 : end));
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  if (out.empty()) out = "{";
  if (out.back() != '{') out += ',';
  out += fmt::format("\n \"{}\": {{\n  \"files\": {{", kKey);
  const char* comma = "";
  for (const auto& [name, sum] : files) {
    out += fmt::format("{}\n   {}: \"{}\"", comma, quoted(name), sum);
    comma = ",";
  }
  out += "\n  },\n  \"checksum\": \"";
  const size_t at = out.size();
  out += kNoChecksum;
  out += "\"\n }\n}\n";
  return out.replace(at, kNoChecksum.size(), checksum_of(out));
}

std::optional<Checksums> read_list(const std::string& json, const std::string& name) {
  nlohmann::json root;
  if (parse_json(json, root)) return std::nullopt;
  if (!root.is_object() || !root.contains(kKey) || !root[kKey].is_object()) return std::nullopt;
  const auto& written = root[kKey];
  if (!written.contains("files") || !written["files"].is_object()) return std::nullopt;
  Checksums out;
  for (const auto& [file, sum] : written["files"].items())
    if (sum.is_string()) out[file] = sum.get<std::string>();
  // Of the text with zeros where it stands.
  const std::string own =
      written.contains("checksum") && written["checksum"].is_string() ? written["checksum"].get<std::string>() : "";
  const size_t at = own.empty() ? std::string::npos : json.rfind("\"" + own + "\"");
  std::string plain = json;
  if (at != std::string::npos) plain.replace(at + 1, own.size(), kNoChecksum);
  out[name] = at != std::string::npos && checksum_of(plain) == own ? checksum_of(json) : "";
  return out;
}

bool Present::same_as(const Present& other) const {
  return name == other.name && directory == other.directory &&
         (directory || (inode == other.inode && size == other.size && changed.tv_sec == other.changed.tv_sec &&
                        changed.tv_nsec == other.changed.tv_nsec));
}

std::error_code list_present(const fs::path& root, std::vector<Present>& out) { return walk(root, "", out); }

std::error_code judge_present(const fs::path& root, const std::optional<Checksums>& list,
                              const std::map<std::string, OutputDirectory::File>& to_write,
                              std::vector<Present>& present) {
  for (Present& p : present) {
    if (p.directory) continue;
    const auto known = list ? list->find(p.name) : Checksums::const_iterator();
    const bool listed = list && known != list->end();
    const auto planned = to_write.find(p.name);
    const bool compare = planned != to_write.end() && static_cast<uint64_t>(p.size) == planned->second.content.size();
    std::optional<std::string> content;
    if (listed || compare)
      if (std::error_code ec = content_of(root / p.name, kMostOfFile, content)) return ec;
    const bool same = content && ((listed && checksum_of(*content) == known->second) ||
                                  (compare && *content == planned->second.content));
    p.owner = same ? Owner::kOurs : listed ? Owner::kChanged : Owner::kAdded;
  }
  return {};
}

std::vector<std::string> describe_not_ours(const std::vector<Present>& present, size_t limit) {
  std::set<std::string> ours;  // folders that hold something of aotc's
  for (const Present& p : present)
    for (size_t i = p.name.find('/'); p.owner != Owner::kAdded && i != std::string::npos; i = p.name.find('/', i + 1))
      ours.insert(p.name.substr(0, i));
  std::vector<std::string> out;
  std::map<std::string, int> folders;
  size_t more = 0;
  for (const Present& p : present) {
    if (p.directory || p.owner == Owner::kOurs) continue;
    const std::string folder = p.owner == Owner::kAdded ? shown_folder(p.name, ours) : "";
    if (!folder.empty() && folders[folder]++ > 0) continue;
    if (out.size() < limit)
      out.push_back((p.owner == Owner::kAdded ? "added: " : "changed: ") + (folder.empty() ? p.name : folder));
    else ++more;
  }
  for (std::string& line : out) {
    const auto found = folders.find(line.substr(line.find(' ') + 1));
    line = escape_for_display(line);
    if (found != folders.end()) line += fmt::format(" ({} file{})", found->second, found->second == 1 ? "" : "s");
  }
  if (more > 0) out.push_back(fmt::format("and {} more", more));
  return out;
}

}  // namespace aotc
