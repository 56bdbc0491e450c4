/**
 * How wallets get credentials of a configuration: what begins an issuance, what people present before it, and
 * how long the credentials are renewed.
 */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import type { ConfigurationRow } from './configurations.ts'
import type { IssuerRow } from './issuers.ts'
import { logInOf } from './log-in/settings.ts'
import { Presentation, type PresentationSettings } from './presentation/settings.ts'

export const Begin = z.enum(['offer', 'log-in', 'presentation', 'open'])

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
const Access = z.object({
  begin: Begin.default('offer'),
  renewal: Renewal.optional(),
  presentation: Presentation.optional(),
})
export type Access = z.output<typeof Access>

type Row = Pick<ConfigurationRow, 'access'>

export function accessOf({ access }: Row): Access {
  return Access.parse(access === null ? {} : JSON.parse(access))
}

type Change = {
  begin?: Access['begin'] | null | undefined
  renewal?: Renewal | null | undefined
  presentation?: PresentationSettings | null | undefined
}

/** The column with the members that are given; null resets one. */
export function toAccessColumn(row: Row, { begin, renewal, presentation }: Change): string | null {
  const before = accessOf(row)
  const after = {
    begin: begin === undefined ? before.begin : (begin ?? 'offer'),
    renewal: renewal === undefined ? before.renewal : (renewal ?? undefined),
    presentation: presentation === undefined ? before.presentation : (presentation ?? undefined),
  }
  const isUsual = after.begin === 'offer' && !after.renewal && !after.presentation
  return isUsual ? null : JSON.stringify(after)
}

/** The settings as replies have them, without defaults. */
export function toAccess(row: Row): Partial<Access> {
  const { begin, renewal, presentation } = accessOf(row)
  return {
    ...(begin !== 'offer' && { begin }),
    ...(presentation && { presentation }),
    ...(renewal && { renewal }),
  }
}

/** Whether a wallet may ask for the credential without an offer. */
export function isOpenTo(row: Row, issuer: IssuerRow): boolean {
  const { begin, presentation } = accessOf(row)
  if (begin === 'presentation') return presentation?.issuers === 'trusted'
  return begin === 'open' || (begin === 'log-in' && logInOf(issuer) !== undefined)
}

/** @throws {Problem} 400 for a begin that the issuer cannot offer */
export function checkAccess(
  issuer: IssuerRow,
  { begin = 'offer', presentation }: Partial<Access>,
  { issuing_did, certificate_id }: Pick<ConfigurationRow, 'issuing_did' | 'certificate_id'>,
): void {
  const needed = presentation ? 'presentation' : begin === 'offer' ? undefined : 'begin'
  if (needed && issuer.authorization_server !== null)
    throw new Problem(
      'BadRequest',
      `${needed}: the issuer has an external authorization server, which decides who gets a credential. Leave it out.`,
    )
  if (begin === 'offer') return
  if (begin === 'log-in' && !logInOf(issuer))
    throw new Problem('BadRequest', 'begin: the issuer has no log-in. Set its logIn first.')
  if (begin === 'presentation' && presentation?.issuers !== 'trusted')
    throw new Problem(
      'BadRequest',
      presentation
        ? 'presentation.issuers: without an offer, the presentation alone decides who gets the credential. Use "trusted".'
        : 'begin: the configuration has no presentation. Set its presentation first.',
    )
  if (begin === 'open' && presentation)
    throw new Problem(
      'BadRequest',
      'begin: open lets any wallet have the credential, and the configuration has a presentation. Use presentation.',
    )
  if (issuing_did === null && certificate_id === null)
    throw new Problem(
      'BadRequest',
      'begin: without an offer, the configuration needs a signer. Set issuingDID or issuerCertificateId.',
    )
}
