// SPDX-License-Identifier: Apache-2.0
#include "support/file_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace aotc {
namespace {

using ::testing::HasSubstr;

class MappedFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "aotc_mapped_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A file with this at its end and holes before.
  std::string file(uint64_t size, const std::string& end) {
    std::string path = folder_ / "model.bin";
    std::ofstream(path, std::ios::binary) << "start";
    std::filesystem::resize_file(path, size - end.size());
    std::ofstream(path, std::ios::binary | std::ios::app) << end;
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(MappedFiles, HaveTheBytesOfTheFile) {
  for (uint64_t size : {uint64_t{100}, kSmallestMapped - 1, kSmallestMapped, kSmallestMapped + 12345}) {
    Diagnostics diags;
    auto bytes = map_file(file(size, "the end"), diags);
    ASSERT_TRUE(bytes.ok()) << diags.str();
    ASSERT_EQ(bytes->size(), size);
    EXPECT_EQ(std::string(bytes->begin(), bytes->begin() + 5), "start");
    EXPECT_EQ(std::string(bytes->end() - 7, bytes->end()), "the end");
    EXPECT_TRUE(check_mapped_files(diags));
  }
}

TEST_F(MappedFiles, LiveAsLongAsSomebodyNeedsThem) {
  Diagnostics diags;
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> end;
  {
    auto bytes = map_file(file(kSmallestMapped, "the end"), diags);
    ASSERT_TRUE(bytes.ok());
    owner = bytes->owner();
    end = bytes->bytes().last(7);
  }
  std::filesystem::remove(folder_ / "model.bin");
  EXPECT_EQ(std::string(end.begin(), end.end()), "the end");
}

TEST_F(MappedFiles, AreMeasured) {
  Diagnostics diags;
  EXPECT_FALSE(map_file(file(kSmallestMapped + 1, "x"), diags, kSmallestMapped).ok());
  EXPECT_THAT(diags.str(), HasSubstr("[file-too-large]"));
  EXPECT_FALSE(map_file(folder_.string(), diags).ok());
  EXPECT_THAT(diags.str(), HasSubstr("it is a directory [file-read]"));
}

TEST_F(MappedFiles, TellWhenTheyChange) {
  Diagnostics diags;
  std::string path = file(kSmallestMapped, "x");
  auto bytes = map_file(path, diags);
  ASSERT_TRUE(bytes.ok());
  std::ofstream(path, std::ios::binary | std::ios::app) << "y";
  EXPECT_FALSE(check_mapped_files(diags));
  EXPECT_THAT(diags.str(), HasSubstr("model.bin: error: the file changed while aotc read it [file-changed]"));
  bytes = Result<FileBytes>(FileBytes());
  Diagnostics later;
  EXPECT_TRUE(check_mapped_files(later));
}

// A word and an exit code, not a signal.
TEST_F(MappedFiles, EndTheProgramWhenTheyGetShorter) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::string path = file(kSmallestMapped, "x");
  EXPECT_EXIT(
      {
        Diagnostics diags;
        auto bytes = map_file(path, diags);
        ::truncate(path.c_str(), 10);
        ::_exit(bytes->data()[kSmallestMapped - 1]);
      },
      testing::ExitedWithCode(1), "model.bin: error: the file became shorter while aotc read it \\[file-changed\\]");
}

}  // namespace
}  // namespace aotc
