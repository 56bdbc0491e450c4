/** Asks one of the daemon's other programs, which do without a daemon: it is run with arguments, and tells one thing over its channel. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Why a program told nothing: it took too long, it did not start, or it ended, and what it wrote last. */
export class ProgramFailed extends Error {
  override name = 'ProgramFailed'
}

/** Runs `daemon/<name>.js` in an environment, `patienceMs` at most. @throws {ProgramFailed} */
export function askProgram(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  patienceMs?: number,
): Promise<unknown> {
  const program = fileURLToPath(new URL(`daemon/${name}.js`, import.meta.url))
  const child = spawn(process.execPath, [program, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text))
  return new Promise((resolve, reject) => {
    const late = () => {
      child.kill('SIGKILL')
      reject(new ProgramFailed('it took too long'))
    }
    const timer = patienceMs === undefined ? undefined : setTimeout(late, patienceMs)
    child.on('message', resolve)
    child.on('error', ({ message }) => reject(new ProgramFailed(message)))
    child.on('close', () => {
      clearTimeout(timer)
      reject(new ProgramFailed(said.trim().split('\n').at(-1) || 'it ended without a word'))
    })
  })
}
