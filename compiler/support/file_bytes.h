// SPDX-License-Identifier: Apache-2.0
// FileBytes: the bytes of a file, shared by all copies. Large files are mapped read-only, so that only pages that are
// read take memory.
// Another program may change a mapped file. If the file shrinks, aotc ends with a message instead of a signal. If the
// file is overwritten, check_mapped_files() reports it: call that before writing output that was made from the file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/diagnostics.h"

namespace aotc {

// Copies share the bytes.
class FileBytes {
 public:
  FileBytes() = default;
  FileBytes(std::vector<uint8_t> bytes);  // NOLINT: implicit, so that a vector can be passed as FileBytes
  FileBytes(std::shared_ptr<const void> owner, std::span<const uint8_t> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}

  const uint8_t* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  auto begin() const { return bytes_.begin(); }
  auto end() const { return bytes_.end(); }
  std::span<const uint8_t> bytes() const { return bytes_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const uint8_t> bytes_;
};

// Smaller files are copied: a copy costs less than a mapping, and other programs cannot change it.
inline constexpr uint64_t kSmallestMapped = uint64_t{4} << 20;

// Returns the bytes of `path`, a regular file of at most `limit` bytes; maps it if it is large. Reports the same errors
// as read_file.
Result<FileBytes> map_file(const std::string& path, Diagnostics& diags, uint64_t limit = uint64_t{1} << 30);

// Reports [file-changed] for each mapped file that was modified since it was mapped.
Status check_mapped_files(Diagnostics& diags);

}  // namespace aotc
