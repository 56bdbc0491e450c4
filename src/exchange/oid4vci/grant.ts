/**
 * Grants of OpenID4VCI: what one wallet may get. A grant binds the codes and the access tokens of an offer to
 * its records, one for each credential. Its id is the `thid` of these records. Secrets are stored as digests.
 */
import type { Selectable } from 'kysely'
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'
import { isOver } from '../../foundation/clock.ts'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { findRecord } from '../engine/find.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import type { Lifetime } from './token-lifetime.ts'

export type GrantRow = Selectable<WalletTables['issuance_grant']>

/** The identity that has to log in for an offer. */
export const ExpectedIdentity = z.object({
  sub: z.string().min(1).max(255).exactOptional(),
  claims: z.record(z.string(), JsonValue).exactOptional(),
})
export type ExpectedIdentity = z.infer<typeof ExpectedIdentity>

/**
 * The secret of the offer, a pre-authorized code or `issuer_state`, and the transaction code. `txCodeHint` is
 * the `tx_code` object of the offer.
 */
const Secrets = z.object({
  code: z.string().optional(),
  issuerState: z.string().optional(),
  txCode: z.string().optional(),
  txCodeHint: z.looseObject({ description: z.string().optional() }).optional(),
  expectedIdentity: ExpectedIdentity.optional(),
  /** When code or `issuer_state` end, in milliseconds since 1970, if the offer is delivered by messages. */
  endsMs: z.number().optional(),
})
export type GrantSecrets = z.infer<typeof Secrets>

const RecordIds = z.array(z.string())

/**
 * The `issuer_state` of an offer. It begins with the id of the issuer, because an external authorization
 * server names no issuer beside it.
 */
export function newIssuerState(issuerId: string): string {
  return `${issuerId}.${newSecret()}`
}

/** The id of the issuer of an `issuer_state`. Undefined for another text. */
export function issuerIdIn(issuerState: string): string | undefined {
  return /^([\da-f-]{36})\./i.exec(issuerState)?.[1]?.toLowerCase()
}

/** The name is that of earlier releases, whose open offers stay readable. */
const contextOf = (recordId: string) => `issuance-session:${recordId}`

/** @param recordId that of the first record of the offer, or of a grant without an offer the id of the grant */
export function sealSecrets(wallet: Wallet, recordId: string, secrets: GrantSecrets): string {
  return wallet.seal(contextOf(recordId), JSON.stringify(secrets))
}

/** Undefined if the offer was redeemed. */
export function openSecrets(wallet: Wallet, grant: GrantRow): GrantSecrets | undefined {
  if (grant.sealed === null) return undefined
  return Secrets.parse(JSON.parse(wallet.unseal(contextOf(recordIdsOf(grant)[0] ?? grant.id), grant.sealed)))
}

export const insertGrant = prepared((db: Db, row: GrantRow) =>
  db.insertInto('issuance_grant').values({
    id: row.id,
    issuer_id: row.issuer_id,
    records: row.records,
    authorization_server: row.authorization_server,
    state_digest: row.state_digest,
    code_digest: row.code_digest,
    authorized: row.authorized,
    sealed: row.sealed,
    guesses: row.guesses,
    identity: row.identity,
    presented: row.presented,
    refresh_digest: row.refresh_digest,
    replaced_digest: row.replaced_digest,
    renewal: row.renewal,
  }),
)

/** The columns of a grant without a refresh token. */
export const noRenewal = { refresh_digest: null, replaced_digest: null, renewal: null }

type SecretColumn = 'state_digest' | 'code_digest'

const rowsBy = (column: SecretColumn) =>
  prepared((db: Db, { digest }: { digest: string }) =>
    db.selectFrom('issuance_grant').selectAll().where(column, '=', digest),
  )
const rowsBySecret = { state_digest: rowsBy('state_digest'), code_digest: rowsBy('code_digest') }

/** The grant of an issuer that a secret belongs to. */
export async function findGrant(
  db: Db,
  issuerId: string,
  column: SecretColumn,
  secret: string,
): Promise<GrantRow | undefined> {
  const [grant] = (await rowsBySecret[column](db, { digest: digestOf(secret) })).rows
  if (grant?.issuer_id !== issuerId) return undefined
  return grant
}

const rowsById = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('issuance_grant').selectAll().where('id', '=', id),
)

export async function findGrantById(db: Db, id: string): Promise<GrantRow | undefined> {
  const { rows } = await rowsById(db, { id })
  return rows[0]
}

export function recordIdsOf({ records }: GrantRow): string[] {
  return RecordIds.parse(JSON.parse(records))
}

/** The records with these ids, without those that the issuer has removed. */
export async function findRecords(db: Db, ids: readonly string[]): Promise<CredentialRecord[]> {
  const found: CredentialRecord[] = []
  for (const id of ids) {
    const record = await findRecord(db, issueCredential, id)
    if (record) found.push(record)
  }
  return found
}

