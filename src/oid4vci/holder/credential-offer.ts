/** Credential offers as a wallet reads them (VCI §4.1). Members that are not listed here are ignored. */
import * as z from 'zod'
import { preAuthorizedGrant } from '../../oauth/parameters.ts'

export { preAuthorizedGrant }

/** Present, even if empty, if a transaction code is required. */
const TxCode = z.looseObject({
  input_mode: z.enum(['numeric', 'text']).optional(),
  length: z.int().positive().max(1_000).optional(),
  description: z.string().max(300).optional(),
})

export const ReceivedOffer = z.looseObject({
  credential_issuer: z.url().max(2_000),
  credential_configuration_ids: z
    .array(z.string().max(500))
    .min(1)
    .max(100)
    .refine((ids) => new Set(ids).size === ids.length, 'has an id twice'),
  grants: z
    .looseObject({
      authorization_code: z
        .looseObject({ issuer_state: z.string().optional(), authorization_server: z.url().optional() })
        .optional(),
      [preAuthorizedGrant]: z
        .looseObject({
          'pre-authorized_code': z.string().min(1),
          tx_code: TxCode.optional(),
          authorization_server: z.url().optional(),
        })
        .optional(),
    })
    .optional(),
})
export type ReceivedOffer = z.infer<typeof ReceivedOffer>
