/* The fields of a step that jobs do not have; those that jobs have, too, are in job_fields.c. */
#include <string.h>

#include "definition/job_fields.h"
#include "job_name.h"
#include "workflow/refs.h"
#include "workflow/steps.h"

#define AT(member)  .offset = offsetof(struct job_step, member)
#define RANGE_LIMIT INT64_C(1000000000000)

static const char *output_complaint(const char *text)
{
    struct ref ref;
    const char *complaint = ref_read(text, strlen(text), &ref);
    return complaint || ref.kind != REF_OUTPUT ? "is not an output of a step: steps.NAME.KEY"
                                               : NULL;
}

static const char *key_complaint(const char *text)
{
    if (!ref_is_key(text, strlen(text)))
        return "is not a key of an output: letters, digits and _, no digit first";
    return strcmp(text, "state") == 0 || strcmp(text, "exit_code") == 0
               ? "is peal's own, and every step has it"
               : NULL;
}

static const struct field each_fields[] = {
    {"items", FIELD_ITEMS, AT(each.items), 1, EACH_ITEMS_MAX, .alone = true,
     ABOUT(SECTION_STEPS, "Items", "各项",
           "The step runs once for each of these texts: ${item} is the text, ${index} its number "
           "from 0.",
           "对其中每一项各运行一次：${item} 为该项，${index} 为从 0 开始的编号。", .unset = "none",
           .sample = "eu", .see = "#each")},
    {"of", FIELD_TEXT, AT(each.of), 1, 200, .complain = output_complaint,
     ABOUT(SECTION_STEPS, "Items of an output", "取自输出",
           "An output of an earlier step that is a list: a JSON array, or words.",
           "取自前面步骤的输出，为列表：JSON 数组或以空白分隔的词。", .unset = "none",
           .sample = "steps.extract.files", .see = "#each")},
    {"from", FIELD_INT64, AT(each.from), -RANGE_LIMIT, RANGE_LIMIT, EACH_UNSET,
     ABOUT(SECTION_STEPS, "From", "起始", "The first number of a range.", "范围的第一个数。",
           .unset = "none", .see = "#each")},
    {"to", FIELD_INT64, AT(each.to), -RANGE_LIMIT, RANGE_LIMIT, EACH_UNSET,
     ABOUT(SECTION_STEPS, "To", "结束", "The last number of a range, which belongs to it.",
           "范围的最后一个数，包含在内。", .unset = "none", .see = "#each")},
    {"by", FIELD_INT64, AT(each.by), 1, RANGE_LIMIT,
     ABOUT(SECTION_STEPS, "By", "步长", "The distance between the numbers of a range.",
           "范围内相邻两数的间隔。", .unset = "1 in a range", .see = "#each")},
    {"shards", FIELD_INT64, AT(each.shards), 1, EACH_ITEMS_MAX,
     ABOUT(SECTION_STEPS, "Shards", "分片数", "So many items, numbered from 0.",
           "这么多项，从 0 开始编号。", .unset = "none", .see = "#each")},
    {"at_once", FIELD_INT, AT(each.at_once), 1, EACH_AT_ONCE_MAX, EACH_AT_ONCE,
     ABOUT(SECTION_STEPS, "At once", "同时运行数",
           "So many items are under way at the same time; the others wait.",
           "同时运行的项数，其余等待。", .unset = "16", .see = "#each")},
    {0},
};

const struct field step_fields[] = {
    {"name", FIELD_TEXT, AT(name), 1, STEP_NAME_MAX, .complain = step_name_complaint,
     ABOUT(SECTION_STEPS, "Name", "名称",
           "Unique in the workflow: a letter, then letters, digits, - and _.",
           "在工作流中唯一：以字母开头，由字母、数字、- 和 _ 组成。", .unset = "required",
           .sample = "extract", .see = "#steps")},
    {"job", FIELD_TEXT, AT(ref), 1, JOB_NAME_SIZE - 1, .complain = job_name_complaint,
     ABOUT(SECTION_STEPS, "Job", "任务",
           "Runs what this job runs, as it is when the instance begins.",
           "运行该任务所运行的内容，以实例开始时的定义为准。",
           .unset = "required, or one of the others", .sample = "billing/invoices",
           .see = "#jobs-and-workflows-as-steps")},
    {"workflow", FIELD_TEXT, AT(workflow), 1, JOB_NAME_SIZE - 1, .complain = job_name_complaint,
     ABOUT(SECTION_STEPS, "Workflow", "工作流", "The steps of this workflow, as one step.",
           "将该工作流的全部步骤作为一步。", .unset = "required, or one of the others",
           .sample = "etl/load", .see = "#jobs-and-workflows-as-steps")},
    {"with", FIELD_PAIRS, AT(with), 0, PARAM_VALUE_MAX, .complain = param_name_complaint,
     .numbers = true, .secret = true, .also = "params args inputs",
     ABOUT(SECTION_STEPS, "Values", "参数值", "Values for the parameters of that job or workflow.",
           "该任务或工作流的参数值。", .unset = "their defaults", .sample = "day=monday",
           .see = "#jobs-and-workflows-as-steps")},
    {"after", FIELD_STEP_AFTER, AT(after), 1, STEP_AFTER_MAX, .also = "depends_on needs",
     ABOUT(SECTION_STEPS, "After", "在…之后",
           "The steps that it waits for, each with the end that it requires: success (the "
           "default), failure or always.",
           "等待的步骤及其应有的结束状态：success（默认）、failure 或 always。",
           .unset = "none: it begins with the instance", .sample = "extract", .see = "#after")},
    {"join", FIELD_JOIN, AT(join), 1, STEP_AFTER_MAX,
     ABOUT(SECTION_STEPS, "Join", "汇合",
           "How many of the steps in after must have ended as required: all, any or a number.",
           "after 中须有多少步按要求结束：all、any 或数字。", .unset = "all", .see = "#join")},
    {"when", FIELD_TEXT, AT(when), 1, STEP_WHEN_MAX, .also = "if condition",
     ABOUT(SECTION_STEPS, "When", "条件",
           "A condition on parameters and outputs; the step is skipped if it is false.",
           "关于参数和输出的条件；不成立则跳过该步骤。", .unset = "always",
           .sample = "params.mode == \"full\"", .see = "#when")},
    {"outputs", FIELD_NAMES, AT(outputs), 1, STEP_OUTPUTS_MAX, .complain = key_complaint,
     ABOUT(SECTION_STEPS, "Outputs", "输出",
           "The keys that it writes to PEAL_OUTPUT; others can't be referred to then, and it fails "
           "if one is missing.",
           "写入 PEAL_OUTPUT 的键；声明后不能引用其他键，缺少任一键则步骤失败。", .unset = "any",
           .sample = "rows", .see = "#values")},
    {"each", FIELD_GROUP, .fields = each_fields, .also = "foreach matrix loop items"},
    {0},
};

bool field_is_of_step(const struct field *field)
{
    return !field->meta && (field->of == OF_STEP || field->of == OF_EITHER);
}

unsigned step_field_bit(const struct field *field)
{
    unsigned bit = field->in_reference;
    for (const struct field *other = job_fields; bit && other != field; other++)
        bit <<= other->in_reference;
    return bit;
}

const struct field *step_field_find(const char *name, size_t length)
{
    const struct field *next = step_fields;
    const struct field *field = field_find(step_fields, &next, name, length);
    if (field)
        return field;
    next = job_fields;
    field = field_find(job_fields, &next, name, length);
    return field && field_is_of_step(field) ? field : NULL;
}
