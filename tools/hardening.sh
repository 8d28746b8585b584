#!/bin/sh
# tools/hardening.sh FILE...
# Looks at programs and modules of a release: what the compiler and the linker were to make of them
# must be in them. Every complaint names the file; status 1 when there was any.
set -eu

complain()
{
    echo "hardening: $file: $*" >&2
    status=1
}

# Whether readelf OPTION shows PATTERN.
shows()
{
    readelf -W "$1" "$file" 2>/dev/null | grep -qE -e "$2"
}

# Programs are position independent and say so; modules are so by nature.
check_position()
{
    shows -h 'Type: +DYN' || complain 'is not position independent (-fPIE -pie)'
    case $file in
    *.so) ;;
    *) shows -d 'FLAGS_1.*\bPIE\b' || complain 'is no PIE' ;;
    esac
}

check_linking()
{
    shows -l GNU_RELRO || complain 'has no RELRO (-z relro)'
    shows -d '(BIND_NOW|FLAGS_1.*\bNOW\b)' || complain 'binds lazily, so its table of functions can be written (-z now)'
    shows -l 'GNU_STACK.* RW +0' || complain 'has a stack that can be executed (-z noexecstack)'
    ! shows -d 'TEXTREL' || complain 'changes its own code when it is loaded (TEXTREL)'
    ! shows -d '(RPATH|RUNPATH)' || complain 'names folders for its libraries (RPATH)'
    ! shows -l 'LOAD.* RWE ' || complain 'has memory that can be both written and executed'
}

# "puts_chk" comes with any level of _FORTIFY_SOURCE; which one it is, the build says (test/gates).
check_compiling()
{
    shows --dyn-syms '__stack_chk_fail' || complain 'has no stack protector (-fstack-protector-strong)'
    shows --dyn-syms '__[a-z]+_chk\b' || complain 'has no checked functions (-D_FORTIFY_SOURCE)'
}

# Of x86-64: that a return goes where the call was. On arm64 the C library's own start-up code
# decides whether a program can be marked; that it is compiled so is seen in test/gates.
check_control_flow()
{
    ! shows -h 'Machine:.*X86-64' || shows -n '\bSHSTK\b' ||
        complain 'is not marked for a shadow stack (-fcf-protection, -z shstk)'
}

[ $# -gt 0 ] || {
    echo 'usage: tools/hardening.sh FILE...' >&2
    exit 2
}
status=0
for file in "$@"; do
    [ -f "$file" ] || {
        complain 'is not there'
        continue
    }
    check_position
    check_linking
    check_compiling
    check_control_flow
done
exit $status
