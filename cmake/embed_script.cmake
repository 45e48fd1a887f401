# Run by mt_embed: writes OUT, a C file that holds the bytes of IN and their SHA-256.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REPEAT "0x..," 20 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")

# Base64 of the 32 bytes: three bytes, six hex digits, are four characters; the last two bytes are filled up with zeros.
file(SHA256 ${IN} rest)
set(rest "${rest}00")
set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
set(base64 "")
while(NOT rest STREQUAL "")
  string(SUBSTRING ${rest} 0 6 digits)
  string(SUBSTRING ${rest} 6 -1 rest)
  foreach(shift 18 12 6 0)
    math(EXPR index "(0x${digits} >> ${shift}) & 63")
    string(SUBSTRING ${alphabet} ${index} 1 character)
    string(APPEND base64 ${character})
  endforeach()
endwhile()
string(REGEX REPLACE ".$" "=" base64 ${base64})

file(WRITE ${OUT} "#include <stddef.h>\nextern const unsigned char ${SYMBOL}[];\nextern const size_t ${SYMBOL}_size;\nextern const char ${SYMBOL}_sha256[];\n"
  "const unsigned char ${SYMBOL}[] = {\n${bytes}0};\nconst size_t ${SYMBOL}_size = sizeof ${SYMBOL} - 1;\nconst char ${SYMBOL}_sha256[] = \"${base64}\";\n")
