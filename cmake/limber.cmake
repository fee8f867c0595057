# limber_library(NAME SOURCES ... DEPENDS ...): the target of one folder of src/limber.
# limber_test(NAME SOURCES ... DEPENDS ...): one GoogleTest executable, its cases known to ctest.

add_library(limber_flags INTERFACE)
target_compile_features(limber_flags INTERFACE cxx_std_20)
# -ffp-contract=off: the same bits on every x86-64 CPU, whatever it could fuse.
target_compile_options(limber_flags INTERFACE -ffp-contract=off)
target_link_libraries(limber_flags INTERFACE Eigen3::Eigen)
set_target_properties(limber_flags PROPERTIES EXPORT_NAME flags)

add_library(limber_warnings INTERFACE)
target_compile_options(limber_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -Wnon-virtual-dtor -Werror
                       # GCC 12 warns of an overlap inside std::string's own operator+ (its bug 105329).
                       -Wno-restrict)
if(LIMBER_SANITIZE)
  # GCC's sanitizer instrumentation makes -Wmaybe-uninitialized cry wolf inside Eigen.
  target_compile_options(limber_warnings INTERFACE -fsanitize=${LIMBER_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all -Wno-maybe-uninitialized)
  target_link_options(limber_warnings INTERFACE -fsanitize=${LIMBER_SANITIZE})
endif()
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
  set(LIMBER_TARGETS ${LIMBER_TARGETS} limber_${name} CACHE INTERNAL "library targets to install")
endfunction()

function(limber_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE LIMBER_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
                             LIMBER_SCENES="${PROJECT_SOURCE_DIR}/scenes")
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} limber_warnings GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()
