// The viewer's server: one thread, HTTP for the page, WebSockets for what moves. Safe by default:
//
// - only requests with the random token of the URL, a Host that is ours and an Origin that is the page's get
// in, all others
//   get 403 and nothing else; no CORS; nothing is served but the page;
// - a viewer that reads too slowly gets fewer frames and never holds the simulation up: publish() only leaves
// the newest;
// - the first viewer is in control, the others watch; when it leaves the next one is.
//
// Boost.Beast is slow to compile: only view_server.cpp includes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace limber::cli {

struct ServerOptions {
  std::string host = "127.0.0.1";  // address to listen on
  std::uint16_t port = 0;          // 0: any free one
  std::string token;
  std::string_view page;
};

std::string random_token();  // 256 bits, hexadecimal

class ViewServer {
 public:
  explicit ViewServer(ServerOptions options);  // throws result::IoError if the port is not free
  ~ViewServer();

  std::string url() const;
  // What every viewer is told when it comes, and those that are there at once.
  void set_scene(std::string text);
  void tell(std::string text);                             // to all, in order
  void publish(std::shared_ptr<const std::string> frame);  // to all, the newest only
  // Commands of the viewer in control, oldest first; waits at most so long for one.
  struct Command {
    std::string text;
    std::chrono::steady_clock::time_point arrived;
  };
  std::vector<Command> take_commands(double seconds);
  bool has_commands() const;
  int viewers() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace limber::cli
