/** REST models of DID requests and challenges that wallets of OpenID4VP can answer too. */
import * as z from 'zod'
import { RequestedDcqlQuery } from '../../credentials/dcql/query.ts'
import { RequestFields } from '../oid4vp/requests.ts'
import { PresentationCheck, PresentedCredential } from '../../credentials/formats/presented.ts'
import { optional } from '../../wallet/model.ts'

const { issuers, sameHolder, dcqlQuery } = RequestFields.shape

/** The members of a presentation request that a tenant chooses for a DID request or a challenge. */
export const OpenId4VpOptions = RequestFields.omit({ transactionData: true, expiresIn: true })
  .extend({
    dcqlQuery: optional(RequestedDcqlQuery).describe(
      `${dcqlQuery.description} Wallets must prove that they hold each credential. Default: a JWT credential of any type, or an SD-JWT VC of a type that this wallet issues, without claims.`,
    ),
    issuers: issuers.describe(`${issuers.description?.replace(/ Required, .*/, '')} Default: \`known\`.`),
    sameHolder: sameHolder.describe(`${sameHolder.description?.replace(/ Default: .*/, '')} Default: true.`),
  })
  .meta({ id: 'EnterpriseOpenId4VpRequest' })
export type OpenId4VpOptions = z.output<typeof OpenId4VpOptions>

/** The request to wallets of OpenID4VP, and the result of their answer. */
export const SessionOpenId4Vp = z
  .object({
    presentationId: z.guid().describe('The presentation record of the request.'),
    authorizationRequest: z.string().describe('The URL for the wallet: `openid4vp://?…`.'),
    clientId: z.string().describe('The audience of the presentations.'),
    checks: z.array(PresentationCheck).optional().describe('The checks of the received response.'),
    credentials: z.array(PresentedCredential).optional().describe('The credentials, if all checks passed.'),
  })
  .meta({ id: 'EnterpriseOpenId4Vp' })
export type SessionOpenId4Vp = z.infer<typeof SessionOpenId4Vp>
