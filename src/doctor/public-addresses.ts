/** The public addresses: who can reach them, as far as that can be told from here. */
import { networkInterfaces } from 'node:os'
import { z } from 'zod'
import { tryParseJson } from '../base/json.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import { isLocalHost } from '../net/public-url.ts'
import type { Finding } from './check.ts'

type Http = Pick<HttpClient, 'exchange'>

/** Less than a check may take, so that the reason is told. */
const timeoutMs = 4_000
const maxBytes = 65_536

const Health = z.object({ version: z.string() })
const WrongType = z.object({ type: z.literal('error:DIDCommControllerError:InvalidContentType') })

/** Asks the HTTP API, by its public URL, for its health. `host` is the address that the servers are bound to. */
export function checkApiUrl(http: Http, url: string, host = 'localhost'): Promise<Finding> {
  const ask = () =>
    http.exchange(`${url}/_system/health`, { method: 'GET', headers: {}, timeoutMs, maxBytes })
  const isOurs = (status: number, body: unknown) => status === 200 && Health.safeParse(body).success
  return check({ url, host, variable: 'REST_SERVICE_URL' }, ask, isOurs)
}

/** Sends the DIDComm endpoint, by its public URL, what it refuses in words of its own. */
export function checkDidcommUrl(http: Http, url: string, host = 'localhost'): Promise<Finding> {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'agent doctor',
    timeoutMs,
    maxBytes,
  } as const
  const isOurs = (status: number, body: unknown) => status === 400 && WrongType.safeParse(body).success
  return check(
    { url, host, variable: 'DIDCOMM_SERVICE_URL' },
    () => http.exchange(`${url}/`, request),
    isOurs,
  )
}

type Place = { url: string; host: string; variable: string }

async function check(
  { url, host, variable }: Place,
  ask: () => ReturnType<HttpClient['exchange']>,
  isOurs: (status: number, body: unknown) => boolean,
): Promise<Finding> {
  const hint = `${variable}=https://<address> agent daemon start   # one that leads here; check the proxy or the tunnel in between`
  let answer
  try {
    answer = await ask()
  } catch (error) {
    return {
      status: 'failed',
      detail: `${url} cannot be reached from here: ${(error as Error).message}.`,
      hint,
    }
  }
  if (!isOurs(answer.status, tryParseJson(answer.text))) {
    return {
      status: 'failed',
      detail: `${url} is answered by something else than this agent (status ${answer.status}).`,
      hint,
    }
  }
  const { hostname, port, protocol } = new URL(url)
  if (!isLocalHost(hostname)) return { status: 'ok', detail: `${url} leads here.` }
  if (isLocalHost(host)) {
    return {
      status: 'warning',
      detail: `${url} is reached from this machine only: not by phones, nor by agents elsewhere.`,
      hint: `AGENT_HOST=0.0.0.0 ${variable}=https://<public address> agent daemon start   # when others are to reach this agent`,
    }
  }
  const own = isAnyAddress(host) ? (firstAddress() ?? '<address>') : host
  const suggested = `${protocol}//${own.includes(':') ? `[${own}]` : own}${port === '' ? '' : `:${port}`}`
  return {
    status: 'warning',
    detail: `The agent listens at ${host}, but what it hands out (invitations, DIDs, links) says ${url}: whoever follows it elsewhere comes to their own machine.`,
    hint: `agent daemon stop; ${variable}=${suggested} agent daemon start   # invitations that are out keep the old address`,
  }
}

function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** The first address by which other machines may know this one. */
function firstAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address
}
