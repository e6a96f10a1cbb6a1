// SPDX-License-Identifier: Apache-2.0
// A JSON-RPC 2.0 server over two file descriptors, one message per line, as TVM's Project API requires
// (docs/project-api.md). A method is called only with exactly the parameters that it declares, of the declared types.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace aotc::rpc {

using Json = nlohmann::ordered_json;

// Error codes of JSON-RPC, and the one for errors of methods.
enum JsonRpcCode {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kServerError = -32000,
};

struct JsonRpcError {
  int code = kServerError;
  std::string message;  // for a server error: the name of a TVM exception, or text
  std::string trace;    // server errors only
};

enum class ParameterType { kString, kInteger, kNumberOrNull, kObject };

struct JsonRpcMethod {
  std::vector<std::pair<std::string, ParameterType>> parameters;
  // Returns the result, or sets the error and returns null.
  std::function<Json(const Json& params, std::optional<JsonRpcError>& error)> call;
};

class JsonRpcServer {
 public:
  void add(const std::string& name, JsonRpcMethod method) { methods_[name] = std::move(method); }
  // The answer to one line, without its newline.
  std::string answer(const std::string& line) const;
  // Serves until the client closes the input. False if an answer could not be written.
  bool serve(int read_fd, int write_fd) const;

 private:
  Json result_of(const Json& request, std::optional<JsonRpcError>& error) const;

  std::map<std::string, JsonRpcMethod> methods_;
};

// Converts bytes to base 85 and back, with the alphabet and padding of Python's base64.b85encode.
std::string base85_encode(std::span<const uint8_t> bytes);
// nullopt if the text is not a valid encoding.
std::optional<std::vector<uint8_t>> base85_decode(std::string_view text);

}  // namespace aotc::rpc
