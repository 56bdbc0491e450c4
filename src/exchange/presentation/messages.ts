/** Reading and writing the requests of Present Proof 3.0. */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { readContent } from '../protocols/attachments.ts'
import type { Received } from '../engine/receive.ts'
import { checkChallenge } from './challenge.ts'
import { dcqlAttachments } from './dcql.ts'
import { type PresentationChange, proofFormats } from './format.ts'
import { dcql } from './formats/dcql.ts'
import type { PresentationData } from './model.ts'

const RequestBody = z.looseObject({
  goal_code: z.string().nullish(),
  comment: z.string().nullish(),
  proof_types: z
    .array(z.looseObject({ schema: z.string(), trustIssuers: z.array(z.string()).nullish() }))
    .nullish(),
  /**
   * Extension: the entries of `proof_types` are alternatives, like the constraints of a policy. Other agents
   * ignore it.
   */
  proof_types_any: z.boolean().nullish(),
  /** Extension: the DIDs of the accepted issuers, whatever the schema. Other agents ignore it. */
  trusted_issuers: z.array(z.string()).nullish().catch(undefined),
})

/** The parts of a request that all formats have. */
type Request = Pick<PresentationData, 'proofs' | 'anyProof' | 'issuers' | 'goalCode' | 'comment'>

/** Writes the body of a request. The attachment has the format-specific part. */
export function writeRequest({
  proofs,
  anyProof,
  issuers,
  goalCode,
  comment,
}: Request): Record<string, unknown> {
  return {
    goal_code: goalCode ?? 'Request Proof Presentation',
    comment,
    will_confirm: false,
    proof_types: proofs.map(({ schemaId: schema, trustIssuers }) => ({ schema, trustIssuers })),
    proof_types_any: anyProof && proofs.length > 1 ? true : undefined,
    trusted_issuers: Array.isArray(issuers) ? issuers : undefined,
  }
}

/** Reads a request. @throws {Problem} `InvalidPresentationRequest`, naming the invalid member */
export function readRequest(message: Received): PresentationChange {
  try {
    const { goal_code, comment, proof_types, proof_types_any, trusted_issuers } = RequestBody.parse(
      message.body,
    )
    const { content, credentialFormat, attachmentFormat } = readContent(message, dcqlAttachments.request)
    const format = attachmentFormat === dcqlAttachments.request ? dcql : proofFormats[credentialFormat]
    const terms = format.readRequest(content)
    if (terms.options) checkChallenge(terms.options, message.from)
    const proofs = (proof_types ?? []).map(({ schema: schemaId, trustIssuers }) => ({
      schemaId,
      trustIssuers: trustIssuers ?? undefined,
    }))
    return {
      credentialFormat,
      ...terms,
      proofs,
      anyProof: proof_types_any ?? undefined,
      issuers: trusted_issuers?.length ? trusted_issuers : undefined,
      goalCode: goal_code ?? undefined,
      comment: comment ?? undefined,
      requestData: [JSON.stringify(content)],
      isDidcommOrg: message.type.startsWith('https://didcomm.org/'),
    }
  } catch (cause) {
    const detail = `The request cannot be read: ${reasonOf(cause)}.`
    throw new Problem('error:PresentationError:InvalidPresentationRequest', detail, { cause })
  }
}
