/* The contract with the store that several processes share, here as several handles of one process;
 * and what two nodes show. */
#include "fault_vfs.h"
#include "shared_place.h"

int main(void)
{
    fault_vfs_install(); /* thousands of commits, without waiting for the disk */
    return store_contract_run(&shared_backend);
}
