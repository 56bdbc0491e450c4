/** Reads the credentials that a prover chooses. */
import { Problem } from '../../foundation/problem.ts'
import type { Db } from '../../foundation/storage/database.ts'
import { canonicalDid, includesDid } from '../../did/document.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { stringsOf } from '../../foundation/storage/sql.ts'
import type { CredentialFormat } from '../protocols/attachments.ts'
import type { HeldCredential } from '../held-credentials/list.ts'
import type { PresentationRecord } from './model.ts'

const rowsByIds = prepared((db: Db, { ids }: { ids: string }) =>
  db.selectFrom('credential').selectAll().where('id', 'in', stringsOf(db, ids)),
)

/**
 * The credentials with these record ids, in the same order, of one format. `member` is the request's member
 * with the ids, for errors.
 *
 * @throws {Problem} if one does not exist or has another format
 */
export async function getHeldCredentials(
  db: Db,
  ids: readonly string[],
  format: CredentialFormat,
  member = 'proofId',
): Promise<HeldCredential[]> {
  if (ids.length === 0)
    throw new Problem('BadRequest', `${member} is empty: name at least one credential record of this wallet.`)
  const { rows } = await rowsByIds(db, { ids: JSON.stringify(ids) })
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => {
    const row = byId.get(id)
    if (!row) {
      throw new Problem(
        'error:PresentationError:IssuedCredentialNotFoundError',
        `${member}: this wallet holds no credential with the record id ${id}.`,
      )
    }
    if (row.format !== format)
      throw wrongFormat(
        `${member}: the credential ${id} is a ${row.format}, and the request is for ${format}.`,
      )
    return row
  })
}

/** The choices are for another format than the request. */
export function wrongFormat(detail: string): Problem {
  return new Problem('error:PresentationError:NotMatchingPresentationCredentialFormat', detail)
}

/** Why a request that names its issuers does not accept a credential. */
export function findDistrust(issuers: PresentationRecord['issuers'], issuer: string): string | undefined {
  if (!Array.isArray(issuers) || includesDid(issuers, issuer)) return undefined
  return `The request does not accept the issuer ${canonicalDid(issuer)}`
}
