/** All credentials of a wallet, to find those that answer a request. */
import { createCheckpoint } from '../../foundation/checkpoint.ts'
import { canonicalDid } from '../../did/document.ts'
import type { Db } from '../../foundation/storage/database.ts'
import { CredentialFormat } from '../protocols/attachments.ts'
import { CredentialData } from '../issuance/model.ts'

/** A stored credential. */
export type HeldCredential = {
  id: string
  format: string
  credential: string
  issuer: string
  subject: string | null
}

/** A credential of the wallet, and whether its issuer has reported that it is revoked. */
export type ListedCredential = HeldCredential & {
  format: CredentialFormat
  receivedAt: string
  isRevoked: boolean
}

/** What candidates for a presentation say of a credential, whatever is asked. */
export function describeHeld({ id, format, issuer, receivedAt, isRevoked }: ListedCredential) {
  return {
    recordId: id,
    credentialFormat: format,
    issuer: canonicalDid(issuer),
    receivedAt,
    revoked: isRevoked,
  }
}

/** All credentials of the wallet, newest first. Other requests proceed while a large wallet is read. */
export async function* listHeldCredentials(db: Db): AsyncGenerator<ListedCredential> {
  const rows = await db
    .selectFrom('credential')
    .innerJoin('record', 'record.id', 'credential.id')
    .selectAll('credential')
    .select('record.data')
    .orderBy('credential.created_at', 'desc')
    .orderBy('credential.id', 'desc')
    .execute()
  const checkpoint = createCheckpoint()
  for (const { data, format, created_at: receivedAt, ...row } of rows) {
    await checkpoint()
    yield {
      ...row,
      receivedAt,
      format: CredentialFormat.parse(format),
      isRevoked: CredentialData.shape.revocation.parse(JSON.parse(data).revocation) !== undefined,
    }
  }
}
