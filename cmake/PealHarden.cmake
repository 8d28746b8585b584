# What a release is hardened with, as far as compiler, linker and C library of this machine know it.
# tools/hardening.sh looks at the result.
#
#   PEAL_HARDEN_COMPILE   options of the compiler
#   PEAL_HARDEN_LINK      options of the linker, of programs and of modules

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)

set(PEAL_HARDEN_COMPILE "")
set(PEAL_HARDEN_LINK -Wl,-z,relro,-z,now,-z,noexecstack)

# Options that are not known are left out: CET is of x86, branch protection of arm64.
function(peal_harden_compile option result)
    check_c_compiler_flag("-Werror ${option}" ${result})
    if(${result})
        list(APPEND PEAL_HARDEN_COMPILE ${option})
        set(PEAL_HARDEN_COMPILE ${PEAL_HARDEN_COMPILE} PARENT_SCOPE)
    endif()
endfunction()

# The third level checks sizes that are known at run time only (glibc 2.34 with gcc 12 or clang 9).
set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
check_c_source_compiles("
    #include <string.h>
    #if !defined __USE_FORTIFY_LEVEL || __USE_FORTIFY_LEVEL < 3
    #error the second level is all there is
    #endif
    int main(void) { return 0; }" PEAL_HAS_FORTIFY_3)
unset(CMAKE_REQUIRED_FLAGS)
list(APPEND PEAL_HARDEN_COMPILE -U_FORTIFY_SOURCE)
if(PEAL_HAS_FORTIFY_3)
    list(APPEND PEAL_HARDEN_COMPILE -D_FORTIFY_SOURCE=3)
else()
    list(APPEND PEAL_HARDEN_COMPILE -D_FORTIFY_SOURCE=2)
endif()

peal_harden_compile(-fstack-protector-strong PEAL_HAS_STACK_PROTECTOR)
peal_harden_compile(-fstack-clash-protection PEAL_HAS_STACK_CLASH)
peal_harden_compile(-fcf-protection=full PEAL_HAS_CF_PROTECTION)
peal_harden_compile(-mbranch-protection=standard PEAL_HAS_BRANCH_PROTECTION)

# A program is marked for the shadow stack only if all its parts are, and the start-up code of some
# C libraries (Debian 12) is not marked, though it only calls and returns. So the linker is told.
# It is not told the same of branch targets: that code has none.
if(PEAL_HAS_CF_PROTECTION)
    check_linker_flag(C "-Wl,--fatal-warnings,-z,shstk" PEAL_HAS_SHADOW_STACK)
    if(PEAL_HAS_SHADOW_STACK)
        list(APPEND PEAL_HARDEN_LINK -Wl,-z,shstk)
    endif()
endif()
