# Data that the tool finds beside itself: <build>/share/msda-tune, laid out as it is installed.
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

# Recorded GPUs: the shipped JSON lines become one database, made by the tool itself under another name first, so that a half-made one is never found.
file(GLOB recordings CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/db/recordings/*.jsonl.zst)
if(recordings)
  list(SORT recordings)
  set(recordings_db ${MT_SHARE_DIR}/recordings.sqlite)
  add_custom_command(OUTPUT ${recordings_db}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${recordings_db}.part ${recordings_db}.part-wal ${recordings_db}.part-shm
    COMMAND ${CMAKE_COMMAND} -E make_directory ${MT_SHARE_DIR}
    COMMAND msda-tune import --db ${recordings_db}.part --as recorded ${recordings}
    COMMAND ${CMAKE_COMMAND} -E rename ${recordings_db}.part ${recordings_db}
    DEPENDS msda-tune ${recordings} COMMENT "Importing recorded GPUs" VERBATIM)
  list(APPEND share_outputs ${recordings_db})
  install(FILES ${recordings_db} DESTINATION ${CMAKE_INSTALL_DATADIR}/msda-tune)
endif()
add_custom_target(share_data ALL DEPENDS ${share_outputs})

install(DIRECTORY ${CMAKE_SOURCE_DIR}/kernels ${CMAKE_SOURCE_DIR}/search_spaces DESTINATION ${CMAKE_INSTALL_DATADIR}/msda-tune)
install(FILES ${share_devices} DESTINATION ${CMAKE_INSTALL_DATADIR}/msda-tune)
