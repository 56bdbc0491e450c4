/**
 * The development authority of a wallet. It signs issuer certificates at once. Only verifiers that import its
 * root trust them.
 *
 * The authority is a setting of the wallet, sealed.
 */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { generateKey } from '../../foundation/crypto/keys.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallet } from '../wallet.ts'
import { earliestEnd, insertCertificate, loadX509, toAlternativeNames, toSubject } from './certificates.ts'
import type { CertificateInput, IssuerCertificate } from './model.ts'

const setting = 'issuer-authority'
const authorityDays = 3_650
const certificateDays = 397
const dayMs = 86_400_000

const Authority = z.object({ certificate: z.string(), key: z.string() })
type Authority = z.output<typeof Authority>

/** Creates a key, and its certificate by the wallet's development authority, which is made if there is none. */
export async function createDevelopmentCertificate(
  wallet: Wallet,
  input: CertificateInput,
): Promise<IssuerCertificate> {
  const { importPublic, issueCertificate, parsePem } = await loadX509()
  const authority = await provideAuthority(wallet)
  const key = generateKey('P-256')
  const certificate = await issueCertificate(authority, {
    subject: toSubject(input),
    names: toAlternativeNames(input.names),
    publicKey: await importPublic(key),
    days: certificateDays,
  })
  const chain = `${certificate}\n${authority.certificate}`
  const issued = parsePem(certificate)
  const [{ subject }, notAfter] = [issued[0]!, earliestEnd(issued)]
  return insertCertificate(wallet, key, { ...input, subject, isDevelopment: true, chain, notAfter })
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
