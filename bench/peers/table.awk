# Medians of what run.sh has measured (BUILD_DIR/bench/peers/ROW.tsv). -v form=
#   text     a line for each figure of each program, with its rounds and the load average beside it;
#            the status is 1 where peal is behind a library
#   long     the same as a table in Markdown
#   short    one line for each program, in Markdown: the table of the README
#   values   KEY, WHAT, UNIT, WHO, NUMBER, TEXT of each figure: for plot.awk

BEGIN {
    FS = "\t"
    # in the order of the tables; those with a budget: peal must be ahead of every library, or (2) of those
    # that read the outputs as it does
    define("p50_ms", "100 at each second, late p50", "100 each second, late p50", "ms", 2, "less", 1)
    define("p99_ms", "100 at each second, late p99", "p99", "ms", 2, "less", 1)
    define("last_1000", "1,000 at one instant, the last", "1,000 at once, last", "s", 3, "less", 1)
    define("last_5000", "5,000 at one instant, the last", "5,000 at once, last", "s", 3, "less", 1)
    define("rate", "10,000 due a second, starts", "10,000 due a second", "/s", 0, "more", 1)
    define("cpu_s", "100 at each second, CPU in 60 s", "CPU, 100/s for 60 s", "s", 2, "less", 2)
    define("resident_mb", "100 at each second, resident", "resident", "MB", 1, "less", 0)
    define("missed_each", "100 at each second, missed in 7 s", "missed", "", 0, "less", 0)
    define("missed_1000", "1,000 at one instant, missed", "missed", "", 0, "less", 0)
    define("missed_5000", "5,000 at one instant, missed", "missed", "", 0, "less", 0)
    define("mb_1000", "1,000 jobs, resident", "1,000 jobs", "MB", 1, "less", 0)
    define("mb_10000", "10,000 jobs, resident", "10,000 jobs", "MB", 1, "less", 0)
    define("mb_100000", "100,000 jobs, resident", "100,000 jobs", "MB", 1, "less", 0)
    define("idle_1000", "1,000 jobs, CPU in 60 s, none due", "idle", "s", 2, "less", 0)
    define("idle_10000", "10,000 jobs, CPU in 60 s, none due", "idle", "s", 2, "less", 0)
    define("idle_100000", "100,000 jobs, CPU in 60 s, none due", "idle", "s", 2, "less", 0)
    define("list_1000", "1,000 jobs, GET of 50", "GET of 50 of 1,000", "ms", 2, "less", 0)
    define("list_10000", "10,000 jobs, GET of 50", "of 10,000", "ms", 2, "less", 0)
    define("list_100000", "100,000 jobs, GET of 50", "of 100,000", "ms", 2, "less", 0)
    define("gap_s", "killed, until the next start", "gap", "s", 2, "less", 0)
    define("gone_missed", "killed, ticks missed in a round", "missed", "", 0, "less", 0)
    define("gone_doubled", "killed, ticks started twice in a round", "twice", "", 0, "less", 0)
    define("most_mb", "10,000 due a second, most resident", "at most", "MB", 1, "less", 0)
    level = 0.95 # what differs by less is the same: so much do rounds differ
    programs = split("peal peal3 gocron gocron_output robfig robfig_output supercronic cron apscheduler quartz bree dkron bare1 bare2 bare_kept", names, " ")
    title["peal"] = "peal"
    title["gocron"] = "gocron"
    title["robfig"] = "robfig/cron"
    title["bare1"] = "bare loop"
    title["bare2"] = "bare loop, 2 processes"
    title["bare_kept"] = "bare loop, outputs and records kept"
    is_library["gocron"] = is_library["robfig"] = is_library["gocron_output"] = is_library["robfig_output"] = 1
    title["supercronic"] = "supercronic"
    title["cron"] = "cron of Debian"
    title["apscheduler"] = "APScheduler"
    title["quartz"] = "Quartz"
    title["bree"] = "bree"
    title["dkron"] = "dkron"
    title["peal3"] = "peal, leader of three nodes"
}

$1 == "about" {
    if (!seen[$2, $3]++)
        about[$2] = about[$2] (about[$2] == "" ? "" : ", ") $3
    next
}

# It has died of the work: the reason of the last time.
$1 == "died" {
    deaths[$2, $3]++
    reason[$2, $3] = $4
    next
}

