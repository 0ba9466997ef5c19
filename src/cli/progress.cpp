#include "cli/progress.hpp"

#include <algorithm>

#include "cli/table.hpp"

namespace clew::cli {
namespace {

constexpr std::size_t kBarWidth = 20;
constexpr std::chrono::milliseconds kInterval{100};
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

Progress::Progress(Console& console, std::string verb, std::string noun, std::size_t total)
    : console_(console), verb_(std::move(verb)), noun_(std::move(noun)), total_(total) {}

Progress::~Progress() {
  if (is_drawn_) console_.error << kEraseLine << std::flush;
}

void Progress::set(std::size_t done) {
  if (!console_.shows_progress) return;
  const auto now = std::chrono::steady_clock::now();
  if (is_drawn_ && now - drawn_at_ < kInterval) return;
  drawn_at_ = now;
  is_drawn_ = true;
  draw(done);
}

void Progress::draw(std::size_t done) {
  const std::size_t filled =
      total_ == 0 ? kBarWidth : std::min(kBarWidth, kBarWidth * done / total_);
  console_.error << kEraseLine << verb_ << "  [" << std::string(filled, '#')
                 << std::string(kBarWidth - filled, '-') << "]  " << count_text(done) << " of "
                 << count_text(total_) << ' ' << noun_ << std::flush;
}

}  // namespace clew::cli
