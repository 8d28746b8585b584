/* All processes ask; one of them makes the report of this minute, the others learn which. */
#include <peal.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char chosen[PEAL_ID_SIZE];
    int is_me = peal_select(NULL, "report", argc > 1 ? argv[1] : NULL, 60000, chosen);
    if (is_me < 0) {
        fprintf(stderr, "%s\n", peal_why());
        return 1;
    }
    if (is_me)
        printf("I make the report\n");
    else
        printf("%s makes the report\n", chosen);
    return 0;
}
