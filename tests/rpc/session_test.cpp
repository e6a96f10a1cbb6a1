// SPDX-License-Identifier: Apache-2.0
#include "rpc/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "line.h"

namespace aotc::rpc {
namespace {

using ::testing::HasSubstr;

const std::string kLongName =
    "a_function_with_a_name_that_is_so_long_that_it_is_longer_than_what_a_line_with_noise_takes_"
    "and_than_names_that_are_registered_at_run_time_may_be";

// 100,000 unless the environment asks for fewer.
int call_count() {
  const char* text = std::getenv("AOTC_RPC_CALLS");
  return text != nullptr ? std::atoi(text) : 100000;
}

std::vector<uint8_t> bytes_of(std::initializer_list<int> values) {
  std::vector<uint8_t> out;
  for (int v : values) out.push_back(static_cast<uint8_t>(v));
  return out;
}

struct Connected {
  Device device;
  Line* line = nullptr;
  Diagnostics diags;
  std::unique_ptr<Session> session;

  explicit Connected(Noise to_device = no_noise(), Noise to_host = no_noise(), bool noisy = true) {
    auto made = std::make_unique<Line>(device, std::move(to_device), std::move(to_host));
    line = made.get();
    line->noisy = noisy;
    SessionOptions options;
    options.nonce = 0x1234;
    auto opened = Session::open(std::move(made), options, diags);
    if (opened) session = std::move(*opened);
  }

