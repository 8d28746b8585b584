#include "run_words.h"

/* By enum language. */
struct run_words {
    const char *text[LANGUAGES];
    const char *brief; /* Chinese */
};

static const struct run_words states[] = {
    [RUN_QUEUED] = {{"queued", "排队中"}, NULL},   [RUN_DUE] = {{"due", "待认领"}, NULL},
    [RUN_CLAIMED] = {{"claimed", "已认领"}, NULL}, [RUN_BEGUN] = {{"starting", "启动中"}, NULL},
    [RUN_RUNNING] = {{"running", "运行中"}, NULL}, [RUN_OK] = {{"ok", "成功"}, NULL},
    [RUN_FAILED] = {{"failed", "失败"}, NULL},     [RUN_TIMED_OUT] = {{"timed out", "超时"}, NULL},
    [RUN_KILLED] = {{"killed", "已终止"}, NULL},   [RUN_LOST] = {{"lost", "失联"}, NULL},
    [RUN_SKIPPED] = {{"skipped", "已跳过"}, NULL}, [RUN_MISSED] = {{"missed", "已错过"}, NULL},
};

static const struct run_words causes[] = {
    [CAUSE_TICK] = {{"schedule", "计划"}, NULL},
    [CAUSE_CATCH_UP] = {{"catch-up", "补跑"}, NULL},
    [CAUSE_MANUAL] = {{"manual", "手动"}, NULL},
    [CAUSE_BACKFILL] = {{"backfill", "回填"}, NULL},
    [CAUSE_REBOOT] = {{"reboot", "系统启动"}, NULL},
    [CAUSE_AFTER] = {{"after another job", "上游任务"}, NULL},
    [CAUSE_WEBHOOK] = {{"webhook", "Webhook 触发"}, NULL},
    [CAUSE_STEP] = {{"step of a workflow", "工作流步骤"}, NULL},
};

