# Third-party libraries. The tool may link them statically (preset gpu: its build folder then runs on another machine);
# libtunelookup always links the system's SQLite.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# mt_dependency(TARGET PKG ARCHIVE…): TARGET is an INTERFACE library for pkg-config module PKG; ARCHIVE names the static library file.
function(mt_dependency target module archive)
  pkg_check_modules(${target} REQUIRED ${module})
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIRS})
  if(MT_STATIC_DEPS)
    find_library(${target}_ARCHIVE NAMES ${archive} HINTS ${${target}_LIBDIR} REQUIRED)
    target_link_libraries(${target} INTERFACE ${${target}_ARCHIVE} ${ARGN})
  else()
    target_link_libraries(${target} INTERFACE ${${target}_LINK_LIBRARIES})
  endif()
endfunction()

mt_dependency(dep_sqlite sqlite3 libsqlite3.a m Threads::Threads ${CMAKE_DL_LIBS})
mt_dependency(dep_uv libuv libuv_a.a Threads::Threads ${CMAKE_DL_LIBS} rt)
mt_dependency(dep_zstd libzstd libzstd.a)
mt_dependency(dep_zlib zlib libz.a)
pkg_check_modules(dep_xxhash_pc REQUIRED libxxhash)
add_library(dep_xxhash INTERFACE) # header-only use
target_include_directories(dep_xxhash SYSTEM INTERFACE ${dep_xxhash_pc_INCLUDE_DIRS})

# The CUDA Toolkit is needed for its headers only. MT_CUDA=OFF builds as if it were not there.
set(MT_CUDA AUTO CACHE STRING "Build the GPU part: AUTO (when the Toolkit's headers are found), ON or OFF")
set_property(CACHE MT_CUDA PROPERTY STRINGS AUTO ON OFF)
set(MT_WITH_CUDA OFF)
if(MT_CUDA)
  file(GLOB cuda_prefixes /usr/local/cuda /usr/local/cuda-* /opt/cuda)
  find_path(MT_CUDA_INCLUDE cudaTypedefs.h HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS ${cuda_prefixes}
    PATH_SUFFIXES include targets/x86_64-linux/include targets/sbsa-linux/include)
  if(MT_CUDA_INCLUDE)
    set(MT_WITH_CUDA ON)
    message(STATUS "CUDA headers: ${MT_CUDA_INCLUDE}")
  elseif(MT_CUDA STREQUAL "ON")
    message(FATAL_ERROR "MT_CUDA=ON, but cudaTypedefs.h was not found: set CUDA_HOME")
  endif()
endif()
if(NOT MT_WITH_CUDA)
  message(STATUS "Built without real-GPU tuning: the CUDA Toolkit's headers were not found (recorded GPUs, reports and lookup only)")
endif()
