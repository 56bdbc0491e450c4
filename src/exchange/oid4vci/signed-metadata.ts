/** Signed metadata of an issuer (VCI §12.2.3): a JWT with the certificates of its key in `x5c` (HAIP 1.0). */
import { Problem } from '../../foundation/problem.ts'
import { signWithCertificate } from '../../wallet/issuer-certificates/signatures.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { IssuerRow } from './issuers.ts'
import type { IssuerMetadata } from './metadata.ts'

const typ = 'openidvci-issuer-metadata+jwt'
const lifetimeSeconds = 86_400

/** Undefined without a certificate, or if it is removed or has ended: wallets get unsigned metadata then. */
export async function signMetadata(
  wallet: Wallet,
  { certificate_id: certificateId }: IssuerRow,
  metadata: IssuerMetadata,
): Promise<string | undefined> {
  if (certificateId === null) return undefined
  const iat = Math.floor(Date.now() / 1_000)
  const claims = { ...metadata, sub: metadata.credential_issuer, iat, exp: iat + lifetimeSeconds }
  try {
    return await signWithCertificate(wallet, certificateId, { typ }, claims)
  } catch (error) {
    if (error instanceof Problem && [404, 409].includes(error.status)) return undefined
    throw error
  }
}
