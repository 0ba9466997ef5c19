// Where a command prints, and what it can do there.
#pragma once

#include <cstddef>
#include <istream>
#include <ostream>
#include <stop_token>
#include <string>
#include <string_view>

namespace clew::cli {

enum class Style { plain, bold, dim, red, green, yellow, blue, magenta, cyan };

struct Console {
  std::ostream& out;
  std::ostream& error;

  // Columns that a line of `out` has. 0: no limit, it is not a terminal.
  std::size_t width = 0;

  bool has_colour = false;

  // Whether somebody watches `error`.
  bool shows_progress = false;

  // Where somebody answers questions. Null: nobody is there.
  std::istream* in = nullptr;

  // Asked for when the user interrupts the program. Long work then ends at a point
  // where nothing is lost.
  std::stop_token stop = {};

  std::string styled(Style style, std::string_view text) const;
};

// The columns that a text takes on a terminal.
std::size_t display_width(std::string_view text);

// The text in one line: control characters, also those that would tell the
// terminal to do something, are shown as escapes.
std::string one_line(std::string_view text);

// At most `width` columns of it; "…" stands for what is cut off.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace clew::cli