/** Whether the offer of a record can be redeemed. */
export function isOpen({ state, openid4vci }: CredentialRecord): boolean {
  return state === 'OfferCreated' && !isOver((openid4vci?.expiresTime ?? 0) * 1_000)
}

/** How a wallet names the credential of a record (VCI §6.2). */
export function credentialIdentifierOf({ id, openid4vci }: CredentialRecord): string {
  return openid4vci?.credentialIdentifier ?? id
}

/** An access token of the built-in server: its grant, its records, and the key that it is bound to. */
export type Token = {
  grant: GrantRow
  recordIds: string[]
  jkt: string | null
  /** Whether it has ended, and whether also at the deferred endpoint. */
  isOver: boolean
  isOverForDeferred: boolean
  /** The digest of a token that a refresh token was exchanged for. */
  refreshed: string | undefined
}

const tokensBy = prepared((db: Db, { digest }: { digest: string }) =>
  db
    .selectFrom('issuance_token')
    .innerJoin('issuance_grant', 'issuance_grant.id', 'issuance_token.grant_id')
    .selectAll('issuance_grant')
    .select([
      'issuance_token.jkt as token_jkt',
      'issuance_token.expires_at as token_expires_at',
      'issuance_token.deferred_until as token_deferred_until',
      'issuance_token.records as token_records',
      'issuance_token.is_refreshed as token_is_refreshed',
    ])
    .where('issuance_token.digest', '=', digest),
)

/** The token of an issuer. It may be over. */
export async function findToken(db: Db, issuerId: string, token: string): Promise<Token | undefined> {
  const digest = digestOf(token)
  const [row] = (await tokensBy(db, { digest })).rows
  if (row?.issuer_id !== issuerId) return undefined
  const { token_jkt: jkt, token_expires_at: expiresAt, token_records: records, ...rest } = row
  const { token_is_refreshed: isRefreshed, token_deferred_until: deferredUntil, ...grant } = rest
  return {
    grant,
    recordIds: RecordIds.parse(JSON.parse(records)),
    jkt,
    isOver: isOver(Date.parse(expiresAt)),
    isOverForDeferred: isOver(Date.parse(deferredUntil ?? expiresAt)),
    refreshed: isRefreshed === 1 ? digest : undefined,
  }
}

const insertToken = prepared((db: Db, row: Selectable<WalletTables['issuance_token']>) =>
  db.insertInto('issuance_token').values({
    digest: row.digest,
    grant_id: row.grant_id,
    records: row.records,
    jkt: row.jkt,
    expires_at: row.expires_at,
    deferred_until: row.deferred_until,
    is_refreshed: row.is_refreshed,
  }),
)

const forgetSecrets = prepared((db: Db, { id }: { id: string }) =>
  db.updateTable('issuance_grant').set({ sealed: null }).where('id', '=', id),
)

/** An access token that is new. */
type NewToken = {
  token: string
  recordIds: readonly string[]
  jkt: string | undefined
  lifetime: Lifetime
  /** Whether a refresh token was exchanged for it. */
  isRefreshed?: boolean
}

export async function storeToken(
  tx: Tx,
  grantId: string,
  { token, recordIds, jkt, lifetime, isRefreshed = false }: NewToken,
): Promise<void> {
  await insertToken(tx, {
    digest: digestOf(token),
    grant_id: grantId,
    records: JSON.stringify(recordIds),
    jkt: jkt ?? null,
    expires_at: inSeconds(lifetime.seconds),
    deferred_until: lifetime.deferred === undefined ? null : inSeconds(lifetime.deferred),
    is_refreshed: isRefreshed ? 1 : 0,
  })
}

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

/** Redeems a grant: its secrets are replaced by an access token for records. */
export async function redeemGrant(tx: Tx, grantId: string, token: NewToken): Promise<void> {
  await forgetSecrets(tx, { id: grantId })
  await storeToken(tx, grantId, token)
}

/** Removes the access tokens of a grant that have ended: each renewal makes another one. */
export async function removeEndedTokens(tx: Tx, grantId: string): Promise<void> {
  const ended = tx.deleteFrom('issuance_token').where('grant_id', '=', grantId)
  await ended.where('expires_at', '<', new Date().toISOString()).execute()
}

export async function revokeTokens(tx: Tx, grantId: string): Promise<void> {
  await tx.deleteFrom('issuance_token').where('grant_id', '=', grantId).execute()
}

export async function updateGrant(tx: Tx, id: string, change: Partial<Omit<GrantRow, 'id'>>): Promise<void> {
  await tx.updateTable('issuance_grant').set(change).where('id', '=', id).execute()
}

/** Removes the grant of a record that is removed, once it is that of no other. */
export async function removeGrantOf(tx: Tx, { id, thid }: CredentialRecord): Promise<void> {
  const others = tx.selectFrom('record').select('id').where('protocol', '=', issueCredential.name)
  const other = await others.where('thid', '=', thid).where('id', '!=', id).limit(1).executeTakeFirst()
  if (!other) await tx.deleteFrom('issuance_grant').where('id', '=', thid).execute()
}
