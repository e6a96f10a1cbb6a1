// SPDX-License-Identifier: Apache-2.0
#include "frontends/graph_json/json.h"
#include "support/json.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/text.h"

namespace aotc::graph_json {

namespace {

// Finds the tokens of text that is known to be JSON up to where it is asked, one after the other.
class Tokens {
 public:
  explicit Tokens(const std::string& text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  // Moves to the next token, takes it, and says where it began.
  Position take(std::string_view& token) {
    while (at_ < text_.size() && is_between(text_[at_])) step();
    Position begin = position_;
    size_t from = at_;
    if (at_ >= text_.size()) return begin;
    char c = text_[at_];
    if (c == '"') {
      step();
      while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '\\') step();
        step();
      }
      step();
    } else if (c == '{' || c == '}' || c == '[' || c == ']') {
      step();
    } else {
      while (at_ < text_.size() && !is_between(text_[at_]) && text_[at_] != '}' && text_[at_] != ']') step();
    }
    token = std::string_view(text_).substr(from, std::min(at_, text_.size()) - from);
    return begin;
  }

 private:
  static bool is_between(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',' || c == ':'; }
  void step() {
    if (at_ >= text_.size()) return;
    bool newline = text_[at_++] == '\n';
    position_ = newline ? Position{position_.line + 1, 1} : Position{position_.line, position_.column + 1};
  }

  const std::string& text_;
  size_t at_ = 0;
  Position position_{1, 1};
};

// nlohmann's parser checks the text and decodes strings; the tokens, taken in the same order, add
// the positions that it does not have.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const std::string& text, const std::string& file, Diagnostics& diags)
      : text_(text), tokens_(text), diags_(diags) {
    where_.file = file;
  }

  Json take() { return std::move(root_); }

  bool null() override { return scalar(Json::Kind::kNull); }
  bool boolean(bool) override { return scalar(Json::Kind::kBool); }
  bool number_integer(int64_t) override { return scalar(Json::Kind::kNumber); }
  bool number_unsigned(uint64_t) override { return scalar(Json::Kind::kNumber); }
  bool number_float(double, const std::string&) override { return scalar(Json::Kind::kNumber); }
  bool binary(nlohmann::json::binary_t&) override { return false; }  // JSON text has none
  bool string(std::string& value) override {
    Json* made = add(Json::Kind::kString);
    if (made) made->text = std::move(value);
    return made != nullptr;
  }
  bool start_object(size_t) override { return start(Json::Kind::kObject); }
  bool start_array(size_t) override { return start(Json::Kind::kArray); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(std::string& value) override {
    std::string_view token;
    Position at = tokens_.take(token);
    Json& object = *open_.back();
    if (!seen_.back().insert(value).second)
      return fail(at, "graph-syntax", fmt::format("key '{}' occurs twice", escape_for_display(value)));
    object.keys.push_back(std::move(value));
    return true;
  }

  bool parse_error(size_t offset, const std::string&, const nlohmann::detail::exception& error) override {
    std::string what = error.what();
    size_t from = what.find(": syntax error ");
    what = from == std::string::npos ? "a number is out of range" : what.substr(from + 2);
    // What was read and what may follow is better seen in the text.
    what = what.substr(0, std::min(what.find("; last read"), what.find("; expected")));
    // The offset counts the character that was one too many.
    TextPlace place = place_of(text_, offset > 0 ? offset - 1 : 0);
    return fail({place.line, place.column}, "graph-syntax", "the text is not valid JSON: " + what);
  }

 private:
  bool fail(Position at, const char* slug, std::string message) {
    where_.line = at.line;
    where_.column = at.column;
    diags_.error(where_, slug, std::move(message));
    return false;
  }

  // Values stay where they are while they are open: only the innermost one grows.
  Json* add(Json::Kind kind) {
    std::string_view token;
    Position at = tokens_.take(token);
    if (++count_ > kMostJsonValues) {
      fail(at, "graph-limit", fmt::format("the text has more than {} values", kMostJsonValues));
      return nullptr;
    }
    Json* made = &root_;
    if (!open_.empty()) made = &open_.back()->items.emplace_back();
    made->kind = kind;
    made->at = at;
    if (kind == Json::Kind::kBool || kind == Json::Kind::kNumber) made->text = token;
    return made;
  }
  bool scalar(Json::Kind kind) { return add(kind) != nullptr; }

  bool start(Json::Kind kind) {
    Json* made = add(kind);
    if (!made) return false;
    if (open_.size() >= kMostJsonDepth)
      return fail(made->at, "graph-limit", fmt::format("the values are nested more than {} deep", kMostJsonDepth));
    open_.push_back(made);
    seen_.emplace_back();
    return true;
  }
  bool end() {
    std::string_view token;
    (void)tokens_.take(token);
    open_.pop_back();
    seen_.pop_back();
    return true;
  }

  const std::string& text_;
  Tokens tokens_;
  Location where_;
  Diagnostics& diags_;
  Json root_;
  std::vector<Json*> open_;
  std::vector<std::unordered_set<std::string>> seen_;  // keys of the open values
  size_t count_ = 0;
};

void print_string(const std::string& text, std::string& out) { out += json_text(nlohmann::json(text)); }

void print_scalar(const Json& value, std::string& out) {
  if (value.is(Json::Kind::kString)) print_string(value.text, out);
  else out += value.is(Json::Kind::kNull) ? "null" : value.text;
}

void print_compact(const Json& value, std::string_view comma, std::string_view colon, std::string& out) {
  bool object = value.is(Json::Kind::kObject);
  if (!object && !value.is(Json::Kind::kArray)) return print_scalar(value, out);
  out += object ? '{' : '[';
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) out += comma;
    if (object) {
      print_string(value.keys[i], out);
      out += colon;
    }
    print_compact(value.items[i], comma, colon, out);
  }
  out += object ? '}' : ']';
}

}  // namespace

