/**
 * Signs certificate revocation lists (RFC 5280 §5) by the profile of ISO/IEC 18013-5, Table B.10. The library
 * would write empty extensions of entries.
 */
import { createPrivateKey, sign } from 'node:crypto'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  CertificateList,
  CRLNumber,
  Extension,
  Extensions,
  Name,
  RevokedCertificate,
  TBSCertList,
  Time,
  Version,
} from '@peculiar/asn1-x509'
import { type Pair, x509 } from './issue.ts'

/** ECDSA by the curve of the authority (RFC 5758 §3.2). */
const algorithms: Readonly<Record<string, { oid: string; hash: string }>> = {
  prime256v1: { oid: '1.2.840.10045.4.3.2', hash: 'sha256' },
  secp384r1: { oid: '1.2.840.10045.4.3.3', hash: 'sha384' },
  secp521r1: { oid: '1.2.840.10045.4.3.4', hash: 'sha512' },
}

const [authorityKeyId, listNumber] = ['2.5.29.35', '2.5.29.20']

/** A revoked certificate. Its serial number is hexadecimal, the time ISO 8601. */
export type Revoked = { serialNumber: string; revokedAt: string }

export type ListContent = {
  /** It rises with each list of an authority. */
  number: number
  thisUpdate: Date
  nextUpdate: Date
  revoked: readonly Revoked[]
}

/** Signs a list of version 2 with the identifier of the authority's key and the number. Returns DER. */
export async function issueList(
  authority: Pair,
  { number, thisUpdate, nextUpdate, revoked }: ListContent,
): Promise<Buffer> {
  const { publicKey, subjectName } = new x509.X509Certificate(authority.certificate)
  const key = createPrivateKey(authority.key)
  const { oid, hash } = algorithms[key.asymmetricKeyDetails!.namedCurve!]!
  const signature = new AlgorithmIdentifier({ algorithm: oid })
  const keyId = await x509.AuthorityKeyIdentifierExtension.create(publicKey)
  const entries = revoked.map(
    (each) =>
      new RevokedCertificate({
        userCertificate: Uint8Array.from(Buffer.from(each.serialNumber, 'hex')).buffer,
        revocationDate: new Time(new Date(each.revokedAt)),
      }),
  )
  const tbsCertList = new TBSCertList({
    version: Version.v2,
    signature,
    issuer: AsnConvert.parse(subjectName.toArrayBuffer(), Name),
    thisUpdate: new Time(thisUpdate),
    nextUpdate: new Time(nextUpdate),
    // Absent, or not empty.
    ...(entries.length > 0 && { revokedCertificates: entries }),
    crlExtensions: new Extensions([
      new Extension({ extnID: authorityKeyId, extnValue: new OctetString(keyId.value) }),
      new Extension({
        extnID: listNumber,
        extnValue: new OctetString(AsnConvert.serialize(new CRLNumber(number))),
      }),
    ]),
  })
  const bytes = sign(hash, Buffer.from(AsnConvert.serialize(tbsCertList)), key)
  const list = { tbsCertList, signatureAlgorithm: signature, signature: Uint8Array.from(bytes).buffer }
  return Buffer.from(AsnConvert.serialize(new CertificateList(list)))
}
