/** How wallets get credentials of a configuration: what begins an issuance. */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import type { ConfigurationRow } from './configurations.ts'
import type { IssuerRow } from './issuers.ts'
import { logInOf } from './log-in/settings.ts'

export const Begin = z.enum(['offer', 'log-in', 'open'])

/** The settings of the column `access`. */
const Access = z.object({ begin: Begin.default('offer') })
export type Access = z.output<typeof Access>

type Row = Pick<ConfigurationRow, 'access'>

export function accessOf({ access }: Row): Access {
  return Access.parse(access === null ? {} : JSON.parse(access))
}

/** The column with the members that are given; null resets one. */
export function toAccessColumn(
  row: Row,
  { begin }: { begin?: Access['begin'] | null | undefined },
): string | null {
  const before = accessOf(row)
  const after = { begin: begin === undefined ? before.begin : (begin ?? 'offer') }
  return after.begin === 'offer' ? null : JSON.stringify(after)
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
