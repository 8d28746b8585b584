module peal/bench/lib/work

go 1.19
