// SPDX-License-Identifier: Apache-2.0
// The virtual file system that Clang sees: the files on disk, and headers that are embedded in this program. The
// embedded headers replace those of a board's toolchain and C library. The C library's headers have declarations of
// the C standard, and those for AVR's program memory that emitted C uses.
#pragma once

#include <string>

#include <llvm/Support/VirtualFileSystem.h>

namespace aotc::analyze {

// The paths at which Clang sees the headers of aotc's C runtime, and those of the C library.
inline constexpr const char kRuntimeDir[] = "/aotc/crt/include";
inline constexpr const char kLibraryDir[] = "/aotc/c/include";

enum class Language { kNone, kC, kCpp };
// Determined by the file name's extension.
Language language_of(const std::string& file);

// Returns the reason why Clang must not read a file; "" if there is none. Devices and pipes are not opened.
std::string unreadable(const std::string& file);

// Returns a file system with the disk, the runtime's headers and, if `c_library` is set, the C library's headers.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_with_runtime(bool c_library = false);

// Returns the folder with Clang's own headers (stddef.h, stdint.h, ...); "" if there is none.
std::string clang_headers();

}  // namespace aotc::analyze
