/**
 * Exports and imports of wallets between agents, as bytes. The agents of this process derive the key of a
 * passphrase and a salt once, because each derivation takes half a second.
 */
import crypto from 'node:crypto'
import type { TestAgent } from '../../support/agent.ts'
import { adminToken } from '../../support/agent.ts'

export const passphrase = 'correct horse battery staple'

const derive = crypto.scrypt
const derived = new Map<string, Buffer>()
crypto.scrypt = ((...given: [string, Buffer, number, object, (error: Error | null, key: Buffer) => void]) => {
  const [passphrase, salt, length, cost, done] = given
  const name = JSON.stringify([passphrase, salt.toString('hex'), length, cost])
  const known = derived.get(name)
  // The agent overwrites the key that it gets.
  if (known) return void setImmediate(done, null, Buffer.from(known))
  derive(passphrase, salt, length, cost, (error, key) => {
    if (!error) derived.set(name, Buffer.from(key))
    done(error, key)
  })
}) as typeof crypto.scrypt

export type Refused = { status: number; type: string; detail: string }

/** Exports a wallet. Returns the bytes, or the problem. */
export async function exportFrom(
  agent: TestAgent,
  walletId: string,
  options: { move?: boolean; passphrase?: string } = {},
): Promise<Buffer> {
  const response = await agent.send('POST', `/wallets/${walletId}/export`, {
    headers: { 'x-admin-api-key': adminToken },
    body: JSON.stringify({ passphrase, ...options }),
  })
  if (response.status !== 200)
    throw Object.assign(new Error(await response.clone().text()), { problem: await response.json() })
  return Buffer.from(await response.arrayBuffer())
}

/** Imports bytes. Returns the wallet. @throws with the problem, as the client does. */
export async function importInto(
  agent: TestAgent,
  bytes: Uint8Array,
  { query = '', ...options }: { query?: string; passphrase?: string } = {},
): Promise<{ id: string; name: string; movedAt?: string }> {
  const response = await agent.send('POST', `/wallets/import${query}`, {
    headers: {
      'x-admin-api-key': adminToken,
      'content-type': 'application/octet-stream',
      'x-passphrase': Buffer.from(options.passphrase ?? passphrase).toString('base64url'),
    },
    body: bytes,
  })
  const body = (await response.json()) as { id: string; name: string }
  if (response.status !== 201) throw Object.assign(new Error(JSON.stringify(body)), { problem: body })
  return body
}
