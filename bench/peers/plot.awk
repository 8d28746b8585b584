# Bars, as an SVG picture, of what `table.awk -v form=values` says. -v title= -v wanted='KEY...'
# Each figure has its scale, in which peal's bar and the middle one are seen; a bar that is longer is cut, and ends in an arrow.

BEGIN {
    FS = "\t"
    split(wanted, order, " ")
    for (i in order)
        is_wanted[order[i]] = 1
    left = 220
    wide = 360
    step = 20
}

$1 in is_wanted {
    n = ++count[$1]
    what[$1] = $2
    who[$1, n] = $4
    number[$1, n] = $5 + 0
    text[$1, n] = $6
}

END {
    y = 34
    for (i = 1; i in order; i++)
        if (count[order[i]])
            draw(order[i])
    if (y == 34)
        exit
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 %d\" width=\"720\" height=\"%d\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n", y, y
    print "<style>text { fill: #1b1f24; } .soft { fill: #57606a; } .bar { fill: #9fb3c8; } .own { fill: #0b5cad; } .bare { fill: #d5dde5; }"
    print "@media (prefers-color-scheme: dark) { text { fill: #e6e9ec; } .soft { fill: #9aa4ae; } .bar { fill: #52667a; } .own { fill: #6db3f7; } .bare { fill: #343f4a; } }</style>"
    printf "<text x=\"8\" y=\"20\" font-size=\"15\" font-weight=\"600\">%s</text>\n", title
    printf "%s</svg>\n", body
}

function draw(key,    n, scale, length_of, name, kind, is_cut) {
    y += 22
    body = body sprintf("<text class=\"soft\" x=\"8\" y=\"%d\">%s</text>\n", y, what[key])
    y += 8
    scale = scale_of(key)
    for (n = 1; n <= count[key]; n++) {
        name = who[key, n]
        kind = name == "peal" ? "own" : name ~ /^bare/ ? "bare" : "bar"
        is_cut = number[key, n] > scale
        length_of = is_cut ? wide : scale > 0 ? wide * number[key, n] / scale : 0
        body = body sprintf("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", left - 8, y + 13, name)
        body = body sprintf("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\" rx=\"2\"/>", kind, left, y + 2, length_of)
        body = body sprintf("<text x=\"%.1f\" y=\"%d\">%s%s</text>\n", left + length_of + 6, y + 13, is_cut ? "\342\206\222 " : "", escaped(text[key, n]))
        y += step
    }
    y += 10
}

function escaped(words) {
    gsub(/&/, "\\&amp;", words)
    gsub(/</, "\\&lt;", words)
    return words
}

# Twice the middle one, at least what peal has; if nothing is far beyond that, the largest.
function scale_of(key,    i, n, j, kept, sorted, largest, own) {
    for (i = 1; i <= count[key]; i++) {
        if (text[key, i] ~ /^(did not survive|not ready)/)
            continue
        sorted[++n] = number[key, i]
        if (who[key, i] == "peal")
            own = number[key, i]
        largest = number[key, i] > largest ? number[key, i] : largest
    }
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && sorted[j - 1] > sorted[j]; j--) {
            kept = sorted[j]
            sorted[j] = sorted[j - 1]
            sorted[j - 1] = kept
        }
    kept = 2 * sorted[int((n + 1) / 2)]
    kept = kept > own ? kept : own
    return largest > 1.5 * kept ? kept : largest
}
