/** What is asked of the daemon: whether it answers, whether it is of this version, whether the keys let us in, and how it finds itself. */
import { DaemonUnreachable, ProblemError, type Client } from '../../daemon/client/client.ts'
import { toReport } from '../errors/report.ts'
import type { Check } from './check.ts'

/** Whether a daemon answers, and whether it is of the version of this program. */
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

/** Whether the tenant's key lets us in. */
export async function checkTenantKey(call: Client, hasKey: boolean): Promise<Check> {
  const refused = await refusalOf(call('GET /connections', { query: { limit: 1 } }))
  return judgeKey('tenant-key', 'tenant’s key', 'AGENT_API_KEY or --api-key-file', hasKey, refused)
}

/** Whether the administrator's key lets us in, and if it does what the daemon finds when it examines itself. */
export async function examine(call: Client, hasKey: boolean): Promise<Check[]> {
  let theirs: Check[] = []
  const refused = await refusalOf(call('GET /_system/doctor').then(({ checks }) => (theirs = checks)))
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
      detail: hasKey ? `The ${key} is accepted.` : `The daemon asks for no ${key}.`,
    }
  const hint = `give the ${key} in ${where}, or name the --profile of a daemon on this machine`
  const isKeys = refused instanceof ProblemError && [401, 403].includes(refused.problem.status)
  if (isKeys && !hasKey) return { name, status: 'warning', detail: `No ${key} is known.`, hint }
  return isKeys
    ? { name, status: 'failed', detail: `The ${key} is not accepted: ${refused.message}`, hint }
    : {
        name,
        status: 'failed',
        detail: `The daemon did not do what it was asked: ${refused.message}`,
        hint: 'agent daemon logs',
      }
}

/** Why the daemon did not do what it was asked. */
async function refusalOf(asked: Promise<unknown>): Promise<Error | undefined> {
  try {
    await asked
    return undefined
  } catch (error) {
    if (error instanceof ProblemError || error instanceof DaemonUnreachable) return error
    throw error
  }
}
