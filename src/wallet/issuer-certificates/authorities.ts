/**
 * The development authorities of ISO mdoc: a root for each country, province and curve, and one for readers.
 * Each has a list of revoked certificates, whose URL is in the certificates that it signs.
 */
import { randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { nextSequence } from '../../foundation/storage/sql.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { AuthorityUrls } from '../../foundation/x509/mdoc-issue.ts'
import type { Wallet } from '../wallet.ts'
import { loadX509, toSubject } from './certificates.ts'
import type { CertificateInput, CertificateProfile } from './model.ts'

type Row = Selectable<WalletTables['issuer_authority']>

/** Whose certificates an authority signs. */
export type Place = Pick<Row, 'profile' | 'country' | 'province' | 'curve'>

/** The place of the authority that signs a certificate. Readers are of no country. */
export function placeOf(
  profile: CertificateProfile,
  { country, province, curve = 'P-256' }: Pick<CertificateInput, 'country' | 'province' | 'curve'>,
): Place {
  const place = profile === 'mdoc' ? { country: country ?? null, province: province ?? null } : nowhere
  // Roots have keys with a hash (ISO/IEC 18013-5, Table B.1).
  return { profile, ...place, curve: curve === 'Ed25519' ? 'P-256' : curve }
}

const nowhere = { country: null, province: null }

/** An authority with its key, in PEM. `id` is in the URL of its list. */
export type MdocAuthority = { id: string; certificate: string; key: string }

/** The authority of a place that is valid for `leftMs` more. It is made if there is none. */
export async function provideMdocAuthority(
  wallet: Wallet,
  place: Place,
  leftMs: number,
): Promise<MdocAuthority> {
  const found = await findAuthority(wallet, wallet.db, place, leftMs)
  if (found) return found
  const id = wallet.env.tokens.create('crl', wallet.id)
  const made = await makeAuthority(place, urlsOf(wallet, id))
  return wallet.transaction(async (tx) => {
    // Another request may have stored one meanwhile.
    const other = await findAuthority(wallet, tx, place, leftMs)
    if (other) return other
    const row = {
      sequence: nextSequence('issuer_authority'),
      id,
      ...place,
      certificate: made.certificate,
      sealed: wallet.seal(contextOf(id), made.key),
      revoked: '[]',
      created_at: new Date().toISOString(),
    }
    await tx.insertInto('issuer_authority').values(row).execute()
    return { id, ...made }
  })
}

/** The URLs in the certificates of an authority. */
export function urlsOf({ env }: Pick<Wallet, 'env'>, id: string): AuthorityUrls {
  return { issuer: env.urls.rest, list: `${env.urls.rest}/issuer-certificates/crl/${id}.crl` }
}

async function makeAuthority({ profile, country, province, curve }: Place, urls: AuthorityUrls) {
  const { issueMdocAuthority } = await loadX509()
  // Authorities with the same name would be taken for each other.
  const kind = profile === 'mdoc' ? 'IACA' : 'reader authority'
  const commonName = `identity-agent development ${kind} ${randomBytes(4).toString('hex')}`
  const subject = toSubject({ commonName, country: country ?? undefined, province: province ?? undefined })
  return issueMdocAuthority(subject, curve as Parameters<typeof issueMdocAuthority>[1], urls)
}

/** The last one of a place. Undefined if it ends earlier. */
async function findAuthority(
  wallet: Wallet,
  db: Db,
  { profile, country, province, curve }: Place,
  leftMs: number,
): Promise<MdocAuthority | undefined> {
  const { parsePem } = await loadX509()
  const row = await db
    .selectFrom('issuer_authority')
    .selectAll()
    .where('profile', '=', profile)
    .where('country', country === null ? 'is' : '=', country)
    .where('province', province === null ? 'is' : '=', province)
    .where('curve', '=', curve)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row) return undefined
  const isValid = parsePem(row.certificate)[0]!.notAfter.getTime() - Date.now() > leftMs
  return isValid ? unsealed(wallet, row) : undefined
}

function unsealed(wallet: Wallet, { id, certificate, sealed }: Row): MdocAuthority {
  return { id, certificate, key: wallet.unseal(contextOf(id), sealed) }
}

/** @throws {Problem} `NotFound` */
export async function getAuthority(db: Db, id: string): Promise<Row> {
  const rows = db.selectFrom('issuer_authority').selectAll().where('id', '=', id)
  return rows.executeTakeFirstOrThrow(() => listNotFound(id))
}

const Revoked = z.array(z.object({ serialNumber: z.string(), revokedAt: z.string() }))
export type Revocations = z.output<typeof Revoked>

/** The certificates on the list of an authority, in the order of their revocation. */
export function revocationsOf({ revoked }: Pick<Row, 'revoked'>): Revocations {
  return Revoked.parse(JSON.parse(revoked))
}

/** The authority with its key, and its list. @throws {Problem} `NotFound` */
export async function getSigningAuthority(
  wallet: Wallet,
  id: string,
): Promise<MdocAuthority & { revoked: Revocations }> {
  const row = await getAuthority(wallet.db, id)
  return { ...unsealed(wallet, row), revoked: revocationsOf(row) }
}

/** Puts a certificate on the list of its authority. Returns the time, in whole seconds, which rises. */
export async function addRevocation(tx: Tx, id: string, serialNumber: string): Promise<string> {
  const revoked = revocationsOf(await getAuthority(tx, id))
  const last = Date.parse(revoked.at(-1)?.revokedAt ?? new Date(0).toISOString())
  const now = Math.floor(Date.now() / 1_000) * 1_000
  const revokedAt = new Date(Math.max(now, last + 1_000)).toISOString()
  const changed = JSON.stringify([...revoked, { serialNumber, revokedAt }])
  await tx.updateTable('issuer_authority').set({ revoked: changed }).where('id', '=', id).execute()
  return revokedAt
}

export function listNotFound(id: string): Problem {
  return new Problem('NotFound', `There is no list of revoked certificates ${id.slice(0, 100)}.`)
}

function contextOf(id: string): string {
  return `issuer-authority:${id}`
}
