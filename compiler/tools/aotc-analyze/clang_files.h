// SPDX-License-Identifier: Apache-2.0
// The files that Clang sees: those on disk, and headers that are in this program. The one thing to know:
// none of it needs a toolchain for a board, or a C library.
#pragma once

#include <string>

#include <llvm/Support/VirtualFileSystem.h>

namespace aotc::analyze {

// Where the headers of our C runtime, and those of c_headers.h, appear to Clang.
inline constexpr const char kRuntimeDir[] = "/aotc/crt/include";
inline constexpr const char kLibraryDir[] = "/aotc/c/include";

enum class Language { kNone, kC, kCpp };
// By the end of its name.
Language language_of(const std::string& file);

// Why a file cannot be read at all; "" if it can be tried. Devices and pipes are left alone.
std::string unreadable(const std::string& file);

// The disk with the runtime's headers, and with those of a C library if wanted.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_with_runtime(bool c_library = false);

// The folder with the headers that come with Clang (stddef.h, stdint.h, ...); "" if there is none.
std::string clang_headers();

}  // namespace aotc::analyze
