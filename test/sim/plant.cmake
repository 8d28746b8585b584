# cmake -DIN=file -DOUT=file -DFROM=text -DTO=text -P plant.cmake
# Copies a source with one mistake planted into it.
file(READ ${IN} code)
string(FIND "${code}" "${FROM}" place)
if(place EQUAL -1)
    message(FATAL_ERROR "${IN} has changed: there is no \"${FROM}\" to plant a mistake at")
endif()
string(REPLACE "${FROM}" "${TO}" code "${code}")
file(WRITE ${OUT} "${code}")
