/** How wallets get credentials of a configuration: what begins an issuance, and how long they are renewed. */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import type { ConfigurationRow } from './configurations.ts'
import type { IssuerRow } from './issuers.ts'
import { logInOf } from './log-in/settings.ts'

export const Begin = z.enum(['offer', 'log-in', 'open'])

/** HAIP advises against refreshing for longer than a year. */
const longestDays = 365

export const Renewal = z
  .object({
    days: z.int().min(1).max(longestDays).describe('How long a refresh token is valid without a use.'),
    maxDays: z
      .int()
      .min(1)
      .max(longestDays)
      .default(longestDays)
      .describe('How long at all, from the offer or the log-in of the person.'),
    onChange: z
      .enum(['keep', 'revoke'])
      .exactOptional()
      .describe(
        '`revoke`: copies with other claims than the new ones are revoked when the wallet says that it has these, else after 7 days. Default: `keep`, they expire.',
      ),
  })
  .refine(({ days, maxDays }) => days <= maxDays, { path: ['maxDays'], message: 'is less than days' })
  .meta({ id: 'CredentialRenewal' })
export type Renewal = z.output<typeof Renewal>

/** The settings of the column `access`. */
const Access = z.object({ begin: Begin.default('offer'), renewal: Renewal.optional() })
export type Access = z.output<typeof Access>

type Row = Pick<ConfigurationRow, 'access'>

export function accessOf({ access }: Row): Access {
  return Access.parse(access === null ? {} : JSON.parse(access))
}

/** The column with the members that are given; null resets one. */
export function toAccessColumn(
  row: Row,
  { begin, renewal }: { begin?: Access['begin'] | null | undefined; renewal?: Renewal | null | undefined },
): string | null {
  const before = accessOf(row)
  const after = {
    begin: begin === undefined ? before.begin : (begin ?? 'offer'),
    renewal: renewal === undefined ? before.renewal : (renewal ?? undefined),
  }
  return after.begin === 'offer' && !after.renewal ? null : JSON.stringify(after)
}

/** The settings as replies have them, without defaults. */
export function toAccess(row: Row): { begin?: Access['begin']; renewal?: Renewal } {
  const { begin, renewal } = accessOf(row)
  return { ...(begin !== 'offer' && { begin }), ...(renewal && { renewal }) }
}

/** Whether a wallet may ask for the credential without an offer. */
export function isOpenTo(row: Row, issuer: IssuerRow): boolean {
  const { begin } = accessOf(row)
  return begin === 'open' || (begin === 'log-in' && logInOf(issuer) !== undefined)
}

/** @throws {Problem} 400 for a begin that the issuer cannot offer */
export function checkAccess(
  issuer: IssuerRow,
  { begin }: Partial<Access>,
  { issuing_did, certificate_id }: Pick<ConfigurationRow, 'issuing_did' | 'certificate_id'>,
): void {
  if (begin === undefined || begin === 'offer') return
  if (issuer.authorization_server !== null)
    throw new Problem(
      'BadRequest',
      'begin: the issuer has an external authorization server, which decides who gets a credential. Leave it out.',
    )
  if (begin === 'log-in' && !logInOf(issuer))
    throw new Problem('BadRequest', 'begin: the issuer has no log-in. Set its logIn first.')
  if (issuing_did === null && certificate_id === null)
    throw new Problem(
      'BadRequest',
      'begin: without an offer, the configuration needs a signer. Set issuingDID or issuerCertificateId.',
    )
}
