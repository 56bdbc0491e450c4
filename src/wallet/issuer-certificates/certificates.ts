/**
 * Issuer certificates of a wallet: P-256 keys, their signing requests, and the chains that are imported for
 * them.
 */
import type { Selectable } from 'kysely'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { generateKey, type PrivateJwk, toPublic } from '../../foundation/crypto/keys.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { nextSequence } from '../../foundation/storage/sql.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { Wallet } from '../wallet.ts'
import { type CertificateInput, IssuerCertificate, type SubjectName } from './model.ts'

type Row = Selectable<WalletTables['issuer_certificate']>

/** Loaded when it is first needed. */
export const loadX509 = () => import('../../foundation/x509/index.ts')

/** Creates a key with a certificate signing request. */
export async function requestCertificate(
  wallet: Wallet,
  input: CertificateInput,
): Promise<IssuerCertificate> {
  const { createRequest } = await loadX509()
  const key = generateKey('P-256')
  const { request, subject } = await createRequest(key, toSubject(input), toAlternativeNames(input.names))
  return insertCertificate(wallet, key, { ...input, subject, request, isDevelopment: false })
}

type Content = {
  subject: string
  names: readonly SubjectName[]
  isDevelopment: boolean
  request?: string
  chain?: string
  notAfter?: string
}

/** Stores a key with its request or its chain. */
export async function insertCertificate(
  wallet: Wallet,
  key: PrivateJwk,
  { subject, names, isDevelopment, request, chain, notAfter }: Content,
): Promise<IssuerCertificate> {
  const [id, now] = [newId(), new Date().toISOString()]
  const row = {
    id,
    public_key: JSON.stringify(toPublic(key)),
    sealed: wallet.seal(contextOf(id), JSON.stringify(key)),
    request: request ?? null,
    chain: chain ?? null,
    subject,
    names: JSON.stringify(names),
    not_after: notAfter ?? null,
    is_development: isDevelopment ? 1 : 0,
    created_at: now,
    updated_at: now,
  }
  const stored = { ...row, sequence: nextSequence('issuer_certificate') }
  await wallet.transaction((tx) => tx.insertInto('issuer_certificate').values(stored).execute())
  return toCertificate(row)
}

/**
 * Imports the chain of a key, and replaces the chain that it has.
 *
 * @throws {Problem} `NotFound`; `Conflict` for a development certificate, whose key has no request;
 * `UnprocessableEntity` when the chain is not acceptable: the detail names the certificate
 */
export async function importChain(
  wallet: Wallet,
  id: string,
  pem: string,
  at = new Date(),
): Promise<IssuerCertificate> {
  const { ChainError, readChain, toNames, toPemText, withoutRoot } = await loadX509()
  const row = await getRow(wallet.db, id)
  if (row.is_development === 1)
    throw new Problem(
      'Conflict',
      `The issuer certificate ${id} is for development and keeps its chain: create a request, and import the chain for that.`,
    )
  try {
    const chain = readChain(pem, PublicP256.parse(JSON.parse(row.public_key)), at)
    const changed = {
      chain: chain.map(toPemText).join('\n'),
      subject: chain[0]!.subject,
      names: JSON.stringify(toNames(chain[0]!)),
      not_after: earliestEnd(withoutRoot(chain)),
      updated_at: at.toISOString(),
    }
    const isThere = await wallet.transaction(async (tx) => {
      const update = tx.updateTable('issuer_certificate').set(changed).where('id', '=', id)
      return (await update.executeTakeFirst()).numUpdatedRows === 1n
    })
    if (!isThere) throw notFound(id)
    return await toCertificate({ ...row, ...changed })
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw new Problem('UnprocessableEntity', `chain: ${error.message}`, { cause: error })
  }
}

export function earliestEnd(chain: readonly { notAfter: Date }[]): string {
  return new Date(Math.min(...chain.map(({ notAfter }) => notAfter.getTime()))).toISOString()
}

/** @throws {Problem} `NotFound` */
export async function getCertificate(db: Db, id: string): Promise<IssuerCertificate> {
  return toCertificate(await getRow(db, id))
}

