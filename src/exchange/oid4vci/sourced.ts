/** The claims of a credential from its source, which are sealed in the record until the wallet fetches it. */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialData, CredentialRecord } from '../issuance/model.ts'
import { claimsDigest } from './old-copies.ts'

const Sourced = z.object({
  /** All claims of the credential. */
  claims: z.record(z.string(), JsonValue),
  validityPeriod: z.number().optional(),
  /** Whether the record keeps them. */
  keeps: z.boolean(),
  /** Of the answer. Absent: the tenant gave the claims by a command. */
  digest: z.string().optional(),
})
export type Sourced = z.output<typeof Sourced>

const contextOf = (recordId: string) => `issuance-claims:${recordId}`

export function sealSourced(wallet: Wallet, recordId: string, sourced: Sourced): string {
  return wallet.seal(contextOf(recordId), JSON.stringify(sourced))
}

/** The claims that wait for the wallet. Undefined: the credential has those of the record. */
export function sourcedOf(wallet: Wallet, { id, claimsSource }: CredentialRecord): Sourced | undefined {
  if (claimsSource?.sealed === undefined) return undefined
  return Sourced.parse(JSON.parse(wallet.unseal(contextOf(id), claimsSource.sealed)))
}

/** The claims of the offer, without those of the source that the record keeps. */
export function offeredIn({ claims, claimsSource }: CredentialRecord): CredentialData['claims'] {
  return claimsSource?.offered ?? claims
}

/** The record as it is signed with the claims, and what it keeps of them. */
export function withSourced(
  record: CredentialRecord,
  sourced: Sourced | undefined,
): { signed: CredentialRecord; kept: Partial<CredentialData> } {
  if (!sourced) return { signed: record, kept: {} }
  const { claims, validityPeriod = record.validityPeriod, keeps, digest } = sourced
  const kept = {
    ...(keeps && { claims }),
    ...(validityPeriod !== undefined && { validityPeriod }),
    claimsSource: {
      ...(digest !== undefined && { digest }),
      issued: claimsDigest(claims),
      ...(keeps && { offered: offeredIn(record) }),
    },
  }
  return { signed: { ...record, ...kept, claims }, kept }
}
