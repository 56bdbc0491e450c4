/** Members of an issuer's record of OpenID4VCI: a credential request that waits for its claims. */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'
import { Jwk } from '../../did/document.ts'

export const HolderKeys = z.array(z.object({ holderDid: z.string(), key: Jwk }))

/** The questions to a claims source. Times are in epoch milliseconds. */
export const SourceProgress = z.object({
  /** When it first did not decide. */
  since: z.number().optional(),
  /** When it first did not answer, and how often it has not since. */
  failure: z.object({ since: z.number(), count: z.int() }).optional(),
  /** When it is asked again. Absent: when the tenant says so. */
  askAtMs: z.number().optional(),
  /** JSON of the claims of the credential, sealed until it is made. */
  sealed: z.string().optional(),
  /** The SHA-256 digest of the answer with the claims. */
  digest: z.string().optional(),
  /** The digest of the claims of the last credential. */
  issued: z.string().optional(),
  /** The claims of the offer, if the record keeps those of the source too: a refresh asks for these again. */
  offered: z.record(z.string(), JsonValue).optional(),
})
export type SourceProgress = z.output<typeof SourceProgress>

/** A request for a credential anew that its claims source has deferred. */
export const DeferredRenewal = z.object({
  keys: HolderKeys,
  /** The digest of the refreshed access token of the request. */
  token: z.string(),
  /** The id of the requests to the source. */
  need: z.string(),
  progress: SourceProgress,
})
export type DeferredRenewal = z.output<typeof DeferredRenewal>
