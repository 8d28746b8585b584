// What the header is for C++, as a strict compiler sees it. Only compiled.
#include <peal.h>

int main()
{
    peal_options options{};
    options.program = "p";
    peal_node *plain = peal_open();
    peal_node *other = peal_open(options);
    peal_function *call = [](peal_run *run, void *arg) {
        peal_log(run, "%s of %s", static_cast<const char *>(arg), peal_run_job(run));
        return peal_cancelled(run) ? 1 : 0;
    };
    peal_job job{};
    job.tz = "UTC";
    job.start_ms = PEAL_FROM_NOW(5000);
    int error = peal_every("a", "* * * * *", call);
    if (error == PEAL_OK)
        error = peal_every("b", "@daily", call, job);
    if (error == PEAL_OK)
        error = peal_add(other, "c", "@daily", call, job);
    peal_close(other);
    return peal_close(plain) || error != PEAL_OK;
}
