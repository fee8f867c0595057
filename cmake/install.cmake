# What `cmake --install` puts where, and the package files for find_package(limber).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The public headers, by folder; a header that is not listed is not installed. tests/architecture checks that a
# listed one includes only listed ones, tests/consumer that all of them compile from an installed copy.
set(LIMBER_PUBLIC_HEADERS
  math/convex_hull.h
  math/numbers.h
  math/path.h
  math/program.h
  math/so3.h
  math/spatial.h
  math/stop.h
  math/trig.h
  math/types.h
  model/beam.h
  model/body.h
  model/control.h
  model/cable.h
  model/coupling.h
  model/features.h
  model/ids.h
  model/joint.h
  model/law.h
  model/load.h
  model/material.h
  model/model.h
  model/quantity.h
  model/time_function.h
  result/fields.h
  result/hand.h
  result/recording.h
  result/report.h
  result/files.h
  result/snapshot.h
  result/touch.h
  elastic/beam_links.h
  elastic/joint_law.h
  elastic/number_rates.h
  elastic/pseudo_rigid_body.h
  elastic/section_constants.h
  elastic/spring_law.h
  multibody/aba.h
  multibody/block_system.h
  multibody/elimination_order.h
  multibody/gaba.h
  multibody/inverse_dynamics.h
  multibody/joint_kinematics.h
  multibody/kinematics.h
  multibody/mass_matrix.h
  multibody/small_motion.h
  multibody/tree.h
  articulated/articulated.h
  adaptive/adaptive.h
  articulated/static_path.h
  articulated/statics.h
  chain/chain.h
  chain/elements.h
  chain/history.h
  chain/inverse.h
  chain/links.h
  chain/path.h
  chain/statics.h
  chain/stress.h
  chain/structure.h
  chain/sweeps.h
  chain/tangent.h
  chain/tied_tangent.h
  chain/ties.h
  rom/reduced_model.h
  rom/rom.h
  thread/thread.h
  sim/compare.h
  sim/equilibrium.h
  sim/happening.h
  sim/live.h
  sim/method_table.h
  sim/methods.h
  sim/option.h
  sim/option_table.h
  sim/options.h
  sim/range.h
  sim/run.h
  sim/static_curve.h
  sim/static_inverse.h
  scene/scene.h
  export/export.h
)
foreach(header ${LIMBER_PUBLIC_HEADERS})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/src/limber/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/limber/${folder})
endforeach()

# limber::limber is everything; limber::math, limber::model, … are the parts.
add_library(limber_everything INTERFACE)
set_target_properties(limber_everything PROPERTIES EXPORT_NAME limber)
target_link_libraries(limber_everything INTERFACE ${LIMBER_TARGETS})
add_library(limber::limber ALIAS limber_everything)

install(TARGETS limber_flags limber_everything ${LIMBER_TARGETS}
        EXPORT limberTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS limber RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/limber)
install(EXPORT limberTargets NAMESPACE limber:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/limberConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/limberConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/limberConfigVersion.cmake
                                 VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/limberConfig.cmake ${PROJECT_BINARY_DIR}/limberConfigVersion.cmake
        DESTINATION ${package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/limber/scenes)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
