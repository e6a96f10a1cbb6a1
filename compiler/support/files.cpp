// SPDX-License-Identifier: Apache-2.0
#include "support/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace aotc {

namespace fs = std::filesystem;

Result<std::vector<uint8_t>> read_file(const std::string& path, Diagnostics& diags, uint64_t limit) {
  Location where;
  where.file = path;
  std::error_code ec;
  fs::file_status status = fs::status(path, ec);
  if (ec || !fs::exists(status)) {
    diags.error(where, "file-read", "cannot read file: no such file");
    return kFailure;
  }
  if (fs::is_directory(status)) {
    diags.error(where, "file-read", "cannot read file: it is a directory");
    return kFailure;
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    diags.error(where, "file-read", "cannot read file: permission denied or not readable");
    return kFailure;
  }
  std::vector<uint8_t> bytes;
  if (fs::is_regular_file(status)) {
    uint64_t size = fs::file_size(path, ec);
    if (!ec && size <= limit) bytes.reserve(size);
  }
  char chunk[65536];
  while (in.read(chunk, sizeof chunk) || in.gcount() > 0) {
    bytes.insert(bytes.end(), chunk, chunk + in.gcount());
    if (bytes.size() > limit) {
      diags.error(where, "file-too-large", fmt::format("file is larger than {} bytes", limit));
      return kFailure;
    }
  }
  return bytes;
}

namespace {

Status write_plain(const fs::path& path, const std::string& content, const std::string& shown,
                   Diagnostics& diags) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) {
    Location where;
    where.file = shown;
    diags.error(where, "file-write", "cannot write file").help("check that the directory exists, is writable and has room");
    return kFailure;
  }
  return success();
}

// Moves a directory, or, if `content`, what is in it into the other.
void move_directory(const fs::path& from, const fs::path& to, bool content, std::error_code& ec) {
  ec.clear();
  if (!content) return fs::rename(from, to, ec);
  fs::create_directories(to, ec);
  std::vector<fs::path> names;
  for (fs::directory_iterator it(from, ec), end; !ec && it != end; it.increment(ec))
    names.push_back(it->path().filename());
  for (const fs::path& name : names) {
    if (ec) return;
    fs::rename(from / name, to / name, ec);
  }
}

}  // namespace

Status write_file(const std::string& path, const std::string& content, Diagnostics& diags) {
  fs::path target(path);
  fs::path aside = target;
  aside += fmt::format(".tmp{}", static_cast<long>(::getpid()));
  std::error_code ec;
  if (!write_plain(aside, content, path, diags)) {
    fs::remove(aside, ec);
    return kFailure;
  }
  fs::rename(aside, target, ec);
  if (ec) {
    Location where;
    where.file = path;
    diags.error(where, "file-write", fmt::format("cannot write file: {}", ec.message()));
    fs::remove(aside, ec);
    return kFailure;
  }
  return success();
}

void OutputDirectory::add(std::string relative, std::string content, bool executable) {
  files_[std::move(relative)] = {std::move(content), executable};
}

std::vector<std::string> OutputDirectory::names() const {
  std::vector<std::string> out;
  for (const auto& [name, file] : files_) out.push_back(name);
  return out;
}

Status OutputDirectory::commit(Diagnostics& diags) {
  Location where;
  where.file = path_;
  std::error_code ec;
  fs::path target = fs::absolute(path_, ec).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  bool exists = fs::exists(target, ec);
  if (exists && !fs::is_directory(target, ec)) {
    diags.error(where, "output-exists", "output path exists and is not a directory");
    return kFailure;
  }
  bool ours = exists && (fs::is_empty(target, ec) || fs::exists(target / marker_, ec));
  if (exists && !ours && !force_) {
    diags.error(where, "output-exists", "output directory exists and was not made by aotc")
        .help("choose another -o DIRECTORY, or pass --force to replace it");
    return kFailure;
  }
  // What aotc made can be made again; what was done to it since is kept in here, and only here.
  if (ours && !force_ && fs::exists(target / ".git", ec)) {
    diags.error(where, "output-exists", "output directory holds a repository (.git), which would be replaced as well")
        .help("choose another -o DIRECTORY and copy what it holds, or pass --force to replace it");
    return kFailure;
  }
  fs::path aside = target;
  aside += fmt::format(".new{}", static_cast<long>(::getpid()));
  fs::path old = target;
  old += fmt::format(".old{}", static_cast<long>(::getpid()));
  auto fail = [&](const std::string& why) {
    fs::remove_all(aside, ec);
    diags.error(where, "file-write", "cannot write output directory: " + why);
    return kFailure;
  };
  fs::create_directories(aside, ec);
  if (ec) return fail(ec.message());
  for (const auto& [name, file] : files_) {
    fs::path p = aside / name;
    fs::create_directories(p.parent_path(), ec);
    if (ec) return fail(ec.message());
    if (!write_plain(p, file.content, (fs::path(path_) / name).string(), diags)) {
      fs::remove_all(aside, ec);
      return kFailure;
    }
    if (file.executable)
      fs::permissions(p, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, ec);
  }
  // The directory that a shell is in stays, and its content is replaced: else the shell would be nowhere.
  const bool stays = exists && fs::equivalent(target, fs::current_path(ec), ec);
  ec.clear();
  if (exists) move_directory(target, old, stays, ec);
  if (ec) {
    const std::string why = ec.message();
    if (stays) move_directory(old, target, stays, ec);
    return fail(why);
  }
  move_directory(aside, target, stays, ec);
  if (ec) {
    const std::string why = ec.message();
    if (exists) move_directory(old, target, stays, ec);
    return fail(why);
  }
  if (stays) fs::remove(aside, ec);
  fs::remove_all(old, ec);
  return success();
}

}  // namespace aotc
