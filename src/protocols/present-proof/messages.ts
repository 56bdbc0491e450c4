/** What a request of present-proof 3.0 says (wire.md 5.1). */
import { z } from 'zod'
import { Problem } from '../../base/problem.ts'
import { reasonOf } from '../../base/reason.ts'
import type { Attachment } from '../../didcomm/message.ts'
import { challengeAttachment, encodedAttachments, readChallenge, readContent, type ProofOptions } from '../attachments.ts'
import { present } from '../model.ts'
import { namesPrototype } from '../names-prototype.ts'
import type { Received } from '../receive.ts'
import { Options, type PresentationData } from './model.ts'

const RequestBody = z.looseObject({
  goal_code: z.string().nullish(),
  comment: z.string().nullish(),
  proof_types: z.array(z.looseObject({ schema: z.string(), trustIssuers: z.array(z.string()).nullish() })).nullish(),
})

/** What is asked for an SD-JWT; real agents leave challenge and domain out when their caller names none. */
const SdJwtRequest = z.looseObject({ options: Options.nullish(), claims: z.record(z.string(), z.json()).nullish() })

type Request = Pick<PresentationData, 'credentialFormat' | 'options' | 'claims' | 'proofs' | 'goalCode' | 'comment'>

/** Writes a request: what is asked for in the body, what the answer must be bound to in the attachment, which is `requestData` as well. */
export function writeRequest({ credentialFormat, options, claims = {}, proofs, goalCode, comment }: Request & { options: ProofOptions }): {
  body: Record<string, unknown>
  attachments: Attachment[]
  requestData: string[]
} {
  const { attachments, content } =
    credentialFormat === 'SDJWT' ? sdJwtAttachment({ options, claims }) : challengeAttachment(options, credentialFormat)
  const body = present({
    goal_code: goalCode ?? 'Request Proof Presentation',
    comment,
    will_confirm: false,
    proof_types: proofs.map(({ schemaId: schema, trustIssuers }) => present({ schema, trustIssuers })),
  })
  return { body, attachments, requestData: [JSON.stringify(content)] }
}

/** Reads a request. @throws {Problem} `InvalidPresentationRequest`, naming the member that is wrong. */
export function readRequest(message: Received): Request & Pick<PresentationData, 'requestData' | 'isDidcommOrg'> {
  try {
    const { goal_code, comment, proof_types } = RequestBody.parse(message.body)
    const { content, credentialFormat } = readContent(message)
    const asked = credentialFormat === 'SDJWT' ? readSdJwtRequest(content) : { options: readChallenge(content) }
    const proofs = (proof_types ?? []).map(({ schema: schemaId, trustIssuers }) =>
      present({ schemaId, trustIssuers: trustIssuers ?? undefined }),
    )
    return {
      credentialFormat,
      ...asked,
      proofs,
      goalCode: goal_code ?? undefined,
      comment: comment ?? undefined,
      requestData: [JSON.stringify(content)],
      isDidcommOrg: message.type.startsWith('https://didcomm.org/'),
    }
  } catch (error) {
    throw new Problem('error:PresentationError:InvalidPresentationRequest', `The request cannot be read: ${reasonOf(error)}.`, {
      cause: error,
    })
  }
}

function sdJwtAttachment(content: { options: ProofOptions; claims: object }) {
  return { attachments: encodedAttachments(content, 'SDJWT'), content }
}

function readSdJwtRequest(content: unknown): Pick<Request, 'options' | 'claims'> {
  const { options, claims } = SdJwtRequest.parse(content)
  if (namesPrototype(content)) throw new TypeError('a claim is called __proto__')
  return { options: options ?? undefined, claims: claims ?? {} }
}
