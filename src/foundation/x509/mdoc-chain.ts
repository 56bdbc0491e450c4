/**
 * The certificates of an mdoc (header member `x5chain`, RFC 9360) and of a reader, by the rules of ISO/IEC
 * 18013-5, Annex B, beside those of RFC 5280.
 */
import type { Curve, PublicJwk } from '../crypto/keys.ts'
import { type Certificate, checkIssuingKey, isSelfIssued, nameOf, requireKey } from './certificate.ts'
import { ChainError, type ChainFailure, evaluate } from './chain-error.ts'
import { issuerOfMdoc } from './mdoc-issuer.ts'
import { fieldOf, findFaults, type MdocProfile, type MdocRole, noForbidden } from './mdoc-profile.ts'
import { checkPath, isListSigner, type Role } from './path.ts'
import { findPath, hashOf, keyIdsOf, parseMember, readTrusted, readX5c } from './x5c.ts'

/** The keys of signers and readers. Brainpool curves and Ed448 are not supported. */
export const mdocCurves: readonly Curve[] = ['P-256', 'P-384', 'P-521', 'Ed25519']

/** The document type whose signers are directly below their root. */
const drivingLicence = 'org.iso.18013.5.1.mDL'

/** A trusted authority, in PEM. With document types, it is trusted for signers of these alone. */
export type MdocAnchor = { pem: string; docTypes?: readonly string[] | undefined }

export type MdocPolicy = {
  /** DER in base64, the certificate of the signing key first. */
  x5c: readonly string[]
  anchors: readonly MdocAnchor[]
  /** Of the document. A reader needs none. */
  docType?: string
  now: Date
  /** By default a signer of documents. */
  profile?: MdocProfile
}

/** A verified chain. */
export type MdocChain = {
  /** The certificate of the key, with its dates. */
  leaf: Certificate
  publicKey: PublicJwk
  /** The trust anchor: the root, or the leaf itself if that is trusted. */
  anchor: Certificate
  /** The SHA-256 of the DER of the anchor, base64url. */
  anchorHash: string
  /** The identifiers of the authorities on the path, base64url, as in `trusted_authorities` of the type `aki`. */
  authorityKeyIds: string[]
  /** How the leaf differs from its profile. Sentences. */
  warnings: string[]
  /** C and ST of the leaf's subject. */
  country?: string
  state?: string
  /** Of the leaf, as in RFC 4514. */
  subject: string
  /** The issuer of the document, see `issuerOfMdoc`. */
  issuerName: string
}

/**
 * Verifies the certificates of an mdoc or of a reader by the trust anchors.
 *
 * @throws {ChainError} with the certificate and the reason
 */
export function checkMdocChain(policy: MdocPolicy): MdocChain {
  return evaluate(() => checkChain(policy))
}

function checkChain(policy: MdocPolicy): MdocChain {
  const { x5c, docType, profile = 'mdoc' } = policy
  const { path, publicKey } = findMdocPath(policy)
  const [leaf, anchor] = [path[0]!, path.at(-1)!]
  if (docType === drivingLicence && path.length > 2)
    refuse(path, 1, 'path-length', `is between signer and root: the root itself signs signers of ${docType}.`)
  for (const [index, certificate] of path.entries()) {
    const fault = noForbidden(certificate)
    if (fault) refuse(path, index, 'profile', `${fault.reason}.`)
  }
  const faults = findFaults(leaf, profile)
  const fatal = faults.find(({ severity }) => severity === 'refused')
  if (fatal) refuse(path, 0, 'key-usage', `${fatal.reason}.`)
  if (profile === 'mdoc') checkPlaces(path)
  const [[country], [state]] = [fieldOf(leaf, 'C'), fieldOf(leaf, 'ST')]
  return {
    leaf,
    publicKey,
    anchor,
    anchorHash: hashOf(anchor),
    authorityKeyIds: keyIdsOf(path),
    warnings: faults.map(({ reason }) => `${nameOf(0, path.length, leaf.subject)} ${reason}.`),
    ...(country !== undefined && { country }),
    ...(state !== undefined && { state }),
    subject: leaf.subject,
    issuerName: issuerOfMdoc(x5c, anchor.raw),
  }
}

/**
 * Verifies the certificates of a list of authorities (VICAL) against the certificate of its provider, in PEM.
 *
 * @throws {ChainError} with the certificate and the reason
 */
