/** Starts processes of the daemon: the daemon itself, and its programs that run without one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { logPath } from '../../src/foundation/log-file.ts'
import { folderFault, makeFolder } from '../../src/foundation/private-files.ts'
import { CommandError } from '../errors/errors.ts'
import { shorten } from '../format/text.ts'

const main = fileURLToPath(new URL('../bin/daemon.cjs', import.meta.url))

/** The time limit for a daemon to become ready. */
const timeoutMs = 30_000

/** The limits of an error text from the log. */
const [maxLines, maxColumns] = [10, 500]

const Ready = z.object({
  type: z.literal('ready'),
  url: z.url(),
  didcommUrl: z.url(),
  pid: z.int(),
  certificate: z.string().optional(),
  authority: z.string().optional(),
  calls: z.string(),
  warnings: z.array(z.string()),
})
export type Ready = z.infer<typeof Ready>

export type Launched = { child: ChildProcess; ready: Promise<Ready> }

/**
 * Starts a daemon that logs to its data folder. After `detach`, a detached daemon outlives this process.
 *
 * `ready` rejects with a `CommandError`: with the daemon’s own message and exit code when it ends, or 6 on a
 * timeout.
 */
export function launchInBackground(
  dataDir: string,
  env: NodeJS.ProcessEnv,
  detached: boolean,
  args: readonly string[] = [],
): Launched {
  const path = logPath(dataDir)
  const log = openLog(dataDir)
  const { size } = statSync(path)
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...memory, ...env },
    detached,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  return {
    child,
    ready: waitUntilReady(
      child,
      () => sentences(readFileSync(path).subarray(size).toString()) || `See ${path}.`,
    ),
  }
}

/** Creates the data folder if needed, and opens the log in it. @throws {CommandError} when that fails. */
function openLog(dataDir: string): number {
  try {
    makeFolder(dataDir)
    return openSync(logPath(dataDir), 'a', 0o600)
  } catch (error) {
    const { message } = folderFault(error, dataDir)
    throw new CommandError(
      `The data folder ${dataDir} cannot be used: ${message}.`,
      1,
      'agent daemon start --data-dir <a folder that you may write to>',
    )
  }
}

/** Starts a daemon that shares this terminal. It prints its own errors. */
export function launchInForeground(env: NodeJS.ProcessEnv, args: readonly string[] = []): Launched {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...memory, ...env },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  stayWith(child)
  return { child, ready: waitUntilReady(child, () => 'The daemon did not start.') }
}

/** Ends the daemon when this process ends, in any way. */
function stayWith(child: ChildProcess): void {
  // A child that could not be started has no channel; `error` reports it.
  if (child.connected) child.send({ type: 'stay' }, () => undefined)
}

/** Lets a detached daemon outlive this process. */
export function detach(child: ChildProcess): void {
  if (child.connected) child.disconnect()
  child.unref()
}

function waitUntilReady(child: ChildProcess, reason: () => string): Promise<Ready> {
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(() => {
      child.kill('SIGKILL')
      reject(
        new CommandError(
          `The daemon was not ready within ${timeoutMs / 1_000} seconds.`,
          6,
          'agent daemon logs',
        ),
      )
    }, timeoutMs)
    child.once('error', (error) =>
      settle(() => reject(new CommandError(`The daemon’s process cannot be started: ${error.message}.`, 1))),
    )
    child.once('exit', (code) => settle(() => reject(new CommandError(reason(), code || 1))))
    child.on('message', (message) => {
      const ready = Ready.safeParse(message)
      if (ready.success) settle(() => resolve(ready.data))
    })
    let isSettled = false
    function settle(how: () => void): void {
      clearTimeout(timeout)
      if (!isSettled) how()
      isSettled = true
    }
  })
}

/** The lines of a log that are not JSON, shortened: messages for people, or the output of a crash. */
function sentences(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('{'))
  return lines
    .slice(-maxLines)
    .map((line) => shorten(line, maxColumns))
    .join('\n')
}

export const memory = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' }

/** Why a program has returned no answer: a timeout, a failed start, or its last error line. */
export class ProgramFailed extends Error {
  override name = 'ProgramFailed'
}

/** Runs `daemon/<name>.js` and returns the message that it sends. @throws {ProgramFailed} */
export function askProgram(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  timeoutMs?: number,
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
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
    child.on('message', resolve)
    child.on('error', ({ message }) => reject(new ProgramFailed(message)))
    child.on('close', () => {
      clearTimeout(timer)
      reject(new ProgramFailed(said.trim().split('\n').at(-1) || 'it ended without a word'))
    })
  })
}
