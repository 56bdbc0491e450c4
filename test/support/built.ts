/** The bundle of the daemon, loaded into this process. */
import { createRequire } from 'node:module'

export const built = createRequire(import.meta.url)(
  '../../dist/daemon/agent.cjs',
) as typeof import('../../daemon/bundle.ts')
