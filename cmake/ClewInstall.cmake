# What `cmake --install` puts in place: headers, the library, and the files by which CMake's
# find_package(clew) and pkg-config find them.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/clew")

install(TARGETS clew)
install(TARGETS clew_core clew_embeddings clew_server clew_sqlite EXPORT clewTargets FILE_SET HEADERS)
install(EXPORT clewTargets NAMESPACE clew:: DESTINATION "${package_dir}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/clewConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/clewConfig.cmake" INSTALL_DESTINATION "${package_dir}")
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/clewConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/clewConfig.cmake" "${PROJECT_BINARY_DIR}/clewConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/ClewPlugins.cmake"
        DESTINATION "${package_dir}")

set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}" OUTPUT_VARIABLE pkgconfig_to_prefix)
foreach(package clew clew-embeddings clew-sqlite)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION "${pkgconfig_dir}")
endforeach()

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
