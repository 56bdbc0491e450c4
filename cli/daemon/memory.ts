/**
 * How the C library gives memory out to the daemon (mallopt(3)), unless the environment says otherwise: what one thread has freed serves the others, and
 * what is free at the end is given back. Otherwise glibc keeps it for each thread apart, and the daemon seems to grow. Other libraries pass it over.
 */
export const memory = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' }
