/** The checks of `agent doctor`, and how they are printed. */
import { statSync } from 'node:fs'
import satisfies from 'semver/functions/satisfies.js'
import { type Client, DaemonUnreachable, ProblemError } from '../daemon/client/client.ts'
import { profilePath, readProfile } from '../src/foundation/config/profile.ts'
import type { Answer } from './client/api.ts'
import { askProgram, ProgramFailed } from './daemon/launch.ts'
import { toReport } from './errors/report.ts'
import { type Paint, plain } from './format/colour.ts'
import { pad, safeLine, widthOf, wrap } from './format/text.ts'

export type Check = Answer<'GET /_system/doctor'>['checks'][number]

const marks = { ok: '✔', warning: '!', failed: '✖' } as const
const styles = { ok: 'good', warning: 'waiting', failed: 'bad' } as const

/** Prints one line per check, and one more with the suggested repair. Long lines are broken for a terminal. */
export function render(checks: readonly Check[], paint: Paint = plain, width = Infinity): string {
  const names = Math.max(...checks.map(({ name }) => widthOf(name)))
  const indent = pad('', names + 4)
  return checks
    .flatMap(({ name, status, detail, hint }) => {
      const lines = wrap(safeLine(detail), width - names - 4)
      const mark = paint(styles[status], marks[status])
      const repair = hint === undefined ? [] : hintLines(safeLine(hint), width - names - 6)
      return [
        ...lines.map((line, index) => (index === 0 ? `${mark} ${pad(name, names)}  ${line}` : indent + line)),
        ...repair.map((line, index) => `${indent}${index === 0 ? paint('faint', '→') : ' '} ${line}`),
      ]
    })
    .join('\n')
}

/** A command stays whole; what is said about it may go to lines of its own. */
function hintLines(hint: string, width: number): string[] {
  const [command = '', about] = hint.split('   # ')
  if (widthOf(hint) <= width || about === undefined) return [hint]
  return [command, ...wrap(about, width - 2).map((line) => `# ${line}`)]
}

/** Checks the version of Node.js against the range in package.json. */
export function checkNode(running: string, wanted: string): Check {
  const detail = `Node.js ${running.replace(/^v/, '')}`
  if (satisfies(running, wanted)) return { name: 'node', status: 'ok', detail: `${detail}.` }
  return {
    name: 'node',
    status: 'failed',
    detail: `${detail}, but ${wanted} is needed.`,
    hint: `install Node.js ${wanted}`,
  }
}

/** Checks that the profile exists, can be read, and is not readable by other users, since it holds keys. */
export function checkProfile(configDir: string, profileName: string): Check {
  const name = 'profile'
  let path: string | undefined
  try {
    path = profilePath(configDir, profileName)
    const profile = readProfile(configDir, profileName)
    if (!profile)
      return {
        name,
        status: 'warning',
        detail: `There is no profile ${profileName} (${path}).`,
        hint: 'agent daemon start',
      }
    // Windows has no such modes.
    const isOpen = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
    if (!isOpen) return { name, status: 'ok', detail: `${path} is for the daemon at ${profile.url}.` }
    return {
      name,
      status: 'failed',
      detail: `${path} contains keys, and other users can read it.`,
      hint: `chmod 600 ${path}`,
    }
  } catch (error) {
    const hint =
      path === undefined
        ? 'agent profile list'
        : `mv ${path} ${path}.old   # a daemon writes its own when it starts`
    return { name, status: 'failed', detail: (error as Error).message, hint }
  }
}

/** Checks that a daemon answers and has the version of this program. */
export async function checkDaemon(call: Client, url: string, version: string): Promise<Check> {
  const name = 'daemon'
  try {
    const { version: theirs } = await call('GET /_system/health')
    if (theirs === version) return { name, status: 'ok', detail: `${url} answers, version ${theirs}.` }
    const detail = `The daemon at ${url} has version ${theirs}, this program ${version}.`
    return {
      name,
      status: 'warning',
      detail,
      hint: 'agent daemon stop   # and start it again, with this version',
    }
  } catch (error) {
    const { title, detail, hint } = toReport(error, 'doctor')
    return {
      name,
      status: 'failed',
      detail: `${title}.${detail === undefined ? '' : ` ${detail}`}`,
      ...(hint && { hint }),
    }
  }
}

/** Checks that the daemon accepts the tenant’s key. */
export async function checkTenantKey(call: Client, hasKey: boolean): Promise<Check> {
  const refused = await refusalOf(call('GET /connections', { query: { limit: 1 } }))
  return judgeKey('tenant-key', 'tenant’s key', 'AGENT_API_KEY or --api-key-file', hasKey, refused)
}

/** Checks the administrator’s key and, if the daemon accepts it, returns the daemon’s own checks. */
export async function examine(call: Client, hasKey: boolean, isDeep: boolean): Promise<Check[]> {
  let theirs: Check[] = []
  const refused = await refusalOf(
    call('GET /_system/doctor', { query: isDeep ? { deep: 'true' } : {} }).then(
      ({ checks }) => (theirs = checks),
    ),
  )
  return [
    judgeKey('admin-key', 'administrator’s key', 'AGENT_ADMIN_KEY or --admin-key-file', hasKey, refused),
    ...theirs,
  ]
}

function judgeKey(
  name: string,
  key: string,
  where: string,
  hasKey: boolean,
  refused: Error | undefined,
): Check {
  if (!refused)
    return {
      name,
      status: 'ok',
      detail: hasKey ? `The ${key} is accepted.` : `The daemon requires no ${key}.`,
    }
  const hint = `give the ${key} in ${where}, or name the --profile of a daemon on this machine`
  const isKeys = refused instanceof ProblemError && [401, 403].includes(refused.problem.status)
  if (isKeys && !hasKey) return { name, status: 'warning', detail: `There is no ${key}.`, hint }
  return isKeys
    ? { name, status: 'failed', detail: `The ${key} is not accepted: ${refused.message}`, hint }
    : {
        name,
        status: 'failed',
        detail: `The daemon has failed to answer: ${refused.message}`,
        hint: 'agent daemon logs',
      }
}

/** Returns the error of a call; undefined when it succeeds. */
async function refusalOf(asked: Promise<unknown>): Promise<Error | undefined> {
  try {
    await asked
    return undefined
  } catch (error) {
    if (error instanceof ProblemError || error instanceof DaemonUnreachable) return error
    throw error
  }
}

/** The longest that an examination takes: a little longer than its checks. */
const timeoutMs = 20_000
export const deepTimeoutMs = 600_000

/**
 * Runs the process, which is given the environment that a daemon would be; a failed check when it does not
 * come to an end.
 */
export async function examineAtRest(env: NodeJS.ProcessEnv, isDeep: boolean): Promise<Check[]> {
  const [args, limitMs] = isDeep ? [['--deep'], deepTimeoutMs] : [[], timeoutMs]
  try {
    // It is this program's own process, built with it, so that its answer has the daemon's shape.
    return ((await askProgram('examine', args, env, limitMs)) as { checks: Check[] }).checks
  } catch (error) {
    if (!(error instanceof ProgramFailed)) throw error
    const detail = `The data folder could not be checked: ${error.message}.`
    return [{ name: 'data-folder', status: 'failed', detail, hint: 'agent daemon start' }]
  }
}
