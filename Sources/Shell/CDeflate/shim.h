#ifndef HAND_CDEFLATE_SHIM_H
#define HAND_CDEFLATE_SHIM_H

#include <libdeflate.h>

#endif
