/**
 * Validates a certification path (RFC 5280 §6.1): signatures, dates, basic constraints, path length, key
 * usage, name constraints and critical extensions. Certificate policies and revocation lists are not
 * evaluated.
 */
import { x509 } from './issue.ts'
import { type Certificate, findAuthorityKeyId, findKeyId, isSelfIssued, nameOf } from './certificate.ts'
import { ChainError, type ChainFailure } from './chain-error.ts'
import { checkNames } from './name-constraints.ts'

/** Extensions that this folder evaluates. Policies are accepted, whatever they are: no policy is required. */
const understood: readonly string[] = [
  '2.5.29.15',
  '2.5.29.17',
  '2.5.29.19',
  '2.5.29.30',
  '2.5.29.32',
  '2.5.29.37',
]
/** Any purpose (RFC 5280 §4.2.1.12). */
const anyPurpose = '2.5.29.37.0'
/**
 * Signers of documents, and readers of them, of driving licences (ISO/IEC 18013-5) and of any document
 * (ISO/IEC 23220-4).
 */
export const documentSigners: readonly string[] = ['1.0.18013.5.1.2', '1.0.23220.4.1.2']
export const readers: readonly string[] = ['1.0.18013.5.1.6', '1.0.23220.4.1.6']

/**
 * `id-kp-oauthStatusSigning` (Token Status List §10) has no number yet. This is the number of BGPsec routers
 * (RFC 8209), which other software uses in its place.
 */
const statusSigning = '1.3.6.1.5.5.7.3.30'

/** Signers of lists of authorities (VICAL, ISO/IEC 18013-5 Annex C). */
const listSigning = '1.0.18013.5.1.8'

/**
 * The things that the end entity signs: credentials and attestations, requests of a verifier, status lists,
 * or lists of authorities.
 */
export type Role = 'issuer' | 'verifier' | 'status' | 'list'

/** A critical extended key usage must name a purpose of the role. An issuer signs its own status lists. */
const purposes: Readonly<Record<Role, readonly string[]>> = {
  issuer: [anyPurpose, ...documentSigners],
  verifier: [anyPurpose, ...readers],
  status: [anyPurpose, ...documentSigners, statusSigning],
  list: [listSigning],
}

/** The key usages of which a role needs one, if there are any. */
const usagesOf = (roles: readonly Role[]) =>
  roles.includes('list')
    ? x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.nonRepudiation
    : x509.KeyUsageFlags.digitalSignature

const hashes = ['SHA-256', 'SHA-384', 'SHA-512']

/**
 * The bits of RSA keys, and the least public exponent that is too large: others take long to verify, which
 * anyone could have us do.
 */
const [leastRsaBits, maxRsaBits, tooLargeExponent] = [2_048, 4_096, 2n ** 64n]

/**
 * Checks a path, the end-entity certificate first. The last one is trusted, or the highest that is known: its
 * own signature is not checked. Signatures are verified from there down, each with a key that is already
 * vouched for. `roles`: those that the end entity may have.
 *
 * @throws {ChainError}
 */
export function checkPath(path: readonly Certificate[], at: Date, roles: readonly Role[]): void {
  const links = path.map((certificate, index) => {
    const fail = failerOf(certificate, index, path.length)
    checkDates(certificate, at, fail)
    checkExtensions(certificate, fail)
    if (index === 0) checkEndEntity(certificate, roles, fail)
    else checkAuthority(certificate, path.slice(1, index), fail)
    const issuer = path[index + 1]
    if (issuer) checkIssuer(certificate, issuer, fail)
    return { certificate, issuer, fail }
  })
  for (const { certificate, issuer, fail } of links.toReversed())
    if (issuer) checkSignature(certificate, issuer, fail)
  checkNames(path)
}

/**
 * Checks by itself that an authority made a certificate, the one at a place in a path.
 *
 * @throws {ChainError}
 */
export function checkLink(certificate: Certificate, issuer: Certificate, index: number, count: number): void {
  const fail = failerOf(certificate, index, count)
  checkIssuer(certificate, issuer, fail)
  checkSignature(certificate, issuer, fail)
}

type Fail = (failure: ChainFailure, reason: string) => never

function failerOf({ subject }: Certificate, index: number, count: number): Fail {
  return (failure, reason) => {
    throw new ChainError(failure, `${nameOf(index, count, subject)} ${reason}`)
  }
}

function checkDates({ notBefore, notAfter }: Certificate, at: Date, fail: Fail): void {
  if (at < notBefore) fail('dates', `is not valid before ${notBefore.toISOString()}.`)
  if (at > notAfter) fail('dates', `has ended, on ${notAfter.toISOString()}: renew it.`)
}

function checkExtensions({ parsed }: Certificate, fail: Fail): void {
  const unknown = parsed.extensions.find(({ critical, type }) => critical && !understood.includes(type))
  if (unknown)
    fail('critical-extension', `has the critical extension ${unknown.type}, which is not understood.`)
}

