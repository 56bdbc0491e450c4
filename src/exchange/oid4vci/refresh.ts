/** Token requests with a refresh token (RFC 6749 §6), and its revocation (RFC 7009). */
import * as z from 'zod'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { readParameters } from '../../foundation/oauth/parameters.ts'
import { digestOf } from '../../foundation/oauth/secrets.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialRecord } from '../issuance/model.ts'
import { configurationsInDetails } from './authorization-request.ts'
import { authenticateClient, type ClientHeaders, useClientProof } from './client-attestation.ts'
import { readProof, useProof } from './dpop.ts'
import { findRecords, findToken, type GrantRow, recordIdsOf } from './grant.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { configurationsFor, configurationsIn } from './offer-object.ts'
import { assertSender, endRenewal, findRenewed, renewalsADay, rotate } from './renewal.ts'
import { type Lifetime, lifetimeOf } from './token-lifetime.ts'

export const RefreshRequest = z.object({
  refresh_token: z.string(),
  client_id: z.string().optional(),
  scope: z.string().optional(),
  authorization_details: z.string().optional(),
})

export type Refreshed = {
  access: string
  refresh: string
  lifetime: Lifetime
  isDpop: boolean
  grant: GrantRow
  records: CredentialRecord[]
}

/**
 * A new access token and a new refresh token. A part of the credentials may be named, not others.
 *
 * @throws {OAuthError} `invalid_grant`, `invalid_scope`, `invalid_client`, and of `readProof`
 * @throws {Problem} 429 for more a day than the credentials need
 */
export async function refreshTokens(
  wallet: Wallet,
  issuer: IssuerRow,
  { form, headers }: { form: URLSearchParams; headers: ClientHeaders },
): Promise<Refreshed> {
  const request = readParameters(RefreshRequest, form)
  const client = await authenticateClient(wallet, issuer, headers, request.client_id)
  const proof = await readProof(wallet, issuer, headers.dpop, { endpoint: 'token' })
  const token = request.refresh_token
  const grant = await findRenewed(wallet.db, issuer.id, token)
  if (!grant) throw new OAuthError('invalid_grant', 'The refresh token is unknown, or was revoked.')
  const { id } = grant
  const sender = { jkt: proof?.jkt, clientKey: client?.keyThumbprint }
  // Whoever has no key of the wallet neither counts nor changes anything.
  assertSender(grant, sender)
  const granted = await findRecords(wallet.db, recordIdsOf(grant))
  await wallet.env.limitRenewals(id, renewalsADay(wallet, granted))
  const isDpop = proof !== undefined
  // A credential that the wallet has can be deferred by its source alone.
  const open = granted.filter(({ state }) => state !== 'CredentialSent')
  const lifetime = lifetimeOf(issuer, isDpop, open, await configurationsFor(wallet, issuer, granted))
  const identifier = identifierOf(wallet.env.urls.rest, issuer.id)
  const choose = (records: readonly CredentialRecord[]) => narrow(records, request, identifier)
  const answer = await wallet.transaction(
    async (tx) => {
      if (client) await useClientProof(tx, client)
      if (proof) await useProof(tx, proof, 'token')
      return rotate(tx, wallet, id, { token, jkt: proof?.jkt, lifetime, choose })
    },
    { isBounded: true },
  )
  if (answer instanceof OAuthError) throw answer
  const { access, refresh, recordIds } = answer
  const records = await findRecords(wallet.db, recordIds)
  return { access, refresh, lifetime, isDpop, grant, records }
}

/** RFC 6749 §6: the scope may be a part of what was granted. @throws {OAuthError} */
function narrow(
  records: readonly CredentialRecord[],
  { scope, authorization_details: details }: z.output<typeof RefreshRequest>,
  issuer: string,
): readonly CredentialRecord[] {
  if (scope === undefined && details === undefined) return records
  const granted = configurationsIn(records)
  const named = configurationsInDetails(details, { offered: granted, issuer, grantId: issuer }) ?? []
  const asked = [...named, ...(scope ?? '').split(' ').filter((each) => each !== '')]
  if (asked.length === 0 || !asked.every((each) => granted.includes(each)))
    throw new OAuthError('invalid_scope', `scope: the refresh token is for ${granted.join(', ')}.`)
  return records.filter(({ openid4vci }) => asked.includes(openid4vci!.configurationId))
}

export const RevocationRequest = z
  .object({
    token: z.string(),
    token_type_hint: z.string().optional(),
    client_id: z.string().optional(),
  })
  .meta({ id: 'RevocationRequest' })

/**
 * Revokes a refresh token with its access tokens, or an access token. Unknown tokens are not an error (RFC
 * 7009 §2.2).
 *
 * @throws {OAuthError} `invalid_grant` for a request without the key that the token is bound to
 */
export async function revokeToken(
  wallet: Wallet,
  issuer: IssuerRow,
  { form, headers }: { form: URLSearchParams; headers: ClientHeaders },
): Promise<void> {
  const { token, client_id: clientId } = readParameters(RevocationRequest, form)
  const client = await authenticateClient(wallet, issuer, headers, clientId)
  const proof = await readProof(wallet, issuer, headers.dpop, { endpoint: 'revoke' })
  const renewed = await findRenewed(wallet.db, issuer.id, token)
  const access = renewed ? undefined : await findToken(wallet.db, issuer.id, token)
  if (!renewed && !access) return
  if (renewed) assertSender(renewed, { jkt: proof?.jkt, clientKey: client?.keyThumbprint })
  if (access && access.jkt !== null && access.jkt !== proof?.jkt)
    throw new OAuthError('invalid_grant', 'The access token is bound to another DPoP key.')
  await wallet.transaction(async (tx) => {
    if (client) await useClientProof(tx, client)
    if (proof) await useProof(tx, proof, 'revoke')
    if (renewed) await endRenewal(tx, renewed)
    else await tx.deleteFrom('issuance_token').where('digest', '=', digestOf(token)).execute()
  })
}
