# What an installed libtunelookup consists of: headers, library (shared and static), pkg-config and CMake files, man pages. Everything finds its neighbours relative to itself, so that the
# tree may be moved.
include(CMakePackageConfigHelpers)

install(TARGETS tunelookup tunelookup_static EXPORT tunelookup-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lookup ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lookup)
install(FILES ${CMAKE_SOURCE_DIR}/include/tunelookup.h ${CMAKE_SOURCE_DIR}/include/tunelookup_cuda.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT lookup)
install(FILES ${CMAKE_SOURCE_DIR}/docs/man/msda-tune.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
install(FILES ${CMAKE_SOURCE_DIR}/docs/man/tunelookup.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT lookup)

# prefix=${pcfiledir}/../.. when the libraries lie in lib/, one step more in lib/<triplet>/
file(RELATIVE_PATH TUNELOOKUP_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" TUNELOOKUP_PREFIX_FROM_PC "${TUNELOOKUP_PREFIX_FROM_PC}")
configure_file(${CMAKE_SOURCE_DIR}/cmake/tunelookup.pc.in ${CMAKE_BINARY_DIR}/tunelookup.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tunelookup.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT lookup)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tunelookup)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/tunelookup-config.cmake.in ${CMAKE_BINARY_DIR}/tunelookup-config.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tunelookup-config-version.cmake VERSION ${TUNELOOKUP_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tunelookup-config.cmake ${CMAKE_BINARY_DIR}/tunelookup-config-version.cmake DESTINATION ${config_folder} COMPONENT lookup)
install(EXPORT tunelookup-targets NAMESPACE tunelookup:: DESTINATION ${config_folder} COMPONENT lookup)
