import java.io.File;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Properties;
import java.util.TimeZone;
import org.quartz.CronScheduleBuilder;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/** The work, done by Quartz with its store in memory: COUNT each|UNIX_S PROGRAM [ARGUMENT]... */
public class Work {
    static List<String> command;

    public static class Run implements Job {
        @Override
        public void execute(JobExecutionContext context) {
            try {
                File nowhere = new File("/dev/null");
                new ProcessBuilder(command).redirectInput(nowhere).redirectOutput(nowhere).redirectError(nowhere).start().waitFor();
            } catch (Exception e) {
                System.err.println(e);
                Runtime.getRuntime().halt(1);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        command = Arrays.asList(args).subList(2, args.length);
        Properties settings = new Properties();
        settings.put("org.quartz.threadPool.threadCount", "10"); // its default
        settings.put("org.quartz.jobStore.class", "org.quartz.simpl.RAMJobStore");
        settings.put("org.quartz.jobStore.misfireThreshold", "3600000"); // late runs are made
        settings.put("org.quartz.scheduler.skipUpdateCheck", "true");
        Scheduler scheduler = new StdSchedulerFactory(settings).getScheduler();
        for (int i = 0; i < count; i++) {
            TriggerBuilder<Trigger> trigger = TriggerBuilder.newTrigger();
            if (args[1].equals("each"))
                trigger.withSchedule(CronScheduleBuilder.cronSchedule("* * * * * ?").inTimeZone(TimeZone.getTimeZone("UTC")));
            else
                trigger.startAt(Date.from(Instant.ofEpochSecond(Long.parseLong(args[1])))).withSchedule(SimpleScheduleBuilder.simpleSchedule());
            scheduler.scheduleJob(JobBuilder.newJob(Run.class).build(), trigger.build());
        }
        scheduler.start();
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