static const struct run_words reasons[] = {
    [REASON_NONE] = {{"", ""}, ""},
    [REASON_EXIT_CODE] = {{"the exit code was not 0", "退出码不为 0"}, "退出码"},
    [REASON_SIGNAL] = {{"a signal from outside peal ended the process", "被外部信号终止"}, "信号"},
    [REASON_NO_START] = {{"the process could not be started", "进程无法启动"}, "无法启动"},
    [REASON_TIMEOUT] = {{"the run exceeded its timeout", "运行超时"}, "超时"},
    [REASON_USER] = {{"a user stopped the run", "被用户停止"}, "用户停止"},
    [REASON_REPLACED] = {{"a newer run replaced this one (overlap: replace)",
                          "被新的运行取代（overlap: replace）"},
                         "被取代"},
    [REASON_OVERLAP] = {{"the previous run was still running (overlap: skip)",
                         "上一次运行尚未结束（overlap: skip）"},
                        "重叠"},
    [REASON_QUEUE_FULL] = {{"the queue of waiting runs was full (overlap: queue)",
                            "等待队列已满（overlap: queue）"},
                           "队列已满"},
    [REASON_PAUSED] = {{"the job was paused", "任务已暂停"}, "任务已暂停"},
    [REASON_SKIP_NEXT] = {{"a user asked to skip this tick", "用户要求跳过本次触发"}, "按要求跳过"},
    [REASON_DELETED] = {{"the job was deleted before the start", "启动前任务已被删除"},
                        "任务已删除"},
    [REASON_CATCH_UP] =
        {{"no agent could start it in time, and catch_up did not ask for a later run",
          "当时没有 agent 能按时启动它，且 catch_up 未要求补跑"},
         "未补跑"},
    [REASON_TOO_OLD] =
        {{"no agent could start it in time, and the tick is older than the catch_up window",
          "当时没有 agent 能按时启动它，且已超出 catch_up 的时间窗口"},
         "超出补跑窗口"},
    [REASON_TOO_MANY] =
        {{"no agent could start it in time, and more ticks were missed than the catch_up limit",
          "当时没有 agent 能按时启动它，且错过的次数超过 catch_up 上限"},
         "超出补跑上限"},
    [REASON_DEADLINE] = {{"the run could not start before its deadline", "未能在启动时限内启动"},
                         "超过启动时限"},
    [REASON_START_WINDOW] = {{"the process did not start within its window of 5 s",
                              "进程未能在 5 秒的启动窗口内启动"},
                             "启动超时"},
    [REASON_NODE_DIED] = {{"the node died during the run", "运行期间节点宕机"}, "节点宕机"},
    [REASON_SPAWNER_DIED] = {{"the spawner died; the outcome is unknown", "启动器已退出，结果未知"},
                             "启动器退出"},
    [REASON_SHUTDOWN] = {{"all runs on the node were stopped", "该节点上的运行全部被停止"},
                         "节点停机"},
    [REASON_NO_NODE] = {{"no eligible node was available", "没有符合条件的可用节点"}, "无可用节点"},
    [REASON_RESTORED] = {{"the store was restored from a backup", "存储已从备份恢复"},
                         "存储已恢复"},
    [REASON_CALENDAR] = {{"a calendar of the job excludes this time", "该时间被任务的日历排除"},
                         "日历排除"},
    [REASON_EDITED] = {{"the schedule was changed before the start", "启动前计划已被修改"},
                       "计划已修改"},
    [REASON_CLOCK] = {{"the clock was set back: runs that had started are not started again",
                       "时钟被回拨：已启动过的运行不会再次启动"},
                      "时钟回拨"},
    [REASON_DISK_FULL] = {{"the disk was full, and catch_up did not ask for a later run",
                           "当时磁盘已满，且 catch_up 未要求补跑"},
                          "磁盘已满"},
    [REASON_STORE_AWAY] = {{"the store was unavailable, and catch_up did not ask for a later run",
                            "当时存储不可用，且 catch_up 未要求补跑"},
                           "存储不可用"},
    [REASON_CLOCK_DOUBTED] =
        {{"the clock was not trusted, and catch_up did not ask for a later run",
          "当时时钟不可信，且 catch_up 未要求补跑"},
         "时钟不可信"},
    [REASON_DRAINED] = {{"the nodes were drained, and catch_up did not ask for a later run",
                         "当时节点已排空，且 catch_up 未要求补跑"},
                        "节点已排空"},
    [REASON_CPU_TIME] = {{"the process reached its limit of CPU time", "进程达到 CPU 时间上限"},
                         "CPU 时间上限"},
    [REASON_OOM] = {{"memory ran out: the kernel's OOM killer ended the process",
                     "内存耗尽：进程被内核 OOM killer 终止"},
                    "内存耗尽"},
    [REASON_NOT_NEEDED] = {{"the previous attempt succeeded after all", "前一次尝试最终已成功"},
                           "无需重试"},
    [REASON_HTTP_STATUS] = {{"the HTTP status was not one of those expected",
                             "HTTP 状态码不在预期之内"},
                            "HTTP 状态码"},
    [REASON_HTTP_BODY] = {{"the body of the HTTP answer was not as expected",
                           "HTTP 响应正文不符合预期"},
                          "HTTP 响应正文"},
    [REASON_HTTP_ERROR] = {{"the HTTP request got no complete answer", "HTTP 请求未得到完整响应"},
                           "HTTP 请求出错"},
    [REASON_PART_FAILED] =
        {{"an earlier run of the tick did not succeed (rolling: stop_on_failure)",
          "同一触发中先前的运行未成功（rolling: stop_on_failure）"},
         "先前运行未成功"},
    [REASON_UPSTREAM] = {{"the upstream steps did not end as required", "所等待的步骤未按要求结束"},
                         "上游步骤"},
    [REASON_WHEN] = {{"the condition of the step (when) was false", "步骤的条件（when）不成立"},
                     "条件不成立"},
    [REASON_STEP_FAILED] = {{"a step of the workflow did not succeed", "工作流中有步骤未成功"},
                            "步骤未成功"},
    [REASON_STEP_OUTPUT] = {{"the text that the step wrote to PEAL_OUTPUT can't be used",
                             "步骤写入 PEAL_OUTPUT 的内容无法使用"},
                            "步骤输出"},
    [REASON_EXPECTATION] = {{"the run did not meet the expectations of its job (expect)",
                             "运行未达到任务的预期（expect）"},
                            "未达预期"},
    [REASON_MAINTENANCE] = {{"maintenance was under way", "正在维护"}, "维护"},
    [REASON_ONLY_IF] = {{"a condition of the job (only_if) was not met",
                         "任务的条件（only_if）不成立"},
                        "前提不成立"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

_Static_assert(COUNT(states) == RUN_STATES && COUNT(causes) == CAUSES && COUNT(reasons) == REASONS,
               "every number has its words");

const char *run_state_text(enum run_state state, enum language language)
{
    return state < RUN_STATES ? states[state].text[language] : run_state_name(state);
}

const char *run_cause_text(enum run_cause cause, enum language language)
{
    return cause < CAUSES ? causes[cause].text[language] : run_cause_name(cause);
}

const char *run_reason_text(enum run_reason reason, enum language language)
{
    static const char *const newer[LANGUAGES] = {"for a reason that only a newer peal knows",
                                                 "原因只有更新版本的 peal 才认识"};
    return reason < REASONS ? reasons[reason].text[language] : newer[language];
}

const char *run_reason_brief(enum run_reason reason, enum language language)
{
    return language == LANGUAGE_ZH && reason < REASONS ? reasons[reason].brief
                                                       : run_reason_name(reason);
}