Json Json::string(std::string text) {
  Json out;
  out.kind = Kind::kString;
  out.text = std::move(text);
  return out;
}

Json Json::number(int64_t value) {
  Json out;
  out.kind = Kind::kNumber;
  out.text = std::to_string(value);
  return out;
}

Json Json::array(std::vector<Json> items) {
  Json out;
  out.kind = Kind::kArray;
  out.items = std::move(items);
  return out;
}

Json Json::object() {
  Json out;
  out.kind = Kind::kObject;
  return out;
}

std::optional<int64_t> Json::integer() const {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  if (kind != Kind::kNumber) return std::nullopt;
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

const Json* Json::find(std::string_view key) const {
  auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<size_t>(found - keys.begin())];
}

void Json::add(std::string key, Json value) {
  keys.push_back(std::move(key));
  items.push_back(std::move(value));
}

const char* Json::kind_name() const {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "a bool";
    case Kind::kNumber: return "a number";
    case Kind::kString: return "a string";
    case Kind::kArray: return "a list";
    case Kind::kObject: return "an object";
  }
  return "";
}

Result<Json> parse_json(const std::string& text, const std::string& file, Diagnostics& diags) {
  if (text.size() > kMostJsonBytes) {
    Location where;
    where.file = file;
    diags.error(where, "graph-limit",
                fmt::format("the text has {} bytes, but the limit is {}", text.size(), kMostJsonBytes));
    return kFailure;
  }
  Builder builder(text, file, diags);
  if (!nlohmann::json::sax_parse(text, &builder)) return kFailure;
  return builder.take();
}

void print_json(const Json& value, int indent, bool flat, std::string& out) {
  bool object = value.is(Json::Kind::kObject);
  if (!object && !value.is(Json::Kind::kArray)) return print_scalar(value, out);
  if (flat || value.items.empty()) return print_compact(value, ", ", ": ", out);
  out += object ? "{\n" : "[\n";
  for (size_t i = 0; i < value.items.size(); ++i) {
    out.append(static_cast<size_t>(indent) + 2, ' ');
    if (object) {
      print_string(value.keys[i], out);
      out += ": ";
    }
    print_json(value.items[i], indent + 2, false, out);
    out += i + 1 < value.items.size() ? ", \n" : "\n";
  }
  out.append(static_cast<size_t>(indent), ' ');
  out += object ? '}' : ']';
}

std::string print_json(const Json& value) {
  std::string out;
  print_json(value, 0, false, out);
  return out;
}

std::string print_json_compact(const Json& value) {
  std::string out;
  print_compact(value, ",", ":", out);
  return out;
}

}  // namespace aotc::graph_json