  // a[0..n) + b in slots 0, 1, 2.
  Result<std::vector<uint8_t>> add(const std::vector<uint8_t>& a, uint8_t b, Diagnostics& d) {
    if (!session->upload(0, a, d) || !session->upload(1, {&b, 1}, d) ||
        !session->call("add", {Argument::tensor(0), Argument::tensor(1), Argument::tensor(2)}, d))
      return kFailure;
    return session->download(2, a.size(), d);
  }
  bool make_tensors(uint32_t n) {
    return session && session->allocate(0, {0, 8, 1, {n}}, diags) && session->allocate(1, {0, 8, 1, {1}}, diags) &&
           session->allocate(2, {0, 8, 1, {n}}, diags);
  }
};

TEST(Session, SaysWhatTheDeviceIs) {
  Connected c;
  ASSERT_TRUE(c.session) << c.diags.str();
  const DeviceInfo& d = c.session->device();
  EXPECT_EQ(d.board, "a board in this process");
  EXPECT_EQ(d.max_payload, TVM_CRT_MAX_PACKET_SIZE_BYTES);
  EXPECT_EQ(d.function_count, 7u);
  EXPECT_EQ(d.pool_bytes, 4096u);
  EXPECT_EQ(d.ticks_per_second, 1000u);
  EXPECT_TRUE(d.can_reboot);
  EXPECT_FALSE(d.big_endian);
}

TEST(Session, ListsFunctionsInPages) {
  Connected c;
  auto names = c.session->functions(c.diags);
  ASSERT_TRUE(names) << c.diags.str();
  EXPECT_EQ(*names, (std::vector<std::string>{"add", "count", "mixed", "fail", "spin", "creep", kLongName}));
  // So much noise that only small pages come through, and a name that is larger than those.
  Connected noisy(changes(1, 0.02), changes(2, 0.02));
  ASSERT_TRUE(noisy.session) << noisy.diags.str();
  int complete = 0;
  for (int i = 0; i < 20; ++i) {
    Diagnostics d;
    auto again = noisy.session->functions(d);
    ASSERT_EQ(again.ok(), !d.has_errors());
    if (again) {
      EXPECT_EQ(*again, *names);
      ++complete;
    }
  }
  EXPECT_GT(complete, 5);
}

TEST(Session, CallsFunctions) {
  Connected c;
  ASSERT_TRUE(c.make_tensors(4)) << c.diags.str();
  auto sum = c.add(bytes_of({1, 2, 126, -128}), 1, c.diags);
  ASSERT_TRUE(sum) << c.diags.str();
  EXPECT_EQ(*sum, bytes_of({2, 3, 127, -127}));
  Argument null;
  null.kind = Argument::Kind::kNull;
  auto mixed = c.session->call("mixed", {Argument::of_int(-5), Argument::of_float(0.25), null}, c.diags);
  ASSERT_TRUE(mixed) << c.diags.str();
  EXPECT_EQ(mixed->code, 2);
  EXPECT_EQ(std::bit_cast<double>(mixed->value), -4.75);
  EXPECT_TRUE(c.session->call("count", {}, c.diags)) << c.diags.str();
}

TEST(Session, TimesFunctions) {
  Connected c;
  auto t = c.session->time("spin", {Argument::of_int(50)}, 10, 3, c.diags);
  ASSERT_TRUE(t) << c.diags.str();
  EXPECT_EQ(t->total, 500u);
  EXPECT_EQ(t->least, 50u);
  EXPECT_EQ(t->most, 50u);
  EXPECT_EQ(t->empty, 7u);
  // 10, 20 for warming up, then 30, 40, 50.
  t = c.session->time("creep", {}, 3, 2, c.diags);
  ASSERT_TRUE(t) << c.diags.str();
  EXPECT_EQ(t->total, 120u);
  EXPECT_EQ(t->least, 30u);
  EXPECT_EQ(t->most, 50u);
}

TEST(Session, MovesLargeTensorsThroughNoise) {
  Connected c(changes(3), changes(4));
  ASSERT_TRUE(c.make_tensors(1500)) << c.diags.str();
  std::vector<uint8_t> a(1500);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint8_t>(i * 7);
  auto sum = c.add(a, 3, c.diags);
  ASSERT_TRUE(sum) << c.diags.str();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ((*sum)[i], static_cast<uint8_t>(a[i] + 3)) << i;
}

TEST(Session, PoolIsUsedAgain) {
  Connected c;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(c.session->allocate(0, {0, 8, 1, {1000}}, c.diags));
    ASSERT_TRUE(c.session->allocate(1, {2, 32, 1, {25, 10}}, c.diags));
    ASSERT_TRUE(c.session->allocate(2, {0, 8, 1, {2032}}, c.diags)) << c.diags.str();
    ASSERT_TRUE(c.session->free_slot(1, c.diags));
    ASSERT_TRUE(c.session->allocate(3, {0, 16, 2, {250}}, c.diags)) << c.diags.str();
    ASSERT_TRUE(c.session->free_slot(0xFF, c.diags));
  }
}

// --- A bad line
// -----------------------------------------------------------------------------------

// Every call that completes is right, and was executed exactly once; the others are reported.
void run_on_a_bad_line(Noise to_device, Noise to_host, int calls, int least_complete) {
  Connected c(std::move(to_device), std::move(to_host), false);
  ASSERT_TRUE(c.make_tensors(2)) << c.diags.str();
  c.line->noisy = true;
  Random random(7);
  int complete = 0, reported = 0;
  int64_t last_count = functions_counted;
  for (int i = 0; i < calls; ++i) {
    Diagnostics d;
    const auto a = bytes_of({static_cast<int>(random() % 256), static_cast<int>(random() % 256)});
    const auto b = static_cast<uint8_t>(random());
    auto sum = c.add(a, b, d);
    ASSERT_EQ(sum.ok(), !d.has_errors());
    if (!sum) {
      ++reported;
      EXPECT_THAT(d.all()[0].slug, testing::AnyOf("rpc-corrupted", "rpc-silent", "rpc-timeout")) << d.str();
      continue;
    }
    ++complete;
    ASSERT_EQ(*sum, bytes_of({a[0] + b, a[1] + b}));
    if (i % 10 != 0) continue;
    auto count = c.session->call("count", {}, d);
    if (count) {
      ASSERT_EQ(static_cast<int64_t>(count->value), last_count + 1) << "executed twice";
    }
    last_count = functions_counted;
  }
  const LineStatistics& s = c.session->statistics();
  std::printf(
      "%d calls: %d complete, %d reported; %lld requests, %lld attempts, %lld damaged "
      "frames here, %u there\n",
      calls, complete, reported, static_cast<long long>(s.requests), static_cast<long long>(s.attempts),
      static_cast<long long>(s.damaged), c.device.server().damaged);
  EXPECT_EQ(complete + reported, calls);
  // The line was bad, and yet most calls came through.
  EXPECT_GT(s.attempts, s.requests + s.requests / 4);
  EXPECT_GE(complete, least_complete);
}

TEST(BadLine, ChangedBytes) { run_on_a_bad_line(changes(5), changes(6), call_count(), call_count() / 100 * 99); }

TEST(BadLine, ChangedLostAndDoubledBytes) {
  run_on_a_bad_line(slips(5), slips(6), call_count() / 10, call_count() / 1000 * 99);
}

// So bad that some calls are given up.
TEST(BadLine, OneByteInTwenty) { run_on_a_bad_line(changes(5, 0.05), changes(6, 0.05), call_count() / 50, 1); }

TEST(BadLine, NoiseFromTheStart) {
  // Before HELLO the device heard half a frame, and the host hears a banner.
  Connected c;
  Device device;
  for (int i = 0; i < 700; ++i) device.receive(static_cast<uint8_t>(1 + i % 255));
  auto line = std::make_unique<Line>(device, no_noise(), no_noise());
  Diagnostics d;
  EXPECT_TRUE(Session::open(std::move(line), {}, d)) << d.str();
}

TEST(BadLine, TheKeptAnswerIsNotGivenToALaterCall) {
  // Sequence numbers come again after 65,536 requests.
  Connected c;
  ASSERT_TRUE(c.make_tensors(1));
  ASSERT_TRUE(c.session->call("count", {}, c.diags));
  const uint32_t before = functions_counted;
  for (int i = 0; i < 65535; ++i) ASSERT_TRUE(c.session->download(0, 1, c.diags));
  auto again = c.session->call("count", {}, c.diags);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->value, before + 1);
}

