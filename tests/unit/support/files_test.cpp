// SPDX-License-Identifier: Apache-2.0
#include "support/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace aotc {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "aotc_files_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  static void put(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  static std::string get(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Names in the test's folder: nothing temporary may be left.
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path root_;
};

using Left = std::vector<std::string>;

TEST_F(Files, ReadsBytesUpToALimit) {
  put(path("a"), std::string("x\0y\xff", 4));
  Diagnostics diags;
  auto bytes = read_file(path("a"), diags);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, (std::vector<uint8_t>{'x', 0, 'y', 0xff}));
  EXPECT_TRUE(read_file(path("a"), diags, 4).ok());
  EXPECT_FALSE(read_file(path("a"), diags, 3).ok());
  EXPECT_EQ(diags.str(), path("a") + ": error: file is larger than 3 bytes [file-too-large]\n");
}

TEST_F(Files, ReportsFilesThatCannotBeRead) {
  Diagnostics diags;
  EXPECT_FALSE(read_file(path("none"), diags).ok());
  EXPECT_FALSE(read_file(root_.string(), diags).ok());
  EXPECT_EQ(diags.str(), path("none") + ": error: cannot read file: no such file [file-read]\n" +
                             root_.string() +
                             ": error: cannot read file: it is a directory [file-read]\n");
}

TEST_F(Files, WritesThroughARename) {
  Diagnostics diags;
  ASSERT_TRUE(write_file(path("a"), "one", diags));
  ASSERT_TRUE(write_file(path("a"), "two", diags));
  EXPECT_EQ(get(path("a")), "two");
  EXPECT_EQ(left(), (Left{"a"}));
  EXPECT_FALSE(write_file(path("no/such/a"), "x", diags));
  EXPECT_EQ(diags.all().at(0).slug, "file-write");
  // A directory in the way: the write fails and leaves nothing beside it.
  fs::create_directory(path("d"));
  put(path("d/keep"), "k");
  EXPECT_FALSE(write_file(path("d"), "x", diags));
  EXPECT_EQ(left(), (Left{"a", "d"}));
}

TEST_F(Files, DirectoryAppearsOnCommitOnly) {
  OutputDirectory out(path("out"), "marker");
  out.add("marker", "");
  out.add("src/deep/a.c", "first");
  out.add("src/deep/a.c", "second");
  out.add("run.sh", "#!/bin/sh\n", true);
  EXPECT_EQ(out.names(), (Left{"marker", "run.sh", "src/deep/a.c"}));
  EXPECT_EQ(left(), Left{});
  Diagnostics diags;
  ASSERT_TRUE(out.commit(diags)) << diags.str();
  EXPECT_EQ(get(path("out/src/deep/a.c")), "second");
  EXPECT_EQ(::access(path("out/run.sh").c_str(), X_OK), 0);
  EXPECT_NE(::access(path("out/marker").c_str(), X_OK), 0);
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Files, ReplacesWhatAnEarlierRunMade) {
  Diagnostics diags;
  for (const char* name : {"old.c", "new.c"}) {
    OutputDirectory out(path("out"), "marker");
    out.add("marker", "");
    out.add(name, name);
    ASSERT_TRUE(out.commit(diags)) << diags.str();
  }
  // The whole directory is swapped: files that are no longer made are gone.
  EXPECT_FALSE(fs::exists(path("out/old.c")));
  EXPECT_EQ(get(path("out/new.c")), "new.c");
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Files, KeepsForeignDirectoriesUnlessForced) {
  fs::create_directory(path("out"));
  put(path("out/thesis.txt"), "years of work");
  Diagnostics diags;
  OutputDirectory polite(path("out"), "marker");
  polite.add("a.c", "a");
  EXPECT_FALSE(polite.commit(diags));
  EXPECT_EQ(diags.str(),
            path("out") +
                ": error: output directory exists and was not made by aotc [output-exists]\n"
                "  help: choose another -o DIRECTORY, or pass --force to replace it\n");
  EXPECT_EQ(get(path("out/thesis.txt")), "years of work");
  OutputDirectory forced(path("out"), "marker", true);
  forced.add("a.c", "a");
  ASSERT_TRUE(forced.commit(diags));
  EXPECT_FALSE(fs::exists(path("out/thesis.txt")));
  EXPECT_EQ(get(path("out/a.c")), "a");
}

TEST_F(Files, TakesAnEmptyDirectoryAndATrailingSlash) {
  fs::create_directory(path("out"));
  Diagnostics diags;
  OutputDirectory out(path("out/"), "marker");
  out.add("a.c", "a");
  ASSERT_TRUE(out.commit(diags)) << diags.str();
  EXPECT_EQ(get(path("out/a.c")), "a");
  EXPECT_EQ(left(), (Left{"out"}));
}

// A shell that is in the directory is not left in one that is gone.
TEST_F(Files, ReplacesTheContentOfTheWorkingDirectory) {
  fs::create_directory(path("out"));
  const fs::path before = fs::current_path();
  fs::current_path(path("out"));
  Diagnostics diags;
  for (const char* name : {"old/a.c", "new/b.c"}) {
    OutputDirectory out(".", "marker");
    out.add("marker", "");
    out.add(name, name);
    EXPECT_TRUE(out.commit(diags)) << diags.str();
    EXPECT_EQ(get(name), name);
  }
  EXPECT_FALSE(fs::exists("old"));
  fs::current_path(before);
  EXPECT_EQ(get(path("out/new/b.c")), "new/b.c");
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Files, KeepsRepositories) {
  fs::create_directories(path("out/.git"));
  put(path("out/marker"), "");
  put(path("out/main.c"), "mine");
  Diagnostics diags;
  OutputDirectory out(path("out"), "marker");
  out.add("marker", "");
  EXPECT_FALSE(out.commit(diags));
  EXPECT_NE(diags.str().find("[output-exists]"), std::string::npos) << diags.str();
  EXPECT_EQ(get(path("out/main.c")), "mine");
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Files, NeverReplacesAFile) {
  put(path("out"), "a file");
  Diagnostics diags;
  OutputDirectory out(path("out"), "marker", true);
  out.add("a.c", "a");
  EXPECT_FALSE(out.commit(diags));
  EXPECT_EQ(diags.all().at(0).slug, "output-exists");
  EXPECT_EQ(get(path("out")), "a file");
}

TEST_F(Files, LeavesTheOldDirectoryWhenWritingFails) {
  Diagnostics diags;
  OutputDirectory first(path("out"), "marker");
  first.add("marker", "");
  first.add("a.c", "old");
  ASSERT_TRUE(first.commit(diags));
  OutputDirectory second(path("out"), "marker");
  second.add("a", "file");
  second.add("a/b", "cannot be: a is a file");
  EXPECT_FALSE(second.commit(diags));
  EXPECT_EQ(diags.all().at(0).slug, "file-write");
  EXPECT_EQ(get(path("out/a.c")), "old");
  EXPECT_EQ(left(), (Left{"out"}));
}

}  // namespace
}  // namespace aotc
