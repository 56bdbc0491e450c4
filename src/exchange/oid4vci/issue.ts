/** Issues the credentials of a session: each once, for the keys that the wallet proved to have. */
import { Problem } from '../../foundation/problem.ts'
import { includesDid } from '../../did/document.ts'
import { getRecord } from '../engine/find.ts'
import { advance } from '../engine/record.ts'
import { signCredential, type SignedCredential } from '../issuance/sign.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { noteCount } from '../../foundation/storage/tx-context.ts'
import { LaterError, type Wallet } from '../../wallet/wallet.ts'
import { withLogInClaims } from './log-in/claims.ts'
import { invalidNonce, useNonce } from './nonce.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'

/** The most attempts. Another request may issue first, or another credential get the index of the status list. */
const attempts = 5

/** A key of the wallet, and the DID that names it. */
type HolderKey = NonNullable<CredentialRecord['requestedKeys']>[number]

/** The keys that a request proved, and the nonces of its proofs, each with its end in milliseconds since 1970. */
export type Proven = { keys: readonly HolderKey[]; nonces: ReadonlyMap<string, number> }

/**
 * Signs and stores the credentials, or returns those that were issued to the same keys. Undefined: the issuer
 * has to approve the request first.
 *
 * @throws {OAuthError} `credential_request_denied`, `invalid_nonce`
 */
export function issueOnce(
  wallet: Wallet,
  recordId: string,
  { keys, nonces }: Proven,
): Promise<string[] | undefined> {
  return retryRaces(async () => {
    const record = await getRecord(wallet.db, issueCredential, recordId)
    const { state, automaticIssuance } = record
    if (state === 'CredentialSent') return issuedTo(record, keys)
    if (state === 'RequestDeferred' || state === 'RequestApproved') return requireRequested(record, keys)
    if (state !== 'OfferRedeemed') throw isOverFor(record)
    const filled = await withLogInClaims(wallet, record)
    return automaticIssuance === false
      ? deferNow(wallet, filled, { keys, nonces })
      : issueNow(wallet, filled, keys, 'received credential request', (tx) => useNonces(tx, nonces))
  })
}

/**
 * The credentials of a deferred request. Undefined: the issuer has not approved it.
 *
 * @throws {OAuthError} `credential_request_denied`
 */
export function issueDeferred(wallet: Wallet, recordId: string): Promise<string[] | undefined> {
  return retryRaces(async () => {
    const record = await getRecord(wallet.db, issueCredential, recordId)
    const { state, requestedKeys = [] } = record
    if (state === 'CredentialSent') return issuedTo(record, requestedKeys)
    if (state === 'RequestDeferred') return undefined
    if (state !== 'RequestApproved') throw isOverFor(record)
    return issueNow(wallet, record, requestedKeys, 'received deferred credential request')
  })
}

async function retryRaces<T>(issue: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await issue()
    } catch (error) {
      // Another request was faster, or another credential got the index of the status list.
      const isFaster = error instanceof Problem && error.type === issueCredential.problems.wrongState
      const isRace = error instanceof LaterError || isFaster
      if (!isRace || attempt === attempts) throw error
    }
  }
}

/** Stores the keys until the issuer approves the request. */
async function deferNow(
  wallet: Wallet,
  record: CredentialRecord,
  { keys, nonces }: Proven,
): Promise<undefined> {
  const requestedKeys = keys.map(({ holderDid, key }) => ({ holderDid, key }))
  const { holderDid } = requestedKeys[0]!
  const change = {
    claims: record.claims,
    requestedKeys,
    holderDid,
    subjectId: holderDid,
    metaLastFailure: undefined,
  }
  await wallet.transaction(async (tx) => {
    await advance(tx, issueCredential, record, 'received credential request for review', change)
    await useNonces(tx, nonces)
  })
}

/** Signs before the transaction. */
async function issueNow(
  wallet: Wallet,
  record: CredentialRecord,
  keys: readonly HolderKey[],
  on: 'received credential request' | 'received deferred credential request',
  use?: (tx: Tx) => Promise<void>,
): Promise<string[]> {
  const issued: Issued[] = []
  for (const { holderDid, key: holderKey } of keys) {
    const made = await signCredential(wallet, { ...record, holderDid, holderKey })
    issued.push({ ...made, holderDid, holderKey })
  }
  const [first, ...more] = issued as [Issued, ...Issued[]]
  const { holderDid, holderKey, credential } = first
  const batch = more.map((each) => ({ holderDid: each.holderDid, credential: each.credential }))
  const holder = { holderDid, subjectId: holderDid, holderKey }
  const further = batch.length > 0 ? { batch } : {}
  const change = { ...holder, claims: record.claims, credential, metaLastFailure: undefined, ...further }
  await wallet.transaction(async (tx) => {
    // First the state: the same request at once, of the same nonces, is a race, and gets the same
    // credentials.
    await advance(tx, issueCredential, record, on, change)
    await use?.(tx)
    for (const { store } of issued) {
      await store(tx)
      noteCount(tx, 'agent_credentials_issued_total', { format: record.credentialFormat })
    }
  })
  return issued.map((each) => each.credential)
}

type Issued = { holderDid: string; holderKey: HolderKey['key'] } & SignedCredential

/** A nonce is of one request: all proofs of a batch may have it. @throws {OAuthError} `invalid_nonce` */
async function useNonces(tx: Tx, nonces: Proven['nonces']): Promise<void> {
  for (const [nonce, endsMs] of nonces) if (!(await useNonce(tx, nonce, endsMs))) throw invalidNonce()
}

/** The credentials of a record in the order of the keys. */
function issuedTo(
  { credential, holderDid, batch = [] }: CredentialRecord,
  keys: readonly Pick<HolderKey, 'holderDid'>[],
): string[] {
  const all = [{ holderDid, credential }, ...batch]
  return keys.map((key) => {
    const own = all.find((each) => includesDid([each.holderDid ?? ''], key.holderDid))
    if (own?.credential === undefined)
      throw new OAuthError('credential_request_denied', 'The credential was issued to another key.')
    return own.credential
  })
}

/** A repeated request must be for the keys of the first. */
function requireRequested({ requestedKeys = [] }: CredentialRecord, keys: readonly HolderKey[]): undefined {
  const requested = requestedKeys.map(({ holderDid }) => holderDid)
  if (!keys.every(({ holderDid }) => includesDid(requested, holderDid)))
    throw new OAuthError('credential_request_denied', 'The credential was requested for another key.')
}

function isOverFor({ state }: CredentialRecord): OAuthError {
  return new OAuthError('credential_request_denied', `The offer cannot be used any more: ${state}.`)
}
