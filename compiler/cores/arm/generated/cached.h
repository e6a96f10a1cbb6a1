// SPDX-License-Identifier: Apache-2.0
// cached(): the text of a generated kernel is made once. Estimates, counts and the printer each ask for it, and a
// search for registers takes milliseconds.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "cores/implementation.h"
#include "tir/tir.h"

namespace aotc::cores::arm {

template <typename Make>
Implementation cached(const tir::Kernel& kernel, Make make) {
  static std::mutex mutex;
  static std::map<std::string, Implementation> made;
  const std::lock_guard lock(mutex);
  const std::string name = name_of(kernel);
  const auto found = made.find(name);
  return found != made.end() ? found->second : made.emplace(name, make()).first->second;
}

}  // namespace aotc::cores::arm
