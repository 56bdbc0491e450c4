/** The header x5chain (RFC 9360): the certificate of the key first, each one signed by the next. */
import type { CborValue } from '../cbor/index.ts'
import { maxCertificates } from '../x509/chain-error.ts'
import { CoseError, type CoseHeaders, type CoseWarning, header } from './message.ts'

/** Of one certificate, in DER. */
const maxBytes = 16 * 1024

/**
 * The certificates of a message in base64, as `x5c` has them in JOSE. Undefined if there are none. ISO
 * 18013-5 puts them into the unprotected header; those in the protected header are accepted with a warning.
 *
 * @throws {CoseError} for what is not a certificate or a list of them, or too much of it
 */
export function readX5chain(
  { protected: headers, unprotected }: Pick<CoseHeaders, 'protected' | 'unprotected'>,
  warn?: (warning: CoseWarning) => void,
): string[] | undefined {
  const value = unprotected.get(header.x5chain) ?? headers.get(header.x5chain)
  if (value === undefined) return undefined
  if (headers.has(header.x5chain)) warn?.('x5chain-protected')
  const chain = Array.isArray(value) ? value : [value]
  if (chain.length === 0 || chain.length > maxCertificates)
    throw new CoseError(`x5chain has ${chain.length} certificates, not 1 to ${maxCertificates}`)
  return chain.map(toBase64)
}

function toBase64(der: CborValue, index: number): string {
  if (!(der instanceof Uint8Array)) throw new CoseError(`x5chain[${index}] is not a byte string`)
  if (der.length > maxBytes)
    throw new CoseError(`x5chain[${index}] has ${der.length} bytes; ${maxBytes} are the most`)
  return Buffer.from(der.buffer, der.byteOffset, der.byteLength).toString('base64')
}

/** The value of x5chain: one certificate is a byte string, several are an array. `x5c` is in base64. */
export function toX5chain(x5c: readonly string[]): CborValue {
  const chain = x5c.map((text) => new Uint8Array(Buffer.from(text, 'base64')))
  return chain.length === 1 ? chain[0] : chain
}
