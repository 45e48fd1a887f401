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

include(${CMAKE_CURRENT_LIST_DIR}/cuda.cmake)