/** Checks that a request names an issuer certificate of the wallet. @throws {Problem} 400 */
export async function requireCertificate(db: Db, id: string): Promise<void> {
  await getRow(db, id).catch((cause: unknown) => {
    if (!(cause instanceof Problem) || cause.status !== 404) throw cause
    throw new Problem('BadRequest', `issuerCertificateId: ${cause.message}`, { cause })
  })
}

/** A page of the wallet's issuer certificates in order of creation, and the number of all. */
export async function listCertificates(
  db: Db,
  paging: Paging,
): Promise<{ certificates: IssuerCertificate[]; total: number }> {
  const all = db.selectFrom('issuer_certificate').selectAll()
  const { rows, total } = await pageOf(all, ['sequence'], paging)
  return { certificates: await Promise.all(rows.map(toCertificate)), total }
}

/** Deletes a key with its certificates. @throws {Problem} `NotFound` */
export async function deleteCertificate(tx: Tx, id: string): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom('issuer_certificate').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound(id)
}

/** The private key of a certificate. @throws {Problem} `NotFound` */
export async function getIssuingKey(wallet: Wallet, id: string): Promise<PrivateJwk> {
  const { sealed } = await getRow(wallet.db, id)
  return wallet.unsealCached(contextOf(id), sealed, (text) => PrivateP256.parse(JSON.parse(text)))
}

async function getRow(db: Db, id: string): Promise<Row> {
  const rows = db.selectFrom('issuer_certificate').selectAll().where('id', '=', id)
  return rows.executeTakeFirstOrThrow(() => notFound(id))
}

const PublicP256 = z.object({ kty: z.literal('EC'), crv: z.literal('P-256'), x: z.string(), y: z.string() })
const PrivateP256 = PublicP256.extend({ d: z.string() })

/** ASN.1 values: the library reads quotes and `#` in texts as syntax. */
export function toSubject({ commonName, organization, country }: CertificateInput) {
  return [
    ...(country === undefined ? [] : [{ C: [{ printableString: country }] }]),
    ...(organization === undefined ? [] : [{ O: [{ utf8String: organization }] }]),
    { CN: [{ utf8String: commonName }] },
  ]
}

export function toAlternativeNames(names: readonly SubjectName[]) {
  return names.map(({ type, value }) => ({
    type: type === 'dns' ? ('dns' as const) : ('url' as const),
    value,
  }))
}

async function toCertificate(row: Omit<Row, 'sequence'>): Promise<IssuerCertificate> {
  return IssuerCertificate.parse({
    self: `/issuer-certificates/${row.id}`,
    kind: 'IssuerCertificate',
    id: row.id,
    state:
      row.not_after === null ? 'requested' : Date.parse(row.not_after) < Date.now() ? 'expired' : 'ready',
    isDevelopment: row.is_development === 1,
    subject: row.subject,
    names: JSON.parse(row.names),
    publicKey: JSON.parse(row.public_key),
    ...(row.request !== null && { request: row.request }),
    ...(row.chain !== null && (await readStoredChain(row.chain))),
    ...(row.not_after !== null && { notAfter: row.not_after }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  })
}

type ReadChain = { x5c: string[]; root?: string }

/** Chains by their PEM: each credential of a certificate contains the same. */
const readChains = new LRUCache<string, ReadChain>({ max: 200 })

/** The certificates of a stored chain, for the header member `x5c`, and its root in PEM. */
export async function readStoredChain(pem: string): Promise<ReadChain> {
  const known = readChains.get(pem)
  if (known) return known
  const { parsePem, toPemText, withoutRoot } = await loadX509()
  const all = parsePem(pem)
  const chain = withoutRoot(all)
  const x5c = chain.map(({ raw }) => raw.toString('base64'))
  const read = chain.length === all.length ? { x5c } : { x5c, root: toPemText(all.at(-1)!) }
  readChains.set(pem, read)
  return read
}

function contextOf(id: string): string {
  return `issuer-certificate:${id}`
}

function notFound(id: string): Problem {
  return new Problem('NotFound', `There is no issuer certificate ${id}.`)
}
