/** Replaces nodes of an earlier build by nodes of this one, one after the other. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { thisProgram, type Daemon } from '../support/daemon.ts'

/** The program of a built clone in a folder. */
export function programIn(folder: string): string {
  const program = resolve(folder, 'bin', 'daemon.cjs')
  if (!existsSync(resolve(folder, 'dist')))
    throw new Error(`${folder} is not built: npm run build makes dist`)
  return program
}

/**
 * Replaces each node when `reached` resolves for it: SIGTERM, the end of its work, and a start of this build
 * over the same data.
 */
export async function upgradeAll(
  daemons: readonly Daemon[],
  reached: (index: number) => Promise<unknown>,
): Promise<void> {
  for (const [index, daemon] of daemons.entries()) {
    await reached(index)
    await daemon.stop()
    daemon.program = thisProgram
    await daemon.start()
  }
}
