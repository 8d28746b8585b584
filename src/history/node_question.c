#include "node_question.h"

#include <stdlib.h>

#include "history_internal.h"

void node_question_release(struct node_question *question)
{
    for (size_t i = 0; i < question->count; i++)
        free(question->answers[i]);
    free(question->answers);
    question->answers = NULL;
    question->count = 0;
    history_absences_release(&question->absent);
}
