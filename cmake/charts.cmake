# The report's charts: Apache ECharts, installed from reports/web/package-lock.json and bundled with our own code. MT_CHARTS: AUTO takes them where npm can fetch them, ON insists,
# OFF leaves them out. Without them the report has its tables, and says so.
set(MT_CHARTS AUTO CACHE STRING "Charts in the report: AUTO, ON or OFF (need npm, and network or its cache)")
set_property(CACHE MT_CHARTS PROPERTY STRINGS AUTO ON OFF)
set(MT_WEB_DIR ${CMAKE_BINARY_DIR}/web)
set(MT_WITH_CHARTS OFF)

# Copies what npm reads into the build folder and installs there, once for each state of the lock file. Sets MT_WITH_CHARTS or charts_missing.
function(mt_charts_install)
  find_program(MT_NPM npm)
  find_program(MT_NODE NAMES node nodejs)
  if(NOT MT_NPM OR NOT MT_NODE)
    set(charts_missing "npm is not installed" PARENT_SCOPE)
    return()
  endif()
  set(web ${CMAKE_SOURCE_DIR}/reports/web)
  file(SHA256 ${web}/package-lock.json lock)
  set(omit --omit=dev)
  if(MT_BUILD_TESTS)
    set(omit "") # the tests drive a browser
    string(APPEND lock -tests)
  endif()
  if(NOT EXISTS ${MT_WEB_DIR}/installed-${lock})
    file(COPY ${web}/package.json ${web}/package-lock.json ${web}/.npmrc DESTINATION ${MT_WEB_DIR})
    # npm waits minutes for a network that is not there, unless told otherwise.
    execute_process(COMMAND ${MT_NPM} ci ${omit} --ignore-scripts --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --fetch-timeout=30000
      WORKING_DIRECTORY ${MT_WEB_DIR} TIMEOUT 240 RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(failed)
      file(WRITE ${MT_WEB_DIR}/npm.log "${output}")
      set(charts_missing "npm ci failed (${MT_WEB_DIR}/npm.log)" PARENT_SCOPE)
      return()
    endif()
    file(GLOB stamps ${MT_WEB_DIR}/installed-*)
    file(REMOVE ${stamps} ${MT_WEB_DIR}/npm.log)
    file(TOUCH ${MT_WEB_DIR}/installed-${lock})
  endif()
  set(MT_WITH_CHARTS ON PARENT_SCOPE)
endfunction()

if(MT_CHARTS)
  mt_charts_install()
  if(MT_WITH_CHARTS)
    message(STATUS "Charts in the report: Apache ECharts")
  elseif(MT_CHARTS STREQUAL "AUTO")
    message(STATUS "Built without charts in the report: ${charts_missing}")
  else()
    message(FATAL_ERROR "MT_CHARTS is ON: ${charts_missing}")
  endif()
endif()

# mt_charts(TARGET): the bundle and the notices of what is in it, embedded in TARGET.
function(mt_charts target)
  if(NOT MT_WITH_CHARTS)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/reports/web/charts/*.js)
  add_custom_command(OUTPUT ${MT_WEB_DIR}/charts.js ${MT_WEB_DIR}/notices.txt
    COMMAND ${MT_NODE} ${CMAKE_SOURCE_DIR}/reports/web/bundle.js ${MT_WEB_DIR}
    DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/reports/web/bundle.js ${CMAKE_SOURCE_DIR}/reports/web/package-lock.json COMMENT "Bundling the report's charts" VERBATIM)
  mt_embed(${target} ${MT_WEB_DIR}/charts.js mt_reports_charts_js)
  mt_embed(${target} ${MT_WEB_DIR}/notices.txt mt_reports_notices_txt)
  target_compile_definitions(${target} PRIVATE MT_WITH_CHARTS)
  install(FILES ${MT_WEB_DIR}/notices.txt DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright.charts) # beside the package's copyright
endfunction()
