# Finds SimGrid (Debian's package ships neither a config nor a find module).
# Defines the target SimGrid::SimGrid and SimGrid_VERSION; honours SimGrid_PATH.
find_path(SimGrid_INCLUDE_DIR NAMES simgrid/version.h HINTS "${SimGrid_PATH}" PATH_SUFFIXES include)
find_library(SimGrid_LIBRARY NAMES simgrid HINTS "${SimGrid_PATH}" PATH_SUFFIXES lib)
if(SimGrid_INCLUDE_DIR)
  file(STRINGS "${SimGrid_INCLUDE_DIR}/simgrid/version.h" _simgrid_lines REGEX "define SIMGRID_VERSION_(MAJOR|MINOR)")
  string(REGEX REPLACE ".*VERSION_MAJOR +([0-9]+).*" "\\1" _simgrid_major "${_simgrid_lines}")
  string(REGEX REPLACE ".*VERSION_MINOR +([0-9]+).*" "\\1" _simgrid_minor "${_simgrid_lines}")
  set(SimGrid_VERSION "${_simgrid_major}.${_simgrid_minor}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGrid
  REQUIRED_VARS SimGrid_LIBRARY SimGrid_INCLUDE_DIR VERSION_VAR SimGrid_VERSION
  REASON_FAILURE_MESSAGE "install it with: apt-get install libsimgrid-dev")
if(SimGrid_FOUND AND NOT TARGET SimGrid::SimGrid)
  add_library(SimGrid::SimGrid UNKNOWN IMPORTED)
  set_target_properties(SimGrid::SimGrid PROPERTIES
    IMPORTED_LOCATION "${SimGrid_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${SimGrid_INCLUDE_DIR}")
endif()
mark_as_advanced(SimGrid_INCLUDE_DIR SimGrid_LIBRARY)
