#include "tuner/search/strategy.h"

#include <string.h>

#define MT_STRATEGY(name) extern const mt_strategy mt_strategy_##name;
#include "tuner/search/strategies.def"
#undef MT_STRATEGY

static const mt_strategy *const strategies[] = {
#define MT_STRATEGY(name) &mt_strategy_##name,
#include "tuner/search/strategies.def"
#undef MT_STRATEGY
};

const mt_strategy *mt_strategy_find(const char *name)
{
    for (size_t i = 0; i < mt_strategy_count(); i++) {
        if (strcmp(strategies[i]->name, name) == 0) return strategies[i];
    }
    return NULL;
}

size_t mt_strategy_count(void)
{
    return sizeof strategies / sizeof strategies[0];
}

const mt_strategy *mt_strategy_at(size_t index)
{
    return index < mt_strategy_count() ? strategies[index] : NULL;
}

const mt_strategy *mt_strategy_auto(const mt_space *space, size_t budget)
{
    bool is_covered = mt_space_is_enumerated(space) && budget >= mt_space_count(space);
    return mt_strategy_find(is_covered ? "exhaustive" : "mixed");
}
