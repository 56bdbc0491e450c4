/** What a person has presented before the consent: sealed in the grant, as the identity of a log-in. */
import * as z from 'zod'
import { JsonValue } from '../../../foundation/json.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { PresentationRecord } from '../../presentation/model.ts'
import { mergeClaims } from '../claims-origins.ts'

const Presented = z.object({ claims: z.record(z.string(), JsonValue) })
export type Presented = z.infer<typeof Presented>

const contextOf = (grantId: string) => `issuance-presented:${grantId}`

/** The column of a grant. */
export function sealPresented(
  wallet: Wallet,
  grantId: string,
  presented: Presented | undefined,
): string | null {
  return presented ? wallet.seal(contextOf(grantId), JSON.stringify(presented)) : null
}

/** What was presented for a grant. */
export function presentedOf(
  wallet: Wallet,
  { id, presented }: { id: string; presented: string | null },
): Presented | undefined {
  return presented === null ? undefined : Presented.parse(JSON.parse(wallet.unseal(contextOf(id), presented)))
}

/** Whether all checks of a presentation have passed. The tenant may have accepted it since. */
export function isVerified({ state }: PresentationRecord): boolean {
  return state === 'PresentationVerified' || state === 'PresentationAccepted'
}

/** The claims of a verified presentation. Of two credentials with a claim, the first has it. */
export function toPresented({ openid4vp }: PresentationRecord): Presented {
  const credentials = openid4vp?.credentials ?? []
  return { claims: credentials.reduceRight((all, { claims }) => mergeClaims(all, claims), {}) }
}
