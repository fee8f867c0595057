#include "errors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <new>

#include "exit_code.h"
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

}  // namespace

int guarded(const std::function<void()>& body, const int& code) {
  try {
    body();
    return code;
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
    error("out of memory");
    return ExitCode::io_failed;
  } catch (const std::invalid_argument& e) {
    error(e.what());
    return ExitCode::bad_input;
  } catch (const std::exception& e) {
    error(e.what());
    return ExitCode::io_failed;
  }
}

}  // namespace limber::cli
