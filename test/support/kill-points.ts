/** Daemons that die at a named point of the program (`src/foundation/probe.ts`), for tests of what survives. */
import { fileURLToPath } from 'node:url'

/** Variables of a daemon with the probe. `FAULTS` can be set before each start. */
export const withProbe = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('../faults/_probe.mjs', import.meta.url))}`,
}

/** Variables of a daemon that dies when it reaches a point for the nth time. */
export const dyingAt = (point: string, nth = 1) => ({
  ...withProbe,
  FAULTS: JSON.stringify({ kill: { point, nth } }),
})
