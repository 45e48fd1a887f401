# The Python packages: PREFIX/lib/python3/dist-packages, which needs no version of Python. A Python that looks for packages elsewhere in PREFIX (~/.local, /usr/local, a venv) is led there; which is said.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/tunelookup ${CMAKE_SOURCE_DIR}/python/msda_tune DESTINATION lib/python3/dist-packages COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(CODE "set(script \"${CMAKE_SOURCE_DIR}/cmake/python_path.py\")" COMPONENT python)
install(CODE [[
  find_program(python NAMES python3 HINTS ${CMAKE_INSTALL_PREFIX}/bin)
  if(python AND "$ENV{DESTDIR}" STREQUAL "")
    execute_process(COMMAND ${python} ${script} ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(said)
      message(STATUS "${said}")
    endif()
  endif()
]] COMPONENT python)
