/**
 * Authorization requests (VCI §5, RFC 6749 §4.1.1): what a wallet asks for. A request belongs to an offer,
 * which `issuer_state` selects.
 */
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import { newId } from '../../foundation/id.ts'
import { parseJson } from '../../foundation/json.ts'
import { Problem } from '../../foundation/problem.ts'
import type { CredentialRecord } from '../issuance/model.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { isOpenTo } from './configuration-access.ts'
import { configurationsOf } from './configurations.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { readParameters } from '../../foundation/oauth/parameters.ts'
import { faultOfRedirectUri } from './redirect-uri.ts'
import { Identity } from './log-in/identity.ts'
import {
  findGrant,
  findGrantById,
  findRecords,
  type GrantRow,
  isOpen,
  openSecrets,
  recordIdsOf,
} from './grant.ts'

/** The parameters that this server reads. It ignores others (RFC 6749 §3.1). */
export const AuthorizationRequest = z
  .object({
    response_type: z.string().optional().describe('`code`'),
    response_mode: z.string().optional().describe('`query`, the default'),
    client_id: z.string().max(500),
    redirect_uri: z.string().describe('https, the private-use scheme of an app, or http of this machine.'),
    state: z.string().max(1_000).optional(),
    issuer_state: z
      .string()
      .optional()
      .describe('From the credential offer. Absent for a credential that needs no offer.'),
    scope: z.string().optional().describe('The scope of the offered credential.'),
    authorization_details: z.string().optional().describe('JSON; the type is `openid_credential`.'),
    code_challenge: z.string().optional().describe('Required (RFC 7636).'),
    code_challenge_method: z.string().optional().describe('`S256`'),
    dpop_jkt: z
      .string()
      .optional()
      .describe('The thumbprint of the DPoP key that will redeem the code (RFC 9449 §10).'),
    request: z.string().optional().describe('Not supported.'),
    request_uri: z.string().optional().describe('Only at the authorization endpoint.'),
  })
  .meta({ id: 'AuthorizationRequest' })

const Details = z.array(
  z.looseObject({
    type: z.literal('openid_credential'),
    credential_configuration_id: z.string(),
    locations: z.array(z.string()).optional(),
  }),
)

/** A request that passed all checks. */
export const CheckedRequest = z.object({
  /** Identifies the request, which is answered once. */
  id: z.string(),
  /** Absent without an offer: the grant then has the id of the request. */
  grantId: z.string().optional(),
  /** The requested credentials of the offer. */
  recordIds: z.array(z.string()),
  /** The requested configurations without an offer. */
  configurationIds: z.array(z.string()).optional(),
  clientId: z.string(),
  redirectUri: z.string(),
  state: z.string().optional(),
  codeChallenge: z.string(),
  /** Whether credentials were requested by `authorization_details`. */
  byDetails: z.boolean(),
  /** The thumbprint of the DPoP key that the code is bound to. */
  jkt: z.string().optional(),
  /** The thumbprint of the attested key that the code is bound to, if the client was authenticated. */
  clientKey: z.string().optional(),
  /** The identity that logged in, if the issuer has a log-in. */
  identity: Identity.optional(),
  /** The record of the presentation that the credentials need, once it is verified. */
  presentationId: z.string().optional(),
})
export type CheckedRequest = z.infer<typeof CheckedRequest>

/** A credential that may be requested: of an offer, with its record, or one that needs none. */
type Candidate = { configurationId: string; recordId?: string }

/**
 * A request, and what it may be for: the credentials of an open offer, or those that need none. The wallet
 * may be told its errors, at its redirect URI.
 */
export type Target = {
  issuerId: string
  grantId: string | undefined
  candidates: Candidate[]
  request: z.output<typeof AuthorizationRequest>
}

/**
 * Reads the client and the offer of a request. The wallet is not told an error: anyone could have chosen the
 * redirect URI.
 *
 * @throws {OAuthError} `invalid_request`
 */
export async function readTarget(
  wallet: Wallet,
  issuer: IssuerRow,
  parameters: URLSearchParams,
): Promise<Target> {
  const { db, env } = wallet
  const { id: issuerId } = issuer
  const request = readParameters(AuthorizationRequest, parameters)
  const fault = faultOfRedirectUri(request.redirect_uri)
  if (fault !== undefined) throw new OAuthError('invalid_request', `redirect_uri ${fault}.`)
  if (request.issuer_state === undefined) {
    const all = await configurationsOf(env.db, issuerId)
    const candidates = all
      .filter((row) => isOpenTo(row, issuer))
      .map(({ id: configurationId }) => ({ configurationId }))
    if (candidates.length === 0)
      throw new OAuthError('invalid_request', 'issuer_state is missing: this issuer needs an offer.')
    return { issuerId, grantId: undefined, candidates, request }
  }
  const grant = await findGrant(db, issuerId, 'state_digest', request.issuer_state)
  // An external server authorizes the person itself, and its offers have no transaction code.
  if (grant?.authorization_server !== null)
    throw new OAuthError('invalid_request', 'issuer_state is not that of an offer of this issuer.')
  const records = await getOpenRecords(db, grant, recordIdsOf(grant))
  const { endsMs } = openSecrets(wallet, grant) ?? {}
  if (endsMs !== undefined && isOver(endsMs))
    throw new ClosedRequest(
      'invalid_request',
      'issuer_state: its time is over. Open the link that you were sent once more.',
    )
  const candidates = records.map(({ id: recordId, openid4vci }) => ({
    recordId,
    configurationId: openid4vci!.configurationId,
  }))
  return { issuerId, grantId: grant.id, candidates, request }
}

