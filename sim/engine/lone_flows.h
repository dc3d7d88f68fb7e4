// LoneFlows: what becomes of a flow that shares none of its links (sim/engine/simulation.h).
#pragma once

#include <cstdint>

namespace foretrain::sim::engine {

enum class LoneFlows : std::uint8_t { as_timers, on_simgrid };

}  // namespace foretrain::sim::engine
