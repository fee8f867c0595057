#include "errors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>

#include "exit_code.h"
#include "limber/math/stop.h"
#include "limber/model/model.h"
#include "limber/result/recording.h"
#include "limber/scene/scene.h"
#include "limber/sim/driver.h"
#include "terminal.h"

namespace limber::cli {

namespace {

void error(std::string_view text) {
  message(fmt::format("{} {}", styled("limber:", Style::red, STDERR_FILENO), text));
}

// All but the want of memory, which may come again while words are put together.
int told(const std::function<void()>& body, const int& code) {
  try {
    body();
    return code;
  } catch (const Stopped&) {
    message("limber: interrupted");
    return ExitCode::interrupted;
  } catch (const scene::SceneError& e) {
    for (const auto& d : e.diagnostics()) message(scene::to_string(d));
    return ExitCode::bad_input;
  } catch (const ModelError& e) {
    for (const auto& p : e.problems()) error(to_string(p));
    return ExitCode::bad_input;
  } catch (const sim::StaticFailure& e) {
    error(fmt::format("did not converge: {}", e.what()));
    return ExitCode::failed;
  } catch (const result::IoError& e) {
    error(e.what());
    return ExitCode::io_failed;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::invalid_argument& e) {
    error(e.what());
    return ExitCode::bad_input;
  } catch (const std::exception& e) {
    error(e.what());
    return ExitCode::io_failed;
  }
}

constexpr std::string_view out_of_memory = "limber: out of memory\n";

// An exception where none may pass (a destructor, a thread): an own mistake, unless memory is all it wants.
[[noreturn]] void give_up() {
  try {
    if (const std::exception_ptr reason = std::current_exception()) std::rethrow_exception(reason);
  } catch (const std::bad_alloc&) {
    raw_message(out_of_memory);
    ::_exit(ExitCode::io_failed);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

// Before any other static object of the program.
[[gnu::constructor(101)]] static void catch_everything() { std::set_terminate(give_up); }

int guarded(const std::function<void()>& body, const int& code) {
  try {
    return told(body, code);
  } catch (const std::bad_alloc&) {
    raw_message(out_of_memory);
    return ExitCode::io_failed;
  }
}

}  // namespace limber::cli
