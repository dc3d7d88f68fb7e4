// What differs between SimGrid 3.32 (Debian 12, which CI checks) and 4.x.
//
// The 4.x branches follow its ChangeLog and headers; no CI run compiles them. Everything else that the
// engine uses (Engine, Comm::sendto_init, kernel::timer::Timer, NetZoneImpl::get_local_route) has the
// same meaning in both.
#pragma once

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include <dlfcn.h>

#include <string>

namespace foretrain::sim::engine::compat {

// 4.x always has a root zone; before, the first zone that is created becomes it.
inline simgrid::s4u::NetZone* root_zone(const simgrid::s4u::Engine& engine) {
#if SIMGRID_VERSION >= 40000
  return engine.get_netzone_root();
#else
  static_cast<void>(engine);
  return simgrid::s4u::create_empty_zone("root");
#endif
}

inline simgrid::s4u::Host* add_host(simgrid::kernel::routing::NetZoneImpl& zone, const std::string& name) {
#if SIMGRID_VERSION >= 40000
  return zone.get_iface()->add_host(name, 1.0);
#else
  return zone.get_iface()->create_host(name, 1.0);
#endif
}

inline simgrid::s4u::Link* add_link(simgrid::kernel::routing::NetZoneImpl& zone, const std::string& name,
                                    double capacity) {
#if SIMGRID_VERSION >= 40000
  return zone.get_iface()->add_link(name, capacity);
#else
  return zone.get_iface()->create_link(name, capacity);
#endif
}

// SimGrid's clock, which no interface of either version sets back; null where a build hides the symbol.
inline double* clock_variable() {
  return static_cast<double*>(dlsym(RTLD_DEFAULT, "_ZN7simgrid6kernel10EngineImpl4now_E"));
}

}  // namespace foretrain::sim::engine::compat