// --- Errors
// ---------------------------------------------------------------------------------------

std::string slug_of(const Diagnostics& d) { return d.all().empty() ? "" : d.all()[0].slug; }

TEST(Errors, SilentDevice) {
  Connected c;
  c.line->before_byte = [] { return false; };
  const Milliseconds before = c.line->now();
  EXPECT_FALSE(c.session->functions(c.diags));
  EXPECT_EQ(slug_of(c.diags), "rpc-silent");
  Diagnostics d;
  EXPECT_FALSE(c.session->call("count", {}, d));
  EXPECT_EQ(slug_of(d), "rpc-silent");
  EXPECT_LT(c.line->now() - before, Milliseconds(90000));
}

TEST(Errors, DeviceDiesMidway) {
  // At every byte of a call in turn; nothing waits for ever, and nothing wrong is believed.
  for (int death = 0; death < 150; ++death) {
    Connected c;
    ASSERT_TRUE(c.make_tensors(2));
    int left = death;
    c.line->before_byte = [&] { return left-- > 0; };
    Diagnostics d;
    auto sum = c.add(bytes_of({1, 2}), 3, d);
    if (sum) {
      EXPECT_EQ(*sum, bytes_of({4, 5}));
    } else {
      EXPECT_THAT(slug_of(d), testing::AnyOf("rpc-silent", "rpc-corrupted", "rpc-timeout")) << death;
    }
    EXPECT_LT(c.line->now(), Milliseconds(200000));
  }
}

TEST(Errors, DeviceRestartsMidway) {
  int completed = 0;
  for (int restart = 0; restart < 150; ++restart) {
    Connected c;
    ASSERT_TRUE(c.make_tensors(2));
    int left = restart;
    c.line->before_byte = [&] {
      if (left-- == 0) c.device.start();
      return true;
    };
    Diagnostics d;
    auto sum = c.add(bytes_of({1, 2}), 3, d);
    if (sum) {
      EXPECT_EQ(*sum, bytes_of({4, 5}));
      ++completed;
    } else {
      EXPECT_EQ(slug_of(d), "rpc-rebooted") << d.str();
    }
  }
  EXPECT_LT(completed, 75);
}

TEST(Errors, LineClosed) {
  Connected c;
  c.line->closed = true;
  EXPECT_FALSE(c.session->functions(c.diags));
  EXPECT_EQ(slug_of(c.diags), "rpc-closed");
}

TEST(Errors, RebootOnRequest) {
  Connected c;
  ASSERT_TRUE(c.make_tensors(2));
  EXPECT_TRUE(c.session->reset(true, c.diags)) << c.diags.str();
  EXPECT_FALSE(c.session->upload(0, bytes_of({1}), c.diags));
  EXPECT_EQ(slug_of(c.diags), "rpc-rebooted");
}

TEST(Errors, ResetForgetsTensors) {
  Connected c;
  ASSERT_TRUE(c.make_tensors(2));
  EXPECT_TRUE(c.session->reset(false, c.diags)) << c.diags.str();
  EXPECT_FALSE(c.session->upload(0, bytes_of({1}), c.diags));
  EXPECT_EQ(slug_of(c.diags), "rpc-refused");
}

TEST(Errors, AnotherProgramTookTheDevice) {
  Connected c;
  SessionOptions other;
  other.nonce = 99;
  Diagnostics d;
  auto second = Session::open(std::make_unique<Line>(c.device, no_noise(), no_noise()), other, d);
  ASSERT_TRUE(second);
  EXPECT_FALSE(c.session->functions(c.diags));
  EXPECT_EQ(slug_of(c.diags), "rpc-rebooted");
}

