module peal/bench/lib/robfig

go 1.19

require (
	github.com/robfig/cron/v3 v3.0.1
	peal/bench/lib/work v0.0.0
)

replace peal/bench/lib/work => ../work
