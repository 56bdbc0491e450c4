/** Checks the public URLs of the agent by calling them from here. */
import { networkInterfaces } from 'node:os'
import * as z from 'zod'
import { tryParseJson } from '../../foundation/json.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { authorityFileOf, type HttpsSettings } from '../../foundation/net/https.ts'
import { isLocalHost } from '../../foundation/net/public-url.ts'
import type { Finding } from './check.ts'

type Http = Pick<HttpClient, 'exchange'>

/** Below the time limit of a check, so that the finding names the reason. */
const timeoutMs = 4_000
const maxBytes = 65_536

const Health = z.object({ version: z.string() })
const WrongType = z.object({ type: z.literal('error:DIDCommControllerError:InvalidContentType') })

/** Calls the health endpoint at the public URL. `host` is the address to which the servers are bound. */
export function checkApiUrl(http: Http, url: string, host = 'localhost'): Promise<Finding> {
  const call = () =>
    http.exchange(`${url}/_system/health`, { method: 'GET', headers: {}, timeoutMs, maxBytes })
  const isThisAgent = (status: number, body: unknown) => status === 200 && Health.safeParse(body).success
  return check({ url, host, variable: 'REST_SERVICE_URL' }, call, isThisAgent)
}

/** Posts an invalid message to the public DIDComm URL, which the agent rejects with a problem of its own. */
export function checkDidcommUrl(http: Http, url: string, host = 'localhost'): Promise<Finding> {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'agent doctor',
    timeoutMs,
    maxBytes,
  } as const
  const isThisAgent = (status: number, body: unknown) => status === 400 && WrongType.safeParse(body).success
  return check(
    { url, host, variable: 'DIDCOMM_SERVICE_URL' },
    () => http.exchange(`${url}/`, request),
    isThisAgent,
  )
}

/**
 * Checks that the address of `--lan` is one of this machine now: networks assign others after a while.
 * `network` is CIDR.
 */
export function checkLan(network: string): Finding {
  const [address = ''] = network.split('/')
  if (hasAddress(address))
    return { status: 'ok', detail: `The agent answers in the local network, at ${address}.` }
  return {
    status: 'warning',
    detail: `${address} was this machine’s address in the local network when the agent started, and is not any more. Invitations and connections contain it.`,
    hint: 'agent daemon restart   # advertises the new address; connections made before keep the old one',
  }
}

/** Checks that the certificate of the servers is valid for a while. */
export async function checkCertificate(config: HttpsSettings): Promise<Finding> {
  const { readCertificate } = await import('../../foundation/net/certificate.ts')
  const { validTo, fingerprint256 } = readCertificate(config)
  const days = Math.floor((Date.parse(validTo) - Date.now()) / 86_400_000)
  const detail = `The certificate ${days < 0 ? 'has expired' : 'expires'} on ${validTo} (SHA-256 ${fingerprint256}).`
  if (days >= 30) return { status: 'ok', detail }
  const hint =
    authorityFileOf(config) === undefined
      ? 'renew the certificate in AGENT_TLS_CERT_FILE, then agent daemon restart'
      : 'agent daemon restart   # renews the certificate for development'
  return { status: days < 0 ? 'failed' : 'warning', detail, hint }
}

type PublicUrl = { url: string; host: string; variable: string }

async function check(
  { url, host, variable }: PublicUrl,
  call: () => ReturnType<HttpClient['exchange']>,
  isThisAgent: (status: number, body: unknown) => boolean,
): Promise<Finding> {
  const hint = `${variable}=https://<address> agent daemon restart   # the public address of this agent; check the proxy or tunnel in between`
  let answer
  try {
    answer = await call()
  } catch (error) {
    return {
      status: 'failed',
      detail: `${url} cannot be reached from here: ${(error as Error).message}.`,
      hint,
    }
  }
  if (!isThisAgent(answer.status, tryParseJson(answer.text))) {
    return { status: 'failed', detail: `Another server replies at ${url} (status ${answer.status}).`, hint }
  }
  const { hostname, port, protocol } = new URL(url)
  if (!isLocalHost(hostname)) return { status: 'ok', detail: `${url} reaches this agent.` }
  if (isLocalHost(host)) {
    return {
      status: 'warning',
      detail: `${url} works only on this machine, not for phones or agents elsewhere.`,
      hint: `agent daemon restart --lan   # for the local network; for others set ${variable} (docs/how-to/phones.md)`,
    }
  }
  const own = isAnyAddress(host) ? (firstAddress() ?? '<address>') : host
  const suggested = `${protocol}//${own.includes(':') ? `[${own}]` : own}${port === '' ? '' : `:${port}`}`
  return {
    status: 'warning',
    detail: `The agent listens at ${host}, but its invitations, DIDs and links contain ${url}, which on another machine is that machine itself.`,
    hint: `agent daemon stop; ${variable}=${suggested} agent daemon start   # existing invitations keep the old address`,
  }
}

function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

export function hasAddress(ip: string): boolean {
  return Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === ip))
}

/** The first IPv4 address of this machine that others may reach. */
function firstAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address
}
