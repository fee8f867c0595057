// limber view: a scene that moves in a browser.
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "errors.h"
#include "limber/math/stop.h"
#include "limber/result/recording.h"
#include "live_view.h"
#include "run_overrides.h"
#include "scene_arguments.h"
#include "signals.h"
#include "terminal.h"
#include "viewer_page.h"

extern char** environ;

namespace limber::cli {

namespace {

struct ViewArguments {
  SceneArguments scene;
  RunOverrides overrides;
  std::string host = "127.0.0.1", record;
  int port = 0;
  bool no_open = false;
};

void open_browser(const std::string& url) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  const char* arguments[] = {"xdg-open", url.c_str(), nullptr};
  pid_t child = 0;
  ::posix_spawnp(&child, "xdg-open", nullptr, nullptr, const_cast<char* const*>(arguments), environ);
}

int view(const ViewArguments& a) {
  scene::Scene scene = load_scene(a.scene);
  sim::RunOptions options = scene.run;
  with_places(scene, [&] { apply(a.overrides, options); });
  if (viewer_page().empty()) throw result::IoError("limber view", page_is_missing);
  ViewServer server({a.host, static_cast<std::uint16_t>(a.port), random_token(), viewer_page()});
  if (a.host != "127.0.0.1" && a.host != "::1")
    message(fmt::format(
        "limber: warning: {} is open to other computers; whoever has the address can watch and control "
        "this simulation, and it is not encrypted",
        a.host));
  const scene::Scene for_errors = scene;
  return with_places(for_errors, [&] {
    LiveView live(std::move(scene), options, server);
    if (!a.record.empty()) live.record(a.record);
    message(fmt::format("limber: open {}", server.url()));
    message("limber: it starts when a page shows it; Ctrl-C ends it");
    if (!a.no_open) open_browser(server.url());
    const GracefulStop graceful;
    try {
      live.run();
    } catch (const Stopped&) {  // in the middle of something long
    }
    return ExitCode::done;
  });
}

}  // namespace

void add_view(CLI::App& app, int& code) {
  auto a = std::make_shared<ViewArguments>();
  CLI::App* sub = app.add_subcommand("view", "see a scene move in a browser, and pull at it");
  sub->add_option("scene", a->scene.file, "scene file")->required()->type_name("FILE");
  add_set_option(*sub, a->scene.set);
  add_overrides(*sub, a->overrides);
  sub->add_option("--host", a->host, "address to listen on (default: this computer only)")
      ->type_name("ADDRESS");
  sub->add_option("--port", a->port, "port (default: any free one)")->check(CLI::Range(0, 65535));
  sub->add_option("--record", a->record, "write the frames, as limber run does, to a new file")
      ->type_name("FILE");
  sub->add_flag("--no-open", a->no_open, "do not start a browser");
  sub->footer(
      "The page is served to this computer only, under an address with a random key. Over SSH: choose a port "
      "with\n"
      "--port, forward it (ssh -L PORT:127.0.0.1:PORT HOST) and open the printed address.\n\n"
      "Example:\n  limber view scenes/bridge-car.yaml --set \"car=20000 kg\"");
  sub->callback([a, &code] { code = view(*a); });
}

}  // namespace limber::cli
