/** Credential offers as a wallet reads them (VCI §4.1). Members that are not listed here are ignored. */
import * as z from 'zod'
import { ifValid, validOnes } from '../../../foundation/foreign.ts'
import { preAuthorizedGrant } from '../../../foundation/oauth/parameters.ts'

export { preAuthorizedGrant }

/** Present, even if empty, if a transaction code is required. Its members help the person who types it. */
const TxCode = z.looseObject({
  input_mode: ifValid(z.enum(['numeric', 'text'])),
  length: ifValid(z.int().positive().max(1_000)),
  description: ifValid(z.string()),
})

export const ReceivedOffer = z.looseObject({
  credential_issuer: z.url().max(2_000),
  credential_configuration_ids: validOnes(z.string().max(500))
    .transform((ids) => [...new Set(ids)])
    .refine((ids) => ids.length > 0, 'has no id of a credential'),
  grants: z
    .looseObject({
      authorization_code: ifValid(
        z.looseObject({ issuer_state: z.string().optional(), authorization_server: z.url().optional() }),
      ),
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
export type ReceivedOffer = z.output<typeof ReceivedOffer>
