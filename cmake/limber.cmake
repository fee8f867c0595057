# limber_library(NAME SOURCES ... DEPENDS ...): the target of one folder of src/limber.
# limber_test(NAME SOURCES ... DEPENDS ...): one GoogleTest executable, its cases known to ctest.

add_library(limber_flags INTERFACE)
target_compile_features(limber_flags INTERFACE cxx_std_20)
# -ffp-contract=off: the same bits on every x86-64 CPU, whatever it could fuse.
target_compile_options(limber_flags INTERFACE -ffp-contract=off)
target_link_libraries(limber_flags INTERFACE Eigen3::Eigen fmt::fmt)
set_target_properties(limber_flags PROPERTIES EXPORT_NAME flags)

add_library(limber_warnings INTERFACE)
target_compile_options(limber_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -Wnon-virtual-dtor -Werror
                       # GCC 12 takes std::string's own copies for overlapping or too long (its bugs 105329, 105651).
                       -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
if(LIMBER_SANITIZE)
  # GCC's sanitizer instrumentation makes -Wmaybe-uninitialized cry wolf inside Eigen.
  target_compile_options(limber_warnings INTERFACE -fsanitize=${LIMBER_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all -Wno-maybe-uninitialized)
  target_link_options(limber_warnings INTERFACE -fsanitize=${LIMBER_SANITIZE})
endif()
# Eigen and GoogleTest cost more to parse than our own code to compile: parsed once for the libraries, once for the
# programs (which are compiled without -fPIC).
add_library(limber_library_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/headers.cpp)
target_link_libraries(limber_library_headers PRIVATE limber_flags limber_warnings)
target_precompile_headers(limber_library_headers PRIVATE <Eigen/Core> <Eigen/Geometry> <fmt/format.h> <algorithm> <array>
                          <cmath> <filesystem> <functional> <memory> <optional> <span> <string> <variant> <vector>)

set(LIMBER_TARGETS "" CACHE INTERNAL "library targets to install")

function(limber_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(limber_${name} STATIC ${arg_SOURCES})
  add_library(limber::${name} ALIAS limber_${name})
  target_include_directories(limber_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                             $<INSTALL_INTERFACE:include>)
  target_link_libraries(limber_${name} PUBLIC limber_flags ${arg_DEPENDS}
                        PRIVATE $<BUILD_INTERFACE:limber_warnings> ${arg_PRIVATE_DEPENDS})
  set_target_properties(limber_${name} PROPERTIES EXPORT_NAME ${name})
  target_precompile_headers(limber_${name} REUSE_FROM limber_library_headers)
  set(LIMBER_TARGETS ${LIMBER_TARGETS} limber_${name} CACHE INTERNAL "library targets to install")
endfunction()

# The headers of the tests, parsed once; call it where GTest and rapidcheck are known.
function(limber_test_headers)
  add_library(limber_test_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/headers.cpp)
  target_link_libraries(limber_test_headers PRIVATE limber_flags limber_warnings GTest::gtest)
  target_compile_definitions(limber_test_headers PRIVATE ${LIMBER_TEST_DEFINITIONS})
  target_compile_options(limber_test_headers PRIVATE ${LIMBER_TEST_OPTIONS})
  set_target_properties(limber_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(limber_test_headers PRIVATE <Eigen/Core> <Eigen/Geometry> <fmt/format.h>
                            <gtest/gtest.h> <nlohmann/json.hpp> <algorithm> <array> <cmath> <filesystem> <fstream>
                            <functional> <memory> <optional> <string> <variant> <vector>)
endfunction()

set(LIMBER_TEST_DEFINITIONS LIMBER_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    LIMBER_SCENES="${PROJECT_SOURCE_DIR}/scenes" LIMBER_DOCS="${PROJECT_SOURCE_DIR}/docs")

# What is measured is in the libraries; the tests themselves need no more than -O1, which compiles twice as fast.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(LIMBER_TEST_OPTIONS -O1)
endif()

function(limber_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE ${LIMBER_TEST_DEFINITIONS})
  target_compile_options(${name} PRIVATE ${LIMBER_TEST_OPTIONS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  if(TARGET limber_test_headers)
    target_precompile_headers(${name} REUSE_FROM limber_test_headers)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} limber_warnings GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()
