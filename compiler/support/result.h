// SPDX-License-Identifier: Apache-2.0
// Result<T>: the value of an operation that may fail. A failed Result has no message: the function that fails first
// reports an error to a Diagnostics sink (diagnostics.h). Thus each error is printed once and with its location.
#pragma once

#include <cassert>
#include <optional>
#include <utility>

namespace aotc {

struct Failure {};
inline constexpr Failure kFailure{};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Failure) {}                             // NOLINT(google-explicit-constructor)
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  T& operator*() & { return assert(ok()), *value_; }
  const T& operator*() const& { return assert(ok()), *value_; }
  T&& operator*() && { return assert(ok()), std::move(*value_); }
  T* operator->() { return assert(ok()), &*value_; }
  const T* operator->() const { return assert(ok()), &*value_; }

 private:
  std::optional<T> value_;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Failure) : ok_(false) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }

 private:
  bool ok_ = true;
};

inline Status success() { return {}; }

}  // namespace aotc
