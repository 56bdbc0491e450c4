/**
 * What a person has to present before an issuer asks for their consent (VCI Appendix H.5): a setting of a
 * configuration.
 */
import * as z from 'zod'
import { findUnheld, RequestedDcqlQuery } from '../../../credentials/dcql/query.ts'
import { defaultOpenIdFormat, formatNames } from '../../../definitions/format-names.ts'
import { Did } from '../../../did/document.ts'
import { Uuid } from '../../../wallet/model.ts'

const Names = z.array(z.string().min(1).max(255)).min(1).max(10)

export const Presentation = z
  .object({
    dcqlQuery: RequestedDcqlQuery.superRefine((query, context) => {
      const fault = findUnheld(query)
      if (fault) context.addIssue({ code: 'custom', ...fault })
    }).describe('The credentials to present, in the Digital Credentials Query Language.'),
    issuers: z
      .union([z.enum(['trusted', 'known']), z.array(Did).min(1).max(100)])
      .describe(
        '`trusted`: each issuer must be a trust anchor of this wallet, or have a certificate below one. `known`: as `trusted`, and DIDs of this wallet are accepted too. A list: each issuer must be one of these DIDs.',
      ),
    match: z
      .array(
        z.object({
          presented: Names.describe('The path in the presented claims.'),
          offered: Names.describe('The path in the claims of the offer.'),
        }),
      )
      .min(1)
      .max(20)
      .exactOptional()
      .describe(
        'Presented claims that must equal claims of the offer. Otherwise the person gets `access_denied`, and the offer stays open, five times.',
      ),
    did: Did.exactOptional().describe(
      'The DID of this wallet that signs the request, by an authentication key.',
    ),
    certificateId: Uuid.exactOptional().describe(
      'The issuer certificate of this wallet that signs the request. Default: nobody signs it.',
    ),
  })
  .refine(({ did, certificateId }) => did === undefined || certificateId === undefined, {
    path: ['certificateId'],
    message: 'excludes did: one of them signs',
  })
  .meta({
    id: 'PresentationBeforeIssuance',
    examples: [
      {
        dcqlQuery: {
          credentials: [
            {
              id: 'pid',
              format: formatNames[defaultOpenIdFormat].openid.id,
              meta: { vct_values: ['urn:eudi:pid:1'] },
              claims: [{ path: ['birthdate'] }],
            },
          ],
        },
        issuers: 'trusted',
      },
    ],
  })
export type PresentationSettings = z.output<typeof Presentation>
