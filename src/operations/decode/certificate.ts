/** X.509 certificates in PEM. */
import { X509Certificate } from 'node:crypto'
import { type Check, type Decoded, decodedOf, reading } from './decoded.ts'

/** Base64 has no hyphen, so the search is linear. */
const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a text, the first of which is described first. @throws {DecodeError} */
export function decodeCertificates(text: string): Decoded {
  const blocks = text.match(block) ?? ['']
  const [first, ...others] = blocks.map((pem) =>
    describe(reading('an X.509 certificate in PEM', 'content', () => new X509Certificate(pem))),
  )
  return { ...first!, parts: others }
}

function describe(certificate: X509Certificate): Decoded {
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
  const signature: Check = isSelfSigned
    ? { name: 'signature', result: 'passed', detail: 'made by its own key (self-signed)' }
    : { name: 'signature', result: 'not verified', detail: 'the key of its issuer is not in the text' }
  const title = ca ? 'X.509 certificate of an authority' : 'X.509 certificate'
  return decodedOf('certificate', title, facts, {
    checks: [signature],
    content: { pem: certificate.toString() },
  })
}