function checkEndEntity({ parsed }: Certificate, roles: readonly Role[], fail: Fail): void {
  const constraints = parsed.getExtension(x509.BasicConstraintsExtension)
  if (constraints?.ca === true)
    fail('basic-constraints', 'is of an authority (basicConstraints cA), and not for an issuing key.')
  const usage = parsed.getExtension(x509.KeyUsagesExtension)
  if (usage && (usage.usages & usagesOf(roles)) === 0)
    fail('key-usage', 'is not for signatures: its key usage lacks digitalSignature.')
  const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)
  const isFor = (role: Role) => extended?.usages.some((each) => purposes[role].includes(String(each)))
  if (extended?.critical === true && !roles.some((role) => isFor(role)))
    fail(
      'key-usage',
      `is restricted to other purposes by its critical extended key usage ${extended.usages.join(', ')}.`,
    )
}

/** Whether the extended key usage of a certificate is that of signers of lists of authorities. */
export function isListSigner({ parsed }: Certificate): boolean {
  const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)
  return extended?.usages.some((each) => String(each) === listSigning) ?? false
}

/**
 * Whether an authority delegates the signing of status lists to a certificate: its extended key usage says
 * so.
 */
export function isStatusIssuer({ parsed }: Certificate): boolean {
  const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)
  return extended?.usages.some((each) => String(each) === statusSigning) ?? false
}

/** Whether the extended key usage is that of signers of documents. Such an anchor vouches for itself alone. */
function isDocumentSigner({ parsed }: Certificate): boolean {
  const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)
  return extended?.usages.some((each) => documentSigners.includes(String(each))) ?? false
}

/** `below`: the authorities between this one and the end entity. */
function checkAuthority({ parsed }: Certificate, below: readonly Certificate[], fail: Fail): void {
  const constraints = parsed.getExtension(x509.BasicConstraintsExtension)
  if (constraints?.ca !== true)
    fail(
      'basic-constraints',
      'is not of an authority: its basicConstraints lack cA, so it cannot sign others.',
    )
  const usage = parsed.getExtension(x509.KeyUsagesExtension)
  if (usage && (usage.usages & x509.KeyUsageFlags.keyCertSign) === 0)
    fail('key-usage', 'is not for signing certificates: its key usage lacks keyCertSign.')
  const count = below.filter((each) => !isSelfIssued(each)).length
  const { pathLength } = constraints
  if (pathLength !== undefined && count > pathLength)
    fail('path-length', `allows ${pathLength} authorities below it (pathLenConstraint), and has ${count}.`)
}

/**
 * Checks that a certificate can be a trust anchor: an authority, or a signer of documents.
 *
 * @throws {ChainError}
 */
export function checkAnchor(certificate: Certificate, at: Date): void {
  const fail = (failure: ChainFailure, reason: string): never => {
    throw new ChainError(failure, `The certificate (${certificate.subject}) ${reason}`)
  }
  checkDates(certificate, at, fail)
  checkExtensions(certificate, fail)
  if (!isDocumentSigner(certificate))
    checkAuthority(certificate, [], (failure, reason) =>
      fail(
        failure,
        `${reason} Only a signer of documents may be one without: it has the extended key usage ${documentSigners[0]}.`,
      ),
    )
  checkSize(certificate, (reason) => fail('algorithm', `has ${reason}`))
}

/**
 * Checks that signatures of a key are neither weak nor slow to verify. `fail` continues a sentence with its
 * reason.
 */
function checkSize({ publicKey }: Certificate, fail: (reason: string) => never): void {
  const { modulusLength: bits, publicExponent } = publicKey.asymmetricKeyDetails ?? {}
  if (bits === undefined) return
  if (bits < leastRsaBits || bits > maxRsaBits)
    fail(`an RSA key of ${bits} bits; ${leastRsaBits} to ${maxRsaBits} are accepted.`)
  if (publicExponent === undefined || publicExponent >= tooLargeExponent)
    fail('an RSA key whose public exponent has more than 64 bits.')
}

/** Checks that a certificate names its issuer, and that its signature is one that may be verified. */
function checkIssuer(certificate: Certificate, issuer: Certificate, fail: Fail): void {
  if (!certificate.issuerDer.equals(issuer.subjectDer))
    fail(
      'order',
      `was not issued by the next one (${issuer.subject}), but by ${certificate.parsed.issuer}: order the chain from the issuing key up, without gaps.`,
    )
  const [named, keyId] = [findAuthorityKeyId(certificate), findKeyId(issuer)]
  if (named !== undefined && keyId !== undefined && named !== keyId)
    fail('order', `names another authority key than that of the next one (${issuer.subject}).`)
  const { name, hash } = certificate.parsed.signatureAlgorithm as { name: string; hash?: { name: string } }
  if (!name.startsWith('Ed') && !hashes.includes(hash?.name ?? ''))
    fail('algorithm', `is signed with ${name} and ${hash?.name ?? 'an unknown hash'}, which is too weak.`)
  checkSize(issuer, (reason) => fail('algorithm', `is signed with ${reason}`))
}

function checkSignature(certificate: Certificate, issuer: Certificate, fail: Fail): void {
  if (!isSignedBy(certificate, issuer))
    fail('signature', `is not signed by the key of the next one (${issuer.subject}).`)
}

/** The certificates whose key made the signature of another one. */
const signers = new WeakMap<Certificate, WeakSet<Certificate>>()

function isSignedBy(certificate: Certificate, issuer: Certificate): boolean {
  const known = signers.get(certificate) ?? new WeakSet()
  if (known.has(issuer)) return true
  try {
    if (!certificate.isSignedBy(issuer.publicKey)) return false
  } catch {
    // The key is of another type than the signature.
    return false
  }
  known.add(issuer)
  signers.set(certificate, known)
  return true
}
