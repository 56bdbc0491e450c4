/** Lists of authorities (VICAL) among the trust anchors of a wallet. */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { verifySign1 } from '../../foundation/cose/index.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { MdocAnchor } from '../../foundation/x509/index.ts'
import { readVical, type Vical, VicalError } from '../../credentials/formats/mdoc/vical.ts'
import { loadX509 } from '../issuer-certificates/certificates.ts'
import type { TrustAnchor } from './model.ts'

/** The bytes of a list in base64 or base64url. */
const bytesOf = (value: string) => new Uint8Array(Buffer.from(value, 'base64'))

/** A verified list. `name` is the same for all lists of a provider that are below the same certificate. */
export type VerifiedVical = { vical: Vical; name: string }

/**
 * Verifies a list: its signer's certificates below that of the provider, the signature, and that there is no
 * later list yet.
 *
 * @param signer the certificate of the provider, in PEM
 * @throws {Problem} `UnprocessableEntity` with the member and the reason
 */
export async function verifyVical(value: string, signer: string, at: Date): Promise<VerifiedVical> {
  const { ChainError, checkListSigner, parsePem, readListed } = await loadX509()
  const refuse = (member: string, reason: string, cause?: unknown) =>
    new Problem('UnprocessableEntity', `${member}: ${reason}`, { cause })
  try {
    const [provider, ...more] = parsePem(signer)
    if (more.length > 0) throw refuse('signer', 'It has several certificates: give that of the provider.')
    const vical = readVical(bytesOf(value))
    const key = checkListSigner(vical.x5c, signer, at)
    if (!verifySign1(vical.sign1, key)) throw refuse('value', 'The signature of the list is not valid.')
    const { nextUpdate } = vical
    if (nextUpdate && nextUpdate < at)
      throw refuse(
        'value',
        `The list ended on ${nextUpdate.toISOString()}: get the latest one of ${vical.provider}.`,
      )
    if (!vical.certificates.some(({ der }) => readListed(der) !== undefined))
      throw refuse('value', 'The list has no certificate that can be a trust anchor.')
    return { vical, name: `${hash('sha256', provider!.raw)}:${vical.provider}` }
  } catch (error) {
    if (error instanceof VicalError) throw refuse('value', `The list ${error.message}.`, error)
    if (error instanceof ChainError) throw refuse('signer', error.message, error)
    throw error
  }
}

/** Whether a list is later than another one of the same provider. */
export function isLater(vical: Vical, other: Vical): boolean {
  return vical.issueId !== undefined && other.issueId !== undefined
    ? vical.issueId > other.issueId
    : vical.date > other.date
}

/** What a list says of itself. */
export function describeVical(value: string): TrustAnchor['list'] {
  const { provider, issueId, date, nextUpdate, certificates } = readVical(bytesOf(value))
  return {
    provider,
    ...(issueId !== undefined && { issueId }),
    date: date.toISOString(),
    ...(nextUpdate && { nextUpdate: nextUpdate.toISOString() }),
    certificates: certificates.length,
    docTypes: [...new Set(certificates.flatMap(({ docTypes }) => docTypes))],
  }
}

export function readStoredVical(value: string): Vical {
  return readVical(bytesOf(value))
}

/** The authorities of lists by the id of the anchor, whose list never changes. */
const listed = new LRUCache<string, MdocAnchor[]>({ max: 100 })

/** The authorities in the lists of a wallet, each for its types of documents. */
export async function findListedAnchors(db: Db): Promise<MdocAnchor[]> {
  const lists = await db.selectFrom('trust_anchor').select('id').where('type', '=', 'vical').execute()
  return (await Promise.all(lists.map(({ id }) => anchorsOf(db, id)))).flat()
}

async function anchorsOf(db: Db, id: string): Promise<MdocAnchor[]> {
  const known = listed.get(id)
  if (known) return known
  const { readListed } = await loadX509()
  const row = await db.selectFrom('trust_anchor').select('value').where('id', '=', id).executeTakeFirst()
  const { certificates } = row ? readStoredVical(row.value) : { certificates: [] }
  const anchors = certificates.flatMap(({ der, docTypes }) => {
    const pem = readListed(der)
    return pem === undefined ? [] : [{ pem, docTypes }]
  })
  if (row) listed.set(id, anchors)
  return anchors
}

/** A list of a wallet whose provider should have replaced it. */
export type OverdueList = { id: string; provider: string; nextUpdate: string }

/** The one that has been overdue for longest. Undefined in a wallet without. */
export async function findOverdueList(db: Db, now: Date): Promise<OverdueList | undefined> {
  const row = await db
    .selectFrom('trust_anchor')
    .select(['id', 'subject', 'not_after'])
    .where('type', '=', 'vical')
    .where('not_after', '<', now.toISOString())
    .orderBy('not_after')
    .limit(1)
    .executeTakeFirst()
  return row && { id: row.id, provider: row.subject ?? '', nextUpdate: row.not_after! }
}
