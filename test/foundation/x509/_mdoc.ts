/** Certificates of ISO mdoc for tests (ISO/IEC 18013-5, Annex B), with any fault. */
import { x509 } from '../../../src/foundation/x509/issue.ts'
import { authority, make, type Made, type Options } from './_chains.ts'

export const drivingLicence = 'org.iso.18013.5.1.mDL'
export const photoId = 'org.iso.23220.photoid.1'

/** Extended key usages of ISO/IEC 18013-5. */
export const [signing, reading] = ['1.0.18013.5.1.2', '1.0.18013.5.1.6']

/** Object identifiers of extensions. */
export const [issuerAltName, distributionPoints] = ['2.5.29.18', '2.5.29.31']

export const usage = (purposes: readonly string[], isCritical = true) =>
  new x509.ExtendedKeyUsageExtension([...purposes], isCritical)
export const namedBy = (url: string) => new x509.IssuerAlternativeNameExtension([{ type: 'url', value: url }])

const common = () => [
  namedBy('https://authority.example'),
  new x509.CRLDistributionPointsExtension(['https://authority.example/list.crl']),
]

/** `without`: the extensions to leave out. Those in `extensions` replace others of their kind. */
export type Change = Options & { without?: readonly string[] }

function changed(own: x509.Extension[], { without = [], extensions = [], ...options }: Change): Options {
  const left = [...without, ...extensions.map(({ type }) => type)]
  return {
    isIdentified: true,
    ...options,
    extensions: [...own.filter(({ type }) => !left.includes(type)), ...extensions],
  }
}

const { keyCertSign, cRLSign } = x509.KeyUsageFlags

/** The root of an issuing authority. */
export const iaca = (subject = 'C=UT, CN=Authority', change: Change = {}, by?: Made) =>
  authority(subject, by, {
    until: 3_650,
    pathLength: 0,
    usages: keyCertSign | cRLSign,
    ...changed(common(), change),
  })

/** A signer of documents. */
export const signer = (by: Made, change: Change = {}, subject = 'C=UT, CN=Signer') =>
  make(subject, by, { until: 396, ...changed([usage([signing]), ...common()], change) })

/** A reader of documents. */
export const reader = (by: Made, change: Change = {}, subject = 'CN=Reader') =>
  make(subject, by, { until: 396, ...changed([usage([reading]), ...common()], change) })
