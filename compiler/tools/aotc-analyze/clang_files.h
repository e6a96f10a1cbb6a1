// SPDX-License-Identifier: Apache-2.0
// The files that Clang sees: those on disk, and headers embedded in this program. They replace a toolchain for a board
// and a C library.
#pragma once

#include <string>

#include <llvm/Support/VirtualFileSystem.h>

namespace aotc::analyze {

// The path at which Clang sees the headers of the C runtime and of c_headers.h.
inline constexpr const char kRuntimeDir[] = "/aotc/crt/include";
inline constexpr const char kLibraryDir[] = "/aotc/c/include";

enum class Language { kNone, kC, kCpp };
// Determined by the file name's extension.
Language language_of(const std::string& file);

// Why a file cannot be read at all; "" if it can be tried. Devices and pipes are not opened.
std::string unreadable(const std::string& file);

// The disk with the runtime's headers and, if `c_library`, those of a C library.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_with_runtime(bool c_library = false);

// The folder with the headers that come with Clang (stddef.h, stdint.h, ...); "" if there is none.
std::string clang_headers();

}  // namespace aotc::analyze
