/**
 * How long access tokens of the built-in server are valid (VCI §13.10): for a short time, and longer at the
 * deferred endpoint alone if the credential may come later.
 */
import type { CredentialData } from '../issuance/model.ts'
import { sourceOf } from './claims-source.ts'
import type { ConfigurationRow } from './configurations.ts'
import type { IssuerRow } from './issuers.ts'

/** In seconds. `deferred` is absent if the token is not good for longer there. */
export type Lifetime = { seconds: number; deferred?: number }

const [boundSeconds, bearerSeconds, deferredSeconds] = [600, 300, 30 * 86_400]

function shortLifetime(isBound: boolean): Lifetime {
  return { seconds: isBound ? boundSeconds : bearerSeconds }
}

/** The lifetime of the token of a redeemed code or a refresh token. */
export function lifetimeOf(
  { bearer_deferral }: IssuerRow,
  isBound: boolean,
  records: readonly CredentialData[],
  configurations: readonly ConfigurationRow[],
): Lifetime {
  const isLonger = (isBound || bearer_deferral === 1) && mayDefer(records, configurations)
  return { ...shortLifetime(isBound), ...(isLonger && { deferred: deferredSeconds }) }
}

/** Whether the tenant or a claims source may defer a credential. */
function mayDefer(records: readonly CredentialData[], configurations: readonly ConfigurationRow[]): boolean {
  const isDeferred = records.some(
    ({ automaticIssuance, openid4vci }) => automaticIssuance === false || openid4vci?.isPartial === true,
  )
  return isDeferred || configurations.some((row) => sourceOf(row))
}
