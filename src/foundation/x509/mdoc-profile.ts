/**
 * The profiles of certificates of ISO mdoc (ISO/IEC 18013-5, Annex B): signers of documents, readers, and the
 * authorities that sign their certificates.
 */
import { type Certificate, findAuthorityKeyId, findKeyId, parseCertificate } from './certificate.ts'
import { x509 } from './issue.ts'
import { documentSigners, readers } from './path.ts'

/** `mdoc`: a signer of documents. `reader`: one that asks for documents. */
export type MdocProfile = 'mdoc' | 'reader'

export type MdocRole = MdocProfile | 'authority'

/**
 * `refused`: nobody accepts the certificate. `wrong`: an import refuses it, and a verification warns.
 * `advised`: both warn.
 */
type Severity = 'refused' | 'wrong' | 'advised'

/** A difference from a profile. `reason` continues a sentence about the certificate. */
export type ProfileFault = { severity: Severity; reason: string }

/** The reason why a certificate differs from a rule. */
type Rule = (certificate: Certificate) => ProfileFault | undefined

/** What a certificate differs in from its profile. */
export function findFaults(certificate: Certificate, role: MdocRole): ProfileFault[] {
  return profiles[role].flatMap((rule) => rule(certificate) ?? [])
}

/** The reasons why a certificate in DER differs from its profile. @throws {ChainError} if it cannot be read */
export function findFaultsIn(der: Uint8Array, role: MdocRole): string[] {
  return findFaults(parseCertificate(Buffer.from(der), 'It'), role).map(({ reason }) => reason)
}

/** The values of an attribute of a subject, such as `C`. */
export function fieldOf({ parsed }: Certificate, name: 'C' | 'ST' | 'CN'): string[] {
  return parsed.subjectName.getField(name)
}

const dayMs = 86_400_000
const maxSerialBytes = 20

/** Extensions that the profiles forbid. */
const forbidden: Readonly<Record<string, string>> = {
  '2.5.29.30': 'name constraints',
  '2.5.29.33': 'policy mappings',
  '2.5.29.36': 'policy constraints',
  '2.5.29.46': 'a freshest CRL',
  '2.5.29.54': 'inhibitAnyPolicy',
}

const { digitalSignature, keyCertSign, cRLSign } = x509.KeyUsageFlags

const rule =
  (severity: Severity, reasonOf: (certificate: Certificate) => string | false | undefined): Rule =>
  (certificate) => {
    const reason = reasonOf(certificate)
    return reason ? { severity, reason } : undefined
  }

/** Only known extensions. */
export const noForbidden = rule('refused', ({ parsed }) => {
  const found = parsed.extensions.find(({ type }) => Object.hasOwn(forbidden, type))
  return found && `has ${forbidden[found.type]!} (${found.type}), which certificates of mdocs must not have`
})

const hasCountry = rule('wrong', (certificate) => {
  const [country, ...more] = fieldOf(certificate, 'C')
  const isCode = country !== undefined && more.length === 0 && /^[A-Z]{2}$/.test(country)
  return !isCode && 'lacks a country (C) of two capital letters in its subject'
})

const hasCommonName = rule(
  'wrong',
  (certificate) => fieldOf(certificate, 'CN').length === 0 && 'lacks a common name (CN) in its subject',
)

const lasts = (days: number) =>
  rule('wrong', ({ notBefore, notAfter }) => {
    const isLonger = notAfter.getTime() - notBefore.getTime() > days * dayMs
    return isLonger && `is valid for more than ${days} days`
  })

const hasSerial = rule('wrong', ({ parsed }) => {
  const serial = Buffer.from(parsed.serialNumber, 'hex')
  const isPositive = serial.length <= maxSerialBytes && serial[0]! < 0x80 && serial.some((byte) => byte > 0)
  return !isPositive && `has a serial number that is not positive or has more than ${maxSerialBytes} bytes`
})

const uses = (usages: number, names: string) =>
  rule('wrong', ({ parsed }) => {
    const extension = parsed.getExtension(x509.KeyUsagesExtension)
    const isExact = extension?.critical === true && (extension.usages ^ usages) === 0
    return !isExact && `lacks a critical key usage of ${names} alone`
  })

function purposesOf({ parsed }: Certificate): string[] | undefined {
  return parsed.getExtension(x509.ExtendedKeyUsageExtension)?.usages.map(String)
}

/** The purposes of a role. The first one is written. */
const isFor = (purposes: readonly string[]): Rule[] => [
  rule('refused', (certificate) => {
    const found = purposesOf(certificate)
    return (
      found?.some((each) => purposes.includes(each)) === false &&
      `is for other purposes: its extended key usage is ${found.join(', ')}, not ${purposes[0]}`
    )
  }),
  rule('wrong', (certificate) => {
    const found = purposesOf(certificate)
    if (!found) return `lacks the extended key usage ${purposes[0]}`
    const isCritical = certificate.parsed.getExtension(x509.ExtendedKeyUsageExtension)!.critical
    return (found.length > 1 || !isCritical) && `lacks a critical extended key usage of ${purposes[0]} alone`
  }),
]

/** The path check refuses an authority without cA, and one below a path length. */
const limitsPath = rule('wrong', ({ parsed }) => {
  const constraints = parsed.getExtension(x509.BasicConstraintsExtension)
  const isExact = constraints?.ca === true && constraints.critical && constraints.pathLength === 0
  return !isExact && 'lacks critical basic constraints of an authority with the path length 0'
})

const hasKeyId = rule(
  'wrong',
  (certificate) => findKeyId(certificate) === undefined && 'lacks a subject key identifier',
)

const namesAuthority = rule(
  'wrong',
  (certificate) => findAuthorityKeyId(certificate) === undefined && 'lacks an authority key identifier',
)

const hasIssuerNames = rule(
  'advised',
  ({ parsed }) => !parsed.getExtension('2.5.29.18') && 'lacks an issuerAltName with a URI or an e-mail',
)

const namesList = rule('advised', ({ parsed }) => {
  const points = parsed.getExtension(x509.CRLDistributionPointsExtension)?.distributionPoints ?? []
  const isPlain = points.some(
    ({ distributionPoint, reasons, cRLIssuer }) =>
      distributionPoint?.fullName?.some((name) => name.uniformResourceIdentifier !== undefined) &&
      reasons === undefined &&
      cRLIssuer === undefined,
  )
  return !isPlain && 'lacks a CRL distribution point with a URI, without reasons and cRLIssuer'
})

/** Of both kinds of end-entity certificates. */
const common = [
  noForbidden,
  hasCommonName,
  hasSerial,
  uses(digitalSignature, 'digitalSignature'),
  hasKeyId,
  namesAuthority,
  namesList,
]

const profiles: Readonly<Record<MdocRole, readonly Rule[]>> = {
  mdoc: [...isFor(documentSigners), hasCountry, lasts(457), ...common, hasIssuerNames],
  reader: [...isFor(readers), lasts(1_187), ...common],
  authority: [
    noForbidden,
    hasCountry,
    hasCommonName,
    lasts(7_305),
    hasSerial,
    uses(keyCertSign | cRLSign, 'keyCertSign and cRLSign'),
    limitsPath,
    hasKeyId,
    hasIssuerNames,
    namesList,
  ],
}
