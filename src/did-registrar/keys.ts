/** The private keys of the wallet's DIDs: made, and found by purpose; derived from the seed or sealed (wire.md 11.3). */
import { setImmediate as turn } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import PQueue from 'p-queue'
import { z } from 'zod'
import { fromBase64 } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { generateKey, isSameKey, toPublic, type PrivateJwk, type PublicJwk } from '../crypto/keys.ts'
import { usages, type PrismKey, type Usage } from '../did/prism/model.ts'
import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { getDidRow } from './dids.ts'
import { readContent } from './state.ts'

export type KeyRow = Selectable<WalletTables['did_key']>

/** What a key is made for. */
export type WantedKey = { id: string; usage: Usage; curve: KeyRow['curve'] }
/** A key that is made: where it stands on the seed's path, when it is derived, and the key itself. */
export type NewKey = WantedKey & { keyIndex: number | null; jwk: PrivateJwk }

const StoredJwk = z.object({
  kty: z.literal('OKP'),
  crv: z.enum(['Ed25519', 'X25519']),
  x: z.string(),
  d: z.string(),
})

/** The words the real agent uses for a purpose that has no key. */
const names = { authentication: 'Authentication', assertionMethod: 'AssertionMethod' } as const

/**
 * All wallets make keys one after the other, one in an iteration of the event loop: a key takes about two milliseconds, and requests wait
 * meanwhile. Without the queue each DID that is made would make one in the same iteration.
 */
const queue = new PQueue({ concurrency: 1 })

/**
 * Makes keys: on secp256k1 the next fitting ones of their usage on the seed's path, on other curves random ones. `used` tells the first free index.
 */
export async function makeKeys(
  wallet: Wallet,
  didIndex: number,
  wanted: readonly WantedKey[],
  used: ReadonlyMap<Usage, number>,
): Promise<NewKey[]> {
  const next = new Map(used)
  const made: NewKey[] = []
  const make = (key: WantedKey): NewKey => {
    if (key.curve !== 'secp256k1') return { ...key, keyIndex: null, jwk: generateKey(key.curve) }
    const derived = deriveKey(wallet, didIndex, key.usage, next.get(key.usage) ?? 0)
    next.set(key.usage, derived.keyIndex + 1)
    return { ...key, ...derived }
  }
  for (const key of wanted) {
    await queue.add(async () => {
      made.push(make(key))
      await turn()
    })
  }
  return made
}

/**
 * The key of a usage at an index, or the first after it whose coordinates begin with no zero byte: wallets of the Identus SDK (7.0.0) drop such a
 * byte, and verify nothing by one key in 128. A master key is not shown to them, and the first of all is what a DID is found again by.
 */
function deriveKey(
  wallet: Wallet,
  didIndex: number,
  usage: Usage,
  from: number,
): { keyIndex: number; jwk: PrivateJwk } {
  for (let keyIndex = from; ; keyIndex++) {
    const jwk = wallet.deriveKey({ didIndex, usage: usages[usage], keyIndex })
    const hasZero = [jwk.x, jwk.y!].some((coordinate) => fromBase64(coordinate)[0] === 0)
    if (usage === 'master' || !hasZero) return { keyIndex, jwk }
  }
}

/** How many keys of every usage were ever derived for a DID: the next one's place on the seed's path. */
export async function countKeys(wallet: Wallet, did: string): Promise<Map<Usage, number>> {
  const rows = await wallet.db
    .selectFrom('did_key')
    .select((eb) => ['usage', eb.fn.max('key_index').as('last')])
    .where('did', '=', did)
    .where('key_index', 'is not', null)
    .groupBy('usage')
    .execute()
  const byNumber = new Map(
    Object.entries(usages).map(([usage, number]) => [number as number, usage as Usage]),
  )
  return new Map(rows.map(({ usage, last }) => [byNumber.get(usage)!, last! + 1]))
}

/** Keeps keys beside the DID that they are of; there may be none. */
export async function putKeys(tx: Tx, rows: readonly KeyRow[]): Promise<void> {
  if (rows.length > 0) await tx.insertInto('did_key').values(rows).execute()
}

/** A key as operations carry it. */
export function toPrismKey({ id, usage, jwk }: NewKey): PrismKey {
  return { id, usage, publicKey: toPublic(jwk) }
}

/** A new key as its table keeps it. */
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
 * The key of a DID of this wallet that signs for a purpose: the one that `keyId` names, or the first on the curve that is preferred, or the
 * first. What the DID has now counts: a key that an update adds or removes does so when the ledger has confirmed it.
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
  const wanted = keyId?.replace(/^.*#/, '')
  const fitting = state.publicKeys.filter(
    ({ id, usage }) => usage === purpose && (wanted === undefined || wanted === id),
  )
  const key = fitting.find(({ publicKey }) => publicKey.crv === preferred) ?? fitting[0]
  const privateJwk = key && (await findPrivateKey(wallet, row.did, row.did_index, key))
  if (!privateJwk) {
    const which = wanted === undefined ? '' : ` with the id ${wanted}`
    throw new Problem(
      'error:CredentialServiceError:KeyNotFoundInDID',
      `${names[purpose]} key${which} not found for the ${row.did}. Create a DID that has one.`,
    )
  }
  return { keyId: key.id, privateJwk }
}

const keysById = prepared((db: Db, { did, id }: { did: string; id: string }) =>
  db.selectFrom('did_key').selectAll().where('did', '=', did).where('key_id', '=', id),
)

/** The private half of a key that a DID has, if this wallet made it or has found it again. */
export async function findPrivateKey(
  wallet: Wallet,
  did: string,
  didIndex: number,
  { id, publicKey }: { id: string; publicKey: PublicJwk },
): Promise<PrivateJwk | undefined> {
  const { rows } = await keysById(wallet.db, { did, id })
  return rows.map((row) => openKey(wallet, didIndex, row)).find((key) => isSameKey(toPublic(key), publicKey))
}

/** The private half of a key that a DID of this wallet has or once had, by whatever name; nothing when the wallet does not have it. */
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
  { did, key_id, operation_id, usage, key_index, sealed }: KeyRow,
): PrivateJwk {
  if (sealed === null) return wallet.deriveKey({ didIndex, usage, keyIndex: key_index! })
  return StoredJwk.parse(JSON.parse(wallet.unseal(contextOf(did, operation_id, key_id), sealed)))
}

function contextOf(did: string, operationId: string, keyId: string): string {
  return `did-key:${did}#${keyId}:${operationId}`
}
