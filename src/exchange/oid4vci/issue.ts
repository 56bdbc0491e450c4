/** Issues the credentials of a grant: each once, for the keys that the wallet proved to have. */
import { Problem } from '../../foundation/problem.ts'
import { includesDid } from '../../did/document.ts'
import { getRecord } from '../engine/find.ts'
import { advance } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { LaterError, type Wallet } from '../../wallet/wallet.ts'
import type { ConfigurationRow } from './configurations.ts'
import type { GrantRow } from './grant.ts'
import { personOf, withPersonClaims } from './person-claims.ts'
import { reissue, reissueDeferred } from './reissue.ts'
import { assertRequested, assertUnused, type HolderKey, type Proven, signAll, useNonces } from './signing.ts'
import { type Sourced, sourcedOf } from './sourced.ts'
import { type Decision, noClaimsNow } from './claims-decision.ts'
import { beginDecided, noteFailure } from './deferred-claims.ts'
import { askForClaims, type Source, toSource } from './sourced-claims.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'

/** The most attempts. Another request may issue first, or another credential get the index of the status list. */
const attempts = 5

/** The requested credential, its grant, and the digest of an access token that was refreshed. */
type Asked = {
  recordId: string
  configuration: ConfigurationRow
  grant: GrantRow
  refreshed: string | undefined
}

/**
 * Signs and stores the credentials, or returns those that were issued to the same keys. Undefined: the issuer
 * has to approve the request first.
 *
 * @throws {OAuthError} `credential_request_denied`, `invalid_nonce`
 */
export function issueOnce(
  wallet: Wallet,
  { recordId, configuration, grant, refreshed }: Asked,
  proven: Proven,
): Promise<string[] | undefined> {
  const { keys, nonces } = proven
  let asked: { decision: Decision | undefined } | undefined
  return retryRaces(async () => {
    const record = await getRecord(wallet.db, issueCredential, recordId)
    const { state, automaticIssuance } = record
    if (state === 'CredentialSent')
      return refreshed === undefined || record.renewed?.token === refreshed
        ? issuedTo(record, keys)
        : reissue(wallet, record, proven, { token: refreshed, configuration })
    if (state === 'RequestDeferred' || state === 'RequestApproved')
      return assertRequested(record.requestedKeys ?? [], keys)
    if (state !== 'OfferRedeemed') throw isOverFor(record)
    const source = toSource(configuration)
    const isWhole = !source && record.openid4vci?.isPartial !== true
    const filled = isWhole ? await withPersonClaims(wallet, record, personOf(wallet, grant)) : record
    if (automaticIssuance === false) return deferNow(wallet, filled, proven)
    // The source is asked once, whoever issues first.
    asked ??= { decision: await askFirst(wallet, filled, source, nonces) }
    const { decision } = asked
    if (decision && decision.kind !== 'claims') return waitFor(wallet, filled, proven, decision)
    const use = (tx: Tx) => useNonces(tx, nonces)
    const taken = withToken(filled, refreshed)
    return issueNow(wallet, taken, keys, 'received credential request', decision?.sourced, use)
  })
}

/**
 * The credentials of a deferred request. Undefined: the issuer has not approved it.
 *
 * @param refreshed the digest of an access token that was refreshed
 * @throws {OAuthError} `credential_request_denied`
 */
export function issueDeferred(
  wallet: Wallet,
  recordId: string,
  refreshed: string | undefined,
): Promise<string[] | undefined> {
  return retryRaces(async () => {
    const record = await getRecord(wallet.db, issueCredential, recordId)
    const { state, requestedKeys = [] } = record
    if (record.renewing && refreshed !== undefined) return reissueDeferred(wallet, record, refreshed)
    if (state === 'CredentialSent') return issuedTo(record, requestedKeys)
    if (state === 'RequestDeferred') return undefined
    if (state !== 'RequestApproved') throw isOverFor(record)
    const sourced = sourcedOf(wallet, record)
    return issueNow(wallet, record, requestedKeys, 'received deferred credential request', sourced)
  })
}

/** The record of a first issuance with a refreshed token, whose request can be repeated as any other. */
function withToken(record: CredentialRecord, token: string | undefined): CredentialRecord {
  if (token === undefined) return record
  return { ...record, renewed: { count: 0, at: new Date().toISOString(), token } }
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

/**
 * Asks the claims source of a configuration that has one, but not for a proof that was used.
 *
 * @throws {OAuthError} `invalid_nonce`
 * @throws {Problem} 429 for too many requests; if another request was faster
 */
async function askFirst(
  wallet: Wallet,
  record: CredentialRecord,
  source: Source | undefined,
  nonces: Proven['nonces'],
): Promise<Decision | undefined> {
  if (source) await assertUnused(wallet, record, nonces)
  return askForClaims(wallet, record, source)
}

/**
 * Ends the request of a wallet whose claims are not there: for now, or for good.
 *
 * @throws {OAuthError} `credential_request_denied`
 * @throws {Problem} 503 if the wallet has to request again
 */
async function waitFor(
  wallet: Wallet,
  record: CredentialRecord,
  { keys, nonces }: Proven,
  decision: Exclude<Decision, { kind: 'claims' }>,
): Promise<undefined> {
  if (decision.kind === 'failed') {
    await noteFailure(wallet, record.id, decision.failure)
    throw noClaimsNow(decision.seconds)
  }
  await wallet.transaction(async (tx) => {
    await beginDecided(tx, record, decision, requestedBy(keys))
    await useNonces(tx, nonces)
  })
  if (decision.kind === 'refused')
    throw new OAuthError('credential_request_denied', 'The issuer has refused the credential.')
}

/** Stores the keys until the issuer approves the request. */
async function deferNow(
  wallet: Wallet,
  record: CredentialRecord,
  { keys, nonces }: Proven,
): Promise<undefined> {
  const change = { claims: record.claims, ...requestedBy(keys), metaLastFailure: undefined }
  await wallet.transaction(async (tx) => {
    await advance(tx, issueCredential, record, 'received credential request for review', change)
    await useNonces(tx, nonces)
  })
}

/** The keys as the record of a deferred request has them. */
function requestedBy(keys: Proven['keys']) {
  const requestedKeys = keys.map(({ holderDid, key }) => ({ holderDid, key }))
  const { holderDid } = requestedKeys[0]!
  return { requestedKeys, holderDid, subjectId: holderDid }
}

/** Signs before the transaction. */
async function issueNow(
  wallet: Wallet,
  record: CredentialRecord,
  keys: readonly HolderKey[],
  on: 'received credential request' | 'received deferred credential request',
  sourced: Sourced | undefined,
  use?: (tx: Tx) => Promise<void>,
): Promise<string[]> {
  const { change, credentials, store } = await signAll(wallet, record, keys, sourced)
  await wallet.transaction(async (tx) => {
    // First the state: the same request at once, of the same nonces, is a race, and gets the same
    // credentials.
    await advance(tx, issueCredential, record, on, { ...change, renewed: record.renewed })
    await use?.(tx)
    await store(tx)
  })
  return credentials
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

function isOverFor({ state }: CredentialRecord): OAuthError {
  return new OAuthError('credential_request_denied', `The offer cannot be used any more: ${state}.`)
}