TEST(Errors, OutOfMemory) {
  Connected c;
  EXPECT_FALSE(c.session->allocate(0, {0, 8, 1, {4097}}, c.diags));
  EXPECT_EQ(slug_of(c.diags), "rpc-memory");
  EXPECT_THAT(c.diags.str(), HasSubstr("4,097 bytes"));
  Diagnostics d;
  EXPECT_FALSE(c.session->allocate(0, {0, 8, 1, {65536, 65536, 65536, 65536}}, d));
  EXPECT_EQ(slug_of(d), "rpc-memory");
  Diagnostics none;
  EXPECT_TRUE(c.session->allocate(0, {0, 8, 1, {4096}}, none)) << none.str();
}

TEST(Errors, ResultTooLarge) {
  // A name that no packet holds, in a registry of its own.
  static const std::string names = std::string("\1\0", 2) + std::string(3000, 'n') + '\0';
  static const TVMBackendPackedCFunc function = TVMSystemLibEntryPoint()->registry->funcs[0];
  static const TVMFuncRegistry registry = {names.data(), &function, nullptr, nullptr};
  Connected c;
  const_cast<AotcRpcServer&>(c.device.server()).functions = &registry;
  Diagnostics d;
  auto opened = Session::open(std::make_unique<Line>(c.device, no_noise(), no_noise()), {}, d);
  ASSERT_TRUE(opened);
  EXPECT_FALSE((*opened)->functions(d));
  EXPECT_EQ(slug_of(d), "rpc-too-large");
}

TEST(Errors, FunctionFails) {
  Connected c;
  EXPECT_FALSE(c.session->call("fail", {}, c.diags));
  EXPECT_EQ(slug_of(c.diags), "rpc-failed");
  EXPECT_THAT(c.diags.str(), HasSubstr("status -7"));
  EXPECT_THAT(c.diags.str(), HasSubstr("the accelerator is on fire"));
  Diagnostics d;
  EXPECT_FALSE(c.session->time("fail", {}, 3, 1, d));
  EXPECT_EQ(slug_of(d), "rpc-failed");
  EXPECT_THAT(d.str(), HasSubstr("the accelerator is on fire"));
}

TEST(Errors, FunctionUnknown) {
  Connected c;
  EXPECT_FALSE(c.session->call("subtract", {}, c.diags));
  EXPECT_EQ(slug_of(c.diags), "rpc-function");
}

TEST(Errors, VersionOfTheProtocol) {
  // A device that answers in a version of the future.
  Device device;
  auto to_host = [](uint8_t byte, std::vector<uint8_t>& out) { out.push_back(byte); };
  class Future : public Line {
   public:
    using Line::Line;
    bool write(std::span<const uint8_t> bytes, Milliseconds) override {
      decoder_.feed(bytes);
      while (auto packet = decoder_.next()) {
        packet->version = 9;
        packet->type = 0xEE;
        auto frame = encode(*packet);
        answers_.insert(answers_.end(), frame.begin(), frame.end());
      }
      return true;
    }
    ReadState read(std::vector<uint8_t>& to, Milliseconds) override {
      to = std::exchange(answers_, {});
      return ReadState::kData;
    }

   private:
    Decoder decoder_;
    std::vector<uint8_t> answers_;
  };
  Diagnostics d;
  EXPECT_FALSE(Session::open(std::make_unique<Future>(device, no_noise(), to_host), {}, d));
  EXPECT_EQ(slug_of(d), "rpc-version");
}

TEST(Errors, FunctionTakesTooLong) {
  // The device says that it works, and then nothing more: its answers get lost.
  class OnlyWorking : public Line {
   public:
    using Line::Line;
    ReadState read(std::vector<uint8_t>& to, Milliseconds timeout) override {
      std::vector<uint8_t> all;
      const ReadState state = Line::read(all, timeout);
      decoder_.feed(all);
      while (auto packet = decoder_.next()) {
        if (packet->type != AOTC_RPC_WORKING && packet->type != (AOTC_RPC_HELLO | AOTC_RPC_ANSWER)) continue;
        auto frame = encode(*packet);
        to.insert(to.end(), frame.begin(), frame.end());
      }
      return state;
    }

   private:
    Decoder decoder_;
  };
  Device device;
  Diagnostics d;
  auto made = std::make_unique<OnlyWorking>(device, no_noise(), no_noise());
  OnlyWorking& line = *made;
  auto session = Session::open(std::move(made), {}, d);
  ASSERT_TRUE(session) << d.str();
  const uint32_t before = functions_counted;
  EXPECT_FALSE((*session)->call("count", {}, d));
  EXPECT_EQ(slug_of(d), "rpc-timeout");
  EXPECT_LT(line.now(), Milliseconds(70000));
  EXPECT_GE(line.now(), Milliseconds(60000));
  EXPECT_EQ(functions_counted, before + 1);
}

