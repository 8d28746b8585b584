/* Does something that must not be done twice at a time: on this machine, or with PEAL_STORE on all
 * that share the store. */
#include <peal.h>
#include <stdio.h>

int main(void)
{
    peal_held *lock;
    if (peal_lock(NULL, &lock, "backup", 5000) != PEAL_OK) {
        fprintf(stderr, "no backup: %s\n", peal_why());
        return 1;
    }
    for (int part = 1; part <= 3 && peal_is_held(lock); part++)
        printf("part %d, fence %lld\n", part, (long long)peal_fence(lock));
    if (peal_release(lock) == PEAL_E_LOST) {
        fprintf(stderr, "another may have begun meanwhile: %s\n", peal_why());
        return 1;
    }
    return 0;
}
