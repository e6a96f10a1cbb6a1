// SPDX-License-Identifier: Apache-2.0
// Worker: runs a function (the work) in a separate process, because it may crash, exhaust memory or never end. Standard
// error is closed in that process until the work calls `speak`.
#pragma once

#include <functional>
#include <string>

namespace aotc::analyze {

class Worker {
 public:
  // The work calls this to name its current step, for the message if the work dies.
  void begin(const std::string& what);
  // The work calls this to open standard error again.
  void speak();

  struct Outcome {
    int exit_code = -1;  // the return value of the work
    std::string failed;  // how the work died: "ran out of time"; empty if it did not
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