// A line whose device answers with what a test makes of its answers.
class Changed : public Line {
 public:
  using Line::Line;
  std::function<void(Packet&)> change;
  ReadState read(std::vector<uint8_t>& to, Milliseconds timeout) override {
    std::vector<uint8_t> all;
    const ReadState state = Line::read(all, timeout);
    decoder_.feed(all);
    while (auto packet = decoder_.next()) {
      change(*packet);
      auto frame = encode(*packet);
      to.insert(to.end(), frame.begin(), frame.end());
    }
    return state;
  }

 private:
  Decoder decoder_;
};

TEST(Errors, ImpossibleTimes) {
  const uint64_t all = UINT64_MAX;
  struct Case {
    uint64_t total, least, most;
    bool good;
  };
  for (const Case& c : {Case{all, all, all, false},
                        {1844674407370955161u, all, 5, false},
                        {100, 20, 5, false},
                        {100, 30, 40, false},
                        {100, 5, 8, false},
                        {100, 0, 101, false},
                        {uint64_t{1} << 61, 0, uint64_t{1} << 61, false},
                        {100, 5, 20, true},
                        {0, 0, 0, true},
                        {100, 10, 10, true}}) {
    Device device;
    Diagnostics d;
    auto made = std::make_unique<Changed>(device, no_noise(), no_noise());
    made->change = [&](Packet& packet) {
      if (packet.type != (AOTC_RPC_TIME | AOTC_RPC_ANSWER)) return;
      Writer w;
      packet.payload = w.number(0, 4).number(c.total, 8).number(c.least, 8).number(c.most, 8).number(7, 4).take();
    };
    auto session = Session::open(std::move(made), {}, d);
    ASSERT_TRUE(session) << d.str();
    EXPECT_EQ((*session)->time("spin", {Argument::of_int(50)}, 10, 0, d).ok(), c.good)
        << c.total << " " << c.least << " " << c.most;
    if (!c.good) {
      EXPECT_EQ(slug_of(d), "rpc-times");
    }
  }
}

TEST(Errors, ATimingOfManyRunsEnds) {
  Connected c;
  // Runs of 50 ms for four thousand million times: the device ends them by its clock, once.
  const uint64_t before = functions_clock;
  EXPECT_FALSE(c.session->time("spin", {Argument::of_int(50)}, UINT32_MAX, 0, c.diags));
  EXPECT_EQ(slug_of(c.diags), "rpc-timeout");
  EXPECT_GE(functions_clock - before, 60000u);
  EXPECT_LT(functions_clock - before, 80000u);
  // It serves others afterwards.
  Diagnostics d;
  EXPECT_TRUE(c.session->time("spin", {Argument::of_int(50)}, 3, 0, d)) << d.str();
}

TEST(Errors, ADeviceThatAlwaysWorksIsGivenUp) {
  class Working : public Line {
   public:
    using Line::Line;
    Packet last;
    ReadState read(std::vector<uint8_t>& to, Milliseconds timeout) override {
      std::vector<uint8_t> all;
      const ReadState state = Line::read(all, timeout);
      decoder_.feed(all);
      while (auto packet = decoder_.next()) {
        if (packet->type != (AOTC_RPC_HELLO | AOTC_RPC_ANSWER)) last = *packet, last.type = AOTC_RPC_WORKING;
        auto frame = encode(*packet);
        if (packet->type != (AOTC_RPC_TIME | AOTC_RPC_ANSWER)) to.insert(to.end(), frame.begin(), frame.end());
      }
      // Again and again, as long as somebody waits.
      if (last.type == AOTC_RPC_WORKING) {
        auto frame = encode(last);
        to.insert(to.end(), frame.begin(), frame.end());
      }
      return state;
    }

   private:
    Decoder decoder_;
  };
  Device device;
  Diagnostics d;
  auto made = std::make_unique<Working>(device, no_noise(), no_noise());
  Working& line = *made;
  auto session = Session::open(std::move(made), {}, d);
  ASSERT_TRUE(session) << d.str();
  EXPECT_FALSE((*session)->time("spin", {Argument::of_int(1)}, 3, 0, d));
  EXPECT_EQ(slug_of(d), "rpc-timeout");
  EXPECT_LT(line.now(), Milliseconds(90000));
}

}  // namespace
}  // namespace aotc::rpc
