/**
 * Keys that credentials are bound to without a DID of the holder (`cnf.jwk`): each is a did:jwk of the wallet
 * on P-256, made for one credential, so that verifiers cannot link credentials by the key.
 */
import type { PrivateJwk, PublicJwk } from '../../foundation/crypto/keys.ts'
import { Problem } from '../../foundation/problem.ts'
import { didOf } from '../../did/document.ts'
import { createJwkDid } from '../../did/jwk.ts'
import type { Wallet } from '../wallet.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { forgetDid, getManagedDid, isManagedDid, nextDidIndex, readContent } from './dids.ts'
import { deleteKeys, findKeyPair, getSigningKey } from './keys.ts'
import { createSingleKeyDid } from './single-key.ts'

/** A key, its DID, and its id as a DID URL. */
export type HolderKey = { did: string; kid: string; privateJwk: PrivateJwk }

/** Creates keys, one for each copy of a credential. Returns their DIDs. */
export async function createHolderKeys(wallet: Wallet, count: number): Promise<string[]> {
  const dids: string[] = []
  while (dids.length < count) dids.push(await createSingleKeyDid(wallet, 'jwk', 'P-256', { ofHolder: true }))
  return dids
}

/**
 * Removes keys of `createHolderKeys` whose credentials were replaced. What has a label or the credential of
 * another record stays, and so does the newest DID: its index, from which the key is derived, would be free.
 */
export async function removeHolderKeys(tx: Tx, dids: readonly string[]): Promise<void> {
  if (dids.length === 0) return
  const rows = await tx
    .selectFrom('did')
    .select(['did', 'state'])
    .where('did', 'in', dids)
    .where('label', 'is', null)
    .where('did_index', '<', (await nextDidIndex(tx)) - 1)
    .where('did', 'not in', tx.selectFrom('credential').select('subject').where('subject', 'in', dids))
    .execute()
  for (const { did, state } of rows) {
    if (!readContent(state).ofHolder) continue
    await deleteKeys(tx, did)
    await tx.deleteFrom('did').where('did', '=', did).execute()
    forgetDid(tx, did)
  }
}

/** The keys of DIDs of `createHolderKeys`. @throws {Problem} 400 if the wallet does not have one */
export async function getHolderKeys(wallet: Wallet, dids: readonly string[]): Promise<HolderKey[]> {
  const keys: HolderKey[] = []
  for (const did of dids) {
    const { keyId, privateJwk } = await getSigningKey(wallet, did, 'authentication')
    keys.push({ did, kid: `${did}#${keyId}`, privateJwk })
  }
  return keys
}

/** The key with this public half, with whatever further members. Undefined if the wallet does not have it. */
export async function findHolderKey(wallet: Wallet, publicKey: PublicJwk): Promise<HolderKey | undefined> {
  const did = createJwkDid(publicKey)
  if (!(await isManagedDid(wallet.db, did))) return undefined
  const privateJwk = await findKeyPair(wallet, did, publicKey)
  return privateJwk && { did, kid: `${did}#0`, privateJwk }
}

/**
 * The private key that a credential of this subject is bound to: by a key, or by a DID or DID URL. Undefined
 * if the wallet does not have it.
 */
export async function findBoundKey(
  wallet: Wallet,
  subject: string | null | undefined,
  { holderKey, holderKid }: { holderKey?: PublicJwk | undefined; holderKid?: string | undefined },
): Promise<PrivateJwk | undefined> {
  const named = holderKid === undefined ? undefined : await findNamed(wallet, holderKid)
  // The wallet may have the key by another spelling of its did:jwk.
  if (named || !holderKey) return named
  const ofSubject = subject ? await orUndefined(() => findKeyPair(wallet, subject, holderKey)) : undefined
  return ofSubject ?? (await findHolderKey(wallet, holderKey))?.privateJwk
}

/** The key of a DID or DID URL. */
function findNamed(wallet: Wallet, kid: string): Promise<PrivateJwk | undefined> {
  const keyId = kid.includes('#') ? kid : undefined
  return orUndefined(
    async () => (await getSigningKey(wallet, didOf(kid), 'authentication', keyId)).privateJwk,
  )
}

/** The key, or undefined if the DID is not of this wallet, is deactivated, or has no such key. */
async function orUndefined<Key>(find: () => Promise<Key | undefined>): Promise<Key | undefined> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

export function keysOf(wallet: Wallet) {
  return {
    /** The authentication key of a DID. @throws {Problem} without one */
    ofDid: (did: string) => getSigningKey(wallet, did, 'authentication'),
    /** Others cannot resolve the short form of an unpublished DID. */
    async formsOf(subject: string) {
      const { did, longForm, status } = await getManagedDid(wallet.db, subject)
      return { longForm, resolvable: status === 'PUBLISHED' ? did : longForm }
    },
    confirmed: (subject: string | null, confirmation: Parameters<typeof findBoundKey>[2]) =>
      findBoundKey(wallet, subject, confirmation),
  }
}
