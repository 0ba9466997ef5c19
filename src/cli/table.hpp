// Rows in columns that fit the terminal.
//
//   Table table({{"THREAD"}, {"BYTES", Table::Align::right}, {"METADATA", Table::Align::left, true}});
//   table.add({{id}, {"4.2 MB"}, {json, Style::dim}});
//   table.print(console);
#pragma once

#include <string>
#include <vector>

#include "cli/console.hpp"

namespace clew::cli {

class Table {
 public:
  enum class Align { left, right };

  struct Column {
    std::string title;
    Align align = Align::left;
    bool shrinks = false;  // is cut off where the terminal ends
  };

  struct Cell {
    std::string text;
    Style style = Style::plain;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // A cell for each column, each shown in one line. Of fewer cells the last takes the
  // columns that are left.
  void add(std::vector<Cell> cells);

  void print(Console& console) const;
  // Without the titles.
  void print_rows(Console& console) const;

 private:
  std::vector<std::size_t> widths(std::size_t available) const;
  void print_row(Console& console, const std::vector<Cell>& cells,
                 const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// "812 B", "4.2 kB", "17.0 MB": of 1,000 each.
std::string bytes_text(std::uint64_t bytes);

// "1,234,567".
std::string count_text(std::uint64_t count);

}  // namespace clew::cli
