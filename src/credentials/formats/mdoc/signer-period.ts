/** When the certificate of a signer is valid. One signer has signed many documents, so its period is kept. */
import { X509Certificate } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** In seconds of Unix time. */
type Period = { begin: number; end: number }

const periods = new LRUCache<string, Period>({ max: 200 })

/** @param certificate DER in base64. @throws {Error} for what is not a certificate */
export function periodOf(certificate: string): Period {
  const known = periods.get(certificate)
  if (known) return known
  const { validFrom, validTo } = new X509Certificate(Buffer.from(certificate, 'base64'))
  const period = { begin: Date.parse(validFrom) / 1_000, end: Date.parse(validTo) / 1_000 }
  periods.set(certificate, period)
  return period
}
