/**
 * Certificates for development: an authority of this data folder, and the server's certificate that it signs (RFC 5280).
 *
 * Phones install the authority once. Its name constraints exclude all public names and addresses, so that a stolen key cannot
 * impersonate other sites there. The server's certificate follows the addresses of this machine.
 */
// oxlint-disable-next-line no-unassigned-import -- it defines what the packages below call
import 'reflect-metadata'
import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import { AsnConvert } from '@peculiar/asn1-schema'
import {
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_nameConstraints,
  NameConstraints,
} from '@peculiar/asn1-x509'
import * as x509 from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000

/** Longer is not accepted by Apple's systems (825 days). */
const serverDays = 397
const authorityDays = 3_650

/** The addresses of this machine and of private networks. */
const networks = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
  '::1/128',
  'fc00::/7',
]

/** A certificate and its private key, in PEM. The key is PKCS #8. */
export type Pair = { certificate: string; key: string }

x509.cryptoProvider.set(webcrypto as never)

/** Makes an authority for these host names, and for all addresses of private networks. */
export async function createAuthority(hosts: readonly string[]): Promise<Pair> {
  const keys = await newKeys()
  const permitted = [
    ...hosts.map((dNSName) => new GeneralName({ dNSName })),
    ...networks.map((iPAddress) => new GeneralName({ iPAddress })),
  ].map((base) => new GeneralSubtree({ base }))
  const constraints = new NameConstraints({ permittedSubtrees: new GeneralSubtrees(permitted) })
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(authorityDays),
    name: `CN=identity-agent development (${hosts.at(-1)!.replaceAll(/[^\w.-]/g, '')})`,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.Extension(id_ce_nameConstraints, true, AsnConvert.serialize(constraints)),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await toPem(keys.privateKey) }
}

/** Makes a server's certificate for host names and IP addresses. `days` begin a day ago. */
export async function createServerCertificate(
  authority: Pair,
  names: readonly string[],
  days = serverDays,
): Promise<Pair> {
  const issuer = new x509.X509Certificate(authority.certificate)
  const keys = await newKeys()
  const [pkcs8] = x509.PemConverter.decode(authority.key)
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(days),
    subject: 'CN=identity-agent',
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await webcrypto.subtle.importKey('pkcs8', pkcs8!, algorithm, false, ['sign']),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await toPem(keys.privateKey) }
}

function newKeys() {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

/** Clocks of other machines may be a little behind. */
function validity(days: number) {
  const now = Date.now()
  const serialNumber = `01${randomBytes(15).toString('hex')}`
  return { serialNumber, notBefore: new Date(now - dayMs), notAfter: new Date(now + (days - 1) * dayMs) }
}

async function toPem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}
