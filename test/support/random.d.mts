/** Numbers from 0 up to 1 that are the same for the same seed. */
export function createRandom(seed: number): () => number
