/** The built daemon, loaded into this process as by its own process. */
import { createRequire } from 'node:module'

export const built = createRequire(import.meta.url)('../bin/load.cjs').load(
  'daemon',
) as typeof import('../daemon/server/bundle.ts')
