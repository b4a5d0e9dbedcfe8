#ifndef HAND_CNCURSES_SHIM_H
#define HAND_CNCURSES_SHIM_H

// Wide characters, and the functions for them.
#define _XOPEN_SOURCE_EXTENDED 1
#define NCURSES_WIDECHAR 1
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Swift sees neither these macros nor the library's variables.
static inline int hand_color_pairs(void) { return COLOR_PAIRS; }
static inline unsigned hand_attribute_bold(void) { return WA_BOLD; }
static inline unsigned hand_attribute_dim(void) { return WA_DIM; }
static inline unsigned hand_attribute_reverse(void) { return WA_REVERSE; }
static inline unsigned hand_attribute_underline(void) { return WA_UNDERLINE; }
static inline unsigned hand_attribute_italic(void) { return WA_ITALIC; }

// Declared in term.h, which is not included because its macros conflict with other names.
extern char *tigetstr(const char *name);
// Whether the terminal can move its cursor to any place.
static inline int hand_moves_cursor(void) {
    const char *text = tigetstr("cup");
    return text != NULL && text != (char *)-1;
}

// The number of colours in the system's description of a terminal; -1 if there is no description.
extern int setupterm(const char *name, int descriptor, int *error);
static inline int hand_colors_of(const char *name) {
    int error = 0;
    if (setupterm(name, 1, &error) != OK) return -1;
    int colors = tigetnum((char *)"colors");
    return colors < 0 ? 0 : colors;
}

// Ignores the signal of ctrl-z: if newterm finds it ignored, ncurses never handles it. Returns whether it was already
// ignored when this process was started, as by a shell without job control.
static inline int hand_ignore_stopping(void) { return signal(SIGTSTP, SIG_IGN) == SIG_IGN; }

// The size of the terminal behind a descriptor; 0 if it has none.
static inline int hand_window_size(int descriptor, int *rows, int *columns) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return 0;
    *rows = size.ws_row;
    *columns = size.ws_col;
    return 1;
}

#endif
