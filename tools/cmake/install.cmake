# An installed tree: bin/wavetail, include/wavetail/ROOM/*.h, lib/wavetail/libwavetail_ROOM.a,
# share/wavetail/{configs,workloads} and the package that find_package(wavetail) reads.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY WAVETAIL_ROOMS)
list(REMOVE_ITEM rooms cli)
list(TRANSFORM rooms PREPEND wavetail_ OUTPUT_VARIABLE libraries)
install(TARGETS ${libraries} wavetail_all EXPORT wavetail_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/wavetail)
install(TARGETS wavetail RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY sim/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wavetail
  FILES_MATCHING PATTERN "*.h" PATTERN "cli" EXCLUDE)
foreach(folder configs workloads)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/wavetail)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wavetail)
install(EXPORT wavetail_targets NAMESPACE wavetail:: DESTINATION ${package_dir})
configure_package_config_file(tools/cmake/wavetail-config.cmake.in ${PROJECT_BINARY_DIR}/wavetail-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wavetail-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wavetail-config.cmake ${PROJECT_BINARY_DIR}/wavetail-config-version.cmake
  DESTINATION ${package_dir})
