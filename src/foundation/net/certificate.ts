/** The certificate of the servers: that of the operator, or one for development in `tls/` of the data folder. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { writePrivateFile } from '../private-files.ts'
import { authorityFileOf, type HttpsSettings as Settings, isHttps } from './https.ts'
import { StartError } from '../start-error.ts'
import { systemReason } from '../system-reason.ts'

/**
 * In PEM: the certificate with its chain, and the private key. `authorityFile` is the one to install, for
 * development.
 */
export type ServerCertificate = {
  cert: string
  key: string
  /** SHA-256 of the certificate, as 32 pairs of hexadecimal digits with colons. */
  fingerprint: string
  authorityFile: string | undefined
}

/** A server's certificate with less time is renewed, an authority with less is replaced. */
const renewalMs = 30 * 86_400_000

/**
 * Reads the certificate of the operator, or the one for development, which it creates, or renews for other
 * addresses.
 *
 * @returns undefined without HTTPS
 * @throws {StartError} 2 for files that cannot be read, do not fit, or have expired
 */
export async function findCertificate(
  config: Settings,
  addresses: readonly string[],
): Promise<ServerCertificate | undefined> {
  if (!isHttps(config)) return undefined
  const authorityFile = authorityFileOf(config)
  if (authorityFile === undefined) return readOwn(config)
  const cert = await renew(join(config.AGENT_DATA_DIR, 'tls'), addresses)
  return { ...cert, authorityFile }
}

/** The certificate that the servers have, for a check of its dates. @throws as `findCertificate` */
export function readCertificate(config: Settings): X509Certificate {
  const file = config.AGENT_TLS_CERT_FILE ?? join(config.AGENT_DATA_DIR, 'tls', 'server.pem')
  return parse(read('AGENT_TLS_CERT_FILE', file), file)
}

function readOwn({
  AGENT_TLS_CERT_FILE: certFile,
  AGENT_TLS_KEY_FILE: keyFile,
}: Settings): ServerCertificate {
  const [cert, key] = [read('AGENT_TLS_CERT_FILE', certFile!), read('AGENT_TLS_KEY_FILE', keyFile!)]
  const certificate = parse(cert, certFile!)
  let parsed: KeyObject
  try {
    parsed = createPrivateKey(key)
  } catch {
    throw wrong('AGENT_TLS_KEY_FILE', `${keyFile} is not a private key in PEM without a passphrase`)
  }
  if (!certificate.checkPrivateKey(parsed))
    throw wrong('AGENT_TLS_KEY_FILE', `${keyFile} is not the key of the certificate in ${certFile}`)
  if (Date.parse(certificate.validTo) < Date.now())
    throw wrong(
      'AGENT_TLS_CERT_FILE',
      `the certificate in ${certFile} has expired, on ${certificate.validTo}`,
    )
  return { cert, key, fingerprint: certificate.fingerprint256, authorityFile: undefined }
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw wrong(name, `${path} cannot be read: ${systemReason(error)}`)
  }
}

function parse(pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw wrong('AGENT_TLS_CERT_FILE', `${path} is not a certificate in PEM`)
  }
}

function wrong(name: string, reason: string): StartError {
  return new StartError(`${name}: ${reason}.`, 2)
}

type Files = { authority: string; authorityKey: string; server: string; serverKey: string }

/** The certificate for development. Its names are those of this machine, and `addresses`. */
async function renew(folder: string, addresses: readonly string[]) {
  const files: Files = {
    authority: join(folder, 'ca.pem'),
    authorityKey: join(folder, 'ca.key'),
    server: join(folder, 'server.pem'),
    serverKey: join(folder, 'server.key'),
  }
  const name = hostname().split('.')[0]!.toLowerCase()
  const hosts = ['localhost', ...(/^[a-z0-9-]+$/.test(name) ? [name, `${name}.local`] : [])]
  const names = [...new Set([...hosts, '127.0.0.1', '::1', ...addresses])]
  const { createAuthority, createServerCertificate } = await import('./development-certificate.ts')
  let authority = findPair(files.authority, files.authorityKey)
  if (!authority || !new X509Certificate(authority.certificate).subject.includes(`(${hosts.at(-1)!})`)) {
    authority = await createAuthority(hosts)
    write(files.authorityKey, authority.key)
    write(files.authority, authority.certificate)
  }
  let server = findPair(files.server, files.serverKey)
  if (!server || !isFor(server.certificate, authority.certificate, names)) {
    server = await createServerCertificate(authority, names)
    write(files.serverKey, server.key)
    write(files.server, server.certificate)
  }
  const { fingerprint256: fingerprint } = new X509Certificate(server.certificate)
  return { cert: `${server.certificate}\n${authority.certificate}\n`, key: server.key, fingerprint }
}

function write(path: string, pem: string): void {
  writePrivateFile(path, `${pem}\n`)
}

/** A certificate and its key that are still valid for a while; undefined when they must be made. */
function findPair(path: string, keyPath: string): { certificate: string; key: string } | undefined {
  try {
    const pair = { certificate: readFileSync(path, 'utf8').trim(), key: readFileSync(keyPath, 'utf8').trim() }
    const certificate = new X509Certificate(pair.certificate)
    const isValid = Date.parse(certificate.validTo) - renewalMs > Date.now()
    return isValid && certificate.checkPrivateKey(createPrivateKey(pair.key)) ? pair : undefined
  } catch {
    return undefined
  }
}

function isFor(pem: string, authority: string, names: readonly string[]): boolean {
  const certificate = new X509Certificate(pem)
  const isNamed = (name: string) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name))
  return certificate.verify(new X509Certificate(authority).publicKey) && names.every(isNamed)
}
