// SPDX-License-Identifier: Apache-2.0
// Runs what may crash, exhaust memory or never end in a process of its own. The one thing to know:
// the work's standard error is closed while it runs; it opens it again to speak.
#pragma once

#include <functional>
#include <string>

namespace aotc::analyze {

class Worker {
 public:
  // In the work: says what is being done, for the message if it is the end.
  void begin(const std::string& what);
  // In the work: what is written to standard error from here on is seen.
  void speak();

  struct Outcome {
    int exit_code = -1;  // what the work returned
    std::string failed;  // how the work died, if it did: "ran out of time"
    std::string during;  // what it had begun
  };
  // `seconds`: of processor time.
  Outcome run(const std::function<int(Worker&)>& work, unsigned seconds = 30);

 private:
  static constexpr size_t kRoom = 4096;
  char* begun_ = nullptr;  // kRoom bytes that both processes see
  int stderr_ = -1;
};

}  // namespace aotc::analyze
