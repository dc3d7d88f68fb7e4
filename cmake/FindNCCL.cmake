# Finds NCCL, which ships no CMake package. Defines the target NCCL::NCCL; honours NCCL_HOME (variable or environment).
find_path(NCCL_INCLUDE_DIR NAMES nccl.h
  HINTS "${NCCL_HOME}" ENV NCCL_HOME ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(NCCL_LIBRARY NAMES nccl
  HINTS "${NCCL_HOME}" ENV NCCL_HOME "${CUDAToolkit_LIBRARY_DIR}" PATH_SUFFIXES lib lib64)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL
  REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install NVIDIA's libnccl-dev or set NCCL_HOME")
if(NCCL_FOUND AND NOT TARGET NCCL::NCCL)
  add_library(NCCL::NCCL UNKNOWN IMPORTED)
  set_target_properties(NCCL::NCCL PROPERTIES
    IMPORTED_LOCATION "${NCCL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR}")
endif()
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
