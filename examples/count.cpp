// The same in C++: a lambda without captures is a function, and `arg` is what it would have
// captured.
#include <atomic>

#include <peal.h>

int main()
{
    std::atomic<int> calls{0};
    peal_job job{};
    job.tz = "Asia/Shanghai";
    job.arg = &calls;

    auto count = [](peal_run *run, void *arg) {
        auto &calls = *static_cast<std::atomic<int> *>(arg);
        peal_log(run, "call %d", ++calls);
        return 0;
    };
    peal_every("count", "*/2 * * * * *", count, job);
    return peal_run_forever();
}
