/** Sessions of issuance: rows that bind the code and the access token of an offer to its record. Secrets are stored as digests. */
import { createHash, randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import * as z from 'zod'
import type { Db, Tx } from '../storage/database.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { Wallet } from '../wallet/wallet.ts'

export type SessionRow = Selectable<WalletTables['issuance_session']>

/** The secret of the grant, a pre-authorized code or `issuer_state`, and the transaction code. `txCodeHint` is the `tx_code` object of the offer. */
const Secrets = z.object({
  code: z.string().optional(),
  issuerState: z.string().optional(),
  txCode: z.string().optional(),
  txCodeHint: z.looseObject({ description: z.string().optional() }).optional(),
})
export type SessionSecrets = z.infer<typeof Secrets>

/** A code or token of 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The `issuer_state` of an offer. It begins with the id of the issuer, because an external authorization server names no issuer beside it. */
export function newIssuerState(issuerId: string): string {
  return `${issuerId}.${newSecret()}`
}

/** The id of the issuer of an `issuer_state`. Undefined for another text. */
export function issuerIdIn(issuerState: string): string | undefined {
  return /^([\da-f-]{36})\./i.exec(issuerState)?.[1]?.toLowerCase()
}

/** SHA-256 in base64url: of a secret that cannot be guessed, or of a value that a specification hashes so. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

const contextOf = (recordId: string) => `issuance-session:${recordId}`

export function sealSecrets(wallet: Wallet, recordId: string, secrets: SessionSecrets): string {
  return wallet.seal(contextOf(recordId), JSON.stringify(secrets))
}

export function openSecrets(wallet: Wallet, { record_id, sealed }: SessionRow): SessionSecrets | undefined {
  if (sealed === null) return undefined
  return Secrets.parse(JSON.parse(wallet.unseal(contextOf(record_id), sealed)))
}

export async function insertSession(tx: Tx, row: SessionRow): Promise<void> {
  await tx.insertInto('issuance_session').values(row).execute()
}

/** The session of an issuer that a secret belongs to. */
export function findSession(
  db: Db,
  issuerId: string,
  column: 'state_digest' | 'code_digest' | 'token_digest',
  secret: string,
): Promise<SessionRow | undefined> {
  const sessions = db.selectFrom('issuance_session').selectAll().where('issuer_id', '=', issuerId)
  return sessions.where(column, '=', digestOf(secret)).executeTakeFirst()
}

export function getSession(db: Db, recordId: string): Promise<SessionRow> {
  const sessions = db.selectFrom('issuance_session').selectAll()
  return sessions.where('record_id', '=', recordId).executeTakeFirstOrThrow()
}

export async function updateSession(
  tx: Tx,
  recordId: string,
  change: Partial<Omit<SessionRow, 'record_id'>>,
): Promise<void> {
  await tx.updateTable('issuance_session').set(change).where('record_id', '=', recordId).execute()
}
