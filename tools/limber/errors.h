// Exceptions to messages and exit codes.
#pragma once

#include <functional>
#include <stdexcept>

namespace limber::cli {

// A wrong word on the command line: its message and exit code 2.
class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Runs `body`; an exception is printed and becomes an exit code. Want of memory ends with a word and exit
// code 4 even where no exception may pass.
int guarded(const std::function<void()>& body, const int& code);

}  // namespace limber::cli
