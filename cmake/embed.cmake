# mt_embed(TARGET FILE SYMBOL): puts a text file into TARGET as `const unsigned char SYMBOL[]` (NUL-terminated), `const size_t SYMBOL_size` and
# `const char SYMBOL_sha256[]`, the hash in base64 as a Content-Security-Policy names it. FILE may be made by the build.
function(mt_embed target file symbol)
  get_filename_component(path ${file} ABSOLUTE)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${path} -DOUT=${out} -DSYMBOL=${symbol} -P ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    DEPENDS ${path} ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
