/** The cryptography that the library `@owf/mdoc` leaves to its user: that of Node.js. */
import {
  createPrivateKey,
  createPublicKey,
  hash,
  type JsonWebKey,
  randomBytes,
  sign,
  verify,
  X509Certificate,
} from 'node:crypto'
import { CoseKey, type MdocContext } from '@owf/mdoc'

const hashes: Record<string, string> = { ES256: 'sha256', ES384: 'sha384', ES512: 'sha512' }
const hashOf = (name: string) => hashes[name] ?? null
const curveHashes: Record<string, string> = { 'P-256': 'sha256', 'P-384': 'sha384', 'P-521': 'sha512' }

const publicOf = ({ jwk }: CoseKey) => createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
const privateOf = ({ jwk }: CoseKey) => createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' })

/** Release 0.6.0 leaves the external data out of the MAC_structure (RFC 9052 §6.3). */
const noMac = () => {
  throw new Error('no MAC is made with this library')
}

export const context: MdocContext = {
  crypto: {
    random: (length) => new Uint8Array(randomBytes(length)),
    digest: ({ digestAlgorithm, bytes }) =>
      new Uint8Array(hash(digestAlgorithm.replace('-', '').toLowerCase(), bytes, 'buffer')),
    calculateEphemeralMacKey: noMac,
  },
  cose: {
    sign1: {
      sign: ({ toBeSigned, key }) =>
        new Uint8Array(
          sign(curveHashes[String(key.jwk['crv'])] ?? null, toBeSigned, {
            key: privateOf(key),
            dsaEncoding: 'ieee-p1363',
          }),
        ),
      verify: ({ key, sign1 }) =>
        verify(
          hashOf(sign1.signatureAlgorithmName),
          sign1.toBeSigned,
          { key: publicOf(key), dsaEncoding: 'ieee-p1363' },
          sign1.signature,
        ),
    },
    mac0: { sign: noMac, verify: noMac },
  },
  x509: {
    getIssuerNameField: ({ certificate, field }) =>
      new X509Certificate(certificate).issuer
        .split('\n')
        .filter((line) => line.startsWith(`${field}=`))
        .map((line) => line.slice(field.length + 1)),
    getPublicKey: ({ certificate }) =>
      CoseKey.fromJwk(new X509Certificate(certificate).publicKey.export({ format: 'jwk' })),
    verifyCertificateChain({ trustedCertificates, x5chain }) {
      const top = new X509Certificate(x5chain.at(-1)!)
      if (!trustedCertificates.some((root) => top.verify(new X509Certificate(root).publicKey)))
        throw new Error('no trusted certificate has signed the chain')
    },
    getCertificateData({ certificate }) {
      const read = new X509Certificate(certificate)
      return {
        issuerName: read.issuer,
        subjectName: read.subject,
        serialNumber: read.serialNumber,
        thumbprint: read.fingerprint256,
        notBefore: new Date(read.validFrom),
        notAfter: new Date(read.validTo),
        pem: read.toString(),
      }
    },
  },
}
