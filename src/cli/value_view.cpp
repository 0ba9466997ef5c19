#include "cli/value_view.hpp"

#include <algorithm>
#include <ostream>

#include <clew/extension.hpp>
#include <clew/json.hpp>
#include <clew/messages.hpp>

#include "cli/table.hpp"

namespace clew::cli {
namespace {

constexpr std::size_t kMostElements = 10;  // of a list, at each end of it
constexpr std::size_t kMostDepth = 3;
constexpr std::size_t kWidestName = 24;

std::string json_of(const Value& value) {
  return to_json(value, {.non_finite = NonFinite::literal});
}

std::string counted(std::size_t count, const char* noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

bool is_message_list(const Value& value) {
  return value.is_list() && !value.empty() &&
         std::all_of(value.begin(), value.end(), looks_like_message);
}

bool has_parts(const Value& value) {
  return (value.is_list() || value.is_object()) && !value.empty();
}

class Printer {
 public:
  Printer(Console& console, const ViewOptions& options) : console_(console), options_(options) {}

  void print(const Value& value, std::size_t indent, std::size_t depth) {
    if (depth >= kMostDepth && !options_.full) return print_line(indent, value_text(value));
    if (is_message_list(value)) return print_messages(value, indent);
    if (value.is_object()) return print_entries(value, indent, depth);
    if (value.is_list()) return print_elements(value, indent, depth);
    print_text(indent, value_text(value));
  }

 private:
  void print_entries(const Value& value, std::size_t indent, std::size_t depth) {
    std::size_t width = 0;
    for (auto [key, entry] : value.items()) width = std::max(width, display_width(one_line(key)));
    width = std::min(width, kWidestName);
    for (auto [key, entry] : value.items()) print_named(key, entry, indent, width, depth);
  }

  void print_named(std::string_view name, const Value& value, std::size_t indent, std::size_t width,
                   std::size_t depth) {
    const std::string key =
        shortened(one_line(name), options_.full ? name.size() * 4 : kWidestName);
    const std::size_t shown = display_width(key);
    const std::string lead = std::string(indent, ' ') + console_.styled(Style::cyan, key) +
                             std::string(width > shown ? width - shown : 0, ' ') + "  ";
    const std::size_t used = indent + std::max(width, shown) + 2;
    if (has_parts(value) && (options_.full || depth + 1 < kMostDepth) && !fits(value, used)) {
      console_.out << lead << console_.styled(Style::dim, size_text(value)) << '\n';
      print(value, indent + 2, depth + 1);
    } else {
      print_text(used, value_text(value), lead);
    }
  }

  void print_messages(const Value& messages, std::size_t indent) {
    std::size_t width = 0;
    for (const Value& message : messages) {
      width = std::max(width, display_width(one_line(message_role(message))));
    }
    for_each_shown(messages, indent, [&](const Value& message) {
      const std::string role = one_line(message_role(message));
      const std::string lead = std::string(indent, ' ') + console_.styled(style_of(role), role) +
                               std::string(width - display_width(role), ' ') + "  ";
      print_text(indent + width + 2, message_line(message), lead);
    });
  }

  // A list of numbers or short texts reads best in one line.
  bool fits(const Value& value, std::size_t used) const {
    constexpr std::size_t kUnlimited = 100;
    if (!value.is_list() || value.size() > kUnlimited) return false;
    if (std::any_of(value.begin(), value.end(), [](const Value& element) {
          return has_parts(element) || looks_like_message(element) || element.is_extension();
        })) {
      return false;
    }
    const std::size_t width = console_.width == 0 ? kUnlimited : console_.width;
    return used + display_width(one_line(json_of(value))) <= width;
  }

  static Style style_of(const std::string& role) {
    if (role == "human" || role == "user") return Style::green;
    if (role == "tool") return Style::magenta;
    return role == "ai" || role == "assistant" ? Style::blue : Style::dim;
  }

  void print_elements(const Value& elements, std::size_t indent, std::size_t depth) {
    if (elements.empty()) return print_line(indent, "[]");
    for_each_shown(elements, indent, [&](const Value& element) {
      const bool is_whole = options_.full && has_parts(element);
      if (!is_whole)
        return print_text(indent + 2, value_text(element), std::string(indent, ' ') + "- ");
      console_.out << std::string(indent, ' ') << "- "
                   << console_.styled(Style::dim, size_text(element)) << '\n';
      print(element, indent + 2, depth + 1);
    });
  }

  // The first and the last ones, unless everything is asked for.
  template <class Show>
  void for_each_shown(const Value& elements, std::size_t indent, Show show) {
    const std::size_t count = elements.size();
    const bool is_cut = !options_.full && count > 2 * kMostElements;
    std::size_t place = 0;
    for (const Value& element : elements) {
      if (!is_cut || place < kMostElements || place + kMostElements >= count) show(element);
      if (is_cut && ++place == kMostElements) {
        const std::string more = "… " + count_text(count - 2 * kMostElements) + " more, see --full";
        console_.out << std::string(indent, ' ') << console_.styled(Style::dim, more) << '\n';
      }
    }
  }

  void print_line(std::size_t indent, const std::string& text) {
    print_text(indent, text, std::string(indent, ' '));
  }

  // One line that fits, or all lines of a text below each other.
  void print_text(std::size_t indent, const std::string& text, const std::string& lead) {
    if (!options_.full) {
      const std::string line = one_line(text);
      const std::size_t room = console_.width > indent + 8 ? console_.width - indent : 8;
      console_.out << lead << (console_.width == 0 ? line : shortened(line, room)) << '\n';
      return;
    }
    std::size_t start = 0;
    for (bool is_first = true; start <= text.size(); is_first = false) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      console_.out << (is_first ? lead : std::string(indent, ' '))
                   << one_line(text.substr(start, end - start)) << '\n';
      start = end + 1;
    }
  }
  void print_text(std::size_t indent, const std::string& text) { print_line(indent, text); }

  Console& console_;
  const ViewOptions& options_;
};

std::string call_text(const Value& call) {
  std::string arguments;
  const Value& args = call["args"];
  if (args.is_object()) {
    for (auto [name, value] : args.items()) {
      arguments += (arguments.empty() ? "" : ", ") + std::string(name) + "=" + json_of(value);
    }
  }
  return value_text(call["name"]) + "(" + arguments + ")";
}

// The fields of a message of either form.
Value fields_of(const Value& message) {
  return message.is_extension() ? message.as_extension().payload : message;
}

}  // namespace

void print_value(Console& console, const Value& value, std::size_t indent,
                 const ViewOptions& options) {
  Printer(console, options).print(value, indent, 0);
}

std::string value_text(const Value& value) {
  if (value.is_string() && !value.as_string().empty()) return std::string(value.as_string());
  if (value.is_bytes()) return "bytes " + json_of(value);
  if (looks_like_message(value)) return message_role(value) + ": " + message_line(value);
  if (value.is_extension() && !value.as_extension().name.empty()) {
    return std::string(value.as_extension().name) + " " + json_of(value);
  }
  return json_of(value);
}

bool looks_like_message(const Value& value) {
  if (is_message(value)) return true;
  const Value* content = value.find("content");
  const bool has_role = value["role"].is_string() || value["type"].is_string();
  return content && (content->is_string() || content->is_list()) && has_role;
}

std::string message_role(const Value& message) {
  const Value fields = fields_of(message);
  const Value& role = fields["role"].is_string() ? fields["role"] : fields["type"];
  return value_text(role);
}

std::string message_line(const Value& message) {
  const Value fields = fields_of(message);
  const Value& content = fields["content"];
  std::string line;
  if (content.is_string()) line = content.as_string();
  if (content.is_list()) {
    for (const Value& block : content) {
      if (!line.empty()) line += " ";
      line +=
          block["text"].is_string() ? std::string(block["text"].as_string()) : value_text(block);
    }
  }
  const Value& calls = fields["tool_calls"];
  if (!calls.is_list()) return line;
  for (const Value& call : calls) line += (line.empty() ? "→ " : " → ") + call_text(call);
  return line;
}

std::string size_text(const Value& value) {
  if (is_message_list(value)) return counted(value.size(), "message");
  if (value.is_list()) return counted(value.size(), "element");
  return value.is_object() ? counted(value.size(), "key") : "";
}

}  // namespace clew::cli
