/**
 * Refresh tokens (RFC 6749 §6, VCI §14.5): a wallet gets its credentials anew without its person. A token is
 * bound to the DPoP key or the attested key of the wallet, and replaced at each use (RFC 9700 §4.14.2).
 */
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import type { AgentDb, Db, Tx } from '../../foundation/storage/database.ts'
import { mostRenewals } from '../../wallet/quotas.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { updateWithEvent } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import { accessOf } from './configuration-access.ts'
import { type ConfigurationRow, findConfiguration } from './configurations.ts'
import {
  findGrantById,
  findRecords,
  type GrantRow,
  recordIdsOf,
  removeEndedTokens,
  revokeTokens,
  storeToken,
  updateGrant,
} from './grant.ts'
import type { Lifetime } from './token-lifetime.ts'

const dayMs = 86_400_000

/** How long the answer to a refresh can be fetched again with the token before, if it was lost. */
const repeatMs = 60_000

/** The column of a grant. Times are in milliseconds since 1970. */
const Stored = z.object({
  /** The thumbprints of the keys that the token is bound to. */
  jkt: z.string().optional(),
  clientKey: z.string().optional(),
  days: z.number(),
  /** The end without a use, and the end at all. */
  endsMs: z.number(),
  lastMs: z.number(),
  /** The last answer, sealed, until `repeatUntilMs`. */
  answer: z.string().optional(),
  repeatUntilMs: z.number().optional(),
  /** Why the tenant has ended it, if it has. The digests stay, so that the wallet is told so. */
  ended: z.enum(['issuer', 'revoked']).optional(),
})
type Stored = z.infer<typeof Stored>

/** Each continues the sentence "The refresh token". */
const endings = {
  issuer: 'was ended by the issuer; the credential stays as it is',
  revoked: 'is for credentials that the issuer has revoked',
} as const

/** The keys of a wallet that a request proves. */
export type Sender = { jkt: string | undefined; clientKey: string | undefined }

const contextOf = (grantId: string) => `issuance-refresh:${grantId}`

/** The tokens of an answer, and the DPoP key that the access token is bound to. */
const Answer = z.object({
  access: z.string(),
  refresh: z.string(),
  recordIds: z.array(z.string()),
  jkt: z.string().optional(),
})
export type Answer = z.infer<typeof Answer>

/** How the credential of a record is renewed. Undefined: it is not. */
async function renewalOf(db: AgentDb, { openid4vci }: Pick<CredentialRecord, 'openid4vci'>) {
  const { issuerId, configurationId } = openid4vci!
  const configuration = await findConfiguration(db, issuerId, configurationId)
  return configuration && accessOf(configuration).renewal
}

/**
 * What a new refresh token of a grant is bound to, and how long it is valid: as the configuration with the
 * shortest time allows. Undefined if a credential is not renewed, and for a wallet without a key.
 */
export function renewalFor(
  configurations: readonly ConfigurationRow[],
  { jkt, clientKey }: Sender,
): Stored | undefined {
  if (jkt === undefined && clientKey === undefined) return undefined
  const all = configurations.flatMap((row) => accessOf(row).renewal ?? [])
  if (all.length === 0) return undefined
  const [days, maxDays] = [
    Math.min(...all.map((each) => each.days)),
    Math.min(...all.map((each) => each.maxDays)),
  ]
  const now = Date.now()
  const lastMs = now + maxDays * dayMs
  const endsMs = Math.min(now + days * dayMs, lastMs)
  return {
    ...(jkt !== undefined && { jkt }),
    ...(clientKey !== undefined && { clientKey }),
    days,
    endsMs,
    lastMs,
  }
}

/** Stores the first refresh token of a grant, and returns it. */
export async function startRenewal(tx: Tx, grantId: string, renewal: Stored): Promise<string> {
  const token = newSecret()
  await updateGrant(tx, grantId, { refresh_digest: digestOf(token), renewal: JSON.stringify(renewal) })
  return token
}

/** The grant of a refresh token, or of one that was replaced. */
export async function findRenewed(db: Db, issuerId: string, token: string): Promise<GrantRow | undefined> {
  const digest = digestOf(token)
  const rows = db.selectFrom('issuance_grant').selectAll()
  const current = await rows.where('refresh_digest', '=', digest).executeTakeFirst()
  const grant = current ?? (await rows.where('replaced_digest', '=', digest).executeTakeFirst())
  if (grant?.issuer_id !== issuerId) return undefined
  return grant
}

/**
 * Replaces a refresh token and makes an access token. Returned errors commit their writes: a token that comes
 * again after its answer could have been lost ends the grant, since somebody has a copy of it and of the key.
 */
