#include "cli/table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace clew::cli {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kLeastWidth = 8;  // of a column that shrinks

std::string spaces(std::size_t count) { return std::string(count, ' '); }

// The columns of a line that a text has behind those that are used.
std::size_t rest_of(std::size_t available, std::size_t used, std::string_view text) {
  if (available == 0) return display_width(text);
  return available < used + kLeastWidth ? kLeastWidth : available - used;
}

}  // namespace

void Table::add(std::vector<Cell> cells) {
  for (Cell& cell : cells) cell.text = one_line(cell.text);
  rows_.push_back(std::move(cells));
}

// The widest of those that may shrink gives way, until all fit.
std::vector<std::size_t> Table::widths(std::size_t available) const {
  std::vector<std::size_t> widths;
  std::size_t total = kGap.size() * (columns_.size() - 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) {
      const bool is_alone = i + 1 < row.size() || row.size() == columns_.size();
      if (is_alone) width = std::max(width, display_width(row[i].text));
    }
    widths.push_back(width);
    total += width;
  }
  while (available > 0 && total > available) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].shrinks || widths[i] <= kLeastWidth) continue;
      if (widest == nullptr || widths[i] > *widest) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
    --total;
  }
  return widths;
}

void Table::print_row(Console& console, const std::vector<Cell>& cells,
                      const std::vector<std::size_t>& widths) const {
  std::string line;
  std::size_t used = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_last = i + 1 == cells.size();
    const bool spans = is_last && cells.size() < columns_.size();
    const std::size_t width = spans ? rest_of(console.width, used, cells[i].text) : widths[i];
    const std::string text = shortened(cells[i].text, width);
    const std::string padding = spaces(width - display_width(text));
    const std::string styled = console.styled(cells[i].style, text);
    used += width + kGap.size();
    if (columns_[i].align == Align::right && !spans) {
      line += padding + styled;
    } else {
      line += is_last ? styled : styled + padding;
    }
    if (!is_last) line += kGap;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  console.out << line << '\n';
}

void Table::print(Console& console) const {
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Style::bold});
  print_row(console, titles, widths(console.width));
  print_rows(console);
}

void Table::print_rows(Console& console) const {
  const std::vector<std::size_t> fitted = widths(console.width);
  for (const auto& row : rows_) print_row(console, row, fitted);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  constexpr std::array kUnits = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double amount = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (amount >= 999.95 && unit + 1 < kUnits.size()) {
    amount /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", amount, kUnits[unit]);
  return text;
}

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

}  // namespace clew::cli
