/** X.509 certificates, in PEM and in chains. */
import { X509Certificate } from 'node:crypto'
import type { MdocRole } from '../../foundation/x509/index.ts'
import { type Check, check, type Decoded, decodedOf, reading } from './decoded.ts'

/** Base64 has no hyphen, so the search is linear. */
const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a text, the first of which is described first. @throws {DecodeError} */
export function decodeCertificates(text: string): Decoded {
  const blocks = text.match(block) ?? ['']
  const [first, ...others] = blocks.map((pem) =>
    reading('an X.509 certificate in PEM', 'content', () => decodeCertificate(new X509Certificate(pem))),
  )
  return { ...first!, parts: others }
}

/** A certificate in DER in base64. */
export function certificateOf(text: string): X509Certificate {
  return new X509Certificate(Buffer.from(text, 'base64'))
}

/** The certificates of a chain in base64, the signer's first. One that cannot be read is left out. */
export function certificatesOf(x5c: readonly string[] = []): Decoded[] {
  const chain = x5c.flatMap((each) => orNone(() => certificateOf(each)))
  return chain.flatMap((certificate, index) => orNone(() => decodeCertificate(certificate, chain[index + 1])))
}

function orNone<T>(read: () => T): T[] {
  try {
    return [read()]
  } catch {
    return []
  }
}

const roles: Readonly<Record<MdocRole, string>> = {
  mdoc: 'signers of documents',
  reader: 'readers',
  authority: 'authorities',
}

/** Whether the first certificate of a chain is as ISO/IEC 18013-5 Annex B has those of its role. */
export async function profileCheck([first = '']: readonly string[], role: MdocRole): Promise<Check> {
  const { findFaultsIn } = await import('../../foundation/x509/index.ts')
  return check('certificate', `as ISO/IEC 18013-5 has those of ${roles[role]}`, () => {
    const faults = findFaultsIn(Buffer.from(first, 'base64'), role)
    if (faults.length > 0) throw new TypeError(`the first certificate ${faults.join('; ')}`)
  })
}

/** `next` is the next certificate of a chain, which should have signed this one. */
function decodeCertificate(certificate: X509Certificate, next?: X509Certificate): Decoded {
  const {
    subject,
    issuer,
    validFrom,
    validTo,
    subjectAltName: names,
    fingerprint256,
    serialNumber,
    ca,
    publicKey,
  } = certificate
  const isSelfSigned = certificate.verify(publicKey)
  const oneLine = (name: string) => name.split('\n').join(', ')
  const facts = {
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    names,
    key: publicKey.asymmetricKeyDetails?.namedCurve ?? publicKey.asymmetricKeyType,
    serial: serialNumber,
    'SHA-256': fingerprint256,
    'valid from': new Date(validFrom),
    expires: new Date(validTo),
  }
  const isSignedByNext = !isSelfSigned && next !== undefined && certificate.verify(next.publicKey)
  const signature: Check = isSelfSigned
    ? { name: 'signature', result: 'passed', detail: 'made by its own key (self-signed)' }
    : isSignedByNext
      ? { name: 'signature', result: 'passed', detail: 'made by the key of the next certificate' }
      : { name: 'signature', result: 'not verified', detail: 'the key of its issuer is not in the text' }
  const title = ca ? 'X.509 certificate of an authority' : 'X.509 certificate'
  return decodedOf('certificate', title, facts, {
    checks: [signature],
    content: { pem: certificate.toString() },
  })
}
