/**
 * Whether the issuer of a presented credential is one that the wallet trusts (OpenID4VP 1.0 §6.1.1, HAIP 1.0
 * §6.1.1).
 */
import * as z from 'zod'
import type { VerifyChain } from '../../credentials/codecs/issuer-signature.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { isByAuthority } from '../../credentials/dcql/match.ts'
import type { CredentialQuery } from '../../credentials/dcql/query.ts'
import { isManagedDid, isRegistrarDid } from '../did-registrar/dids.ts'
import { canonicalDid, Did, includesDid } from '../../did/document.ts'
import { findAnchorValues, isTrustedDid } from '../trust-anchors/anchors.ts'
import type { Wallet } from '../wallet.ts'

/**
 * `any`: policies decide about DIDs. `trusted`: the issuer must be a trust anchor of the wallet, or be below
 * one. `known`: as `trusted`, or a DID of the wallet. A list: the issuer must be one of these DIDs.
 */
export const AcceptedIssuers = z.union([z.enum(['any', 'trusted', 'known']), z.array(Did).min(1).max(100)])
export type AcceptedIssuers = z.infer<typeof AcceptedIssuers>

/**
 * Returns the subject of the issuer's certificate, if it has one.
 *
 * @throws {VerificationError} `issuer-not-trusted`
 */
export type CheckTrust = (
  credential: { issuer: string; x5c?: unknown; docType?: string | undefined },
  asked?: CredentialQuery,
) => Promise<string | undefined>

/** Creates the check of issuers. Certificates must always end at a trust anchor. */
export function createTrustCheck(
  { db }: Pick<Wallet, 'db'>,
  accepted: AcceptedIssuers,
  verifyChain: VerifyChain,
): CheckTrust {
  return async ({ issuer, x5c, docType }, asked) => {
    const isDid = issuer.startsWith('did:')
    const certificate = isDid ? undefined : await verifyChain(x5c, issuer, { docType })
    const { authorityKeyIds = [], subject } = certificate ?? {}
    if (asked && !isByAuthority({ authorityKeyIds }, asked))
      throw refused('No certificate of the issuer names one of the trusted_authorities of the query')
    if (accepted === 'any') return subject
    if (Array.isArray(accepted)) {
      if (includesDid(accepted, issuer)) return subject
      throw refused(`The request does not trust the issuer ${canonicalDid(issuer)}`)
    }
    if (isDid) {
      if (await isTrustedDid(db, issuer)) return undefined
      const isOwn = isRegistrarDid(issuer) && (await isManagedDid(db, issuer))
      if (accepted === 'known' && isOwn) return undefined
      throw refused(`The issuer ${issuer} is not a trust anchor of this wallet: agent trust add`)
    }
    const named = await findAnchorValues(db, 'aki')
    if (named.length > 0 && !authorityKeyIds.some((each) => named.includes(each)))
      throw refused('The issuer’s certificate is of none of the authorities (aki) that this wallet trusts')
    return subject
  }
}

function refused(reason: string): VerificationError {
  return new VerificationError('issuer-not-trusted', reason)
}
