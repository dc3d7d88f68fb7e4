#include "sim/engine/signal_guard.h"

namespace foretrain::sim::engine {

SignalGuard::SignalGuard() {
  for (std::size_t i = 0; i < guarded_.size(); ++i) sigaction(guarded_[i], nullptr, &handlers_[i]);
  sigaltstack(nullptr, &stack_);
}

SignalGuard::~SignalGuard() {
  for (std::size_t i = 0; i < guarded_.size(); ++i) sigaction(guarded_[i], &handlers_[i], nullptr);
  sigaltstack(&stack_, nullptr);
}

}  // namespace foretrain::sim::engine
