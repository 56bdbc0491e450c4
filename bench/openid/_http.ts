/** Requests of wallets and tenants, and the JWTs in them. */
import { sign, type KeyObject } from 'node:crypto'
import { Pool } from 'undici'

/** The time limit of a request, in milliseconds. */
const patienceMs = 30_000

export const openPool = (url: string) =>
  new Pool(new URL(url).origin, { connections: 64, headersTimeout: patienceMs, bodyTimeout: patienceMs })

export type Request = { headers: Record<string, string>; body: string }

export const jsonOf = (body: object, headers: Record<string, string> = {}): Request => ({
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const formOf = (form: Record<string, string>): Request => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(form).toString(),
})

/** Posts, and parses the response. @throws if the status is not 2xx */
export async function post(pool: Pool, path: string, request?: Request): Promise<Record<string, any>> {
  return JSON.parse(await send(pool, { method: 'POST', path, ...request })) as Record<string, any>
}

/** The text of a response. @throws if the status is not 2xx */
export async function send(
  pool: Pool,
  options: { method: 'GET' | 'POST'; path: string } & Partial<Request>,
): Promise<string> {
  const response = await pool.request(options)
  const text = await response.body.text()
  if (response.statusCode >= 300)
    throw new Error(`${options.path} was answered ${response.statusCode}: ${text}`)
  return text
}

export const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

export const decode = (part: string) =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, any>

/** A compact JWT by a key on Ed25519 or P-256. */
export function signJwt(key: KeyObject, header: object, payload: object): string {
  const isEd25519 = key.asymmetricKeyType === 'ed25519'
  const input = `${encode({ alg: isEd25519 ? 'EdDSA' : 'ES256', ...header })}.${encode(payload)}`
  const signer = isEd25519 ? key : { key, dsaEncoding: 'ieee-p1363' as const }
  return `${input}.${sign(isEd25519 ? null : 'sha256', Buffer.from(input), signer).toString('base64url')}`
}
