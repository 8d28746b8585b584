# cmake -DINPUT=file -DOUTPUT=file.c -DNAME=identifier -P Embed.cmake
# A text as an array of C, with a NUL at its end.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n    ${bytes}0\n};\n")
