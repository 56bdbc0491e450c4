/**
 * The token endpoint of the built-in authorization server (VCI §6, RFC 6749 §5): redeems pre-authorized and
 * authorization codes.
 */
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import { advance } from '../engine/record.ts'
import { issueCredential, type CredentialData, type CredentialRecord } from '../issuance/model.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { authorizedIn, refusalOfCode } from './authorization-code.ts'
import { beginRecords, withoutOffer } from './begun-by-wallet.ts'
import {
  authenticateClient,
  useClientProof,
  type AttestedClient,
  type ClientHeaders,
} from './client-attestation.ts'
import { readProof, useProof, type DpopProof } from './dpop.ts'
import type { IssuerRow } from './issuers.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { preAuthorizedGrant, readParameters } from '../../foundation/oauth/parameters.ts'
import { logRefusal, withLog } from './request-log.ts'
import { configurationsFor } from './offer-object.ts'
import { newSecret } from '../../foundation/oauth/secrets.ts'
import { findGrant, findRecords, type GrantRow, openSecrets, recordIdsOf, redeemGrant } from './grant.ts'
import { refreshTokens } from './refresh.ts'
import { renewalFor, startRenewal } from './renewal.ts'
import { detailsOf, type Granted, toResponse, type TokenResponse } from './token-response.ts'
import { type Lifetime, lifetimeOf } from './token-lifetime.ts'
import { guessTxCode } from './tx-code.ts'

export const TokenRequest = z
  .object({
    grant_type: z.string(),
    'pre-authorized_code': z.string().optional(),
    tx_code: z.string().optional().describe('The transaction code, if the offer requires one.'),
    code: z.string().optional().describe('The authorization code.'),
    client_id: z.string().optional().describe('As in the authorization request.'),
    redirect_uri: z.string().optional().describe('As in the authorization request.'),
    code_verifier: z.string().optional().describe('Of PKCE (RFC 7636).'),
    refresh_token: z.string().optional().describe('With `grant_type=refresh_token`.'),
    scope: z.string().optional().describe('Of a refresh: a part of the credentials.'),
    authorization_details: z.string().optional().describe('Of a refresh: a part of the credentials.'),
  })
  .meta({ id: 'TokenRequest' })
export type TokenRequest = z.output<typeof TokenRequest>

/** A code is redeemed, or refused with writes that are committed too. */
type Redeemed = Pick<Granted, 'details' | 'lifetime' | 'refreshToken'> | OAuthError

type Request = { form: URLSearchParams; headers: ClientHeaders }

/**
 * With a DPoP proof, the access token is bound to its key.
 *
 * @throws {OAuthError} `invalid_request`, `unsupported_grant_type`, `invalid_client`, `invalid_grant`, and of
 * `readProof`
 */
export async function redeemCode(
  wallet: Wallet,
  issuer: IssuerRow,
  { form, headers }: Request,
): Promise<TokenResponse> {
  const request = readParameters(TokenRequest, form)
  if (request.grant_type === 'refresh_token') return refresh(wallet, issuer, { form, headers })
  const code = codeIn(request)
  const find = () => findGrant(wallet.db, issuer.id, 'code_digest', code)
  const token = newSecret()
  const { isBound, redeemed } = await withLog(wallet, 'token-request', find, async () => {
    const client = await authenticateClient(wallet, issuer, headers, request.client_id)
    const proof = await readProof(wallet, issuer, headers.dpop, { endpoint: 'token' })
    // A stranger's guess begins no transaction.
    const grant = await find()
    if (!grant) throw unusable()
    if (client || proof) await wallet.env.limitOffers(grant.id)
    const { configurationIds } = authorizedIn(grant) ?? {}
    const begun = configurationIds && (await withoutOffer(wallet, issuer, configurationIds, true))
    const known = begun ? [] : await findRecords(wallet.db, recordIdsOf(grant))
    const records = begun ?? known
    const keys = { jkt: proof?.jkt, clientKey: client?.keyThumbprint }
    const configurations = await configurationsFor(wallet, issuer, records)
    const renewal = renewalFor(configurations, keys)
    const lifetime = lifetimeOf(issuer, proof !== undefined, records, configurations)
    const redemption = { request, code, token, client, proof, begun, lifetime, renewal }
    return {
      isBound: proof !== undefined,
      // A wrong guess counts, and a code that comes twice revokes its token, also in a full wallet.
      redeemed: await wallet.transaction((tx) => redeem(tx, wallet, issuer, redemption), { isBounded: true }),
    }
  })
  if (redeemed instanceof OAuthError) throw redeemed
  return toResponse(wallet, issuer, { ...redeemed, token, isDpop: isBound })
}

