#include "view_server.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include "limber/result/recording.h"

namespace limber::cli {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
namespace net = boost::asio;
using tcp = net::ip::tcp;
using beast::error_code;
using Text = std::shared_ptr<const std::string>;

namespace {

constexpr std::size_t most_connections = 400;
constexpr std::size_t most_viewers = 100;
constexpr std::size_t most_waiting_texts = 256;  // of a viewer that does not read
constexpr std::size_t most_commands = 4096;
constexpr std::size_t largest_command = 64 << 10;
constexpr std::chrono::seconds request_time{15};

// Takes as long for every wrong guess.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

std::string query_value(std::string_view target, std::string_view name) {
  const std::size_t question = target.find('?');
  if (question == std::string_view::npos) return {};
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (item.size() > name.size() && item.starts_with(name) && item[name.size()] == '=')
      return std::string(item.substr(name.size() + 1));
  }
  return {};
}

}  // namespace

std::string random_token() {
  unsigned char bytes[32];
  for (std::size_t have = 0; have < sizeof bytes;) {
    const ssize_t n = ::getrandom(bytes + have, sizeof bytes - have, 0);
    if (n > 0) have += static_cast<std::size_t>(n);
  }
  std::string text;
  for (const unsigned char b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

class Connection;

struct ViewServer::Impl {
  explicit Impl(ServerOptions o)
      : options(std::move(o)), acceptor(std::in_place, *context), pause(std::in_place, *context) {}

  ServerOptions options;
  std::unique_ptr<net::io_context> context = std::make_unique<net::io_context>(1);
  std::optional<tcp::acceptor> acceptor;
  std::optional<net::steady_timer> pause;
  std::uint16_t port = 0;
  std::thread thread;

  // Of the server's thread.
  std::list<std::weak_ptr<Connection>> viewers;  // in order of arrival; the first is in control
  std::size_t connections = 0;
  Text scene;

  // Shared with the simulation.
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<ViewServer::Command> commands;
  std::atomic<bool> command_waits{false};
  Text newest;
  bool frame_posted = false;
  std::atomic<int> viewer_count{0};

  bool own_host(std::string_view host) const;
  bool allowed(const http::request<http::empty_body>& request, bool needs_origin) const;
  void accept();
  void spread_frame();
  void add_command(std::string text);
  void leave(const Connection* gone);
  void join(const std::shared_ptr<Connection>& viewer);
};

// From the first byte of a request to the last frame of a viewer.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(ViewServer::Impl& server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {
    ++server_.connections;
  }
  ~Connection() {
    --server_.connections;
    server_.leave(this);
  }

  void start() {
    stream_.next_layer().expires_after(request_time);
    parser_.emplace();
    parser_->header_limit(16 << 10);
    parser_->body_limit(0);
    http::async_read(stream_.next_layer(), buffer_, *parser_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!error) self->answer();
                     });
  }

  void send_text(Text text) {
    if (texts_.size() >= most_waiting_texts) return close();
    texts_.push_back(std::move(text));
    write();
  }
  void send_frame(Text frame) {
    frame_ = std::move(frame);
    write();
  }

 private:
  void answer() {
    const auto& request = parser_->get();
    const std::string_view target(request.target().data(), request.target().size());
    const std::string_view path = target.substr(0, target.find('?'));
    const bool upgrade = websocket::is_upgrade(request);
    if (!server_.allowed(request, upgrade)) return refuse(http::status::forbidden, "403: not allowed\n");
    if (upgrade && path == "/live") return begin_live();
    if (upgrade || path != "/") return refuse(http::status::not_found, "404: there is only the page\n");
    if (request.method() != http::verb::get && request.method() != http::verb::head)
      return refuse(http::status::method_not_allowed, "405: GET only\n");
    send_page(request.method() == http::verb::head);
  }

  void refuse(http::status status, const char* text) {
    auto response = std::make_shared<http::response<http::string_body>>(status, 11);
    response->set(http::field::content_type, "text/plain; charset=utf-8");
    response->body() = text;
    send(response);
  }

  void send_page(bool head_only) {
    using Body = http::span_body<const char>;
    auto response = std::make_shared<http::response<Body>>(http::status::ok, 11);
    response->set(http::field::content_type, "text/html; charset=utf-8");
    response->set(http::field::cache_control, "no-store");
    response->set("Referrer-Policy", "no-referrer");
    response->set("X-Content-Type-Options", "nosniff");
    response->set("X-Frame-Options", "DENY");
    response->set("Cross-Origin-Opener-Policy", "same-origin");
    if (!head_only) response->body() = {server_.options.page.data(), server_.options.page.size()};
    send(response);
  }

  template <class Response>
  void send(const std::shared_ptr<Response>& response) {
    response->set(http::field::connection, "close");
    response->keep_alive(false);
    response->prepare_payload();
    http::async_write(stream_.next_layer(), *response,
                      [self = shared_from_this(), response](error_code, std::size_t) {
                        error_code ignored;
                        self->stream_.next_layer().socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  void begin_live() {
    if (server_.viewers.size() >= most_viewers)
      return refuse(http::status::service_unavailable, "503: too many viewers\n");
    stream_.next_layer().expires_never();
    stream_.next_layer().socket().set_option(tcp::no_delay(true));
    stream_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    stream_.read_message_max(largest_command);
    stream_.auto_fragment(false);  // a frame is one write
    stream_.async_accept(parser_->get(), [self = shared_from_this()](error_code error) {
      if (error) return;
      self->live_ = true;
      self->server_.join(self);
      self->read();
    });
  }

  void read() {
    stream_.async_read(buffer_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->server_.leave(self.get());
      if (self->stream_.got_text() && self->in_control())
        self->server_.add_command(beast::buffers_to_string(self->buffer_.data()));
      self->buffer_.consume(self->buffer_.size());
      self->read();
    });
  }

  bool in_control() const { return !server_.viewers.empty() && server_.viewers.front().lock().get() == this; }

  // One write at a time: texts in order, then the newest frame.
  void write() {
    if (!live_ || writing_) return;
    Text next;
    const bool text = !texts_.empty();
    if (text) {
      next = std::move(texts_.front());
      texts_.pop_front();
    } else {
      next = std::exchange(frame_, nullptr);
    }
    if (!next) return;
    writing_ = true;
    stream_.binary(!text);
    stream_.async_write(net::buffer(*next), [self = shared_from_this(), next](error_code error, std::size_t) {
      self->writing_ = false;
      if (error) return self->server_.leave(self.get());
      self->write();
    });
  }

  void close() {
    error_code ignored;
    stream_.next_layer().socket().close(ignored);
    server_.leave(this);
  }

  ViewServer::Impl& server_;
  websocket::stream<beast::tcp_stream, false> stream_;  // no compression: frames are for this computer
  beast::flat_buffer buffer_{1 << 17};
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::deque<Text> texts_;
  Text frame_;
  bool live_ = false, writing_ = false;
};

bool ViewServer::Impl::own_host(std::string_view host) const {
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"})
    if (host == fmt::format("{}:{}", name, port)) return true;
  return options.host != "127.0.0.1" && host == fmt::format("{}:{}", options.host, port);
}

// The page itself comes without an Origin (or with its own); a WebSocket always says which page opened it.
bool ViewServer::Impl::allowed(const http::request<http::empty_body>& request, bool needs_origin) const {
  const auto view = [](auto text) { return std::string_view(text.data(), text.size()); };
  if (request.count(http::field::host) != 1 || request.count(http::field::origin) > 1) return false;
  const std::string_view host = view(request[http::field::host]), target = view(request.target());
  if (!same_secret(query_value(target, "token"), options.token) || !own_host(host)) return false;
  const bool has_origin = request.count(http::field::origin) == 1;
  if (!has_origin) return !needs_origin;
  return view(request[http::field::origin]) == fmt::format("http://{}", host);
}

void ViewServer::Impl::accept() {
  acceptor->async_accept([this](error_code error, tcp::socket socket) {
    if (error == net::error::operation_aborted) return;
    if (error) {  // out of descriptors: try again soon
      pause->expires_after(std::chrono::milliseconds(50));
      pause->async_wait([this](error_code stopped) {
        if (!stopped) accept();
      });
      return;
    }
    if (connections < most_connections) std::make_shared<Connection>(*this, std::move(socket))->start();
    accept();
  });
}

void ViewServer::Impl::join(const std::shared_ptr<Connection>& viewer) {
  viewers.push_back(viewer);
  viewer_count = static_cast<int>(viewers.size());
  const bool controls = viewers.size() == 1;
  if (scene) viewer->send_text(scene);
  viewer->send_text(std::make_shared<const std::string>(
      fmt::format(R"({{"type":"role","controls":{}}})", controls ? "true" : "false")));
  Text frame;
  {
    const std::lock_guard lock(mutex);
    frame = newest;
  }
  if (frame) viewer->send_frame(frame);
}

void ViewServer::Impl::leave(const Connection* gone) {
  const bool controlled =
      !viewers.empty() && (viewers.front().expired() || viewers.front().lock().get() == gone);
  std::erase_if(viewers, [&](const auto& v) { return v.expired() || v.lock().get() == gone; });
  viewer_count = static_cast<int>(viewers.size());
  if (!controlled) return;
  add_command(R"({"do":"release"})");  // nobody holds it any more
  if (!viewers.empty())
    if (const auto next = viewers.front().lock())
      next->send_text(std::make_shared<const std::string>(R"({"type":"role","controls":true})"));
}

void ViewServer::Impl::add_command(std::string text) {
  const std::lock_guard lock(mutex);
  if (commands.size() < most_commands)
    commands.push_back({std::move(text), std::chrono::steady_clock::now()});
  command_waits = true;
  arrived.notify_one();
}

void ViewServer::Impl::spread_frame() {
  Text frame;
  {
    const std::lock_guard lock(mutex);
    frame = newest;
    frame_posted = false;
  }
  const auto all = viewers;  // a viewer that leaves changes the list
  for (const auto& weak : all)
    if (const auto viewer = weak.lock()) viewer->send_frame(frame);
}

ViewServer::ViewServer(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  Impl& s = *impl_;
  error_code error;
  const auto address = net::ip::make_address(s.options.host, error);
  const std::string where = fmt::format("{}:{}", s.options.host, s.options.port);
  if (error) throw result::IoError(where, "is no address of a computer, such as 127.0.0.1");
  const tcp::endpoint endpoint(address, s.options.port);
  s.acceptor->open(endpoint.protocol(), error);
  if (!error) s.acceptor->set_option(net::socket_base::reuse_address(true), error);
  if (!error) s.acceptor->bind(endpoint, error);
  if (!error) s.acceptor->listen(net::socket_base::max_listen_connections, error);
  if (error) throw result::IoError(where, "cannot listen: " + error.message());
  s.port = s.acceptor->local_endpoint().port();
  s.accept();
  s.thread = std::thread([&s] { s.context->run(); });
}

ViewServer::~ViewServer() {
  impl_->context->stop();
  impl_->thread.join();
  // Connections live in the context's handlers and take leave of the rest: they go first.
  impl_->pause.reset();
  impl_->acceptor.reset();
  impl_->context.reset();
}

std::string ViewServer::url() const {
  const bool everywhere = impl_->options.host == "0.0.0.0" || impl_->options.host == "::";
  const bool six = impl_->options.host.find(':') != std::string::npos && !everywhere;
  const std::string host = everywhere ? "127.0.0.1"
                           : six      ? "[" + impl_->options.host + "]"
                                      : impl_->options.host;
  return fmt::format("http://{}:{}/?token={}", host, impl_->port, impl_->options.token);
}

void ViewServer::set_scene(std::string text) {
  net::post(*impl_->context, [s = impl_.get(), scene = std::make_shared<const std::string>(std::move(text))] {
    s->scene = scene;
    const auto all = s->viewers;
    for (const auto& weak : all)
      if (const auto viewer = weak.lock()) viewer->send_text(scene);
  });
}

void ViewServer::tell(std::string text) {
  net::post(*impl_->context,
            [s = impl_.get(), shared = std::make_shared<const std::string>(std::move(text))] {
              const auto all = s->viewers;
              for (const auto& weak : all)
                if (const auto viewer = weak.lock()) viewer->send_text(shared);
            });
}

void ViewServer::publish(std::shared_ptr<const std::string> frame) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->newest = std::move(frame);
    if (std::exchange(impl_->frame_posted, true)) return;
  }
  net::post(*impl_->context, [s = impl_.get()] { s->spread_frame(); });
}

std::vector<ViewServer::Command> ViewServer::take_commands(double seconds) {
  std::unique_lock lock(impl_->mutex);
  if (impl_->commands.empty() && seconds > 0)
    impl_->arrived.wait_for(lock, std::chrono::duration<double>(seconds),
                            [&] { return !impl_->commands.empty(); });
  std::vector<Command> out(std::make_move_iterator(impl_->commands.begin()),
                           std::make_move_iterator(impl_->commands.end()));
  impl_->commands.clear();
  impl_->command_waits = false;
  return out;
}

bool ViewServer::has_commands() const { return impl_->command_waits; }

int ViewServer::viewers() const { return impl_->viewer_count; }

}  // namespace limber::cli
