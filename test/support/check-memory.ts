/**
 * Agents of the tests compare what they remember of a wallet with its database at the start of each
 * transaction (`src/foundation/storage/memory.ts`). vitest runs this before each test file;
 * `test/faults/_probe.mjs` does the same for daemons.
 */
;(globalThis as Record<symbol, unknown>)[Symbol.for('identity-agent.check-memory')] = true
