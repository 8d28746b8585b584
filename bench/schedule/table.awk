# The figures of peal and its peers, side by side, and whether the budget is kept: ahead of every
# peer in every case, and never more than 2 us. Reads cases.tsv; the figures are in dir/NAME.out.

BEGIN {
    FS = "\t"
    budget_ns = 2000
    peers = split("robfig cronexpr croner", names, " ")
    measures = split("parse,next in sequence,next from random instants", titles, ",")
    read("peal")
    for (p = 1; p <= peers; p++)
        read(names[p])
}

/^#/ { next }

{
    count++
    label[count] = $4 ($1 == "UTC" ? "" : "  " $1) ($2 > 2100 ? ", " $2 "+" : "")
}

END {
    for (m = 1; m <= measures; m++)
        table(m)
    verdict()
    exit broken
}

function read(name,    line, fields, row, n, i) {
    available[name] = 0
    while ((getline line < (dir "/" name ".out")) > 0) {
        available[name] = 1
        row++
        n = split(line, fields, "\t")
        supported[name, row] = n > 1
        for (i = 1; i <= n; i++)
            figure[name, row, i] = fields[i]
    }
}

# A peer's cell: its time and how many times peal's that is. One whose answer differs (it reads the
# expression in another way, or gives up) is not compared.
function cell(name, row, m,    ns, ratio) {
    if (!available[name])
        return "-"
    if (!supported[name, row])
        return "unsupported"
    if (figure[name, row, 4] != figure["peal", row, 4])
        return "other answer"
    ns = figure[name, row, m]
    ratio = ns / figure["peal", row, m]
    compared++
    if (ratio > 1)
        ahead++
    else
        behind[++behinds] = titles[m] ", " label[row] ", " name
    if (!least || ratio < least)
        least = ratio
    return sprintf("%.0f (%.*fx)", ns, ratio < 10, ratio)
}

function table(m,    row, p) {
    printf "\n%-38s %9s", titles[m] ", ns", "peal"
    for (p = 1; p <= peers; p++)
        printf " %17s", names[p]
    if (m == 3)
        printf " %11s", "peal worst"
    print ""
    for (row = 1; row <= count; row++) {
        printf "%-38s %9.0f", label[row], figure["peal", row, m]
        for (p = 1; p <= peers; p++)
            printf " %17s", cell(names[p], row, m)
        if (m == 3)
            printf " %11.0f", figure["peal", row, 5]
        print ""
        if (m == 3 && figure["peal", row, 5] > worst) {
            worst = figure["peal", row, 5]
            worst_label = label[row]
        }
    }
}

function verdict(    i) {
    print ""
    for (i = 1; i <= behinds; i++)
        print "behind: " behind[i]
    broken = behinds > 0 || worst > budget_ns
    printf "budget %s: ", broken ? "BROKEN" : compared ? "kept" : "half shown"
    if (compared)
        printf "ahead in %d of %d comparisons (least %.1fx)", ahead, compared, least
    else
        printf "no peer to compare with"
    printf "; worst next() %.0f ns of %d, for %s", worst, budget_ns, worst_label
    printf "; %d of %d peers not available\n", missing, peers
}
