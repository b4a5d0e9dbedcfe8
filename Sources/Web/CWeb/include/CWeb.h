#ifndef HAND_CWEB_H
#define HAND_CWEB_H

/// The files of the page, one after the other, as strings of C.
const char *hand_page_contents(void);

#endif
