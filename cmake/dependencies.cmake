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

# Signatures of packs. Without it all else works, and what needs it says so.
set(MT_SODIUM AUTO CACHE STRING "Sign packs, by libsodium: AUTO (when it is found), ON or OFF")
set_property(CACHE MT_SODIUM PROPERTY STRINGS AUTO ON OFF)
add_library(dep_sodium INTERFACE)
if(MT_SODIUM)
  pkg_check_modules(sodium_pc libsodium)
  if(sodium_pc_FOUND)
    mt_dependency(sodium_found libsodium libsodium.a)
    target_link_libraries(dep_sodium INTERFACE sodium_found)
    target_compile_definitions(dep_sodium INTERFACE MT_WITH_SODIUM)
  elseif(MT_SODIUM STREQUAL "AUTO")
    message(STATUS "Built without signatures of packs: libsodium was not found")
  else()
    message(FATAL_ERROR "MT_SODIUM is ON, and pkg-config finds no libsodium")
  endif()
endif()

include(${CMAKE_CURRENT_LIST_DIR}/cuda.cmake)
