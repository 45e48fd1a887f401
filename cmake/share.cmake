# Data that the tool finds beside itself: <build>/share/msda-tune-shipped, laid out as it is installed.
file(GLOB_RECURSE share_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/* ${CMAKE_SOURCE_DIR}/search_spaces/*)
set(share_devices ${CMAKE_SOURCE_DIR}/db/devices.ini)
if(NOT EXISTS ${share_devices})
  file(WRITE ${CMAKE_BINARY_DIR}/no_devices.ini "")
  set(share_devices ${CMAKE_BINARY_DIR}/no_devices.ini)
endif()
set(share_stamp ${CMAKE_BINARY_DIR}/share.stamp)
# Folders are made anew, so that a file that was removed in the source goes away here too.
add_custom_command(OUTPUT ${share_stamp}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${MT_SHARE_DIR}/kernels ${MT_SHARE_DIR}/search_spaces
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/kernels ${MT_SHARE_DIR}/kernels
  COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/search_spaces ${MT_SHARE_DIR}/search_spaces
  COMMAND ${CMAKE_COMMAND} -E copy ${share_devices} ${MT_SHARE_DIR}/devices.ini
  COMMAND ${CMAKE_COMMAND} -E touch ${share_stamp}
  DEPENDS ${share_sources} ${share_devices} VERBATIM)
set(share_outputs ${share_stamp})

# Recorded GPUs: the shipped JSON lines become one database, made by the tool itself elsewhere first, so that a half-made one is never found.
# Tuned rows likewise, as measured: the lookup library answers from them where the user has no own. Code for them is not in the source: MT_COMPILE_TUNED makes it while building, and
# `msda-tune compile --db …/tuned.sqlite --seal` wherever there is NVRTC.
set(MT_IMPORT_TOOL "" CACHE FILEPATH "Another build's msda-tune, which imports what is shipped in the place of this one (under ThreadSanitizer that takes ten times as long)")
function(mt_share_database name origin comment)
  set(database ${MT_SHARE_DIR}/${name})
  set(part ${CMAKE_BINARY_DIR}/${name}.part) # the tool writes nothing into the shipped folder
  if(NOT ARGN)
    file(REMOVE ${database}) # the last of its files was removed in the source
    return()
  endif()
  set(files ${ARGN})
  list(SORT files)
  set(importer msda-tune)
  if(MT_IMPORT_TOOL)
    set(importer ${MT_IMPORT_TOOL})
  endif()
  set(compile "")
  if(origin STREQUAL measured AND MT_COMPILE_TUNED)
    set(compile COMMAND ${importer} compile --db ${part} --seal)
  endif()
  add_custom_command(OUTPUT ${database}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${part} ${part}-wal ${part}-shm
    COMMAND ${CMAKE_COMMAND} -E make_directory ${MT_SHARE_DIR}
    COMMAND ${importer} import --db ${part} --as ${origin} --seal ${files}
    ${compile}
    COMMAND ${CMAKE_COMMAND} -E rename ${part} ${database}
    DEPENDS ${importer} ${files} ${share_stamp} COMMENT "${comment}" VERBATIM)
  set(share_outputs ${share_outputs} ${database} PARENT_SCOPE)
  install(FILES ${database} DESTINATION ${CMAKE_INSTALL_DATADIR}/msda-tune-shipped)
endfunction()
file(GLOB recordings CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/db/recordings/*.jsonl.zst)
file(GLOB tuned CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/db/tuned/*.jsonl)
mt_share_database(recordings.sqlite recorded "Importing recorded GPUs" ${recordings})
mt_share_database(tuned.sqlite measured "Importing shipped tuned rows" ${tuned})
add_custom_target(share_data ALL DEPENDS ${share_outputs})

install(DIRECTORY ${CMAKE_SOURCE_DIR}/kernels ${CMAKE_SOURCE_DIR}/search_spaces DESTINATION ${CMAKE_INSTALL_DATADIR}/msda-tune-shipped)
install(FILES ${share_devices} DESTINATION ${CMAKE_INSTALL_DATADIR}/msda-tune-shipped)