/** The identifiers of credentials do not change. */
async function refresh(wallet: Wallet, issuer: IssuerRow, request: Request): Promise<TokenResponse> {
  const { access, refresh: refreshToken, ...rest } = await refreshTokens(wallet, issuer, request)
  const details = detailsOf(rest.grant, rest.records)
  return toResponse(wallet, issuer, { ...rest, token: access, refreshToken, details })
}

type Redemption = {
  request: TokenRequest
  code: string
  token: string
  client: AttestedClient | undefined
  proof: DpopProof | undefined
  /** The records to begin, of a grant without an offer. */
  begun: CredentialData[] | undefined
  lifetime: Lifetime
  renewal: ReturnType<typeof renewalFor>
}

async function redeem(
  tx: Tx,
  wallet: Wallet,
  issuer: IssuerRow,
  { request, code, token, client, proof, begun, lifetime, renewal }: Redemption,
): Promise<Redeemed> {
  const grant = await findGrant(tx, issuer.id, 'code_digest', code)
  if (!grant) return unusable()
  if (client) await useClientProof(tx, client)
  if (proof) await useProof(tx, proof, 'token')
  const asked = authorizedIn(grant)?.recordIds ?? []
  const known = await findRecords(tx, asked.length > 0 ? asked : recordIdsOf(grant))
  const sender = { jkt: proof?.jkt, clientKey: client?.keyThumbprint }
  const refusal =
    request.grant_type === preAuthorizedGrant
      ? await refusalOfPreAuthorized(tx, wallet, { grant, records: known }, request.tx_code)
      : await refusalOfCode(
          tx,
          { grant, records: known },
          { client_id: client?.clientId, ...request, ...sender },
        )
  if (refusal) {
    if (known[0]) await logRefusal(tx, known[0], 'token-request', refusal)
    return refusal
  }
  const attested = client && { isAttested: true }
  const records = begun ? await beginRecords(tx, grant, begun, attested) : known
  await redeemGrant(tx, grant.id, { token, recordIds: idsOf(records), jkt: proof?.jkt, lifetime })
  for (const record of begun ? [] : records) {
    const openid4vci = { ...record.openid4vci!, ...attested }
    await advance(tx, issueCredential, record, 'received token request', {
      metaLastFailure: undefined,
      openid4vci,
    })
  }
  const refreshToken = renewal && (await startRenewal(tx, grant.id, renewal))
  return { details: detailsOf(grant, records), lifetime, refreshToken }
}

/** The code of a request by its grant. @throws {OAuthError} `unsupported_grant_type`, `invalid_request` */
function codeIn({ grant_type: grant, 'pre-authorized_code': preAuthorized, code }: TokenRequest): string {
  if (grant !== preAuthorizedGrant && grant !== 'authorization_code')
    throw new OAuthError(
      'unsupported_grant_type',
      `grant_type must be authorization_code, refresh_token or ${preAuthorizedGrant}.`,
    )
  const [name, value] = grant === preAuthorizedGrant ? ['pre-authorized_code', preAuthorized] : ['code', code]
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`)
  return value
}

/** Checks an offer and its transaction code. */
async function refusalOfPreAuthorized(
  tx: Tx,
  wallet: Wallet,
  { grant, records }: { grant: GrantRow; records: readonly CredentialRecord[] },
  given: string | undefined,
): Promise<OAuthError | undefined> {
  const secrets = openSecrets(wallet, grant)
  const isOpen = records.length > 0 && records.every(({ state }) => state === 'OfferCreated')
  if (!isOpen || !secrets || grant.authorized !== null) return unusable()
  if (secrets.endsMs !== undefined && isOver(secrets.endsMs)) return unusable()
  // All records of an offer end at the same time.
  if (isOver((records[0]!.openid4vci?.expiresTime ?? 0) * 1_000)) {
    for (const record of records) await advance(tx, issueCredential, record, 'expired', {})
    return unusable()
  }
  const { txCode: right } = secrets
  if (right === undefined)
    return given === undefined
      ? undefined
      : new OAuthError('invalid_request', 'tx_code: the offer has no transaction code.')
  if (given === undefined)
    return new OAuthError('invalid_request', 'tx_code is missing: the offer requires a transaction code.')
  const guesses = await guessTxCode(tx, { grant, records }, { right, given })
  if (guesses === undefined) return undefined
  return guesses === 0 ? unusable() : new OAuthError('invalid_grant', 'The transaction code is wrong.')
}

function unusable(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The code is unknown, was used, has expired, or was blocked by wrong transaction codes. Ask for a new offer.',
  )
}

const idsOf = (records: readonly CredentialRecord[]) => records.map(({ id }) => id)
