#include "signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

#include "exit_code.h"
#include "limber/math/stop.h"

namespace limber::cli {

namespace {

std::atomic<bool> graceful{false}, asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void handle(int) {
  if (graceful.load() && !asked.exchange(true)) return request_stop();
  constexpr std::string_view text = "\nlimber: interrupted\n";
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(ExitCode::interrupted);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    const bool ignored = before.sa_handler == SIG_IGN;
    // nohup and shells without job control ask to ignore some: keep that, except SIGTERM.
    if (!ignored || signal == SIGTERM) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

GracefulStop::GracefulStop() { graceful = true; }
GracefulStop::~GracefulStop() { graceful = false; }

}  // namespace limber::cli
