#!/bin/bash
# Jobs of XXL-JOB, from a dump of its tables; and gocron's tables.
. "$(dirname "$0")/lib.sh"
start_agent data --listen none

dump=$scratch/dump.sql
cat >"$dump" <<'END'
-- MySQL dump 10.13
/*!40101 SET NAMES utf8mb4 */;
CREATE TABLE `xxl_job_group` (`id` int, `app_name` varchar(64), `title` varchar(12), `address_type` tinyint, `address_list` text, `update_time` datetime, PRIMARY KEY (`id`));
INSERT INTO `xxl_job_group` VALUES (2,'billing','账单',0,NULL,'2024-01-01 00:00:00');
INSERT INTO `xxl_job_info`(`id`,`job_group`,`job_desc`,`author`,`alarm_email`,`schedule_type`,`schedule_conf`,`misfire_strategy`,`executor_route_strategy`,`executor_handler`,`executor_param`,`executor_block_strategy`,`executor_timeout`,`executor_fail_retry_count`,`glue_type`,`glue_source`,`child_jobid`,`trigger_status`) VALUES
(1,2,'日报','li','','CRON','0 30 2 ? * 2-6','FIRE_ONCE_NOW','SHARDING_BROADCAST','','world','SERIAL_EXECUTION',60,1,'GLUE_SHELL','#!/bin/bash\necho "hello $1"\n','2',1),
(2,2,'收尾','li','','NONE','','DO_NOTHING','FIRST','','','DISCARD_LATER',0,0,'GLUE_SHELL','echo "after $PEAL_AFTER_JOB"','',0),
(3,2,'handler','li','ops@example.com','CRON','0 0 4 * * ?','DO_NOTHING','ROUND','demoJobHandler','','COVER_EARLY',0,0,'BEAN','','',0),
(4,2,'groovy','li','','NONE','','','','','','',0,0,'GLUE_GROOVY','x','',0);
END
run peal import xxl-job "$dump"
expect_status 6
expect_stdout_has 'schedule: "30 2 * * 1-5"'
expect_stdout_has 'name: demoJobHandler'
expect_stderr_has "$dump:6:"
expect_stderr_has 'warning: task 1 "日报": SHARDING_BROADCAST: each node has a run'
expect_stderr_has 'warning: task 3 "handler": XXL-JOB mails failures to ops@example.com'
expect_stderr_has 'error: task 4 "groovy": glue_type: "GLUE_GROOVY" runs only inside of an executor'
expect_stderr_has '1 task could not be imported'
run peal --lang zh import xxl-job "$dump"
expect_stderr_has '错误：任务 4“groovy”：glue_type：“GLUE_GROOVY”只能在执行器内运行'

run peal import xxl-job "$dump" --prefix xxl/ --apply
expect_status 6
expect_stdout_has 'created xxl/日报'
run peal get xxl/日报 -o json
expect_json '[.schedule, .spread, .overlap, .timeout, .labels.executor, .owner]' \
    '["30 2 * * 1-5","all","queue","1m","billing","li"]'
run peal run xxl/日报 --follow
expect_status 0
expect_stdout 'hello world'
after_ran() { peal runs xxl/收尾 -o json | jq -e '.[0].state == "ok"' >"$scratch/jq"; }
wait_until after_ran
run peal logs xxl/收尾
expect_stdout 'after xxl/日报'

# ---- CSV and JSON of the same rows ----
printf 'id,job_desc,schedule_type,schedule_conf,glue_type,glue_source\n7,csv,FIX_RATE,90,GLUE_SHELL,"echo ""csv"""\n' >"$scratch/rows.csv"
run peal import xxl-job "$scratch/rows.csv"
expect_status 0
expect_stdout_has 'schedule: "@every 1m30s"'
expect_stdout_has 'shell: "echo \"csv\""'
head -c 1200 "$dump" >"$scratch/cut.sql"
run peal import xxl-job "$scratch/cut.sql"
expect_status 6
expect_stderr_has "$scratch/cut.sql:"
run peal import xxl-job
expect_status 2

# ---- gocron's tables ----
cat >"$scratch/gocron.sql" <<'END'
INSERT INTO `task` (`id`,`name`,`level`,`spec`,`protocol`,`command`,`status`,`deleted`) VALUES (1,'old',1,'0 0 3 * * *',2,'true',1,'2020-01-01 00:00:00'),(2,'now',1,'0 0 3 * * *',2,'true',1,NULL);
INSERT INTO `task_host` (`id`,`task_id`,`host_id`) VALUES (1,2,5);
INSERT INTO `host` (`id`,`name`,`alias`,`port`) VALUES (5,'10.0.0.5','db',5921);
END
run peal import gocron "$scratch/gocron.sql"
expect_status 0
expect_stdout_has 'name: now'
expect_stderr_has 'gocron runs it on the host db (10.0.0.5:5921)'
expect_stderr_has '1 job; nothing was changed'
finish
