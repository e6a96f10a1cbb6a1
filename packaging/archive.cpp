// SPDX-License-Identifier: Apache-2.0
// A static link takes whole members of libarchive, and the member that has this function names every format that the
// library can write, with all that those stand on: an XML library and its tables of 30 MB among it. aotc writes tar.
#include <archive.h>
#include <archive_entry.h>

#include <cerrno>

extern "C" void __archive_write_entry_filetype_unsupported(archive* a, archive_entry*, const char* format) {
  archive_set_error(a, EINVAL, "%s has no entry of this type", format);
}
