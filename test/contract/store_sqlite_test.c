#include "fault_vfs.h"
#include "sqlite_place.h"

int main(void)
{
    fault_vfs_install(); /* thousands of commits, without waiting for the disk */
    return store_contract_run(&sqlite_backend);
}
