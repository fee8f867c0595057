#pragma once

namespace limber::cli {

enum ExitCode : int { done = 0, bad_input = 2, failed = 3, io_failed = 4, interrupted = 130 };

}  // namespace limber::cli
