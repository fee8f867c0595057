# cmake -DSOURCE=viewer -DFOLDER=… -DWITH_TESTS=ON|OFF -P build.cmake
#
# Builds FOLDER/page.html and, if that worked, FOLDER/built. Sources are copied there, so that the source tree stays clean.
# With tests, the packages that only they need (playwright-core, typescript) are fetched as well.
file(MAKE_DIRECTORY ${FOLDER})
file(REMOVE ${FOLDER}/built)

function(give_up why)
  message(STATUS "limber: the viewer is left out: ${why}")
  message(STATUS "limber: the command works without it, except 'limber view' and the reports; build again to get them")
  file(WRITE ${FOLDER}/page.html "")
endfunction()

find_program(NODE NAMES node nodejs)
find_program(NPM npm)
if(NOT NODE OR NOT NPM)
  give_up("it is built with Node.js 18 or later and npm (Debian packages nodejs and npm), which are not there")
  return()
endif()
execute_process(COMMAND ${NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
if(version MATCHES "^v([0-9]+)" AND CMAKE_MATCH_1 LESS 18)
  give_up("it needs Node.js 18 or later, found ${version}")
  return()
endif()

# Packages: again only when the lock file or what is wanted of it changed.
file(SHA256 ${SOURCE}/package-lock.json lock)
set(wanted "${lock} tests ${WITH_TESTS}")
set(have "")
if(EXISTS ${FOLDER}/packages AND EXISTS ${FOLDER}/node_modules)
  file(READ ${FOLDER}/packages have)
endif()
file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json ${SOURCE}/.npmrc DESTINATION ${FOLDER})
if(NOT have STREQUAL wanted)
  set(omit "")
  if(NOT WITH_TESTS)
    set(omit --omit=dev)
  endif()
  # A registry may be slow or busy: three tries.
  foreach(try 1 2 3)
    execute_process(COMMAND ${NPM} ci ${omit} --ignore-scripts --no-audit --no-fund --loglevel=error
                    WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(result EQUAL 0)
      break()
    endif()
  endforeach()
  if(NOT result EQUAL 0)
    message(STATUS "${output}")
    give_up("npm could not fetch its packages (no network?); its messages are above")
    return()
  endif()
  file(WRITE ${FOLDER}/packages "${wanted}")
endif()

file(REMOVE_RECURSE ${FOLDER}/src)
file(COPY ${SOURCE}/src ${SOURCE}/index.html ${SOURCE}/vite.config.js ${SOURCE}/tsconfig.json DESTINATION ${FOLDER})
execute_process(COMMAND ${NODE} node_modules/vite/bin/vite.js build --logLevel warn --emptyOutDir
                WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "limber: the viewer does not build; Vite's messages are above")
endif()
file(COPY_FILE ${FOLDER}/dist/index.html ${FOLDER}/page.html)
file(TOUCH ${FOLDER}/built)
