// SPDX-License-Identifier: Apache-2.0
// Worker: runs a function that may crash, exhaust memory or never end in a separate process. Standard error is closed
// while it runs; `speak` opens it again.
#pragma once

#include <functional>
#include <string>

namespace aotc::analyze {

class Worker {
 public:
  // Called in the work: names the current step, for the message if the work dies.
  void begin(const std::string& what);
  // Called in the work: makes standard error visible from here on.
  void speak();

  struct Outcome {
    int exit_code = -1;  // return value of the work
    std::string failed;  // how the work died, empty if it did not: "ran out of time"
    std::string during;  // the last step passed to `begin`
  };
  // `seconds`: limit of processor time.
  Outcome run(const std::function<int(Worker&)>& work, unsigned seconds = 30);

 private:
  static constexpr size_t kRoom = 4096;
  char* begun_ = nullptr;  // kRoom bytes shared by both processes
  int stderr_ = -1;
};

}  // namespace aotc::analyze
