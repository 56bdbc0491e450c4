/**
 * The trust anchors of a wallet: certificates of authorities, DIDs of issuers, and key identifiers of
 * authorities.
 */
import { hash } from 'node:crypto'
import type { Selectable } from 'kysely'
import * as z from 'zod'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { canonicalDid } from '../../did/document.ts'
import { loadX509 } from '../issuer-certificates/certificates.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { nextSequence } from '../../foundation/storage/sql.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { MdocAnchor } from '../../foundation/x509/index.ts'
import type { Wallet } from '../wallet.ts'
import { type AnchorType, TrustAnchor, type TrustAnchorInput } from './model.ts'

type Row = Selectable<WalletTables['trust_anchor']>

/** A verification reads all certificates of a wallet. */
const maxAnchors = 500

/**
 * Adds a trust anchor.
 *
 * @throws {Problem} `UnprocessableEntity` for a certificate that cannot be a trust anchor; `Conflict` if the
 * wallet has the anchor, or has too many
 */
export async function addAnchor(
  wallet: Wallet,
  { type, value, name, docTypes }: TrustAnchorInput,
  at = new Date(),
): Promise<TrustAnchor> {
  const content = await toContent(type, value, at)
  const row = {
    id: newId(),
    type,
    digest: digestOf(type, content.value),
    name: name ?? null,
    ...content,
    doc_types: docTypes === undefined ? null : JSON.stringify(docTypes),
    created_at: at.toISOString(),
  }
  const stored = { ...row, sequence: nextSequence('trust_anchor') }
  await wallet.transaction(async (tx) => {
    const same = tx.selectFrom('trust_anchor').select('id').where('digest', '=', row.digest)
    const known = await same.executeTakeFirst()
    if (known) throw new Problem('Conflict', `value: the trust anchor ${known.id} is the same.`)
    const count = tx.selectFrom('trust_anchor').select(({ fn }) => fn.countAll<number>().as('count'))
    if ((await count.executeTakeFirstOrThrow()).count >= maxAnchors)
      throw new Problem('Conflict', `The wallet has ${maxAnchors} trust anchors, the most: remove some.`)
    await tx.insertInto('trust_anchor').values(stored).execute()
  })
  return toAnchor(row)
}

type Content = Pick<Row, 'value' | 'subject' | 'key_id' | 'not_after'>

async function toContent(type: AnchorType, value: string, at: Date): Promise<Content> {
  if (type !== 'x509') {
    const stored = type === 'did' ? canonicalDid(value) : value
    return { value: stored, subject: null, key_id: null, not_after: null }
  }
  const { ChainError, readAnchor } = await loadX509()
  try {
    const { pem, subject, keyId, notAfter } = readAnchor(value, at)
    return { value: pem, subject, key_id: keyId ?? null, not_after: notAfter.toISOString() }
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw new Problem('UnprocessableEntity', `value: ${error.message}`, { cause: error })
  }
}

/** A page of the wallet's trust anchors in order of creation, and the number of all. */
export async function listAnchors(
  db: Db,
  paging: Paging,
): Promise<{ anchors: TrustAnchor[]; total: number }> {
  const all = db.selectFrom('trust_anchor').selectAll()
  const { rows, total } = await pageOf(all, ['sequence'], paging)
  return { anchors: rows.map(toAnchor), total }
}

/** @throws {Problem} `NotFound` */
export async function getAnchor(db: Db, id: string): Promise<TrustAnchor> {
  const rows = db.selectFrom('trust_anchor').selectAll().where('id', '=', id)
  return toAnchor(await rows.executeTakeFirstOrThrow(() => notFound(id)))
}

/** @throws {Problem} `NotFound` */
export async function removeAnchor(tx: Tx, id: string): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom('trust_anchor').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound(id)
}

/**
 * The values of a type: certificates in PEM, DIDs in their short form, or key identifiers. Certificates that
 * are trusted for types of documents alone are not among them.
 */
export async function findAnchorValues(db: Db, type: AnchorType): Promise<string[]> {
  const rows = db.selectFrom('trust_anchor').select('value').where('type', '=', type)
  return (await rows.where('doc_types', 'is', null).execute()).map(({ value }) => value)
}

/** The certificates that are trusted for all or for some types of documents. */
export async function findDocumentAnchors(db: Db): Promise<MdocAnchor[]> {
  const rows = db.selectFrom('trust_anchor').select(['value', 'doc_types']).where('type', '=', 'x509')
  return (await rows.execute()).map(({ value: pem, doc_types: types }) => ({
    pem,
    ...(types !== null && { docTypes: DocTypes.parse(JSON.parse(types)) }),
  }))
}

const DocTypes = z.array(z.string())

/** Whether the wallet has the DID of an issuer or a verifier among its trust anchors. */
export async function isTrustedDid(db: Db, did: string): Promise<boolean> {
  const digest = digestOf('did', canonicalDid(did))
  const found = db.selectFrom('trust_anchor').select('id').where('digest', '=', digest)
  return (await found.executeTakeFirst()) !== undefined
}

function digestOf(type: AnchorType, value: string): string {
  return hash('sha256', `${type}:${value}`)
}

function toAnchor(row: Omit<Row, 'sequence'>): TrustAnchor {
  return TrustAnchor.parse({
    self: `/trust-anchors/${row.id}`,
    kind: 'TrustAnchor',
    id: row.id,
    type: row.type,
    value: row.value,
    ...(row.name !== null && { name: row.name }),
    ...(row.subject !== null && { subject: row.subject }),
    ...(row.key_id !== null && { keyId: row.key_id }),
    ...(row.not_after !== null && { notAfter: row.not_after }),
    ...(row.doc_types !== null && { docTypes: JSON.parse(row.doc_types) }),
    createdAt: row.created_at,
  })
}

function notFound(id: string): Problem {
  return new Problem('NotFound', `There is no trust anchor ${id}.`)
}
