/** The system clock of a node, which tests set forward and back while it runs. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/temporary-folder.ts'

export type Clock = AsyncDisposable & {
  /** Variables of the node's process. */
  readonly env: Record<string, string>
  /** Sets the clock ahead of the right time, or behind it. The node has it after a tenth of a second. */
  set(differenceMs: number): void
}

export async function openClock(): Promise<Clock> {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'clock')
  const set = (differenceMs: number) => {
    // A reader never finds an empty file.
    writeFileSync(`${file}.new`, String(differenceMs))
    renameSync(`${file}.new`, file)
  }
  set(0)
  const preload = new URL('./_clock.mjs', import.meta.url).href
  return {
    env: { TEST_CLOCK_FILE: file, NODE_OPTIONS: `--import=${preload}` },
    set,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}
