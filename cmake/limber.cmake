# limber_library(NAME SOURCES ... [ALONE ...] [LEVEL -O1] DEPENDS ...): the target of one folder of src/limber.
# limber_test(NAME SOURCES ... [ALONE ...] [COST n] DEPENDS ...): one GoogleTest executable, its cases known to ctest;
#   those of a higher cost start first.
#
# What makes the build fast, and why, with figures: docs/building.md.

add_library(limber_flags INTERFACE)
target_compile_features(limber_flags INTERFACE cxx_std_20)
# -ffp-contract=off: the same bits on every x86-64 CPU, whatever it could fuse.
target_compile_options(limber_flags INTERFACE -ffp-contract=off)
target_link_libraries(limber_flags INTERFACE Eigen3::Eigen fmt::fmt)
set_target_properties(limber_flags PROPERTIES EXPORT_NAME flags)

add_library(limber_warnings INTERFACE)
target_compile_options(limber_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion
                       -Wno-sign-conversion -Wnon-virtual-dtor -Werror
                       # GCC 12 takes std::string's own copies for overlapping or too long (its bugs 105329, 105651).
                       -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
if(LIMBER_SANITIZE)
  # GCC's sanitizer instrumentation makes -Wmaybe-uninitialized cry wolf inside Eigen.
  target_compile_options(limber_warnings INTERFACE -fsanitize=${LIMBER_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all -Wno-maybe-uninitialized)
  target_link_options(limber_warnings INTERFACE -fsanitize=${LIMBER_SANITIZE})
endif()
# Used where they are installed when a build folder is first configured (later ones would make all of it anew): ccache
# (a second clone, a branch changed and changed back, sanitizers), and mold, although all programs link in 3 s.
find_program(ccache ccache NO_CACHE)
find_program(mold mold NO_CACHE)
set(LIMBER_CCACHE "${ccache}" CACHE FILEPATH "ccache, to compile through it; empty: without")
set(LIMBER_MOLD "${mold}" CACHE FILEPATH "mold, to link with it; empty: the compiler's own linker")
if(LIMBER_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${LIMBER_CCACHE})
  # ccache tells precompiled headers apart by what the preprocessor says of them.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
if(LIMBER_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
  add_link_options(-fuse-ld=mold)
endif()

# Three quarters of a plain file's time go into headers and templates of Eigen and our structs, the same in every file.
# So several sources are compiled as one, and the headers that all of them use are parsed once. A name in a folder's
# anonymous namespaces must therefore be the only one in its folder. OFF compiles every file by itself, without our own
# headers in front: the `dev` preset does, which keeps every file complete.
option(LIMBER_UNITY "compile several sources as one" ON)
# A local variable may have the name of another file's constant.
target_compile_options(limber_warnings INTERFACE $<IF:$<BOOL:${LIMBER_UNITY}>,-Wshadow=local,-Wshadow>)

# The level of optimisation of what is not measured in a step; -O3 compiles half as fast again.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(LIMBER_COLD -O1)
else()
  set(LIMBER_COLD "")
endif()

# The target's sources in groups of `count`, those of `alone` by themselves.
function(limber_group target count alone)
  if(LIMBER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

set(common_headers <Eigen/Core> <Eigen/Geometry> <fmt/format.h> <algorithm> <array> <cmath> <filesystem> <functional>
    <memory> <optional> <span> <string> <variant> <vector>)
if(LIMBER_UNITY)
  set(model_header ${PROJECT_SOURCE_DIR}/src/limber/model/model.h)
endif()
# One set of headers for libraries and programs, which are therefore compiled as position-independent code alike.
add_library(limber_library_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/headers.cpp)
target_include_directories(limber_library_headers PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(limber_library_headers PRIVATE limber_flags limber_warnings)
target_precompile_headers(limber_library_headers PRIVATE ${common_headers} ${model_header})

set(LIMBER_TARGETS "" CACHE INTERNAL "library targets to install")

function(limber_library name)
  cmake_parse_arguments(arg "" "GROUP;LEVEL" "SOURCES;ALONE;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(limber_${name} STATIC ${arg_SOURCES} ${arg_ALONE})
  add_library(limber::${name} ALIAS limber_${name})
  target_include_directories(limber_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                             $<INSTALL_INTERFACE:include>)
  target_link_libraries(limber_${name} PUBLIC limber_flags ${arg_DEPENDS}
                        PRIVATE $<BUILD_INTERFACE:limber_warnings> ${arg_PRIVATE_DEPENDS})
  target_compile_options(limber_${name} PRIVATE ${arg_LEVEL})
  set_target_properties(limber_${name} PROPERTIES EXPORT_NAME ${name})
  target_precompile_headers(limber_${name} REUSE_FROM limber_library_headers)
  if(NOT arg_GROUP)
    set(arg_GROUP 4)
  endif()
  limber_group(limber_${name} ${arg_GROUP} "${arg_ALONE}")
  set(LIMBER_TARGETS ${LIMBER_TARGETS} limber_${name} CACHE INTERNAL "library targets to install")
endfunction()

# The headers of the tests, parsed once; call it where GTest and rapidcheck are known.
function(limber_test_headers)
  add_library(limber_test_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/headers.cpp)
  target_include_directories(limber_test_headers PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(limber_test_headers PRIVATE limber_flags limber_warnings GTest::gtest)
  target_compile_definitions(limber_test_headers PRIVATE ${LIMBER_TEST_DEFINITIONS})
  target_compile_options(limber_test_headers PRIVATE ${LIMBER_COLD})
  set_target_properties(limber_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(limber_test_headers PRIVATE ${common_headers} <gtest/gtest.h> <nlohmann/json.hpp> <fstream>
                            ${model_header})
endfunction()

set(LIMBER_TEST_DEFINITIONS LIMBER_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    LIMBER_SCENES="${PROJECT_SOURCE_DIR}/scenes" LIMBER_DOCS="${PROJECT_SOURCE_DIR}/docs")

function(limber_test name)
  cmake_parse_arguments(arg "" "GROUP;COST" "SOURCES;ALONE;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES} ${arg_ALONE})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE ${LIMBER_TEST_DEFINITIONS})
  target_compile_options(${name} PRIVATE ${LIMBER_COLD})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  if(TARGET limber_test_headers)
    target_precompile_headers(${name} REUSE_FROM limber_test_headers)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} limber_warnings GTest::gtest GTest::gtest_main)
  if(NOT arg_GROUP)
    set(arg_GROUP 3)
  endif()
  limber_group(${name} ${arg_GROUP} "${arg_ALONE}")
  if(NOT arg_COST)
    set(arg_COST 0)
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600 COST ${arg_COST})
endfunction()
