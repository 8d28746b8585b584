# The one place that knows how peal is compiled: language, warnings, sanitizers, and what a layer is.
# What a release is hardened with is in PealHarden.cmake.

include(CheckLinkerFlag)
include(PealHarden)

option(PEAL_TESTS "Build the tests" OFF)
option(PEAL_FUZZ "Build the fuzzers (clang: libFuzzer; else corpus replay only)" OFF)
option(PEAL_BENCH "Build the benchmarks" OFF)
option(PEAL_WERROR "Treat warnings as errors" OFF)
option(PEAL_TSAN "Build with ThreadSanitizer" OFF)
option(PEAL_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # a layer goes into programs and into modules
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()

add_compile_options(
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wswitch-enum -Wimplicit-fallthrough -Wformat=2 -Wpointer-arith -Wundef
    -fno-common -fno-omit-frame-pointer)
add_compile_definitions(_GNU_SOURCE)
if(PEAL_WERROR)
    add_compile_options(-Werror)
endif()

# Asserts catch our own bugs and stay on in release builds.
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")

if(PEAL_SANITIZE)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined)
    add_link_options(-fsanitize=address,undefined)
    # Hundreds of test programs: this linker takes half the time, where there is one.
    check_linker_flag(C -fuse-ld=gold PEAL_HAS_GOLD)
    if(PEAL_HAS_GOLD AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
        add_link_options(-fuse-ld=gold)
    endif()
elseif(PEAL_TSAN)
    # What gcc makes of instrumented code it then takes for uninitialized.
    add_compile_options(-fsanitize=thread $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    add_link_options(-fsanitize=thread)
elseif(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" OR CMAKE_BUILD_TYPE STREQUAL "Release")
    add_compile_options(${PEAL_HARDEN_COMPILE})
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie> ${PEAL_HARDEN_LINK})
endif()

# The fuzzers need code that reports its coverage, which clang alone can make.
set(PEAL_LIBFUZZER OFF)
if(PEAL_FUZZ AND PEAL_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "Clang")
    set(PEAL_LIBFUZZER ON)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# peal_layer(NAME SOURCES file... [USES layer-or-library...])
# A layer is a static library whose headers are seen only by those that name it in USES, so that
# an include which points upward does not compile.
function(peal_layer name)
    cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
    add_library(peal_${name} STATIC ${arg_SOURCES})
    target_include_directories(peal_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    foreach(use IN LISTS arg_USES)
        if(TARGET peal_${use})
            target_link_libraries(peal_${name} PUBLIC peal_${use})
        else()
            target_link_libraries(peal_${name} PUBLIC ${use})
        endif()
    endforeach()
endfunction()

# Sets RET_LAYERS to the layers that `target` consists of, itself included, and RET_OTHERS to what they
# use of others, each as the layer names it.
function(peal_parts target ret_layers ret_others)
    set(layers "")
    set(others "")
    set(unseen ${target})
    while(unseen)
        list(POP_FRONT unseen part)
        if(part MATCHES "^peal_" AND NOT part IN_LIST layers)
            list(APPEND layers ${part})
            get_target_property(uses ${part} INTERFACE_LINK_LIBRARIES)
            if(uses)
                list(APPEND unseen ${uses})
            endif()
        elseif(NOT part MATCHES "^(peal_|::@)" AND NOT part IN_LIST others)
            list(APPEND others ${part})
        endif()
    endwhile()
    set(${ret_layers} ${layers} PARENT_SCOPE)
    set(${ret_others} ${others} PARENT_SCOPE)
endfunction()

# peal_module(NAME LAYER SOURCE)
# A layer as a module, lib/peal/peal-NAME.so, with a copy of the layers below it; SOURCE has its one
# symbol. src/module/module.h says who loads it. What of it differs between two builds is seen when it is loaded, if src/module/CMakeLists.txt
# knows all of its layers.
function(peal_module name layer source)
    peal_parts(peal_${layer} parts others)
    foreach(part IN LISTS parts)
        get_target_property(folder ${part} SOURCE_DIR)
        cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src)
        if(NOT folder IN_LIST module_layers)
            message(FATAL_ERROR "the module ${name} has the layer ${folder}: name it in src/module/CMakeLists.txt")
        endif()
    endforeach()
    set(map ${PROJECT_SOURCE_DIR}/src/module/module.map)
    add_library(peal-${name} MODULE ${source})
    target_link_libraries(peal-${name} PRIVATE peal_${layer} peal_module)
    target_link_options(peal-${name} PRIVATE -Wl,--version-script=${map})
    set_target_properties(peal-${name} PROPERTIES
        PREFIX ""
        LINK_DEPENDS ${map}
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/../lib/peal)
    install(TARGETS peal-${name} LIBRARY DESTINATION lib/peal)
endfunction()
