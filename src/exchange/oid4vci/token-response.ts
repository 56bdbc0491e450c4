/** Token responses (VCI §6.2). */
import * as z from 'zod'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialRecord } from '../issuance/model.ts'
import { authorizedIn } from './authorization-code.ts'
import { credentialIdentifierOf, type GrantRow } from './grant.ts'
import type { IssuerRow } from './issuers.ts'
import { createNonce, nonceLifetimeSeconds } from './nonce.ts'
import type { Lifetime } from './token-lifetime.ts'

const GrantedDetails = z.object({
  type: z.literal('openid_credential'),
  credential_configuration_id: z.string(),
  credential_identifiers: z.array(z.string()),
})

export const TokenResponse = z
  .object({
    access_token: z.string(),
    token_type: z.enum(['Bearer', 'DPoP']),
    expires_in: z
      .int()
      .describe(
        'Seconds: 600, or 300 for a bearer token. Of a credential that may come later, 30 days, after the short time at the deferred endpoint alone.',
      ),
    refresh_token: z
      .string()
      .optional()
      .describe('For a wallet with a key, if the credential is renewed. It is replaced at each use.'),
    authorization_details: z
      .array(GrantedDetails)
      .optional()
      .describe('If the authorization request had them. Request the credential by its identifier then.'),
    c_nonce: z.string().describe('For wallets of earlier drafts. Others use the nonce endpoint.'),
    c_nonce_expires_in: z.int(),
  })
  .meta({ id: 'TokenResponse' })
export type TokenResponse = z.infer<typeof TokenResponse>

/** What a response is made of. */
export type Granted = {
  token: string
  isDpop: boolean
  lifetime: Lifetime
  details: z.infer<typeof GrantedDetails>[] | undefined
  refreshToken: string | undefined
}

export function toResponse(
  wallet: Wallet,
  { id }: IssuerRow,
  { token, isDpop, lifetime, details, refreshToken }: Granted,
): TokenResponse {
  return {
    access_token: token,
    token_type: isDpop ? 'DPoP' : 'Bearer',
    expires_in: lifetime.deferred ?? lifetime.seconds,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    ...(details && { authorization_details: details }),
    c_nonce: createNonce(wallet, id),
    c_nonce_expires_in: nonceLifetimeSeconds,
  }
}

/**
 * VCI §6.2: credentials have identifiers if they were requested by `authorization_details`, or if there are
 * several.
 */
export function detailsOf(
  grant: GrantRow,
  records: readonly CredentialRecord[],
): z.infer<typeof GrantedDetails>[] | undefined {
  if (authorizedIn(grant)?.byDetails !== true && records.length === 1) return undefined
  const identifiers = new Map<string, string[]>()
  for (const record of records) {
    const { configurationId } = record.openid4vci!
    const known = identifiers.get(configurationId) ?? []
    identifiers.set(configurationId, [...known, credentialIdentifierOf(record)])
  }
  return [...identifiers].map(([credential_configuration_id, credential_identifiers]) => ({
    type: 'openid_credential',
    credential_configuration_id,
    credential_identifiers,
  }))
}
