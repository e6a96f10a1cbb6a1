// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <clang/Basic/Version.h>
#include <llvm/Support/MemoryBuffer.h>

#include "clang_files.h"
#include "project/embedded.h"

namespace aotc::analyze {

namespace fs = std::filesystem;

namespace {

constexpr uintmax_t kLargestSource = uintmax_t{64} << 20;

constexpr const char kString[] = R"(#pragma once
#include <stddef.h>
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memchr(const void *, int, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
char *strcpy(char *, const char *);
char *strncpy(char *, const char *, size_t);
char *strcat(char *, const char *);
char *strncat(char *, const char *, size_t);
char *strchr(const char *, int);
char *strrchr(const char *, int);
char *strstr(const char *, const char *);
)";

// Of each function the forms for double and for float.
constexpr const char kMath[] = R"(#pragma once
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
#define M_PI 3.14159265358979323846
#define AOTC_ONE(name) double name(double); float name##f(float);
#define AOTC_TWO(name) double name(double, double); float name##f(float, float);
AOTC_ONE(acos) AOTC_ONE(asin) AOTC_ONE(atan) AOTC_ONE(acosh) AOTC_ONE(asinh) AOTC_ONE(atanh)
AOTC_ONE(cos) AOTC_ONE(sin) AOTC_ONE(tan) AOTC_ONE(cosh) AOTC_ONE(sinh) AOTC_ONE(tanh)
AOTC_ONE(exp) AOTC_ONE(exp2) AOTC_ONE(expm1) AOTC_ONE(log) AOTC_ONE(log10) AOTC_ONE(log1p)
AOTC_ONE(log2) AOTC_ONE(sqrt) AOTC_ONE(cbrt) AOTC_ONE(fabs) AOTC_ONE(ceil) AOTC_ONE(floor)
AOTC_ONE(trunc) AOTC_ONE(round) AOTC_ONE(rint) AOTC_ONE(nearbyint) AOTC_ONE(erf) AOTC_ONE(erfc)
AOTC_ONE(lgamma) AOTC_ONE(tgamma)
AOTC_TWO(atan2) AOTC_TWO(pow) AOTC_TWO(fmod) AOTC_TWO(hypot) AOTC_TWO(fmax) AOTC_TWO(fmin)
AOTC_TWO(fdim) AOTC_TWO(remainder) AOTC_TWO(copysign) AOTC_TWO(nextafter)
double fma(double, double, double);
float fmaf(float, float, float);
double ldexp(double, int);
float ldexpf(float, int);
double frexp(double, int *);
float frexpf(float, int *);
double modf(double, double *);
float modff(float, float *);
double scalbn(double, int);
float scalbnf(float, int);
long lround(double);
long lroundf(float);
long lrint(double);
long lrintf(float);
#undef AOTC_ONE
#undef AOTC_TWO
)";

constexpr const char kStdlib[] = R"(#pragma once
#include <stddef.h>
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
__attribute__((__noreturn__)) void abort(void);
__attribute__((__noreturn__)) void exit(int);
int abs(int);
long labs(long);
long long llabs(long long);
int atoi(const char *);
long strtol(const char *, char **, int);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
)";

constexpr const char kStdio[] = R"(#pragma once
#include <stdarg.h>
#include <stddef.h>
__attribute__((__format__(__printf__, 1, 2))) int printf(const char *, ...);
__attribute__((__format__(__printf__, 3, 4))) int snprintf(char *, size_t, const char *, ...);
int vsnprintf(char *, size_t, const char *, va_list);
int puts(const char *);
int putchar(int);
)";

constexpr const char kAssert[] = R"(#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
__attribute__((__noreturn__)) void aotc_assert_failed(void);
#define assert(condition) ((condition) ? (void)0 : aotc_assert_failed())
#endif
)";

// Program memory is Clang's address space 1.
constexpr const char kPgmspace[] = R"(#pragma once
#include <stddef.h>
#include <stdint.h>
#define PROGMEM __attribute__((__section__(".progmem.data")))
#define AOTC_FLASH(type, at) (*(const type __flash *)(uintptr_t)(at))
#define pgm_read_byte(at) AOTC_FLASH(uint8_t, at)
#define pgm_read_word(at) AOTC_FLASH(uint16_t, at)
#define pgm_read_dword(at) AOTC_FLASH(uint32_t, at)
#define pgm_read_float(at) AOTC_FLASH(float, at)
#define pgm_read_ptr(at) ((void *)(uintptr_t)AOTC_FLASH(uint16_t, at))
void *memcpy_P(void *, const void *, size_t);
size_t strlen_P(const char *);
)";

// Pairs of a header's name and its zero-terminated text.
const std::vector<std::pair<const char*, std::string_view>>& c_library_headers() {
  static const std::vector<std::pair<const char*, std::string_view>> all = {
      {"string.h", kString}, {"math.h", kMath},     {"stdlib.h", kStdlib},
      {"stdio.h", kStdio},   {"assert.h", kAssert}, {"avr/pgmspace.h", kPgmspace}};
  return all;
}

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
