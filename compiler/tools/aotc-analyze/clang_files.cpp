// SPDX-License-Identifier: Apache-2.0
#include "clang_files.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

#include <clang/Basic/Version.h>
#include <llvm/Support/MemoryBuffer.h>

#include "c_headers.h"
#include "project/embedded.h"

namespace aotc::analyze {

namespace fs = std::filesystem;

namespace {

constexpr uintmax_t kLargestSource = uintmax_t{64} << 20;

}  // namespace

Language language_of(const std::string& file) {
  std::string ext = fs::path(file).extension().string();
  if (ext == ".c" || ext == ".h") return Language::kC;
  for (const char* cpp : {".cpp", ".cc", ".cxx", ".C", ".c++", ".hpp"})
    if (ext == cpp) return Language::kCpp;
  return Language::kNone;
}

// Why a file cannot be read at all; "" if it can be tried. Devices and pipes are left alone.
std::string unreadable(const std::string& file) {
  std::error_code ec;
  fs::file_status status = fs::status(file, ec);
  if (ec) return "cannot open: " + ec.message();
  if (!fs::is_regular_file(status)) return "the source is not a regular file";
  uintmax_t size = fs::file_size(file, ec);
  if (ec) return "cannot open: " + ec.message();
  if (size > kLargestSource) return "the source is larger than 64 MB";
  return "";
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_with_runtime(bool c_library) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  constexpr std::string_view kFolder = "crt/include/";
  for (const project::EmbeddedFile* file : project::embedded_below(kFolder)) {
    std::string path = std::string(kRuntimeDir) + "/";
    path += file->path.substr(kFolder.size());
    memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy({file->content.data(), file->content.size()}));
  }
  if (c_library)
    for (const auto& [name, text] : c_library_headers())
      memory->addFile(std::string(kLibraryDir) + "/" + name, 0, llvm::MemoryBuffer::getMemBuffer(text));
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  files->pushOverlay(memory);
  return files;
}

std::string clang_headers() {
  std::vector<fs::path> candidates;
  // Beside the library that is in use, wherever it was installed.
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&clang::getClangFullVersion), &info) != 0 && info.dli_fname != nullptr) {
    std::error_code ec;
    fs::path lib = fs::canonical(info.dli_fname, ec).parent_path();
    candidates.push_back(lib / "clang" / CLANG_VERSION_MAJOR_STRING);
    candidates.push_back(lib / ("llvm-" CLANG_VERSION_MAJOR_STRING) / "lib" / "clang" / CLANG_VERSION_MAJOR_STRING);
    candidates.push_back(lib / ".." / ("llvm-" CLANG_VERSION_MAJOR_STRING) / "lib" / "clang" /
                         CLANG_VERSION_MAJOR_STRING);
  }
  candidates.push_back(AOTC_CLANG_HEADERS);
  for (const fs::path& dir : candidates) {
    std::error_code ec;
    if (fs::is_regular_file(dir / "include" / "stddef.h", ec)) return dir.lexically_normal();
  }
  return "";
}

}  // namespace aotc::analyze
