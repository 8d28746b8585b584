module peal/bench/peers/robfig

go 1.19

require (
	github.com/robfig/cron/v3 v3.0.1
	peal/bench/peers/work v0.0.0
)

replace peal/bench/peers/work => ../work
