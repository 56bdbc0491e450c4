/** Credential offers as a wallet reads them (VCI §4.1). Members that are not listed here are ignored. */
import * as z from 'zod'

/** The grant whose code is in the offer (VCI §4.1.1). */
export const preAuthorizedCode = 'urn:ietf:params:oauth:grant-type:pre-authorized_code'

export const ReceivedOffer = z.looseObject({
  credential_issuer: z.url(),
  credential_configuration_ids: z.array(z.string()).min(1),
  grants: z
    .looseObject({
      authorization_code: z
        .looseObject({ issuer_state: z.string().optional(), authorization_server: z.string().optional() })
        .optional(),
      [preAuthorizedCode]: z
        .looseObject({
          'pre-authorized_code': z.string(),
          tx_code: z
            .looseObject({
              input_mode: z.enum(['numeric', 'text']).optional(),
              length: z.int().positive().optional(),
              description: z.string().max(300).optional(),
            })
            .optional(),
          authorization_server: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
})
export type ReceivedOffer = z.infer<typeof ReceivedOffer>