/**
 * The request was answered, its offer was redeemed, or the time is over: nothing is wrong with the request
 * itself.
 */
export class ClosedRequest extends OAuthError {}

/** The grant of a checked request: that of its offer, or its own, once the person has consented. */
export const grantIdOf = ({ id, grantId = id }: CheckedRequest) => grantId

/** The grant of a checked request. @throws {Problem} 404 if its offer was removed meanwhile */
export async function requireGrant(db: Db, request: CheckedRequest): Promise<GrantRow> {
  const grant = await findGrantById(db, grantIdOf(request))
  if (!grant) throw new Problem('NotFound', 'The offer was withdrawn. Ask for a new one.')
  return grant
}

/**
 * The records with these ids, of an offer that can be redeemed. Those that the issuer has removed are
 * missing.
 *
 * @throws {ClosedRequest}
 */
export async function getOpenRecords(
  db: Db,
  { sealed }: GrantRow,
  ids: readonly string[],
): Promise<CredentialRecord[]> {
  const records = await findRecords(db, ids)
  if (sealed === null || records.length === 0 || !records.every(isOpen)) throw closed()
  return records
}

function closed(): ClosedRequest {
  return new ClosedRequest(
    'invalid_request',
    'issuer_state: the offer was redeemed, has expired, or was blocked by wrong transaction codes. Ask for a new offer.',
  )
}

/** Checks the request of a target. @throws {OAuthError} that the wallet may be told */
export function checkRequest(
  { issuerId, grantId, candidates, request }: Target,
  base: string,
): CheckedRequest {
  const { code_challenge: codeChallenge = '', code_challenge_method: method } = request
  if (request.request !== undefined)
    throw new OAuthError('request_not_supported', 'request: send the parameters themselves, or push them.')
  if (request.response_type !== 'code')
    throw new OAuthError('unsupported_response_type', 'response_type must be code.')
  if (request.response_mode !== undefined && request.response_mode !== 'query')
    throw new OAuthError('invalid_request', 'response_mode must be query.')
  // RFC 7636 §4.3: without a method, it is plain.
  if (method !== 'S256' || !/^[\w-]{43}$/.test(codeChallenge))
    throw new OAuthError(
      'invalid_request',
      'code_challenge is required, with the code_challenge_method S256: this server requires PKCE.',
    )
  const offered = [...new Set(candidates.map(({ configurationId }) => configurationId))]
  const issuer = identifierOf(base, issuerId)
  const detailed = configurationsInDetails(request.authorization_details, { offered, issuer, grantId })
  const scopes = (request.scope ?? '').split(' ')
  const asked = [...(detailed ?? []), ...scopes]
  const wanted = candidates.filter(({ configurationId }) => asked.includes(configurationId))
  if (wanted.length === 0)
    throw new OAuthError('invalid_scope', `scope: ${toText(grantId)} ${offered.join(', ')}.`)
  return {
    id: newId(),
    ...(grantId === undefined
      ? { configurationIds: wanted.map(({ configurationId }) => configurationId) }
      : { grantId }),
    recordIds: wanted.flatMap(({ recordId }) => recordId ?? []),
    clientId: request.client_id,
    redirectUri: request.redirect_uri,
    ...(request.state !== undefined && { state: request.state }),
    codeChallenge,
    byDetails: detailed !== undefined,
    ...(request.dpop_jkt !== undefined && { jkt: request.dpop_jkt }),
  }
}

/** What the ids of configurations are in an error. */
const toText = (grantId: string | undefined) =>
  grantId === undefined ? 'without an offer, this issuer issues' : 'the offer is for'

/**
 * The offered configurations that authorization details name (VCI §5.1.1). Undefined without details.
 *
 * @throws {OAuthError} if they name others, or are malformed
 */
export function configurationsInDetails(
  json: string | undefined,
  { offered, issuer, grantId }: { offered: readonly string[]; issuer: string; grantId: string | undefined },
): string[] | undefined {
  if (json === undefined) return undefined
  const refuse = (reason: string, cause?: unknown) =>
    new OAuthError('invalid_authorization_details', `authorization_details ${reason}`, { cause })
  let value: unknown
  try {
    value = parseJson(json)
  } catch (cause) {
    throw refuse('is not JSON.', cause)
  }
  const parsed = Details.safeParse(value)
  if (!parsed.success) throw refuse('is not an array of objects of the type openid_credential.', parsed.error)
  const isOffered = (each: z.output<typeof Details>[number]) =>
    offered.includes(each.credential_configuration_id) && (each.locations ?? [issuer]).includes(issuer)
  if (parsed.data.length === 0 || !parsed.data.every(isOffered))
    throw refuse(`must have objects for these alone: ${toText(grantId)} ${offered.join(', ')}.`)
  return parsed.data.map((each) => each.credential_configuration_id)
}
