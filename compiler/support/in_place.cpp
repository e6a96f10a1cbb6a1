// SPDX-License-Identifier: Apache-2.0
#include "support/in_place.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "support/disk.h"
#include "support/json.h"
#include "support/output_list.h"

namespace aotc {

namespace fs = std::filesystem;

namespace {

std::error_code make_folders_of(const fs::path& file) {
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  return ec;
}

// Directories that became empty, up to the target.
void remove_empty_folders(const fs::path& target, const std::string& name) {
  for (fs::path p = fs::path(name).parent_path(); !p.empty(); p = p.parent_path())
    if (::rmdir((target / p).c_str()) != 0) return;
}

class Change {
 public:
  Change(const fs::path& area, const fs::path& target) : area_(area), target_(target) {}

  std::error_code take_away(const std::string& name) {
    if (std::error_code ec = make_folders_of(area_ / "old" / name)) return ec;
    return move(target_ / name, area_ / "old" / name);
  }

  std::error_code put(const std::string& name, bool is_there_one) {
    if (is_there_one)
      if (std::error_code ec = take_away(name)) return ec;
    if (std::error_code ec = make_folders_of(target_ / name)) return ec;
    return move(area_ / "new" / name, target_ / name);
  }

  void undo() {
    for (auto it = done_.rbegin(); it != done_.rend(); ++it) {
      (void)make_folders_of(it->first);
      (void)rename_over(it->second, it->first);
    }
  }

 private:
  std::error_code move(const fs::path& from, const fs::path& to) {
    done_.reserve(done_.size() + 1);
    std::pair<fs::path, fs::path> step(from, to);
    std::error_code ec = rename_over(from, to);
    if (!ec) done_.push_back(std::move(step));
    return ec;
  }

  const fs::path& area_;
  const fs::path& target_;
  std::vector<std::pair<fs::path, fs::path>> done_;
};

std::error_code write_journal(const fs::path& area, const InPlaceChange& change) {
  nlohmann::json j;
  j["put"] = change.put;
  j["drop"] = change.drop;
  const fs::path draft = area / "draft";
  if (std::error_code ec = write_new_file(draft, json_text(j, 1), 0666, true)) return ec;
  if (std::error_code ec = sync_to_disk(draft)) return ec;
  return rename_over(draft, area / kInPlaceJournal);
}

}  // namespace

std::error_code change_in_place(const fs::path& area, const fs::path& target, const InPlaceChange& change) {
  if (std::error_code ec = write_journal(area, change)) return ec;
  Change steps(area, target);
  std::error_code ec;
  try {
    for (const auto& [name, sum] : change.drop) {
      if (ec || !is_there(target / name)) continue;
      ec = steps.take_away(name);
      remove_empty_folders(target, name);
    }
    for (const auto& [name, sum] : change.put)
      if (!ec) ec = steps.put(name, is_there(target / name));
  } catch (...) {
    steps.undo();
    ::unlink((area / kInPlaceJournal).c_str());
    throw;
  }
  if (ec) {
    steps.undo();
    for (const auto& [name, sum] : change.put) remove_empty_folders(target, name);
  }
  const bool written_off = ::unlink((area / kInPlaceJournal).c_str()) == 0;
  return ec || written_off ? ec : std::error_code();  // done twice, it is done all the same
}

std::error_code finish_in_place(const fs::path& area, const fs::path& target) {
  std::optional<std::string> text;
  std::error_code unread = content_of_list(area / kInPlaceJournal, text);
  if (!text) return unread;
  nlohmann::json j;
  if (parse_json(*text, j) || !j.is_object()) return {};
  Change steps(area, target);
  // What is not as it was then is somebody else's now.
  auto as_it_was = [&](const std::string& name, const nlohmann::json& sum) {
    std::error_code ec;
    if (is_there(area / "old" / name)) return false;
    if (sum == "") return fs::is_directory(fs::symlink_status(target / name, ec));
    std::string now;
    if (std::error_code failed = checksum_of_file(target / name, now)) unread = failed;
    return !unread && sum == now;
  };
  const auto drop = j.value("drop", nlohmann::json::object());
  for (const auto& [name, sum] : drop.items()) {
    if (!is_there(target / name) || !as_it_was(name, sum)) continue;
    if (std::error_code ec = steps.take_away(name)) return ec;
    remove_empty_folders(target, name);
  }
  const auto put = j.value("put", nlohmann::json::object());
  for (const auto& [name, sum] : put.items()) {
    const bool there = is_there(target / name);
    if (unread) return unread;
    if (!is_there(area / "new" / name) || (there && !as_it_was(name, sum))) continue;
    if (std::error_code ec = steps.put(name, there)) return ec;
  }
  return unread;
}

}  // namespace aotc
