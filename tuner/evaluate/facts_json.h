/* Device facts as the database keeps them: {"cc":90,"sm_count":132,…}. */
#pragma once

#include "tuner/space/facts.h"

char *mt_facts_to_json(const mt_device_facts *facts); /* mt_free; NULL only when memory runs out */
/* Fills the fields that the text has, zeroes the others; the name and the versions are not in it. Unknown keys are skipped. */
mt_status mt_facts_from_json(const char *json, mt_device_facts *facts, mt_error *err);