export function checkListSigner(x5c: readonly string[], provider: string, now: Date): PublicJwk {
  return evaluate(() => {
    const { path, publicKey } = findTrustedPath(x5c, readTrusted(provider), now, 'list')
    if (!isListSigner(path[0]!))
      refuse(
        path,
        0,
        'key-usage',
        'is not for lists of authorities: it lacks the extended key usage 1.0.18013.5.1.8.',
      )
    return publicKey
  })
}

type Path = { path: readonly Certificate[]; publicKey: PublicJwk }

/** The path by RFC 5280. A leaf that is a trust anchor itself needs no authority. */
function findTrustedPath(
  texts: readonly string[],
  trusted: readonly Certificate[],
  now: Date,
  role: Role,
): Path {
  const x5c = readX5c(texts)
  const parsed: Certificate[] = []
  const read = (index: number) => (parsed[index] ??= parseMember(x5c[index]!, index, x5c))
  const leaf = read(0)
  if (trusted.some(({ raw }) => raw.equals(leaf.raw))) {
    checkPath([leaf], now, [role])
    return { path: [leaf], publicKey: requireKey(leaf, 1, mdocCurves) }
  }
  const publicKey = checkIssuingKey(leaf, x5c.length, mdocCurves)
  return { path: findPath({ x5c, read }, trusted, now, role), publicKey }
}

/** The path to an anchor for the type of the document. */
function findMdocPath({ x5c, anchors, docType, now, profile = 'mdoc' }: MdocPolicy): Path {
  const role: Role = profile === 'mdoc' ? 'issuer' : 'verifier'
  const isFor = ({ docTypes }: MdocAnchor) =>
    docTypes === undefined || (profile === 'mdoc' && docType !== undefined && docTypes.includes(docType))
  const read = (given: readonly MdocAnchor[]) => given.flatMap(({ pem }) => readTrusted(pem))
  try {
    return findTrustedPath(x5c, read(anchors.filter(isFor)), now, role)
  } catch (error) {
    if (!(error instanceof ChainError) || error.failure !== 'untrusted') throw error
    const others = anchors.filter((anchor) => !isFor(anchor))
    const path = attempt(() => findTrustedPath(x5c, read(others), now, role).path)
    if (!path) throw error
    throw new ChainError(
      'untrusted',
      `The authority ${path.at(-1)!.subject} is trusted for other documents, not for ${docType ?? 'readers'}.`,
      { cause: error },
    )
  }
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

/**
 * Checks a chain of RFC 5280 that is to be imported by a profile, and the root of documents if it is there.
 * Returns what the profile only recommends, as sentences.
 *
 * @throws {ChainError} `profile` with all that it requires
 */
export function checkProfile(chain: readonly Certificate[], profile: MdocProfile): string[] {
  const last = chain.length - 1
  const hasRoot = profile === 'mdoc' && last > 0 && isSelfIssued(chain[last]!)
  const faultsAt = (index: number, role: MdocRole) =>
    findFaults(chain[index]!, role).map(({ severity, reason }) => ({
      severity,
      sentence: `${nameOf(index, chain.length, chain[index]!.subject)} ${reason}.`,
    }))
  const faults = [...faultsAt(0, profile), ...(hasRoot ? faultsAt(last, 'authority') : [])]
  const wrong = faults.filter(({ severity }) => severity !== 'advised')
  if (wrong.length > 0) throw new ChainError('profile', wrong.map(({ sentence }) => sentence).join(' '))
  if (hasRoot) checkPlaces(chain)
  return faults.map(({ sentence }) => sentence)
}

/** The signer must be of the country and the state of its root. */
function checkPlaces(path: readonly Certificate[]): void {
  const [leaf, root] = [path[0]!, path.at(-1)!]
  for (const [name, what] of [
    ['C', 'country'],
    ['ST', 'state or province'],
  ] as const) {
    const [own, given] = [fieldOf(leaf, name), fieldOf(root, name)]
    if (own.join('\n') !== given.join('\n'))
      refuse(
        path,
        0,
        'country',
        `is of another ${what} (${name}: ${own.join(', ') || 'none'}) than its root (${given.join(', ') || 'none'}).`,
      )
  }
}

function refuse(path: readonly Certificate[], index: number, failure: ChainFailure, reason: string): never {
  throw new ChainError(failure, `${nameOf(index, path.length, path[index]!.subject)} ${reason}`)
}
