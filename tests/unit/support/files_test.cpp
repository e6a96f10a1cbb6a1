// SPDX-License-Identifier: Apache-2.0
#include "support/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/work_area.h"

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
    for (const auto& entry : fs::directory_iterator(root_)) names.push_back(entry.path().filename().string());
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
  EXPECT_EQ(diags.str(), path("a") + ": error: the file is larger than 3 bytes [file-too-large]\n");
}

const std::string kGiveAFile = "  help: give a file that can be read\n";

TEST_F(Files, ReportsFilesThatCannotBeRead) {
  Diagnostics diags;
  EXPECT_FALSE(read_file(path("none"), diags).ok());
  EXPECT_FALSE(read_file(root_.string(), diags).ok());
  EXPECT_EQ(diags.str(), path("none") + ": error: cannot read file: no such file [file-read]\n  help: no file in '" +
                             root_.string() + "' has a similar name\n" + root_.string() +
                             ": error: cannot read file: it is a directory [file-read]\n" + kGiveAFile);
}

// All of them at once: nothing is opened, none of it is read.
TEST_F(Files, MeasuresBeforeItReads) {
  const std::string large = path("large"), pipe = path("pipe");
  put(large, "");
  fs::resize_file(large, uint64_t{2} << 30);  // a hole: takes no room
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Diagnostics diags;
  for (const std::string& name : {large, pipe, std::string("/dev/zero")}) EXPECT_FALSE(read_file(name, diags).ok());
  EXPECT_EQ(diags.str(), large + ": error: the file is larger than 1,073,741,824 bytes [file-too-large]\n" + pipe +
                             ": error: cannot read file: it is a pipe, not a file [file-read]\n" + kGiveAFile +
                             "/dev/zero: error: cannot read file: it is a device, not a file [file-read]\n" +
                             kGiveAFile);
}

TEST_F(Files, WritesIntoDevicesAndKeepsModes) {
  Diagnostics diags;
  ASSERT_TRUE(write_file("/dev/null", "x", diags)) << diags.str();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_FALSE(write_file("/dev/full", "x", diags));
  put(path("a"), "one");
  fs::permissions(path("a"), fs::perms::owner_all);
  fs::create_symlink("a", path("link"));
  ASSERT_TRUE(write_file(path("link"), "two", diags));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(get(path("a")), "two");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_all);
  EXPECT_EQ(left(), (Left{"a", "link"}));
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

