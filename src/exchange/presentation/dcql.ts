/**
 * Presentations that answer a query in DCQL over DIDComm: what a record stores, and the content of the two
 * attachments.
 */
import * as z from 'zod'
import { maxTokenLength } from '../../credentials/codecs/jws.ts'
import { DcqlQuery } from '../../credentials/dcql/query.ts'
import { type CredentialFormat, defaultFormat, formatOfId } from '../../definitions/format-names.ts'
import { PresentationCheck, PresentedCredential } from '../../credentials/formats/presented.ts'

/** The attachment formats. No specification registers one for DCQL. */
export const dcqlAttachments = { request: 'dcql/query@v1.0', presentation: 'dcql/vp-token@v1.0' } as const

/** The query of a request over DIDComm, and its result. */
export const DcqlPresentation = z
  .object({
    query: DcqlQuery,
    checks: z.array(PresentationCheck).optional().describe('Verifier: the checks of the presentation.'),
    credentials: z
      .array(PresentedCredential)
      .optional()
      .describe('Verifier: the credentials, if all checks passed.'),
  })
  .meta({ id: 'DcqlPresentation' })
export type DcqlPresentation = z.infer<typeof DcqlPresentation>

/** The attachment of a request. The holder signs for the domain with the challenge. */
export const DcqlRequest = z.looseObject({
  options: z.object({ challenge: z.string().min(1), domain: z.string().min(1) }),
  dcql_query: DcqlQuery,
})

/** The format of a query's record: that of its first credential of a supported format. */
export function firstFormatOf({ credentials }: DcqlQuery): CredentialFormat {
  const [first = defaultFormat] = credentials.flatMap(({ format }) => formatOfId(format) ?? [])
  return first
}

/** Each presentation may cost the resolution of a DID and a status list. */
const maxPresentations = 20

/** The attachment of a presentation: the parameter `vp_token` of OpenID4VP (§8.1). */
export const DcqlAnswer = z.looseObject({
  vp_token: z
    .record(z.string().max(100), z.array(z.string().max(maxTokenLength)).max(maxPresentations))
    .refine(
      (token) => Object.values(token).flat().length <= maxPresentations,
      `has more than ${maxPresentations} presentations`,
    ),
})
