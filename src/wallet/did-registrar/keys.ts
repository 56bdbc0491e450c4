/**
 * The private keys of a wallet's DIDs: derived from the seed (secp256k1, P-256), or random and sealed
 * (Ed25519, X25519).
 */
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import PQueue from 'p-queue'
import { fromBase64 } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import {
  generateKey,
  isSameKey,
  toPublic,
  type PrivateJwk,
  type PublicJwk,
} from '../../foundation/crypto/keys.ts'
import { StoredOkp } from '../../did/peer.ts'
import { usageOf, usages, type PrismKey, type Usage } from '../../did/prism/model.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { rememberRows } from '../../foundation/storage/memory.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { Wallet } from '../wallet.ts'
import { getDidRow, readContent } from './dids.ts'

export type KeyRow = Selectable<WalletTables['did_key']>

/** A key to be created. */
export type KeySpec = { id: string; usage: Usage; curve: KeyRow['curve'] }
/** A created key. `keyIndex` is its index in the derivation path, null for a random key. */
export type NewKey = KeySpec & { keyIndex: number | null; jwk: PrivateJwk }

/** The Cloud Agent's names of purposes in error texts. */
const names = { authentication: 'Authentication', assertionMethod: 'AssertionMethod' } as const

/** One key per iteration of the event loop, for all wallets: deriving a key blocks for two milliseconds. */
const queue = new PQueue({ concurrency: 1 })

/**
 * Creates keys: derived ones on secp256k1 and P-256, others random. `nextIndexes` has the next index of each
 * usage.
 */
export async function createKeys(
  wallet: Wallet,
  didIndex: number,
  specs: readonly KeySpec[],
  nextIndexes: ReadonlyMap<Usage, number>,
): Promise<NewKey[]> {
  const next = new Map(nextIndexes)
  const keys: NewKey[] = []
  const create = (key: KeySpec): NewKey => {
    if (key.curve === 'Ed25519' || key.curve === 'X25519')
      return { ...key, keyIndex: null, jwk: generateKey(key.curve) }
    const derived = deriveKey(wallet, didIndex, { ...key, curve: key.curve }, next.get(key.usage) ?? 0)
    next.set(key.usage, derived.keyIndex + 1)
    return { ...key, ...derived }
  }
  for (const spec of specs) {
    await queue.add(async () => {
      keys.push(create(spec))
      await nextTick()
    })
  }
  return keys
}

/**
 * Derives the key at an index. On secp256k1 it is the first from there whose coordinates do not start with a
 * zero byte: the Identus SDK 7.0.0 drops that byte and cannot verify signatures of such keys (1 in 128).
 * Master keys are exempt: the SDK does not use them, and DIDs are restored by the first one.
 */
export function deriveKey(
  wallet: Wallet,
  didIndex: number,
  { usage, curve }: { usage: Usage; curve: 'secp256k1' | 'P-256' },
  from: number,
): { keyIndex: number; jwk: PrivateJwk } {
  for (let keyIndex = from; ; keyIndex++) {
    const jwk = wallet.deriveKey({ curve, didIndex, usage: usages[usage], keyIndex })
    const hasZero = [jwk.x, jwk.y!].some((coordinate) => fromBase64(coordinate)[0] === 0)
    if (curve === 'P-256' || usage === 'master' || !hasZero) return { keyIndex, jwk }
  }
}

/** The next free key index of each usage of a DID. */
export async function nextKeyIndexes(wallet: Wallet, did: string): Promise<Map<Usage, number>> {
  const rows = await wallet.db
    .selectFrom('did_key')
    .select((eb) => ['usage', eb.fn.max('key_index').as('last')])
    .where('did', '=', did)
    .where('key_index', 'is not', null)
    .groupBy('usage')
    .execute()
  return new Map(rows.map(({ usage, last }) => [usageOf.get(usage)!, last! + 1]))
}

export async function insertKeys(tx: Tx, rows: readonly KeyRow[]): Promise<void> {
  if (rows.length > 0) await tx.insertInto('did_key').values(rows).execute()
  for (const { did, key_id: id } of rows) knownKeys.note(tx, keyName(did, id))
}

/** A key as in an operation. */
export function toPrismKey({ id, usage, jwk }: NewKey): PrismKey {
  return { id, usage, publicKey: toPublic(jwk) }
}

/** A key as a row. Random keys are sealed. */
export function toKeyRow(
  wallet: Wallet,
  did: string,
  operationId: string,
  { id, usage, curve, keyIndex, jwk }: NewKey,
): KeyRow {
  const sealed = keyIndex === null ? wallet.seal(contextOf(did, operationId, id), JSON.stringify(jwk)) : null
  return {
    did,
    key_id: id,
    operation_id: operationId,
    usage: usages[usage],
    curve,
    key_index: keyIndex,
    sealed,
  }
}

