# awk -v name=peal-job -v section=5 -v about='a job of peal' -v date=2026-11-19 -v see='peal(1)' \
#     -f tools/man_page.awk docs/JOBS.md >peal-job.5
# A document of docs/ as a manual page. It knows what those documents use of Markdown: titles, paragraphs, lists, code,
# and tables, of which a row is a term (its first cell) and what is said of it.

# ---- words ----

# Backslashes, hyphens that are typed, and signs that roff reads at the start of a line.
function plain(text) {
    gsub(/\\\|/, "|", text)
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text
}

# A line of text: neither a request nor a control line.
function line_of(text) {
    return text ~ /^[.']/ ? "\\&" text : text
}

# Prints a text in lines of at most 78 bytes, as far as it has blanks.
function say(text,    list, count, i, line) {
    count = split(text, list, / +/)
    line = list[1]
    for (i = 2; i <= count; i++) {
        if (length(line) + 1 + length(list[i]) > 78) {
            print line_of(line)
            line = list[i]
        } else
            line = line " " list[i]
    }
    print line_of(line)
}

# Of `code`, **strong**, *slanted*, [text](link): code is bold, a link is its text.
function words(text,    out, at, end, rest) {
    out = ""
    while (match(text, /`[^`]+`|\*\*[^*]+\*\*|\*[A-Za-z][^*]*\*|\[[^][]*(\[[^][]*\][^][]*)*\]\([^)]*\)/)) {
        out = out plain(substr(text, 1, RSTART - 1))
        at = substr(text, RSTART, RLENGTH)
        rest = substr(text, RSTART + RLENGTH)
        if (at ~ /^`/)
            out = out "\\fB" plain(substr(at, 2, length(at) - 2)) "\\fR"
        else if (at ~ /^\*\*/)
            out = out "\\fB" plain(substr(at, 3, length(at) - 4)) "\\fR"
        else if (at ~ /^\*/)
            out = out "\\fI" plain(substr(at, 2, length(at) - 2)) "\\fR"
        else {
            end = match(at, /\]\([^)]*\)$/)
            out = out words(substr(at, 2, end - 2))
        }
        text = rest
    }
    return out plain(text)
}

# ---- what is being read ----

# The paragraph, or item of a list, that has been collected.
function flush_text() {
    if (text == "")
        return
    if (is_item)
        print ".IP \\(bu 3"
    else if (!after_title)
        print depth ? ".IP \"\" " depth : ".PP"
    say(words(text))
    text = ""
    is_item = 0
    after_title = 0
}

function end_code() {
    if (is_code)
        print ".EE\n.RE"
    is_code = 0
}

function begin_code() {
    flush_text()
    if (!is_code)
        print (after_title ? "" : ".PP\n") ".RS 4\n.EX"
    after_title = 0
    is_code = 1
}

function code_line(line) {
    line = plain(line)
    gsub(/\t/, "    ", line)
    print line == "" ? "\\&" : line_of(line)
}

function title(level, text) {
    flush_text()
    if (level == 1 && toupper(text) == "NAME")
        text = "The name" # the page's own has that title
    print level == 1 ? ".SH " quote(toupper(plain(text))) : ".SS " quote(words(text))
    after_title = 1
    depth = 0
}

function quote(text) {
    gsub(/"/, "\\(dq", text)
    return "\"" text "\""
}

# ---- tables ----

# Splits at the bars that are not behind a backslash.
function cells_of(line, cells,    count, i) {
    sub(/^\| ?/, "", line)
    sub(/ ?\| *$/, "", line)
    gsub(/\\\|/, "\001", line)
    count = split(line, cells, / ?\| ?/)
    for (i = 1; i <= count; i++)
        gsub(/\001/, "|", cells[i])
    return count
}

function table_row(line,    cells, count, i, told) {
    flush_text()
    count = cells_of(line, cells)
    if (!is_table) {
        is_table = 1
        columns = count
        for (i = 1; i <= count; i++)
            heads[i] = cells[i]
        return
    }
    if (line ~ /^\| *:?---/)
        return
    after_title = 0
    print ".TP"
    print "\\&" (cells[1] == "" ? "" : words(cells[1]))
    told = 0
    for (i = 2; i <= count; i++) {
        if (cells[i] == "")
            continue
        if (told)
            print ".br"
        say((columns > 2 && heads[i] != "" ? words(heads[i]) ": " : "") words(cells[i]))
        told = 1
    }
    if (!told)
        print "\\&"
}

# ---- the document ----

BEGIN {
    printf ".TH %s %s %s peal\n.SH NAME\n%s \\- %s\n", toupper(plain(name)), section, date, plain(name), plain(about)
    print ".SH DESCRIPTION"
    after_title = 1
}

/^```/ {
    if (is_fence)
        end_code()
    else
        begin_code()
    is_fence = !is_fence
    next
}
is_fence { code_line($0); next }

/^<!--.*-->$/ { next }
/^# / && !seen++ { next } # the page has its name
/^# / { end_code(); title(1, substr($0, 3)); next }
/^## / { end_code(); title(1, substr($0, 4)); next }
/^###+ / { end_code(); sub(/^#+ /, ""); title(2, $0); next }

/^    / && text == "" {
    if (!is_code)
        begin_code()
    for (; blanks > 0; blanks--)
        print "\\&"
    code_line(substr($0, 5))
    next
}
/^$/ {
    flush_text()
    is_table = 0
    if (is_code)
        blanks++
    next
}
{ if (is_code) end_code(); blanks = 0 }

/^\|/ { table_row($0); next }
/^ *[-*] / { flush_text(); sub(/^ *[-*] /, ""); is_item = 1; text = $0; depth = 3; next }
/^!\[/ { next }
/^ +/ { sub(/^ +/, "") }
{
    if (text == "" && !is_item)
        depth = 0
    text = text == "" ? $0 : text " " $0
}

END {
    flush_text()
    end_code()
    print ".SH SEE ALSO"
    say(plain(see))
}
