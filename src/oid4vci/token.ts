/** The token endpoint of the built-in authorization server (VCI §6, RFC 6749 §5): redeems pre-authorized codes. */
import * as z from 'zod'
import { createTokenCheck } from '../base/api-key.ts'
import { isOver } from '../base/clock.ts'
import { Secret } from '../base/secret.ts'
import type { Tx } from '../storage/database.ts'
import { getRecord } from '../protocols/engine/find.ts'
import { advance, updateData } from '../protocols/engine/record.ts'
import { issueCredential, type CredentialRecord } from '../protocols/issue-credential/model.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { IssuerRow } from './issuers.ts'
import { preAuthorizedGrant } from './metadata.ts'
import { createNonce, nonceLifetimeSeconds } from './nonce.ts'
import { OAuthError } from './oauth-error.ts'
import { logRefusal } from './request-log.ts'
import { digestOf, findSession, newSecret, openSecrets, updateSession, type SessionRow } from './session.ts'

/** The seconds for which an access token is valid. */
const tokenLifetimeSeconds = 600

export const TokenRequest = z
  .object({
    grant_type: z.string(),
    'pre-authorized_code': z.string().optional(),
    tx_code: z.string().optional().describe('The transaction code, if the offer requires one.'),
  })
  .meta({ id: 'TokenRequest' })

export const TokenResponse = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int(),
    c_nonce: z.string().describe('For wallets of earlier drafts. Others use the nonce endpoint.'),
    c_nonce_expires_in: z.int(),
  })
  .meta({ id: 'TokenResponse' })
export type TokenResponse = z.infer<typeof TokenResponse>

const unusable =
  'The pre-authorized code is unknown, was used, has expired, or was blocked by wrong transaction codes. Ask for a new offer.'

/** @throws {OAuthError} `invalid_request`, `unsupported_grant_type`, `invalid_grant` */
export async function redeemCode(
  wallet: Wallet,
  issuer: IssuerRow,
  form: URLSearchParams,
): Promise<TokenResponse> {
  const { grant_type: grant, 'pre-authorized_code': code = '', tx_code: txCode } = readForm(form)
  if (grant !== preAuthorizedGrant)
    throw new OAuthError('unsupported_grant_type', `The grant type must be ${preAuthorizedGrant}.`)
  if (code === '') throw new OAuthError('invalid_request', 'pre-authorized_code is missing.')
  // A stranger's guess begins no transaction.
  if (!(await findSession(wallet.db, issuer.id, 'code_digest', code))) throw invalidGrant()
  const token = newSecret()
  const refusal = await wallet.transaction(async (tx) => {
    const session = await findSession(tx, issuer.id, 'code_digest', code)
    if (!session) return invalidGrant()
    const record = await getRecord(tx, issueCredential, session.record_id)
    const refused = await redeem(tx, wallet, { session, record }, { txCode, token })
    if (refused) await logRefusal(tx, record, 'token-request', refused)
    return refused
  })
  if (refusal) throw refusal
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: tokenLifetimeSeconds,
    c_nonce: createNonce(wallet, issuer.id),
    c_nonce_expires_in: nonceLifetimeSeconds,
  }
}

/** Stores the access token. Returns the refusal, whose writes are committed too. */
async function redeem(
  tx: Tx,
  wallet: Wallet,
  { session, record }: { session: SessionRow; record: CredentialRecord },
  { txCode, token }: { txCode: string | undefined; token: string },
): Promise<OAuthError | undefined> {
  const secrets = openSecrets(wallet, session)
  if (record.state !== 'OfferCreated' || !secrets) return invalidGrant()
  if (isOver((record.openid4vci?.expiresTime ?? 0) * 1_000)) {
    await advance(tx, issueCredential, record, 'expired', {})
    return invalidGrant()
  }
  if (secrets.txCode === undefined && txCode !== undefined)
    return new OAuthError('invalid_request', 'tx_code: the offer has no transaction code.')
  if (secrets.txCode !== undefined && txCode === undefined)
    return new OAuthError('invalid_request', 'tx_code is missing: the offer requires a transaction code.')
  if (secrets.txCode !== undefined && !createTokenCheck([new Secret(secrets.txCode)])(txCode))
    return refuseTxCode(tx, session, record)
  await updateSession(tx, record.id, {
    sealed: null,
    token_digest: digestOf(token),
    token_expires_at: new Date(Date.now() + tokenLifetimeSeconds * 1_000).toISOString(),
  })
  await advance(tx, issueCredential, record, 'received token request', {
    metaLastFailure: undefined,
  })
  return undefined
}

/** VCI §13.6.3: counts a wrong transaction code, and blocks the offer after the last guess. */
async function refuseTxCode(tx: Tx, session: SessionRow, record: CredentialRecord): Promise<OAuthError> {
  const guesses = session.guesses - 1
  await updateSession(tx, record.id, { guesses })
  const metaLastFailure = {
    status: 400,
    type: 'invalid_grant',
    title: 'Invalid Grant',
    detail: `A wallet sent a wrong transaction code. It may send ${guesses} more.`,
  }
  if (guesses === 0) await advance(tx, issueCredential, record, 'refused tx_code', { metaLastFailure })
  else await updateData(tx, record, { metaLastFailure })
  return guesses === 0 ? invalidGrant() : new OAuthError('invalid_grant', 'The transaction code is wrong.')
}

function invalidGrant(): OAuthError {
  return new OAuthError('invalid_grant', unusable)
}

/** RFC 6749 §3.2: a parameter must not be repeated; one without a value is absent. */
function readForm(form: URLSearchParams): z.output<typeof TokenRequest> {
  const names = [...form.keys()]
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined)
    throw new OAuthError('invalid_request', `${repeated.slice(0, 100)} is sent more than once.`)
  const given = Object.fromEntries([...form].filter(([, value]) => value !== ''))
  const parsed = TokenRequest.safeParse(given)
  if (!parsed.success) throw new OAuthError('invalid_request', 'grant_type is missing.')
  return parsed.data
}
