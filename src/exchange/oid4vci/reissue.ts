/** Issues a credential anew for a wallet that has refreshed its access token (VCI §14.5). */
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { wrongState } from '../engine/protocol.ts'
import { updateWithEvent } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import type { Renewal } from './configuration-access.ts'
import { failureOf, noClaimsNow } from './claims-decision.ts'
import { noteFailure } from './deferred-claims.ts'
import { hasChanged, planOldCopies } from './old-copies.ts'
import { assertUnused, type Proven, signAll, useNonces } from './signing.ts'
import { askForClaims, type Source } from './sourced-claims.ts'

/**
 * Signs the credential for new keys, with the claims that its source gives now, else with those of the
 * record. Copies that the wallet has expire, or are revoked if the configuration wants that.
 *
 * @throws {OAuthError} `credential_request_denied`, `invalid_nonce`
 * @throws {Problem} 503 while the claims source does not answer; if another request was faster
 */
export async function reissue(
  wallet: Wallet,
  record: CredentialRecord,
  { keys, nonces }: Proven,
  { token, source, onChange }: { token: string; source: Source | undefined; onChange: Renewal['onChange'] },
): Promise<string[]> {
  if (record.revocation)
    throw new OAuthError('credential_request_denied', 'The issuer has revoked the credential.')
  if (source) await assertUnused(wallet, record, nonces)
  const need = { purpose: 'refresh', id: `${record.id}.${token.slice(0, 16)}` } as const
  const decision = await askForClaims(wallet, record, source, need)
  if (decision && decision.kind !== 'claims') {
    await noteFailure(wallet, record.id, failureOf(decision))
    if (decision.kind === 'refused')
      throw new OAuthError('credential_request_denied', 'The issuer does not renew the credential.')
    throw noClaimsNow(decision.kind === 'failed' ? decision.seconds : undefined)
  }
  const { change, credentials, store } = await signAll(wallet, record, keys, decision?.sourced)
  const revokes =
    onChange === 'revoke' && decision !== undefined && hasChanged(record, decision.sourced.claims)
  const renewed = { count: (record.renewed?.count ?? 0) + 1, at: new Date().toISOString(), token }
  await wallet.transaction(async (tx) => {
    const current = await getRecord(tx, issueCredential, record.id)
    if (current.renewed?.token !== record.renewed?.token)
      throw wrongState(issueCredential, current, 'received credential request')
    await useNonces(tx, nonces)
    const again = { notification: undefined, notifications: undefined }
    await updateWithEvent(tx, issueCredential, current, { ...change, ...again, renewed })
    if (revokes) await planOldCopies(tx, record.id)
    await store(tx)
  })
  return credentials
}
