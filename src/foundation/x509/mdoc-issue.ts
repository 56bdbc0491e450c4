/** Makes certificates of ISO mdoc for development (ISO/IEC 18013-5, Annex B): authorities, signers, readers. */
import type { PrivateJwk, PublicJwk } from '../crypto/keys.ts'
import {
  type CertificateCurve,
  createRequest,
  importPublic,
  issueAuthority,
  issueCertificate,
  type Pair,
  type Subject,
  x509,
} from './issue.ts'
import type { MdocProfile } from './mdoc-profile.ts'
import { documentSigners, readers } from './path.ts'

/** At most 20 years, 457 days and 1,187 days. */
const [authorityDays, certificateDays] = [3_650, 397]

/** URLs in the certificates of an authority: who it is, and its revocation list. */
export type AuthorityUrls = { issuer: string; list: string }

const alternativeName = (url: string) =>
  new x509.IssuerAlternativeNameExtension([{ type: 'url', value: url }])
const listAt = (url: string) => new x509.CRLDistributionPointsExtension([url])
const purposeOf = (profile: MdocProfile) =>
  new x509.ExtendedKeyUsageExtension([(profile === 'mdoc' ? documentSigners : readers)[0]!], true)

/** Makes a root. Its key is on a curve that has a hash: not Ed25519. */
export function issueMdocAuthority(
  subject: Subject,
  curve: Exclude<CertificateCurve, 'Ed25519'>,
  { issuer, list }: AuthorityUrls,
): Promise<Pair> {
  return issueAuthority(subject, authorityDays, [alternativeName(issuer), listAt(list)], curve)
}

type MdocCertificate = {
  profile: MdocProfile
  subject: Subject
  names: readonly x509.JsonGeneralName[]
  publicKey: PublicJwk
} & AuthorityUrls

/** Makes the certificate of a signer or a reader. Returns PEM. */
export async function issueMdocCertificate(
  authority: Pair,
  { profile, subject, names, publicKey, issuer, list }: MdocCertificate,
): Promise<string> {
  return issueCertificate(authority, {
    subject,
    names,
    publicKey: await importPublic(publicKey),
    days: certificateDays,
    extensions: [purposeOf(profile), alternativeName(issuer), listAt(list)],
    hasConstraints: false,
  })
}

/** Makes a certificate signing request with the purpose of a profile, as of `createRequest`. */
export function createMdocRequest(
  key: PrivateJwk,
  subject: Subject,
  names: readonly x509.JsonGeneralName[],
  profile: MdocProfile,
): Promise<{ request: string; subject: string }> {
  return createRequest(key, subject, names, [purposeOf(profile)])
}
