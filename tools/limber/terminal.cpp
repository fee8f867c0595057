#include "terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "exit_code.h"

namespace limber::cli {

namespace {

std::string& pending() {
  static std::string text;
  return text;
}

// 0, or the errno of the failure.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::strcmp(term, "dumb") == 0;
}

bool wants_color(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: set and not empty
  return (no_color == nullptr || *no_color == '\0') && ::isatty(descriptor) && !dumb_terminal();
}

}  // namespace

void out(std::string_view text) { pending() += text; }

void raw_message(std::string_view text) { write_all(STDERR_FILENO, text); }

void message(std::string_view line) { raw_message(std::string(line) + '\n'); }

int flush_output(int code) {
  const int error = write_all(STDOUT_FILENO, pending());
  pending().clear();
  if (error == 0 || error == EPIPE) return code;
  message(fmt::format("limber: standard output: cannot write: {}", std::strerror(error)));
  return ExitCode::io_failed;
}

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) && !dumb_terminal(); }

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string styled(std::string_view text, Style style, int descriptor) {
  static constexpr const char* codes[] = {"1", "2", "31", "32", "33"};
  if (!wants_color(descriptor)) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<int>(style)], text);
}

std::size_t display_width(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string format_rows(const Rows& rows, std::string_view indent) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, display_width(row.first));
  std::string text;
  for (const auto& [name, value] : rows)
    text += fmt::format("{}{}{}  {}\n", indent, name, std::string(width - display_width(name), ' '), value);
  return text;
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string format_count(std::size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace limber::cli
