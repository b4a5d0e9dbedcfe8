#ifndef HAND_CHTTPPARSER_SHIM_H
#define HAND_CHTTPPARSER_SHIM_H

#include <http_parser.h>

#endif
