/** Decrypts every secret in a data folder with its master key (`docs/operate/keys.md`). */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fromBase64, fromUtf8 } from '../../../src/foundation/bytes.ts'
import { deriveSealKey, unseal } from '../../../src/foundation/seal.ts'
import { createDerivation } from '../../../src/foundation/crypto/derive.ts'
import { usages } from '../../../src/did/prism/model.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import type { Canary } from './_sweep.ts'

/** The purposes of keys derived from the agent's key. */
const purposes = [
  'agent-key',
  'api-keys',
  'authentication-tokens',
  'enterprise-submissions',
  'mailboxes',
  'mediator',
  'seed-digest',
  'status-lists',
  'wallet-keys',
]

type Row = Record<string, string | number | null>

/**
 * All keys and secrets of a closed folder, with `name` in their names, and their number by kind. @throws for
 * another master key.
 */
export function secretsIn(folder: string, masterKey: Uint8Array, name: string): Canary[] {
  const found: Canary[] = []
  const add = (kind: string, value: Uint8Array | string) => (
    found.push({ name: `${name}: ${kind}`, value }),
    value
  )
  const text = (sealKey: Uint8Array, context: string, sealed: unknown) =>
    fromUtf8(unseal(sealKey, context, String(sealed)))

  const agent = read(join(folder, 'agent.db'), 'setting', 'wallet')
  const wrapped = String(agent['setting']!.find((row) => row['name'] === 'agent-key')!['value'])
  const agentKey = unseal(deriveSealKey(masterKey, 'agent-key'), 'agent-key', wrapped)
  add('agent key', agentKey)
  for (const purpose of purposes) add(`key for ${purpose}`, deriveSealKey(agentKey, purpose))

  if (readdirSync(folder).includes('mediator.db')) {
    for (const { did, keys } of read(join(folder, 'mediator.db'), 'identity')['identity']!)
      addJwks(text(deriveSealKey(agentKey, 'mediator'), `mediator:${did}`, keys), 'mediator key')
  }

  for (const { id, wrapped_key } of agent['wallet']!) {
    const walletKey = unseal(deriveSealKey(agentKey, 'wallet-keys'), `wallet:${id}`, String(wrapped_key))
    add('wallet key', walletKey)
    const rows = read(join(folder, 'wallets', `${id}.db`), 'setting', 'peer_did', 'did', 'did_key', 'webhook')
    const seed = unseal(
      walletKey,
      `seed:${id}`,
      String(rows['setting']!.find((row) => row['name'] === 'seed')!['value']),
    )
    add('seed', seed)
    for (const { did, keys } of rows['peer_did']!)
      addJwks(text(walletKey, `peer-did:${did}`, keys), 'key of a did:peer')
    const derivation = createDerivation(seed)
    const indexes = new Map(rows['did']!.map(({ did, did_index }) => [did, Number(did_index)]))
    for (const didIndex of indexes.values())
      add(
        'master key of a did:prism',
        fromBase64(derivation.key({ didIndex, usage: usages.master, keyIndex: 0 }).d),
      )
    for (const { did, key_id, operation_id, usage, key_index, sealed } of rows['did_key']!) {
      if (sealed !== null)
        addJwks(text(walletKey, `did-key:${did}#${key_id}:${operation_id}`, sealed), 'random key of a DID')
      else {
        const path = { didIndex: indexes.get(did)!, usage: Number(usage), keyIndex: Number(key_index) }
        add('derived key of a DID', fromBase64(derivation.key(path).d))
      }
    }
    for (const { id: webhookId, headers, secrets } of rows['webhook']!) {
      // The row of the global webhook has none: its secrets are in the configuration.
      if (headers !== '')
        for (const value of Object.values(
          JSON.parse(text(walletKey, `webhook:${webhookId}`, headers)) as Record<string, string>,
        ))
          add('webhook header', value)
      if (secrets !== null)
        for (const { secret } of JSON.parse(text(walletKey, `webhook-secrets:${webhookId}`, secrets)) as {
          secret: string
        }[]) {
          add('webhook secret', secret)
          add('webhook secret', fromBase64(secret.replace('whsec_', '')))
        }
    }
  }
  return found

  /** The `d` of a JWK, or of each JWK in an object. */
  function addJwks(json: string, kind: string): void {
    const value = JSON.parse(json) as Record<string, unknown>
    const jwks = ('d' in value ? [value] : Object.values(value)) as { d: string }[]
    for (const { d } of jwks) add(kind, fromBase64(d))
  }
}

/** All rows of some tables of a file. */
function read(path: string, ...tables: string[]): Record<string, Row[]> {
  const database = openSqlite(path, { readonly: true })
  try {
    return Object.fromEntries(
      tables.map((table) => [table, database.prepare(`select * from ${table}`).all() as Row[]]),
    )
  } finally {
    database.close()
  }
}
