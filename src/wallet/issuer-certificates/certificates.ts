/** The issuer certificates of a wallet: keys with their chains. */
import type { Selectable } from 'kysely'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { type PrivateJwk, toPublic } from '../../foundation/crypto/keys.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { nextSequence } from '../../foundation/storage/sql.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { Wallet } from '../wallet.ts'
import {
  type CertificateInput,
  CertificateKey,
  type CertificateProfile,
  IssuerCertificate,
  type SubjectName,
} from './model.ts'

type Row = Selectable<WalletTables['issuer_certificate']>

/** Loaded when it is first needed. */
export const loadX509 = () => import('../../foundation/x509/index.ts')

/** What issuing fills: the certificate of a key, and whose it is. */
export type Issued = {
  subject: string
  chain: string
  notAfter: string
  authorityId?: string | undefined
}

type Content = Partial<Issued> & {
  subject: string
  names: readonly SubjectName[]
  profile: CertificateProfile | undefined
  isDevelopment: boolean
  request?: string
}

/** Stores a key with its request or its chain. */
export async function insertCertificate(
  wallet: Wallet,
  key: PrivateJwk,
  { subject, names, profile, isDevelopment, request, ...issued }: Content,
): Promise<IssuerCertificate> {
  const [id, now] = [newId(), new Date().toISOString()]
  const row = {
    id,
    ...keyColumns(wallet, id, key),
    request: request ?? null,
    chain: issued.chain ?? null,
    subject,
    names: JSON.stringify(names),
    not_after: issued.notAfter ?? null,
    is_development: isDevelopment ? 1 : 0,
    profile: profile ?? null,
    authority_id: issued.authorityId ?? null,
    revoked_at: null,
    created_at: now,
    updated_at: now,
  }
  const stored = { ...row, sequence: nextSequence('issuer_certificate') }
  await wallet.transaction((tx) => tx.insertInto('issuer_certificate').values(stored).execute())
  return toCertificate(row)
}

/** The columns of the key of a certificate. */
export function keyColumns(wallet: Wallet, id: string, key: PrivateJwk): Pick<Row, 'public_key' | 'sealed'> {
  return {
    public_key: JSON.stringify(toPublic(key)),
    sealed: wallet.seal(contextOf(id), JSON.stringify(key)),
  }
}

/** Updates the row of a certificate. @throws {Problem} `NotFound` if it was deleted meanwhile */
export async function changeCertificate(
  wallet: Wallet,
  row: Row,
  changed: Partial<Row>,
): Promise<IssuerCertificate> {
  const isThere = await wallet.transaction(async (tx) => {
    const update = tx.updateTable('issuer_certificate').set(changed).where('id', '=', row.id)
    return (await update.executeTakeFirst()).numUpdatedRows === 1n
  })
  if (!isThere) throw notFound(row.id)
  return toCertificate({ ...row, ...changed })
}

export function earliestEnd(chain: readonly { notAfter: Date }[]): string {
  return new Date(Math.min(...chain.map(({ notAfter }) => notAfter.getTime()))).toISOString()
}

/** @throws {Problem} `NotFound` */
export async function getCertificate(db: Db, id: string): Promise<IssuerCertificate> {
  return toCertificate(await getRow(db, id))
}

/** Checks that a request names an issuer certificate of the wallet. @throws {Problem} 400 */
export async function requireCertificate(
  db: Db,
  id: string,
  profile: CertificateProfile | undefined,
): Promise<void> {
  const row = await getRow(db, id).catch((cause: unknown) => {
    if (!(cause instanceof Problem) || cause.status !== 404) throw cause
    throw new Problem('BadRequest', `issuerCertificateId: ${cause.message}`, { cause })
  })
  if ((row.profile ?? undefined) === profile) return
  const wanted = profile === undefined ? 'without a profile' : `of the profile ${profile}`
  throw new Problem(
    'BadRequest',
    `issuerCertificateId: the issuer certificate ${id} ${row.profile === null ? 'has no profile' : `has the profile ${row.profile}`}, and credentials of this format are signed by one ${wanted}.`,
  )
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
  return wallet.unsealCached(contextOf(id), sealed, (text) => PrivateKey.parse(JSON.parse(text)))
}

/** @throws {Problem} `NotFound` */
export async function getRow(db: Db, id: string): Promise<Row> {
  const rows = db.selectFrom('issuer_certificate').selectAll().where('id', '=', id)
  return rows.executeTakeFirstOrThrow(() => notFound(id))
}

const PrivateKey = z.intersection(CertificateKey, z.object({ d: z.string() }))

/** ASN.1 values: the library reads quotes and `#` in texts as syntax. */
export function toSubject({
  commonName,
  organization,
  country,
  province,
}: Pick<CertificateInput, 'commonName' | 'organization' | 'country' | 'province'>) {
  return [
    ...(country === undefined ? [] : [{ C: [{ printableString: country }] }]),
    ...(province === undefined ? [] : [{ ST: [{ utf8String: province }] }]),
    ...(organization === undefined ? [] : [{ O: [{ utf8String: organization }] }]),
    { CN: [{ utf8String: commonName }] },
  ]
}

export function toAlternativeNames(names: readonly SubjectName[] = []) {
  return names.map(({ type, value }) => ({
    type: type === 'dns' ? ('dns' as const) : ('url' as const),
    value,
  }))
}

/** The certificate as it is in the API. */
export async function toCertificate(row: Omit<Row, 'sequence'>): Promise<IssuerCertificate> {
  return IssuerCertificate.parse({
    self: `/issuer-certificates/${row.id}`,
    kind: 'IssuerCertificate',
    id: row.id,
    state: stateOf(row),
    ...(row.profile !== null && { profile: row.profile }),
    isDevelopment: row.is_development === 1,
    subject: row.subject,
    names: JSON.parse(row.names),
    publicKey: JSON.parse(row.public_key),
    ...(row.request !== null && { request: row.request }),
    ...(row.chain !== null && (await readStoredChain(row.chain))),
    ...(row.not_after !== null && { notAfter: row.not_after }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  })
}

function stateOf({ not_after: end, revoked_at: revokedAt }: Pick<Row, 'not_after' | 'revoked_at'>) {
  if (revokedAt !== null) return 'revoked'
  if (end === null) return 'requested'
  return Date.parse(end) < Date.now() ? 'expired' : 'ready'
}

export function profileOf({ profile }: Pick<Row, 'profile'>): CertificateProfile | undefined {
  return (profile as CertificateProfile | null) ?? undefined
}

type ReadChain = Pick<IssuerCertificate, 'authority' | 'root'> & { x5c: string[] }

/** Chains by their PEM: each credential of a certificate contains the same. */
const readChains = new LRUCache<string, ReadChain>({ max: 200 })

/** The certificates of a stored chain, for the header member `x5c`, their authority, and its root in PEM. */
export async function readStoredChain(pem: string): Promise<ReadChain> {
  const known = readChains.get(pem)
  if (known) return known
  const { authorityOf, parsePem, toPemText, withoutRoot } = await loadX509()
  const all = parsePem(pem)
  const chain = withoutRoot(all)
  const read = {
    x5c: chain.map(({ raw }) => raw.toString('base64')),
    authority: authorityOf(chain.at(-1)!),
    ...(chain.length < all.length && { root: toPemText(all.at(-1)!) }),
  }
  readChains.set(pem, read)
  return read
}

function contextOf(id: string): string {
  return `issuer-certificate:${id}`
}

function notFound(id: string): Problem {
  return new Problem('NotFound', `There is no issuer certificate ${id}.`)
}
