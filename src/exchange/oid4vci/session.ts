/**
 * Sessions of issuance: rows that bind the code and the access token of an offer to its record. Secrets are
 * stored as digests.
 */
import type { Selectable } from 'kysely'
import * as z from 'zod'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { Wallet } from '../../wallet/wallet.ts'

export type SessionRow = Selectable<WalletTables['issuance_session']>

/**
 * The secret of the grant, a pre-authorized code or `issuer_state`, and the transaction code. `txCodeHint` is
 * the `tx_code` object of the offer.
 */
const Secrets = z.object({
  code: z.string().optional(),
  issuerState: z.string().optional(),
  txCode: z.string().optional(),
  txCodeHint: z.looseObject({ description: z.string().optional() }).optional(),
})
export type SessionSecrets = z.infer<typeof Secrets>

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

const contextOf = (recordId: string) => `issuance-session:${recordId}`

export function sealSecrets(wallet: Wallet, recordId: string, secrets: SessionSecrets): string {
  return wallet.seal(contextOf(recordId), JSON.stringify(secrets))
}

export function openSecrets(wallet: Wallet, { record_id, sealed }: SessionRow): SessionSecrets | undefined {
  if (sealed === null) return undefined
  return Secrets.parse(JSON.parse(wallet.unseal(contextOf(record_id), sealed)))
}

export const insertSession = prepared((db: Db, row: SessionRow) =>
  db.insertInto('issuance_session').values({
    record_id: row.record_id,
    issuer_id: row.issuer_id,
    configuration_id: row.configuration_id,
    authorization_server: row.authorization_server,
    offer_digest: row.offer_digest,
    state_digest: row.state_digest,
    code_digest: row.code_digest,
    authorized: row.authorized,
    sealed: row.sealed,
    guesses: row.guesses,
    token_digest: row.token_digest,
    token_jkt: row.token_jkt,
    token_expires_at: row.token_expires_at,
  }),
)

type SecretColumn = 'state_digest' | 'code_digest' | 'token_digest'

const rowsBy = (column: SecretColumn) =>
  prepared((db: Db, { digest }: { digest: string }) =>
    db.selectFrom('issuance_session').selectAll().where(column, '=', digest),
  )
const rowsBySecret = {
  state_digest: rowsBy('state_digest'),
  code_digest: rowsBy('code_digest'),
  token_digest: rowsBy('token_digest'),
}

/** The session of an issuer that a secret belongs to. */
export async function findSession(
  db: Db,
  issuerId: string,
  column: SecretColumn,
  secret: string,
): Promise<SessionRow | undefined> {
  const [session] = (await rowsBySecret[column](db, { digest: digestOf(secret) })).rows
  if (session?.issuer_id !== issuerId) return undefined
  return session
}

export function getSession(db: Db, recordId: string): Promise<SessionRow> {
  const sessions = db.selectFrom('issuance_session').selectAll()
  return sessions.where('record_id', '=', recordId).executeTakeFirstOrThrow()
}

const redeemRow = prepared(
  (
    db: Db,
    {
      record_id,
      token_digest,
      token_jkt,
      token_expires_at,
    }: Pick<SessionRow, 'record_id' | 'token_digest' | 'token_jkt' | 'token_expires_at'>,
  ) =>
    db
      .updateTable('issuance_session')
      .set({ sealed: null, token_digest, token_jkt, token_expires_at })
      .where('record_id', '=', record_id),
)

/** Replaces the secrets of a session by its access token. */
export async function redeemSession(
  tx: Tx,
  recordId: string,
  { token, jkt, lifetime }: { token: string; jkt: string | undefined; lifetime: number },
): Promise<void> {
  await redeemRow(tx, {
    record_id: recordId,
    token_digest: digestOf(token),
    token_jkt: jkt ?? null,
    token_expires_at: new Date(Date.now() + lifetime * 1_000).toISOString(),
  })
}

export async function updateSession(
  tx: Tx,
  recordId: string,
  change: Partial<Omit<SessionRow, 'record_id'>>,
): Promise<void> {
  await tx.updateTable('issuance_session').set(change).where('record_id', '=', recordId).execute()
}
