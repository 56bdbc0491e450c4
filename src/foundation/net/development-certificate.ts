/**
 * Certificates for development: an authority of this data folder, and the server's certificate that it signs
 * (RFC 5280).
 *
 * Phones install the authority once. Its name constraints exclude all public names and addresses, so that a
 * stolen key cannot impersonate other sites there. The server's certificate follows the addresses of this
 * machine.
 */
import { isIP } from 'node:net'
import { AsnConvert } from '@peculiar/asn1-schema'
import {
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_nameConstraints,
  NameConstraints,
} from '@peculiar/asn1-x509'
import { issueAuthority, issueCertificate, newKeys, type Pair, toPem, x509 } from '../x509/issue.ts'

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

/** Makes an authority for these host names, and for all addresses of private networks. */
export function createAuthority(hosts: readonly string[]): Promise<Pair> {
  const permitted = [
    ...hosts.map((dNSName) => new GeneralName({ dNSName })),
    ...networks.map((iPAddress) => new GeneralName({ iPAddress })),
  ].map((base) => new GeneralSubtree({ base }))
  const constraints = new NameConstraints({ permittedSubtrees: new GeneralSubtrees(permitted) })
  return issueAuthority(
    `CN=identity-agent development (${hosts.at(-1)!.replaceAll(/[^\w.-]/g, '')})`,
    authorityDays,
    [new x509.Extension(id_ce_nameConstraints, true, AsnConvert.serialize(constraints))],
  )
}

/** Makes a server's certificate for host names and IP addresses. `days` begin a day ago. */
export async function createServerCertificate(
  authority: Pair,
  names: readonly string[],
  days = serverDays,
): Promise<Pair> {
  const { publicKey, privateKey } = await newKeys()
  const certificate = await issueCertificate(authority, {
    subject: 'CN=identity-agent',
    names: names.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value })),
    publicKey,
    days,
    extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])],
  })
  return { certificate, key: await toPem(privateKey) }
}
