// SPDX-License-Identifier: Apache-2.0
#include "source_dir.h"

namespace aotc {

const std::string& source_dir() {
  static const std::string dir = AOTC_SOURCE_DIR;
  return dir;
}

}  // namespace aotc