# It has nothing like that.
$1 == "none" {
    has_none[$2, $3] = 1
    next
}

{
    n = ++rounds[$1, $2]
    value[$1, $2, n] = $3
    load[$1, $2] += $4
    busy[$1, $2] += $5
    busiest = $5 > busiest ? $5 : busiest
}

END {
    for (p = 1; p <= programs; p++)
        if (("version of " names[p]) in about)
            title[names[p]] = title[names[p]] " " about["version of " names[p]]
    title["gocron_output"] = title["gocron"] ", outputs read"
    title["robfig_output"] = title["robfig"] ", outputs read"
    if (form == "short")
        short()
    else if (form == "values")
        values()
    else
        all_figures()
    exit missed > 0 && form == "text"
}

function define(key, what, column, unit, digits, better, budget) {
    keys[++figures] = key
    what_of[key] = what
    column_of[key] = column
    unit_of[key] = unit
    digits_of[key] = digits
    better_of[key] = better
    has_budget[key] = budget
}

# Puts the rounds in order; the middle one.
function median(key, name,    i, j, kept, count) {
    count = rounds[key, name]
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && value[key, name, j - 1] + 0 > value[key, name, j] + 0; j--) {
            kept = value[key, name, j]
            value[key, name, j] = value[key, name, j - 1]
            value[key, name, j - 1] = kept
        }
    return value[key, name, int((count + 1) / 2)]
}

function number(key, n,    text) {
    text = sprintf("%.*f", digits_of[key], n)
    return digits_of[key] == 0 && n >= 1000 ? int(n / 1000) "," sprintf("%03d", n % 1000) : text
}

function with_unit(key, n) {
    return number(key, n) (unit_of[key] ~ "^/" ? "" : " ") unit_of[key]
}

# How peal compares: 1.2 is a fifth better than the other, whichever way better is.
function times(key, ours, theirs) {
    if (ours <= 0 || theirs <= 0)
        return 1
    return better_of[key] == "less" ? theirs / ours : ours / theirs
}

function compared(ratio) {
    return sprintf("%.2f x %s", ratio < 1 ? 1 / ratio : ratio, ratio < 1 ? "worse" : "better")
}

# It was alive, and not ready.
function is_late(key, name) {
    return reason[key, name] ~ /^not ready/
}

function outcome(key, name) {
    return is_late(key, name) ? reason[key, name] : "did not survive"
}

# Does peal have to be ahead of it in this figure?
function is_rival(name, key) {
    return is_library[name] && (has_budget[key] == 1 || (has_budget[key] == 2 && name ~ /_output$/))
}

function row(what, who, figure, between, at, others, ratio) {
    if (form == "long")
        printf "| %s | %s | %s | %s | %s | %s | %s |\n", what, who, figure, between, at, others, ratio
    else
        printf "%-39s %-33s %10s %17s %6s %6s  %s\n", what, who, figure, between, at, others, ratio
}

function all_figures(    f, p, key, name, ours, theirs, count, ratio) {
    row("what", "who", "median", "rounds", "load", "busy", "peal is")
    if (form == "long")
        print "| --- | --- | --- | --- | --- | --- | --- |"
    for (f = 1; f <= figures; f++) {
        key = keys[f]
        if (!((key, "peal") in rounds))
            continue
        ours = median(key, "peal")
        for (p = 1; p <= programs; p++) {
            name = names[p]
            count = rounds[key, name]
            if (!count && (key, name) in deaths)
                row(what_of[key], title[name], outcome(key, name), is_late(key, name) ? "" : reason[key, name], "", "", "")
            else if (!count && (key, name) in has_none)
                row(what_of[key], title[name], "-", "", "", "", "")
            if (!count)
                continue
            theirs = median(key, name)
            ratio = name == "peal" || ours <= 0 || theirs <= 0 ? "" : compared(times(key, ours, theirs))
            if (is_rival(name, key) && times(key, ours, theirs) < level) {
                missed++
                ratio = ratio (form == "text" ? " MISSED" : "")
            }
            if ((key, name) in deaths)
                ratio = ratio (ratio ? "; " : "") outcome(key, name) ", " deaths[key, name] " times: " reason[key, name]
            row(what_of[key], title[name], with_unit(key, theirs),
                number(key, value[key, name, 1]) " to " number(key, value[key, name, count]),
                sprintf("%.2f", load[key, name] / count), sprintf("%.2f", busy[key, name] / count), ratio)
        }
    }
}

