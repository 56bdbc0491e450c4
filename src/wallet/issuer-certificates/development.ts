/**
 * Issuer certificates that an authority of the wallet signs at once, for development. Only verifiers that
 * import its root trust them.
 *
 * The authority of certificates without a profile is a setting of the wallet, sealed; `authorities.ts` has
 * those of ISO mdoc.
 */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { generateKey, type PrivateJwk, toPublic } from '../../foundation/crypto/keys.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Subject } from '../../foundation/x509/issue.ts'
import type { Wallet } from '../wallet.ts'
import {
  addRevocation,
  getAuthority,
  type Place,
  placeOf,
  provideMdocAuthority,
  urlsOf,
} from './authorities.ts'
import {
  changeCertificate,
  earliestEnd,
  getRow,
  insertCertificate,
  type Issued,
  keyColumns,
  loadX509,
  profileOf,
  toAlternativeNames,
  toCertificate,
  toSubject,
} from './certificates.ts'
import { type CertificateInput, CertificateKey, type IssuerCertificate, SubjectName } from './model.ts'

const setting = 'issuer-authority'
const authorityDays = 3_650
const certificateDays = 397
const dayMs = 86_400_000

const Authority = z.object({ certificate: z.string(), key: z.string() })
type Authority = z.output<typeof Authority>

/** Creates a key, and its certificate by a development authority of the wallet, made if there is none. */
export async function createDevelopmentCertificate(
  wallet: Wallet,
  input: CertificateInput,
): Promise<IssuerCertificate> {
  const { profile, curve = 'P-256', names = [] } = input
  const key = generateKey(curve)
  const place = profile && placeOf(profile, input)
  const issued = await issue(wallet, { subject: toSubject(input), names, place }, key)
  return insertCertificate(wallet, key, { names, profile, ...issued, isDevelopment: true })
}

/**
 * Gives a development certificate a new key and a new certificate of the same authority, as long as that ends
 * later. The old key is deleted; what it has signed stays valid.
 *
 * @throws {Problem} `NotFound`; `Conflict` for a certificate of another authority
 */
export async function renewCertificate(wallet: Wallet, id: string): Promise<IssuerCertificate> {
  const { parsePem } = await loadX509()
  const row = await getRow(wallet.db, id)
  if (row.is_development === 0 || row.chain === null)
    throw new Problem(
      'Conflict',
      `Another authority signs the issuer certificate ${id}: ask it for a renewed chain, and import that.`,
    )
  const [leaf] = parsePem(row.chain)
  const key = generateKey(CertificateKey.parse(JSON.parse(row.public_key)).crv)
  const place = row.authority_id === null ? undefined : await getAuthority(wallet.db, row.authority_id)
  const names = z.array(SubjectName).parse(JSON.parse(row.names))
  const { chain, notAfter, authorityId } = await issue(
    wallet,
    { subject: leaf!.subjectDer, names, place },
    key,
  )
  return changeCertificate(wallet, row, {
    ...keyColumns(wallet, id, key),
    chain,
    not_after: notAfter,
    authority_id: authorityId ?? null,
    revoked_at: null,
    updated_at: new Date().toISOString(),
  })
}

/**
 * Puts a development certificate on the list of its authority. Its key signs nothing more.
 *
 * @throws {Problem} `NotFound`; `Conflict` for a certificate whose authority has no list here
 */
export async function revokeCertificate(wallet: Wallet, id: string): Promise<IssuerCertificate> {
  const { parsePem } = await loadX509()
  return wallet.transaction(async (tx) => {
    const row = await getRow(tx, id)
    if (row.authority_id === null || row.chain === null) throw notRevocable(id, row.is_development === 1)
    if (row.revoked_at !== null) return toCertificate(row)
    const { serialNumber } = parsePem(row.chain)[0]!.parsed
    const revokedAt = await addRevocation(tx, row.authority_id, serialNumber)
    const changed = { revoked_at: revokedAt, updated_at: revokedAt }
    await tx.updateTable('issuer_certificate').set(changed).where('id', '=', id).execute()
    return toCertificate({ ...row, ...changed })
  })
}

function notRevocable(id: string, isDevelopment: boolean): Problem {
  const way = isDevelopment
    ? 'has no profile, and its authority no list of revoked certificates: remove it instead.'
    : 'is of another authority: ask that to revoke it, and remove it here.'
  return new Problem('Conflict', `The issuer certificate ${id} ${way}`)
}

type Wanted = { subject: Subject; names: readonly SubjectName[]; place: Place | undefined }

/** Has the authority of a place, or that without a profile, certify a key. */
async function issue(wallet: Wallet, { subject, names, place }: Wanted, key: PrivateJwk): Promise<Issued> {
  const { importPublic, issueCertificate, issueMdocCertificate, parsePem } = await loadX509()
  const common = { subject, names: toAlternativeNames(names) }
  const issued = (certificate: string, authority: Authority & { id?: string }): Issued => {
    const chain = parsePem(certificate)
    return {
      subject: chain[0]!.subject,
      chain: `${certificate}\n${authority.certificate}`,
      notAfter: earliestEnd(chain),
      authorityId: authority.id,
    }
  }
  const profile = place && profileOf(place)
  if (place && profile) {
    const authority = await provideMdocAuthority(wallet, place, certificateDays * dayMs)
    const urls = urlsOf(wallet, authority.id)
    const wanted = { ...common, profile, publicKey: toPublic(key), ...urls }
    return issued(await issueMdocCertificate(authority, wanted), authority)
  }
  const authority = await provideAuthority(wallet)
  const wanted = { ...common, publicKey: await importPublic(key), days: certificateDays }
  return issued(await issueCertificate(authority, wanted), authority)
}

/** The authority of the wallet. One that would end before the certificates that it signs is replaced. */
async function provideAuthority(wallet: Wallet): Promise<Authority> {
  const found = await findAuthority(wallet, wallet.db)
  if (found) return found
  const { issueAuthority } = await loadX509()
  // Authorities with the same name would be taken for each other.
  const name = `CN=identity-agent development issuer ${randomBytes(4).toString('hex')}`
  const made = await issueAuthority(name, authorityDays)
  const value = wallet.seal(setting, JSON.stringify(made))
  return wallet.transaction(async (tx) => {
    // Another request may have stored one meanwhile.
    const other = await findAuthority(wallet, tx)
    if (other) return other
    await tx.deleteFrom('setting').where('name', '=', setting).execute()
    await tx.insertInto('setting').values({ name: setting, value }).execute()
    return made
  })
}

/** Undefined without an authority that ends late enough. */
async function findAuthority(wallet: Wallet, db: Db): Promise<Authority | undefined> {
  const { parsePem } = await loadX509()
  const row = await db.selectFrom('setting').select('value').where('name', '=', setting).executeTakeFirst()
  if (!row) return undefined
  const authority = Authority.parse(JSON.parse(wallet.unseal(setting, row.value)))
  const leftMs = parsePem(authority.certificate)[0]!.notAfter.getTime() - Date.now()
  return leftMs > certificateDays * dayMs ? authority : undefined
}
