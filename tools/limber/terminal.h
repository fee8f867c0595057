// Data goes to stdout, messages to stderr; colour only on a terminal and without NO_COLOR.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace limber::cli {

void out(std::string_view text);          // stdout, kept until flush_output()
void message(std::string_view line);      // stderr, one line
void raw_message(std::string_view text);  // stderr, as it is

// Sends what out() kept. A reader that has gone away is no error; any other failure prints a message and
// gives ExitCode::io_failed instead of `code`.
int flush_output(int code);

bool stderr_is_terminal();  // one that can redraw a line
int terminal_width();       // of stderr, 80 if unknown

enum class Style { bold, dim, red, green, yellow };
std::string styled(std::string_view text, Style style, int descriptor);  // plain where colour is not wanted

using Rows = std::vector<std::pair<std::string, std::string>>;
std::string format_rows(const Rows& rows, std::string_view indent = "  ");  // two columns, the first padded
std::size_t display_width(std::string_view utf8);

std::string format_duration(double seconds);  // "3.2 s", "4 min 10 s", "2 h 05 min"
std::string format_count(std::size_t n, std::string_view one,
                         std::string_view many);  // "1 body", "12 bodies"

}  // namespace limber::cli
