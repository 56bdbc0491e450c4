/** What a request of present-proof 3.0 says (wire.md 5.1). */
import { z } from 'zod'
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import { readContent } from '../formats.ts'
import { present } from '../model.ts'
import type { Received } from '../engine/receive.ts'
import { type Change, proofFormats } from './format.ts'
import type { PresentationData } from './model.ts'

const RequestBody = z.looseObject({
  goal_code: z.string().nullish(),
  comment: z.string().nullish(),
  proof_types: z
    .array(z.looseObject({ schema: z.string(), trustIssuers: z.array(z.string()).nullish() }))
    .nullish(),
  /** Between agents of this kind: the lines are alternatives, as the constraints of a policy are. Others do not read it. */
  proof_types_any: z.boolean().nullish(),
})

/** What every request says, whatever its format. */
type Request = Pick<PresentationData, 'proofs' | 'anyProof' | 'goalCode' | 'comment'>

/** Writes the body of a request; what is asked for in its format is in the attachment. */
export function writeRequest({ proofs, anyProof, goalCode, comment }: Request): Record<string, unknown> {
  return present({
    goal_code: goalCode ?? 'Request Proof Presentation',
    comment,
    will_confirm: false,
    proof_types: proofs.map(({ schemaId: schema, trustIssuers }) => present({ schema, trustIssuers })),
    proof_types_any: anyProof && proofs.length > 1 ? true : undefined,
  })
}

/** Reads a request. @throws {Problem} `InvalidPresentationRequest`, naming the member that is wrong. */
export function readRequest(message: Received): Change {
  try {
    const { goal_code, comment, proof_types, proof_types_any } = RequestBody.parse(message.body)
    const { content, credentialFormat } = readContent(message)
    const proofs = (proof_types ?? []).map(({ schema: schemaId, trustIssuers }) =>
      present({ schemaId, trustIssuers: trustIssuers ?? undefined }),
    )
    return {
      credentialFormat,
      ...proofFormats[credentialFormat].readRequest(content),
      proofs,
      anyProof: proof_types_any ?? undefined,
      goalCode: goal_code ?? undefined,
      comment: comment ?? undefined,
      requestData: [JSON.stringify(content)],
      isDidcommOrg: message.type.startsWith('https://didcomm.org/'),
    }
  } catch (error) {
    throw new Problem(
      'error:PresentationError:InvalidPresentationRequest',
      `The request cannot be read: ${reasonOf(error)}.`,
      {
        cause: error,
      },
    )
  }
}
