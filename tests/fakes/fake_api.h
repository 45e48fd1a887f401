/* Prototypes of every function that the fake answers, made from the list of tuner/gpu/device/api.h: the typedef gives the type. */
#pragma once

#include "tests/fakes/fake.h"
#include "tuner/gpu/device/api.h"

#define FAKE_DECLARE(name, version) extern __typeof__(*(PFN_##name##_v##version)0) fake_##name;
MT_CUDA_MAP(FAKE_DECLARE)
MT_CUDA_OPTIONAL_MAP(FAKE_DECLARE)
#undef FAKE_DECLARE
