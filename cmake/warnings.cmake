# Flags that every target of the project gets.
add_library(mt_flags INTERFACE)
target_compile_options(mt_flags INTERFACE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
  -Wundef -Wpointer-arith -Wno-unused-parameter)
target_compile_definitions(mt_flags INTERFACE _GNU_SOURCE MT_VERSION="${PROJECT_VERSION}")
target_include_directories(mt_flags INTERFACE ${CMAKE_SOURCE_DIR})
if(MT_SANITIZE)
  target_compile_options(mt_flags INTERFACE -fsanitize=${MT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(mt_flags INTERFACE -fsanitize=${MT_SANITIZE})
endif()
if(MT_FUZZ) # what is fuzzed is in the libraries: without their coverage libFuzzer walks blindly
  target_compile_options(mt_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(mt_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
