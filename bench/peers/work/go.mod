module peal/bench/peers/work

go 1.19
