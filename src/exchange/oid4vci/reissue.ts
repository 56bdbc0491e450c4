/** Issues a credential anew for a wallet that has refreshed its access token (VCI §14.5). */
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { wrongState } from '../engine/protocol.ts'
import { updateData, updateWithEvent } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import type { DeferredRenewal } from '../issuance/requested.ts'
import { accessOf } from './configuration-access.ts'
import { type ConfigurationRow, findConfiguration } from './configurations.ts'
import { noClaimsNow } from './claims-decision.ts'
import { noteFailure } from './deferred-claims.ts'
import { hasChanged, planOldCopies } from './old-copies.ts'
import { assertRequested, assertUnused, type Proven, signAll, useNonces } from './signing.ts'
import { askForClaims, toSource } from './sourced-claims.ts'

/** The digest of the refreshed access token, and the configuration, unless it was removed. */
type Asked = { token: string; configuration: ConfigurationRow | undefined }

/**
 * Signs the credential for new keys, with the claims that its source gives now, else with those of the
 * record. Copies that the wallet has expire, or are revoked if the configuration wants that. Undefined: the
 * source has deferred the request. A later one of the wallet takes its place, with other keys.
 *
 * @throws {OAuthError} `credential_request_denied`, `invalid_nonce`
 * @throws {Problem} 503 while the claims source does not answer; if another request was faster
 */
export async function reissue(
  wallet: Wallet,
  record: CredentialRecord,
  { keys, nonces }: Proven,
  asked: Asked,
): Promise<string[] | undefined> {
  assertValid(record)
  const { token, configuration } = asked
  const before = record.renewing
  if (before?.token === token) return assertRequested(before.keys, keys)
  if (configuration && toSource(configuration)) await assertUnused(wallet, record, nonces)
  const renewing: DeferredRenewal = {
    keys: keys.map(({ holderDid, key }) => ({ holderDid, key })),
    token,
    need: before?.need ?? `${record.id}.${token.slice(0, 16)}`,
    // The wallet can wait for as long as its token is valid.
    progress: { ...before?.progress, since: Date.now() },
  }
  return renew(wallet, record, renewing, { ...asked, nonces })
}

/**
 * As `reissue`, for a request that was deferred. The source is asked when the wallet asks, not before the
 * time that it named.
 *
 * @param token the digest of any refreshed access token of the grant
 * @throws as `reissue`
 */
export async function reissueDeferred(
  wallet: Wallet,
  record: CredentialRecord,
  token: string,
): Promise<string[] | undefined> {
  assertValid(record)
  await wallet.env.limitOffers(record.id)
  const { issuerId, configurationId } = record.openid4vci!
  const configuration = await findConfiguration(wallet.env.db, issuerId, configurationId)
  return renew(wallet, record, record.renewing!, { token, configuration, nonces: new Map() })
}

async function renew(
  wallet: Wallet,
  record: CredentialRecord,
  renewing: DeferredRenewal,
  { token, configuration, nonces }: Asked & Pick<Proven, 'nonces'>,
): Promise<string[] | undefined> {
  const source = configuration && toSource(configuration)
  const wait = (change: Partial<CredentialRecord>) =>
    wallet.transaction(async (tx) => {
      const current = await getCurrent(tx, record)
      await useNonces(tx, nonces)
      // The transaction of an earlier request is over.
      await updateData(tx, current, { renewing, requestedKeys: undefined, ...change })
    })
  if (source && Date.now() < (renewing.progress.askAtMs ?? 0)) {
    if (renewing !== record.renewing) await wait({})
    return undefined
  }
  const waiting = record.renewing ? { ...record, renewing } : record
  const need = { purpose: 'refresh', id: renewing.need } as const
  const decision = await askForClaims(wallet, waiting, source, need)
  if (decision?.kind === 'deferred') {
    const { claimsSource: progress, metaLastFailure } = decision.change
    await wait({ renewing: { ...renewing, progress }, metaLastFailure })
    return undefined
  }
  if (decision && decision.kind !== 'claims') {
    await noteFailure(wallet, record.id, decision.failure)
    if (decision.kind === 'failed') throw noClaimsNow(decision.seconds)
    throw new OAuthError('credential_request_denied', 'The issuer does not renew the credential.')
  }
  const { change, credentials, store } = await signAll(wallet, record, renewing.keys, decision?.sourced)
  const { onChange } = (configuration && accessOf(configuration).renewal) ?? {}
  const revokes =
    onChange === 'revoke' && decision !== undefined && hasChanged(record, decision.sourced.claims)
  const renewed = { count: (record.renewed?.count ?? 0) + 1, at: new Date().toISOString(), token }
  // The deferred endpoint gives the credentials of a deferred request again.
  const requestedKeys = record.renewing && renewing.keys
  await wallet.transaction(async (tx) => {
    const current = await getCurrent(tx, record)
    await useNonces(tx, nonces)
    const again = { notification: undefined, notifications: undefined, renewing: undefined, requestedKeys }
    await updateWithEvent(tx, issueCredential, current, { ...change, ...again, renewed })
    if (revokes) await planOldCopies(tx, record.id)
    await store(tx)
  })
  return credentials
}

/**
 * The record, unless it was revoked meanwhile.
 *
 * @throws {OAuthError} `credential_request_denied`
 * @throws {Problem} if another request was faster
 */
async function getCurrent(tx: Tx, { id, renewed, renewing }: CredentialRecord): Promise<CredentialRecord> {
  const current = await getRecord(tx, issueCredential, id)
  assertValid(current)
  if (current.renewed?.token !== renewed?.token || current.renewing?.token !== renewing?.token)
    throw wrongState(issueCredential, current, 'received credential request')
  return current
}

function assertValid({ revocation }: CredentialRecord): void {
  if (revocation) throw new OAuthError('credential_request_denied', 'The issuer has revoked the credential.')
}
