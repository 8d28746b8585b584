# cmake -DROOT=folder -DFILES=file -DHOW=text -DNAME=identifier -DOUTPUT=file.h -P digest.cmake
# A digest of the files that FILES lists, with their names below ROOT, and of HOW they are compiled, as a macro. The header is
# written only if it changes.
file(STRINGS ${FILES} files)
set(all "${HOW}\n")
foreach(file IN LISTS files)
    file(SHA256 ${ROOT}/${file} digest)
    string(APPEND all "${digest} ${file}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 12 digest)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define @NAME@ \"@digest@\"\n" @ONLY)
