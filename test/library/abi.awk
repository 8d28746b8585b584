# Makes a C program of peal.h, as plain_header() of lib.sh has it, that prints what programs that are
# compiled already depend on: sizes of structs, where their members are, values of enumerators.

BEGIN {
    print "#include <peal.h>\n#include <stdio.h>\nint main(void)\n{"
}

/^(typedef )?struct [a-z_]+ \{$/ {
    of = $(NF - 1)
    next
}

/^enum.*\{$/ {
    in_enum = 1
    next
}

# NAME = VALUE, NAME, ... }
in_enum {
    while (match($0, /PEAL_[A-Z_0-9]+/)) {
        name = substr($0, RSTART, RLENGTH)
        printf "    printf(\"%s = %%d\\n\", %s);\n", name, name
        $0 = substr($0, RSTART + RLENGTH)
    }
    in_enum = 0
    next
}

of && /^\}/ {
    printf "    printf(\"%s size %%zu\\n\", sizeof(%s));\n", of, of
    of = ""
}

# The name is before ; or [, or is that of a pointer to a function.
of && /;$/ {
    if (sub(/^[^(]*\(\*/, ""))
        sub(/\).*/, "")
    else {
        sub(/[\[;].*/, "")
        sub(/.*[ *]/, "")
    }
    printf "    printf(\"%s.%s at %%zu size %%zu\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n",
        of, $0, of, $0, of, $0
}

END {
    print "    return 0;\n}"
}
