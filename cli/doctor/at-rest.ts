/** Has the data folder looked at that no daemon answers for: by a process of its own, since commands know nothing of databases. */
import { askProgram, ProgramFailed } from '../daemon/ask-program.ts'
import type { Check } from './check.ts'

/** How long it may take: a little longer than its checks may. */
const patienceMs = 20_000

/** Runs the process, which is given the environment that a daemon would be; a failed check when it does not come to an end. */
export async function examineAtRest(env: NodeJS.ProcessEnv): Promise<Check[]> {
  try {
    // It is this program's own process, built with it, so that its answer has the daemon's shape.
    return ((await askProgram('examine', [], env, patienceMs)) as { checks: Check[] }).checks
  } catch (error) {
    if (!(error instanceof ProgramFailed)) throw error
    const detail = `The data folder could not be examined: ${error.message}.`
    return [{ name: 'data-folder', status: 'failed', detail, hint: 'agent daemon start' }]
  }
}
