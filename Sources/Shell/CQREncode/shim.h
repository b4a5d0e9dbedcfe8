#ifndef HAND_CQRENCODE_SHIM_H
#define HAND_CQRENCODE_SHIM_H

#include <qrencode.h>

#endif
