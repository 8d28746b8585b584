-- x
CREATE TABLE `xxl_job_info` (`id` int, `job_desc` varchar(9) DEFAULT 'a,(', `schedule_type` text, `schedule_conf` text, `glue_type` text, `glue_source` text, `child_jobid` text, KEY `k` (`id`));
INSERT INTO `xxl_job_info` VALUES (1,'a','CRON','0 0 3 ? * 6L','GLUE_SHELL','x\'','2'),(2,'b','NONE',NULL,'GLUE_SHELL',_binary 'x','1,2'),(3,'a','FIX_RATE',f(1,2),b'1',0x1,'');
