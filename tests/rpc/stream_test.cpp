// SPDX-License-Identifier: Apache-2.0
// The line itself: what a program floods it with does not stay in memory.
#include "rpc/transport.h"

#include <gtest/gtest.h>

#include "rpc/session.h"

namespace aotc::rpc {
namespace {

constexpr size_t kMost = size_t{512} << 10;

std::unique_ptr<Transport> started(const std::vector<std::string>& argv) {
  Diagnostics diags;
  auto program = start_program(argv, "", diags);
  EXPECT_TRUE(program.ok()) << diags.str();
  return program ? std::move(*program) : nullptr;
}

TEST(Errors, FloodIsBounded) {
  auto line = started({"yes"});
  ASSERT_NE(line, nullptr);
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 50; ++i) {
    bytes.clear();
    ASSERT_EQ(line->read(bytes, Milliseconds(10000)), ReadState::kData);
    ASSERT_LE(bytes.size(), kMost);
  }
  // Also while something is to be written to a program that never reads.
  EXPECT_FALSE(line->write(std::vector<uint8_t>(size_t{4} << 20, 1), Milliseconds(300)));
  bytes.clear();
  ASSERT_EQ(line->read(bytes, Milliseconds(10000)), ReadState::kData);
  EXPECT_LE(bytes.size(), kMost);
}

TEST(Errors, FloodIsCorrupted) {
  auto line = started({"yes"});
  ASSERT_NE(line, nullptr);
  std::vector<uint8_t> first;  // from here on it floods
  ASSERT_EQ(line->read(first, Milliseconds(10000)), ReadState::kData);
  SessionOptions options;
  options.wait = options.longest_wait = Milliseconds(200);
  options.attempts = 3;
  Diagnostics diags;
  EXPECT_FALSE(Session::open(std::move(line), options, diags).ok());
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].slug, "rpc-corrupted");
}

TEST(Errors, MessagesAreBounded) {
  auto line = started({"sh", "-c", "yes last words | head -c 3000000 >&2 && echo taken || echo refused"});
  ASSERT_NE(line, nullptr);
  std::vector<uint8_t> bytes;
  while (line->read(bytes, Milliseconds(10000)) == ReadState::kData) {
  }
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "refused\n");
  EXPECT_NE(line->last_words().find("last words"), std::string::npos);
  EXPECT_LE(line->last_words().size(), 400u);
}

}  // namespace
}  // namespace aotc::rpc
