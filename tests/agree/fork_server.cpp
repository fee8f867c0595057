// Runs a program many times without loading it again: preloaded into it (LD_PRELOAD), this waits before main
// and forks for every request, so that each run is a process of its own at the cost of a fork.
//
// A request is a line on stdin, separated by the byte 31: the seconds of CPU time that it may take, and its
// arguments. Two ints on stdout answer it: the process' id, and when it has ended what wait() says. Its own
// stdout and stderr are the files `stdout` and `stderr`.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

Main real_main;

void redirect(int descriptor, const char* file, int flags) {
  const int opened = ::open(file, flags, 0600);
  if (opened < 0 || ::dup2(opened, descriptor) < 0) ::_exit(126);
  ::close(opened);
}

int run_request(const std::string& line, char* program, char** environment) {
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, "stdout", O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, "stderr", O_WRONLY | O_CREAT | O_TRUNC);
  std::istringstream stream(line);
  std::string word;
  std::getline(stream, word, '\x1f');
  const rlimit seconds{std::stoul(word), std::stoul(word) + 1};
  if (::setrlimit(RLIMIT_CPU, &seconds) != 0) ::_exit(126);
  std::vector<std::string> words;
  while (std::getline(stream, word, '\x1f')) words.push_back(word);
  std::vector<char*> arguments{program};
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  return real_main(static_cast<int>(arguments.size()) - 1, arguments.data(), environment);
}

bool answer(int number) { return ::write(STDOUT_FILENO, &number, sizeof number) == sizeof number; }

int serve(int, char** arguments, char** environment) {
  for (std::string line; std::getline(std::cin, line);) {
    const pid_t child = ::fork();
    if (child == 0) return run_request(line, arguments[0], environment);
    int status = 0;
    if (child < 0 || !answer(child) || ::waitpid(child, &status, 0) < 0 || !answer(status)) return 1;
  }
  return 0;
}

}  // namespace

extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*rtld)(), void* stack) {
  real_main = main;
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(serve, argc, argv, init, fini, rtld, stack);
}
