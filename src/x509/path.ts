/**
 * Validates a certification path (RFC 5280 §6.1): signatures, dates, basic constraints, path length, key usage, name constraints and
 * critical extensions. Certificate policies and revocation lists are not evaluated.
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
/** Any purpose, and the signer of mobile documents (ISO/IEC 18013-5). A critical extended key usage must name one of them. */
const purposes = ['2.5.29.37.0', '1.0.18013.5.1.2']
const hashes = ['SHA-256', 'SHA-384', 'SHA-512']

/** The least bits of an RSA key. */
const leastRsaBits = 2_048

/**
 * Checks a path, the end-entity certificate first. The last one is trusted, or the highest that is known: its own signature is not checked.
 *
 * @throws {ChainError}
 */
export function checkPath(path: readonly Certificate[], at: Date): void {
  for (const [index, certificate] of path.entries()) {
    const what = nameOf(index, path.length, certificate.subject)
    const fail = (failure: ChainFailure, reason: string): never => {
      throw new ChainError(failure, `${what} ${reason}`)
    }
    checkDates(certificate, at, fail)
    checkExtensions(certificate, fail)
    if (index === 0) checkEndEntity(certificate, fail)
    else checkAuthority(certificate, path.slice(1, index), fail)
    const issuer = path[index + 1]
    if (issuer) checkSignature(certificate, issuer, fail)
  }
  checkNames(path)
}

type Fail = (failure: ChainFailure, reason: string) => never

function checkDates({ notBefore, notAfter }: Certificate, at: Date, fail: Fail): void {
  if (at < notBefore) fail('dates', `is not valid before ${notBefore.toISOString()}.`)
  if (at > notAfter) fail('dates', `has ended, on ${notAfter.toISOString()}: renew it.`)
}

function checkExtensions({ parsed }: Certificate, fail: Fail): void {
  const unknown = parsed.extensions.find(({ critical, type }) => critical && !understood.includes(type))
  if (unknown)
    fail('critical-extension', `has the critical extension ${unknown.type}, which is not understood.`)
}

function checkEndEntity({ parsed }: Certificate, fail: Fail): void {
  const constraints = parsed.getExtension(x509.BasicConstraintsExtension)
  if (constraints?.ca === true)
    fail('basic-constraints', 'is of an authority (basicConstraints cA), and not for an issuing key.')
  const usage = parsed.getExtension(x509.KeyUsagesExtension)
  if (usage && (usage.usages & x509.KeyUsageFlags.digitalSignature) === 0)
    fail('key-usage', 'is not for signatures: its key usage lacks digitalSignature.')
  const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)
  if (extended?.critical === true && !extended.usages.some((each) => purposes.includes(String(each))))
    fail('key-usage', 'is restricted to other purposes by a critical extended key usage.')
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

/** Checks that a certificate can be a trust anchor. @throws {ChainError} */
export function checkAnchor(certificate: Certificate, at: Date): void {
  const fail = (failure: ChainFailure, reason: string): never => {
    throw new ChainError(failure, `The certificate (${certificate.subject}) ${reason}`)
  }
  checkDates(certificate, at, fail)
  checkExtensions(certificate, fail)
  checkAuthority(certificate, [], fail)
}

function checkSignature(certificate: Certificate, issuer: Certificate, fail: Fail): void {
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
  const bits = issuer.publicKey.asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < leastRsaBits)
    fail('algorithm', `is signed with an RSA key of ${bits} bits; ${leastRsaBits} are the least.`)
  if (!isSignedBy(certificate, issuer))
    fail('signature', `is not signed by the key of the next one (${issuer.subject}).`)
}

function isSignedBy(certificate: Certificate, issuer: Certificate): boolean {
  try {
    return certificate.isSignedBy(issuer.publicKey)
  } catch {
    // The key is of another type than the signature.
    return false
  }
}
