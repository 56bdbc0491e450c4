/**
 * The trust anchors of a wallet: certificates of authorities, DIDs of issuers, key identifiers of
 * authorities, and lists of authorities.
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
import { describeVical, findListedAnchors, isLater, readStoredVical, verifyVical } from './vical.ts'

type Row = Selectable<WalletTables['trust_anchor']>

/** A verification reads all certificates of a wallet, and those of its lists. */
const [maxAnchors, maxLists] = [500, 10]

/**
 * Adds a trust anchor. A list of authorities replaces an earlier one of its provider.
 *
 * @throws {Problem} `UnprocessableEntity` for a certificate or a list that cannot be a trust anchor;
 * `Conflict` if the wallet has the anchor or a later list, or has too many
 */
export async function addAnchor(
  wallet: Wallet,
  input: TrustAnchorInput,
  at = new Date(),
): Promise<TrustAnchor> {
  const { type, name, docTypes } = input
  const { unique, ...content } = await toContent(input, at)
  const row = {
    id: newId(),
    type,
    digest: digestOf(type, unique),
    name: name ?? null,
    ...content,
    doc_types: docTypes === undefined ? null : JSON.stringify(docTypes),
    created_at: at.toISOString(),
  }
  const stored = { ...row, sequence: nextSequence('trust_anchor') }
  await wallet.transaction(async (tx) => {
    const known = await tx
      .selectFrom('trust_anchor')
      .selectAll()
      .where('digest', '=', row.digest)
      .executeTakeFirst()
    if (known) await removeEarlier(tx, known, row)
    await checkCount(tx, type)
    await tx.insertInto('trust_anchor').values(stored).execute()
  })
  return toAnchor(row)
}

/** Removes the list that another one replaces. @throws {Problem} `Conflict` */
async function removeEarlier(
  tx: Tx,
  known: Row,
  { type, value }: Pick<Row, 'type' | 'value'>,
): Promise<void> {
  if (type !== 'vical' || known.value === value)
    throw new Problem('Conflict', `value: the trust anchor ${known.id} is the same.`)
  if (!isLater(readStoredVical(value), readStoredVical(known.value)))
    throw new Problem('Conflict', `value: the trust anchor ${known.id} is a later list of this provider.`)
  await removeAnchor(tx, known.id)
}

async function checkCount(tx: Tx, type: AnchorType): Promise<void> {
  const rows = await tx
    .selectFrom('trust_anchor')
    .select(({ fn }) => ['type', fn.countAll<number>().as('count')])
    .groupBy('type')
    .execute()
  const all = rows.reduce((sum, { count }) => sum + count, 0)
  if (all >= maxAnchors)
    throw new Problem('Conflict', `The wallet has ${maxAnchors} trust anchors, the most: remove some.`)
  if (type === 'vical' && (rows.find((row) => row.type === type)?.count ?? 0) >= maxLists)
    throw new Problem('Conflict', `The wallet has ${maxLists} lists of authorities, the most: remove some.`)
}

/** The columns of an anchor, and what makes it the same as another one of its type. */
type Content = Pick<Row, 'value' | 'subject' | 'key_id' | 'not_after'> & { unique: string }

async function toContent({ type, value, signer = '' }: TrustAnchorInput, at: Date): Promise<Content> {
  const bare = { subject: null, key_id: null, not_after: null }
  if (type === 'vical') {
    const { vical, name } = await verifyVical(value, signer, at)
    const { provider, nextUpdate } = vical
    return { ...bare, value, subject: provider, not_after: nextUpdate?.toISOString() ?? null, unique: name }
  }
  if (type !== 'x509') {
    const stored = type === 'did' ? canonicalDid(value) : value
    return { ...bare, value: stored, unique: stored }
  }
  const { ChainError, readAnchor } = await loadX509()
  try {
    const { pem, subject, keyId, notAfter } = readAnchor(value, at)
    const columns = { subject, key_id: keyId ?? null, not_after: notAfter.toISOString() }
    return { ...columns, value: pem, unique: pem }
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

/** The certificates that are trusted for all or for some types of documents, also those in lists. */
export async function findDocumentAnchors(db: Db): Promise<MdocAnchor[]> {
  const rows = db.selectFrom('trust_anchor').select(['value', 'doc_types']).where('type', '=', 'x509')
  const own = (await rows.execute()).map(({ value: pem, doc_types: types }) => ({
    pem,
    ...(types !== null && { docTypes: DocTypes.parse(JSON.parse(types)) }),
  }))
  return [...own, ...(await findListedAnchors(db))]
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
    ...(row.type === 'vical' && { list: describeVical(row.value) }),
    createdAt: row.created_at,
  })
}

function notFound(id: string): Problem {
  return new Problem('NotFound', `There is no trust anchor ${id}.`)
}
