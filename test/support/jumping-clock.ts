/** Daemons whose clocks a test sets forward, as if the time between had passed without work. */
import { fileURLToPath } from 'node:url'
import type { Daemon } from './daemon.ts'

/** Variables of a daemon with such a clock. */
export const withJumpingClock = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('./jumping-clock.mjs', import.meta.url))}`,
}

/** Sets clocks forward, one after the other: the first never is behind another. */
export async function jump(daemons: readonly Daemon[], ms: number): Promise<void> {
  for (const daemon of daemons) await daemon.exchange({ type: 'jump', ms })
}
