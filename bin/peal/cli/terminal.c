#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct terminal terminal_of(FILE *stream)
{
    int fd = fileno(stream);
    if (fd < 0 || !isatty(fd))
        return (struct terminal){0};

    struct winsize size;
    int columns = 80;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;

    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool colour = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
    return (struct terminal){.columns = columns, .colour = colour};
}
