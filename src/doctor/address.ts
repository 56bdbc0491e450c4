/** The public addresses: who can reach them, as far as that can be told from here. */
import { z } from 'zod'
import { isLoopbackAddress } from '../net/addresses.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import type { Finding } from './check.ts'

type Http = Pick<HttpClient, 'exchange'>

/** Less than a check may take, so that the reason is told. */
const timeoutMs = 4_000
const maxBytes = 65_536

const Health = z.object({ version: z.string() })
const WrongType = z.object({ type: z.literal('error:DIDCommControllerError:InvalidContentType') })

/** Asks the HTTP API, by its public URL, for its health. */
export function checkApiUrl(http: Http, url: string): Promise<Finding> {
  const ask = () => http.exchange(`${url}/_system/health`, { method: 'GET', headers: {}, timeoutMs, maxBytes })
  const isOurs = (status: number, body: unknown) => status === 200 && Health.safeParse(body).success
  return check(url, 'REST_SERVICE_URL', ask, isOurs)
}

/** Sends the DIDComm endpoint, by its public URL, what it refuses in words of its own. */
export function checkDidcommUrl(http: Http, url: string): Promise<Finding> {
  const request = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'agent doctor', timeoutMs, maxBytes } as const
  const isOurs = (status: number, body: unknown) => status === 400 && WrongType.safeParse(body).success
  return check(url, 'DIDCOMM_SERVICE_URL', () => http.exchange(`${url}/`, request), isOurs)
}

async function check(
  url: string,
  variable: string,
  ask: () => ReturnType<HttpClient['exchange']>,
  isOurs: (status: number, body: unknown) => boolean,
): Promise<Finding> {
  const hint = `set ${variable} to an address that leads here, and check the proxy or the tunnel in between`
  let answer
  try {
    answer = await ask()
  } catch (error) {
    return { status: 'failed', detail: `${url} cannot be reached from here: ${(error as Error).message}.`, hint }
  }
  if (!isOurs(answer.status, toJson(answer.text))) {
    return { status: 'failed', detail: `${url} is answered by something else than this agent (status ${answer.status}).`, hint }
  }
  if (!isThisMachine(new URL(url).hostname)) return { status: 'ok', detail: `${url} leads here.` }
  return {
    status: 'warning',
    detail: `${url} is reached from this machine only: not by phones, nor by agents elsewhere.`,
    hint: `set ${variable} to a public address when others are to reach this agent`,
  }
}

function isThisMachine(hostname: string): boolean {
  return /^(?:.+\.)?localhost$/.test(hostname) || isLoopbackAddress(hostname.replace(/^\[(.*)\]$/, '$1'))
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
