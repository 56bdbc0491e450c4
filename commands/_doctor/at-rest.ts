/** Has the data folder looked at that no daemon answers for: by a process of its own, since commands know nothing of databases. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Check } from './check.ts'

const program = fileURLToPath(new URL('daemon/examine.js', import.meta.url))

/** How long it may take: a little longer than its checks may. */
const patienceMs = 20_000

/** Runs the process, which is given the environment that a daemon would be; a failed check when it does not come to an end. */
export function examineAtRest(env: NodeJS.ProcessEnv): Promise<Check[]> {
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text))
  const failed = (detail: string): Check[] => [{ name: 'data-folder', status: 'failed', detail, hint: 'agent daemon start' }]
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      resolve(failed('The data folder could not be examined in time.'))
    }, patienceMs)
    // It is this program's own process, built with it, so that its answer has the daemon's shape.
    child.on('message', ({ checks }: { checks: Check[] }) => resolve(checks))
    child.on('error', ({ message }) => resolve(failed(`The data folder could not be examined: ${message}.`)))
    child.on('close', () => {
      clearTimeout(timer)
      resolve(failed(`The data folder could not be examined. ${said.trim().split('\n').at(-1) ?? ''}`.trim()))
    })
  })
}
