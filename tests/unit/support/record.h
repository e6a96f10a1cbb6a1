// SPDX-License-Identifier: Apache-2.0
// Text that a test computes, compared with what is stored in tests/golden/records. With
// AOTC_UPDATE_RECORDS=1 in the environment it is stored instead.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "source_dir.h"

inline void expect_record(const std::string& name, const std::string& text) {
  const std::string path = aotc::source_dir() + "/tests/golden/records/" + name;
  if (std::getenv("AOTC_UPDATE_RECORDS") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream stored(path, std::ios::binary);
  ASSERT_TRUE(stored) << path;
  std::istringstream have(text);
  int number = 0, different = 0;
  for (std::string want, line; std::getline(stored, want); ++number) {
    std::getline(have, line);
    if (line != want && ++different <= 3)
      ADD_FAILURE() << name << ":" << number + 1 << ": " << line << "\n  instead of: " << want;
  }
  EXPECT_EQ(different, 0) << "lines differ";
  std::string more;
  EXPECT_FALSE(std::getline(have, more)) << "more than is stored: " << more;
}
