// SignalGuard: keeps the program's own signal handlers while a library installs others.
//
// SimGrid's engine replaces the handlers of SIGINT, SIGSEGV and SIGBUS and the alternate signal stack
// each time one is created. The guard remembers them and puts them back when it goes out of scope.
#pragma once

#include <csignal>

#include <array>

namespace foretrain::sim::engine {

class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static constexpr std::array<int, 3> guarded_ = {SIGINT, SIGSEGV, SIGBUS};
  std::array<struct sigaction, 3> handlers_ = {};
  stack_t stack_ = {};
};

}  // namespace foretrain::sim::engine
