#include "pregel/errors.hpp"

#include <cstdio>
#include <stdexcept>

#include <clew/errors.hpp>
#include <clew/extension.hpp>

#include "pregel/task_run.hpp"
#include "value/utf8.hpp"

namespace clew::pregel {
namespace {

// Text in quotes as Python's repr chooses them.
constexpr std::string_view kForeign = "a C++ exception that is not a std::exception";

std::string python_string(std::string_view text) {
  const bool use_double =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = use_double ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t size = internal::utf8_sequence_size(text.substr(i));
    if (size > 1) {
      out += text.substr(i, size);
      i += size - 1;
    } else if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte >= 0x7F) {  // or not UTF-8: it must be possible to store it
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + quote;
}

// The Python class that stands for a C++ one, or the C++ class's own name.
std::string class_name(const std::exception& error) {
  if (const auto* node_error = dynamic_cast<const NodeError*>(&error)) return node_error->kind();
  if (dynamic_cast<const InvalidUpdateError*>(&error)) return "InvalidUpdateError";
  if (dynamic_cast<const GraphRecursionError*>(&error)) return "GraphRecursionError";
  if (dynamic_cast<const EmptyInputError*>(&error)) return "EmptyInputError";
  if (dynamic_cast<const UnknownLabelError*>(&error)) return "KeyError";
  if (dynamic_cast<const ReducerTypeError*>(&error)) return "TypeError";
  if (dynamic_cast<const AmbiguousResumeError*>(&error)) return "RuntimeError";
  if (dynamic_cast<const NodeTimeout*>(&error)) return "NodeTimeoutError";
  if (dynamic_cast<const InvalidNamespaceError*>(&error)) return "InvalidNamespaceError";
  if (dynamic_cast<const Error*>(&error)) return "ValueError";
  const std::string type = detail::type_text(typeid(error));
  const std::size_t colon = type.rfind(':');
  const std::string name = colon == std::string::npos ? type : type.substr(colon + 1);
  return name == "runtime_error" ? "RuntimeError" : name;
}

template <class Kind>
bool is(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Kind&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return std::string(kForeign);
  }
}

// As the kinds that checkpointers of Clew throw; of any other it becomes a StorageError. What
// is being handled goes along as its nested exception.
[[noreturn]] void throw_like(const std::exception_ptr& error, const std::string& text) {
  if (is<ThreadConflict>(error)) std::throw_with_nested(ThreadConflict(text));
  if (is<SerdeError>(error)) std::throw_with_nested(SerdeError(text));
  if (is<ValueError>(error)) std::throw_with_nested(ValueError(text));
  std::throw_with_nested(StorageError(text));
}

}  // namespace

std::string python_repr(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::exception& e) {
    return class_name(e) + "(" + python_string(e.what()) + ")";
  } catch (...) {
    return "Exception(" + python_string(kForeign) + ")";
  }
}

bool is_retryable(const std::exception& error) {
  if (const auto* node_error = dynamic_cast<const NodeError*>(&error)) {
    return node_error->is_retryable();
  }
  if (dynamic_cast<const InvalidUpdateError*>(&error) || dynamic_cast<const NodeTimeout*>(&error) ||
      dynamic_cast<const EmptyInputError*>(&error)) {
    return true;
  }
  return dynamic_cast<const std::logic_error*>(&error) == nullptr &&
         dynamic_cast<const Error*>(&error) == nullptr;
}

std::exception_ptr with_failure(const std::exception_ptr& storing,
                                const std::exception_ptr& failure, const std::string& who) {
  if (is<GraphInterrupt>(failure) || is<ParentCommand>(failure) || is<Cancelled>(failure)) {
    return storing;
  }
  const std::string reason = text_of(storing);
  const std::string failure_text = text_of(failure);
  // A graph inside a task may have failed with it already, and say so.
  const bool is_of_storing = is<StorageError>(failure) || is<ThreadConflict>(failure);
  if (storing == failure || (is_of_storing && failure_text.starts_with(reason))) return failure;
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    try {
      throw_like(storing, reason + "; besides, " + who + " failed: " + failure_text);
    } catch (...) {
      return std::current_exception();
    }
  }
}

}  // namespace clew::pregel
