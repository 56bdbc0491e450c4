/** The wallet's did:prism DIDs: made from a template, listed, found by either form (api.md 4.4). */
import type { Selectable } from 'kysely'
import { toHex } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { generateKey, toPublic, type PrivateJwk } from '../crypto/keys.ts'
import { parsePrismDid, toLongForm, toShortForm } from '../did/prism/did.ts'
import { InvalidOperation, masterKeyId, usages, type PrismKey, type Usage } from '../did/prism/model.ts'
import { encodeOperation, operationHash, signOperation } from '../did/prism/operations.ts'
import { toPrismService } from '../did/prism/service.ts'
import { createState } from '../did/prism/state.ts'
import type { Db } from '../storage/database.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { CreateManagedDid, ManagedDid } from './model.ts'

type DidRow = Selectable<WalletTables['prism_did']>
type KeyRow = Selectable<WalletTables['prism_key']>

/** A DID of this wallet: both forms and its status. */
export type OwnDid = { did: string; longForm: string; status: DidRow['status'] }

/** Makes a DID and returns its long form. @throws {Problem} 422 when the template breaks a rule. */
export async function createDid(wallet: Wallet, template: CreateManagedDid): Promise<string> {
  for (;;) {
    const { last } = await wallet.db
      .selectFrom('prism_did')
      .select((eb) => eb.fn.max('did_index').as('last'))
      .executeTakeFirstOrThrow()
    const didIndex = last === null ? 0 : last + 1
    const made = makeDid(wallet, template, didIndex)
    const isKept = await wallet.transaction(async (tx) => {
      // Another DID may have taken the index while this one's keys were derived.
      const taken = await tx.selectFrom('prism_did').select('did').where('did_index', '=', didIndex).executeTakeFirst()
      if (taken) return false
      await tx.insertInto('prism_did').values(made.row).execute()
      await tx.insertInto('prism_key').values(made.keys).execute()
      return true
    })
    if (isKept) return made.row.long_form
  }
}

/** The wallet's DID that a reference means, short or long. @throws {Problem} 400 when it is no did:prism, 404 when it is not the wallet's. */
export async function getOwnDid(db: Db, didRef: string): Promise<OwnDid> {
  const row = await getDidRow(db, didRef)
  return { did: row.did, longForm: row.long_form, status: row.status }
}

/** True when a did:prism, short or long, is the wallet's. @throws {Problem} 400 when it is no did:prism. */
export async function isOwnDid(db: Db, didRef: string): Promise<boolean> {
  return (
    (await db
      .selectFrom('prism_did')
      .select('did')
      .where('did', '=', toShortForm(suffixOf(didRef)))
      .executeTakeFirst()) !== undefined
  )
}

/** The row of a DID. @throws {Problem} as `getOwnDid`. */
export async function getDidRow(db: Db, didRef: string): Promise<DidRow> {
  const did = toShortForm(suffixOf(didRef))
  const row = await db.selectFrom('prism_did').selectAll().where('did', '=', did).executeTakeFirst()
  if (!row) throw new Problem('NotFound', `The DID ${did} is not in this wallet.`)
  return row
}

/** A page of the wallet's DIDs in the order of their making, and how many there are. */
export async function listDids(
  db: Db,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ dids: ManagedDid[]; total: number }> {
  const { total } = await db
    .selectFrom('prism_did')
    .select((eb) => eb.fn.countAll().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await db.selectFrom('prism_did').selectAll().orderBy('did_index').offset(offset).limit(limit).execute()
  return { dids: rows.map(toManagedDid), total: Number(total) }
}

/** A DID as REST and events show it. */
export function toManagedDid({ did, long_form: longFormDid, status }: DidRow): ManagedDid {
  return status === 'PUBLISHED' ? { did, status } : { did, longFormDid, status }
}

function suffixOf(didRef: string): string {
  try {
    return parsePrismDid(didRef).suffix
  } catch (error) {
    throw new Problem('BadRequest', (error as Error).message, { cause: error })
  }
}

/** The rows of a new DID: keys of the template in its order, then the internal ones, then the master key (wire.md 11.3). */
function makeDid(wallet: Wallet, { documentTemplate }: CreateManagedDid, didIndex: number): { row: DidRow; keys: KeyRow[] } {
  const { publicKeys, internalKeys, services, contexts } = documentTemplate
  const counts = new Map<Usage, number>()
  const wanted = [
    ...publicKeys.map(({ id, purpose, curve }) => ({ id, usage: purpose as Usage, curve })),
    ...internalKeys.map(({ id, purpose }) => ({ id, usage: purpose as Usage, curve: 'secp256k1' as const })),
    { id: masterKeyId, usage: 'master' as const, curve: 'secp256k1' as const },
  ]
  if (wanted.filter(({ id }) => id === masterKeyId).length > 1) throw refused(`the key id ${masterKeyId} is reserved for the master key`)
  const keys = wanted.map(({ id, usage, curve }) => {
    checkCurve(id, usage, curve)
    const keyIndex = counts.get(usage) ?? 0
    counts.set(usage, keyIndex + (curve === 'secp256k1' ? 1 : 0))
    const isDerived = curve === 'secp256k1'
    const jwk = isDerived ? wallet.deriveKey({ didIndex, usage: usages[usage], keyIndex }) : generateKey(curve)
    return { id, usage, curve, keyIndex: isDerived ? keyIndex : null, jwk }
  })
  const operation = encodeTemplate({
    publicKeys: keys.map(({ id, usage, jwk }) => ({ id, usage, publicKey: toPublic(jwk) })),
    services: services.map(toPrismService),
    contexts,
  })
  const did = toShortForm(operationHash(operation))
  const row: DidRow = {
    did,
    long_form: toLongForm(operation),
    did_index: didIndex,
    status: 'CREATED',
    create_operation: toHex(signOperation(operation, masterKeyId, keys.at(-1)!.jwk)),
    created_at: new Date().toISOString(),
    updated_at: null,
  }
  return { row, keys: keys.map((key) => toKeyRow(wallet, did, key)) }
}

type NewKey = { id: string; usage: Usage; curve: KeyRow['curve']; keyIndex: number | null; jwk: PrivateJwk }

function toKeyRow(wallet: Wallet, did: string, { id, usage, curve, keyIndex, jwk }: NewKey): KeyRow {
  const sealed = keyIndex === null ? wallet.seal(`prism-key:${did}#${id}`, JSON.stringify(jwk)) : null
  return { did, key_id: id, usage: usages[usage], curve, key_index: keyIndex, sealed }
}

function encodeTemplate(content: {
  publicKeys: PrismKey[]
  services: ReturnType<typeof toPrismService>[]
  contexts: string[]
}): Uint8Array {
  try {
    const operation = encodeOperation({ operation: 'create', ...content })
    createState(operation)
    return operation
  } catch (error) {
    if (error instanceof InvalidOperation) throw refused(error.message, error)
    throw error
  }
}

/** Which curve may serve which purpose (api.md 4.4); the text is the real agent's. */
function checkCurve(id: string, usage: Usage, curve: KeyRow['curve']): void {
  const isRight =
    curve === 'secp256k1' ||
    (curve === 'Ed25519' && (usage === 'authentication' || usage === 'assertionMethod')) ||
    (curve === 'X25519' && usage === 'keyAgreement')
  if (isRight) return
  throw refused(`key ${id}: Ed25519 must be used in [Authentication, AssertionMethod]. X25519 must be used in [KeyAgreement]`)
}

function refused(reason: string, cause?: unknown): Problem {
  return new Problem('UnprocessableEntity', `The document template is not accepted: ${reason}.`, { cause })
}