export async function rotate(
  tx: Tx,
  wallet: Wallet,
  grantId: string,
  {
    token,
    jkt,
    lifetime,
    choose,
  }: {
    token: string
    /** What the new access token is bound to. */
    jkt: string | undefined
    lifetime: Lifetime
    /** The records of the new access token, of those that can be renewed. */
    choose: (records: readonly CredentialRecord[]) => readonly CredentialRecord[]
  },
): Promise<Answer | OAuthError> {
  const grant = await findGrantById(tx, grantId)
  const stored = grant && renewalIn(grant)
  if (!stored) return refused('is unknown, or was revoked')
  if (stored.ended !== undefined) return refused(endings[stored.ended])
  const give = async (answer: Answer): Promise<Answer> => {
    const { access, recordIds } = answer
    await storeToken(tx, grantId, { token: access, recordIds, jkt, lifetime, isRefreshed: true })
    return answer
  }
  const digest = digestOf(token)
  if (grant.replaced_digest === digest) {
    if (stored.answer !== undefined && !isOver(stored.repeatUntilMs ?? 0)) {
      const answer = Answer.parse(JSON.parse(wallet.unseal(contextOf(grantId), stored.answer)))
      // An attested client may have another DPoP key now.
      return answer.jkt === jkt ? answer : give({ ...answer, access: newSecret(), jkt })
    }
    await endRenewal(
      tx,
      grant,
      'The refresh token was used twice, so somebody may have a copy of it and its key.',
    )
    return refused('was used before; the grant has ended')
  }
  if (grant.refresh_digest !== digest) return refused('is unknown, or was revoked')
  if (isOver(stored.endsMs)) return refused('has expired')
  const records = choose(await renewable(tx, wallet, grant))
  if (records.length === 0) return refused('is for credentials that are revoked, or are not renewed any more')
  const answer = { access: newSecret(), refresh: newSecret(), recordIds: records.map(({ id }) => id), jkt }
  const now = Date.now()
  const next: Stored = {
    ...stored,
    endsMs: Math.min(now + stored.days * dayMs, stored.lastMs),
    answer: wallet.seal(contextOf(grantId), JSON.stringify(answer)),
    repeatUntilMs: now + repeatMs,
  }
  await updateGrant(tx, grantId, {
    refresh_digest: digestOf(answer.refresh),
    replaced_digest: digest,
    renewal: JSON.stringify(next),
  })
  await removeEndedTokens(tx, grantId)
  return give(answer)
}

/**
 * How often the credentials of a grant may be renewed in a day: each of them when two thirds of its lifetime
 * are over, and at least once an hour altogether.
 */
export function renewalsADay(
  { env }: { env: { config: Pick<Wallet['env']['config'], 'CREDENTIAL_SD_JWT_EXPIRY'> } },
  records: readonly Pick<CredentialRecord, 'validityPeriod'>[],
): number {
  const needed = records.map(({ validityPeriod = env.config.CREDENTIAL_SD_JWT_EXPIRY }) =>
    Math.ceil((dayMs / 1_000 / validityPeriod) * 1.5),
  )
  const sum = needed.reduce((one, other) => one + other, 0)
  return Math.min(Math.max(24, sum), mostRenewals)
}

/**
 * Checks the keys that a refresh token is bound to. That of an attested client is bound to the attested key,
 * and comes with any DPoP key (RFC 9449 §5), but not without one.
 *
 * @throws {OAuthError} `invalid_grant`
 */
export function assertSender(grant: GrantRow, { jkt, clientKey }: Sender): void {
  const stored = renewalIn(grant)
  if (stored?.clientKey !== undefined && clientKey !== stored.clientKey)
    throw refused('is bound to the attested key of another client')
  const isForeign = stored?.clientKey === undefined ? jkt !== stored?.jkt : jkt === undefined
  if (stored?.jkt !== undefined && isForeign) throw refused('is bound to another DPoP key')
}

/** The states of a credential that a wallet has, or can still get. */
const renewableStates: readonly string[] = [
  'OfferRedeemed',
  'RequestDeferred',
  'RequestApproved',
  'CredentialSent',
]

/** The records whose credential is not revoked, and is of a configuration that is renewed. */
async function renewable(tx: Tx, { env }: Wallet, grant: GrantRow): Promise<CredentialRecord[]> {
  const found: CredentialRecord[] = []
  for (const record of await findRecords(tx, recordIdsOf(grant)))
    if (renewableStates.includes(record.state) && !record.revocation && (await renewalOf(env.db, record)))
      found.push(record)
  return found
}

/** Ends a grant: its tokens are refused from now on. Credentials that were issued stay as they are. */
export async function endRenewal(tx: Tx, grant: GrantRow, reason?: string): Promise<void> {
  await revokeTokens(tx, grant.id)
  await updateGrant(tx, grant.id, { refresh_digest: null, renewal: null })
  if (reason === undefined) return
  const metaLastFailure = { status: 400, type: 'invalid_grant', title: 'Invalid Grant', detail: reason }
  for (const record of await findRecords(tx, recordIdsOf(grant)))
    await updateWithEvent(tx, issueCredential, record, { metaLastFailure })
}

/**
 * Ends the refresh token of a grant, with the access tokens that it was exchanged for. Returns whether there
 * was one.
 */
export async function endByTenant(tx: Tx, grant: GrantRow, ended: 'issuer' | 'revoked'): Promise<boolean> {
  const stored = renewalIn(grant)
  if (!stored) return false
  const refreshed = tx.deleteFrom('issuance_token').where('grant_id', '=', grant.id)
  await refreshed.where('is_refreshed', '=', 1).execute()
  const { answer: _answer, ...rest } = stored
  await updateGrant(tx, grant.id, { renewal: JSON.stringify({ ...rest, ended }) })
  return true
}

/** How a grant is renewed. Undefined: not, or not any more. */
function renewalIn({ renewal }: GrantRow): Stored | undefined {
  return renewal === null ? undefined : Stored.parse(JSON.parse(renewal))
}

/** `reason` continues the sentence "The refresh token". */
function refused(reason: string): OAuthError {
  return new OAuthError('invalid_grant', `The refresh token ${reason}.`)
}