class Outputs : public Files {
 protected:
  // Writes "aotc.json" and files whose content is their name.
  Status write(const std::string& where, const Left& files, Diagnostics& diags, bool force = false) {
    OutputDirectory out(where, "aotc.json", force);
    out.add("aotc.json", "{\n \"aotc\": 1\n}\n");
    for (const std::string& name : files) out.add(name, name);
    return out.commit(diags);
  }
  bool written(const Left& files, bool force = false) {
    Diagnostics diags;
    const bool good = write(path("out"), files, diags, force).ok();
    EXPECT_TRUE(good) << diags.str();
    return good;
  }
  std::string refusal(const Left& files, bool force = false) {
    Diagnostics diags;
    EXPECT_FALSE(write(path("out"), files, diags, force));
    return diags.str();
  }
  // Files below "out".
  Left present() const {
    Left names;
    for (const auto& entry : fs::recursive_directory_iterator(root_ / "out"))
      if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(root_ / "out").string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Outputs, AppearOnCommitOnly) {
  OutputDirectory out(path("out"), "");
  out.add("src/deep/a.c", "first");
  out.add("src/deep/a.c", "second");
  out.add("run.sh", "#!/bin/sh\n", true);
  EXPECT_EQ(out.names(), (Left{"run.sh", "src/deep/a.c"}));
  EXPECT_EQ(left(), Left{});
  Diagnostics diags;
  ASSERT_TRUE(out.commit(diags)) << diags.str();
  EXPECT_EQ(get(path("out/src/deep/a.c")), "second");
  EXPECT_EQ(::access(path("out/run.sh").c_str(), X_OK), 0);
  EXPECT_NE(::access(path("out/src/deep/a.c").c_str(), X_OK), 0);
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Outputs, EndWithTheListOfWhatWasWritten) {
  ASSERT_TRUE(written({"a.c"}));
  EXPECT_EQ(get(path("out/aotc.json")),
            "{\n \"aotc\": 1,\n \"written\": {\n  \"files\": {\n   \"a.c\": \"e61d9a19046653df\"\n  },\n"
            "  \"checksum\": \"0a5a3e6483ef6cfe\"\n }\n}\n");
}

TEST_F(Outputs, ReplaceWhatAnEarlierRunMade) {
  ASSERT_TRUE(written({"old.c", "deep/old.c"}));
  ASSERT_TRUE(written({"new.c"}));
  // Files that are no longer made are gone.
  EXPECT_EQ(present(), (Left{"aotc.json", "new.c"}));
  fs::remove(path("out/new.c"));  // what is gone is no obstacle
  ASSERT_TRUE(written({"new.c"}));
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Outputs, KeepWhatAotcDidNotWrite) {
  fs::create_directories(path("out/notes/old"));
  put(path("out/thesis.txt"), "years of work");
  put(path("out/notes/old/1"), "1");
  put(path("out/notes/2"), "2");
  put(path("out/aotc.json"), "{}");  // no list: nobody's
  EXPECT_EQ(refusal({"a.c"}), path("out") +
                                  ": error: the output directory exists, and aotc did not write it [output-exists]\n"
                                  "  note: added: aotc.json\n"
                                  "  note: added: notes/ (2 files)\n"
                                  "  note: added: thesis.txt\n"
                                  "  help: choose another -o DIRECTORY, or pass --force: aotc then replaces files "
                                  "that have the names of its own files, and keeps all other files\n");
  EXPECT_EQ(present(), (Left{"aotc.json", "notes/2", "notes/old/1", "thesis.txt"}));
  ASSERT_TRUE(written({"a.c"}, true));
  EXPECT_EQ(present(), (Left{"a.c", "aotc.json", "notes/2", "notes/old/1", "thesis.txt"}));
  EXPECT_EQ(get(path("out/thesis.txt")), "years of work");
}

TEST_F(Outputs, TellChangedFromAdded) {
  ASSERT_TRUE(written({"a.c", "b.c", "deep/c.c"}));
  put(path("out/a.c"), "mine");
  put(path("out/deep/mine.c"), "mine");
  fs::create_symlink("b.c", path("out/link"));
  fs::remove(path("out/b.c"));
  fs::create_symlink("/etc/passwd", path("out/b.c"));
  EXPECT_EQ(refusal({"a.c", "b.c"}),
            path("out") +
                ": error: the output directory has files that were changed or added since aotc wrote "
                "it [output-exists]\n"
                "  note: changed: a.c\n"
                "  note: changed: b.c\n"
                "  note: added: deep/mine.c\n"
                "  note: added: link\n"
                "  help: choose another -o DIRECTORY, or pass --force: aotc then replaces files "
                "that have the names of its own files, and keeps all other files\n");
  EXPECT_EQ(get(path("out/a.c")), "mine");
  // With force: changed files of the same name are replaced, and that is said; others stay, changed or added.
  Diagnostics diags;
  ASSERT_TRUE(write(path("out"), {"a.c"}, diags, true)) << diags.str();
  EXPECT_EQ(diags.str(), path("out") +
                             ": warning: aotc replaced files that were changed or added "
                             "[output-replaced]\n  note: changed: a.c\n");
  EXPECT_EQ(present(), (Left{"a.c", "aotc.json", "b.c", "deep/mine.c", "link"}));
  EXPECT_EQ(get(path("out/a.c")), "a.c");
  EXPECT_EQ(fs::read_symlink(path("out/link")), "b.c");
  // They are not taken for aotc's own by the next run.
  EXPECT_NE(refusal({"a.c"}).find("added: b.c"), std::string::npos);
}

TEST_F(Outputs, KnowAChangedList) {
  ASSERT_TRUE(written({"a.c"}));
  std::string text = get(path("out/aotc.json"));
  put(path("out/aotc.json"), text.replace(text.find("\"aotc\": 1"), 9, "\"aotc\": 2"));
  EXPECT_NE(refusal({"a.c"}).find("note: changed: aotc.json\n  help"), std::string::npos);
}

TEST_F(Outputs, AreNoObstacleToThemselves) {
  // Without a list: what is there is what would be written.
  Diagnostics diags;
  for (int i = 0; i < 2; ++i) {
    OutputDirectory out(path("out"), "");
    out.add("src/a.c", "a");
    ASSERT_TRUE(out.commit(diags)) << diags.str();
  }
  OutputDirectory other(path("out"), "");
  other.add("src/a.c", "b");
  EXPECT_FALSE(other.commit(diags));
  EXPECT_NE(diags.str().find("added: src/ (1 file)"), std::string::npos) << diags.str();
}

TEST_F(Outputs, SayWhatIsInTheWay) {
  fs::create_directories(path("out/a.c"));
  put(path("out/a.c/mine"), "mine");
  put(path("out/src"), "mine");
  EXPECT_NE(refusal({"a.c"}, true).find("'a.c' blocks the path 'a.c' [output-exists]"), std::string::npos);
  EXPECT_NE(refusal({"src/b.c"}, true).find("'src' blocks the path 'src/b.c' [output-exists]"), std::string::npos);
  EXPECT_EQ(present(), (Left{"a.c/mine", "src"}));
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Outputs, ClearWhatWasBuiltFromThem) {
  ASSERT_TRUE(written({"a.c"}));
  fs::create_directories(path("out/build/objects"));
  put(path("out/build/objects/a.o"), "object");
  EXPECT_NE(refusal({"a.c"}).find("added: build/ (1 file)"), std::string::npos);
  put(std::string(path("out/build/")) + kDerivedMarker, "");
  ASSERT_TRUE(written({"a.c"}));
  EXPECT_EQ(present(), (Left{"a.c", "aotc.json"}));
}

TEST_F(Outputs, TakeAnEmptyDirectoryAndATrailingSlash) {
  fs::create_directory(path("out"));
  fs::permissions(path("out"), fs::perms::owner_all);
  Diagnostics diags;
  ASSERT_TRUE(write(path("out/"), {"a.c"}, diags)) << diags.str();
  EXPECT_EQ(get(path("out/a.c")), "a.c");
  EXPECT_EQ(fs::status(path("out")).permissions(), fs::perms::owner_all);
  ASSERT_TRUE(write(path("new/deep/"), {"a.c"}, diags)) << diags.str();
  EXPECT_EQ(left(), (Left{"new", "out"}));
}

TEST_F(Outputs, FollowALink) {
  fs::create_directory(path("real"));
  fs::create_symlink("real", path("out"));
  ASSERT_TRUE(written({"a.c"}));
  EXPECT_TRUE(fs::is_symlink(path("out")));
  EXPECT_EQ(get(path("real/a.c")), "a.c");
  EXPECT_EQ(left(), (Left{"out", "real"}));
}

// A shell that is in the directory is not left in one that is gone.
TEST_F(Outputs, ReplaceTheContentOfTheWorkingDirectory) {
  fs::create_directory(path("out"));
  const fs::path before = fs::current_path();
  fs::current_path(path("out"));
  Diagnostics diags;
  for (const char* name : {"old/a.c", "old", "new/b.c"}) {
    EXPECT_TRUE(write(".", {name}, diags)) << diags.str();
    EXPECT_EQ(get(name), name);
  }
  EXPECT_FALSE(fs::exists("old"));
  put("mine", "mine");
  EXPECT_FALSE(write(".", {"new/c.c"}, diags));
  EXPECT_EQ(get("new/b.c"), "new/b.c");
  EXPECT_TRUE(write(".", {"new/c.c"}, diags, true));
  fs::current_path(before);
  EXPECT_EQ(present(), (Left{"aotc.json", "mine", "new/c.c"}));
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Outputs, KeepRepositories) {
  ASSERT_TRUE(written({"main.c"}));
  fs::create_directories(path("out/.git/refs/tags"));
  fs::create_directories(path("out/.git/objects"));
  put(path("out/.git/HEAD"), "ref: refs/heads/main");
  EXPECT_NE(refusal({"main.c"}).find("note: added: .git/ (1 file)"), std::string::npos);
  ASSERT_TRUE(written({"main.c"}, true));
  EXPECT_EQ(get(path("out/.git/HEAD")), "ref: refs/heads/main");
  EXPECT_TRUE(fs::is_directory(path("out/.git/refs/tags")));  // without them it is no repository
  EXPECT_TRUE(fs::is_directory(path("out/.git/objects")));
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Outputs, NeverReplaceAFile) {
  put(path("out"), "a file");
  EXPECT_EQ(refusal({"a.c"}, true), path("out") +
                                        ": error: the output path exists, but is not a directory [output-exists]\n"
                                        "  help: choose another -o DIRECTORY\n");
  EXPECT_EQ(get(path("out")), "a file");
}

TEST_F(Outputs, LeaveTheOldOnesWhenWritingFails) {
  ASSERT_TRUE(written({"a.c"}));
  EXPECT_NE(refusal({"a", "a/b"}).find("[file-write]"), std::string::npos);  // a is a file
  EXPECT_EQ(get(path("out/a.c")), "a.c");
  EXPECT_EQ(left(), (Left{"out"}));
  Diagnostics diags;
  EXPECT_FALSE(write(path("new/deep"), {"a", "a/b"}, diags));
  EXPECT_EQ(left(), (Left{"out"}));
}

// Directories as a killed run leaves them: only what is aotc's by its name is cleared.
TEST_F(Outputs, ClearWhatAKilledRunLeft) {
  fs::create_directories(path(".out.aotc-123/new"));
  put(path(".out.aotc-123/new/a.c"), "half");
  fs::create_directories(path(".out.aotc-124-1"));
  fs::create_directories(path(".out.aotc-mine"));
  fs::create_directories(path(".other.aotc-123"));
  put(path(".out.aotc-125"), "a file");
  ASSERT_TRUE(written({"a.c"}));
  EXPECT_EQ(left(), (Left{".other.aotc-123", ".out.aotc-125", ".out.aotc-mine", "out"}));
}

// The next run makes the rest of a change, but leaves what somebody changed in between.
TEST_F(Outputs, CompleteAChangeInPlaceOfAKilledRun) {
  fs::create_directories(path("out/gone"));
  fs::create_directories(path(".out.aotc-123/new"));
  fs::create_directories(path(".out.aotc-123/removed"));
  for (const char* name : {"replaced", "changed", "gone/old"}) put(path("out/") + name, "old");
  put(path(".out.aotc-123/removed/done"), "old");
  put(path("out/done"), "new");
  put(path("out/fresh"), "new");
  for (const char* name : {"replaced", "changed"}) put(path(".out.aotc-123/new/") + name, "new");
  put(path(".out.aotc-123/in-place.json"),
      fmt::format(R"({{"replaced": "{0}", "changed": "{0}", "gone/old": "{0}", "done": "{0}", "fresh": ""}})",
                  checksum_of("old")));
  put(path("out/changed"), "mine");
  EXPECT_NE(refusal({"a.c"}).find("aotc did not write it"), std::string::npos);
  EXPECT_EQ(present(), (Left{"changed", "done", "fresh", "replaced"}));
  for (const char* name : {"replaced", "done", "fresh"}) EXPECT_EQ(get(path("out/") + name), "new") << name;
  EXPECT_EQ(get(path("out/changed")), "mine");
  EXPECT_EQ(left(), (Left{"out"}));
}

TEST_F(Outputs, RestoreADirectoryThatAKilledRunMovedAway) {
  fs::create_directories(path(".out.aotc-123/new"));
  fs::create_directories(path(".out.aotc-123/old"));
  put(path(".out.aotc-123/old/a.c"), "mine");
  EXPECT_NE(refusal({"a.c"}).find("added: a.c"), std::string::npos);
  EXPECT_EQ(get(path("out/a.c")), "mine");
  EXPECT_EQ(left(), (Left{"out"}));
}

}  // namespace
}  // namespace aotc
