/** How many entries an `LRUCache` keeps. */

/** Options of a cache of at most `max` entries that takes their room as they come; `max` itself would have it take all of it at once. */
export const atMost = (max: number) => ({ maxSize: max, sizeCalculation: () => 1 })
