/** The VDR keys of a wallet's DIDs, which sign operations on storage entries. */
import { Problem } from '../../foundation/problem.ts'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import { factsOf } from '../../definitions/did-names.ts'
import { usages } from '../../did/prism/model.ts'
import type { Wallet } from '../wallet.ts'
import { type DidRow, getDidRow, readContent, readState } from './dids.ts'
import { findPrivateKey } from './keys.ts'

const defaultKeyId = 'vdr-1'

export type VdrKey = { suffix: string; keyId: string; privateJwk: PrivateJwk }

/**
 * The active VDR key of a published DID of the wallet. `keyRef` is `<DID>#<key id>` or a key id; `did` is the
 * DID if `keyRef` names none. Without either, one DID of the wallet must have the key.
 *
 * @throws {Problem} 400 `MissingVdrKey` for no key or several, 400 `DeactivatedDid`
 */
export async function getVdrKey(wallet: Wallet, keyRef = defaultKeyId, did?: string): Promise<VdrKey> {
  const at = keyRef.lastIndexOf('#')
  const [named, keyId] = at < 0 ? [did, keyRef] : [keyRef.slice(0, at), keyRef.slice(at + 1)]
  const rows = named === undefined ? await rowsWithKey(wallet, keyId) : [await getRow(wallet, named)]
  const keys = (await Promise.all(rows.map((row) => findKey(wallet, row, keyId)))).filter(
    (key) => key !== undefined,
  )
  const [key, another] = keys
  if (key && !another) return key
  if (another) throw missing(`${keys.length} DIDs have a VDR key ${keyId}: name one as <DID>#${keyId}`)
  const state = named === undefined ? undefined : readState(rows[0]!.state)
  if (state?.deactivated)
    throw new Problem(
      'error:VdrServiceError:DeactivatedDid',
      `didKeyId: the DID ${rows[0]!.did} is deactivated, and can sign nothing any more. Use another.`,
    )
  const whose = named === undefined ? 'no published DID of this wallet has' : `the DID ${rows[0]!.did} has no`
  throw missing(`${whose} ${named === undefined ? 'a' : 'published'} VDR key ${keyId.slice(0, 100)}`)
}

/** A VDR key of a DID. Undefined: the wallet’s key `vdr-1`. */
export async function findVdrKeyRef({ db }: Wallet, did: string): Promise<string | undefined> {
  if (factsOf(did)?.kind !== 'ledger') return undefined
  const { state, status } = await getDidRow(db, did)
  const key = readContent(state).publicKeys.find(({ usage }) => usage === 'vdr')
  return key && status === 'PUBLISHED' ? `${did}#${key.id}` : undefined
}

function missing(reason: string): Problem {
  return new Problem(
    'error:VdrServiceError:MissingVdrKey',
    `didKeyId: ${reason}. A DID gets such a key by internalKeys of its template, or by the update ADD_INTERNAL_KEY.`,
  )
}

async function getRow(wallet: Wallet, did: string): Promise<DidRow> {
  const row = await getDidRow(wallet.db, did).catch((error: unknown) => {
    throw error instanceof Problem ? missing(`the DID ${did.slice(0, 100)} is not in this wallet`) : error
  })
  if (row.method !== 'prism') throw missing(`${did.slice(0, 100)} is not a did:prism`)
  return row
}

function rowsWithKey({ db }: Wallet, keyId: string): Promise<DidRow[]> {
  const dids = db
    .selectFrom('did_key')
    .select('did')
    .where('key_id', '=', keyId)
    .where('usage', '=', usages.vdr)
  return db.selectFrom('did').selectAll().where('method', '=', 'prism').where('did', 'in', dids).execute()
}

/** The key, if it is active in the confirmed state of the DID. A deactivated DID has none. */
async function findKey(wallet: Wallet, row: DidRow, keyId: string): Promise<VdrKey | undefined> {
  const { suffix, publicKeys } = readState(row.state)
  const key = publicKeys.find(({ id, usage }) => id === keyId && usage === 'vdr')
  if (row.status !== 'PUBLISHED' || !key) return undefined
  const privateJwk = await findPrivateKey(wallet, row.did, row.did_index, key)
  return privateJwk && { suffix, keyId, privateJwk }
}
