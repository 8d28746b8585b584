# Medians of what run.sh has measured (BUILD_DIR/bench/lib_figures/ROW.tsv). -v form=
#   text     a line for each figure; the status is 1 where peal is behind a library that a budget names
#   long     the same as a table in Markdown

BEGIN {
    FS = "\t"
    # figure, words, unit, digits, which way is better, who must be ahead of robfig/cron and APScheduler
    define("p50_ms", "100 functions at each second, late p50", "ms", 2, "less", "peal local")
    define("p99_ms", "100 functions at each second, late p99", "ms", 2, "less", "peal local")
    define("first_ms", "1,000 at the first instant, the last call", "ms", 1, "less", "local")
    define("thousand_p50_ms", "1,000 at each second, late p50", "ms", 2, "less", "peal local")
    define("thousand_p99_ms", "1,000 at each second, late p99", "ms", 2, "less", "peal local")
    define("last_ms", "1,000 at each second, the last call of all", "ms", 1, "less", "")
    define("calls_s", "calls made in a second, at most", "/s", 0, "more", "local")
    define("resident_mb", "100 functions, resident", "MB", 1, "less", "")
    define("add_ms", "100,000 functions: peal_add of all", "ms", 0, "less", "")
    define("stored_ms", "100,000 functions: until the store has all", "ms", 0, "less", "")
    define("many_mb", "100,000 functions: resident", "MB", 0, "less", "")
    define("many_calls", "100,000 functions: calls in 10 s, of 16,667", "", 0, "more", "")
    define("many_p50_ms", "100,000 functions: late p50", "ms", 2, "less", "")
    define("many_p99_ms", "100,000 functions: late p99", "ms", 2, "less", "")
    define("size_kb", "libpeal.so, stripped", "KB", 0, "less", "")
    define("open_ms", "peal_open, on a new embedded store", "ms", 1, "less", "")
    define("small_mb", "the smallest program, resident", "MB", 1, "less", "")
    contenders = split("peal local robfig gocron apscheduler bare", names, " ")
    title["peal"] = "peal"
    title["local"] = "peal, local"
    title["robfig"] = "robfig/cron"
    title["gocron"] = "gocron"
    title["apscheduler"] = "APScheduler"
    title["bare"] = "bare loop"
    is_rival["robfig"] = is_rival["apscheduler"] = 1
    version_of["robfig"] = "github.com/robfig/cron/v3"
    version_of["gocron"] = "github.com/go-co-op/gocron/v2"
    version_of["apscheduler"] = "APScheduler"
    level = 0.95 # what differs by less is the same: so much do rounds differ
}

$1 == "about" {
    if (!seen[$2, $3]++)
        about[$2] = about[$2] (about[$2] == "" ? "" : ", ") $3
    next
}

{ value[$1, $2, ++rounds[$1, $2]] = $3 }

END {
    for (c = 1; c <= contenders; c++)
        if (version_of[names[c]] in about)
            title[names[c]] = title[names[c]] " " about[version_of[names[c]]]
    all_figures()
    if (form == "long")
        printf "\nMedians of %s rounds, %s: %s cores, Linux %s; the load average before a row was %s.\n",
            about["rounds"], about["date"], about["cores"], about["kernel"], about["load"]
    exit missed > 0 && form == "text"
}

function define(key, what, unit, digits, better, budget) {
    keys[++figures] = key
    what_of[key] = what
    unit_of[key] = unit
    digits_of[key] = digits
    better_of[key] = better
    budget_of[key] = " " budget " "
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

function number(key, n) {
    return digits_of[key] == 0 ? grouped(int(n + 0.5)) : sprintf("%.*f", digits_of[key], n)
}

function grouped(n) {
    return n < 1000 ? n : grouped(int(n / 1000)) "," sprintf("%03d", n % 1000)
}

function with_unit(key, n) {
    return number(key, n) (unit_of[key] ~ "^/" || unit_of[key] == "" ? "" : " ") unit_of[key]
}

# 1.2 is a fifth better than the other, whichever way better is.
function times(key, ours, theirs) {
    if (ours <= 0 || theirs <= 0)
        return 1
    return better_of[key] == "less" ? theirs / ours : ours / theirs
}

function compared(ratio) {
    return sprintf("%.2f x %s", ratio < 1 ? 1 / ratio : ratio, ratio < 1 ? "worse" : "better")
}

function row(what, who, figure, between, peal, local) {
    if (form == "long")
        printf "| %s | %s | %s | %s | %s | %s |\n", what, who, figure, between, peal, local
    else
        printf "%-44s %-20s %12s %20s  %-16s %s\n", what, who, figure, between, peal, local
}

# How peal, or its local functions, compare; with the budget's verdict.
function against(key, ours, name,    ratio, words) {
    if (!((key, ours) in rounds) || name == ours || name == "peal" || name == "local")
        return ""
    ratio = times(key, median(key, ours), median(key, name))
    words = compared(ratio)
    if (is_rival[name] && index(budget_of[key], " " ours " ") && ratio < level) {
        missed++
        words = words (form == "text" ? " MISSED" : "")
    }
    return words
}

function all_figures(    f, c, key, name, count) {
    row("what", "who", "median", "rounds", "peal is", "peal, local is")
    if (form == "long")
        print "| --- | --- | --- | --- | --- | --- |"
    for (f = 1; f <= figures; f++) {
        key = keys[f]
        for (c = 1; c <= contenders; c++) {
            name = names[c]
            count = rounds[key, name]
            if (!count)
                continue
            median(key, name)
            row(what_of[key], title[name], with_unit(key, median(key, name)),
                number(key, value[key, name, 1]) " to " number(key, value[key, name, count]),
                against(key, "peal", name), against(key, "local", name))
        }
    }
}