/**
 * The signing key of a wallet's DID for a purpose: the key with `keyId`, otherwise the first on the preferred
 * curve, otherwise the first. Keys of pending updates do not count.
 *
 * @throws {Problem} 400 when the DID is not in the wallet, is deactivated, or has no such key.
 */
export async function getSigningKey(
  wallet: Wallet,
  didRef: string,
  purpose: 'authentication' | 'assertionMethod',
  keyId?: string,
  preferred?: KeyRow['curve'],
): Promise<{ keyId: string; privateJwk: PrivateJwk }> {
  const row = await getDidRow(wallet.db, didRef).catch((error: unknown) => {
    throw error instanceof Problem && error.status === 404
      ? new Problem('BadRequest', error.message, { cause: error })
      : error
  })
  const state = readContent(row.state)
  if (state.deactivated)
    throw new Problem(
      'BadRequest',
      `The DID ${row.did} is deactivated and can sign nothing any more. Use another.`,
    )
  const id = keyId?.replace(/^.*#/, '')
  const fitting = state.publicKeys.filter(
    (key) => key.usage === purpose && (id === undefined || id === key.id),
  )
  const key = fitting.find(({ publicKey }) => publicKey.crv === preferred) ?? fitting[0]
  const privateJwk = key && (await findPrivateKey(wallet, row.did, row.did_index, key))
  if (!privateJwk) {
    const which = id === undefined ? '' : ` with the id ${id}`
    throw new Problem(
      'error:CredentialServiceError:KeyNotFoundInDID',
      `${names[purpose]} key${which} not found for the ${row.did}. Create a DID that has one.`,
    )
  }
  return { keyId: key.id, privateJwk }
}

const keysById = prepared((db: Db, { did, id }: { did: string; id: string }) =>
  db.selectFrom('did_key').select(columns).where('did', '=', did).where('key_id', '=', id),
)

const columns = ['did', 'key_id', 'operation_id', 'usage', 'curve', 'key_index', 'sealed'] as const

const keyName = (did: string, id: string) => `${did} ${id}`

/** The keys of DIDs that are in use, sealed or as indexes. A key id may have several, one for each operation. */
const knownKeys = rememberRows('keys of DIDs', async (db: Db, name) => {
  const [did, id] = name.split(' ') as [string, string]
  return (await keysById(db, { did, id })).rows
})

/** Removes the keys of a DID. */
export async function deleteKeys(tx: Tx, did: string): Promise<void> {
  const rows = await tx.selectFrom('did_key').select('key_id').where('did', '=', did).execute()
  await tx.deleteFrom('did_key').where('did', '=', did).execute()
  for (const { key_id: id } of rows) knownKeys.note(tx, keyName(did, id))
}

/** The private key of a DID's public key, if the wallet has it. */
export async function findPrivateKey(
  wallet: Wallet,
  did: string,
  didIndex: number,
  { id, publicKey }: { id: string; publicKey: PublicJwk },
): Promise<PrivateJwk | undefined> {
  const rows = await knownKeys.find(wallet.db, keyName(did, id))
  return rows?.map((row) => openKey(wallet, didIndex, row)).find((key) => isSameKey(toPublic(key), publicKey))
}

/** The private key of a current or former public key of a wallet's DID, under any key id. */
export async function findKeyPair(
  wallet: Wallet,
  didRef: string,
  publicKey: PublicJwk,
): Promise<PrivateJwk | undefined> {
  const { did, did_index } = await getDidRow(wallet.db, didRef)
  const rows = await wallet.db.selectFrom('did_key').selectAll().where('did', '=', did).execute()
  return rows.map((row) => openKey(wallet, did_index, row)).find((key) => isSameKey(toPublic(key), publicKey))
}

function openKey(
  wallet: Wallet,
  didIndex: number,
  { did, key_id, operation_id, usage, curve, key_index, sealed }: KeyRow,
): PrivateJwk {
  if (sealed === null) {
    const derived = curve === 'P-256' ? curve : 'secp256k1'
    return wallet.deriveKey({ curve: derived, didIndex, usage, keyIndex: key_index! })
  }
  return StoredOkp.parse(JSON.parse(wallet.unseal(contextOf(did, operation_id, key_id), sealed)))
}

function contextOf(did: string, operationId: string, keyId: string): string {
  return `did-key:${did}#${keyId}:${operationId}`
}
