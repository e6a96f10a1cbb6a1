// SPDX-License-Identifier: Apache-2.0
#include "options/options.h"

#include <algorithm>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace aotc::options {

namespace {

bool is_switch(const Choice& choice) { return choice.words == std::vector<std::string>{"on", "off"}; }

nlohmann::ordered_json value_of(const Option& option) {
  return std::visit(
      [](const auto& target) -> nlohmann::ordered_json {
        using T = std::decay_t<decltype(target)>;
        if constexpr (std::is_pointer_v<T>) {
          return *target;
        } else if constexpr (std::is_same_v<T, Choice>) {
          if (is_switch(target)) return target.get() == "on";
          return target.get();
        } else if constexpr (std::is_same_v<T, Setter>) {
          return target.get();
        } else {
          return nullptr;
        }
      },
      option.target);
}

bool restore(const Option& option, const nlohmann::json& value) {
  return std::visit(
      [&](const auto& target) {
        using T = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<T, bool*>) {
          if (!value.is_boolean()) return false;
          *target = value.get<bool>();
        } else if constexpr (std::is_same_v<T, std::string*>) {
          if (!value.is_string()) return false;
          *target = value.get<std::string>();
        } else if constexpr (std::is_same_v<T, std::vector<std::string>*>) {
          if (!value.is_array() ||
              !std::all_of(value.begin(), value.end(), [](const auto& v) { return v.is_string(); }))
            return false;
          *target = value.get<std::vector<std::string>>();
        } else if constexpr (std::is_pointer_v<T>) {
          if (!value.is_number_integer()) return false;
          const int64_t number = value.get<int64_t>();
          if (option.range && (number < option.range->least || number > option.range->most)) return false;
          *target = static_cast<std::remove_pointer_t<T>>(number);
        } else if constexpr (std::is_same_v<T, Choice>) {
          if (is_switch(target) ? !value.is_boolean() : !value.is_string()) return false;
          const std::string word = !value.is_boolean() ? value.get<std::string>() : value.get<bool>() ? "on" : "off";
          if (std::find(target.words.begin(), target.words.end(), word) == target.words.end()) return false;
          target.set(word);
        } else if constexpr (std::is_same_v<T, Setter>) {
          if (!value.is_string()) return false;
          if (!value.get<std::string>().empty()) target.set(value.get<std::string>());
        }
        return true;
      },
      option.target);
}

}  // namespace

nlohmann::ordered_json stored_values(const std::vector<Group>& groups) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Group& group : groups)
    for (const Option& option : group.options)
      if (!option.key.empty()) out[option.key] = value_of(option);
  return out;
}

std::vector<std::string> differences(const Group& from, const Group& to) {
  std::vector<std::string> out;
  for (size_t i = 0; i < to.options.size() && i < from.options.size(); ++i) {
    const nlohmann::ordered_json value = value_of(to.options[i]);
    if (value == value_of(from.options[i])) continue;
    if (to.options[i].is_flag()) {
      out.push_back(to.options[i].all_names().front());
      continue;
    }
    const std::string text = value.is_string()    ? value.get<std::string>()
                             : value.is_boolean() ? (value ? "on" : "off")
                                                  : value.dump();
    out.push_back(to.options[i].all_names().front() + " " + text);
  }
  return out;
}

bool restore_values(const std::vector<Group>& groups, const nlohmann::json& values) {
  for (const Group& group : groups)
    for (const Option& option : group.options)
      if (const auto it = values.find(option.key); !option.key.empty() && it != values.end() && !restore(option, *it))
        return false;
  return true;
}

}  // namespace aotc::options
