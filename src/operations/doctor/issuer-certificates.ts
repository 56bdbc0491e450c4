/** Checks that the certificates of issuers are valid for a while. */
import type { EarliestEnd } from '../../wallet/issuer-certificates/expiry.ts'
import { formatDuration, type Finding } from './check.ts'

/** An authority may need days to renew a certificate. */
const soonMs = 30 * 86_400_000

/** `ends`: the certificate of each wallet that ends first. */
export function checkIssuerCertificates(
  ends: readonly (EarliestEnd & { walletId: string })[],
  now = new Date(),
): Finding {
  const soon = ends
    .filter(({ notAfter }) => Date.parse(notAfter) - now.getTime() < soonMs)
    .toSorted((a, b) => (a.notAfter < b.notAfter ? -1 : 1))
  const [first] = soon
  if (!first) {
    const detail =
      ends.length === 0
        ? 'No wallet has issuer certificates.'
        : 'All issuer certificates are valid for 30 days.'
    return { status: 'ok', detail }
  }
  const { id, subject, notAfter, isDevelopment, walletId } = first
  const leftMs = Date.parse(notAfter) - now.getTime()
  const count = soon.length - 1
  const others = count === 0 ? '' : ` Wallets with another one that ends soon: ${count}.`
  const when = leftMs < 0 ? `has ended, on ${notAfter}` : `ends in ${formatDuration(leftMs)}, on ${notAfter}`
  return {
    status: leftMs < 0 ? 'failed' : 'warning',
    detail: `The issuer certificate ${id} (${subject}) of the wallet ${walletId} ${when}.${others}`,
    hint: isDevelopment
      ? `agent issuer-cert renew ${id}   # as the wallet’s tenant`
      : `agent issuer-cert import ${id} <file of the renewed chain>   # as the wallet’s tenant`,
  }
}
