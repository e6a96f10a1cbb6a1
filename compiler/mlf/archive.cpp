// SPDX-License-Identifier: Apache-2.0
#include "mlf/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "mlf/metadata.h"
#include "support/files.h"

namespace aotc::mlf {

namespace {

struct Free {
  void operator()(struct archive* a) const { archive_free(a); }
  void operator()(struct archive_entry* e) const { archive_entry_free(e); }
};
using ArchivePtr = std::unique_ptr<struct archive, Free>;
using EntryPtr = std::unique_ptr<struct archive_entry, Free>;

constexpr uint64_t kBlock = 512;

Location at(const std::string& name) {
  Location where;
  where.file = name;
  return where;
}

std::string error_of(struct archive* a) {
  const char* text = archive_error_string(a);
  return text != nullptr ? text : "unknown error";
}

// "gzip" and the like, by the first bytes; empty for anything else.
std::string_view compression_of(const std::vector<uint8_t>& bytes) {
  struct Magic {
    std::string_view bytes, name;
  };
  static constexpr Magic kMagics[] = {
      {"\x1f\x8b", "gzip"},        {"BZh", "bzip2"},         {"\xfd\x37zXZ", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"},
      {"\x04\x22\x4d\x18", "lz4"}, {"\x1f\x9d", "compress"}, {"PK\x03\x04", "zip"}};
  std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 8));
  for (const Magic& m : kMagics)
    if (head.starts_with(m.bytes)) return m.name;
  return {};
}

// The name of a member without "./" and a last '/', empty for the root; nothing if it is absolute or
// could lead out of the folder it is unpacked to, on any system.
std::optional<std::string> safe_name(std::string_view member) {
  if (member.empty() || member.front() == '/') return std::nullopt;
  std::string out;
  while (!member.empty()) {
    size_t end = std::min(member.find('/'), member.size());
    std::string_view part = member.substr(0, end);
    member.remove_prefix(std::min(end + 1, member.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") return std::nullopt;
    for (char c : part)
      if (c == '\\' || c == ':' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    if (!out.empty()) out += '/';
    out += part;
  }
  return out;
}

class TarReader {
 public:
  TarReader(const std::vector<uint8_t>& bytes, const std::string& name, Diagnostics& diags)
      : bytes_(bytes), name_(name), diags_(diags) {}

  Result<std::map<std::string, std::vector<uint8_t>>> read() {
    if (!check_kind() || !open()) return kFailure;
    while (true) {
      // Behind the data of the member before, where a header or the end must be.
      auto position = static_cast<uint64_t>(archive_filter_bytes(a_.get(), 0));
      struct archive_entry* entry = nullptr;
      int status = archive_read_next_header(a_.get(), &entry);
      if (status == ARCHIVE_EOF) {
        if (!check_end(position)) return kFailure;
        break;
      }
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return damaged();
      if (!add(entry)) return kFailure;
      if (archive_read_data_skip(a_.get()) < ARCHIVE_WARN) return damaged();
    }
    if (!check_folders()) return kFailure;
    return std::move(files_);
  }

 private:
  Status check_kind() {
    std::string_view compression = compression_of(bytes_);
    if (!compression.empty()) {
      diags_
          .error(at(name_), "mlf-compressed",
                 fmt::format("the file is compressed ({}), but an archive must be a plain tar", compression))
          .help("decompress the file first");
      return kFailure;
    }
    if (bytes_.size() >= kBlock) return success();
    std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    if (text.size() > 262 && text.substr(257, 5) == "ustar") return truncated();
    return not_tar();
  }

  Status open() {
    a_.reset(archive_read_new());
    if (archive_read_support_format_tar(a_.get()) < ARCHIVE_WARN ||
        archive_read_support_filter_none(a_.get()) < ARCHIVE_WARN)
      return damaged();
    if (archive_read_open_memory(a_.get(), bytes_.data(), bytes_.size()) != ARCHIVE_OK) return not_tar();
    return success();
  }

  Failure not_tar() {
    diags_.error(at(name_), "mlf-not-tar", "the file is not a tar archive")
        .help(
            "give an archive that 'aotc compile --format mlf' or TVM's export_model_library_format wrote, or its "
            "metadata.json");
    return kFailure;
  }
  Failure truncated() {
    diags_.error(at(name_), "mlf-truncated", fmt::format("the archive ends too early, at byte {}", bytes_.size()))
        .note(last_.empty() ? "no member is complete"
                            : fmt::format("the last member in the file is '{}'", escape_for_display(last_)))
        .help("copy the archive again from its source");
    return kFailure;
  }
  Failure damaged() {
    std::string why = error_of(a_.get());
    if (why.find("runcated") != std::string::npos) return truncated();
    if (files_.empty() && last_.empty()) return not_tar();
    diags_.error(at(name_), "mlf-damaged", fmt::format("the tar is damaged: {}", why))
        .note(fmt::format("after member '{}'", escape_for_display(last_)))
        .help("copy the archive again from its source");
    return kFailure;
  }
  Failure member(const std::string& why, const char* help) {
    diags_.error(at(name_), "mlf-member", fmt::format("member '{}' {}", escape_for_display(last_), why)).help(help);
    return kFailure;
  }

  // Two blocks of zeros end a tar; without them something may be missing.
  Status check_end(uint64_t position) {
    if (position + 2 * kBlock > bytes_.size()) return truncated();
    for (uint64_t i = position; i < position + 2 * kBlock; ++i)
      if (bytes_[i] != 0) return truncated();
    return success();
  }

  Status add(struct archive_entry* entry) {
    const char* raw = archive_entry_pathname(entry);
    if (raw == nullptr) raw = archive_entry_pathname_utf8(entry);
    last_ = raw != nullptr ? raw : "";
    auto name = safe_name(last_);
    if (!name) {
      diags_
          .error(at(name_), "mlf-path",
                 fmt::format("member '{}' would be written outside of the target directory", escape_for_display(last_)))
          .help("do not unpack this archive with other tools: it may be an attack");
      return kFailure;
    }
    if (++members_ > kMaxMembers) return limit(fmt::format("more than {} members", kMaxMembers));
    const char* link = archive_entry_hardlink(entry);
    if (link != nullptr) return add_link(*name, link);
    if (archive_entry_filetype(entry) == AE_IFDIR) {
      if (!name->empty()) folders_.insert(*name);
      return success();
    }
    if (archive_entry_filetype(entry) != AE_IFREG)
      return member("is a link or a special file", "archives contain only files and directories");
    if (name->empty()) return member("has no name", "create the archive again");
    return add_file(*name, entry);
  }

  Status add_link(const std::string& name, const char* link) {
    auto target = safe_name(link);
    auto found = target ? files_.find(*target) : files_.end();
    if (found == files_.end())
      return member(fmt::format("links to '{}', which is not an earlier member", escape_for_display(link)),
                    "archives contain only files and directories");
    if (total_ + found->second.size() > kMaxBytes) return limit("too much data");
    total_ += found->second.size();
    std::vector<uint8_t> copy = found->second;
    return insert(name, std::move(copy));
  }

  Status add_file(const std::string& name, struct archive_entry* entry) {
    la_int64_t size = archive_entry_size(entry);
    if (size < 0 || static_cast<uint64_t>(size) > kMaxBytes - total_)
      return limit(fmt::format("more than {} MiB of data", kMaxBytes >> 20));
    total_ += static_cast<uint64_t>(size);
    std::vector<uint8_t> data;
    // What is announced is only trusted as far as the file can hold it (a sparse member may be more).
    data.reserve(std::min<uint64_t>(static_cast<uint64_t>(size), bytes_.size()));
    uint8_t chunk[65536];
    while (true) {
      la_ssize_t n = archive_read_data(a_.get(), chunk, sizeof chunk);
      if (n < 0) return damaged();
      if (n == 0) break;
      if (data.size() + static_cast<size_t>(n) > static_cast<uint64_t>(size)) return damaged();
      data.insert(data.end(), chunk, chunk + n);
    }
    return insert(name, std::move(data));
  }

  Status insert(const std::string& name, std::vector<uint8_t> data) {
    if (!files_.emplace(name, std::move(data)).second) return member("occurs twice", "create the archive again");
    return success();
  }

  Status limit(const std::string& what) {
    diags_.error(at(name_), "mlf-limit", "the archive holds " + what)
        .help("create the archive again; it may be damaged: archives of models are smaller");
    return kFailure;
  }

  // A name that is both a file and a directory cannot be unpacked.
  Status check_folders() {
    for (const auto& [name, data] : files_)
      for (size_t i = name.find('/'); i != std::string::npos; i = name.find('/', i + 1))
        folders_.insert(name.substr(0, i));
    for (const auto& [name, data] : files_) {
      if (!folders_.contains(name)) continue;
      last_ = name;
      return member("is both a file and a directory", "create the archive again");
    }
    return success();
  }

  const std::vector<uint8_t>& bytes_;
  const std::string& name_;
  Diagnostics& diags_;
  ArchivePtr a_;
  std::map<std::string, std::vector<uint8_t>> files_;
  std::set<std::string> folders_;
  std::string last_;  // member that is being read
  size_t members_ = 0;
  uint64_t total_ = 0;
};

std::string_view text_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Archive> with_metadata(Archive archive, std::string_view text, const std::string& name,
                              std::string_view wanted_style, Diagnostics& diags) {
  auto metadata = parse_metadata(text, name, diags);
  if (!metadata) return kFailure;
  archive.metadata = std::move(*metadata);
  if (!check_metadata(archive, name, wanted_style, diags)) return kFailure;
  return archive;
}

}  // namespace

const std::vector<uint8_t>* Archive::find(const std::string& name) const {
  auto found = files.find(name);
  return found == files.end() ? nullptr : &found->second;
}

Result<Archive> read_archive_bytes(const std::vector<uint8_t>& bytes, const std::string& name, Diagnostics& diags,
                                   std::string_view wanted_style) {
  auto files = TarReader(bytes, name, diags).read();
  if (!files) return kFailure;
  Archive archive;
  archive.files = std::move(*files);
  const std::vector<uint8_t>* metadata = archive.find(kMetadata);
  if (metadata == nullptr) {
    auto& d = diags.error(at(name), "mlf-no-metadata",
                          "the tar has no ./metadata.json, so it is not a Model Library Format archive");
    for (const auto& [member, data] : archive.files)
      if (member.ends_with("/metadata.json"))
        d.note(fmt::format("'{}' exists, but metadata.json must be at the top", escape_for_display(member)));
    return kFailure;
  }
  std::string text(text_of(*metadata));
  return with_metadata(std::move(archive), text, name, wanted_style, diags);
}

Result<Archive> read_archive(const std::string& path, Diagnostics& diags, std::string_view wanted_style) {
  auto bytes = read_file(path, diags, kMaxBytes);
  if (!bytes) return kFailure;
  return read_archive_bytes(*bytes, path, diags, wanted_style);
}

Result<Archive> read_metadata_file(const std::string& path, Diagnostics& diags, std::string_view wanted_style) {
  auto bytes = read_file(path, diags, kMaxMetadataBytes);
  if (!bytes) return kFailure;
  return with_metadata({}, text_of(*bytes), path, wanted_style, diags);
}

namespace {

la_ssize_t append(struct archive*, void* out, const void* data, size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

// One member; `content` is null for a directory.
bool write_member(struct archive* a, const std::string& path, const std::string* content, int64_t mtime) {
  EntryPtr entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), path.c_str());
  archive_entry_set_filetype(entry.get(), content != nullptr ? AE_IFREG : AE_IFDIR);
  archive_entry_set_perm(entry.get(), content != nullptr ? 0644 : 0755);
  archive_entry_set_size(entry.get(), content != nullptr ? static_cast<la_int64_t>(content->size()) : 0);
  archive_entry_set_uid(entry.get(), 0);
  archive_entry_set_gid(entry.get(), 0);
  archive_entry_set_uname(entry.get(), "root");
  archive_entry_set_gname(entry.get(), "root");
  archive_entry_set_mtime(entry.get(), mtime, 0);
  if (archive_write_header(a, entry.get()) != ARCHIVE_OK) return false;
  if (content == nullptr) return true;
  return archive_write_data(a, content->data(), content->size()) == static_cast<la_ssize_t>(content->size());
}

}  // namespace

Result<std::string> print_archive(const std::map<std::string, std::string>& files, int64_t mtime,
                                  const std::string& name, Diagnostics& diags) {
  std::map<std::string, const std::string*> members;  // directories have no content
  for (const auto& [path, content] : files) {
    members[path] = &content;
    for (size_t i = path.find('/'); i != std::string::npos; i = path.find('/', i + 1))
      members.emplace(path.substr(0, i), nullptr);
  }
  std::string out;
  ArchivePtr a(archive_write_new());
  bool good = archive_write_set_format_pax_restricted(a.get()) == ARCHIVE_OK &&
              archive_write_add_filter_none(a.get()) == ARCHIVE_OK &&
              archive_write_open(a.get(), &out, nullptr, append, nullptr) == ARCHIVE_OK &&
              write_member(a.get(), ".", nullptr, mtime);
  for (auto it = members.begin(); good && it != members.end(); ++it)
    good = write_member(a.get(), "./" + it->first, it->second, mtime);
  good = good && archive_write_close(a.get()) == ARCHIVE_OK;
  if (good) return out;
  diags.error(at(name), "file-write", fmt::format("cannot write the archive: {}", error_of(a.get())));
  return kFailure;
}

Status write_archive(const std::string& path, const std::map<std::string, std::string>& files, int64_t mtime,
                     Diagnostics& diags) {
  auto bytes = print_archive(files, mtime, path, diags);
  if (!bytes) return kFailure;
  return write_file(path, *bytes, diags);
}

}  // namespace aotc::mlf