function short(    f, p, line, key) {
    line = "| |"
    for (f = 1; f <= figures; f++)
        if (shown(f))
            line = line " " column_of[keys[f]] (keys[f] == "p50_ms" ? ", p99" : "") " |"
    print line " keeps |"
    gsub(/[^|]+/, " --- ", line)
    print line " --- |"
    for (p = 1; p <= programs; p++) {
        if (!is_shown(names[p]))
            continue
        line = "| " title[names[p]] " |"
        for (f = 1; f <= figures; f++)
            if (shown(f))
                line = line " " cell(keys[f], names[p]) " |"
        print line " " keeps(names[p]) " |"
    }
    summary()
}

function is_shown(name,    f) {
    for (f = 1; f <= figures; f++)
        if (shown(f) && ((keys[f], name) in rounds || (keys[f], name) in deaths))
            return 1
    return 0
}

function values(    f, p) {
    for (f = 1; f <= figures; f++)
        for (p = 1; p <= programs; p++)
            if ((keys[f], names[p]) in rounds)
                printf "%s\t%s\t%s\t%s\t%s\t%s\n", keys[f], what_of[keys[f]], unit_of[keys[f]], title[names[p]],
                    median(keys[f], names[p]), with_unit(keys[f], median(keys[f], names[p]))
            else if ((keys[f], names[p]) in deaths)
                printf "%s\t%s\t%s\t%s\t0\t%s\n", keys[f], what_of[keys[f]], unit_of[keys[f]], title[names[p]],
                    outcome(keys[f], names[p]) (is_late(keys[f], names[p]) ? "" : ": " reason[keys[f], names[p]])
}

function keeps(name) {
    return name == "peal" ? "claim, record, output" : "nothing"
}

# How peal compares with the best of the libraries, in all figures, and where that was: as they start programs
# in the cheapest way, and as they read the outputs.
function summary() {
    compare(0)
    print ""
    say("Ahead of the libraries", "ahead")
    say("Level with the better one, within a twentieth", "level")
    say("Behind the better one", "behind")
    delete places
    compare(1)
    say("Beside the libraries that read both outputs, as peal does: ahead", "ahead")
    say("Beside those, level", "level")
    say("Beside those, behind", "behind")
    print ""
    printf "Medians of %s rounds, %s: %s cores, Linux %s, %s, peal %s; before a row the load average was %s, and before a measurement at most %.2f cores were busy.\n",
        about["rounds"], about["date"], about["cores"], about["kernel"], about["go"], about["peal"],
        about["load"], busiest
}

function compare(is_read,    f, p, key, ratio, least) {
    for (f = 1; f <= figures; f++) {
        key = keys[f]
        least = 0
        for (p = 1; p <= programs; p++) {
            if (!is_library[names[p]] || (names[p] ~ /_output$/) != is_read || !((key, names[p]) in rounds))
                continue
            ratio = times(key, median(key, "peal"), median(key, names[p]))
            least = !least || ratio < least ? ratio : least
        }
        if (least && is_compared(key))
            put(least > 1 / level ? "ahead" : least < level ? "behind" : "level",
                what_of[key] sprintf(" (%.2f x)", least < 1 ? 1 / least : least))
    }
}

# What is missed, what a kill does, how long a list takes, and what jobs that are not due cost, is only shown.
function is_compared(key) {
    return key !~ /^(missed|mb|idle|list|gap|gone)_/
}

function put(where, what) {
    places[where] = places[where] (places[where] == "" ? "" : "; ") what
}

function say(words, where) {
    if (places[where] != "")
        print "- " words ": " places[where] "."
}

# p99 shares a column with p50.
function shown(f) {
    return keys[f] ~ /^(p50_ms|last_|rate|cpu_s|resident_mb)/
}

function cell(key, name) {
    if (!((key, name) in rounds))
        return (key, name) in deaths ? outcome(key, name) : "-"
    if (key == "p50_ms")
        return number(key, median(key, name)) ", " with_unit("p99_ms", median("p99_ms", name))
    return with_unit(key, median(key, name))
}
