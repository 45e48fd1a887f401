/* Environments are one thread's at a time: readers of a space borrow theirs from a pool, which grows to the number of threads that read at once. */
#include "tuner/base/alloc.h"
#include "tuner/space/points/space_internal.h"

static void free_walker(mt_walker *walker)
{
    if (!walker) return;
    mt_env_free(walker->env);
    mt_free(walker);
}

static mt_walker *make_walker(const mt_space *space)
{
    mt_walker *walker = mt_alloc(1, sizeof *walker);
    if (!walker) return NULL;
    if (mt_env_create(space->spec, space->shape, &space->facts, &walker->env, NULL) == MT_OK) return walker;
    free_walker(walker);
    return NULL;
}

mt_status mt_pool_make(mt_space *space, mt_error *err)
{
    space->pool = mt_alloc(1, sizeof *space->pool);
    if (!space->pool) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    pthread_mutex_init(&space->pool->lock, NULL); /* can't fail for default attributes */
    space->pool->free = make_walker(space);
    return space->pool->free ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
}

void mt_pool_free(mt_pool *pool)
{
    if (!pool) return;
    while (pool->free) {
        mt_walker *next = pool->free->next;
        free_walker(pool->free);
        pool->free = next;
    }
    pthread_mutex_destroy(&pool->lock);
    mt_free(pool);
}

mt_walker *mt_walker_take(const mt_space *space)
{
    mt_pool *pool = space->pool;
    pthread_mutex_lock(&pool->lock);
    mt_walker *walker = pool->free;
    if (walker) pool->free = walker->next;
    pthread_mutex_unlock(&pool->lock);
    if (!walker) walker = make_walker(space);
    if (!walker) return NULL;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) walker->point.level[i] = MT_INACTIVE;
    walker->evaluations = 0;
    return walker;
}

void mt_walker_give(const mt_space *space, mt_walker *walker)
{
    mt_pool *pool = space->pool;
    pthread_mutex_lock(&pool->lock);
    walker->next = pool->free;
    pool->free = walker;
    pthread_mutex_unlock(&pool->lock);
}
