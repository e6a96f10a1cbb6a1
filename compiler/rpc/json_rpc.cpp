// SPDX-License-Identifier: Apache-2.0
#include "rpc/json_rpc.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include <fmt/format.h>

#include "support/json.h"

namespace aotc::rpc {

namespace {

constexpr size_t kLongestLine = size_t{64} << 20;

bool fits(const Json& value, ParameterType type) {
  switch (type) {
    case ParameterType::kString: return value.is_string();
    case ParameterType::kInteger: return value.is_number_integer();
    case ParameterType::kNumberOrNull: return value.is_number() || value.is_null();
    case ParameterType::kObject: return value.is_object();
  }
  return false;
}

bool is_method_name(const Json& value) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) return false;
  for (char c : value.get_ref<const std::string&>())
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_') return false;
  return true;
}

// Why the object is no request; empty if it is one.
std::string request_problem(const Json& request) {
  if (!request.is_object()) return "a request must be an object";
  if (request.value("jsonrpc", Json()) != "2.0") return "'jsonrpc' must be \"2.0\"";
  if (!is_method_name(request.value("method", Json()))) return "'method' must be a name";
  if (!request.value("params", Json()).is_object()) return "'params' must be an object";
  if (!request.contains("id")) return "'id' is missing";
  const Json& id = request["id"];
  if (!id.is_string() && !id.is_number_integer() && !id.is_null()) return "'id' must be a string, an integer or null";
  return "";
}

std::string params_problem(const JsonRpcMethod& method, const Json& params) {
  for (const auto& [name, type] : method.parameters) {
    if (!params.contains(name)) return fmt::format("parameter '{}' is missing", name);
    if (!fits(params[name], type)) return fmt::format("parameter '{}' has the wrong type", name);
  }
  if (params.size() == method.parameters.size()) return "";
  for (const auto& [name, value] : params.items()) {
    bool known = false;
    for (const auto& parameter : method.parameters) known = known || parameter.first == name;
    if (!known) return fmt::format("parameter '{}' is unknown", name);
  }
  return "";
}

bool write_all(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd p{fd, POLLOUT, 0};
      poll(&p, 1, -1);
      continue;
    }
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

Json JsonRpcServer::result_of(const Json& request, std::optional<JsonRpcError>& error) const {
  std::string problem = request_problem(request);
  if (!problem.empty()) {
    error = {kInvalidRequest, problem, ""};
    return nullptr;
  }
  auto method = methods_.find(request["method"].get<std::string>());
  if (method == methods_.end()) {
    error = {kMethodNotFound, "the method is unknown", ""};
    return nullptr;
  }
  problem = params_problem(method->second, request["params"]);
  if (!problem.empty()) {
    error = {kInvalidParams, problem, ""};
    return nullptr;
  }
  try {
    return method->second.call(request["params"], error);
  } catch (const std::exception& e) {
    error = {kInternalError, json_reason(e.what()), ""};
    return nullptr;
  }
}

std::string JsonRpcServer::answer(const std::string& line) const {
  Json out;
  out["jsonrpc"] = "2.0";
  out["id"] = nullptr;
  std::optional<JsonRpcError> error;
  Json request;
  if (parse_json(line, request)) {
    error = {kParseError, "the line is not JSON", ""};
  } else {
    Json result = result_of(request, error);
    const bool has_id = request.is_object() && request.contains("id") && !request["id"].is_structured();
    if (has_id) out["id"] = request["id"];
    if (!error) out["result"] = std::move(result);
  }
  if (error) {
    out["error"] = {{"code", error->code}, {"message", error->message}};
    if (error->code == kServerError) out["error"]["data"] = {{"traceback", error->trace}};
  }
  return json_text(out, -1, JsonCharacters::kAscii);
}

bool JsonRpcServer::serve(int read_fd, int write_fd) const {
  std::string pending;
  char chunk[65536];
  size_t looked_at = 0;
  while (true) {
    for (size_t end; (end = pending.find('\n', looked_at)) != std::string::npos; looked_at = 0) {
      const std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      if (!write_all(write_fd, answer(line) + "\n")) return false;
    }
    looked_at = pending.size();
    if (pending.size() > kLongestLine) return false;
    ssize_t n = read(read_fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd p{read_fd, POLLIN, 0};
      poll(&p, 1, -1);
      continue;
    }
    if (n <= 0) return true;
    pending.append(chunk, static_cast<size_t>(n));
  }
}

namespace {

constexpr std::string_view kDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
static_assert(kDigits.size() == 85);

}  // namespace

// Four bytes are five digits; of a last group of n bytes n + 1 digits are written.
std::string base85_encode(std::span<const uint8_t> bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 4) {
    const size_t count = std::min<size_t>(4, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 4; ++i) group = group << 8 | (i < count ? bytes[at + i] : 0u);
    char digits[5];
    for (int i = 4; i >= 0; --i) {
      digits[i] = kDigits[group % 85];
      group /= 85;
    }
    out.append(digits, count + 1);
  }
  return out;
}

std::optional<std::vector<uint8_t>> base85_decode(std::string_view text) {
  std::vector<uint8_t> out;
  for (size_t at = 0; at < text.size(); at += 5) {
    const size_t count = std::min<size_t>(5, text.size() - at);
    if (count == 1) return std::nullopt;
    uint64_t group = 0;
    for (size_t i = 0; i < 5; ++i) {
      // Missing digits are the highest, so that rounding takes nothing from the bytes before.
      const size_t digit = i < count ? kDigits.find(text[at + i]) : 84;
      if (digit == std::string_view::npos) return std::nullopt;
      group = group * 85 + digit;
    }
    if (group > UINT32_MAX) return std::nullopt;
    for (size_t i = 0; i + 1 < count; ++i) out.push_back(static_cast<uint8_t>(group >> (24 - 8 * i)));
  }
  return out;
}

}  // namespace aotc::rpc
